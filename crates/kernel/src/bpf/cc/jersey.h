/* TCP Jersey (Xu, Tian, Ansari, IEEE JSAC 22(4), 2004), as in crates/proto/src/cc/jersey: routers report
 * congestion (congestion warning, here ECN), and every other loss is taken for corruption. */
#ifndef AIRTCP_JERSEY_H
#define AIRTCP_JERSEY_H

#include "estimate.h"

struct jersey {
	/* R, in bytes per second. */
	__u64 rate;
	/* When the last ACK came; 0 before the first one. */
	__u64 last_us;
	__u32 accounted_for;
	/* 0 before the first measurement. */
	__u32 min_rtt_us;
};

/* R = (RTT * R + L) / ((t - t_last) + RTT). Rounded down: R is too small by at most RTT/(t - t_last) + 1 bytes
 * per second. */
static inline void jersey_estimate(struct jersey *jersey, __u64 length_bytes, __u64 since_last_us, __u32 srtt_us)
{
	__u64 rtt_us = smaller(srtt_us, RTT_MAX_US);

	if (since_last_us + rtt_us)
		jersey->rate = smaller((rtt_us * jersey->rate + length_bytes * US_PER_S) / (since_last_us + rtt_us), RATE_MAX);
}

/* Takes from an ACK everything but its time. Returns L. */
static inline __u32 jersey_length(struct jersey *jersey, const struct ack *ack)
{
	if (ack->min_rtt_us != NO_RTT)
		jersey->min_rtt_us = ack->min_rtt_us;
	return acked_count(&jersey->accounted_for, ack);
}

/* Measures by the sender's own clock. */
static inline void jersey_measure(struct jersey *jersey, const struct ack *ack, __u32 length_bytes)
{
	if (jersey->last_us)
		jersey_estimate(jersey, length_bytes, ack->now_us - jersey->last_us, ack->srtt_us);
	jersey->last_us = ack->now_us;
}

static inline void jersey_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct jersey *jersey = self;

	jersey_measure(jersey, ack, jersey_length(jersey, ack));
}

static inline enum judgement jersey_judge(void *self, const void *params, const struct congestion *event,
					  const struct window *window)
{
	return event->cause == CAUSE_LOSS ? CORRUPTION : CONGESTION;
}

/* ownd = RTTmin * R. A mere loss is answered only by a retransmission. */
static inline __u64 jersey_reduce(void *self, const void *params, const struct congestion *event,
				  const struct window *window)
{
	struct jersey *jersey = self;
	__u64 ownd_bytes = jersey->rate * smaller(jersey->min_rtt_us, RTT_MAX_US) / US_PER_S;

	return event->cause == CAUSE_LOSS ? KEEP : (ownd_bytes << 16) / event->mss;
}

static const struct avoidance jersey_avoidance = {
	.observe = jersey_observe,
	.reduce = jersey_reduce,
	.judge = jersey_judge,
};

#endif
