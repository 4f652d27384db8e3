/* What a controller is besides slow start: `Avoidance` of crates/proto/src/cc/composed.rs. hooks.h joins it to
 * the kernel. */
#ifndef AIRTCP_AVOIDANCE_H
#define AIRTCP_AVOIDANCE_H

#include "window.h"

#define NO_RTT (~0U)

/* What an ACK reports. */
struct ack {
	__u64 now_us;
	/* Bytes by which SND.UNA has moved. */
	__u32 acked_bytes;
	__u32 mss;
	/* NO_RTT if none was measured with this ACK. */
	__u32 rtt_us;
	/* 0 before the first measurement. */
	__u32 srtt_us;
	/* The connection's smallest RTT; NO_RTT before the first one. */
	__u32 min_rtt_us;
	/* When the peer sent it, by its own clock (RFC 7323 §3.2 TSval); 0 without timestamps. */
	__u32 peer_timestamp;
	__u32 una;
	__u32 nxt;
	__u8 is_duplicate;
	/* The kernel is lowering cwnd, or recovering without a timeout: nothing grows. */
	__u8 in_recovery;
	__u8 is_cwnd_limited;
};

enum cause { CAUSE_LOSS, CAUSE_ECN, CAUSE_TIMEOUT };

/* Why a controller is asked to slow down. */
struct congestion {
	enum cause cause;
	/* Segments outstanding, at most cwnd at the time of the loss. */
	__u64 flight_size_q16;
	__u32 mss;
	/* The last measured RTT, and the smallest; NO_RTT before the first one. */
	__u32 rtt_us;
	__u32 min_rtt_us;
	__u32 una;
	__u32 nxt;
};

/* What a loss is taken for. */
enum judgement { CONGESTION, CORRUPTION, UNDECIDED };

/* Leaves cwnd and ssthresh as they are. */
#define KEEP (~0ULL)

/* `self` is the controller's state in the socket, zero at first; `params` is its struct NAME_params. Each hook
 * may be NULL. */
struct avoidance {
	/* By default does nothing. */
	void (*init)(void *self, const void *params);
	/* Called for every ACK, before growth, also in recovery. May change the window outside of recovery. By default
	 * does nothing. */
	void (*observe)(void *self, const void *params, const struct ack *ack, struct window *window);
	/* So many segments were acknowledged in congestion avoidance, with the window as the limit. By default grows
	 * by one segment per window. */
	void (*increase)(void *self, const void *params, __u64 acked_q16, struct window *window);
	/* Returns ssthresh in segments, Q16, or KEEP. At a timeout, the kernel first asks as if about a loss
	 * (hooks.h): the second answer counts, and must not depend on the first. By default half of FlightSize. */
	__u64 (*reduce)(void *self, const void *params, const struct congestion *event, const struct window *window);
	/* Called before `reduce`. By default CONGESTION. */
	enum judgement (*judge)(void *self, const void *params, const struct congestion *event, const struct window *window);
	/* Returns whether cwnd survives a timeout. By default it becomes the loss window (RFC 5681 §3.1). */
	int (*keeps_window)(void *self, const struct congestion *event);
	/* Sending begins again after idleness. By default does nothing. */
	void (*restart)(void *self);
	/* The last loss or timeout for which `reduce` did not return KEEP was spurious: restores what that changed. By
	 * default does nothing. */
	void (*undo)(void *self);
	/* Factor on slow start's growth, Q16. By default 1. */
	__u64 (*slow_start_gain)(void *self);
};

/* RFC 5681 §3.1 eq. (4) without its minimum of two segments, which hooks.h applies. */
static inline __u64 half_of_flight(const struct congestion *event)
{
	return event->flight_size_q16 / 2;
}

#endif
