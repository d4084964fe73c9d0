// SPDX-License-Identifier: GPL-2.0
/*
 * Compare and exchange on one CPU.
 * 1: local64_try_cmpxchg() (6.6)	2: local64_cmpxchg()
 */
#include <asm/local64.h>

bool conftest(local64_t *l, s64 old);
bool conftest(local64_t *l, s64 old)
{
#if CT_FORM == 1
	return local64_try_cmpxchg(l, &old, old + 1);
#elif CT_FORM == 2
	return local64_cmpxchg(l, old, old + 1) == old;
#endif
}
