/* Makes an ACK of the segment that is dropped: it repeats the mobile host's last one. */
#ifndef AIRTCP_FILTER_ANSWER_H
#define AIRTCP_FILTER_ANSWER_H

#include "filter/packet.h"

/* Bytes of a TCP header up to the end of its checksum. */
#define CHECKSUM_END 18
#define EINVAL 22
#define HOP_LIMIT 64
#define HARDWARE_ADDRESS_LEN 6

/* Mark of an ACK that was made here, so that the ACK filter lets it pass: "AIRT". */
#define OWN_MARK 0x41495254

struct tcp_header {
	struct tcp fixed;
	__u32 options[OPTIONS_MAX / 4];
};

static __always_inline __u16 folded(__s64 sum)
{
	__u32 folded = ((__u32)sum & 0xffff) + ((__u32)sum >> 16);
	return (folded & 0xffff) + (folded >> 16);
}

/* Returns its length in bytes. */
static __always_inline __u32 write_tcp(struct tcp_header *to, const struct key *key, const struct flow *flow)
{
	__u32 word = 0;
	if (flow->has_timestamps) {
		to->options[0] = bpf_htonl(TIMESTAMPS);
		to->options[1] = bpf_htonl(flow->ts_value);
		to->options[2] = bpf_htonl(flow->ts_echo);
		word = TIMESTAMPS_LEN / 4;
	}
	/* Beside timestamps, there is room for three blocks. */
	__u32 count = flow->sack_count > SACK_BLOCKS - flow->has_timestamps ? SACK_BLOCKS - flow->has_timestamps :
									      flow->sack_count;
	if (count)
		to->options[word++] = bpf_htonl(SACK | (2 + 8 * count));
	for (__u32 i = 0; i < SACK_BLOCKS; i++) {
		if (i >= count || word + 1 >= OPTIONS_MAX / 4)
			break;
		to->options[word++] = bpf_htonl(flow->sack[i].left);
		to->options[word++] = bpf_htonl(flow->sack[i].right);
	}
	__u32 len = TCP_LEN + 4 * word;
	to->fixed.source = key->mobile_port;
	to->fixed.destination = key->fixed_port;
	to->fixed.seq = bpf_htonl(flow->seq);
	to->fixed.ack = bpf_htonl(flow->ack);
	to->fixed.data_offset = (len / 4) << 4;
	to->fixed.flags = FLAG_ACK;
	to->fixed.window = bpf_htons(flow->window);
	return len;
}

/* RFC 9293 §3.1, RFC 8200 §8.1: the sum of addresses, protocol and length. */
static __always_inline __s64 pseudo_header(struct key *key, __u32 ip_len, __u32 tcp_len)
{
	__u32 rest[2] = { bpf_htonl(tcp_len), bpf_htonl(PROTOCOL_TCP) };
	__s64 sum = bpf_csum_diff(NULL, 0, rest, sizeof(rest), 0);
	if (ip_len == IPV4_LEN) {
		sum = bpf_csum_diff(NULL, 0, &key->fixed[3], 4, sum);
		return bpf_csum_diff(NULL, 0, &key->mobile[3], 4, sum);
	}
	sum = bpf_csum_diff(NULL, 0, key->fixed, sizeof(key->fixed), sum);
	return bpf_csum_diff(NULL, 0, key->mobile, sizeof(key->mobile), sum);
}

static __always_inline long write_ip(struct __sk_buff *skb, const struct key *key, __u32 ip_len, __u32 tcp_len)
{
	if (ip_len == IPV4_LEN) {
		struct ipv4 ip = {
			.version_len = 0x45,
			.total_len = bpf_htons(IPV4_LEN + tcp_len),
			.fragment = bpf_htons(0x4000),
			.ttl = HOP_LIMIT,
			.protocol = PROTOCOL_TCP,
			.source = key->mobile[3],
			.destination = key->fixed[3],
		};
		ip.checksum = ~folded(bpf_csum_diff(NULL, 0, (__u32 *)&ip, sizeof(ip), 0));
		return bpf_skb_store_bytes(skb, link_len, &ip, sizeof(ip), 0);
	}
	struct ipv6 ip = {
		.first = bpf_htonl(0x60000000),
		.payload_len = bpf_htons(tcp_len),
		.next = PROTOCOL_TCP,
		.hop_limit = HOP_LIMIT,
	};
	__builtin_memcpy(ip.source, key->mobile, sizeof(ip.source));
	__builtin_memcpy(ip.destination, key->fixed, sizeof(ip.destination));
	return bpf_skb_store_bytes(skb, link_len, &ip, sizeof(ip), 0);
}

static __always_inline long swap_hardware_addresses(struct __sk_buff *skb)
{
	__u8 both[2 * HARDWARE_ADDRESS_LEN];
	if (!link_len)
		return 0;
	if (bpf_skb_load_bytes(skb, 0, both, sizeof(both)))
		return -1;
	return bpf_skb_store_bytes(skb, 0, both + HARDWARE_ADDRESS_LEN, HARDWARE_ADDRESS_LEN, 0) ||
	       bpf_skb_store_bytes(skb, HARDWARE_ADDRESS_LEN, both, HARDWARE_ADDRESS_LEN, 0);
}

/* Returns whether whoever sends the packet is to add the sum of everything but the pseudo header (CHECKSUM_PARTIAL);
 * negative if it cannot be told. The kernel does not tell programs, but it never cuts such a packet short of its
 * checksum. Any other one is cut: all of it will be written anew. */
static __always_inline long is_partial(struct __sk_buff *skb, __u32 ip_len)
{
	long error = bpf_skb_change_tail(skb, link_len + ip_len + CHECKSUM_END - 1, 0);
	return error == -EINVAL ? 1 : error;
}

/* Turns the segment into the ACK. Unless it returns 0, the segment can only be dropped. */
static __always_inline long become_answer(struct __sk_buff *skb, struct packet *packet, const struct flow *flow)
{
	long partial = is_partial(skb, packet->ip_len);
	if (partial < 0)
		return -1;
	struct tcp_header tcp = {};
	__u32 len = write_tcp(&tcp, &packet->key, flow);
	/* For the verifier, which does not follow the sum. */
	if (len < TCP_LEN || len > sizeof(tcp))
		return -1;
	__s64 sum = pseudo_header(&packet->key, packet->ip_len, len);
	tcp.fixed.checksum = partial ? folded(sum) : ~folded(bpf_csum_diff(NULL, 0, (__u32 *)&tcp, sizeof(tcp), sum));
	if (bpf_skb_change_tail(skb, link_len + packet->ip_len + len, 0))
		return -1;
	if (bpf_skb_store_bytes(skb, link_len + packet->ip_len, &tcp, len, 0) ||
	    write_ip(skb, &packet->key, packet->ip_len, len) || swap_hardware_addresses(skb))
		return -1;
	skb->mark = OWN_MARK;
	return 0;
}

#endif
