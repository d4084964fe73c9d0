/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Recorded ioctls, decoded by the layouts of module/uapi/nv_names.h, as the module and the library do
 * when they record one, and by the names that the command line has for numbers.
 *
 * Bounds: no function reads beyond the length it is given.  A block may be shorter than its ioctl says,
 * or its ioctl may be unknown; what is not there is not in the result, and that is told apart from a
 * word that is 0.
 */
#ifndef CUDATRACE_TESTS_IOCTL_H
#define CUDATRACE_TESTS_IOCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/decode/nv_decode.h"

/* Which driver an ioctl went to. */
enum nv_dev {
	NV_DEV_NONE,	/* none of NVIDIA's */
	NV_DEV_RM,	/* /dev/nvidiactl, /dev/nvidiaN */
	NV_DEV_UVM,	/* /dev/nvidia-uvm */
};

/* The fields of an ioctl's number, as <asm-generic/ioctl.h> has them. */
#define REQUEST_NR(r)	((r) & 0xff)
#define REQUEST_TYPE(r)	((r) >> 8 & 0xff)
#define REQUEST_SIZE(r)	((r) >> 16 & 0x3fff)
#define REQUEST_DIR(r)	((r) >> 30)

/* The type byte of all of RM's escapes. */
#define RM_TYPE		'F'

/**
 * nv_dev_of() - which driver a device's path stands for
 * @path: as in "/dev/nvidia0", or the name alone; may be NULL
 *
 * Return: NV_DEV_NONE for other paths, nvidia-uvm-tools, nvidia-modeset and
 * nvidia-caps among them, whose ioctls are others.
 */
static inline enum nv_dev nv_dev_of(const char *path)
{
	const char *name, *digits;

	if (!path)
		return NV_DEV_NONE;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (!strcmp(name, "nvidia-uvm"))
		return NV_DEV_UVM;
	if (!strcmp(name, "nvidiactl"))
		return NV_DEV_RM;
	if (strncmp(name, "nvidia", 6))
		return NV_DEV_NONE;
	digits = name + 6;
	return *digits && !digits[strspn(digits, "0123456789")] ? NV_DEV_RM : NV_DEV_NONE;
}

/**
 * nv_version_parse() - "580.159.04" as an integer
 * @text: begins with a version; what follows it is ignored
 *
 * Return: the version, or 0 if @text does not begin with "N.N".
 */
static inline unsigned int nv_version_parse(const char *text)
{
	unsigned int part[3] = { 0, 0, 0 };
	int n = 0;

	while (n < 3 && *text >= '0' && *text <= '9') {
		char *end;
		unsigned long value = strtoul(text, &end, 10);

		if (value > (n ? 999 : 4293))
			return 0;
		part[n++] = value;
		text = end;
		if (*text != '.')
			break;
		text++;
	}
	return n < 2 ? 0 : NV_VERSION(part[0], part[1], part[2]);
}

/**
 * struct nv_ioctl - one ioctl, decoded
 * @dev: from the caller
 * @version: from the caller
 * @request: from the caller
 * @dir: _IOC_DIR() of @request, 0 to 3; 0 for UVM
 * @type: _IOC_TYPE() of @request; 0 for UVM
 * @nr: the escape, for an XFER_CMD the inner one; for UVM the whole request
 * @size: size of the parameter block in bytes, for an XFER_CMD of the inner
 *	one; for UVM from the table, 0 if unknown
 * @known: there is a layout for @nr and @size, so that words could be taken
 * @xfer: it came wrapped in an XFER_CMD
 * @inner: user address of the inner block, of an XFER_CMD
 * @name: of @nr in driver @version, or NULL
 * @code_kind: what @w.code is; NV_CODE_NONE if there is none
 * @code_name: name of @w.code, or NULL
 * @status_name: name of @w.status, or NULL
 * @w: the words, @w.has tells which there are
 */
struct nv_ioctl {
	enum nv_dev		dev;
	unsigned int		version;
	uint32_t		request;
	unsigned int		dir;
	unsigned int		type;
	uint32_t		nr;
	uint32_t		size;
	bool			known;
	bool			xfer;
	uint64_t		inner;
	const char		*name;
	enum nv_code_kind	code_kind;
	const char		*code_name;
	const char		*status_name;
	struct nv_rm_words	w;
};

