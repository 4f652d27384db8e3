/* Veno (Fu, Liew, IEEE JSAC 21(2), 2003), as crates/proto/src/cc/veno.rs has it. */
#ifndef AIRTCP_VENO_H
#define AIRTCP_VENO_H

#include <linux/types.h>

struct veno_params {
	__u32 beta_q10;
	__u32 random_loss_factor_q16;
};

struct veno {
	/* Microseconds; the smallest RTT since the last loss, ~0 before the first sample. */
	__u32 base_rtt_us;
	__u32 srtt_us;
	/* Every other ACK of a congested path counts. */
	__u32 is_skipped;
};

static inline void veno_init(struct veno *veno)
{
	veno->base_rtt_us = ~0U;
	veno->srtt_us = 0;
	veno->is_skipped = 0;
}

static inline void veno_observe(struct veno *veno, __u32 rtt_us, __u32 srtt_us)
{
	if (rtt_us < veno->base_rtt_us)
		veno->base_rtt_us = rtt_us;
	veno->srtt_us = srtt_us;
}

/* N = (cwnd/BaseRTT - cwnd/RTT) * BaseRTT segments are queued, of which RTT is the smoothed one. */
static inline int veno_is_congested(const struct veno *veno, const struct veno_params *params, __u32 cwnd)
{
	__u64 queueing_us;

	if (veno->srtt_us <= veno->base_rtt_us)
		return 0;
	queueing_us = veno->srtt_us - veno->base_rtt_us;
	return ((cwnd * queueing_us) << 10) / veno->srtt_us >= params->beta_q10;
}

static inline __u32 veno_ssthresh(const struct veno *veno, const struct veno_params *params, __u32 cwnd, int is_random)
{
	__u64 reduced = is_random ? (__u64)cwnd * params->random_loss_factor_q16 >> 16 : cwnd / 2;

	return reduced > 2 ? reduced : 2;
}

#endif
