/* Reno made of the kernel's own functions. If it can be registered, this kernel takes congestion controls. */
#include "kernel.h"

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops")
__u32 BPF_PROG(probe_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
void BPF_PROG(probe_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(probe_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops probe = {
	.ssthresh = (void *)probe_ssthresh,
	.cong_avoid = (void *)probe_cong_avoid,
	.undo_cwnd = (void *)probe_undo_cwnd,
	.name = "airtcp_probe",
};
