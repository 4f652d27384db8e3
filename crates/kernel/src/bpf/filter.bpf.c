/* TCP packet control (paper 001) at a base station, on its interface to the fixed hosts: `data` sees what comes
 * in there, `acks` what goes out. */
#include "kernel.h"
#include "filter/answer.h"
#include "filter/intf.h"
#include "filter/packet.h"
#include "filter/rules.h"

char LICENSE[] SEC("license") = "GPL";

/* The next program decides. */
#define NEXT (-1)
#define SHOT 2

/* Flows that may exist. Only when the mobile host has acknowledged some of the data that was seen does a flow
 * move to `flows`. So forged flows displace only other flows that are not understood yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct key);
	__type(value, struct flow);
} strangers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct parameters);
} parameters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct totals);
} totals SEC(".maps");

static const __u32 only;

/* The cheaper clock came with Linux 5.11. */
static __always_inline __u64 monotonic_ns(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_coarse_ns))
		return bpf_ktime_get_coarse_ns();
	return bpf_ktime_get_ns();
}

static __always_inline struct flow *find(void *map, const struct key *key, __u64 now_ns, __u64 idle_ns)
{
	struct flow *flow = bpf_map_lookup_elem(map, key);
	if (flow && now_ns - flow->seen_ns > idle_ns) {
		bpf_map_delete_elem(map, key);
		return NULL;
	}
	return flow;
}

static __always_inline void forget(const struct key *key)
{
	bpf_map_delete_elem(&flows, key);
	bpf_map_delete_elem(&strangers, key);
}

/* Only the fixed host's data makes a flow known, at any point of the flow's life. */
static __always_inline void meet(struct packet *packet, enum way way, __u64 now_ns)
{
	struct flow flow = { .seen_ns = now_ns };
	if (way != FORWARD || !packet->segment.len)
		return;
	begin(&flow, &packet->segment);
	judge(&flow, &packet->segment, way, 0);
	bpf_map_update_elem(&strangers, &packet->key, &flow, BPF_NOEXIST);
}

static __always_inline void count(struct totals *totals, struct flow *flow, enum way way, enum verdict verdict)
{
	if (way == REVERSE && verdict == PASS) {
		flow->acks_passed += 1;
		totals->acks_passed += 1;
	} else if (way == REVERSE) {
		flow->acks_held += 1;
		totals->acks_held += 1;
	} else if (verdict != PASS) {
		flow->data_dropped += 1;
		totals->data_dropped += 1;
	}
}

static __always_inline int answer(struct __sk_buff *skb, struct packet *packet, struct flow *flow, struct totals *totals)
{
	if (become_answer(skb, packet, flow)) {
		totals->failed += 1;
		return SHOT;
	}
	flow->answered += 1;
	totals->answered += 1;
	return bpf_redirect(skb->ifindex, 0);
}

static __always_inline int filter(struct __sk_buff *skb, enum way way)
{
	struct packet packet = {};
	struct parameters *with = bpf_map_lookup_elem(&parameters, &only);
	struct totals *sums = bpf_map_lookup_elem(&totals, &only);
	if (!with || !sums || !read_packet(skb, &packet, way))
		return NEXT;
	sums->packets += 1;
	if (packet.segment.flags & (FLAG_SYN | FLAG_RST)) {
		forget(&packet.key);
		return NEXT;
	}
	__u64 now_ns = monotonic_ns();
	struct flow *flow = find(&flows, &packet.key, now_ns, with->idle_ns);
	bool is_stranger = !flow;
	if (is_stranger)
		flow = find(&strangers, &packet.key, now_ns, with->idle_ns);
	if (!flow) {
		meet(&packet, way, now_ns);
		return NEXT;
	}
	flow->seen_ns = now_ns;
	enum verdict verdict = judge(flow, &packet.segment, way, with->threshold);
	if (!(way == FORWARD ? with->data_filter : with->ack_filter))
		verdict = PASS;
	count(sums, flow, way, verdict);
	if (is_over(flow)) {
		forget(&packet.key);
		return verdict == PASS ? NEXT : SHOT;
	}
	if (is_stranger && flow->is_understood) {
		sums->understood += 1;
		bpf_map_update_elem(&flows, &packet.key, flow, BPF_ANY);
		bpf_map_delete_elem(&strangers, &packet.key);
		return NEXT;
	}
	if (verdict == ANSWER)
		return answer(skb, &packet, flow, sums);
	return verdict == PASS ? NEXT : SHOT;
}

SEC("tc")
int data(struct __sk_buff *skb)
{
	return filter(skb, FORWARD);
}

SEC("tc")
int acks(struct __sk_buff *skb)
{
	if (skb->mark == OWN_MARK) {
		skb->mark = 0;
		return NEXT;
	}
	return filter(skb, REVERSE);
}
