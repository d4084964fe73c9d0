// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are charged to a memory cgroup.
 * 1: they have a mark, with which they cannot be mapped into a program (until 5.10)
 * 2: they can
 */
#include <linux/mm.h>
#include <linux/page-flags.h>

int conftest(struct page *page);
int conftest(struct page *page)
{
#if CT_FORM == 1
	return PageKmemcg(page);
#elif CT_FORM == 2
	return page_count(page);
#endif
}
