/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Names and layouts of NVIDIA's ioctls, for the module and for user space. */
#ifndef CUDATRACE_NV_NAMES_H
#define CUDATRACE_NV_NAMES_H

/*
 * What a recorder has to know of NVIDIA's ioctls, and no more: the names of the
 * escapes and of the UVM ioctls, and where in a parameter block the words are
 * that a record keeps.  Everything else is decoded when a trace is read.
 *
 * Compiles in the kernel and in user space, and includes nothing.  All data is
 * constant and all functions are pure: they may be called in any context, take
 * no lock, never sleep, and read no byte beyond the length they are given.
 *
 * Devices.  /dev/nvidiactl and /dev/nvidiaN take _IOWR('F', nr, size): nr is
 * the escape and size the size of its parameter block.  /dev/nvidia-uvm takes
 * plain integers, so that the size of a block has to come from a table.
 *
 * Versions.  A driver version is one integer, NV_VERSION(535, 261, 3) for
 * 535.261.03; 0 stands for "not known" and is taken as the newest.  "since" is
 * the lowest version whose headers have a name or a layout.  Where a number got
 * another name or a block another layout, it has one row for each, the later
 * after the earlier, and holds until the next row's "since".
 *
 * Status.  Most RM and UVM errors do not make ioctl() fail: it returns 0, and
 * the NV_STATUS stands in the parameter block, at the offset given here.
 */

#define NV_VERSION(major, minor, patch)	((major) * 1000000U + (minor) * 1000U + (patch))

/* An offset that a block does not have. */
#define NV_NO	0xffff

struct nv_name {
	unsigned int	nr;
	unsigned int	since;
	const char	*name;
};

/* What the word at nv_esc_layout.code is. */
enum nv_code_kind {
	NV_CODE_NONE,
	NV_CODE_CLASS,		/* an RM class */
	NV_CODE_CMD,		/* an RM control command */
	NV_CODE_FUNCTION,	/* a function of NV_ESC_RM_VID_HEAP_CONTROL */
};

/**
 * struct nv_esc_layout - where the words are in an escape's parameter block
 * @nr: the escape
 * @size: size of the block in bytes; with @nr it names the block, since one
 *	escape can take two (NV_ESC_RM_ALLOC: 32 or 48 bytes)
 * @since: see above
 * @client: offset of the client's handle
 * @object: offset of the handle of the object called upon, or of the parent of
 *	the object that is made or freed
 * @sub: offset of the handle of the object that is made, freed, mapped or bound
 * @code: offset of the class, command or function, see @code_kind
 * @params: offset of the user pointer (8 bytes) to a further parameter block
 * @params_size: offset of the size of that block
 * @status: offset of the NV_STATUS
 * @code_kind: an enum nv_code_kind
 *
 * All words but @params have 4 bytes.  NV_NO where a block has no such word.
 * Handles in a block are valid before the call, but for the one at @sub of an
 * allocation, which RM may choose; @status is valid after the call only.
 */
struct nv_esc_layout {
	unsigned short	nr;
	unsigned short	size;
	unsigned int	since;
	unsigned short	client;
	unsigned short	object;
	unsigned short	sub;
	unsigned short	code;
	unsigned short	params;
	unsigned short	params_size;
	unsigned short	status;
	unsigned short	code_kind;
};

/**
 * struct nv_uvm_layout - name of a UVM ioctl, size of its parameter block, and its status
 * @cmd: the ioctl
 * @since: see above
 * @size: size of the block in bytes; 0 if the ioctl takes none that is known
 * @status: offset of the NV_STATUS (rmStatus), or NV_NO
 * @name: its name; no pointer, which the loader of the preload library would have to relocate
 */
struct nv_uvm_layout {
	unsigned int	cmd;
	unsigned int	since;
	unsigned short	size;
	unsigned short	status;
	char		name[52];
};

/* The tables: nv_escape_names, nv_esc_layouts, nv_uvm_layouts. */
#include "nv_rows.h"

#define NV_COUNT(table)	((unsigned int)(sizeof(table) / sizeof((table)[0])))

/**
 * nv_esc_layout_find - the layout of an escape's parameter block
 * @nr: escape, _IOC_NR() of the request or the inner one of an XFER_CMD
 * @size: size of the block, _IOC_SIZE() of the request or the inner one
 * @version: driver version, or 0
 *
 * Return: the layout, or NULL if no version read has a block of that size for
 * that escape.  A version older than all gets the oldest.
 */
static inline const struct nv_esc_layout *
nv_esc_layout_find(unsigned int nr, unsigned int size, unsigned int version)
{
	const struct nv_esc_layout *found = (void *)0;
	unsigned int i;

	for (i = 0; i < NV_COUNT(nv_esc_layouts); i++) {
		const struct nv_esc_layout *l = &nv_esc_layouts[i];

		if (l->nr != nr || l->size != size)
			continue;
		if (found && version && l->since > version)
			break;
		found = l;
	}
	return found;
}

