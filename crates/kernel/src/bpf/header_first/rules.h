/* Header-first dropping (paper 000 §4.7.1) in front of a FIFO, as `queue::HeaderFirst` of the protocol machines. The FIFO is
 * the kernel's own: nobody says what has left it, but how much waits in it. */
#ifndef AIRTCP_HEADER_FIRST_RULES_H
#define AIRTCP_HEADER_FIRST_RULES_H

#include "header_first/intf.h"

struct fifo {
	/* Bytes that were let in. */
	__u64 entered;
	/* Header packets that were let in. */
	__u64 headers;
	/* Of the newest header packets, by number: `entered` right behind them. */
	__u64 ends[HEADERS_MAX];
};

struct arrival {
	__u32 bytes;
	/* More than one if the kernel has not cut it yet. */
	__u32 packets;
	bool is_header;
	/* What the FIFO holds. */
	__u32 waiting_bytes;
	__u32 waiting_packets;
};

enum verdict {
	PASS,
	/* Enough header packets wait. */
	DROP_HEADER,
	/* There is no room. */
	OVERFLOW,
};

/* What came first leaves first: all that was let in has left, but for the last bytes, which wait. */
static __always_inline bool waits(const struct fifo *fifo, __u64 header, const struct arrival *arrival)
{
	__s64 left = fifo->entered - arrival->waiting_bytes;
	return (__s64)fifo->ends[header % HEADERS_MAX] > left;
}

static __always_inline bool has_room(const struct arrival *arrival, const struct limits *limits)
{
	return arrival->waiting_packets < limits->packets &&
	       (__u64)arrival->waiting_bytes + arrival->bytes <= limits->bytes;
}

static __always_inline enum verdict judge(struct fifo *fifo, const struct arrival *arrival, const struct limits *limits)
{
	/* As many wait as may if the one that many before this one does. */
	if (arrival->is_header && fifo->headers >= limits->headers &&
	    waits(fifo, fifo->headers - limits->headers, arrival))
		return DROP_HEADER;
	if (!has_room(arrival, limits))
		return OVERFLOW;
	fifo->entered += arrival->bytes;
	for (__u32 i = 0; i < PACKETS_MAX; i++) {
		if (!arrival->is_header || i >= arrival->packets)
			break;
		fifo->ends[fifo->headers++ % HEADERS_MAX] = fifo->entered;
	}
	return PASS;
}

#endif
