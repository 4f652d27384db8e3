/* The rules of header-first dropping for a host's compiler. */
#define __always_inline inline
#include "header_first/rules.h"

int header_first_judge(struct fifo *fifo, const struct arrival *arrival, const struct limits *limits)
{
	return judge(fifo, arrival, limits);
}

unsigned long header_first_size(void)
{
	return sizeof(struct fifo);
}
