/* 128-bit products, and numbers in Q32. */
#ifndef AIRTCP_CONCORD_WIDE_H
#define AIRTCP_CONCORD_WIDE_H

#include "../window.h"

#define ONE_Q32 (1ULL << 32)
#define WINDOW_MAX_Q32 ((__u64)WINDOW_MAX << 32)

/* No value. It is larger than any value. */
#define NONE (~0ULL)

/* One digit to the base 2^32 of (high, next) / whole, where the highest bit of `whole` is set and high < whole.
 * Leaves the remainder in `high` (Knuth, The Art of Computer Programming 2, §4.3.1, algorithm D). */
static inline __u64 divide_digit(__u64 *high, __u64 next, __u64 whole)
{
	__u64 top = whole >> 32, digit = *high / top, rest = *high % top;

	for (int correction = 0; correction < 2; correction++) {
		if (rest < ONE_Q32 && (digit >= ONE_Q32 || digit * (__u32)whole > ((rest << 32) | next))) {
			digit--;
			rest += top;
		}
	}
	*high = ((*high << 32) | next) - digit * whole;
	return digit;
}

/* a * b / whole, rounded down; NONE if that does not fit. It is not static, so that the kernel verifies it
 * once, and not at every call. */
__attribute__((noinline, weak)) __u64 mul_div(__u64 a, __u64 b, __u64 whole)
{
	__u64 low = (a & 0xffffffff) * (b & 0xffffffff);
	__u64 middle = (a >> 32) * (b & 0xffffffff) + (low >> 32);
	__u64 other = (a & 0xffffffff) * (b >> 32) + (middle & 0xffffffff);
	__u64 high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
	__u64 first;

	low = (other << 32) | (low & 0xffffffff);
	if (high >= whole)
		return NONE;
	for (int bits = 32; bits; bits >>= 1) {
		if (whole >> (64 - bits))
			continue;
		whole <<= bits;
		high = (high << bits) | (low >> (64 - bits));
		low <<= bits;
	}
	first = divide_digit(&high, low >> 32, whole);
	return (first << 32) | divide_digit(&high, low & 0xffffffff, whole);
}

/* Beyond the largest number, the sum is that number. */
static inline __u64 add_bounded(__u64 a, __u64 b)
{
	return a + b < a ? NONE : a + b;
}

static inline __u64 less_or_none(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

#endif
