/* Gives the connections of a cgroup their congestion control. */
#include "kernel.h"

#define SOL_TCP 6
#define TCP_CONGESTION 13

char LICENSE[] SEC("license") = "GPL";

const volatile char name[16] = "";

/* Called when a connection is established, and its controller is about to begin. Before the SYN, the controller
 * would begin at once, and a route's controller would then take its place and its state without beginning
 * itself. A program that calls setsockopt later gets its choice. */
SEC("sockops")
int apply(struct bpf_sock_ops *ops)
{
	if (ops->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)name, sizeof(name));
	return 1;
}
