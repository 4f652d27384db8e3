/* The hooks of struct tcp_congestion_ops for Concord, which sets cwnd and the pacing rate itself, in recovery,
 * too (cong_control).
 *
 * What the kernel reports differently from the simulator's sender:
 *
 * - A loss does not concern the controller before the ACK that reports it: ssthresh stays infinite, so that the
 *   kernel has nothing to lower cwnd to. What earlier connections have left there (tcp_metrics) is ignored.
 * - ECN-Echo is answered once per window. The kernel takes each recovery for a reduction, and tells the
 *   receiver so (CWR), which would silence ECN-Echo. If there was no reduction, that is withdrawn.
 * - After a timeout for which ssthresh is not asked, only the window is reduced.
 * - CA_EVENT_TX_START, or its own hook, reports idleness, because the kernel reduces no window for it if there is cong_control;
 *   net.ipv4.tcp_slow_start_after_idle is ignored.
 *
 * A connection's state is larger than the room in a socket. It is kept beside the socket, and goes with it.
 * While there is no memory for it, the window stays as it is. */
#include "controller.h"
#include "cc/concord.h"

char LICENSE[] SEC("license") = "GPL";

#define SEND_BUFFER_WINDOWS 4

struct concord_params params;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct concord);
} connections SEC(".maps");

/* Kept in the socket. */
struct state {
	/* As of the last ACK. */
	__u32 delivered;
	__u32 lost;
	/* SND.NXT when ECN-Echo was last answered. */
	__u32 echo_answered_until;
	__u8 is_begun : 1;
	/* This ACK carries ECN-Echo. */
	__u8 is_echoed : 1;
	/* Nothing that was sent since that answer has been acknowledged. */
	__u8 is_echo_answered : 1;
	/* The receiver was owed a CWR before the kernel asked for ssthresh. */
	__u8 owed_cwr : 1;
	/* The kernel has asked for ssthresh, and taken that for a reduction. */
	__u8 is_asked : 1;
	/* CA_EVENT_LOSS has reported the timeout. */
	__u8 is_timeout_told : 1;
	/* The rest is named, since a whole state is written, and old kernels let no program read what it has not set. */
	__u8 unused[3];
};

_Static_assert(sizeof(struct state) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv), "fits in the socket");

static __always_inline struct state *state_of(struct sock *sk)
{
	return (struct state *)inet_csk(sk)->icsk_ca_priv;
}

/* NULL if there was no memory for it. */
static __always_inline struct concord *concord_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, NULL, 0);
}

static __always_inline struct concord *new_concord(struct sock *sk)
{
	struct concord *concord = bpf_sk_storage_get(&connections, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct tcp_sock *tp = tcp_sk(sk);

	if (concord)
		concord_init(concord, tp->snd_cwnd, tp->delivered, tp->tcp_mstamp);
	return concord;
}

static __always_inline void count(struct concord_counts *decided)
{
	__u32 zero = 0;
	struct counters *counters_;

	if (!(decided->corruption | decided->congestion | decided->undecided | decided->reductions | decided->yields |
	      decided->rivals))
		return;
	counters_ = bpf_map_lookup_elem(&counters, &zero);
	if (!counters_)
		return;
	__sync_fetch_and_add(&counters_->losses_corruption, decided->corruption);
	__sync_fetch_and_add(&counters_->losses_congestion, decided->congestion);
	__sync_fetch_and_add(&counters_->losses_undecided, decided->undecided);
	__sync_fetch_and_add(&counters_->reductions, decided->reductions);
	__sync_fetch_and_add(&counters_->reductions_avoided, decided->corruption);
	__sync_fetch_and_add(&counters_->yields, decided->yields);
	__sync_fetch_and_add(&counters_->rivals, decided->rivals);
	*decided = (struct concord_counts){};
}

/* Gives the socket what the controller has made of an event. */
static __always_inline void apply(struct sock *sk, struct concord *concord)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd = smaller(concord_window(concord), tp->snd_cwnd_clamp);
	sk->sk_pacing_rate = smaller(concord_pace(concord, tp->mss_cache), sk->sk_max_pacing_rate);
	count(&concord->counts);
}

static __always_inline void restart(struct sock *sk, struct concord *concord)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 idle = (__u32)bpf_jiffies64() - tp->lsndtime, rto = larger(inet_csk(sk)->icsk_rto, 1);

	/* Outstanding data is being resent. */
	if (tp->packets_out || idle <= rto)
		return;
	concord_restart(concord, (idle - 1) / rto);
	apply(sk, concord);
}

static __always_inline void answer_echo(struct sock *sk, struct concord *concord)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	concord_ecn(concord, &params, tp->tcp_mstamp);
	state->echo_answered_until = tp->snd_nxt;
	state->is_echo_answered = 1;
	tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
	COUNT(ecn_echoes);
}

