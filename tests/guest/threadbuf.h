/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For tests of thread buffers: a thread that writes one according to section 6 of
 * cudatrace.h, and an owner that reads it.
 */
#ifndef CT_TEST_THREADBUF_H
#define CT_TEST_THREADBUF_H

#include "clock_segment.h"

static struct session s; /* whose owner reads */
static int producer; /* the file that asks for thread buffers */
static uint16_t class; /* define()'s */
static _Alignas(8) uint8_t out[CT_THREADBUF_SUBBUF_MAX];

/* ------------------------------------------------------------ the thread --- */
static struct ct_threadbuf_head *threadbuf_new(uint32_t subbuf_size, uint32_t subbufs,
					       uint32_t previous, int *err)
{
	struct ct_threadbuf_new arg = { .size = sizeof(arg),
					.subbuf_size = subbuf_size,
					.subbufs = subbufs,
					.previous = previous };

	*err = call(producer, CT_IOC_THREADBUF, &arg);
	return *err ? NULL : (void *)(uintptr_t)arg.address;
}

static struct ct_packet *subbuf_of(struct ct_threadbuf_head *h, uint64_t n)
{
	return (void *)((uint8_t *)h + CT_THREADBUF_DATA + n % h->subbufs * h->subbuf_size);
}

static struct ct_inflight_page *open_of(struct ct_threadbuf_head *h)
{
	return (void *)((uint8_t *)h + PAGE);
}

static void drop(struct ct_threadbuf_head *h)
{
	munmap(h, CT_THREADBUF_DATA + (size_t)h->subbufs * h->subbuf_size);
}

static struct ct_packet *packet_new(struct ct_threadbuf_head *h)
{
	struct ct_packet *p = subbuf_of(h, h->produced);

	memset(p, 0, sizeof(*p));
	p->ts_begin = now();
	p->content_size = CT_PACKET_HEAD * 8;
	p->magic = CT_MAGIC;
	__atomic_store_n(&h->produced, h->produced + 1, __ATOMIC_RELEASE);
	return p;
}

static void record(struct ct_packet *p, uint64_t ts, uint16_t id, uint64_t duration, uint32_t op)
{
	struct ct_thread_record *r = (void *)((uint8_t *)p + p->content_size / 8);
	uint32_t payload = id == class ? 16 : 0;

	*r = (struct ct_thread_record){
		.stamp = CT_STAMP(ts, id), .op = op, .depth = 3, .result = 2, .duration = duration
	};
	memset(r + 1, 0x5a, payload);
	__atomic_store_n(&p->content_size, p->content_size + (sizeof(*r) + payload) * 8,
			 __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------- the reader --- */
static struct ct_threadbuf_read got;

static int threadbuf_read(uint32_t flags)
{
	got = (struct ct_threadbuf_read){
		.size = sizeof(got), .flags = flags, .buf = (uintptr_t)out, .len = sizeof(out)
	};
	return call(s.fd, CT_IOC_THREADBUF_READ, &got);
}

#endif
