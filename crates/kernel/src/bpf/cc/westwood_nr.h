/* WestwoodNR, as in crates/proto/src/cc/westwood/{mod,nr}.rs: after a loss, the window becomes what the path
 * has been seen to carry, B * RTTmin. */
#ifndef AIRTCP_WESTWOOD_NR_H
#define AIRTCP_WESTWOOD_NR_H

#include "estimate.h"

/* Parameters of the estimator and of the reaction, which WestwoodVT has, too. */
#define WESTWOOD_PARAMS               \
	__u32 filter_ratio_q8;            \
	__u32 acked_max_q10;              \
	__u32 rtt_min_initial_s_q24;      \
	__u32 rtt_min_tick_s_q24;         \
	__u32 timeout_step_q16;           \
	__u32 timeout_max_q16

struct westwood_nr_params {
	WESTWOOD_PARAMS;
};

struct westwood_nr {
	/* B and its last sample, in bytes per second. */
	__u64 bandwidth_q8;
	__u64 last_sample_q8;
	/* Begin of the current sample, and the bytes acknowledged since; 0 before the first ACK. */
	__u64 interval_start_us;
	__u32 interval_bytes;
	__u32 accounted_for;
	__u32 min_rtt_us;
	__u32 timeout_factor_q16;
	/* The factor before the last loss or timeout. */
	__u32 timeout_factor_before_q16;
};

static inline __u32 seconds_to_us(__u32 seconds_q24)
{
	return (seconds_q24 * US_PER_S + (1 << 23)) >> 24;
}

static inline void westwood_init(void *self, const void *params)
{
	struct westwood_nr *westwood = self;
	const struct westwood_nr_params *p = params;

	westwood->min_rtt_us = seconds_to_us(p->rtt_min_initial_s_q24);
	westwood->timeout_factor_q16 = ONE_Q16;
	westwood->timeout_factor_before_q16 = ONE_Q16;
}

/* The time in whole ticks, at least one; without a tick, the time itself. */
static inline __u32 in_whole_ticks(__u32 time_us, __u32 tick_us)
{
	return tick_us ? larger(time_us / tick_us, 1) * tick_us : time_us;
}

/* Tustin's low-pass filter with the coefficients (2r-1)/(2r+1) and 1/(2r+1), the same for every ACK, however
 * long it took to come. They sum up to one, so that no output is larger than the largest sample. */
static inline void westwood_filter(struct westwood_nr *westwood, __u64 sample_q8, __u32 ratio_q8)
{
	__u64 weighed = (2 * ratio_q8 - 256) * westwood->bandwidth_q8 + 256 * (sample_q8 + westwood->last_sample_q8);

	westwood->bandwidth_q8 = weighed / (2 * ratio_q8 + 256);
	westwood->last_sample_q8 = sample_q8;
}

static inline void westwood_sample(struct westwood_nr *westwood, const struct westwood_nr_params *params,
				   const struct ack *ack, __u32 acked_bytes)
{
	__u64 length_us = ack->now_us - westwood->interval_start_us;
	__u64 bytes_q8;

	if (!westwood->interval_start_us) {
		westwood->interval_start_us = ack->now_us;
		return;
	}
	westwood->interval_bytes += acked_bytes;
	if (!length_us || !westwood->interval_bytes)
		return;
	bytes_q8 = smaller((__u64)westwood->interval_bytes << 8, (__u64)params->acked_max_q10 * ack->mss >> 2);
	westwood_filter(westwood, smaller(bytes_q8 * US_PER_S / length_us, RATE_MAX << 8), params->filter_ratio_q8);
	westwood->interval_start_us = ack->now_us;
	westwood->interval_bytes = 0;
}

static inline void westwood_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct westwood_nr *westwood = self;
	const struct westwood_nr_params *p = params;
	__u32 min_rtt_us;

	if (ack->min_rtt_us != NO_RTT) {
		min_rtt_us = in_whole_ticks(ack->min_rtt_us, seconds_to_us(p->rtt_min_tick_s_q24));
		westwood->min_rtt_us = smaller(westwood->min_rtt_us, min_rtt_us);
	}
	westwood_sample(westwood, p, ack, acked_count(&westwood->accounted_for, ack));
}

/* Whole segments, as in the authors' code, and fewer after a timeout. */
static inline __u64 westwood_reduce(void *self, const void *params, const struct congestion *event,
				    const struct window *window)
{
	struct westwood_nr *westwood = self;
	const struct westwood_nr_params *p = params;
	__u64 pipe_bytes = (westwood->bandwidth_q8 >> 8) * smaller(westwood->min_rtt_us, RTT_MAX_US) / US_PER_S;

	westwood->timeout_factor_before_q16 = westwood->timeout_factor_q16;
	if (event->cause != CAUSE_TIMEOUT)
		return pipe_bytes / event->mss << 16;
	if (in_slow_start(window)) {
		westwood->timeout_factor_q16 += p->timeout_step_q16;
		westwood->timeout_factor_q16 = smaller(westwood->timeout_factor_q16, p->timeout_max_q16);
	} else {
		westwood->timeout_factor_q16 = ONE_Q16;
	}
	return (pipe_bytes << 16) / ((__u64)event->mss * westwood->timeout_factor_q16) << 16;
}

static inline void westwood_undo(void *self)
{
	struct westwood_nr *westwood = self;

	westwood->timeout_factor_q16 = westwood->timeout_factor_before_q16;
}

static const struct avoidance westwood_nr_avoidance = {
	.init = westwood_init,
	.observe = westwood_observe,
	.reduce = westwood_reduce,
	.undo = westwood_undo,
};

#endif
