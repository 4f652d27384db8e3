/* The congestion window, shared by slow start and avoidance: `Window` and `SlowStart` of crates/proto/src/cc. */
#ifndef AIRTCP_WINDOW_H
#define AIRTCP_WINDOW_H

#include "fixed.h"

/* Largest window, in segments. It leaves room for 2^20 where a window in Q16 is multiplied. */
#define WINDOW_MAX (1U << 26)

/* In segments. */
struct window {
	__u32 cwnd;
	/* Fraction of a segment that belongs to cwnd. The kernel's own count of ACKs, snd_cwnd_cnt, is not used: it
	 * would lose what a reduction leaves of a segment, and a gain that changes from ACK to ACK. In Q16, a large
	 * window's growth with one ACK would be nothing. */
	__u32 fraction_q32;
	__u64 ssthresh_q16;
};

static inline __u64 cwnd_q16(const struct window *window)
{
	return ((__u64)window->cwnd << 16) + (window->fraction_q32 >> 16);
}

static inline void set_cwnd_q16(struct window *window, __u64 segments_q16)
{
	segments_q16 = smaller(segments_q16, (__u64)WINDOW_MAX << 16);
	window->cwnd = segments_q16 >> 16;
	window->fraction_q32 = segments_q16 << 16;
}

static inline int in_slow_start(const struct window *window)
{
	return cwnd_q16(window) < window->ssthresh_q16;
}

/* Largest gain. Times WINDOW_MAX segments, it fits in 64 bits. */
#define GAIN_MAX_Q16 (1ULL << 37)

/* Grows by `gain` segments per window of acknowledged ones (RFC 5681 §3.1). More than a window counts as one:
 * an ACK of everything that was in flight before a reduction is not worth several. */
static inline void grow_additively(struct window *window, __u64 acked_q16, __u64 gain_q16)
{
	__u64 cwnd = larger(cwnd_q16(window), ONE_Q16);
	__u64 share_q32 = 1ULL << 32, growth_q32;

	/* Less than a window is less than 2^42; the remainder of the first division gives the last 10 bits. */
	if (acked_q16 < cwnd)
		share_q32 = ((acked_q16 << 22) / cwnd << 10) + ((acked_q16 << 22) % cwnd << 10) / cwnd;
	growth_q32 = share_q32 * (gain_q16 >> 16) + (share_q32 * (gain_q16 & (ONE_Q16 - 1)) >> 16);
	growth_q32 += window->fraction_q32;
	window->cwnd = smaller(window->cwnd + (growth_q32 >> 32), WINDOW_MAX);
	window->fraction_q32 = growth_q32;
}

/* Grows by `gain` segments for each of `acked`, up to ssthresh. Returns how many of them were not needed for
 * that, Q16. */
static inline __u64 slow_start(struct window *window, __u32 acked, __u64 gain_q16)
{
	__u64 room_q16 = window->ssthresh_q16 - cwnd_q16(window);
	__u64 acked_q16 = (__u64)acked << 16;
	__u64 growth_q16 = acked * gain_q16;

	if (growth_q16 <= room_q16) {
		set_cwnd_q16(window, cwnd_q16(window) + growth_q16);
		return 0;
	}
	set_cwnd_q16(window, window->ssthresh_q16);
	/* This fits, because ssthresh is at most 2^31. */
	return acked_q16 - smaller((room_q16 << 16) / gain_q16, acked_q16);
}

/* Segments in the path's queues, if an RTT of `rtt` consists of `base` and queueing. */
static inline __u64 queued_q16(__u64 in_flight_q16, __u32 base_rtt_us, __u32 rtt_us)
{
	return rtt_us > base_rtt_us ? share(in_flight_q16, rtt_us - base_rtt_us, rtt_us) : 0;
}

#endif
