/* The filter's rules for a host's compiler, and for one flow. */
#define __always_inline inline
#include "filter/rules.h"
#include <string.h>

/* What the tc programs do with maps, for one flow that is known or not. */
int filter_judge(struct flow *flow, const struct segment *segment, int way, __u32 threshold)
{
	if (segment->flags & (FLAG_SYN | FLAG_RST)) {
		memset(flow, 0, sizeof(*flow));
		return PASS;
	}
	if (!flow->has_data) {
		if (way != FORWARD || !segment->len)
			return PASS;
		begin(flow, segment);
	}
	return judge(flow, segment, way, threshold);
}

int filter_is_over(const struct flow *flow)
{
	return is_over(flow);
}

unsigned long filter_flow_size(void)
{
	return sizeof(struct flow);
}

/* What an answer is made of. */
void filter_last(const struct flow *flow, struct segment *last)
{
	memset(last, 0, sizeof(*last));
	last->seq = flow->seq;
	last->ack = flow->ack;
	last->window = flow->window;
	last->flags = FLAG_ACK;
	last->has_timestamps = flow->has_timestamps;
	last->ts_value = flow->ts_value;
	last->ts_echo = flow->ts_echo;
	last->sack_count = flow->sack_count;
	memcpy(last->sack, flow->sack, flow->sack_count * sizeof(last->sack[0]));
}
