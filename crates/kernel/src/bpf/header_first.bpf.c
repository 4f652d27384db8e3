/* Header-first dropping (paper 000 §4.7.1) at a router, where packets leave by an interface, in front of its queue. */
#include "kernel.h"
#include "header_first/rules.h"
#include <bpf/bpf_endian.h>

char LICENSE[] SEC("license") = "GPL";

/* The next program decides. */
#define NEXT (-1)
#define SHOT 2

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct qdisc_skb_head {
	__u32 qlen;
};

struct gnet_stats_queue {
	__u32 backlog;
};

struct Qdisc {
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};

struct net_device {
	struct Qdisc *qdisc;
};

struct sk_buff {
	struct net_device *dev;
};

#pragma clang attribute pop

/* Absent before Linux 6.2, which has no hook for this program either. */
extern void *bpf_cast_to_kern_ctx(void *) __ksym __weak;

/* Set before the program is loaded. Bytes before the IP header, and bits of a header packet's DSCP. */
const volatile __u32 link_len = 14;
const volatile __u8 mark = 7;
const volatile struct limits limits = {};

struct queue {
	struct bpf_spin_lock lock;
	struct fifo fifo;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue);
} queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

static const __u32 only;

static __always_inline bool has_mark(struct __sk_buff *skb)
{
	__u8 start[2];
	__u8 traffic_class;
	if (bpf_skb_load_bytes(skb, link_len, start, sizeof(start)))
		return false;
	if (skb->protocol == bpf_htons(ETHERTYPE_IPV4))
		traffic_class = start[1];
	else if (skb->protocol == bpf_htons(ETHERTYPE_IPV6))
		traffic_class = start[0] << 4 | start[1] >> 4;
	else
		return false;
	return mark && (traffic_class >> 2 & mark) == mark;
}

static __always_inline struct arrival read_arrival(struct __sk_buff *skb)
{
	struct sk_buff *kernels = bpf_cast_to_kern_ctx(skb);
	struct Qdisc *qdisc = kernels->dev->qdisc;
	struct arrival arrival = {
		.bytes = skb->wire_len,
		.packets = skb->gso_segs ? skb->gso_segs : 1,
		.is_header = has_mark(skb),
		.waiting_bytes = qdisc->qstats.backlog,
		.waiting_packets = qdisc->q.qlen,
	};
	return arrival;
}

static __always_inline void count(struct totals *totals, const struct arrival *arrival, enum verdict verdict)
{
	if (verdict == DROP_HEADER)
		totals->headers_dropped += arrival->packets;
	else if (arrival->is_header)
		*(verdict == PASS ? &totals->headers_passed : &totals->headers_overflow) += arrival->packets;
	else
		*(verdict == PASS ? &totals->data_passed : &totals->data_overflow) += arrival->packets;
}

SEC("tcx/egress")
int header_first(struct __sk_buff *skb)
{
	struct queue *queue = bpf_map_lookup_elem(&queues, &only);
	struct totals *sums = bpf_map_lookup_elem(&totals, &only);
	if (!queue || !sums || !bpf_ksym_exists(bpf_cast_to_kern_ctx))
		return NEXT;
	struct arrival arrival = read_arrival(skb);
	struct limits at_most = { .bytes = limits.bytes, .packets = limits.packets, .headers = limits.headers };
	bpf_spin_lock(&queue->lock);
	enum verdict verdict = judge(&queue->fifo, &arrival, &at_most);
	bpf_spin_unlock(&queue->lock);
	count(sums, &arrival, verdict);
	return verdict == PASS ? NEXT : SHOT;
}
