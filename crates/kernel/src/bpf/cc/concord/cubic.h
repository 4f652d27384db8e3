/* The window of a flow in competition, as in cubic.rs: RFC 9438. */
#ifndef AIRTCP_CONCORD_CUBIC_H
#define AIRTCP_CONCORD_CUBIC_H

#include "wide.h"

/* So long after the plateau, the window is larger than any that exists. */
#define PLATEAU_MAX_US (700 * US_PER_S)

struct cubic {
	__u64 w_max_q32;
	/* Reno's window. */
	__u64 w_est_q32;
	__u64 epoch_us;
	__u64 k_us;
};

/* β = 0.7. */
static inline __u64 beta_of(__u64 window_q32)
{
	return window_q32 * 7 / 10;
}

/* α = 3(1-β)/(1+β) packets per window of `delivered` ones (§4.3). */
static inline __u64 alpha_of_q32(__u32 delivered, __u64 window_q32)
{
	return mul_div(9ULL * delivered << 4, 1ULL << 60, 17 * window_q32);
}

/* C t³ packets, with C = 0.4 per second³. */
static inline __u64 cube_q32(__u64 us)
{
	__u64 short_us = smaller(us, PLATEAU_MAX_US);
	__u64 cube = mul_div(mul_div(short_us, short_us, US_PER_S), short_us, US_PER_S);

	return mul_div(cube, 2 * ONE_Q32, 5 * US_PER_S);
}

/* Its inverse, by Newton's method from above. */
static inline __u64 cube_root_us(__u64 packets_q32)
{
	__u64 us = 2 * US_PER_S;

	/* Two seconds are enough for a packet, and twice as many for eight times as many packets. */
	for (int bits = 32; bits < 59 && packets_q32 >> bits; bits += 3)
		us *= 2;
	for (int step = 0; step < 12; step++)
		us = (2 * us + mul_div(mul_div(packets_q32, 2500 * US_PER_S, us), 1000 * US_PER_S, us << 32)) / 3;
	return us;
}

static inline void cubic_begin(struct cubic *cubic, __u64 window_q32, __u64 now_us)
{
	*cubic = (struct cubic){ .w_max_q32 = window_q32, .w_est_q32 = window_q32, .epoch_us = now_us };
}

/* The window after `delivered` more packets. */
static inline __u64 cubic_grow(struct cubic *cubic, __u64 window_q32, __u32 delivered, __u64 now_us, __u64 rtt_us)
{
	__u64 since_us = now_us - cubic->epoch_us + rtt_us, delivered_q32 = (__u64)delivered << 32;
	__u64 target_q32, missing_q32, reno_q32;

	/* §4.2: the window one round trip from now, at most half as large again. */
	if (since_us >= cubic->k_us)
		target_q32 = cubic->w_max_q32 + cube_q32(since_us - cubic->k_us);
	else
		target_q32 = less_or_none(cubic->w_max_q32, cube_q32(cubic->k_us - since_us));
	missing_q32 = smaller(less_or_none(target_q32, window_q32), window_q32 / 2);
	/* §4.3. */
	cubic->w_est_q32 = smaller(cubic->w_est_q32 + alpha_of_q32(delivered, window_q32), WINDOW_MAX_Q32);
	reno_q32 = smaller(cubic->w_est_q32, window_q32 + delivered_q32);
	return larger(window_q32 + mul_div(missing_q32, delivered_q32, window_q32), reno_q32);
}

/* The window after a congestion event. */
static inline __u64 cubic_reduce(struct cubic *cubic, __u64 window_q32, __u64 now_us)
{
	__u64 reduced_q32 = beta_of(window_q32);

	/* §4.7. */
	cubic->w_max_q32 = window_q32 < cubic->w_max_q32 ? window_q32 * 17 / 20 : window_q32;
	cubic->k_us = cube_root_us(less_or_none(cubic->w_max_q32, reduced_q32));
	cubic->epoch_us = now_us;
	cubic->w_est_q32 = reduced_q32;
	return reduced_q32;
}

#endif
