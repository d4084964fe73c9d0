// SPDX-License-Identifier: LGPL-2.1
/*
 * Names and parameter blocks of NVIDIA's ioctls, at read time.  The interface
 * and its rules are in nv_decode.h.  Must never read beyond the length of a
 * block, and must know no number by itself: numbers are in the tables.
 */
#include "decode/nv_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/tables/nv_tables.h"

/* The fields of an ioctl's number, as <asm-generic/ioctl.h> has them. */
#define REQUEST_NR(r)	((r) & 0xff)
#define REQUEST_TYPE(r)	((r) >> 8 & 0xff)
#define REQUEST_SIZE(r)	((r) >> 16 & 0x3fff)
#define REQUEST_DIR(r)	((r) >> 30)

/* The type byte of all of RM's escapes. */
#define RM_TYPE		'F'

/* The first row of @table with @nr, or NULL. */
static const struct nv_name *nv_name_rows(const struct nv_name *table, unsigned int count,
					  uint32_t nr)
{
	unsigned int lo = 0, hi = count;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (table[mid].nr < nr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && table[lo].nr == nr ? &table[lo] : NULL;
}

static const char *nv_name_at(const struct nv_name *table, unsigned int count, uint32_t nr,
			      unsigned int version)
{
	const struct nv_name *row = nv_name_rows(table, count, nr);

	if (!row)
		return NULL;
	while (row + 1 < table + count && row[1].nr == nr && (!version || row[1].since <= version))
		row++;
	return row->name;
}

static unsigned int nv_since(const struct nv_name *table, unsigned int count, uint32_t nr)
{
	const struct nv_name *row = nv_name_rows(table, count, nr);

	return row ? row->since : 0;
}

enum nv_dev nv_dev_of(const char *path)
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

const char *nv_escape_name_at(unsigned int nr, unsigned int version)
{
	return nv_name_at(nv_escape_names, NV_COUNT(nv_escape_names), nr, version);
}

const char *nv_escape_name(unsigned int nr)
{
	return nv_escape_name_at(nr, 0);
}

const char *nv_uvm_ioctl_name_at(uint32_t cmd, unsigned int version)
{
	const struct nv_uvm_layout *l = nv_uvm_layout_find(cmd, version);

	return l ? l->name : NULL;
}

const char *nv_uvm_ioctl_name(uint32_t cmd)
{
	return nv_uvm_ioctl_name_at(cmd, 0);
}

const char *nv_ctrl_name_at(uint32_t cmd, unsigned int version)
{
	return nv_name_at(nv_ctrl_names, nv_ctrl_names_count, cmd, version);
}

const char *nv_ctrl_name(uint32_t cmd)
{
	return nv_ctrl_name_at(cmd, 0);
}

const char *nv_ctrl_category(uint32_t cmd)
{
	return nv_name_at(nv_ctrl_categories, nv_ctrl_categories_count, cmd >> 8, 0);
}

const char *nv_class_name_at(uint32_t hclass, unsigned int version)
{
	return nv_name_at(nv_class_names, nv_class_names_count, hclass, version);
}

const char *nv_class_name(uint32_t hclass)
{
	return nv_class_name_at(hclass, 0);
}

const char *nv_status_name(uint32_t status)
{
	return nv_name_at(nv_status_names, nv_status_names_count, status, 0);
}

const char *cu_result_name(int result)
{
	return nv_name_at(cu_result_names, cu_result_names_count, (uint32_t)result, 0);
}

const char *cudart_error_name(int error)
{
	return nv_name_at(cudart_error_names, cudart_error_names_count, (uint32_t)error, 0);
}

unsigned int nv_ctrl_since(uint32_t cmd)
{
	return nv_since(nv_ctrl_names, nv_ctrl_names_count, cmd);
}

unsigned int nv_class_since(uint32_t hclass)
{
	return nv_since(nv_class_names, nv_class_names_count, hclass);
}

unsigned int nv_escape_since(unsigned int nr)
{
	return nv_since(nv_escape_names, NV_COUNT(nv_escape_names), nr);
}

unsigned int nv_uvm_ioctl_since(uint32_t cmd)
{
	/* A version older than all gets the oldest row. */
	const struct nv_uvm_layout *l = nv_uvm_layout_find(cmd, 1);

	return l ? l->since : 0;
}

unsigned int nv_version_parse(const char *text)
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

const char *nv_version_text(unsigned int version, char buf[NV_VERSION_TEXT])
{
	unsigned int major = version / 1000000, minor = version / 1000 % 1000;
	unsigned int patch = version % 1000;

	if (patch)
		snprintf(buf, NV_VERSION_TEXT, "%u.%02u.%02u", major, minor, patch);
	else
		snprintf(buf, NV_VERSION_TEXT, "%u.%02u", major, minor);
	return buf;
}

/* What there is of a block of @size bytes; layouts lie inside their block. */
static unsigned int nv_usable(size_t len, uint32_t size)
{
	return len < size ? (unsigned int)len : size;
}

static void nv_pick_rm(struct nv_ioctl *io, const void *block, size_t len)
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

static void nv_decode_uvm(struct nv_ioctl *io, const void *block, size_t len)
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

static void nv_decode_rm(struct nv_ioctl *io, const void *block, size_t len)
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

bool nv_ioctl_decode(enum nv_dev dev, unsigned int version, uint32_t request, const void *block,
		     size_t len, struct nv_ioctl *io)
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

void nv_ioctl_decode_inner(struct nv_ioctl *io, const void *block, size_t len)
{
	if (io->xfer)
		nv_pick_rm(io, block, len);
}

/*
 * The layout of @io's block, or NULL.  Rows of one number are ordered by
 * version for UVM; for RM by size, then version.
 */
static const struct nv_arg_layout *arg_layout(const struct nv_ioctl *io)
{
	const struct nv_arg_layout *found = NULL;
	unsigned int i;

	for (i = 0; i < nv_arg_layouts_count; i++) {
		const struct nv_arg_layout *l = &nv_arg_layouts[i];

		if (l->dev != io->dev || l->nr != io->nr)
			continue;
		if (io->dev == NV_DEV_RM && (io->type != RM_TYPE || l->size != io->size))
			continue;
		if (found && io->version && l->since > io->version)
			break;
		found = l;
	}
	return found;
}

static uint64_t nv_arg_value(const struct nv_arg_field *f, const unsigned char *p)
{
	uint64_t value = 0;
	unsigned int shift;

	if (f->kind >= NV_ARG_UUID || f->size > sizeof(value))
		return 0;
	memcpy(&value, p, f->size);
	if (f->kind == NV_ARG_SIGNED && f->size) {
		shift = 64 - 8 * f->size;
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	}
	return value;
}

size_t nv_ioctl_args(const struct nv_ioctl *io, const void *block, size_t len, struct nv_arg *args,
		     size_t max)
{
	const struct nv_arg_layout *l = arg_layout(io);
	const unsigned char *bytes = block;
	size_t n = 0;
	unsigned int i;

	if (!l)
		return 0;
	for (i = 0; i < l->count; i++) {
		const struct nv_arg_field *f = &nv_arg_fields[l->first + i];

		if ((size_t)f->offset + f->size > len)
			continue;
		if (n < max)
			args[n] = (struct nv_arg){
				.name = f->name,
				.kind = f->kind,
				.offset = f->offset,
				.size = f->size,
				.value = nv_arg_value(f, bytes + f->offset),
				.data = bytes + f->offset,
			};
		n++;
	}
	return n;
}
