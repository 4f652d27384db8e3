/* The phase Start, as in start.rs. */
#ifndef AIRTCP_CONCORD_START_H
#define AIRTCP_CONCORD_START_H

#include "delay.h"

#define LATE_IN_A_ROW 8
#define HEAVY_ROUNDS 2
#define HEAVY_OF 10
#define PLATEAU_ROUNDS 3

static inline void begin_start(struct concord *self, __u64 until_q32)
{
	self->phase.is = IN_START;
	self->phase.start = (struct start){ .until_q32 = until_q32 };
}

/* Returns whether the rate has not grown by a quarter for three rounds. */
static inline int has_plateau(struct start *start, __u64 rate_q48)
{
	if (4 * rate_q48 > 5 * start->highest_q48) {
		start->highest_q48 = rate_q48;
		start->rounds_without_growth = 0;
	} else {
		start->rounds_without_growth++;
	}
	return start->rounds_without_growth >= PLATEAU_ROUNDS;
}

/* Returns whether two rounds in a row have lost a fifth of a rate that no longer grows. */
static inline int loses_heavily(struct start *start, const struct tally *round)
{
	int is_full = start->rounds_without_growth > 0;
	int is_heavy = is_full && tally_sent(round) > HEAVY_OF && 5ULL * round->lost > tally_sent(round);

	start->heavy = is_heavy ? start->heavy + 1 : 0;
	return start->heavy >= HEAVY_ROUNDS;
}

static inline void leave_start(struct concord *self, const struct concord_params *params)
{
	self->phase.window_q32 = larger(bdp_q32(self, params) + MARGIN_Q32, self->phase.window_q32 / 2);
	enter_delay(self, params, DRAIN_ROUNDS);
}

static inline void start_ack(struct concord *self, const struct concord_params *params, const struct news *news,
			     __u32 rtt_us, int is_cwnd_limited)
{
	struct start *start = &self->phase.start;
	__u64 late_us_q20 = larger(threshold_us_q20(self, params), path_base_us(&self->path) << 18);

	if (is_cwnd_limited)
		self->phase.window_q32 = smaller(self->phase.window_q32 + ((__u64)news->delivered << 32), WINDOW_MAX_Q32);
	if (rtt_us)
		start->late = path_queue_us_q20(&self->path, (__u64)rtt_us << 20) > late_us_q20 ? start->late + 1 : 0;
	if (self->phase.window_q32 >= start->until_q32) {
		begin_delay(self, 0);
		self->low_water_q32 = self->phase.window_q32;
	} else if (start->late >= LATE_IN_A_ROW) {
		leave_start(self, params);
	}
}

static inline void start_round(struct concord *self, const struct concord_params *params, const struct tally *round)
{
	struct start *start = &self->phase.start;
	int is_flat = !round->is_app_limited && has_plateau(start, self->path.rates_q48[0]);

	if (loses_heavily(start, round) ||
	    (is_flat && self->phase.window_q32 > 2 * bdp_q32(self, params) + 10 * ONE_Q32))
		leave_start(self, params);
}

#endif
