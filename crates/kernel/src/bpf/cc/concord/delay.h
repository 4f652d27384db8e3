/* The phase Delay, as in delay.rs. */
#ifndef AIRTCP_CONCORD_DELAY_H
#define AIRTCP_CONCORD_DELAY_H

#include "compete.h"
#include "look.h"

#define QUIET_ROUNDS 3
#define DRAIN_ROUNDS 2

/* If corruption is ruled out, there is nothing to find out. */
static inline void answer_losses(struct concord *self, const struct concord_params *params, __u64 queue_us_q20,
				 __u64 now_us)
{
	if (corruption_is_ruled_out(&self->corruption, believes(params)) && is_on(params->compete_q24))
		compete_after_losses(self, params, now_us);
	else
		yield_to_losses(self, params, queue_us_q20, now_us);
}

/* By how much the window grows in a quiet round: on the way back to the goal, by no more than is left of it. */
static inline __u64 quiet_growth_q32(const struct concord *self)
{
	const struct delay *delay = &self->phase.delay;
	__u64 window_q32 = self->phase.window_q32, way_q32 = less_or_none(self->goal_q32, window_q32);
	__u64 growth_q32 = ALPHA_Q32;

	if (delay->quiet > QUIET_ROUNDS)
		growth_q32 = smaller(larger(2 * delay->growth_q32, ONE_Q32), window_q32 / 4);
	if (!way_q32)
		return growth_q32;
	return larger(larger(smaller(growth_q32, way_q32), way_q32 / 4), ALPHA_Q32);
}

static inline void grow_gently(struct concord *self, const struct concord_params *params, __u64 queue_us_q20)
{
	struct delay *delay = &self->phase.delay;
	__u64 window_q32 = self->phase.window_q32, most_q32 = bdp_q32(self, params);

	if (queue_us_q20 >= path_quiet_us_q20(&self->path, params->variation_q24)) {
		delay->quiet = 0;
		delay->growth_q32 = ALPHA_Q32;
	} else {
		delay->quiet++;
		delay->growth_q32 = quiet_growth_q32(self);
	}
	most_q32 = larger(most_q32 + most_q32 / 2 + 8 * ONE_Q32, window_q32);
	self->phase.window_q32 = smaller(window_q32 + delay->growth_q32, most_q32);
}

static inline void drain(struct concord *self, const struct concord_params *params)
{
	self->phase.window_q32 = larger(bdp_q32(self, params) + MARGIN_Q32, LEAST_WINDOW_Q32);
	self->low_water_q32 = self->phase.window_q32;
	enter_delay(self, params, self->phase.delay.draining - 1);
}

static inline void delay_round(struct concord *self, const struct concord_params *params, const struct tally *round,
			       __u64 queue_us_q20, __u64 now_us)
{
	if (self->phase.delay.draining)
		drain(self, params);
	else if (is_time_to_look(self, params, now_us))
		start_look(self);
	else if (corruption_is_exceeded(&self->corruption, believes(params)))
		answer_losses(self, params, queue_us_q20, now_us);
	else if (queue_us_q20 > threshold_us_q20(self, params) && now_us >= self->tests.doubt_until_us)
		start_yield(self, params, 0, queue_us_q20, now_us);
	else if (round->is_limited)
		grow_gently(self, params, queue_us_q20);
}

#endif
