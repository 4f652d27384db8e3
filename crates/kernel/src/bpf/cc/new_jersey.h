/* TCP New Jersey (Xu, Tian, Ansari, Computer Networks 47(2), 2005), as in crates/proto/src/cc/jersey/new.rs:
 * Jersey by the receiver's clock, so that lost or bunched ACKs do not distort the estimate. */
#ifndef AIRTCP_NEW_JERSEY_H
#define AIRTCP_NEW_JERSEY_H

#include "jersey.h"

struct new_jersey_params {
	__u32 timestamp_tick_ms_q20;
};

struct new_jersey {
	struct jersey jersey;
	/* Timestamp of the last ACK; 0 before the first one. */
	__u32 last_timestamp;
};

static inline __u64 ticks_to_us(__u32 ticks, __u32 tick_ms_q20)
{
	/* No more than 2^23 ticks of a second each fit in 64 bits. After so long, nothing is left of R. */
	return (smaller(ticks, 1 << 23) * tick_ms_q20 * 1000 + (1 << 19)) >> 20;
}

static inline void new_jersey_observe(void *self, const void *params, const struct ack *ack, struct window *window)
{
	struct new_jersey *new_jersey = self;
	const struct new_jersey_params *p = params;
	__u32 length_bytes = jersey_length(&new_jersey->jersey, ack);
	__u32 last = new_jersey->last_timestamp;
	int is_overtaken = last && is_before(ack->peer_timestamp, last);
	__u32 ticks = is_overtaken ? 0 : ack->peer_timestamp - last;

	/* Without timestamps, this is Jersey. */
	if (!ack->peer_timestamp) {
		jersey_measure(&new_jersey->jersey, ack, length_bytes);
		return;
	}
	if (!is_overtaken)
		new_jersey->last_timestamp = ack->peer_timestamp;
	if (last)
		jersey_estimate(&new_jersey->jersey, length_bytes, ticks_to_us(ticks, p->timestamp_tick_ms_q20),
				ack->srtt_us);
}

static const struct avoidance new_jersey_avoidance = {
	.observe = new_jersey_observe,
	.reduce = jersey_reduce,
	.judge = jersey_judge,
};

#endif
