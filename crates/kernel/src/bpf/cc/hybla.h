/* Hybla (Caini, Firrincieli, Int. J. Satellite Communications 22(5), 2004), as in crates/proto/src/cc/hybla.rs:
 * a long path's window grows in time as a short reference path's would. */
#ifndef AIRTCP_HYBLA_H
#define AIRTCP_HYBLA_H

#include "avoidance.h"

/* Limit of RTT/RTT0, so that its square, a gain, is within GAIN_MAX_Q16. */
#define RHO_MAX_Q16 (1ULL << 26)

struct hybla_params {
	__u32 rtt0_ms_q16;
	__u32 rho_max_q16;
};

struct hybla {
	/* 2^rho - 1, and rho^2. */
	__u64 slow_start_gain_q16;
	__u64 avoidance_gain_q16;
	/* The smallest SRTT seen, because queueing does not make the path longer; NO_RTT before the first one. */
	__u32 min_srtt_us;
};

/* 2^exponent to 2^-16, for an exponent below 33. */
static inline __u64 exp2_q16(__u64 exponent_q16)
{
	/* 2^(1/2), 2^(1/4), 2^(1/8) ..., in Q30: one for each binary digit of the exponent's fraction. */
	static const __u32 roots_q30[16] = {
		1518500250, 1276901417, 1170923762, 1121280436, 1097253708, 1085434106, 1079572136, 1076653033,
		1075196441, 1074468888, 1074105294, 1073923544, 1073832680, 1073787251, 1073764537, 1073753181,
	};
	__u64 power_q30 = 1 << 30;
	int digit;

#pragma clang loop unroll(full)
	for (digit = 0; digit < 16; digit++) {
		if (exponent_q16 & (1 << (15 - digit)))
			power_q30 = power_q30 * roots_q30[digit] >> 30;
	}
	return power_q30 << (exponent_q16 >> 16) >> 14;
}

static inline void hybla_init(void *self, const void *params)
{
	struct hybla *hybla = self;

	hybla->slow_start_gain_q16 = ONE_Q16;
	hybla->avoidance_gain_q16 = ONE_Q16;
	hybla->min_srtt_us = NO_RTT;
}

static inline void hybla_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct hybla *hybla = self;
	const struct hybla_params *p = params;
	__u64 rho_q16;

	if (!ack->srtt_us)
		return;
	hybla->min_srtt_us = smaller(hybla->min_srtt_us, ack->srtt_us);
	/* At every ACK, because the parameters may have changed. */
	rho_q16 = smaller(((__u64)hybla->min_srtt_us << 32) / (p->rtt0_ms_q16 * 1000ULL), RHO_MAX_Q16);
	/* A path shorter than the reference has its window left as it is. */
	rho_q16 = larger(rho_q16, ONE_Q16);
	hybla->slow_start_gain_q16 = smaller(exp2_q16(smaller(rho_q16, p->rho_max_q16)) - ONE_Q16, GAIN_MAX_Q16);
	hybla->avoidance_gain_q16 = rho_q16 * rho_q16 >> 16;
}

static inline void hybla_increase(void *self, const void *params, __u64 acked_q16, struct window *window)
{
	struct hybla *hybla = self;

	grow_additively(window, acked_q16, hybla->avoidance_gain_q16);
}

static inline __u64 hybla_slow_start_gain(void *self)
{
	struct hybla *hybla = self;

	return hybla->slow_start_gain_q16;
}

static const struct avoidance hybla_avoidance = {
	.init = hybla_init,
	.observe = hybla_observe,
	.increase = hybla_increase,
	.slow_start_gain = hybla_slow_start_gain,
};

#endif
