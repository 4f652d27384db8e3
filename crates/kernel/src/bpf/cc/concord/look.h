/* The phase Look, as in look.rs. */
#ifndef AIRTCP_CONCORD_LOOK_H
#define AIRTCP_CONCORD_LOOK_H

#include "state.h"

#define LOOK_ROUNDS 3
#define MOST_LOOK_ROUNDS 8
#define LOOK_EVENTS 5ULL
/* Looking is worth it from one event of corruption in so many packets on. */
#define WORTH_ONE_IN 200
#define LAST_LOOK_US (60 * US_PER_S)
#define LOOK_MEMORY_PACKETS 2000ULL

static inline int is_time_to_look(const struct concord *self, const struct concord_params *params, __u64 now_us)
{
	return is_on(params->look_q24) && now_us > self->looks.next_us && corruption_is_measured(&self->corruption) &&
	       corruption_exceeds_one_in(&self->corruption, believes(params), WORTH_ONE_IN);
}

static inline void start_look(struct concord *self)
{
	self->phase.is = IN_LOOK;
	self->phase.look = (struct look){ .window_q32 = self->phase.window_q32 };
	self->phase.window_q32 = larger(path_mean_bdp_q32(&self->path) / 5 * 4, LEAST_WINDOW_Q32);
}

static inline void end_look(struct concord *self, const struct concord_params *params, __u64 now_us)
{
	struct account *seen = &self->looks.seen;

	self->looks.gap_us = smaller(3 * self->looks.gap_us, LAST_LOOK_US);
	self->looks.next_us = now_us + self->looks.gap_us;
	if (corruption_is_refuted_by(&self->corruption, believes(params), seen)) {
		self->corruption.quiet = *seen;
		self->goal_q32 = self->phase.window_q32;
		self->low_water_q32 = self->phase.window_q32;
		self->looks.gap_us = FIRST_LOOK_US;
	} else {
		self->phase.window_q32 = self->phase.look.window_q32;
	}
	if (seen->packets_q32 > LOOK_MEMORY_PACKETS << 32)
		*seen = (struct account){ seen->events_q32 / 2, seen->lost_q32 / 2, seen->packets_q32 / 2 };
	enter_delay(self, params, 0);
}

static inline void look_round(struct concord *self, const struct concord_params *params, const struct tally *round,
			      __u64 now_us)
{
	struct look *look = &self->phase.look;
	struct account *seen = &self->looks.seen;
	struct news news = { round->delivered, round->lost, round->loss_events };
	int is_enough;

	look->rounds++;
	if (look->rounds > 1)
		account_add(seen, &news);
	is_enough = corruption_expected_q32(&self->corruption, believes(params), seen->packets_q32) >= LOOK_EVENTS << 32;
	if (look->rounds < LOOK_ROUNDS || (!is_enough && look->rounds < MOST_LOOK_ROUNDS))
		return;
	end_look(self, params, now_us);
}

#endif
