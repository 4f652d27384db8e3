/* The phase Yield, as in yielding.rs. */
#ifndef AIRTCP_CONCORD_YIELD_H
#define AIRTCP_CONCORD_YIELD_H

#include "state.h"

#define RIVAL_ROUNDS 3
#define WATCH_ROUNDS 4
#define MOST_YIELD_ROUNDS 12
#define FALLING_ROUNDS 10
#define LAST_DOUBT_US (16 * US_PER_S)
#define LAST_TEST_US (30 * US_PER_S)

/* Begins a competition: compete.rs. */
static inline void compete(struct concord *self, __u64 window_q32, __u64 now_us)
{
	struct compete *compete = &self->phase.compete;

	*compete = (struct compete){ .fullest_since_us = now_us, .hold_until_us = now_us };
	compete->fullest_us_q20[1] = path_queue_now_us_q20(&self->path);
	cubic_begin(&compete->cubic, window_q32, now_us);
	self->phase.window_q32 = window_q32;
	self->tests.last_us = now_us;
	self->tests.gap_us = FIRST_TEST_US;
	self->phase.is = IN_COMPETE;
}

static inline void give_up(struct concord *self, const struct concord_params *params)
{
	self->phase.window_q32 = smaller(self->phase.window_q32, drained_q32(self, params));
	self->low_water_q32 = self->phase.window_q32;
}

static inline void start_yield(struct concord *self, const struct concord_params *params, int is_from_compete,
			       __u64 queue_us_q20, __u64 now_us)
{
	self->phase.is = IN_YIELD;
	self->phase.yield = (struct yielding){
		.began_us = now_us,
		.window_q32 = self->phase.window_q32,
		.queue_us_q20 = queue_us_q20,
		.rate_q48 = path_rate_q48(&self->path, 3),
		.mean_us_q20 = self->path.mean_us_q20,
		.mean_after_us_q20 = NONE,
		.last_queue_us_q20 = NONE,
		.is_from_compete = is_from_compete,
		.is_late = queue_us_q20 > threshold_us_q20(self, params),
	};
	self->goal_q32 = self->phase.window_q32;
	give_up(self, params);
	forget_loaded(self, params);
	self->counts.yields++;
}

/* Yields because of more losses than corruption explains, to no more than CUBIC's answer would leave. */
static inline void yield_to_losses(struct concord *self, const struct concord_params *params, __u64 queue_us_q20,
				   __u64 now_us)
{
	start_yield(self, params, 0, queue_us_q20, now_us);
	self->phase.window_q32 = larger(smaller(self->phase.window_q32, beta_of(self->goal_q32)), LEAST_WINDOW_Q32);
	self->low_water_q32 = self->phase.window_q32;
	self->counts.reductions++;
}

/* What is left of a value that falls half as much as the window. */
static inline __u64 half_with_window(const struct concord *self, const struct yielding *yield, __u64 before)
{
	return mul_div(before, yield->window_q32 + self->phase.window_q32, 2 * yield->window_q32);
}

/* Returns whether the rate fell with the window: by at least half as much, and by so many standard deviations,
 * squared, more than corruption takes off a round's rate by chance. */
static inline int has_fallen(const struct concord *self, const struct concord_params *params, const struct yielding *yield,
			     __u32 deviations_squared)
{
	__u64 half_q48 = half_with_window(self, yield, yield->rate_q48);
	__u64 packets_q32 = larger(path_bdp_q32(&self->path, path_rate_q48(&self->path, 3)), ONE_Q32);
	__u64 odds_q32 = corruption_odds_q32(&self->corruption, believes(params));
	__u64 below_q32;

	if (yield->rate_after_q48 >= half_q48)
		return 0;
	below_q32 = mul_div(half_q48 - yield->rate_after_q48, ONE_Q32, yield->rate_q48);
	return mul_div(below_q32, below_q32, ONE_Q32) > deviations_squared * mul_div(odds_q32, ONE_Q32, packets_q32);
}

/* Returns whether it gained nothing: a flow that gave up less than a twentieth, and saw no delay go, had no queue. */
static inline int is_in_vain(const struct concord *self, const struct concord_params *params, const struct yielding *yield)
{
	int delay_stayed = yield->mean_after_us_q20 > half_with_window(self, yield, yield->mean_us_q20);

	return has_fallen(self, params, yield, 9) ||
	       (delay_stayed && (has_fallen(self, params, yield, 1) || 20 * self->phase.window_q32 >= 19 * yield->window_q32));
}

/* The queue was ours, or there was none. Continues from a window between the two, or from the old one. */
static inline void end_yield(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	struct yielding *yield = &self->phase.yield;

	if (is_on(params->doubt_q24) && is_in_vain(self, params, yield)) {
		self->phase.window_q32 = yield->window_q32 / 100 * 97;
		self->goal_q32 = yield->window_q32;
		if (yield->is_late) {
			self->tests.doubt_until_us = now_us + self->tests.doubt_us;
			self->tests.doubt_us = smaller(2 * self->tests.doubt_us, LAST_DOUBT_US);
		}
	} else {
		self->tests.doubt_us = larger(self->tests.doubt_us / 2, FIRST_DOUBT_US);
		self->goal_q32 = (self->phase.window_q32 + yield->window_q32) / 2;
	}
	enter_delay(self, params, 0);
}

static inline void judge_rival(struct concord *self, int is_falling, __u64 now_us)
{
	struct yielding *yield = &self->phase.yield;

	if (!yield->is_from_compete) {
		if (yield->rival_rounds < RIVAL_ROUNDS)
			return;
		compete(self, yield->window_q32, now_us);
		self->counts.rivals++;
	} else if (!is_falling || yield->rounds >= FALLING_ROUNDS) {
		self->tests.gap_us = smaller(2 * self->tests.gap_us, LAST_TEST_US);
		self->tests.last_us = now_us;
		self->phase.window_q32 = yield->window_q32;
		self->phase.compete.cubic.epoch_us += now_us - yield->began_us;
		self->phase.is = IN_COMPETE;
		self->counts.rivals++;
	}
}

static inline void yield_round(struct concord *self, const struct concord_params *params, __u64 queue_us_q20,
			       __u64 now_us, __u64 rate_q48)
{
	struct yielding *yield = &self->phase.yield;
	__u64 threshold = threshold_us_q20(self, params);
	int is_falling, is_ours;

	if (++yield->rounds < 2)
		return;
	yield->rate_after_q48 = larger(yield->rate_after_q48, rate_q48);
	yield->mean_after_us_q20 = smaller(yield->mean_after_us_q20, self->path.mean_us_q20);
	is_ours = 5 * queue_us_q20 < 2 * larger(yield->queue_us_q20, threshold);
	if (is_ours)
		self->tests.gap_us = FIRST_TEST_US;
	if (is_ours || (!yield->is_from_compete && yield->rounds >= MOST_YIELD_ROUNDS)) {
		end_yield(self, params, now_us);
		return;
	}
	if (yield->rounds == 2)
		give_up(self, params);
	yield->rival_rounds = 2 * queue_us_q20 > 3 * threshold ? yield->rival_rounds + 1 : 0;
	is_falling = yield->last_queue_us_q20 == NONE || 20 * queue_us_q20 < 17 * yield->last_queue_us_q20;
	yield->last_queue_us_q20 = queue_us_q20;
	if (yield->rounds >= WATCH_ROUNDS && is_on(params->compete_q24))
		judge_rival(self, is_falling, now_us);
}

#endif
