/* What every congestion control of cc/ needs of the kernel and of its loader (src/cc).
 *
 * A controller is two files: cc/NAME.h, its arithmetic in plain C, which the host's compiler accepts, too; and
 * cc/NAME.bpf.c, which binds it to the kernel by cc/hooks.h or by hooks of its own. NAME is its name in the
 * kernel: the scheme's name with `_` for `-`. By the object's type information, the loader finds
 *
 * - a map `SEC(".struct_ops.link") struct tcp_congestion_ops controller`, with `.flags = TCP_CONG_NON_RESTRICTED`.
 *   The loader sets its `.name`, and clears hooks that the kernel does not have. If it has cong_control, there is a
 *   second one, `controller_two`, for kernels that call cong_control with two arguments (before Linux 6.10);
 * - if there are parameters, `struct NAME_params params;`, the only variable that is not `const`. All members
 *   are __u32 and are called PARAM_qN: the parameter PARAM of the Rust controller in airtcp-proto's registry,
 *   times 2^N, rounded to nearest. Only the registry has name, default, bounds and meaning; the upper bound
 *   times 2^N must fit. The loader sets all of them before it loads, and single ones later while sockets read:
 *   a socket that reads two members may see one old and one new. They are in .bss, which programs address
 *   directly, without a look-up;
 * - the map `counters` that is defined here;
 * - if the controller can do without, `may_pace` (cc/hooks.h). */
#ifndef AIRTCP_CONTROLLER_H
#define AIRTCP_CONTROLLER_H

#include "kernel.h"
#include "intf.h"

#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

/* Counts one more of `what`, a member of struct counters. Atomically, because an interrupt may count on the
 * same CPU. */
#define COUNT(what)                                                      \
	do {                                                                 \
		__u32 zero_ = 0;                                                 \
		struct counters *counters_ = bpf_map_lookup_elem(&counters, &zero_); \
		if (counters_)                                                   \
			__sync_fetch_and_add(&counters_->what, 1);                   \
	} while (0)

/* To be called in `release`, for a socket that has begun. */
static __always_inline void end_socket(struct sock *sk)
{
	COUNT(sockets_closed);
}

#endif
