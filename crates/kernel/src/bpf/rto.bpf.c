/* The retransmission timer of the connections of a cgroup.
 *
 * The kernel computes RTO = min(SRTT + max(RTO_MIN, 4·RTTVAR), RTO_MAX). If RTO_MIN is two minutes (a sysctl of
 * the network namespace, copied when a socket is made), RTO_MAX alone decides, and that may change with each
 * round trip. */
#include "kernel.h"
#include <stdbool.h>

char LICENSE[] SEC("license") = "GPL";

#define SOL_TCP 6
#define TCP_THIN_LINEAR_TIMEOUTS 16
#define TCP_USER_TIMEOUT 18
#define TCP_RTO_MAX_MS 44

/* Set before the programs are loaded; `RtoRule` in rto/rule.rs explains them. */
const volatile __u32 factor_thousandths = 0; /* 0: the kernel's own 4, above `floor_us` */
const volatile __u32 floor_us = 0; /* 0: the namespace's */
const volatile __u32 min_ms = 1000;
const volatile __u32 max_ms = 120000;
const volatile bool backoff = true;

/* Whether this kernel has TCP_RTO_MAX_MS (Linux 6.15). Otherwise RTO_MAX is two minutes. */
const volatile bool has_rto_max = true;

/* Least RTO_MIN of sockets that were made with the rule's sysctls. 0: the rule needs none. */
const volatile __u32 needed_min_us = 0;

/* Cookie of the network namespace whose sysctls the rule needs. 0: it needs none, or every namespace has them. */
const volatile __u64 ruled_namespace = 0;

/* SO_MARK of the sockets that the rule applies to. 0: it applies to all. */
const volatile __u32 ruled_mark = 0;

/* RTO_MIN and RTO_MAX in that namespace without the rule. */
const volatile __u32 stock_min_us = 200000;
const volatile __u32 stock_max_ms = 120000;

/* With a short RTO_MAX, the kernel gives a connection up after some fifteen of them. With the stock timer and
 * tcp_retries2 = 15, it does so after this time. */
#define PATIENCE_MS 924600
#define LONGEST_MS 120000

