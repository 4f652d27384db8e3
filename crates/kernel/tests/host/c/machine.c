/* A model of the kernel's TCP sender, as far as it calls a congestion control: in which state it does what, and
 * what it does to cwnd and ssthresh itself. It is told about ACKs, losses and timeouts, and knows no network.
 *
 * RFC 5681 (slow start, loss window), RFC 3168 §6.1.2 (ECN-Echo), RFC 6937 (PRR, slow start reduction bound), and the states
 * that Documentation/networking and the enum tcp_ca_state of the kernel's UAPI describe. */
#include <stdlib.h>
#include <string.h>

#include "intf.h"

struct controller {
	const char *name;
	struct tcp_congestion_ops *ops;
	__u32 *params;
};

#include "controllers.inc"

#define STORAGE_MAX 4096

_Thread_local void *current_counters;
static _Thread_local struct machine *current;
static _Thread_local int is_old;

struct machine {
	struct tcp_sock tp;
	const struct tcp_congestion_ops *ops;
	struct counters counters;
	/* What the program keeps beside the socket, if anything. */
	void *storage;
	/* ssthresh that an undo restores; 0 if there is nothing to undo. */
	__u32 prior_ssthresh;
	/* Expiries of the timer since SND.UNA last moved. */
	__u32 expiries;
	__u32 prr_delivered;
	__u32 prr_out;
	__u32 recoveries;
};

/* In segments, bytes and microseconds. */
struct host_ack {
	__u64 now_us;
	__u32 una;
	__u32 nxt;
	__u32 acked;
	__u32 delivered;
	__u32 packets_out;
	__u32 in_flight;
	/* Negative if none was measured. */
	__s32 rtt_us;
	__u32 srtt_us;
	__u32 peer_timestamp;
	__u8 is_cwnd_limited;
	__u8 is_echoed;
	/* The scoreboard reports a loss. */
	__u8 is_loss;
	__u32 lost;
	__u32 prior_delivered;
	__u8 is_app_limited;
};

struct host_view {
	/* In recovery, the target of cwnd. */
	__u32 cwnd;
	__u32 ssthresh;
	__u32 state;
	/* A CWR is owed to the receiver. */
	__u32 owes_cwr;
	/* What may be in flight now. */
	__u32 snd_cwnd;
	/* Number of recoveries that began without a timeout. */
	__u32 recoveries;
	__u64 pacing_rate;
};

/* Machines of this thread are kernels before Linux 6.15, or newer ones. */
void machine_is_old(int is_so)
{
	is_old = is_so;
}

int is_told_first(void)
{
	return is_old;
}

void *bpf_sk_storage_get(void *map, void *sk, void *value, __u64 flags)
{
	if (!current->storage && (flags & BPF_LOCAL_STORAGE_GET_F_CREATE))
		current->storage = calloc(1, STORAGE_MAX);
	return current->storage;
}

long bpf_sk_storage_delete(void *map, void *sk)
{
	free(current->storage);
	current->storage = NULL;
	return 0;
}

/* Longer than any RTO since a socket last sent, which is not recorded here. */
__u64 bpf_jiffies64(void)
{
	return 1ULL << 31;
}

static struct sock *sock_of(struct machine *machine)
{
	current_counters = &machine->counters;
	current = machine;
	return (struct sock *)&machine->tp;
}

static __u8 state_of(const struct machine *machine)
{
	return machine->tp.inet_conn.icsk_ca_state;
}

static void set_state(struct machine *machine, __u8 state)
{
	machine->ops->set_state(sock_of(machine), state);
	machine->tp.inet_conn.icsk_ca_state = state;
}

static int is_lowering(const struct machine *machine)
{
	return state_of(machine) == TCP_CA_CWR || state_of(machine) == TCP_CA_Recovery;
}

/* Returns whether the controller sets cwnd itself, in recovery, too. */
static int governs(const struct machine *machine)
{
	return !!machine->ops->cong_control;
}

