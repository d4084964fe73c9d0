// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Thread buffers under fuzz: threads write arbitrary bytes into their thread buffers while
 * the module reads them.
 */
#include <sys/wait.h>

#include "fuzz.h"

#define THREADBUFS 6

static __thread struct tb {
	struct ct_threadbuf_head *head;
	uint64_t length, hole; /* hole: a page that is gone, see unmap_rest() */
	uint32_t subbuf_size, subbufs;
	uint32_t broken; /* not all of it is there or may be written */
} threadbufs[THREADBUFS];

void threadbuf_make(struct ct_threadbuf_new *arg)
{
	static const uint32_t odd[] = { 0, 1, 3, 4095, 1u << 21, 1u << 31 };

	arg->subbuf_size = CT_THREADBUF_SUBBUF_MIN << below(4);
	arg->subbufs = 2u << below(4);
	arg->previous = below(3) ? CT_THREADBUF_NONE : below(50);
	if (!below(10))
		arg->subbuf_size = below(2) ? CT_THREADBUF_SUBBUF_MAX : odd[below(6)];
	if (!below(10))
		arg->subbufs = below(2) ? CT_THREADBUF_SUBBUFS_MAX : odd[below(6)];
}

static void drop(struct tb *l)
{
	if (l->head)
		unmap_rest(l->head, l->length, l->hole);
	l->head = NULL;
}

void threadbuf_keep(const struct ct_threadbuf_new *arg)
{
	struct tb *l = &threadbufs[below(THREADBUFS)];

	drop(l);
	*l = (struct tb){ (void *)(uintptr_t)arg->address,
			  arg->length,
			  arg->length,
			  arg->subbuf_size,
			  arg->subbufs,
			  0 };
	tally->threadbufs++;
}

/* A valid packet, except for random changes. */
static void write_packet(struct tb *l, const uint16_t *classes, const uint16_t *sizes, int n)
{
	uint64_t number = l->head->produced;
	struct ct_packet *p = (void *)((uint8_t *)l->head + CT_THREADBUF_DATA +
				       (number & (l->subbufs - 1)) * l->subbuf_size);
	uint64_t at = CT_PACKET_HEAD;
	struct ct_thread_record *r;
	int i, k;

	/* More than there are sub-buffers: after that the module ignores the thread's values. */
	if (number - __atomic_load_n(&l->head->consumed, __ATOMIC_ACQUIRE) >= l->subbufs &&
	    below(1000))
		return;
	memset(p, 0, sizeof(*p));
	p->ts_begin = below(8) ? now() : odd_number();
	p->op_base = rnd();
	p->content_size = at * 8;
	p->magic = CT_MAGIC;
	l->head->produced = number + 1;
	for (i = below(20); i > 0; i--) {
		k = below(n);
		if (at + sizeof(*r) + sizes[k] > l->subbuf_size)
			break;
		r = (void *)((uint8_t *)p + at);
		*r = (struct ct_thread_record){
			.stamp = CT_STAMP(below(8) ? now() : odd_number(), below(8) ? classes[k] :
									   below(2) ? below(12) :
										      rnd()),
			.op = i,
			.depth = below(256),
			.flags = below(256),
			.duration = below(4) ? 100 : odd_number(),
		};
		memset(r + 1, rnd(), sizes[k]);
		at += sizeof(*r) + sizes[k];
		__atomic_store_n(&p->content_size, at * 8, __ATOMIC_RELEASE);
	}
}

static void scribble(struct tb *l)
{
	uint64_t *words = (void *)l->head;
	int i;

	for (i = below(200); i > 0; i--)
		words[below(3) ? below(l->length / 8) : PAGE / 8 * below(3) + below(16)] =
			below(3) ? rnd() :
			below(2) ? odd_number() :
				   CT_STAMP(now(), below(65536));
	l->head->produced = l->head->consumed + (below(200) ? below(l->subbufs + 1) : odd_number());
}

/* Changes the mapping itself. */
static void bend(struct tb *l)
{
	uint8_t *p = (void *)l->head;
	uint64_t pages = l->length / PAGE, at = below(pages) * PAGE;
	pid_t pid;
	void *q;

	switch (below(7)) {
	case 0:
		mprotect(p, l->length, below(8));
		l->broken = 1;
		break;
	case 1:
		l->hole = at;
		munmap(p + at, PAGE);
		l->broken = 1;
		break;
	case 2:
		/* To another address, larger or smaller; the mapping never grows. */
		q = mremap(p, l->length, PAGE * (1 + below(2 * pages)), MREMAP_MAYMOVE);
		l->broken = 1;
		if (q != MAP_FAILED)
			l->head = NULL;
		break;
	case 3:
		/* A second mapping beside the first, if that is allowed. */
		mremap(p, 0, l->length, MREMAP_MAYMOVE);
		break;
	case 4:
		/* The pages that are dropped must stay away. */
		madvise(p + at, PAGE, below(2) ? MADV_DONTNEED : MADV_DOFORK);
		l->broken = 1;
		break;
	case 5:
		pid = fork();
		if (!pid) {
			threadbuf_drain(-1);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		break;
	case 6:
		drop(l);
	}
}

void fuzz_threadbuf(const uint16_t *classes, const uint16_t *sizes, int n)
{
	struct tb *l = &threadbufs[below(THREADBUFS)];
	int turn;

	if (!l->head)
		return;
	if (l->broken || !below(50)) {
		if (l->broken)
			drop(l);
		else
			bend(l);
		return;
	}
	for (turn = below(16); turn > 0; turn--) {
		if (below(4))
			write_packet(l, classes, sizes, n);
		else
			scribble(l);
	}
}

uint64_t threadbuf_drain(int fd)
{
	static __thread uint8_t buf[CT_THREADBUF_SUBBUF_MAX];
	struct ct_threadbuf_read read = {
		.size = sizeof(read), .buf = (uintptr_t)buf, .len = sizeof(buf), .flags = below(2)
	};
	const struct ct_packet *p = (void *)buf;
	uint64_t n = 0;

	while (n < 1000 && !call(fd, CT_IOC_THREADBUF_READ, &read)) {
		if (read.what == CT_THREADBUF_PACKET &&
		    (p->magic != CT_MAGIC || p->content_size > p->packet_size ||
		     p->packet_size / 8 != read.bytes || p->ts_end < p->ts_begin ||
		     p->pid != read.pid))
			return ~0ull;
		n++;
	}
	return n;
}
