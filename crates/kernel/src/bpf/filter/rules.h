/* Packet control (paper 001 §V, §VI) for one flow: what becomes of each of its packets. It equals
 * `base_station/packet_control` of the protocol machines, in plain C without kernel types, so that the host's
 * compiler accepts it, too. */
#ifndef AIRTCP_FILTER_RULES_H
#define AIRTCP_FILTER_RULES_H

#include <linux/types.h>
#include <stdbool.h>

#define FLAG_FIN 0x01
#define FLAG_SYN 0x02
#define FLAG_RST 0x04
#define FLAG_ACK 0x10
#define FLAG_CWR 0x80

/* Longest window in bytes (RFC 7323 §2.3). */
#define FARTHEST (1 << 30)

/* Retransmitted segments that are remembered at a time. */
#define REMEMBERED 8

#define SACK_BLOCKS 4

enum way {
	FORWARD, /* from the fixed host */
	REVERSE, /* from the mobile host */
};

enum verdict {
	PASS,
	DROP,
	ANSWER, /* drop it, and answer with an ACK */
};

struct block {
	__u32 left;
	__u32 right;
};

/* What is read from a packet. */
struct segment {
	__u32 seq;
	__u32 ack;
	__u32 len;
	__u32 ts_value;
	__u32 ts_echo;
	__u16 window;
	__u8 flags;
	__u8 is_marked; /* Congestion Experienced */
	__u8 has_timestamps;
	__u8 sack_count;
	struct block sack[SACK_BLOCKS];
};

/* What is known of a flow. All zeros before its first segment. */
struct flow {
	__u64 seen_ns; /* when its last packet came */
	/* For observers: `filter/maps.rs` reads them here. */
	__u32 acks_held;
	__u32 acks_passed;
	__u32 data_dropped;
	__u32 answered;
	/* The fixed host's data: its first sequence number, the one after its last, and what it last acknowledged. */
	__u32 start;
	__u32 end;
	__u32 heard_ack;
	/* The mobile host's last ACK, enough to repeat it. */
	__u32 ack;
	__u32 seq;
	__u32 ts_value;
	__u32 ts_echo;
	struct block sack[SACK_BLOCKS];
	__u32 duplicates;
	/* Segments that were resent an odd number of times. */
	__u32 copies[REMEMBERED];
	/* Sequence numbers after the FINs, by direction. */
	__u32 fins[2];
	__u16 heard_window;
	__u16 window;
	__u8 has_data;
	__u8 is_understood; /* some of the data that was seen has been acknowledged */
	__u8 has_timestamps;
	__u8 sack_count;
	__u8 copied; /* which of `copies` are in use, one bit each */
	__u8 next_copy;
	__u8 has_fin; /* one bit per direction */
	__u8 is_fin_acked;
};

static __always_inline __s32 distance(__u32 to, __u32 from)
{
	return (__s32)(to - from);
}

static __always_inline __u32 seq_len(const struct segment *segment)
{
	return segment->len + !!(segment->flags & FLAG_SYN) + !!(segment->flags & FLAG_FIN);
}

static __always_inline void watch_ending(struct flow *flow, const struct segment *segment, enum way way)
{
	__u8 this_way = 1 << way, other_way = 2 >> way;
	if ((segment->flags & FLAG_FIN) && !(flow->has_fin & this_way)) {
		flow->fins[way & 1] = segment->seq + seq_len(segment);
		flow->has_fin |= this_way;
	}
	if ((flow->has_fin & other_way) && (segment->flags & FLAG_ACK) &&
	    distance(segment->ack, flow->fins[!way]) >= 0)
		flow->is_fin_acked |= other_way;
}

/* Both sides have closed, and both know it. */
static __always_inline bool is_over(const struct flow *flow)
{
	return flow->is_fin_acked == 3;
}

/* RFC 2883 §4: returns whether the first block reports what has come twice. */
static __always_inline bool has_dsack(const struct segment *segment)
{
	const struct block *first = &segment->sack[0], *second = &segment->sack[1];
	if (!segment->sack_count)
		return false;
	if (distance(first->left, segment->ack) < 0)
		return true;
	return segment->sack_count > 1 && distance(first->left, second->left) >= 0 &&
	       distance(second->right, first->right) >= 0;
}

static __always_inline void keep_sack(struct flow *flow, const struct segment *segment)
{
	if (!(flow->sack_count | segment->sack_count))
		return;
	bool skipped = has_dsack(segment);
	flow->sack_count = segment->sack_count - skipped;
	for (int i = 0; i < SACK_BLOCKS; i++) {
		int from = i + skipped;
		if (from < SACK_BLOCKS && i < flow->sack_count)
			flow->sack[i] = segment->sack[from & (SACK_BLOCKS - 1)];
	}
}

static __always_inline void understand(struct flow *flow, const struct segment *segment)
{
	flow->is_understood = 1;
	flow->ack = segment->ack;
	flow->seq = segment->seq + seq_len(segment);
	flow->window = segment->window;
	flow->has_timestamps = segment->has_timestamps;
	flow->ts_value = segment->ts_value;
	flow->ts_echo = segment->ts_echo;
	keep_sack(flow, segment);
}

