/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One record of a packet, decoded.  Nothing is copied: a record points into its
 * packet, which must outlive it.  Must never read outside the packet's content: packets
 * come from files that any user may have written.
 */
#ifndef CT_CLI_RECORD_H
#define CT_CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/class.h"
#include "trace/packet.h"
#include "trace/registry.h"
#include "trace/source.h"

#define CT_NO_CPU	(-1)

struct ct_record {
	const struct ct_class *class;
	const uint8_t *fields;	/* class->size bytes, then a text's bytes */
	uint32_t size;		/* of the whole record */
	uint32_t pid, tid;
	int32_t  cpu;		/* where it ended, or CT_NO_CPU */
	uint8_t  depth;		/* as the record says; 0 where the writer can't know */
	uint8_t  flags;		/* CT_F_* */
	uint16_t text_len;	/* bytes, as checked: the file may say otherwise later */
	uint64_t end;		/* ns */
	uint64_t duration;	/* ns */
	uint64_t op;
	int64_t  result;
	const struct ct_source *source;	/* of its fields; NULL: they have the numbers of the trace */
};

static inline uint64_t ct_record_begin(const struct ct_record *r)
{
	return r->duration < r->end ? r->end - r->duration : 0;
}

/* Is it known how long it took? */
static inline bool ct_record_timed(const struct ct_record *r)
{
	return !(r->flags & (CT_F_BEGIN | CT_F_INSTANT | CT_F_ABANDONED));
}

/* Do its records begin with struct ct_thread_record?  Else with struct ct_cpu_record. */
static inline bool ct_packet_short_head(const struct ct_packet_view *p)
{
	return p->kind == CT_STREAM_THREAD || p->kind == CT_STREAM_GPU;
}

/* Gives a record of one of several traces the numbers of the whole. */
static inline void ct_record_shift(struct ct_record *r)
{
	const struct ct_source *s = r->source;
	uint64_t begin = ct_source_time(s, ct_record_begin(r));

	r->end = ct_source_time(s, r->end);
	r->duration = r->duration ? r->end - begin : 0;
	r->pid += r->pid ? s->tasks : 0;
	r->tid += r->tid ? s->tasks : 0;
	r->cpu += r->cpu == CT_NO_CPU ? 0 : (int32_t)s->cpus;
}

/**
 * ct_record_parse() - the record at @offset of packet @p
 * @why: on failure a constant string
 *
 * Reads nothing outside the packet's content, whatever the packet holds.  Inline, because
 * it is called for each record, and few callers use all of it.
 *
 * Return: the record's size in bytes, or 0.
 */
static inline __attribute__((always_inline)) uint32_t
ct_record_parse(const struct ct_packet_view *p, uint32_t offset, const struct ct_registry *reg,
		struct ct_record *r, const char **why)
{
	uint32_t left = p->content - offset, head, size;
	uint64_t stamp, word;

	head = ct_packet_short_head(p) ? sizeof(struct ct_thread_record)
					   : sizeof(struct ct_cpu_record);
	*why = "a record that does not fit its packet";
	if (offset > p->content || left < head)
		return 0;
	memcpy(&stamp, p->data + offset, 8);
	r->class = __builtin_expect(p->source != NULL, 0) ? ct_source_class(p->source, CT_RECORD_CLASS(stamp)) :
		   ct_registry_class(reg, CT_RECORD_CLASS(stamp));
	*why = "a record of a class that the registry does not have";
	if (!r->class)
		return 0;

	size = head + r->class->size;
	*why = "a record that does not fit its packet";
	if (left < size)
		return 0;
	r->fields = p->data + offset + head;
	r->text_len = 0;
	if (r->class->has_text) {
		memcpy(&r->text_len, r->fields + r->class->size - 2, 2);
		size = (size + r->text_len + 7) & ~7u;
		if (left < size)
			return 0;
	}
	r->size = size;
	r->end = CT_UNSTAMP(p->ts_begin, stamp & CT_TS_MASK);
	*why = "a time outside its packet's";
	if (r->end > p->ts_end || r->end < p->ts_begin)
		return 0;

	if (ct_packet_short_head(p)) {
		struct ct_thread_record t;

		memcpy(&t, p->data + offset, sizeof(t));
		r->pid = p->pid;
		r->tid = p->tid;
		r->op = p->op_base + t.op;
		r->depth = t.depth;
		r->flags = t.flags;
		r->result = t.result;
		r->duration = t.duration & CT_TS_MASK;
		r->cpu = t.duration >> CT_TS_BITS == 0xffff ? CT_NO_CPU :
			 (int32_t)(t.duration >> CT_TS_BITS);
	} else {
		struct ct_cpu_record c;

		memcpy(&c, p->data + offset, sizeof(c));
		word = c.duration;
		r->pid = c.pid;
		r->tid = c.tid;
		r->op = c.op;
		r->depth = word >> 48;
		r->flags = word >> 56;
		r->result = c.result;
		r->duration = word & CT_TS_MASK;
		r->cpu = p->kind == CT_STREAM_CPU ? (int32_t)p->cpu : CT_NO_CPU;
	}
	r->source = p->source;
	if (__builtin_expect(p->source != NULL, 0))
		ct_record_shift(r);
	return size;
}

