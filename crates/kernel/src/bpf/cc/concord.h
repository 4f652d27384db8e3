/* Concord, as in crates/proto/src/cc/concord. Its files there have the same names, and explain what it does and
 * why. It is no `avoidance`, because it sets the window and the pacing rate at all times, in recovery, too. */
#ifndef AIRTCP_CONCORD_H
#define AIRTCP_CONCORD_H

#include "concord/start.h"

/* Assumed before the first measurement, only for the pacing rate. */
#define NOMINAL_RTT_US 1000

/* What an ACK reports, in packets and microseconds. */
struct concord_ack {
	__u64 now_us;
	__u32 delivered;
	/* Since the previous ACK. */
	__u32 lost;
	/* Over the connection's life: until now, and, if `is_sample`, until the latest packet acknowledged was sent. */
	__u32 total_delivered;
	__u32 prior_delivered;
	/* 0 if none was measured. */
	__u32 rtt_us;
	__u32 srtt_us;
	__u8 is_sample;
	__u8 is_cwnd_limited;
	__u8 is_app_limited;
};

static inline void concord_init(struct concord *self, __u32 window, __u32 total_delivered, __u64 now_us)
{
	self->phase.window_q32 = (__u64)window << 32;
	begin_start(self, NONE);
	path_init(&self->path, now_us);
	tally_begin(&self->round, now_us);
	self->round_begun_at = total_delivered;
	self->srtt_us = NOMINAL_RTT_US;
	self->tests = (struct tests){
		.gap_us = FIRST_TEST_US,
		.last_us = now_us,
		.last_queue_us = now_us,
		.doubt_us = FIRST_DOUBT_US,
	};
	self->looks.gap_us = FIRST_LOOK_US;
	self->looks.next_us = now_us + FIRST_LOOK_US;
}

static inline __u32 concord_window(const struct concord *self)
{
	return self->phase.window_q32 >> 32;
}

static inline void bound_window(struct concord *self)
{
	__u64 least_q32 = self->phase.is == IN_START ? ONE_Q32 : LEAST_WINDOW_Q32;

	self->phase.window_q32 = smaller(larger(self->phase.window_q32, least_q32), WINDOW_MAX_Q32);
}

/* Books an ACK's losses if they are evidence for or against corruption. */
static inline void book(struct concord *self, const struct concord_params *params, const struct news *news)
{
	__u64 low_q32 = self->low_water_q32;
	int is_short;

	if (self->phase.is == IN_START || (self->phase.is == IN_DELAY && self->phase.delay.draining)) {
		self->counts.undecided += news->loss_events;
		return;
	}
	is_short = path_queue_now_us_q20(&self->path) <= threshold_us_q20(self, params) / 2;
	if (is_short && self->window_then_q32 <= low_q32 + 3 * low_q32 / 100 + ONE_Q32) {
		corruption_add_quiet(&self->corruption, news);
		self->counts.corruption += news->loss_events;
	} else if (!is_short || self->window_then_q32 > low_q32 + 3 * low_q32 / 50 + 2 * ONE_Q32) {
		account_add(&self->corruption.loaded, news);
	} else {
		self->counts.undecided += news->loss_events;
	}
}

static inline void advance(struct concord *self, const struct concord_params *params, const struct tally *round,
			   __u64 queue_us_q20, __u64 now_us)
{
	switch (self->phase.is) {
	case IN_START:
		start_round(self, params, round);
		break;
	case IN_DELAY:
		delay_round(self, params, round, queue_us_q20, now_us);
		break;
	case IN_YIELD:
		yield_round(self, params, queue_us_q20, now_us, tally_rate_q48(round, now_us));
		break;
	case IN_LOOK:
		look_round(self, params, round, now_us);
		break;
	case IN_COMPETE:
		compete_round(self, params, queue_us_q20, now_us);
		break;
	}
}