static __always_inline void hear_ack(struct flow *flow, const struct segment *segment)
{
	__u32 end = segment->seq + seq_len(segment);
	__s32 advance = distance(segment->ack, flow->ack);
	bool is_newer = distance(end, flow->seq) >= 0;
	/* RFC 9293 §3.10.7.4: an older segment does not set the window. */
	if (advance > 0 || (advance == 0 && is_newer))
		flow->window = segment->window;
	if (is_newer)
		flow->seq = end;
	if (advance >= 0)
		keep_sack(flow, segment);
	if (flow->has_timestamps && segment->has_timestamps) {
		if (distance(segment->ts_value, flow->ts_value) > 0)
			flow->ts_value = segment->ts_value;
		if (advance > 0)
			flow->ts_echo = segment->ts_echo;
	}
	if (advance > 0)
		flow->ack = segment->ack;
}

/* Paper 001 §VI: passes the duplicates whose number is nextDupAckToSend. */
static __always_inline enum verdict judge_duplicate(struct flow *flow, __u32 threshold)
{
	__u32 step = threshold / 3;
	flow->duplicates += 1;
	if (!step)
		return PASS;
	__u32 sent = (flow->duplicates - 1) / step;
	return flow->duplicates == (sent + 1) * step ? PASS : DROP;
}

/* The ACK filter (paper 001 §V.B.1 and Fig. 5). */
static __always_inline enum verdict judge_ack(struct flow *flow, const struct segment *segment, __u32 threshold)
{
	/* An ACK of what was not sent is not believed. */
	if (distance(segment->ack, flow->end) > 0)
		return PASS;
	if (!flow->is_understood) {
		if (distance(segment->ack, flow->start) > 0)
			understand(flow, segment);
		return PASS;
	}
	__s32 advance = distance(segment->ack, flow->ack);
	/* With SACK, a duplicate is an ACK that reports something new, whatever the window does (RFC 6675 §2). */
	bool is_window_update = segment->window != flow->window && !segment->sack_count;
	hear_ack(flow, segment);
	if (advance > 0) {
		flow->duplicates = 0;
		return PASS;
	}
	if (seq_len(segment))
		return PASS;
	if (advance < 0)
		return DROP;
	/* RFC 5681 §2: a duplicate has the same window, and there is outstanding data. */
	if (is_window_update || distance(flow->end, flow->ack) <= 0)
		return PASS;
	return judge_duplicate(flow, threshold);
}

/* Returns whether the segment tells the mobile host something new. */
static __always_inline bool hear_data(struct flow *flow, const struct segment *segment)
{
	__s32 advance = distance(segment->ack, flow->heard_ack);
	bool has_news = advance > 0 || (advance == 0 && segment->window != flow->heard_window);
	if (has_news) {
		flow->heard_ack = segment->ack;
		flow->heard_window = segment->window;
	}
	return has_news;
}

/* Paper 001 §VI, lstRetransWiredDataPkt: counts one more copy, and returns whether it is the second, fourth … */
static __always_inline bool is_second_copy(struct flow *flow, __u32 seq)
{
	for (int i = 0; i < REMEMBERED; i++) {
		if ((flow->copied & (1 << i)) && flow->copies[i] == seq) {
			flow->copied &= ~(1 << i);
			return true;
		}
	}
	__u8 at = flow->next_copy & (REMEMBERED - 1);
	flow->copies[at] = seq;
	flow->copied |= 1 << at;
	flow->next_copy = at + 1;
	return false;
}

/* The data filter (paper 001 §V.B.2 and Fig. 6). */
static __always_inline enum verdict judge_data(struct flow *flow, const struct segment *segment)
{
	__u32 end = segment->seq + seq_len(segment);
	if (distance(end, flow->is_understood ? flow->ack : flow->start) > FARTHEST)
		return PASS;
	bool has_news = hear_data(flow, segment) || segment->is_marked || (segment->flags & FLAG_CWR);
	/* RFC 1122 §4.2.3.6: SEG.SEQ = SND.NXT − 1, with or without an octet. */
	bool is_keep_alive = segment->len == 1 && end == flow->end;
	if (distance(end, flow->end) > 0)
		flow->end = end;
	bool is_acked = flow->is_understood && distance(end, flow->ack) <= 0;
	bool is_data = segment->len > 0 && !(segment->flags & FLAG_FIN);
	if (!is_data || !is_acked || has_news || is_keep_alive)
		return PASS;
	return is_second_copy(flow, segment->seq) ? ANSWER : DROP;
}

static __always_inline void begin(struct flow *flow, const struct segment *first)
{
	flow->has_data = 1;
	flow->start = flow->end = first->seq;
	flow->heard_ack = first->ack;
	flow->heard_window = first->window;
}

static __always_inline enum verdict judge(struct flow *flow, const struct segment *segment, enum way way,
					  __u32 threshold)
{
	watch_ending(flow, segment, way);
	if (way == FORWARD)
		return judge_data(flow, segment);
	return segment->flags & FLAG_ACK ? judge_ack(flow, segment, threshold) : PASS;
}

#endif
