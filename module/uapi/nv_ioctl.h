/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Fills the record of one of NVIDIA's ioctls: finds client, object, command or class, and
 * status in the parameter block, by the tables of nv_names.h.  The module and the preload
 * library record the same words; all other decoding is done when a trace is read.
 */
#ifndef CUDATRACE_NV_IOCTL_H
#define CUDATRACE_NV_IOCTL_H

#include <linux/ioctl.h>

#include "cudatrace_events.h"
#include "nv_names.h"

#define NV_TYPE		'F'	/* of the escapes */

/* All words of a block but some statuses lie in these first bytes. */
#define NV_HEAD_BYTES	64

/**
 * nv_read_block - reads a program's memory, which may be anything: it must not fault
 *
 * Return: whether all bytes were read.
 */
typedef _Bool nv_read_block(void *to, __u64 from, __u32 size);

static inline void nv_fill_status(struct ct_ioctl *p, __u64 block, __u32 size,
				  __u32 offset, nv_read_block *read)
{
	__u32 status;

	/* A call that failed did not write its block: the status there is old. */
	if (p->ret < 0 || offset == NV_NO || offset + sizeof(status) > size ||
	    !read(&status, block + offset, sizeof(status)))
		return;
	p->status = status;
	p->have |= CT_IOCTL_STATUS;
}

static inline void nv_fill_escape(struct ct_ioctl *p, __u32 nr, __u32 size, __u64 block,
				  __u32 version, nv_read_block *read)
{
	const struct nv_esc_layout *l = nv_esc_layout_find(nr, size, version);
	__u32 len = size < NV_HEAD_BYTES ? size : NV_HEAD_BYTES;
	__u8 head[NV_HEAD_BYTES];
	struct nv_rm_words w;

	if (!l || !read(head, block, len))
		return;
	nv_rm_pick(l, head, len, &w);
	if (w.has & NV_HAS_CLIENT) {
		p->client = w.client;
		p->have |= CT_IOCTL_CLIENT;
	}
	if (w.has & (NV_HAS_OBJECT | NV_HAS_SUB)) {
		/* The object that was made or freed says more than its parent. */
		p->object = w.has & NV_HAS_SUB ? w.sub : w.object;
		p->have |= CT_IOCTL_OBJECT;
	}
	if (w.has & NV_HAS_OBJECT && w.has & NV_HAS_SUB) {
		p->parent = w.object;
		p->have |= CT_IOCTL_PARENT;
	}
	if (w.has & NV_HAS_CODE && (l->code_kind == NV_CODE_CMD ||
				    l->code_kind == NV_CODE_CLASS)) {
		p->code = w.code;
		p->have |= l->code_kind == NV_CODE_CMD ? CT_IOCTL_CONTROL :
							 CT_IOCTL_CLASS;
	}
	nv_fill_status(p, block, size, l->status, read);
}

/**
 * nv_ioctl_fill - add to a record what the parameter block says after the call
 * @p: with cmd, ret, device and arg; where one escape wraps another, cmd becomes that of
 *	the wrapped one
 * @version: driver version, or 0
 * @read: see above
 */
static inline void nv_ioctl_fill(struct ct_ioctl *p, __u32 version, nv_read_block *read)
{
	__u32 nr = _IOC_NR(p->cmd), size = _IOC_SIZE(p->cmd);
	const struct nv_uvm_layout *uvm;
	unsigned long long inner;
	__u8 xfer[NV_XFER_SIZE];

	if (p->device == CT_DEV_UVM || p->device == CT_DEV_UVM_TOOLS) {
		uvm = nv_uvm_layout_find(p->cmd, version);
		if (uvm)
			nv_fill_status(p, p->arg, uvm->size, uvm->status, read);
		return;
	}
	if (_IOC_TYPE(p->cmd) != NV_TYPE)
		return;
	if (nr != NV_XFER_NR) {
		nv_fill_escape(p, nr, size, p->arg, version, read);
		return;
	}
	p->have |= CT_IOCTL_XFER;
	if (read(xfer, p->arg, sizeof(xfer)) &&
	    nv_xfer_unwrap(xfer, sizeof(xfer), &nr, &size, &inner)) {
		/* Recorded as the wrapped escape; CT_IOCTL_XFER says that it was wrapped. */
		p->cmd = _IOC(_IOC_READ | _IOC_WRITE, NV_TYPE, nr & 0xff, size & 0x3fff);
		nv_fill_escape(p, nr, size, inner, version, read);
	}
}

#endif /* CUDATRACE_NV_IOCTL_H */