static __always_inline struct concord_ack ack_of(struct sock *sk, const struct rate_sample *rs)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct concord_ack ack = {
		.now_us = tp->tcp_mstamp,
		.delivered = tp->delivered - state->delivered,
		.lost = tp->lost - state->lost,
		.total_delivered = tp->delivered,
		.prior_delivered = rs->prior_delivered,
		.rtt_us = rs->rtt_us > 0 ? rs->rtt_us : 0,
		.srtt_us = tp->srtt_us >> 3,
		.is_sample = rs->delivered >= 0,
		.is_cwnd_limited = is_cwnd_limited(tp),
		.is_app_limited = rs->is_app_limited,
	};

	state->delivered = tp->delivered;
	state->lost = tp->lost;
	return ack;
}

SEC("struct_ops")
void BPF_PROG(init, struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct concord *concord = new_concord(sk);

	COUNT(sockets_opened);
	*state = (struct state){ .is_begun = 1, .delivered = tp->delivered, .lost = tp->lost };
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (concord)
		apply(sk, concord);
}

SEC("struct_ops")
void BPF_PROG(release, struct sock *sk)
{
	if (!state_of(sk)->is_begun)
		return;
	/* Another controller would be paced at our last rate. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate;
	bpf_sk_storage_delete(&connections, sk);
	end_socket(sk);
}

SEC("struct_ops")
void BPF_PROG(in_ack_event, struct sock *sk, __u32 flags)
{
	state_of(sk)->is_echoed = !!(flags & CA_ACK_ECE);
}

static __always_inline void heed(struct sock *sk, const struct rate_sample *rs)
{
	struct state *state = state_of(sk);
	struct concord *concord = concord_of(sk);
	struct concord_ack ack = ack_of(sk, rs);

	if (!concord)
		concord = new_concord(sk);
	if (!concord)
		return;
	if (is_before(state->echo_answered_until, tcp_sk(sk)->snd_una))
		state->is_echo_answered = 0;
	if (state->is_echoed && !state->is_echo_answered)
		answer_echo(sk, concord);
	concord_ack(concord, &params, &ack);
	apply(sk, concord);
}

SEC("struct_ops")
void BPF_PROG(cong_control, struct sock *sk, __u32 acknowledged, int flag, const struct rate_sample *rs)
{
	heed(sk, rs);
}

/* Before Linux 6.10. */
SEC("struct_ops")
void BPF_PROG(cong_control_two, struct sock *sk, const struct rate_sample *rs)
{
	heed(sk, rs);
}

SEC("struct_ops")
__u32 BPF_PROG(ssthresh, struct sock *sk)
{
	struct state *state = state_of(sk);

	state->is_asked = 1;
	state->owed_cwr = !!(tcp_sk(sk)->ecn_flags & TCP_ECN_QUEUE_CWR);
	return TCP_INFINITE_SSTHRESH;
}

static __always_inline void time_out(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct concord *concord = concord_of(sk);

	COUNT(timeouts);
	if (!concord)
		return;
	/* The kernel has set cwnd to what may be in flight. */
	concord_timeout(concord, tcp_sk(sk)->snd_cwnd, !state->is_timeout_told);
	state->is_timeout_told = 0;
	apply(sk, concord);
}

SEC("struct_ops")
void BPF_PROG(set_state, struct sock *sk, __u8 phase)
{
	struct state *state = state_of(sk);
	struct concord *concord;

	if (phase == TCP_CA_Loss) {
		time_out(sk);
		return;
	}
	if (state->is_asked && !state->owed_cwr)
		tcp_sk(sk)->ecn_flags &= ~TCP_ECN_QUEUE_CWR;
	state->is_asked = 0;
	concord = concord_of(sk);
	if (phase == TCP_CA_Recovery && concord)
		concord_loss(concord);
}

static __always_inline void resume(struct sock *sk)
{
	struct concord *concord = concord_of(sk);

	if (concord)
		restart(sk, concord);
}

SEC("struct_ops")
void BPF_PROG(cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_LOSS)
		state_of(sk)->is_timeout_told = 1;
	else if (event == CA_EVENT_TX_START)
		resume(sk);
}

SEC("struct_ops")
void BPF_PROG(cwnd_event_tx_start, struct sock *sk)
{
	resume(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(undo_cwnd, struct sock *sk)
{
	struct concord *concord = concord_of(sk);

	if (!concord)
		return tcp_sk(sk)->snd_cwnd;
	concord_undo(concord);
	apply(sk, concord);
	return tcp_sk(sk)->snd_cwnd;
}

SEC("struct_ops")
__u32 BPF_PROG(sndbuf_expand, struct sock *sk)
{
	return SEND_BUFFER_WINDOWS;
}

#define HOOKS(cong_control_)                            \
	.init = (void *)init,                               \
	.release = (void *)release,                         \
	.in_ack_event = (void *)in_ack_event,               \
	.cong_control = (void *)cong_control_,              \
	.ssthresh = (void *)ssthresh,                       \
	.set_state = (void *)set_state,                     \
	.cwnd_event = (void *)cwnd_event,                   \
	.cwnd_event_tx_start = (void *)cwnd_event_tx_start, \
	.sndbuf_expand = (void *)sndbuf_expand,             \
	.undo_cwnd = (void *)undo_cwnd,                     \
	.flags = TCP_CONG_NON_RESTRICTED,                   \
	.name = "controller"

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = { HOOKS(cong_control) };

SEC(".struct_ops.link")
struct tcp_congestion_ops controller_two = { HOOKS(cong_control_two) };
