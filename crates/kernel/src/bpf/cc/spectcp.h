/* SpecTCP (paper 002, §II), as in crates/proto/src/cc/spec.rs: every loss is taken for corruption, unless
 * ECN-Echo reports congestion. */
#ifndef AIRTCP_SPECTCP_H
#define AIRTCP_SPECTCP_H

#include "avoidance.h"

struct spectcp {
	/* ECN-Echo is about what was sent before this. */
	__u32 echoed_until;
	/* Whether any of that is still outstanding. Without this flag, the number would be ahead again after 2^31
	 * bytes. */
	__u32 is_echoed;
};

static inline void spectcp_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct spectcp *spec = self;

	if (!is_before(ack->una, spec->echoed_until))
		spec->is_echoed = 0;
}

static inline int spectcp_is_speculation_right(void *self, const struct congestion *event)
{
	struct spectcp *spec = self;

	return !spec->is_echoed || !is_before(event->una, spec->echoed_until);
}

static inline enum judgement spectcp_judge(void *self, const void *params, const struct congestion *event,
					   const struct window *window)
{
	return event->cause != CAUSE_ECN && spectcp_is_speculation_right(self, event) ? CORRUPTION : CONGESTION;
}

static inline __u64 spectcp_reduce(void *self, const void *params, const struct congestion *event,
				   const struct window *window)
{
	struct spectcp *spec = self;

	switch (event->cause) {
	case CAUSE_ECN:
		spec->echoed_until = event->nxt;
		spec->is_echoed = 1;
		return half_of_flight(event);
	case CAUSE_TIMEOUT:
		return spectcp_is_speculation_right(self, event) ? KEEP : half_of_flight(event);
	default:
		/* Corruption: §II keeps cwnd at "the previous value". Congestion: ECN-Echo has halved it in this window. */
		return KEEP;
	}
}

static const struct avoidance spectcp_avoidance = {
	.observe = spectcp_observe,
	.reduce = spectcp_reduce,
	.judge = spectcp_judge,
	.keeps_window = spectcp_is_speculation_right,
};

#endif
