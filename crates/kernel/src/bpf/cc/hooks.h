/* The hooks of struct tcp_congestion_ops for a controller that is an `avoidance`. They are to the kernel's
 * sender what `Composed` of crates/proto/src/cc is to the simulator's. A program includes this file last, after
 * it has defined
 *
 * - CONTROLLER, its name, from which CONTROLLER_avoidance and struct CONTROLLER are formed;
 * - PARAMS, a pointer to its parameters, or NULL.
 *
 * What the kernel reports differently from the simulator's sender:
 *
 * - An ACK that reports a loss or ECN-Echo calls pkts_acked, in_ack_event, ssthresh and set_state, and then
 *   cong_avoid. So what is measured with it is known when it is judged; the simulator's sender judges by the
 *   previous ACK. (Before Linux 6.15, in_ack_event comes first, with the RTT and what is delivered as of the previous
 *   ACK. So the controller hears of the ACK in pkts_acked, which is not called if nothing was outstanding; then
 *   there is nothing to hear.)
 * - The kernel asks for ssthresh at a loss, at ECN-Echo and at a timeout, without saying which. At ECN-Echo,
 *   in_ack_event has just reported it, at the same tcp_mstamp. At a timeout, CA_EVENT_LOSS follows, and asks
 *   again. If the host's own queue refuses a segment, the kernel asks, too: this is a loss like any other, as
 *   in the simulator.
 * - In recovery and after ECN-Echo, the kernel lowers cwnd towards ssthresh (PRR), and finally sets it to
 *   ssthresh. To leave cwnd as it is, ssthresh must equal cwnd until then; at CA_EVENT_COMPLETE_CWR it becomes
 *   what the controller wants. Until then, PRR sends only as much as arrives, so that losses would empty the
 *   path. So min_tso_segs, which is asked before anything is sent, restores cwnd.
 * - The kernel does not ask about ECN-Echo while it recovers from a loss, because it has lowered cwnd for that.
 *   If the controller has not, in_ack_event does. The kernel also tells the receiver that it has slowed down
 *   (CWR), which would silence ECN-Echo. If that is not true, it is withdrawn. Such a recovery ends before the
 *   receiver has heard of the reduction, and what it echoes until then is not answered again.
 * - For one round trip after ECN-Echo, cwnd does not grow.
 * - The kernel does not ask about a timeout within recovery, either: set_state asks, with the window in which
 *   the loss happened. */
#ifndef AIRTCP_HOOKS_H
#define AIRTCP_HOOKS_H

#include "avoidance.h"

/* Whether a congestion control may write the fields by which a socket paces (Linux 6.0). The loader tries. */
const volatile __u8 may_pace SEC(".rodata.pacing") = 1;

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define AVOIDANCE JOIN(CONTROLLER, _avoidance)

/* The kernel's default, net.ipv4.tcp_min_tso_segs. */
#define MIN_TSO_SEGS 2

/* Room for what is sent until a segment arrives that was lost three times. */
#define SEND_BUFFER_WINDOWS 4

/* Kept in the socket. */
struct state {
	/* As of the last ACK. */
	__u32 una;
	__u32 delivered;
	/* cwnd, or what the kernel is lowering it to. In recovery and after a timeout, the kernel's own differs from
	 * this. */
	__u32 cwnd;
	__u32 fraction_q32;
	/* Segments that this ACK has acknowledged cumulatively. */
	__u32 acked;
	/* The last measured RTT, and the smallest; NO_RTT before the first one. */
	__u32 rtt_us;
	__u32 min_rtt_us;
	/* ssthresh before the last reduction, and what it is to be after it; 0 if it is that already. */
	__u32 ssthresh_before;
	__u32 ssthresh_after;
	/* cwnd when the kernel last asked for ssthresh. */
	__u32 cwnd_before;
	/* Fractions of a segment that belong to either ssthresh, and to that cwnd. */
	__u16 ssthresh_fraction_q16;
	__u16 cwnd_fraction_before_q16;
	/* SND.NXT when ECN-Echo was last answered. */
	__u32 echo_answered_until;
	/* Lower half of tcp_mstamp at the last ACK, which tells whether `is_echoed` is about the current one. */
	__u32 echoed_at;
	/* `init` has run. Up to Linux 6.12, `release` is called without it for a listener, and after a failed connect. */
	__u8 is_begun : 1;
	__u8 is_echoed : 1;
	/* `rtt_us` is this ACK's. */
	__u8 is_measured : 1;
	/* Of the kernel's last request for ssthresh: not yet counted; ssthresh was set; it is below cwnd. */
	__u8 is_asked : 1;
	__u8 is_answered : 1;
	__u8 is_lower : 1;
	/* The kernel was lowering cwnd at the last ACK. */
	__u8 was_lowering : 1;
	/* CA_EVENT_LOSS has reported the timeout. */
	__u8 is_timeout_told : 1;
	/* The receiver was owed a CWR before that request. */
	__u8 owed_cwr : 1;
	/* Nothing that was sent since ECN-Echo was answered, and CWR with it, has been acknowledged. */
	__u8 is_echo_answered : 1;
	__u8 cause : 2;
	__u8 judgement : 2;
	struct CONTROLLER own;
};

