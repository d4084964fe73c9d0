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

#include <sys/stat.h>

#include "base/process.h"
#include "tracedir/preallocate.h"

#define PAGE	4096

static struct ct_lost_page *page;	/* NULL: there is none */
/* Of the recording that was left last: memory, for who is counting just now, until the next one takes its place. */
static struct ct_lost_page *left;

/*
 * Each user has a file of its own, as who can cut a file short ends all that have it
 * mapped.  Several processes may make it at once, so its bytes are appended: none
 * overwrites or cuts off what another one has mapped.
 */
static struct ct_lost_page *map_page(int fd, u64 user)
{
	struct stat st;

	if (ct_sys2(SYS_fstat, fd, &st) < 0 || st.st_uid != user || !S_ISREG(st.st_mode))
		return NULL;
	if (st.st_size < PAGE && ct_preallocate_append(fd, PAGE) != PAGE)
		return NULL;
	return ct_map(PAGE, MAP_SHARED, fd, 0);
}

void ct_lost_open(const char *dir)
{
	char name[2112];
	struct ct_text path = { name, sizeof(name), 0 };
	u64 user = (u64)ct_sys0(SYS_geteuid);
	struct ct_lost_page *p;
	int fd;

	if (page)
		return;
	ct_put(&path, dir);
	ct_put(&path, "/.lost-");
	ct_put_u(&path, user);
	fd = ct_open(name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (fd < 0)
		return;
	p = map_page(fd, user);
	ct_close(fd);
	if (!p)
		return;
	/* New, or its maker died in here. */
	if (!p->magic) {
		p->abi = CT_ABI_VERSION;
		barrier();
		p->magic = CT_MAGIC;
	}
	if (p->magic != CT_MAGIC || p->abi != CT_ABI_VERSION) {
		ct_unmap(p, PAGE);
		return;
	}
	if (left)
		p = ct_map_move(p, left, PAGE);
	ct_store(&page, p);
	__atomic_fetch_add(&p->lost, ct_lost_take(), __ATOMIC_RELAXED);
}

void ct_lost_forget(void)
{
	if (!page)
		return;
	left = page;
	ct_store(&page, NULL);
	/* Who has the file mapped records. */
	ct_map_over(left, PAGE, MAP_FIXED);
}

void ct_lost_add(void)
{
	ct_lost_add_many(1);
}

void ct_lost_add_many(u64 records)
{
	struct ct_lost_page *p = ct_load(&page);
	__u64 *lost = p ? &p->lost : (__u64 *)&ct_process->lost;

	__atomic_fetch_add(lost, records, __ATOMIC_RELAXED);
}

u64 ct_lost_take(void)
{
	return ct_load(&ct_process->lost) ?
	       __atomic_exchange_n(&ct_process->lost, 0, __ATOMIC_RELAXED) : 0;
}
