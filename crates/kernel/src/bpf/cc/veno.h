/* Veno (Fu, Liew, IEEE JSAC 21(2), 2003), as in crates/proto/src/cc/veno.rs: Vegas's measure of the queue
 * distinguishes random losses from congestion. */
#ifndef AIRTCP_VENO_H
#define AIRTCP_VENO_H

#include "avoidance.h"

struct veno_params {
	__u32 beta_q10;
	__u32 random_loss_factor_q20;
};

struct veno {
	/* The smallest RTT since the last loss, so that a changed path is noticed; NO_RTT before the first one. */
	__u32 base_rtt_us;
	/* Its value before the last loss. */
	__u32 base_rtt_before_us;
	__u32 srtt_us;
};

static inline void veno_init(void *self, const void *params)
{
	struct veno *veno = self;

	veno->base_rtt_us = NO_RTT;
	veno->base_rtt_before_us = NO_RTT;
}

static inline void veno_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct veno *veno = self;

	if (ack->rtt_us == NO_RTT)
		return;
	veno->base_rtt_us = smaller(veno->base_rtt_us, ack->rtt_us);
	veno->srtt_us = ack->srtt_us;
}

/* N = (cwnd/BaseRTT - cwnd/RTT) * BaseRTT segments are queued, with the smoothed RTT. */
static inline int veno_is_congested(const struct veno *veno, const struct veno_params *params, const struct window *window)
{
	return veno->srtt_us > veno->base_rtt_us &&
	       queued_q16(cwnd_q16(window), veno->base_rtt_us, veno->srtt_us) >= (__u64)params->beta_q10 << 6;
}

/* A congested path is probed half as fast: one segment every other round trip. */
static inline void veno_increase(void *self, const void *params, __u64 acked_q16, struct window *window)
{
	grow_additively(window, acked_q16, veno_is_congested(self, params, window) ? ONE_Q16 / 2 : ONE_Q16);
}

static inline enum judgement veno_judge(void *self, const void *params, const struct congestion *event,
					const struct window *window)
{
	return event->cause == CAUSE_LOSS && !veno_is_congested(self, params, window) ? CORRUPTION : CONGESTION;
}

static inline __u64 veno_reduce(void *self, const void *params, const struct congestion *event,
				const struct window *window)
{
	struct veno *veno = self;
	const struct veno_params *p = params;
	int is_random = veno_judge(self, params, event, window) == CORRUPTION;

	if (event->cause != CAUSE_ECN && veno->base_rtt_us != NO_RTT) {
		veno->base_rtt_before_us = veno->base_rtt_us;
		veno->base_rtt_us = NO_RTT;
	}
	return is_random ? event->flight_size_q16 * p->random_loss_factor_q20 >> 20 : half_of_flight(event);
}

static inline void veno_undo(void *self)
{
	struct veno *veno = self;

	veno->base_rtt_us = smaller(veno->base_rtt_us, veno->base_rtt_before_us);
}

static const struct avoidance veno_avoidance = {
	.init = veno_init,
	.observe = veno_observe,
	.increase = veno_increase,
	.reduce = veno_reduce,
	.judge = veno_judge,
	.undo = veno_undo,
};

#endif
