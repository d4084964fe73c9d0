// SPDX-License-Identifier: GPL-2.0
/*
 * Fills the record of one of NVIDIA's ioctls: finds client, object, command or class, and
 * status in the parameter block, by the tables of nvidia/names.h.  All other decoding is
 * done when a trace is read.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kdev_t.h>
#include <linux/uaccess.h>
#include "nvidia/driver.h"
#include "nvidia/ioctl.h"
#include "nvidia/names.h"

#define NV_MAJOR	195
#define NV_TYPE		'F'
/* All words of a block but its status lie in these first bytes. */
#define HEAD_BYTES	64

static u32 nv_ioctl_device_of(const struct file *file)
{
	const char *name;
	dev_t dev;

	if (!file || !file_inode(file))
		return CT_DEV_UNKNOWN;
	dev = file_inode(file)->i_rdev;
	if (MAJOR(dev) == NV_MAJOR)
		return MINOR(dev);
	name = file->f_path.dentry ? (const char *)file->f_path.dentry->d_name.name : "";
	return strstr(name, "tools") ? CT_DEV_UVM_TOOLS : CT_DEV_UVM;
}

static bool nv_ioctl_read_user(void *to, u64 from, u32 size)
{
	return !copy_from_user_nofault(to, (const void __user *)(unsigned long)from, size);
}

static void nv_ioctl_pick_status(struct ct_ioctl *p, u64 block, u32 size, u32 offset)
{
	u32 status;

	/* A call that failed did not write its block: the status there is old. */
	if (p->ret < 0 || offset == NV_NO || offset + sizeof(status) > size ||
	    !nv_ioctl_read_user(&status, block + offset, sizeof(status)))
		return;
	p->status = status;
	p->have |= CT_IOCTL_STATUS;
}

static void nv_ioctl_pick_escape(struct ct_ioctl *p, u32 nr, u32 size, u64 block)
{
	const struct nv_esc_layout *l = nv_esc_layout_find(nr, size,
							  ct_driver_version);
	u8 head[HEAD_BYTES];
	struct nv_rm_words w;
	u32 len = min_t(u32, size, sizeof(head));

	if (!l || !nv_ioctl_read_user(head, block, len))
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
	nv_ioctl_pick_status(p, block, size, l->status);
}

static void nv_ioctl_pick(struct ct_ioctl *p)
{
	u32 nr = _IOC_NR(p->cmd), size = _IOC_SIZE(p->cmd);
	const struct nv_uvm_layout *uvm;
	unsigned long long inner;
	u8 xfer[NV_XFER_SIZE];

	if (p->device == CT_DEV_UVM || p->device == CT_DEV_UVM_TOOLS) {
		uvm = nv_uvm_layout_find(p->cmd, ct_driver_version);
		if (uvm)
			nv_ioctl_pick_status(p, p->arg, uvm->size, uvm->status);
		return;
	}
	if (_IOC_TYPE(p->cmd) != NV_TYPE)
		return;
	if (nr != NV_XFER_NR) {
		nv_ioctl_pick_escape(p, nr, size, p->arg);
		return;
	}
	p->have |= CT_IOCTL_XFER;
	if (nv_ioctl_read_user(xfer, p->arg, sizeof(xfer)) &&
	    nv_xfer_unwrap(xfer, sizeof(xfer), &nr, &size, &inner)) {
		/* Recorded as the wrapped escape; CT_IOCTL_XFER says that it was wrapped. */
		p->cmd = _IOC(_IOC_READ | _IOC_WRITE, NV_TYPE, nr & 0xff, size & 0x3fff);
		nv_ioctl_pick_escape(p, nr, size, inner);
	}
}

void ct_nv_ioctl_fill(struct ct_ioctl *p, const struct file *file, u32 cmd,
		      unsigned long arg, s64 ret, bool done)
{
	*p = (struct ct_ioctl){
		.cmd = cmd,
		.ret = ret,
		.device = nv_ioctl_device_of(file),
		.arg = arg,
	};
	if (done)
		nv_ioctl_pick(p);
}

static const char *nv_ioctl_find(const struct nv_name *table, u32 count, u32 nr)
{
	const char *name = NULL;
	u32 i;

	/* A number may have several rows: the last one is its newest name. */
	for (i = 0; i < count && table[i].nr <= nr; i++)
		if (table[i].nr == nr)
			name = table[i].name;
	return name;
}

const char *ct_nv_ioctl_name(u32 device, u32 cmd)
{
	if (device == CT_DEV_UVM || device == CT_DEV_UVM_TOOLS)
		return nv_ioctl_find(nv_uvm_names, NV_COUNT(nv_uvm_names), cmd);
	if (_IOC_TYPE(cmd) != NV_TYPE)
		return NULL;
	return nv_ioctl_find(nv_escape_names, NV_COUNT(nv_escape_names), _IOC_NR(cmd));
}
