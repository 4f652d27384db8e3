/* What the filter's programs and their loader share; `filter/maps.rs` has the same in the same order. */
#ifndef AIRTCP_FILTER_INTF_H
#define AIRTCP_FILTER_INTF_H

#include <linux/types.h>

/* Identifies a flow. IPv4 addresses are mapped into IPv6 (RFC 4291 §2.5.5.2); all are in network byte order. */
struct key {
	__u32 fixed[4];
	__u32 mobile[4];
	__u16 fixed_port;
	__u16 mobile_port;
};

struct parameters {
	__u64 idle_ns;
	__u32 threshold;
	__u8 ack_filter;
	__u8 data_filter;
	__u8 unused[2];
};

/* One record per CPU. */
struct totals {
	__u64 packets;      /* TCP packets that were looked at */
	__u64 understood;   /* flows that became known */
	__u64 acks_passed;  /* of known flows */
	__u64 acks_held;
	__u64 data_dropped;
	__u64 answered;     /* of those dropped */
	__u64 failed;       /* answers that could not be made: the segment was dropped */
};

#endif
