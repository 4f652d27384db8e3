/* What the programs and their loaders share. Plain C, so that the host's compiler accepts it, too. */
#ifndef AIRTCP_INTF_H
#define AIRTCP_INTF_H

#include <linux/types.h>

/* What a congestion control counts over all its sockets since it was loaded. There is one record per CPU, which
 * the loader sums up; `cc/counters.rs` has the same names in the same order. */
struct counters {
	__u64 sockets_opened;      /* sockets that began to use it */
	__u64 sockets_closed;      /* of these, closed or changed to another controller */
	__u64 losses_corruption;   /* losses judged corruption */
	__u64 losses_congestion;   /* losses judged congestion, and those of a controller that does not judge */
	__u64 losses_undecided;    /* losses on which the judgement was left open */
	__u64 ecn_echoes;          /* windows in which ECN-Echo asked for a reduction */
	__u64 timeouts;            /* expiries of the retransmission timer, repeated ones too */
	__u64 reductions;          /* losses, ECN-Echoes and first timeouts after which ssthresh was less than cwnd */
	__u64 reductions_avoided;  /* the same events after which it was not, although Reno would have halved it */
	__u64 yields;              /* times it gave up its part of a queue, to see whose the queue is */
	__u64 rivals;              /* of these, those that found a rival's */
};

#endif
