// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What NVIDIA's parameter blocks say: client, object, command or class, status.
 *
 * The blocks belong to the program and are read after the call, by a system call
 * that fails where a plain read would crash: the driver may have refused a
 * pointer that leads nowhere.
 */
#include "call/ioctl.h"

#include "../../module/nvidia/names.h"

#define BLOCK_MAX	512u	/* the layouts' words all lie below */
#define E_FAULT		14

static u32 read_memory(const struct ct_ioctl *o, void *to, u64 from, u32 size)
{
	struct { u64 base, len; } local = { (u64)to, size }, remote = { from, size };
	long n = ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &local, 1,
			 &remote, 1, 0);

	if (n >= 0)
		return (u32)n;
	/* Not allowed to ask (seccomp): the driver read it, so it can be read. */
	if (n != -E_FAULT && o->ret == 0 && from) {
		memcpy(to, (const void *)from, size);
		return size;
	}
	return 0;
}

/* Of the loaded driver, 0 if it doesn't say; asked once. */
static u32 driver_version(void)
{
	static u32 version = ~0u;
	u32 part[3] = { 0, 0, 0 }, n = 0;
	char text[32];
	long len = 0;
	int fd;

	if (ct_load(&version) != ~0u)
		return version;
	fd = ct_open("/sys/module/nvidia/version", O_RDONLY, 0);
	if (fd >= 0) {
		len = ct_sys3(SYS_read, fd, text, sizeof(text));
		ct_close(fd);
	}
	for (long i = 0; i < len && n < 3; i++) {
		if (text[i] == '.')
			n++;
		else if (text[i] >= '0' && text[i] <= '9')
			part[n] = part[n] * 10 + (u32)(text[i] - '0');
	}
	ct_store(&version, len > 0 ? NV_VERSION(part[0], part[1], part[2]) : 0);
	return version;
}

static void decode_uvm(struct ct_ioctl *o, u32 cmd, u64 arg)
{
	const struct nv_uvm_layout *l = nv_uvm_layout_find(cmd, driver_version());
	u32 status;

	if (!l || l->status == NV_NO || o->ret)
		return;
	if (read_memory(o, &status, arg + l->status, 4) == 4) {
		o->status = status;
		o->have |= CT_IOCTL_STATUS;
	}
}

static void decode_escape(struct ct_ioctl *o, u32 nr, u32 size, u64 arg)
{
	const struct nv_esc_layout *l;
	struct nv_rm_words w;
	u8 block[BLOCK_MAX];
	u32 len;

	l = nv_esc_layout_find(nr, size, driver_version());
	if (!l)
		return;
	len = read_memory(o, block, arg, size < BLOCK_MAX ? size : BLOCK_MAX);
	nv_rm_pick(l, block, len, &w);
	if (w.has & NV_HAS_CLIENT) {
		o->client = w.client;
		o->have |= CT_IOCTL_CLIENT;
	}
	if (w.has & (NV_HAS_OBJECT | NV_HAS_SUB)) {
		/* What was made or freed says more than its parent. */
		o->object = w.has & NV_HAS_SUB ? w.sub : w.object;
		o->have |= CT_IOCTL_OBJECT;
	}
	if (w.has & NV_HAS_OBJECT && w.has & NV_HAS_SUB) {
		o->parent = w.object;
		o->have |= CT_IOCTL_PARENT;
	}
	if (w.has & NV_HAS_CODE && l->code_kind == NV_CODE_CMD) {
		o->code = w.code;
		o->have |= CT_IOCTL_CONTROL;
	}
	if (w.has & NV_HAS_CODE && l->code_kind == NV_CODE_CLASS) {
		o->code = w.code;
		o->have |= CT_IOCTL_CLASS;
	}
	if (w.has & NV_HAS_STATUS && !o->ret) {
		o->status = w.status;
		o->have |= CT_IOCTL_STATUS;
	}
}

void ct_ioctl_decode(struct ct_ioctl *o, unsigned long cmd, u64 arg)
{
	u32 nr = _IOC_NR(cmd), size = _IOC_SIZE(cmd);
	unsigned long long inner = 0;
	u8 block[NV_XFER_SIZE];

	if (o->device == CT_DEV_UVM || o->device == CT_DEV_UVM_TOOLS) {
		decode_uvm(o, (u32)cmd, arg);
		return;
	}
	if (_IOC_TYPE(cmd) != 'F')
		return;
	if (nr == NV_XFER_NR && size == NV_XFER_SIZE &&
	    read_memory(o, block, arg, NV_XFER_SIZE) == NV_XFER_SIZE &&
	    nv_xfer_unwrap(block, NV_XFER_SIZE, &nr, &size, &inner)) {
		/* What came wrapped is shown as what it is. */
		o->have |= CT_IOCTL_XFER;
		o->cmd = (u32)(cmd & ~(0xffu << _IOC_NRSHIFT) &
			       ~((u32)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
			 (nr & 0xff) << _IOC_NRSHIFT |
			 (size & _IOC_SIZEMASK) << _IOC_SIZESHIFT;
		arg = inner;
	}
	decode_escape(o, nr, size, arg);
}
