/* The phase Compete, as in compete.rs. */
#ifndef AIRTCP_CONCORD_COMPETE_H
#define AIRTCP_CONCORD_COMPETE_H

#include "yield.h"

#define FULL_PIECE_US (10 * US_PER_S)
#define TEST_AFTER_LOSSES_US (4 * US_PER_S)
#define CALM_US (3 * US_PER_S)
#define CALM_ROUND_TRIPS 20

static inline void compete_see(struct compete *compete, __u64 queue_us_q20, __u64 now_us)
{
	if (now_us - compete->fullest_since_us > FULL_PIECE_US) {
		compete->fullest_us_q20[0] = compete->fullest_us_q20[1];
		compete->fullest_us_q20[1] = 0;
		compete->fullest_since_us = now_us;
	}
	compete->fullest_us_q20[1] = larger(compete->fullest_us_q20[1], queue_us_q20);
}

/* Answers congestion, once per round trip. */
static inline void reduce(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	struct compete *compete = &self->phase.compete;

	if (now_us < compete->hold_until_us)
		return;
	self->phase.window_q32 = cubic_reduce(&compete->cubic, self->phase.window_q32, now_us);
	compete->hold_until_us = now_us + self->srtt_us;
	forget_loaded(self, params);
	self->low_water_q32 = self->phase.window_q32;
	self->counts.reductions++;
}

static inline void compete_after_losses(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	compete(self, self->phase.window_q32, now_us);
	self->tests.gap_us = TEST_AFTER_LOSSES_US;
	reduce(self, params, now_us);
}

/* RFC 9438 §4.6: as after a loss. */
static inline void answer_ecn(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	if (self->phase.is != IN_COMPETE)
		compete(self, self->phase.window_q32, now_us);
	reduce(self, params, now_us);
}

/* A loss at four fifths of the fullest queue is congestion, even if corruption explains it. */
static inline int is_full(const struct concord *self, const struct concord_params *params, __u64 queue_us_q20)
{
	const struct compete *compete = &self->phase.compete;
	__u64 fullest_us_q20 = larger(compete->fullest_us_q20[0], compete->fullest_us_q20[1]);
	__u64 threshold = threshold_us_q20(self, params);

	return fullest_us_q20 > threshold + threshold / 2 + self->path.spread.value_us_q20 &&
	       5 * queue_us_q20 >= 4 * fullest_us_q20;
}

static inline void compete_ack(struct concord *self, const struct concord_params *params, const struct news *news,
			       __u64 now_us, int is_cwnd_limited)
{
	struct compete *compete = &self->phase.compete;
	__u64 queue_us_q20 = path_queue_now_us_q20(&self->path);

	compete_see(compete, queue_us_q20, now_us);
	if (now_us < compete->hold_until_us)
		return;
	if (news->lost && (is_full(self, params, queue_us_q20) ||
			   corruption_is_exceeded(&self->corruption, believes(params))))
		reduce(self, params, now_us);
	else if (is_cwnd_limited)
		self->phase.window_q32 = cubic_grow(&compete->cubic, self->phase.window_q32, news->delivered, now_us,
						    path_base_us(&self->path));
}

/* So long without a queue ends a competition, whatever is lost meanwhile. */
static inline __u64 calm_us(const struct concord *self)
{
	return larger(CALM_ROUND_TRIPS * path_base_us(&self->path), CALM_US);
}

static inline void compete_round(struct concord *self, const struct concord_params *params, __u64 queue_us_q20,
				 __u64 now_us)
{
	if (now_us - self->tests.last_queue_us > calm_us(self))
		enter_delay(self, params, 0);
	else if (queue_us_q20 > threshold_us_q20(self, params) && now_us - self->tests.last_us > self->tests.gap_us &&
		 now_us >= self->phase.compete.hold_until_us)
		start_yield(self, params, 1, queue_us_q20, now_us);
}

#endif
