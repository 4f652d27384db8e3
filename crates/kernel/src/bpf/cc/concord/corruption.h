/* Whether corruption explains the losses, as in corruption.rs. */
#ifndef AIRTCP_CONCORD_CORRUPTION_H
#define AIRTCP_CONCORD_CORRUPTION_H

#include "rounds.h"

#define MEMORY_PACKETS 20000U
#define PRIOR_EVENTS_Q32 (3 * ONE_Q32 / 10)
#define PRIOR_PACKETS 300ULL
/* Standard deviations of a Poisson count, squared. */
#define DEVIATIONS_SQUARED 9
#define REFUTING_DEVIATIONS_SQUARED 4
#define PACKETS_THAT_RULE_OUT 1000ULL

struct account {
	__u64 events_q32;
	__u64 lost_q32;
	__u64 packets_q32;
};

struct corruption {
	struct account quiet;
	/* Since the last verdict. */
	struct account loaded;
};

static inline void account_add(struct account *account, const struct news *news)
{
	account->events_q32 = add_bounded(account->events_q32, (__u64)news->loss_events << 32);
	account->lost_q32 = add_bounded(account->lost_q32, (__u64)news->lost << 32);
	account->packets_q32 = add_bounded(account->packets_q32, ((__u64)news->delivered + news->lost) << 32);
}

static inline void account_fade(struct account *account, __u64 packets)
{
	__u32 kept = less_or_none(MEMORY_PACKETS, packets);

	account->events_q32 = share(account->events_q32, kept, MEMORY_PACKETS);
	account->lost_q32 = share(account->lost_q32, kept, MEMORY_PACKETS);
	account->packets_q32 = share(account->packets_q32, kept, MEMORY_PACKETS);
}

static inline void corruption_add_quiet(struct corruption *corruption, const struct news *news)
{
	account_fade(&corruption->quiet, (__u64)news->delivered + news->lost);
	account_add(&corruption->quiet, news);
}

static inline __u64 events_with_prior_q32(const struct corruption *corruption)
{
	return corruption->quiet.events_q32 + PRIOR_EVENTS_Q32;
}

static inline __u64 packets_with_prior_q32(const struct corruption *corruption)
{
	return corruption->quiet.packets_q32 + (PRIOR_PACKETS << 32);
}

/* Loss events to expect of so many packets; none if corruption is not believed in. */
static inline __u64 corruption_expected_q32(const struct corruption *corruption, int is_believed, __u64 packets_q32)
{
	if (!is_believed)
		return 0;
	return mul_div(events_with_prior_q32(corruption), packets_q32, packets_with_prior_q32(corruption));
}

/* Returns whether there is more than one event in so many packets. */
static inline int corruption_exceeds_one_in(const struct corruption *corruption, int is_believed, __u32 packets)
{
	return is_believed && events_with_prior_q32(corruption) > packets_with_prior_q32(corruption) / packets;
}

/* Returns whether the rate rests on more than the prior. */
static inline int corruption_is_measured(const struct corruption *corruption)
{
	return corruption->quiet.packets_q32 > PRIOR_PACKETS << 32;
}

/* Returns whether enough packets have been seen at a short queue, and none of them was lost. */
static inline int corruption_is_ruled_out(const struct corruption *corruption, int is_believed)
{
	return !is_believed ||
	       (corruption->quiet.events_q32 < ONE_Q32 && corruption->quiet.packets_q32 >= PACKETS_THAT_RULE_OUT << 32);
}

/* Returns whether `distance` is at least so many deviations of a count with that variance. A Poisson count's
 * variance is its expectation. */
static inline int is_deviation(__u64 distance_q32, __u64 variance_q32, __u32 deviations_squared)
{
	return mul_div(distance_q32, distance_q32, ONE_Q32) >= deviations_squared * variance_q32;
}

/* Returns whether there are more losses under load than corruption explains. */
static inline int corruption_is_exceeded(const struct corruption *corruption, int is_believed)
{
	__u64 expected_q32 = corruption_expected_q32(corruption, is_believed, corruption->loaded.packets_q32);
	__u64 least_q32 = add_bounded(expected_q32, ONE_Q32 / 2), events_q32 = corruption->loaded.events_q32;

	return events_q32 >= least_q32 && is_deviation(events_q32 - least_q32, expected_q32, DEVIATIONS_SQUARED);
}

/* Returns whether losses vanish with the load, and so were not corruption. */
static inline int corruption_is_refuted_by(const struct corruption *corruption, int is_believed, const struct account *look)
{
	__u64 expected_q32 = corruption_expected_q32(corruption, is_believed, look->packets_q32);

	/* The expectation varies, too, with the events that it was learnt from. */
	__u64 variance_q32 = expected_q32 + mul_div(expected_q32, look->packets_q32, packets_with_prior_q32(corruption));

	return expected_q32 > look->events_q32 &&
	       is_deviation(expected_q32 - look->events_q32, variance_q32, REFUTING_DEVIATIONS_SQUARED);
}

/* Packets that corruption takes for each that it leaves. */
static inline __u64 corruption_odds_q32(const struct corruption *corruption, int is_believed)
{
	__u64 all_q32 = packets_with_prior_q32(corruption), lost_q32 = corruption->quiet.lost_q32;

	if (!is_believed)
		return 0;
	/* path.rs: MOST_LOSS. */
	if (lost_q32 > all_q32 / 10 * 3)
		return 3 * ONE_Q32 / 7;
	return mul_div(lost_q32, ONE_Q32, all_q32 - lost_q32);
}

/* `packets`, which a path delivers, together with what corruption takes of them on the way. */
static inline __u64 corruption_allow_q32(const struct corruption *corruption, int is_believed, __u64 packets_q32)
{
	__u64 odds_q32 = corruption_odds_q32(corruption, is_believed);

	return add_bounded(packets_q32, mul_div(packets_q32, odds_q32, ONE_Q32));
}

#endif