/* Field @i, widened; a signed one is extended.  Of a text its length. */
static inline uint64_t ct_record_field(const struct ct_record *r, unsigned int i)
{
	const struct ct_class_field *f = &r->class->fields[i];
	uint64_t value = 0;

	memcpy(&value, r->fields + f->offset, f->bytes);
	switch (f->type) {
	case CT_TYPE_s8:
		return (int64_t)(int8_t)value;
	case CT_TYPE_s16:
		return (int64_t)(int16_t)value;
	case CT_TYPE_s32:
		value = (int64_t)(int32_t)value;
		break;
	}
	return __builtin_expect(r->source && f->shift, 0) ? ct_source_field(r->source, f->shift, value) : value;
}

/* Copies @size bytes of its fields and text, with the numbers of the trace. */
void ct_record_copy_fields(uint8_t *to, const struct ct_record *r, size_t size);

static inline bool ct_record_has(const struct ct_record *r, enum ct_known known)
{
	return r->class->known[known] >= 0;
}

/* The field, or 0 if the class has none. */
static inline uint64_t ct_record_known(const struct ct_record *r, enum ct_known known)
{
	int i = r->class->known[known];

	return i < 0 || !r->fields ? 0 : ct_record_field(r, i);
}

#define CT_NOT_READY	600	/* CUDA_ERROR_NOT_READY, cudaErrorNotReady */

/* Did the program ask whether the GPU is done, and it is not? */
static inline bool ct_record_not_ready(const struct ct_record *r)
{
	return ct_class_is(r->class, CT_IS_POLL) && !(r->flags & CT_F_NO_RESULT) && r->result == CT_NOT_READY;
}

/* The stream of the GPU that a record of the GPU is of. */
static inline uint64_t ct_record_gpu_stream(const struct ct_record *r)
{
	return ct_record_known(r, ct_record_has(r, CT_KNOWN_STREAM_ID) ? CT_KNOWN_STREAM_ID : CT_KNOWN_STREAM);
}

/* The id of its kernel's name; equal names have equal ids. */
static inline uint32_t ct_record_kernel(const struct ct_record *r, const struct ct_registry *reg)
{
	return ct_registry_first(reg, ct_record_known(r, CT_KNOWN_KERNEL));
}

/* The threads of a launch: grid times block; 0: it is no launch, or they are not known. */
static inline uint64_t ct_record_threads(const struct ct_record *r)
{
	uint64_t threads = 1;

	if (!ct_record_has(r, CT_KNOWN_GRID_X) || !ct_record_has(r, CT_KNOWN_BLOCK_X))
		return 0;
	for (int i = CT_KNOWN_GRID_X; i <= CT_KNOWN_BLOCK_Z; i++)
		if (ct_record_has(r, i))
			threads *= ct_record_known(r, i);
	return threads;
}

/* What an allocation is known by: its address, or its handle where it has no address yet. */
static inline uint64_t ct_record_allocation(const struct ct_record *r)
{
	uint64_t address = ct_record_known(r, CT_KNOWN_PTR);

	return address ? address : ct_record_known(r, CT_KNOWN_HANDLE);
}

/* The bytes of the text, *@len of them without trailing NULs, or NULL. */
static inline const char *ct_record_text(const struct ct_record *r, uint16_t *len)
{
	const char *text;

	*len = 0;
	if (!r->class->has_text || !r->fields)
		return NULL;
	*len = r->text_len;
	text = (const char *)r->fields + r->class->size;
	while (*len && !text[*len - 1])
		--*len;
	return text;
}

/*
 * What the call returned: false, if it has not returned, has no result, or it is not known.  What an
 * ioctl returned is one of its fields.
 */
bool ct_record_result(const struct ct_record *r, int64_t *code);

/* The call returned, and not with success. */
bool ct_record_failed(const struct ct_record *r);

/* Whose number says why a call failed. */
struct ct_failure {
	int64_t code;
	bool    status;		/* the code is the NV_STATUS in an ioctl's parameter block */
};

/* Why the call failed; of one that did not fail what it returned. */
struct ct_failure ct_record_failure(const struct ct_record *r);

/* It was an ioctl of the driver, as the kernel or as the program saw it. */
static inline bool ct_record_is_ioctl(const struct ct_record *r)
{
	return ct_class_is(r->class, CT_IS_IOCTL);
}

#endif
