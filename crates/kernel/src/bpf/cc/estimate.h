/* Shared by the controllers that estimate a bandwidth. */
#ifndef AIRTCP_ESTIMATE_H
#define AIRTCP_ESTIMATE_H

#include "avoidance.h"

/* In bytes per second; no kernel sends faster. Times RTTmin of at most 2^27 us, or 2^8 for the fraction and
 * 2^19 for the filter's coefficients, it fits in 64 bits. */
#define RATE_MAX (1ULL << 36)
#define RTT_MAX_US (1U << 27)

/* AckedCount (Mascolo et al., MobiCom 2001, §2.3): bytes that have arrived since the previous ACK. A duplicate
 * ACK stands for one segment, which the cumulative ACK that follows does not count again. `accounted_for` has
 * the bytes of such segments. */
static inline __u32 acked_count(__u32 *accounted_for, const struct ack *ack)
{
	__u32 counted;

	if (ack->is_duplicate) {
		*accounted_for += ack->mss;
		return ack->mss;
	}
	if (ack->acked_bytes <= ack->mss)
		return ack->acked_bytes;
	if (*accounted_for >= ack->acked_bytes) {
		*accounted_for -= ack->acked_bytes;
		return ack->mss;
	}
	counted = ack->acked_bytes - *accounted_for;
	*accounted_for = 0;
	return counted;
}

#endif
