/* What an ACK brings, and the tally of a round trip, as in rounds.rs. */
#ifndef AIRTCP_CONCORD_ROUNDS_H
#define AIRTCP_CONCORD_ROUNDS_H

#include "wide.h"

/* In packets. */
struct news {
	__u32 delivered;
	__u32 lost;
	/* Begins of losses. Losses on the ACKs that follow belong to the same event. */
	__u32 loss_events;
};

struct tally {
	__u64 start_us;
	__u64 sum_us;
	__u32 delivered;
	__u32 lost;
	__u32 loss_events;
	__u32 min_us;
	__u32 max_us;
	__u32 samples;
	__u8 is_limited;
	__u8 is_app_limited;
};

static inline void tally_begin(struct tally *round, __u64 now_us)
{
	*round = (struct tally){ .start_us = now_us, .min_us = ~0U };
}

static inline void tally_sample(struct tally *round, __u32 rtt_us)
{
	round->min_us = smaller(round->min_us, rtt_us);
	round->max_us = larger(round->max_us, rtt_us);
	round->sum_us += rtt_us;
	round->samples++;
}

/* How far the mean is above the minimum. */
static inline __u64 tally_noise_us_q20(const struct tally *round)
{
	return mul_div(round->sum_us - (__u64)round->min_us * round->samples, 1 << 20, round->samples);
}

static inline __u64 tally_mean_us_q20(const struct tally *round)
{
	return ((__u64)round->min_us << 20) + tally_noise_us_q20(round);
}

/* In packets per microsecond; 0 if the application sent less than the window allowed. */
static inline __u64 tally_rate_q48(const struct tally *round, __u64 now_us)
{
	__u64 elapsed_us = now_us - round->start_us;

	return elapsed_us && !round->is_app_limited ? mul_div(round->delivered, 1ULL << 48, elapsed_us) : 0;
}

static inline __u64 tally_sent(const struct tally *round)
{
	return (__u64)round->delivered + round->lost;
}

#endif
