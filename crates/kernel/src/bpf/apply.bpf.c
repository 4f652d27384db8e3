/* Gives the connections of a cgroup their congestion control. */
#include "kernel.h"

#define SOL_TCP 6
#define TCP_CONGESTION 13

char LICENSE[] SEC("license") = "GPL";

const volatile char name[16] = "";

/* Before the SYN, which already depends on it (ECN), and before the first data of an accepted connection. Which calls
 * setsockopt later has its way. */
SEC("sockops")
int apply(struct bpf_sock_ops *ops)
{
	if (ops->op == BPF_SOCK_OPS_TCP_CONNECT_CB || ops->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, (void *)name, sizeof(name));
	return 1;
}
