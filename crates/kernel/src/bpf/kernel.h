/* The kernel's types, as far as the programs need them. They are relocated at loading (CO-RE), so that one
 * object runs on kernels with other layouts: only the names matter. */
#ifndef AIRTCP_KERNEL_H
#define AIRTCP_KERNEL_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	unsigned char skc_state;
};

struct sock {
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
	__u8 icsk_backoff;
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
	__u32 snd_cwnd_cnt;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 high_seq;
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 delivered;
	__u32 lost;
	__u32 lsndtime;
	__u32 mss_cache;
	__u32 srtt_us;
	__u32 mdev_us;
	__u32 rttvar_us;
	__u32 rtt_us;
	__u64 tcp_mstamp;
	__u32 max_packets_out;
	__u8 is_cwnd_limited : 1;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
};

struct rate_sample {
	__u64 prior_mstamp;
	__u32 prior_delivered;
	__s32 delivered;
	long interval_us;
	long rtt_us;
	__s32 losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	_Bool is_app_limited;
};

struct tcp_skb_cb {
	__u16 tcp_flags;
};

struct bpf_iter__tcp {
	struct sock_common *sk_common;
};

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	/* CA_EVENT_TX_START, where the kernel tells of it apart (Linux 7). */
	void (*cwnd_event_tx_start)(struct sock *sk);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*sndbuf_expand)(struct sock *sk);
	char name[16];
	__u32 key;
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

/* Returns whether in_ack_event is told of an ACK before pkts_acked, and before it is counted. That ended with the
 * preparations for Accurate ECN (Linux 6.15), which also widened the flags that the kernel keeps of a segment. */
static __always_inline int is_told_first(void)
{
	return bpf_core_field_size(((struct tcp_skb_cb *)0)->tcp_flags) == 1;
}

#define TCP_INFINITE_SSTHRESH 0x7fffffff

/* enum tcp_ca_state */
#define TCP_CA_Open 0
#define TCP_CA_Disorder 1
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4

/* enum tcp_ca_ack_event_flags */
#define CA_ACK_SLOWPATH (1 << 0)
#define CA_ACK_WIN_UPDATE (1 << 1)
#define CA_ACK_ECE (1 << 2)

/* ecn_flags */
#define TCP_ECN_OK (1 << 0)
#define TCP_ECN_QUEUE_CWR (1 << 1)

/* A controller with this flag may be a network namespace's default, and be chosen without CAP_NET_ADMIN. */
#define TCP_CONG_NON_RESTRICTED (1 << 0)

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

/* Returns whether the window has been the limit, rather than the application or the receiver. Equals the
 * kernel's own function, which programs cannot call: in slow start, half of the window must have been used. */
static __always_inline int is_cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

#endif
