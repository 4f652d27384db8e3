/* What is known of the path, as in path.rs, which explains the constants. */
#ifndef AIRTCP_CONCORD_PATH_H
#define AIRTCP_CONCORD_PATH_H

#include "rounds.h"

#define BASE_PIECE_US (5 * US_PER_S)
#define BASE_PIECES 12
#define RATE_PIECE_US (10 * US_PER_S)
#define RATE_PIECES 3
#define RATES 10
#define SAMPLES 4
#define SLACK_US 3000ULL
#define SLACK_PACKETS 2ULL

/* Follows the lower quartile of a stream. */
struct quantile {
	__u64 value_us_q20;
	__u64 scale_us_q20;
	__u8 is_set;
};

struct path {
	/* The least RTT in each piece of the last minute; NONE if there was none. */
	__u64 base_us[BASE_PIECES];
	__u64 base_since_us;
	struct quantile noise;
	struct quantile spread;
	struct quantile sway;
	__u64 last_min_us;
	/* Mean RTT of the last round. */
	__u64 mean_us_q20;
	/* Delivery rates of the last rounds, the latest first, in packets per microsecond. */
	__u64 rates_q48[RATES];
	/* The highest rate in each piece of half a minute, negated, so that the least of ~rate is wanted. */
	__u64 highest_q48[RATE_PIECES];
	__u64 highest_since_us;
	__u64 smooth_us_q20;
};

static __always_inline void shift(__u64 *pieces, int count, __u64 value)
{
	for (int at = count - 1; at > 0; at--)
		pieces[at] = pieces[at - 1];
	pieces[0] = value;
}

/* Keeps the least value of each of the last `count` pieces of time. */
static __always_inline void put_recent(__u64 *pieces, int count, __u64 *since_us, __u64 piece_us, __u64 value, __u64 now_us)
{
	if (now_us - *since_us > piece_us) {
		shift(pieces, count, value);
		*since_us = now_us;
	}
	pieces[0] = smaller(pieces[0], value);
}

static __always_inline __u64 least(const __u64 *pieces, int count)
{
	__u64 found = NONE;

	for (int at = 0; at < count; at++)
		found = smaller(found, pieces[at]);
	return found;
}

/* Moves up by a quarter of a step if the value is above, and down by three quarters if it is below. */
static inline void quantile_put(struct quantile *quantile, __u64 us_q20)
{
	__u64 distance = larger(us_q20, quantile->value_us_q20) - smaller(us_q20, quantile->value_us_q20);

	if (!quantile->is_set) {
		*quantile = (struct quantile){ us_q20, us_q20 / 4, 1 };
		return;
	}
	quantile->scale_us_q20 = (7 * quantile->scale_us_q20 + distance) / 8;
	if (us_q20 > quantile->value_us_q20)
		quantile->value_us_q20 += quantile->scale_us_q20 / 16;
	else
		quantile->value_us_q20 = less_or_none(quantile->value_us_q20, 3 * quantile->scale_us_q20 / 16);
}

static inline void path_init(struct path *path, __u64 now_us)
{
	path->base_since_us = now_us;
	path->highest_since_us = now_us;
	for (int at = 0; at < BASE_PIECES; at++)
		path->base_us[at] = NONE;
	for (int at = 0; at < RATE_PIECES; at++)
		path->highest_q48[at] = NONE;
}

static inline void path_sample(struct path *path, __u32 rtt_us, __u64 now_us)
{
	__u64 us_q20 = (__u64)rtt_us << 20;

	put_recent(path->base_us, BASE_PIECES, &path->base_since_us, BASE_PIECE_US, rtt_us, now_us);
	path->smooth_us_q20 = path->smooth_us_q20 ? (3 * path->smooth_us_q20 + us_q20) / 4 : us_q20;
}

static inline void path_end_round(struct path *path, const struct tally *round, __u64 now_us)
{
	__u64 rate_q48 = tally_rate_q48(round, now_us);

	if (rate_q48) {
		shift(path->rates_q48, RATES, rate_q48);
		put_recent(path->highest_q48, RATE_PIECES, &path->highest_since_us, RATE_PIECE_US, ~rate_q48, now_us);
	}
	if (round->samples >= SAMPLES) {
		quantile_put(&path->noise, tally_noise_us_q20(round));
		quantile_put(&path->spread, (__u64)(round->max_us - round->min_us) << 20);
	}
	if (path->last_min_us)
		quantile_put(&path->sway, (larger(round->min_us, path->last_min_us) -
					   smaller(round->min_us, path->last_min_us)) << 20);
	path->last_min_us = round->min_us;
	path->mean_us_q20 = tally_mean_us_q20(round);
}

/* 0 before the first sample. */
static inline __u64 path_base_us(const struct path *path)
{
	__u64 base_us = least(path->base_us, BASE_PIECES);

	return base_us == NONE ? 0 : base_us;
}

/* The RTT without anybody's queue. */
static inline __u64 path_floor_us_q20(const struct path *path)
{
	return (path_base_us(path) << 20) + path->noise.value_us_q20;
}

/* The queueing in an RTT. */
static inline __u64 path_queue_us_q20(const struct path *path, __u64 rtt_us_q20)
{
	return less_or_none(rtt_us_q20, path_floor_us_q20(path));
}

static inline __u64 path_queue_now_us_q20(const struct path *path)
{
	return path_queue_us_q20(path, path->smooth_us_q20);
}

/* How long our own packets wait if no others are in the way. */
static inline __u64 path_own_us_q20(const struct path *path)
{
	__u64 highest_q48 = ~least(path->highest_q48, RATE_PIECES);

	return (SLACK_US << 20) + (highest_q48 ? mul_div(SLACK_PACKETS << 20, 1ULL << 48, highest_q48) : 0);
}

/* How much round trips vary: within a round, and from round to round. */
static inline __u64 path_variation_us_q20(const struct path *path, __u32 variation_q24)
{
	return path->spread.value_us_q20 / 2 + mul_div(path->sway.value_us_q20, variation_q24, 1 << 24);
}

/* Delay above the floor that chance no longer explains. */
static inline __u64 path_threshold_us_q20(const struct path *path, __u32 variation_q24)
{
	return path_own_us_q20(path) + path_variation_us_q20(path, variation_q24);
}

/* Delay above the floor up to which nothing seems to wait. */
static inline __u64 path_quiet_us_q20(const struct path *path, __u32 variation_q24)
{
	return path_own_us_q20(path) / 2 + path_variation_us_q20(path, variation_q24);
}

/* The highest rate of the last `rounds`. */
static __always_inline __u64 path_rate_q48(const struct path *path, int rounds)
{
	__u64 highest_q48 = 0;

	for (int at = 0; at < rounds; at++)
		highest_q48 = larger(highest_q48, path->rates_q48[at]);
	return highest_q48;
}

/* Packets in flight at this rate. */
static inline __u64 path_bdp_q32(const struct path *path, __u64 rate_q48)
{
	return smaller(mul_div(rate_q48, path_floor_us_q20(path), 1ULL << 36), WINDOW_MAX_Q32);
}

static inline __u64 path_mean_bdp_q32(const struct path *path)
{
	__u64 sum_q48 = 0;

	for (int at = 0; at < RATES; at++)
		sum_q48 += path->rates_q48[at];
	return path_bdp_q32(path, sum_q48 / RATES);
}

#endif
