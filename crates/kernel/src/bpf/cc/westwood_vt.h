/* WestwoodVT (Koo, Mun, Choo, ICCS 2007), as in crates/proto/src/cc/westwood/vt.rs: WestwoodNR that takes a
 * loss for corruption while the path's buffers are nearly empty. */
#ifndef AIRTCP_WESTWOOD_VT_H
#define AIRTCP_WESTWOOD_VT_H

#include "westwood_nr.h"

struct westwood_vt_params {
	/* First, where WestwoodNR expects its own. */
	WESTWOOD_PARAMS;
	__u32 alpha_q10;
	__u32 beta_q10;
};

struct westwood_vt {
	struct westwood_nr nr;
};

/* §2 distinguishes causes after three duplicate ACKs in congestion avoidance. It does not mention slow start,
 * timeouts and ECN-Echo: there WestwoodNR's reaction stays. Eq. (2): delta = (WindowSize/BaseRTT -
 * WindowSize/RTT) * BaseRTT. */
static inline enum judgement westwood_vt_judge(void *self, const void *params, const struct congestion *event,
					       const struct window *window)
{
	const struct westwood_vt_params *p = params;
	__u64 delta_q16;

	if (event->cause != CAUSE_LOSS || in_slow_start(window) || event->rtt_us == NO_RTT)
		return CONGESTION;
	/* While both are being changed, beta may be below alpha for a moment: then nothing is undecided. */
	delta_q16 = queued_q16(event->flight_size_q16, event->min_rtt_us, event->rtt_us);
	if (delta_q16 < (__u64)p->alpha_q10 << 6)
		return CORRUPTION;
	return delta_q16 > (__u64)p->beta_q10 << 6 ? CONGESTION : UNDECIDED;
}

/* An undecided loss waits for the next three duplicate ACKs (§2). */
static inline __u64 westwood_vt_reduce(void *self, const void *params, const struct congestion *event,
				       const struct window *window)
{
	if (westwood_vt_judge(self, params, event, window) != CONGESTION)
		return KEEP;
	return westwood_reduce(self, params, event, window);
}

static const struct avoidance westwood_vt_avoidance = {
	.init = westwood_init,
	.observe = westwood_observe,
	.reduce = westwood_vt_reduce,
	.judge = westwood_vt_judge,
	.undo = westwood_undo,
};

#endif
