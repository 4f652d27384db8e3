/* What the program and its loader share; `header_first/mod.rs` has the same in the same order. */
#ifndef AIRTCP_HEADER_FIRST_INTF_H
#define AIRTCP_HEADER_FIRST_INTF_H

#include <linux/types.h>
#include <stdbool.h>

/* The most header packets that can be told apart. */
#define HEADERS_MAX 4096
/* UDP_MAX_SEGMENTS of the kernel was 64 up to Linux 6.8, and is 128. */
#define PACKETS_MAX 128

/* Of the FIFO; where it has none, the largest number. */
struct limits {
	__u64 bytes;
	__u32 packets;
	__u32 headers;
};

/* One record per CPU, in packets. */
struct totals {
	__u64 headers_passed;
	__u64 headers_dropped;  /* since enough of them waited */
	__u64 headers_overflow; /* since there was no room */
	__u64 data_passed;
	__u64 data_overflow;
};

#endif
