/* Reno's halving, and no growth. If it can be registered, this kernel takes congestion controls. */
#include "kernel.h"
#include <stdbool.h>

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops")
__u32 BPF_PROG(probe_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd >> 1 | 2;
}

/* Whether it is to write a field by which a socket paces. Set before it is loaded. */
const volatile bool paces = false;

SEC("struct_ops")
void BPF_PROG(probe_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	if (paces)
		sk->sk_pacing_rate = sk->sk_max_pacing_rate;
}

SEC("struct_ops")
__u32 BPF_PROG(probe_undo_cwnd, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops probe = {
	.ssthresh = (void *)probe_ssthresh,
	.cong_avoid = (void *)probe_cong_avoid,
	.undo_cwnd = (void *)probe_undo_cwnd,
	.name = "airtcp_probe",
};
