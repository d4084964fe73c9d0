// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decoding one record.  Must never read outside the packet's content: packets
 * come from files that any user may have written.
 */
#include "trace/record.h"

uint32_t ct_record_parse(const struct ct_packet_view *p, uint32_t offset,
			 const struct ct_registry *reg, struct ct_record *r, const char **why)
{
	uint32_t left = p->content - offset, head, size;
	uint64_t stamp, word;

	head = p->kind == CT_STREAM_THREAD ? sizeof(struct ct_thread_record)
					   : sizeof(struct ct_cpu_record);
	*why = "a record that does not fit its packet";
	if (offset > p->content || left < head)
		return 0;
	memcpy(&stamp, p->data + offset, 8);
	r->class = ct_registry_class(reg, CT_RECORD_CLASS(stamp));
	*why = "a record of a class that the registry does not have";
	if (!r->class)
		return 0;

	size = head + r->class->size;
	*why = "a record that does not fit its packet";
	if (left < size)
		return 0;
	r->fields = p->data + offset + head;
	if (r->class->has_text) {
		uint16_t len;

		memcpy(&len, r->fields + r->class->size - 2, 2);
		size = (size + len + 7) & ~7u;
		if (left < size)
			return 0;
	}
	r->size = size;
	r->end = CT_UNSTAMP(p->ts_begin, stamp & CT_TS_MASK);
	*why = "a time outside its packet's";
	if (r->end > p->ts_end || r->end < p->ts_begin)
		return 0;

	if (p->kind == CT_STREAM_THREAD) {
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
	return size;
}

/*
 * CUDA_ERROR_NOT_READY answers a question (cuStreamQuery, cuEventQuery), it is
 * no failure.  A kernel function's value is only known to be an error when it is
 * an errno, an ioctl's also when its parameter block says so.
 */
bool ct_record_failed(const struct ct_record *r)
{
	if (!r->class->call || (r->flags & CT_F_BEGIN))
		return false;
	if (ct_record_is_ioctl(r)) {
		if ((int64_t)ct_record_quick(r, CT_QUICK_RET) < 0)
			return true;
		return (ct_record_quick(r, CT_QUICK_HAVE) & CT_IOCTL_STATUS) &&
		       ct_record_quick(r, CT_QUICK_STATUS);
	}
	if (r->flags & CT_F_NO_RESULT)
		return false;
	if (r->class->layer == CT_LAYER_USER)
		return r->result && r->result != 600;
	return r->result < 0 && r->result >= -4095;
}