/**
 * nv_uvm_layout_find - name of a UVM ioctl, size and status of its parameter block
 * @cmd: the whole request
 * @version: driver version, or 0
 *
 * Return: the layout, or NULL if no version read has that ioctl.  A version
 * older than all gets the oldest.
 */
static inline const struct nv_uvm_layout *
nv_uvm_layout_find(unsigned int cmd, unsigned int version)
{
	const struct nv_uvm_layout *found = (void *)0;
	unsigned int lo = 0, hi = NV_COUNT(nv_uvm_layouts);

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (nv_uvm_layouts[mid].cmd < cmd)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < NV_COUNT(nv_uvm_layouts) && nv_uvm_layouts[lo].cmd == cmd; lo++) {
		if (found && version && nv_uvm_layouts[lo].since > version)
			break;
		found = &nv_uvm_layouts[lo];
	}
	return found;
}

/**
 * nv_block_u32 - one word of a parameter block
 * @block: a copy of the block's first @len bytes; need not be aligned
 * @len: bytes there are
 * @off: offset of the word, or NV_NO
 * @word: where to put it; untouched if it is not there
 *
 * Return: 1 if the word is wholly inside the @len bytes, otherwise 0.
 */
static inline int nv_block_u32(const void *block, unsigned int len, unsigned int off,
			       unsigned int *word)
{
	if (off == NV_NO || len < sizeof(*word) || off > len - sizeof(*word))
		return 0;
	__builtin_memcpy(word, (const char *)block + off, sizeof(*word));
	return 1;
}

/* The same for 8 bytes. */
static inline int nv_block_u64(const void *block, unsigned int len, unsigned int off,
			       unsigned long long *word)
{
	if (off == NV_NO || len < sizeof(*word) || off > len - sizeof(*word))
		return 0;
	__builtin_memcpy(word, (const char *)block + off, sizeof(*word));
	return 1;
}

/* Bits of nv_rm_words.has. */
#define NV_HAS_CLIENT		0x01
#define NV_HAS_OBJECT		0x02
#define NV_HAS_SUB		0x04
#define NV_HAS_CODE		0x08
#define NV_HAS_PARAMS		0x10
#define NV_HAS_PARAMS_SIZE	0x20
#define NV_HAS_STATUS		0x40

/* The words of one block; one without its bit in @has is 0. */
struct nv_rm_words {
	unsigned int		has;
	unsigned int		client;
	unsigned int		object;
	unsigned int		sub;
	unsigned int		code;
	unsigned int		params_size;
	unsigned int		status;
	unsigned long long	params;
};

/**
 * nv_rm_pick - take the words that a record keeps out of a parameter block
 * @l: the block's layout
 * @block: a copy of the block's first @len bytes; need not be aligned
 * @len: bytes there are; may be less than the block's size
 * @w: set, words that are not wholly inside the @len bytes are left out
 */
static inline void nv_rm_pick(const struct nv_esc_layout *l, const void *block,
			      unsigned int len, struct nv_rm_words *w)
{
	__builtin_memset(w, 0, sizeof(*w));
	if (nv_block_u32(block, len, l->client, &w->client))
		w->has |= NV_HAS_CLIENT;
	if (nv_block_u32(block, len, l->object, &w->object))
		w->has |= NV_HAS_OBJECT;
	if (nv_block_u32(block, len, l->sub, &w->sub))
		w->has |= NV_HAS_SUB;
	if (nv_block_u32(block, len, l->code, &w->code))
		w->has |= NV_HAS_CODE;
	if (nv_block_u64(block, len, l->params, &w->params))
		w->has |= NV_HAS_PARAMS;
	if (nv_block_u32(block, len, l->params_size, &w->params_size))
		w->has |= NV_HAS_PARAMS_SIZE;
	if (nv_block_u32(block, len, l->status, &w->status))
		w->has |= NV_HAS_STATUS;
}

/* The escape whose block only points to another escape's block. */
#define NV_XFER_NR	0xd3
#define NV_XFER_SIZE	16

/**
 * nv_xfer_unwrap - the escape that an NV_ESC_IOCTL_XFER_CMD stands for
 * @block: a copy of the first @len bytes of the XFER_CMD's block
 * @len: bytes there are
 * @nr: set to the inner escape
 * @size: set to the size of the inner block; not limited to the 14 bits of an
 *	ioctl number, nor checked: it is what the program wrote
 * @ptr: set to the user address of the inner block
 *
 * Return: 1, or 0 with nothing set if @len is less than NV_XFER_SIZE.
 */
static inline int nv_xfer_unwrap(const void *block, unsigned int len, unsigned int *nr,
				 unsigned int *size, unsigned long long *ptr)
{
	if (len < NV_XFER_SIZE)
		return 0;
	return nv_block_u32(block, len, 0, nr) && nv_block_u32(block, len, 4, size) &&
	       nv_block_u64(block, len, 8, ptr);
}

#endif /* CUDATRACE_NV_NAMES_H */