static __u32 max(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static __u32 current_ssthresh(const struct machine *machine)
{
	const struct tcp_sock *tp = &machine->tp;

	return is_lowering(machine) ? tp->snd_ssthresh : max(tp->snd_ssthresh, tp->snd_cwnd / 2 + tp->snd_cwnd / 4);
}

static void begin_reduction(struct machine *machine)
{
	struct tcp_sock *tp = &machine->tp;

	machine->tp.high_seq = tp->snd_nxt;
	machine->prr_delivered = 0;
	machine->prr_out = 0;
	tp->prior_cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = machine->ops->ssthresh(sock_of(machine));
	if (tp->ecn_flags & TCP_ECN_OK)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

static void end_reduction(struct machine *machine)
{
	struct tcp_sock *tp = &machine->tp;

	if (governs(machine))
		return;
	if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
		tp->snd_cwnd = tp->snd_ssthresh;
	machine->ops->cwnd_event(sock_of(machine), CA_EVENT_COMPLETE_CWR);
}

/* RFC 6937 §3. Whatever cwnd allows leaves at once. */
static void reduce_proportionally(struct machine *machine, const struct host_ack *ack)
{
	struct tcp_sock *tp = &machine->tp;
	__s64 count;

	machine->prr_delivered += ack->delivered;
	if (ack->in_flight > tp->snd_ssthresh) {
		count = (__s64)(((__u64)tp->snd_ssthresh * machine->prr_delivered + tp->prior_cwnd - 1) / tp->prior_cwnd) -
			machine->prr_out;
	} else {
		count = max(machine->prr_delivered - machine->prr_out, ack->delivered) + 1;
		if (count > tp->snd_ssthresh - ack->in_flight)
			count = tp->snd_ssthresh - ack->in_flight;
	}
	if (count < 0)
		count = 0;
	machine->prr_out += count;
	tp->snd_cwnd = max(ack->in_flight + count, 1);
}

static void leave_states(struct machine *machine)
{
	__u32 una = machine->tp.snd_una;
	int is_reached = (__s32)(una - machine->tp.high_seq) >= 0;

	if (!is_reached || state_of(machine) == TCP_CA_Open)
		return;
	/* CWR lasts until something beyond is acknowledged. */
	if (state_of(machine) == TCP_CA_CWR) {
		if (una != machine->tp.high_seq) {
			end_reduction(machine);
			set_state(machine, TCP_CA_Open);
		}
		return;
	}
	if (state_of(machine) == TCP_CA_Recovery) {
		set_state(machine, TCP_CA_Open);
		end_reduction(machine);
		return;
	}
	set_state(machine, TCP_CA_Open);
}

static void enter_recovery(struct machine *machine, int is_echoed)
{
	machine->prior_ssthresh = 0;
	machine->recoveries++;
	if (!is_lowering(machine)) {
		if (!is_echoed)
			machine->prior_ssthresh = current_ssthresh(machine);
		begin_reduction(machine);
	}
	set_state(machine, TCP_CA_Recovery);
}

static void enter_states(struct machine *machine, const struct host_ack *ack)
{
	if (state_of(machine) >= TCP_CA_Recovery)
		return;
	if (ack->is_loss) {
		enter_recovery(machine, ack->is_echoed);
	} else if (ack->is_echoed && state_of(machine) < TCP_CA_CWR) {
		machine->prior_ssthresh = 0;
		begin_reduction(machine);
		set_state(machine, TCP_CA_CWR);
	}
}

/* Connections begin an hour after the kernel; those that are told of, at 0. */
#define BOOTED_US (3600ULL * 1000 * 1000)

struct machine *machine_new(const char *name, __u32 mss, __u32 cwnd, __u32 una)
{
	struct machine *machine;
	size_t at;

	for (at = 0; at < sizeof(controllers) / sizeof(*controllers); at++) {
		if (strcmp(controllers[at].name, name))
			continue;
		machine = calloc(1, sizeof(*machine));
		if (!machine)
			return NULL;
		machine->ops = controllers[at].ops;
		machine->tp.tcp_mstamp = BOOTED_US;
		machine->tp.mss_cache = mss;
		machine->tp.snd_cwnd = cwnd;
		machine->tp.inet_conn.sk.sk_max_pacing_rate = ~0UL;
		machine->tp.snd_cwnd_clamp = ~0U;
		machine->tp.snd_ssthresh = TCP_INFINITE_SSTHRESH;
		machine->tp.snd_una = una;
		machine->tp.snd_nxt = una;
		machine->tp.ecn_flags = TCP_ECN_OK;
		machine->ops->init(sock_of(machine));
		return machine;
	}
	return NULL;
}

/* The connection is given up, and the socket is like new. */
void machine_disconnect(struct machine *machine)
{
	machine->ops->release(sock_of(machine));
	memset(machine->tp.inet_conn.icsk_ca_priv, 0, sizeof(machine->tp.inet_conn.icsk_ca_priv));
}

void machine_free(struct machine *machine)
{
	machine_disconnect(machine);
	free(machine);
}

/* The controller's parameters, or NULL. */
__u32 *machine_params(const char *name)
{
	size_t at;

	for (at = 0; at < sizeof(controllers) / sizeof(*controllers); at++) {
		if (!strcmp(controllers[at].name, name))
			return controllers[at].params;
	}
	return NULL;
}

void machine_ack(struct machine *machine, const struct host_ack *ack)
{
	struct tcp_sock *tp = &machine->tp;
	struct ack_sample sample = { .pkts_acked = ack->acked, .rtt_us = ack->rtt_us };
	struct rate_sample rate = {
		.prior_delivered = ack->prior_delivered,
		.delivered = ack->delivered ? (__s32)(tp->delivered + ack->delivered - ack->prior_delivered) : -1,
		.rtt_us = ack->rtt_us,
		.is_app_limited = ack->is_app_limited,
	};

	int advances = tp->snd_una != ack->una;
	/* Old kernels do not look at what was acknowledged if nothing was outstanding. */
	int is_looked_at = !is_old || advances || ack->packets_out;

	if (advances)
		machine->expiries = 0;
	tp->tcp_mstamp = BOOTED_US + ack->now_us;
	tp->snd_una = ack->una;
	tp->snd_nxt = ack->nxt;
	/* What SACK reports is counted at once in any kernel. */
	if (is_old && !advances)
		tp->delivered += ack->delivered;
	if (is_old)
		machine->ops->in_ack_event(sock_of(machine), ack->is_echoed ? CA_ACK_ECE : 0);
	tp->packets_out = ack->packets_out;
	if (!is_old || advances)
		tp->delivered += ack->delivered;
	tp->lost += ack->lost;
	tp->srtt_us = ack->srtt_us << 3;
	tp->rx_opt.rcv_tsval = ack->peer_timestamp;
	tp->is_cwnd_limited = ack->is_cwnd_limited;

	if (machine->ops->pkts_acked && is_looked_at)
		machine->ops->pkts_acked(sock_of(machine), &sample);
	if (!is_old)
		machine->ops->in_ack_event(sock_of(machine), ack->is_echoed ? CA_ACK_ECE : 0);
	if (ack->is_echoed)
		machine->prior_ssthresh = 0;
	leave_states(machine);
	enter_states(machine, ack);
	if (governs(machine)) {
		machine->ops->cong_control(sock_of(machine), ack->una, 0, &rate);
	} else if (is_lowering(machine)) {
		reduce_proportionally(machine, ack);
	} else if (ack->acked) {
		machine->ops->cong_avoid(sock_of(machine), ack->una, ack->delivered);
	}
	/* Called before anything is sent. */
	if (machine->ops->min_tso_segs)
		machine->ops->min_tso_segs(sock_of(machine));
}

/* The retransmission timer expires, and everything in flight is taken for lost. */
void machine_timeout(struct machine *machine, __u64 now_us, __u32 packets_out)
{
	struct tcp_sock *tp = &machine->tp;
	__u8 state = state_of(machine);

	tp->tcp_mstamp = BOOTED_US + now_us;
	tp->packets_out = packets_out;
	if (state <= TCP_CA_Disorder || (__s32)(tp->snd_una - machine->tp.high_seq) >= 0 ||
	    (state == TCP_CA_Loss && !machine->expiries)) {
		machine->prior_ssthresh = current_ssthresh(machine);
		tp->prior_cwnd = tp->snd_cwnd;
		tp->snd_ssthresh = machine->ops->ssthresh(sock_of(machine));
		machine->ops->cwnd_event(sock_of(machine), CA_EVENT_LOSS);
	}
	tp->snd_cwnd = 1;
	set_state(machine, TCP_CA_Loss);
	machine->tp.high_seq = tp->snd_nxt;
	machine->expiries++;
	tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

/* The last loss or timeout was spurious. */
void machine_undo(struct machine *machine)
{
	struct tcp_sock *tp = &machine->tp;

	if (machine->prior_ssthresh) {
		tp->snd_cwnd = machine->ops->undo_cwnd(sock_of(machine));
		tp->snd_ssthresh = max(tp->snd_ssthresh, machine->prior_ssthresh);
	}
	machine->prior_ssthresh = 0;
	set_state(machine, TCP_CA_Open);
}

void machine_restart(struct machine *machine, __u32 cwnd)
{
	struct tcp_sock *tp = &machine->tp;

	if (machine->ops->cwnd_event_tx_start && !is_old)
		machine->ops->cwnd_event_tx_start(sock_of(machine));
	else
		machine->ops->cwnd_event(sock_of(machine), CA_EVENT_TX_START);
	if (governs(machine))
		return;
	machine->ops->cwnd_event(sock_of(machine), CA_EVENT_CWND_RESTART);
	if (cwnd < tp->snd_cwnd)
		tp->snd_cwnd = cwnd;
}

void machine_view(const struct machine *machine, struct host_view *view)
{
	const struct tcp_sock *tp = &machine->tp;

	view->cwnd = is_lowering(machine) && !governs(machine) ? tp->snd_ssthresh : tp->snd_cwnd;
	view->ssthresh = tp->snd_ssthresh;
	view->state = state_of(machine);
	view->owes_cwr = !!(tp->ecn_flags & TCP_ECN_QUEUE_CWR);
	view->snd_cwnd = tp->snd_cwnd;
	view->recoveries = machine->recoveries;
	view->pacing_rate = machine->tp.inet_conn.sk.sk_pacing_rate;
}

void machine_counters(const struct machine *machine, struct counters *counters)
{
	*counters = machine->counters;
}

/* The receiver has been sent the CWR that it was owed. */
void machine_send_cwr(struct machine *machine)
{
	machine->tp.ecn_flags &= ~TCP_ECN_QUEUE_CWR;
}
