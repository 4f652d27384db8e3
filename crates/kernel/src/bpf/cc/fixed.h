/* Fixed-point numbers for what the Rust controllers hold in floating point. A name that ends in _qN is in units
 * of 2^-N. */
#ifndef AIRTCP_FIXED_H
#define AIRTCP_FIXED_H

#include <linux/types.h>

#define ONE_Q16 (1ULL << 16)

#define US_PER_S 1000000ULL

static inline __u64 smaller(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

static inline __u64 larger(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* amount * part / whole, rounded down. The product cannot overflow: the result fits if amount / whole * part
 * does. */
static inline __u64 share(__u64 amount, __u32 part, __u32 whole)
{
	return amount / whole * part + amount % whole * part / whole;
}

/* Returns whether sequence number `a` is before `b`. They may be half of the number space apart
 * (RFC 9293 §3.4). */
static inline int is_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

#endif
