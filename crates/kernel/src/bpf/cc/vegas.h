/* Vegas (Brakmo, O'Malley, Peterson, SIGCOMM 1994), as in crates/proto/src/cc/vegas.rs: keeps a few segments in
 * the bottleneck's queue, measured by how much the RTT exceeds its minimum. */
#ifndef AIRTCP_VEGAS_H
#define AIRTCP_VEGAS_H

#include "avoidance.h"

/* RTT samples that a round needs. With fewer, all may be of delayed ACKs, and the round is Reno's. */
#define VEGAS_MIN_SAMPLES 3

/* The longest queueing that is told apart, in us. A window in Q16 times this fits in 64 bits. */
#define VEGAS_QUEUEING_MAX_US (1U << 22)

struct vegas_params {
	__u32 alpha_q10;
	__u32 beta_q10;
	__u32 gamma_q10;
	__u32 slow_start_rounds_q10;
};

struct vegas {
	/* SND.NXT when the round trip began, if `has_round`. */
	__u32 round_end;
	/* The smallest RTT of the round; NO_RTT before the first sample. */
	__u32 min_rtt_us;
	__u32 samples;
	__u8 has_round;
	__u8 is_round_skipped;
	__u8 is_reno;
};

static inline void vegas_restart(void *self)
{
	struct vegas *vegas = self;

	vegas->has_round = 0;
	vegas->min_rtt_us = NO_RTT;
	vegas->samples = 0;
}

static inline void vegas_init(void *self, const void *params)
{
	struct vegas *vegas = self;

	vegas_restart(vegas);
	vegas->is_reno = 1;
}

/* Keeps cwnd at two segments or more, and ssthresh from asking for slow start. */
static inline void vegas_leave_slow_start(struct window *window)
{
	window->cwnd = larger(window->cwnd, 2);
	window->ssthresh_q16 = smaller(window->ssthresh_q16, cwnd_q16(window));
}

/* §3.2: Diff = (expected - actual) rate * base RTT, in whole segments as Linux has it. */
static inline void vegas_judge(const struct vegas *vegas, const struct vegas_params *params, const struct ack *ack,
			       struct window *window)
{
	__u32 base_us = larger(ack->min_rtt_us, 1);
	__u32 queueing_us = smaller(vegas->min_rtt_us - ack->min_rtt_us, VEGAS_QUEUEING_MAX_US);
	__u64 queued_q10 = share(cwnd_q16(window), queueing_us, base_us) >> 16 << 10;

	if (in_slow_start(window)) {
		if (queued_q10 > params->gamma_q10) {
			set_cwnd_q16(window, smaller(cwnd_q16(window),
						     share(cwnd_q16(window), base_us, vegas->min_rtt_us) + ONE_Q16));
			vegas_leave_slow_start(window);
		}
	} else if (queued_q10 > params->beta_q10) {
		window->cwnd--;
		vegas_leave_slow_start(window);
	} else if (queued_q10 < params->alpha_q10 && ack->is_cwnd_limited) {
		window->cwnd++;
	}
}

static inline void vegas_end_round(struct vegas *vegas, const struct vegas_params *params, const struct ack *ack,
				   struct window *window)
{
	vegas->is_reno = vegas->samples < VEGAS_MIN_SAMPLES;
	/* Slow start doubles the window every round trip, or every other one. */
	vegas->is_round_skipped = params->slow_start_rounds_q10 >= 1536 && !vegas->is_round_skipped;
	if (!vegas->is_reno)
		vegas_judge(vegas, params, ack, window);
	vegas->min_rtt_us = NO_RTT;
	vegas->samples = 0;
}

static inline void vegas_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct vegas *vegas = self;

	if (ack->in_recovery) {
		/* RTTs that are measured while segments are missing say nothing about a full window. */
		vegas_restart(vegas);
		return;
	}
	if (ack->rtt_us != NO_RTT) {
		vegas->min_rtt_us = smaller(vegas->min_rtt_us, ack->rtt_us);
		vegas->samples++;
	}
	if (ack->is_duplicate || (vegas->has_round && !is_before(vegas->round_end, ack->una)))
		return;
	vegas->has_round = 1;
	vegas->round_end = ack->nxt;
	vegas_end_round(vegas, params, ack, window);
}

static inline void vegas_increase(void *self, const void *params, __u64 acked_q16, struct window *window)
{
	struct vegas *vegas = self;

	if (vegas->is_reno)
		grow_additively(window, acked_q16, ONE_Q16);
}

static inline __u64 vegas_slow_start_gain(void *self)
{
	struct vegas *vegas = self;

	return vegas->is_round_skipped ? 0 : ONE_Q16;
}

static const struct avoidance vegas_avoidance = {
	.init = vegas_init,
	.observe = vegas_observe,
	.increase = vegas_increase,
	.restart = vegas_restart,
	.slow_start_gain = vegas_slow_start_gain,
};

#endif
