#include "controller.h"
#include "cc/veno.h"

char LICENSE[] SEC("license") = "GPL";

struct veno_params params;

static __always_inline struct veno *veno_of(struct sock *sk)
{
	return (struct veno *)inet_csk(sk)->icsk_ca_priv;
}

SEC("struct_ops")
void BPF_PROG(veno_begin, struct sock *sk)
{
	begin_socket(sk);
	veno_init(veno_of(sk));
}

SEC("struct_ops")
void BPF_PROG(veno_release, struct sock *sk)
{
	end_socket(sk);
}

SEC("struct_ops")
void BPF_PROG(veno_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	if (sample->rtt_us >= 0)
		veno_observe(veno_of(sk), sample->rtt_us, tcp_sk(sk)->srtt_us >> 3);
}

SEC("struct_ops")
void BPF_PROG(veno_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_cwnd_limited(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	/* One segment every other round trip where the path is congested. */
	if (veno_is_congested(veno_of(sk), &params, tp->snd_cwnd)) {
		tcp_cong_avoid_ai(tp, 2 * tp->snd_cwnd, acked);
	} else {
		tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
	}
}

/* The kernel asks when recovery or a timeout begins, and at ECN-Echo. */
SEC("struct_ops")
__u32 BPF_PROG(veno_ssthresh_of, struct sock *sk)
{
	struct veno *veno = veno_of(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;
	int is_random = !veno_is_congested(veno, &params, cwnd);

	if (is_random)
		COUNT(losses_corruption);
	else
		COUNT(losses_congestion);
	COUNT(reductions);
	veno->base_rtt_us = ~0U;
	return veno_ssthresh(veno, &params, cwnd, is_random);
}

SEC("struct_ops")
void BPF_PROG(veno_set_state, struct sock *sk, __u8 state)
{
	if (state == TCP_CA_Loss)
		COUNT(timeouts);
}

SEC("struct_ops")
__u32 BPF_PROG(veno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops veno = {
	.init = (void *)veno_begin,
	.release = (void *)veno_release,
	.pkts_acked = (void *)veno_pkts_acked,
	.cong_avoid = (void *)veno_cong_avoid,
	.ssthresh = (void *)veno_ssthresh_of,
	.set_state = (void *)veno_set_state,
	.undo_cwnd = (void *)veno_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "veno",
};