_Static_assert(sizeof(struct state) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv), "fits in the socket");

static __always_inline struct state *state_of(struct sock *sk)
{
	return (struct state *)inet_csk(sk)->icsk_ca_priv;
}

static __always_inline __u8 ca_state(struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD(inet_csk(sk), icsk_ca_state);
}

static __always_inline int is_lowering_cwnd(struct sock *sk)
{
	return ca_state(sk) == TCP_CA_CWR || ca_state(sk) == TCP_CA_Recovery;
}

static __always_inline int has_ecn_echo(struct sock *sk)
{
	struct state *state = state_of(sk);

	return state->is_echoed && state->echoed_at == (__u32)tcp_sk(sk)->tcp_mstamp;
}

/* `segments`, a present or future ssthresh of the kernel, with the fraction that the kernel cannot hold. */
static __always_inline __u64 ssthresh_q16(struct sock *sk, __u32 segments)
{
	return ((__u64)segments << 16) + state_of(sk)->ssthresh_fraction_q16;
}

static __always_inline __u32 ssthresh_of(struct sock *sk)
{
	struct state *state = state_of(sk);

	return state->ssthresh_after ? state->ssthresh_after : tcp_sk(sk)->snd_ssthresh;
}

static __always_inline __u64 cwnd_before_q16(struct state *state)
{
	return ((__u64)state->cwnd_before << 16) + state->cwnd_fraction_before_q16;
}

static __always_inline struct window window_of(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct window window = {
		.cwnd = is_lowering_cwnd(sk) ? state->cwnd : tcp_sk(sk)->snd_cwnd,
		.fraction_q32 = state->fraction_q32,
		.ssthresh_q16 = ssthresh_q16(sk, ssthresh_of(sk)),
	};

	return window;
}

static __always_inline void set_window(struct sock *sk, const struct window *window)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	state->cwnd = smaller(window->cwnd, tp->snd_cwnd_clamp);
	state->fraction_q32 = window->fraction_q32;
	state->ssthresh_fraction_q16 = window->ssthresh_q16;
	tp->snd_cwnd = state->cwnd;
	tp->snd_ssthresh = window->ssthresh_q16 >> 16;
}

static __always_inline struct congestion congestion_of(struct sock *sk, enum cause cause, __u64 lossy_window_q16)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct congestion event = {
		.cause = cause,
		/* Behind a hole that stays open, SACK lets the outstanding data grow beyond the window of the loss. */
		.flight_size_q16 = smaller((__u64)tp->packets_out << 16, lossy_window_q16),
		.mss = larger(tp->mss_cache, 1),
		.rtt_us = state_of(sk)->rtt_us,
		.min_rtt_us = state_of(sk)->min_rtt_us,
		.una = tp->snd_una,
		.nxt = tp->snd_nxt,
	};

	return event;
}

/* Asks the controller. Returns the ssthresh that follows, in segments: its answer, or the ssthresh before. */
static __always_inline __u64 ask(struct sock *sk, const struct congestion *event, const struct window *window)
{
	struct state *state = state_of(sk);
	__u64 answer_q16;

	state->cause = event->cause;
	state->judgement = AVOIDANCE.judge ? AVOIDANCE.judge(&state->own, PARAMS, event, window) : CONGESTION;
	answer_q16 = AVOIDANCE.reduce ? AVOIDANCE.reduce(&state->own, PARAMS, event, window) : half_of_flight(event);
	state->is_answered = answer_q16 != KEEP;
	state->ssthresh_before = window->ssthresh_q16 >> 16;
	if (answer_q16 == KEEP) {
		state->is_lower = 0;
		return window->ssthresh_q16;
	}
	/* RFC 5681 §3.1 eq. (4). */
	answer_q16 = smaller(larger(answer_q16, 2 * ONE_Q16), (__u64)WINDOW_MAX << 16);
	state->is_lower = answer_q16 < cwnd_q16(window);
	state->ssthresh_fraction_q16 = answer_q16;
	return answer_q16;
}

