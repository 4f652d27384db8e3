/* Concord's state of a connection, and what all of its phases share, as in mod.rs. */
#ifndef AIRTCP_CONCORD_STATE_H
#define AIRTCP_CONCORD_STATE_H

#include "corruption.h"
#include "cubic.h"
#include "path.h"

#define LEAST_WINDOW_Q32 (4 * ONE_Q32)
#define MARGIN_Q32 (3 * ONE_Q32 / 2)
/* CUBIC's α, as a growth in packets per round. */
#define ALPHA_Q32 (9 * ONE_Q32 / 17)
/* RFC 6928 §2. */
#define INITIAL_WINDOW_Q32 (10 * ONE_Q32)

#define FIRST_TEST_US (1 * US_PER_S)
#define FIRST_DOUBT_US (US_PER_S / 2)
#define FIRST_LOOK_US (2 * US_PER_S)

struct concord_params {
	__u32 explain_q24;
	__u32 compete_q24;
	__u32 doubt_q24;
	__u32 look_q24;
	__u32 variation_q24;
};

enum concord_phase { IN_START, IN_DELAY, IN_YIELD, IN_LOOK, IN_COMPETE };

struct start {
	__u64 until_q32;
	__u64 highest_q48;
	__u32 late;
	__u32 heavy;
	__u32 rounds_without_growth;
};

struct delay {
	/* In packets per round. */
	__u64 growth_q32;
	__u32 draining;
	__u32 quiet;
};

struct yielding {
	__u64 began_us;
	/* As of its begin. */
	__u64 window_q32;
	__u64 queue_us_q20;
	__u64 rate_q48;
	__u64 mean_us_q20;
	/* The highest rate and the least mean since. */
	__u64 rate_after_q48;
	__u64 mean_after_us_q20;
	__u64 last_queue_us_q20;
	__u32 rounds;
	__u32 rival_rounds;
	/* It returns to a competition, which is suspended meanwhile. */
	__u8 is_from_compete;
	/* Delay was the reason for it. */
	__u8 is_late;
};

struct look {
	__u64 window_q32;
	__u32 rounds;
};

struct compete {
	struct cubic cubic;
	/* The fullest queue of the last pieces of time. */
	__u64 fullest_us_q20[2];
	__u64 fullest_since_us;
	__u64 hold_until_us;
};

/* A phase with its window in packets. */
struct phase {
	enum concord_phase is;
	__u64 window_q32;
	struct start start;
	struct delay delay;
	struct yielding yield;
	struct look look;
	struct compete compete;
};

/* When to yield in competition, and what the queues have done, as in yielding.rs. */
struct tests {
	__u64 gap_us;
	__u64 last_us;
	__u64 last_queue_us;
	__u64 doubt_until_us;
	__u64 doubt_us;
};

struct looks {
	__u64 next_us;
	__u64 gap_us;
	struct account seen;
};

/* Decisions that the hooks have not counted yet. */
struct concord_counts {
	__u32 corruption;
	__u32 congestion;
	__u32 undecided;
	__u32 reductions;
	__u32 yields;
	__u32 rivals;
};

struct concord {
	struct phase phase;
	/* The phase before the last timeout, if `has_before`. */
	struct phase before;
	struct path path;
	struct corruption corruption;
	struct tally round;
	__u64 window_now_q32;
	__u64 window_then_q32;
	__u64 low_water_q32;
	__u64 goal_q32;
	struct tests tests;
	struct looks looks;
	struct concord_counts counts;
	__u32 srtt_us;
	/* Packets delivered over the connection's life when this round began. */
	__u32 round_begun_at;
	__u8 was_losing;
	__u8 has_before;
};

/* Returns whether a parameter turns its part on. */
static inline int is_on(__u32 param_q24)
{
	return param_q24 >= 1 << 23;
}

static inline int believes(const struct concord_params *params)
{
	return is_on(params->explain_q24);
}

static inline __u64 threshold_us_q20(const struct concord *self, const struct concord_params *params)
{
	return path_threshold_us_q20(&self->path, params->variation_q24);
}

static inline __u64 bdp_of_q32(const struct concord *self, const struct concord_params *params, __u64 rate_q48)
{
	__u64 packets_q32 = path_bdp_q32(&self->path, rate_q48);

	return corruption_allow_q32(&self->corruption, believes(params), packets_q32);
}

/* Packets in flight when the queue is empty. */
static inline __u64 bdp_q32(const struct concord *self, const struct concord_params *params)
{
	return bdp_of_q32(self, params, path_rate_q48(&self->path, RATES));
}

/* By the last three rounds, with what a receiver may keep back. */
static inline __u64 drained_q32(const struct concord *self, const struct concord_params *params)
{
	return larger(bdp_of_q32(self, params, path_rate_q48(&self->path, 3)) + MARGIN_Q32, LEAST_WINDOW_Q32);
}

/* Counts what was lost under load by its verdict, and forgets it. */
static inline void forget_loaded(struct concord *self, const struct concord_params *params)
{
	__u32 events = self->corruption.loaded.events_q32 >> 32;

	if (corruption_is_exceeded(&self->corruption, believes(params)))
		self->counts.congestion += events;
	else
		self->counts.corruption += events;
	self->corruption.loaded = (struct account){};
}

static inline void begin_delay(struct concord *self, __u32 draining)
{
	self->phase.is = IN_DELAY;
	self->phase.delay = (struct delay){ .growth_q32 = ALPHA_Q32, .draining = draining };
}

static inline void enter_delay(struct concord *self, const struct concord_params *params, __u32 draining)
{
	forget_loaded(self, params);
	begin_delay(self, draining);
}

#endif