/* What there is of a block of @size bytes; layouts lie inside their block. */
static inline unsigned int nv_usable(size_t len, uint32_t size)
{
	return len < size ? (unsigned int)len : size;
}

static inline void nv_pick_rm(struct nv_ioctl *io, const void *block, size_t len)
{
	const struct nv_esc_layout *l = nv_esc_layout_find(io->nr, io->size, io->version);

	if (!l)
		return;
	io->known = true;
	io->code_kind = l->code_kind;
	nv_rm_pick(l, block, nv_usable(len, io->size), &io->w);
	if (io->w.has & NV_HAS_CODE && io->code_kind == NV_CODE_CLASS)
		io->code_name = nv_class_name_at(io->w.code, io->version);
	if (io->w.has & NV_HAS_CODE && io->code_kind == NV_CODE_CMD)
		io->code_name = nv_ctrl_name_at(io->w.code, io->version);
	if (io->w.has & NV_HAS_STATUS)
		io->status_name = nv_status_name(io->w.status);
}

static inline void nv_decode_uvm(struct nv_ioctl *io, const void *block, size_t len)
{
	const struct nv_uvm_layout *l = nv_uvm_layout_find(io->request, io->version);

	io->nr = io->request;
	if (!l)
		return;
	io->name = l->name;
	io->known = true;
	io->size = l->size;
	if (nv_block_u32(block, nv_usable(len, l->size), l->status, &io->w.status)) {
		io->w.has |= NV_HAS_STATUS;
		io->status_name = nv_status_name(io->w.status);
	}
}

static inline void nv_decode_rm(struct nv_ioctl *io, const void *block, size_t len)
{
	unsigned int nr, size;
	unsigned long long inner;

	io->dir = REQUEST_DIR(io->request);
	io->type = REQUEST_TYPE(io->request);
	io->nr = REQUEST_NR(io->request);
	io->size = REQUEST_SIZE(io->request);
	if (io->type != RM_TYPE)
		return;
	if (io->nr == NV_XFER_NR && io->size == NV_XFER_SIZE &&
	    nv_xfer_unwrap(block, nv_usable(len, io->size), &nr, &size, &inner)) {
		io->xfer = true;
		io->nr = nr;
		io->size = size;
		io->inner = inner;
	}
	io->name = nv_escape_name_at(io->nr, io->version);
	/* The words of an XFER_CMD's own block are not those of the inner one. */
	nv_pick_rm(io, block, io->xfer ? 0 : len);
}

/**
 * nv_ioctl_decode() - decode one ioctl
 * @dev: the driver it went to
 * @version: driver version, or 0
 * @request: the ioctl's number
 * @block: the first @len bytes of its parameter block after the call; may be
 *	NULL if @len is 0
 * @len: bytes there are; bytes beyond the block's own size are ignored
 * @io: always wholly set
 *
 * An NV_ESC_IOCTL_XFER_CMD is unwrapped: @io is of the inner escape, and has no
 * words, since @block is not the inner block.  nv_ioctl_decode_inner() adds
 * those of one that was recorded.
 *
 * Return: true if @io->name is set.
 */
static inline bool nv_ioctl_decode(enum nv_dev dev, unsigned int version, uint32_t request,
				   const void *block, size_t len, struct nv_ioctl *io)
{
	memset(io, 0, sizeof(*io));
	io->dev = dev;
	io->version = version;
	io->request = request;
	if (dev == NV_DEV_UVM)
		nv_decode_uvm(io, block, len);
	else if (dev == NV_DEV_RM)
		nv_decode_rm(io, block, len);
	return io->name;
}

/**
 * nv_ioctl_decode_inner() - add the words of the block an XFER_CMD points to
 * @io: from nv_ioctl_decode()
 * @block: the first @len bytes of the inner block after the call
 * @len: bytes there are
 *
 * Does nothing unless @io->xfer.
 */
static inline void nv_ioctl_decode_inner(struct nv_ioctl *io, const void *block, size_t len)
{
	if (io->xfer)
		nv_pick_rm(io, block, len);
}

#endif