/* After a loss or ECN-Echo: returns what cwnd is to become, which is also ssthresh until then. cwnd is never
 * raised. */
static __always_inline __u32 reduce(struct sock *sk, enum cause cause)
{
	struct state *state = state_of(sk);
	struct window window = window_of(sk);
	struct congestion event = congestion_of(sk, cause, cwnd_q16(&window));
	__u64 ssthresh_q16 = ask(sk, &event, &window);

	state->cwnd_before = window.cwnd;
	state->cwnd_fraction_before_q16 = window.fraction_q32 >> 16;
	state->ssthresh_after = ssthresh_q16 >> 16;
	if (cause == CAUSE_ECN) {
		state->echo_answered_until = event.nxt;
		state->is_echo_answered = 1;
	}
	if (state->is_lower)
		set_cwnd_q16(&window, ssthresh_q16);
	state->cwnd = window.cwnd;
	state->fraction_q32 = window.fraction_q32;
	return window.cwnd;
}

/* The kernel is about to lower cwnd without need: keeps cwnd and ssthresh. */
static __always_inline __u32 leave(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct window window = window_of(sk);

	state->ssthresh_after = ssthresh_of(sk);
	state->cwnd = window.cwnd;
	state->is_answered = 0;
	state->is_lower = 0;
	return window.cwnd;
}

/* After a timeout, before which cwnd was `window`. */
static __always_inline void time_out(struct sock *sk, const struct window *window, __u64 lossy_window_q16)
{
	struct state *state = state_of(sk);
	struct congestion event = congestion_of(sk, CAUSE_TIMEOUT, lossy_window_q16);

	tcp_sk(sk)->snd_ssthresh = ask(sk, &event, window) >> 16;
	state->ssthresh_after = 0;
	state->cwnd = window->cwnd;
	state->fraction_q32 = window->fraction_q32;
}

static __always_inline void end_reduction(struct sock *sk)
{
	struct state *state = state_of(sk);

	tcp_sk(sk)->snd_ssthresh = ssthresh_of(sk);
	state->ssthresh_after = 0;
}

/* The receiver is owed a CWR only for a reduction. */
static __always_inline void settle_cwr(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u8 flags = tp->ecn_flags;

	if (!(flags & TCP_ECN_OK))
		return;
	if (state->is_answered)
		tp->ecn_flags = flags | TCP_ECN_QUEUE_CWR;
	else if (!state->owed_cwr)
		tp->ecn_flags = flags & ~TCP_ECN_QUEUE_CWR;
}

static __always_inline void count_answer(struct sock *sk)
{
	struct state *state = state_of(sk);

	state->is_asked = 0;
	if (state->cause == CAUSE_ECN)
		COUNT(ecn_echoes);
	else if (state->cause == CAUSE_LOSS && state->judgement == CORRUPTION)
		COUNT(losses_corruption);
	else if (state->cause == CAUSE_LOSS && state->judgement == UNDECIDED)
		COUNT(losses_undecided);
	else if (state->cause == CAUSE_LOSS)
		COUNT(losses_congestion);
	if (state->is_lower)
		COUNT(reductions);
	else
		COUNT(reductions_avoided);
}

/* An ACK as the controller sees it. Without SACK, the kernel counts a duplicate ACK after in_ack_event, so that
 * it is reported with the next one. An ACK with nothing new, such as of a second copy, is no duplicate here. */
static __always_inline struct ack ack_of(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct ack ack = {
		.now_us = tp->tcp_mstamp,
		.acked_bytes = tp->snd_una - state->una,
		.mss = larger(tp->mss_cache, 1),
		.rtt_us = state->is_measured ? state->rtt_us : NO_RTT,
		.srtt_us = tp->srtt_us >> 3,
		.min_rtt_us = state->min_rtt_us,
		.peer_timestamp = tp->rx_opt.rcv_tsval,
		.una = tp->snd_una,
		.nxt = tp->snd_nxt,
		.is_duplicate = tp->snd_una == state->una && tp->delivered != state->delivered,
		.in_recovery = is_lowering_cwnd(sk),
		.is_cwnd_limited = is_cwnd_limited(tp),
	};

	return ack;
}