static inline void end_round(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	struct tally round = self->round;
	__u64 queue_us_q20;

	self->window_then_q32 = self->window_now_q32;
	self->window_now_q32 = self->phase.window_q32;
	tally_begin(&self->round, now_us);
	if (!round.samples)
		return;
	path_end_round(&self->path, &round, now_us);
	queue_us_q20 = path_queue_us_q20(&self->path, (__u64)round.min_us << 20);
	if (queue_us_q20 > threshold_us_q20(self, params))
		self->tests.last_queue_us = now_us;
	advance(self, params, &round, queue_us_q20, now_us);
	/* More was lost than delivered: whatever the cause, sending so much is of no use to anybody. */
	if (round.lost > larger(round.delivered, LEAST_WINDOW_Q32 >> 32)) {
		__u64 left_q32 = smaller(self->phase.window_q32, (__u64)round.delivered << 32);

		/* A handover loses a round once; growth heads back to what CUBIC would have left. */
		self->goal_q32 = larger(left_q32, beta_of(self->phase.window_q32));
		self->phase.window_q32 = left_q32;
	}
}

static inline void concord_ack(struct concord *self, const struct concord_params *params, const struct concord_ack *ack)
{
	struct news news = { ack->delivered, ack->lost, ack->lost && !self->was_losing };
	struct tally *round = &self->round;

	self->was_losing = !!ack->lost;
	if (ack->rtt_us) {
		path_sample(&self->path, ack->rtt_us, ack->now_us);
		tally_sample(round, ack->rtt_us);
	}
	round->delivered += news.delivered;
	round->lost += news.lost;
	round->loss_events += news.loss_events;
	round->is_limited |= ack->is_cwnd_limited;
	round->is_app_limited |= ack->is_app_limited;
	if (!ack->srtt_us)
		return;
	self->srtt_us = ack->srtt_us;
	if (self->phase.is == IN_START)
		start_ack(self, params, &news, ack->rtt_us, ack->is_cwnd_limited);
	else if (self->phase.is == IN_COMPETE)
		compete_ack(self, params, &news, ack->now_us, ack->is_cwnd_limited);
	book(self, params, &news);
	if (ack->is_sample && !is_before(ack->prior_delivered, self->round_begun_at)) {
		self->round_begun_at = ack->total_delivered;
		end_round(self, params, ack->now_us);
	}
	bound_window(self);
}

/* Answers ECN-Echo, once per window. */
static inline void concord_ecn(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	answer_ecn(self, params, now_us);
	bound_window(self);
}

/* A loss: whatever proves spurious from now on is not the timeout before it. */
static inline void concord_loss(struct concord *self)
{
	self->has_before = 0;
}

/* A timeout, after which `left` packets may be in flight. Growth heads from there to what CUBIC would leave. */
static inline void concord_timeout(struct concord *self, __u32 left, int is_repeated)
{
	__u64 until_q32 = beta_of(self->phase.window_q32);

	if (!is_repeated) {
		self->before = self->phase;
		self->has_before = 1;
		if (self->phase.is == IN_START)
			until_q32 = smaller(until_q32, self->phase.start.until_q32);
		begin_start(self, larger(until_q32, 2 * ONE_Q32));
		self->counts.reductions++;
	}
	self->phase.window_q32 = (__u64)left << 32;
	bound_window(self);
}

/* The last loss or timeout was spurious. */
static inline void concord_undo(struct concord *self)
{
	if (self->has_before)
		self->phase = self->before;
	self->has_before = 0;
}

/* RFC 2861 §3.1: halves the window for each RTO of idleness, down to the restart window. */
static inline void concord_restart(struct concord *self, __u64 rtos)
{
	__u64 least_q32 = smaller(self->phase.window_q32, INITIAL_WINDOW_Q32);

	self->goal_q32 = larger(self->goal_q32, self->phase.window_q32);
	self->phase.window_q32 = larger(self->phase.window_q32 >> smaller(rtos, 63), least_q32);
}

/* In bytes per second. */
static inline __u64 concord_pace(const struct concord *self, __u32 mss)
{
	__u64 gain_q1 = self->phase.is == IN_START ? 4 : self->phase.is == IN_LOOK ? 2 : 3;

	return larger(mul_div(self->phase.window_q32, gain_q1 * mss * US_PER_S, (__u64)self->srtt_us << 33), 1);
}

#endif
