/* Takes the place of kernel.h (and its guard) and of libbpf's headers: the same names in plain C. */
#ifndef AIRTCP_KERNEL_H
#define AIRTCP_KERNEL_H

#include <stddef.h>
#include <linux/types.h>

#define SEC(name)
#define __always_inline inline
#define __uint(name, value) int (*name)[value]
#define __type(name, value) value *name
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_PROG(name, ...) static name(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(record, field) ((record)->field)

/* Counters of the machine that is calling the program. */
extern _Thread_local void *current_counters;
#define bpf_map_lookup_elem(map, key) ((void)(map), (void)(key), current_counters)

/* What is kept beside the machine's socket. */
void *bpf_sk_storage_get(void *map, void *sk, void *value, __u64 flags);
long bpf_sk_storage_delete(void *map, void *sk);

__u64 bpf_jiffies64(void);

struct sock {
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_connection_sock {
	struct sock sk;
	__u8 icsk_ca_state : 5;
	__u32 icsk_rto;
	__u64 icsk_ca_priv[13];
};

struct tcp_options_received {
	__u32 rcv_tsval;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	__u8 ecn_flags;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	/* SND.NXT when it left TCP_CA_Open. */
	__u32 high_seq;
	__u32 packets_out;
	__u32 max_packets_out;
	__u32 delivered;
	__u32 lost;
	__u32 lsndtime;
	__u32 mss_cache;
	__u32 srtt_us;
	__u64 tcp_mstamp;
	__u8 is_cwnd_limited : 1;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
};

struct rate_sample {
	__u32 prior_delivered;
	__s32 delivered;
	long rtt_us;
	_Bool is_app_limited;
};

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*cwnd_event_tx_start)(struct sock *sk);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*sndbuf_expand)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[16];
	__u32 flags;
};

#define TCP_INFINITE_SSTHRESH 0x7fffffff

#define TCP_CA_Open 0
#define TCP_CA_Disorder 1
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4

#define CA_ACK_ECE (1 << 2)

#define TCP_ECN_OK (1 << 0)
#define TCP_ECN_QUEUE_CWR (1 << 1)

#define TCP_CONG_NON_RESTRICTED (1 << 0)

/* Of this thread's machines: they are kernels before Linux 6.15. */
int is_told_first(void);

static inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static inline int is_cwnd_limited(struct tcp_sock *tp)
{
	return tp->is_cwnd_limited || (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out);
}

#endif