static __always_inline void observe(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct ack ack = ack_of(sk);
	struct window window = window_of(sk);

	state->una = tp->snd_una;
	state->delivered = tp->delivered;
	state->is_measured = 0;
	state->was_lowering = ack.in_recovery;
	if (is_before(state->echo_answered_until, tp->snd_una))
		state->is_echo_answered = 0;
	if (AVOIDANCE.observe)
		AVOIDANCE.observe(&state->own, PARAMS, &ack, &window);
	if (!ack.in_recovery)
		set_window(sk, &window);
}

/* ECN-Echo during recovery from something that the controller has not answered. */
static __always_inline void answer_late(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_ssthresh = reduce(sk, CAUSE_ECN);
	count_answer(sk);
	settle_cwr(sk);
	if (ca_state(sk) == TCP_CA_Loss) {
		tp->snd_cwnd = state_of(sk)->cwnd;
		end_reduction(sk);
	}
}

/* A socket that comes from bbr still paces by bbr's last rate. If the application has set a rate
 * (SO_MAX_PACING_RATE), the socket goes on pacing. */
static __always_inline void begin_socket(struct sock *sk)
{
	COUNT(sockets_opened);
	if (!may_pace)
		return;
	if (sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate;
}

SEC("struct_ops")
void BPF_PROG(init, struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	begin_socket(sk);
	state->is_begun = 1;
	state->una = tp->snd_una;
	state->delivered = tp->delivered;
	state->cwnd = tp->snd_cwnd;
	state->rtt_us = NO_RTT;
	state->min_rtt_us = NO_RTT;
	if (AVOIDANCE.init)
		AVOIDANCE.init(&state->own, PARAMS);
}

SEC("struct_ops")
void BPF_PROG(release, struct sock *sk)
{
	if (state_of(sk)->is_begun)
		end_socket(sk);
}

/* An ACK has been counted. */
static __always_inline void heed(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u8 phase = ca_state(sk);

	observe(sk);
	/* If this ACK ends recovery, ssthresh() answers. */
	if (state->is_answered || phase < TCP_CA_Recovery || !is_before(tp->snd_una, tp->high_seq))
		return;
	if (state->is_echoed && !state->is_echo_answered)
		answer_late(sk);
	else if (phase == TCP_CA_Loss)
		settle_cwr(sk);
}

SEC("struct_ops")
void BPF_PROG(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct state *state = state_of(sk);

	state->acked = sample->pkts_acked;
	if (sample->rtt_us >= 0) {
		state->is_measured = 1;
		state->rtt_us = larger(sample->rtt_us, 1);
		state->min_rtt_us = smaller(state->min_rtt_us, state->rtt_us);
	}
	if (is_told_first())
		heed(sk);
}

SEC("struct_ops")
void BPF_PROG(in_ack_event, struct sock *sk, __u32 flags)
{
	struct state *state = state_of(sk);

	state->is_echoed = !!(flags & CA_ACK_ECE);
	state->echoed_at = tcp_sk(sk)->tcp_mstamp;
	if (!is_told_first())
		heed(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(ssthresh, struct sock *sk)
{
	struct state *state = state_of(sk);
	enum cause cause = has_ecn_echo(sk) ? CAUSE_ECN : CAUSE_LOSS;

	state->owed_cwr = !!(tcp_sk(sk)->ecn_flags & TCP_ECN_QUEUE_CWR);
	if (cause == CAUSE_ECN && state->is_echo_answered)
		return leave(sk);
	state->is_asked = 1;
	return reduce(sk, cause);
}

SEC("struct_ops")
void BPF_PROG(cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct state *state = state_of(sk);
	struct window window;

	switch (event) {
	case CA_EVENT_LOSS:
		/* ssthresh() took the timeout for a loss. */
		set_cwnd_q16(&window, cwnd_before_q16(state));
		window.ssthresh_q16 = ssthresh_q16(sk, state->ssthresh_before);
		time_out(sk, &window, cwnd_before_q16(state));
		state->is_timeout_told = 1;
		break;
	case CA_EVENT_COMPLETE_CWR:
		end_reduction(sk);
		break;
	case CA_EVENT_CWND_RESTART:
		if (AVOIDANCE.restart)
			AVOIDANCE.restart(&state->own);
		break;
	default:
		break;
	}
}

static __always_inline void enter_loss(struct sock *sk)
{
	struct state *state = state_of(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct congestion event = congestion_of(sk, CAUSE_TIMEOUT, 0);
	struct window window = window_of(sk);
	/* In recovery from a loss, cwnd as it was then, unless ECN-Echo has been answered since. */
	__u64 lossy_window_q16 = state->cause == CAUSE_LOSS ? cwnd_before_q16(state) : cwnd_q16(&window);

	COUNT(timeouts);
	state->owed_cwr = !!(tp->ecn_flags & TCP_ECN_QUEUE_CWR);
	if (is_lowering_cwnd(sk) && !state->is_timeout_told) {
		time_out(sk, &window, lossy_window_q16);
		state->is_asked = 1;
	}
	if (state->is_asked)
		count_answer(sk);
	state->is_timeout_told = 0;
	if (AVOIDANCE.keeps_window && AVOIDANCE.keeps_window(&state->own, &event)) {
		tp->snd_cwnd = state->cwnd;
		return;
	}
	state->cwnd = tp->snd_cwnd;
	state->fraction_q32 = 0;
}

SEC("struct_ops")
void BPF_PROG(set_state, struct sock *sk, __u8 phase)
{
	struct state *state = state_of(sk);

	if (phase == TCP_CA_Loss) {
		enter_loss(sk);
		return;
	}
	if (state->is_asked)
		count_answer(sk);
	else if (state->is_answered)
		return;
	settle_cwr(sk);
}

static __always_inline __u64 slow_start_gain(struct state *state)
{
	return AVOIDANCE.slow_start_gain ? AVOIDANCE.slow_start_gain(&state->own) : ONE_Q16;
}

SEC("struct_ops")
void BPF_PROG(cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct state *state = state_of(sk);
	struct window window = window_of(sk);
	__u64 acked_q16;

	/* RFC 3168 §6.1.2: no growth on an ACK with ECN-Echo, except in the slow start after a timeout, which has
	 * answered already. */
	if (has_ecn_echo(sk) && ca_state(sk) != TCP_CA_Loss)
		return;
	/* Nor on the ACK that ends recovery. */
	if (state->was_lowering || !is_cwnd_limited(tcp_sk(sk)))
		return;
	/* What SACK has reported before left the network then. It does not count again when the hole closes. */
	acked = smaller(smaller(acked, state->acked), WINDOW_MAX);
	acked_q16 = (__u64)acked << 16;
	if (acked && in_slow_start(&window))
		acked_q16 = slow_start(&window, acked, slow_start_gain(state));
	if (acked_q16 && AVOIDANCE.increase)
		AVOIDANCE.increase(&state->own, PARAMS, acked_q16, &window);
	else if (acked_q16)
		grow_additively(&window, acked_q16, ONE_Q16);
	set_window(sk, &window);
}

/* Keeps PRR from lowering cwnd if the controller has left it as it was. */
SEC("struct_ops")
__u32 BPF_PROG(min_tso_segs, struct sock *sk)
{
	struct state *state = state_of(sk);

	if (is_lowering_cwnd(sk) && !state->is_lower)
		tcp_sk(sk)->snd_cwnd = state->cwnd;
	return MIN_TSO_SEGS;
}

/* While a hole stays open, the socket keeps everything that was sent after it. With the kernel's two windows,
 * the sender would stop as soon as a retransmission is lost. */
SEC("struct_ops")
__u32 BPF_PROG(sndbuf_expand, struct sock *sk)
{
	return SEND_BUFFER_WINDOWS;
}

SEC("struct_ops")
__u32 BPF_PROG(undo_cwnd, struct sock *sk)
{
	struct state *state = state_of(sk);

	if (state->ssthresh_after) {
		tcp_sk(sk)->snd_ssthresh = state->ssthresh_before;
		state->ssthresh_after = 0;
	}
	if (state->is_answered) {
		/* Only whole segments are restored. */
		state->ssthresh_fraction_q16 = 0;
		state->fraction_q32 = 0;
		if (AVOIDANCE.undo)
			AVOIDANCE.undo(&state->own);
	}
	/* As Reno does. */
	return larger(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops controller = {
	.init = (void *)init,
	.release = (void *)release,
	.pkts_acked = (void *)pkts_acked,
	.in_ack_event = (void *)in_ack_event,
	.ssthresh = (void *)ssthresh,
	.cwnd_event = (void *)cwnd_event,
	.set_state = (void *)set_state,
	.cong_avoid = (void *)cong_avoid,
	.min_tso_segs = (void *)min_tso_segs,
	.sndbuf_expand = (void *)sndbuf_expand,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "controller",
};

#endif
