// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counting what nobody could record; see lost.h and struct ct_lost_page.
 *
 * A thread that gets no packet (the disk is full, the program has given up its rights) has
 * no head to count in.  So a page is made while there is room, and mapped: from then on
 * to count takes neither, and no system call.  A child inherits the mapping, and who is
 * killed leaves the count behind.
 */
#include "tracedir/lost.h"

#include "tracedir/preallocate.h"

#define PAGE	4096

static struct ct_lost_page *page;	/* NULL: there is none */

void ct_lost_open(const char *dir)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	struct ct_lost_page *p;
	int fd;

	if (page)
		return;
	ct_put(&path, dir);
	ct_put(&path, "/.lost-");
	/* Each user's own: who can cut it short ends all that have it mapped. */
	ct_put_u(&path, (u64)ct_sys0(SYS_geteuid));
	fd = ct_open(name, O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
	if (fd < 0)
		return;
	/* One that is there needs no room, and there may be none by now. */
	p = ct_sys3(SYS_lseek, fd, 0, 2 /* SEEK_END */) == PAGE ?
	    ct_map(PAGE, MAP_SHARED, fd, 0) : ct_preallocate_map(fd, 0, PAGE);
	ct_close(fd);
	if (!p)
		return;
	/* New, or its maker died in here. */
	if (!p->magic) {
		p->abi = CT_ABI_VERSION;
		barrier();
		p->magic = CT_MAGIC;
	}
	if (p->magic == CT_MAGIC && p->abi == CT_ABI_VERSION)
		page = p;
	else
		ct_unmap(p, PAGE);
}

bool ct_lost_add(void)
{
	if (!page)
		return false;
	__atomic_fetch_add(&page->lost, 1, __ATOMIC_RELAXED);
	return true;
}
