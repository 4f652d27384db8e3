/* Directs ACKs that answer a SYN cookie to the proxy's listener (RFC 4987 §3.6). The listener keeps nothing of such a
 * handshake, so that no socket with the connection's addresses exists by which the packet could be recognised. */
#include "kernel.h"
#include "filter/packet.h"

char LICENSE[] SEC("license") = "GPL";

/* The next program decides. */
#define NEXT (-1)

/* Ports of the listeners at loopback, in network order; 0 if there is none. Set before the program is loaded. */
const volatile __u16 port_v4 = 0;
const volatile __u16 port_v6 = 0;

static __always_inline bool has_socket(struct __sk_buff *skb, struct bpf_sock_tuple *tuple, __u32 tuple_len)
{
	struct bpf_sock *known = bpf_skc_lookup_tcp(skb, tuple, tuple_len, BPF_F_CURRENT_NETNS, 0);
	if (known)
		bpf_sk_release(known);
	return known;
}

/* `at_listener` has the listener's address in place of the packet's destination. Asks the kernel whether it has sent this
 * cookie; unless it has sent some of late, it answers at once. What a socket is there for goes to that by itself: data
 * that follows the ACK brings the cookie back, too. */
static __always_inline void direct(struct __sk_buff *skb, struct bpf_sock_tuple *at_listener,
				   struct bpf_sock_tuple *tuple, __u32 tuple_len, void *ip, __u32 ip_len, struct tcp *tcp)
{
	struct bpf_sock *listener = bpf_sk_lookup_tcp(skb, at_listener, tuple_len, BPF_F_CURRENT_NETNS, 0);
	if (!listener)
		return;
	if (listener->state == BPF_TCP_LISTEN && !bpf_tcp_check_syncookie(listener, ip, ip_len, (void *)tcp, TCP_LEN) &&
	    !has_socket(skb, tuple, tuple_len))
		bpf_sk_assign(skb, listener, 0);
	bpf_sk_release(listener);
}

/* Only an ACK without SYN and RST completes a handshake (RFC 9293 §3.10.7.4). */
static __always_inline struct tcp *read_ack(struct __sk_buff *skb, __u32 offset)
{
	struct tcp *tcp = at(skb, offset, TCP_LEN);
	return tcp && (tcp->flags & (FLAG_ACK | FLAG_SYN | FLAG_RST)) == FLAG_ACK ? tcp : NULL;
}

SEC("tcx/ingress")
int cookies(struct __sk_buff *skb)
{
	struct bpf_sock_tuple tuple = {}, at_listener = {};
	if (port_v4 && skb->protocol == bpf_htons(ETHERTYPE_IPV4) && reach(skb, link_len + IPV4_LEN + TCP_LEN)) {
		struct ipv4 *ip = at(skb, link_len, IPV4_LEN);
		struct tcp *tcp = read_ack(skb, link_len + IPV4_LEN);
		if (!ip || !tcp || ip->version_len != 0x45 || ip->protocol != PROTOCOL_TCP ||
		    (ip->fragment & bpf_htons(FRAGMENT)))
			return NEXT;
		at_listener.ipv4.saddr = tuple.ipv4.saddr = ip->source;
		at_listener.ipv4.sport = tuple.ipv4.sport = tcp->source;
		tuple.ipv4.daddr = ip->destination;
		tuple.ipv4.dport = tcp->destination;
		at_listener.ipv4.daddr = bpf_htonl(0x7f000001);
		at_listener.ipv4.dport = port_v4;
		direct(skb, &at_listener, &tuple, sizeof(tuple.ipv4), ip, IPV4_LEN, tcp);
	} else if (port_v6 && skb->protocol == bpf_htons(ETHERTYPE_IPV6) && reach(skb, link_len + IPV6_LEN + TCP_LEN)) {
		struct ipv6 *ip = at(skb, link_len, IPV6_LEN);
		struct tcp *tcp = read_ack(skb, link_len + IPV6_LEN);
		if (!ip || !tcp || ip->next != PROTOCOL_TCP)
			return NEXT;
		__builtin_memcpy(tuple.ipv6.saddr, ip->source, sizeof(ip->source));
		__builtin_memcpy(tuple.ipv6.daddr, ip->destination, sizeof(ip->destination));
		tuple.ipv6.sport = tcp->source;
		tuple.ipv6.dport = tcp->destination;
		__builtin_memcpy(at_listener.ipv6.saddr, ip->source, sizeof(ip->source));
		at_listener.ipv6.daddr[3] = bpf_htonl(1);
		at_listener.ipv6.sport = tcp->source;
		at_listener.ipv6.dport = port_v6;
		direct(skb, &at_listener, &tuple, sizeof(tuple.ipv6), ip, IPV6_LEN, tcp);
	}
	return NEXT;
}
