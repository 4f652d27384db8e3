/* TCP packets as tc programs get them. Each access is checked: what is truncated, fragmented or laid out
 * otherwise is ignored. */
#ifndef AIRTCP_FILTER_PACKET_H
#define AIRTCP_FILTER_PACKET_H

#include "filter/intf.h"
#include "filter/rules.h"
#include <bpf/bpf_endian.h>

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTOCOL_TCP 6
#define IPV4_LEN 20
#define IPV6_LEN 40
#define TCP_LEN 20
#define OPTIONS_MAX 40
/* More fragments, or an offset. */
#define FRAGMENT 0x3fff

/* NOP, NOP, timestamps, and NOP, NOP, SACK: the layout of all hosts that the paper or RFC 7323 appendix A
 * knows. */
#define TIMESTAMPS 0x0101080a
#define TIMESTAMPS_LEN 12
#define SACK 0x01010500
#define SACK_LEN(blocks) (4 + 8 * (blocks))

struct ipv4 {
	__u8 version_len;
	__u8 tos;
	__u16 total_len;
	__u16 id;
	__u16 fragment;
	__u8 ttl;
	__u8 protocol;
	__u16 checksum;
	__u32 source;
	__u32 destination;
};

struct ipv6 {
	__u32 first;
	__u16 payload_len;
	__u8 next;
	__u8 hop_limit;
	__u32 source[4];
	__u32 destination[4];
};

struct tcp {
	__u16 source;
	__u16 destination;
	__u32 seq;
	__u32 ack;
	__u8 data_offset;
	__u8 flags;
	__u16 window;
	__u16 checksum;
	__u16 urgent;
};

/* Bytes before the IP header: Ethernet's, or none. Set before the programs are loaded. */
const volatile __u32 link_len = 14;

struct packet {
	struct key key;
	struct segment segment;
	__u32 ip_len;
};

/* Makes `len` bytes of the packet accessible. */
static __always_inline bool reach(struct __sk_buff *skb, __u32 len)
{
	return (void *)(long)skb->data + len <= (void *)(long)skb->data_end || !bpf_skb_pull_data(skb, len);
}

static __always_inline void *at(struct __sk_buff *skb, __u32 offset, __u32 len)
{
	void *place = (void *)(long)skb->data + offset;
	return place + len <= (void *)(long)skb->data_end ? place : NULL;
}

static __always_inline void set_hosts(struct key *key, enum way way, const __u32 *source, const __u32 *destination)
{
	__builtin_memcpy(key->fixed, way == FORWARD ? source : destination, sizeof(key->fixed));
	__builtin_memcpy(key->mobile, way == FORWARD ? destination : source, sizeof(key->mobile));
}

/* Reads the IP header. Returns the packet's length from there on; 0 to ignore it. */
static __always_inline __u32 read_ip(struct __sk_buff *skb, struct packet *packet, enum way way)
{
	if (skb->protocol == bpf_htons(ETHERTYPE_IPV4)) {
		struct ipv4 *ip = reach(skb, link_len + IPV4_LEN + TCP_LEN) ? at(skb, link_len, IPV4_LEN) : NULL;
		if (!ip || ip->version_len != 0x45 || ip->protocol != PROTOCOL_TCP || (ip->fragment & bpf_htons(FRAGMENT)))
			return 0;
		__u32 source[4] = { 0, 0, bpf_htonl(0xffff), ip->source };
		__u32 destination[4] = { 0, 0, bpf_htonl(0xffff), ip->destination };
		set_hosts(&packet->key, way, source, destination);
		packet->ip_len = IPV4_LEN;
		packet->segment.is_marked = (ip->tos & 3) == 3;
		return ip->total_len ? bpf_ntohs(ip->total_len) : skb->len - link_len;
	}
	if (skb->protocol == bpf_htons(ETHERTYPE_IPV6)) {
		struct ipv6 *ip = reach(skb, link_len + IPV6_LEN + TCP_LEN) ? at(skb, link_len, IPV6_LEN) : NULL;
		if (!ip || (ip->first & bpf_htonl(0xf0000000)) != bpf_htonl(0x60000000) || ip->next != PROTOCOL_TCP)
			return 0;
		set_hosts(&packet->key, way, ip->source, ip->destination);
		packet->ip_len = IPV6_LEN;
		packet->segment.is_marked = (ip->first & bpf_htonl(0x300000)) == bpf_htonl(0x300000);
		return ip->payload_len ? IPV6_LEN + bpf_ntohs(ip->payload_len) : skb->len - link_len;
	}
	return 0;
}

static __always_inline bool read_sack(struct __sk_buff *skb, struct segment *segment, __u32 offset, __u32 left)
{
	__u32 *word = at(skb, offset, 4);
	if (!word || (bpf_ntohl(*word) & 0xffffff00) != SACK)
		return false;
	__u32 count = ((bpf_ntohl(*word) & 0xff) - 2) / 8;
	if (!count || count > SACK_BLOCKS || SACK_LEN(count) > left)
		return false;
	for (__u32 i = 0; i < SACK_BLOCKS; i++) {
		struct block *block = i < count ? at(skb, offset + 4 + 8 * i, 8) : NULL;
		if (!block)
			break;
		segment->sack[i].left = bpf_ntohl(block->left);
		segment->sack[i].right = bpf_ntohl(block->right);
		segment->sack_count = i + 1;
	}
	return segment->sack_count == count;
}

/* Reads the options of the mobile host's ACK, which take `left` bytes. Returns false if their layout is not
 * understood. */
static __always_inline bool read_options(struct __sk_buff *skb, struct segment *segment, __u32 offset, __u32 left)
{
	if (!left)
		return true;
	__u32 *word = left >= TIMESTAMPS_LEN ? at(skb, offset, TIMESTAMPS_LEN) : NULL;
	if (!word)
		return false;
	if (bpf_ntohl(word[0]) == TIMESTAMPS) {
		segment->has_timestamps = 1;
		segment->ts_value = bpf_ntohl(word[1]);
		segment->ts_echo = bpf_ntohl(word[2]);
		if (left == TIMESTAMPS_LEN)
			return true;
		return read_sack(skb, segment, offset + TIMESTAMPS_LEN, left - TIMESTAMPS_LEN);
	}
	return read_sack(skb, segment, offset, left);
}

/* Reads a packet. Returns false to ignore it. */
static __always_inline bool read_packet(struct __sk_buff *skb, struct packet *packet, enum way way)
{
	__u32 len = read_ip(skb, packet, way);
	__u32 offset = link_len + packet->ip_len;
	struct tcp *tcp = len ? at(skb, offset, TCP_LEN) : NULL;
	if (!tcp)
		return false;
	__u32 header_len = (tcp->data_offset >> 4) * 4;
	if (header_len < TCP_LEN || packet->ip_len + header_len > len || link_len + len > skb->len)
		return false;
	struct segment *segment = &packet->segment;
	segment->seq = bpf_ntohl(tcp->seq);
	segment->ack = bpf_ntohl(tcp->ack);
	segment->window = bpf_ntohs(tcp->window);
	segment->flags = tcp->flags;
	segment->len = len - packet->ip_len - header_len;
	packet->key.fixed_port = way == FORWARD ? tcp->source : tcp->destination;
	packet->key.mobile_port = way == FORWARD ? tcp->destination : tcp->source;
	if (way == FORWARD || (segment->flags & (FLAG_SYN | FLAG_RST)))
		return true;
	return reach(skb, offset + header_len) && read_options(skb, segment, offset + TCP_LEN, header_len - TCP_LEN);
}

#endif