/* In the order of `Counters` in rto/mod.rs. */
enum counter { CONNECTIONS, TIMEOUTS, REFUSED, FOREIGN, EARLY, COUNTERS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* RFC 6298 §2, with one sample per round trip. The kernel's own mdev has one per ACK, and its last reading says
 * little about a round trip whose delay varies. */
struct estimate {
	__u32 srtt_us_eighths; /* 0 before the first measurement */
	__u32 rttvar_us_quarters;
};

/* The sockets under the rule, and those that their listeners accept. `guard` finds them here, because the
 * programs of a cgroup run before those of its ancestors. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct estimate);
} ruled SEC(".maps");

static __always_inline void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);
	if (value)
		*value += 1;
}

static __always_inline void set(void *socket, int option, __u32 value)
{
	if (bpf_setsockopt(socket, SOL_TCP, option, &value, sizeof(value)))
		count(REFUSED);
}

static __always_inline void limit_rto(struct bpf_sock_ops *ops, __u64 rto_ms)
{
	if (has_rto_max)
		set(ops, TCP_RTO_MAX_MS, rto_ms < min_ms ? min_ms : rto_ms > max_ms ? max_ms : rto_ms);
}

static __always_inline struct tcp_sock *tcp_sock_of(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	return sk ? bpf_skc_to_tcp_sock(sk) : NULL;
}

static __always_inline struct estimate *estimate_of(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	return sk ? bpf_sk_storage_get(&ruled, sk, NULL, 0) : NULL;
}

/* RFC 6298 §2.2, §2.3. */
static __always_inline void measure(struct estimate *of, __u32 rtt_us)
{
	if (!of->srtt_us_eighths) {
		of->srtt_us_eighths = rtt_us << 3;
		of->rttvar_us_quarters = rtt_us << 1;
		return;
	}
	__u32 srtt_us = of->srtt_us_eighths >> 3;
	__u32 deviation_us = rtt_us > srtt_us ? rtt_us - srtt_us : srtt_us - rtt_us;
	of->rttvar_us_quarters += deviation_us - (of->rttvar_us_quarters >> 2);
	of->srtt_us_eighths += rtt_us - srtt_us;
}

/* Paper 003 §II (3). */
static __always_inline void follow(struct bpf_sock_ops *ops, const struct estimate *of)
{
	__u64 rto_us = (of->srtt_us_eighths >> 3) + (__u64)of->rttvar_us_quarters * factor_thousandths / 4000;
	limit_rto(ops, (rto_us + 999) / 1000);
}

static __always_inline void follow_sample(struct bpf_sock_ops *ops, __u32 rtt_us)
{
	struct estimate *of = estimate_of(ops);
	if (!of || !rtt_us)
		return;
	measure(of, rtt_us);
	follow(ops, of);
}

/* RFC 6298 §5.5: the kernel is about to double the RTO, as far as RTO_MAX allows. */
static __always_inline void back_off(struct bpf_sock_ops *ops)
{
	__u32 rto_ms = 0;
	if (!bpf_getsockopt(ops, SOL_TCP, TCP_RTO_MAX_MS, &rto_ms, sizeof(rto_ms)))
		limit_rto(ops, 2 * (__u64)rto_ms);
}

/* RFC 6298 §5: a new measurement ends the back-off. The kernel reports one per window, which is late if more of
 * the window is lost. By the next retransmission, it has cleared `icsk_backoff`. */
static __always_inline void follow_after_back_off(struct bpf_sock_ops *ops)
{
	struct tcp_sock *tp = tcp_sock_of(ops);
	struct estimate *of = estimate_of(ops);
	if (tp && of && !tp->inet_conn.icsk_retransmits && !tp->inet_conn.icsk_backoff)
		follow(ops, of);
}

static __always_inline void exchange_user_timeout(void *socket, __u32 from_ms, __u32 to_ms)
{
	__u32 now_ms = 0;
	if (!bpf_getsockopt(socket, SOL_TCP, TCP_USER_TIMEOUT, &now_ms, sizeof(now_ms)) && now_ms == from_ms)
		set(socket, TCP_USER_TIMEOUT, to_ms);
}

static __always_inline bool gives_up_early(void)
{
	return !backoff || max_ms < LONGEST_MS;
}

/* Only while retransmissions go unanswered. At other times TCP_USER_TIMEOUT would cut keepalive short, and end
 * connections whose receiver keeps its window closed but answers (RFC 9293 §3.8.6.1). */
static __always_inline void be_patient(void *socket)
{
	if (gives_up_early())
		exchange_user_timeout(socket, 0, PATIENCE_MS);
}

static __always_inline void be_as_before(void *socket)
{
	if (gives_up_early())
		exchange_user_timeout(socket, PATIENCE_MS, 0);
}

static __always_inline void take(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	if (sk)
		bpf_sk_storage_get(&ruled, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_RTO_CB_FLAG |
					       BPF_SOCK_OPS_RETRANS_CB_FLAG);
	if (floor_us)
		set(ops, TCP_BPF_RTO_MIN, floor_us);
	if (!backoff)
		set(ops, TCP_THIN_LINEAR_TIMEOUTS, 1);
}

static __always_inline bool synchronised(struct bpf_sock_ops *ops)
{
	return ops->state != BPF_TCP_SYN_SENT && ops->state != BPF_TCP_SYN_RECV;
}

static __always_inline bool is_established_by(const struct bpf_sock_ops *ops)
{
	return ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB || ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;
}

/* Returns whether the socket, or the listener that has accepted it, is older than the rule's sysctls. */
static __always_inline bool is_early(struct bpf_sock_ops *ops)
{
	__u32 min_us = 0;
	return needed_min_us && !bpf_getsockopt(ops, SOL_TCP, TCP_BPF_RTO_MIN, &min_us, sizeof(min_us)) &&
	       min_us < needed_min_us;
}

static __always_inline bool is_of_others(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sk = ops->sk;
	return ruled_mark && (!sk || sk->mark != ruled_mark);
}

SEC("sockops")
int rule(struct bpf_sock_ops *ops)
{
	if (is_of_others(ops))
		return 1;
	bool is_foreign = ruled_namespace && bpf_get_netns_cookie(ops) != ruled_namespace;
	if (is_foreign || is_early(ops)) {
		if (is_established_by(ops))
			count(is_foreign ? FOREIGN : EARLY);
		return 1;
	}
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		take(ops);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		take(ops);
		if (factor_thousandths)
			follow_sample(ops, ops->srtt_us >> 3);
		else
			limit_rto(ops, max_ms);
		count(CONNECTIONS);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		if (!factor_thousandths)
			limit_rto(ops, max_ms);
		count(CONNECTIONS);
		break;
	case BPF_SOCK_OPS_RTT_CB:
		be_as_before(ops);
		if (factor_thousandths)
			follow_sample(ops, ops->args[0]);
		break;
	case BPF_SOCK_OPS_RETRANS_CB:
		if (factor_thousandths && backoff)
			follow_after_back_off(ops);
		break;
	case BPF_SOCK_OPS_RTO_CB:
		if (synchronised(ops)) {
			count(TIMEOUTS);
			be_patient(ops);
			if (factor_thousandths && backoff)
				back_off(ops);
		}
		break;
	}
	return 1;
}

/* Gives the connections of a namespace that are not under the rule the RTO_MIN that they would have without it. */
SEC("sockops")
int guard(struct bpf_sock_ops *ops)
{
	if (ops->op != BPF_SOCK_OPS_TCP_LISTEN_CB && ops->op != BPF_SOCK_OPS_TCP_CONNECT_CB)
		return 1;
	struct bpf_sock *sk = ops->sk;
	if (!sk || bpf_get_netns_cookie(ops) != ruled_namespace || bpf_sk_storage_get(&ruled, sk, NULL, 0))
		return 1;
	set(ops, TCP_BPF_RTO_MIN, stock_min_us);
	return 1;
}

/* Gives a socket of the rule back what it would have without it. Reading the link's file does so for all
 * sockets of the reader's network namespace. The kernel's RTTVAR has started from RTO_MIN. It does not rise
 * with RTO_MIN, and falls by a quarter per round trip. Under a factor, RTO_MAX alone keeps the RTO of an open
 * connection from two minutes, and therefore stays. */
SEC("iter/tcp")
int release(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : NULL;
	if (!tp || !bpf_sk_storage_get(&ruled, tp, NULL, 0))
		return 0;
	set(tp, TCP_BPF_RTO_MIN, stock_min_us);
	if (factor_thousandths && sk->skc_state != BPF_TCP_LISTEN) {
		exchange_user_timeout(tp, 0, PATIENCE_MS);
		return 0;
	}
	if (has_rto_max)
		set(tp, TCP_RTO_MAX_MS, stock_max_ms);
	if (!backoff)
		set(tp, TCP_THIN_LINEAR_TIMEOUTS, 0);
	be_as_before(tp);
	return 0;
}
