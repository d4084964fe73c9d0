/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Names and parameter blocks of NVIDIA's ioctls, at read time.
 *
 * A record holds an ioctl's request and the first bytes of its parameter block
 * as they were after the call.  Here that becomes an escape or UVM ioctl, a
 * client, objects, a control command or class, a status, and the block's other
 * fields by name.  Nothing is allocated, nothing is changed, no system call is
 * made; every function may be called from any thread.
 *
 * Bounds: no function reads beyond the length it is given.  A block may be
 * shorter than its ioctl says (a recorder keeps the first words only) or its
 * ioctl may be unknown; what is not there is not in the result, and that is
 * told apart from a word that is 0.
 *
 * Names are constant strings.  An unknown number has the name NULL: there are
 * numbers that no published header names, and newer drivers add some.
 *
 * Versions are driver versions as in nv_names.h (0: not known, taken as the
 * newest).  They matter, since numbers were renamed and blocks changed.
 */
#ifndef CUDATRACE_NV_DECODE_H
#define CUDATRACE_NV_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/tables/nv_kinds.h"
#include "module/uapi/nv_names.h"

/**
 * nv_dev_of() - which driver a device's path stands for
 * @path: as in "/dev/nvidia0", or the name alone; may be NULL
 *
 * Return: NV_DEV_NONE for other paths, nvidia-uvm-tools, nvidia-modeset and
 * nvidia-caps among them, whose ioctls are others.
 */
enum nv_dev nv_dev_of(const char *path);

/*
 * Names.  Each returns a constant string, or NULL if the number is unknown.
 * Those without a version give the newest name.
 */
const char *nv_escape_name(unsigned int nr);
const char *nv_uvm_ioctl_name(uint32_t cmd);
const char *nv_ctrl_name(uint32_t cmd);
const char *nv_class_name(uint32_t hclass);
const char *nv_status_name(uint32_t status);
const char *cu_result_name(int result);
const char *cudart_error_name(int error);

/* The name that a number had in driver @version. */
const char *nv_escape_name_at(unsigned int nr, unsigned int version);
const char *nv_ctrl_name_at(uint32_t cmd, unsigned int version);
const char *nv_class_name_at(uint32_t hclass, unsigned int version);
const char *nv_uvm_ioctl_name_at(uint32_t cmd, unsigned int version);

/*
 * The category of a control command (NV2080_CTRL_GPU), which is known for many
 * commands that have no name themselves; NULL if not.
 */
const char *nv_ctrl_category(uint32_t cmd);

/*
 * The version in which a number first appeared, under any name, among those
 * whose headers were read (the generated tables list them); 0 if unknown.
 */
unsigned int nv_ctrl_since(uint32_t cmd);
unsigned int nv_class_since(uint32_t hclass);
unsigned int nv_escape_since(unsigned int nr);
unsigned int nv_uvm_ioctl_since(uint32_t cmd);

/* Longest text of a version, with the 0: "4294.999.999". */
#define NV_VERSION_TEXT	16

/**
 * nv_version_parse() - "580.159.04" as an integer
 * @text: begins with a version; what follows it is ignored
 *
 * Return: the version, or 0 if @text does not begin with "N.N".
 */
unsigned int nv_version_parse(const char *text);

/* The opposite; returns @buf. */
const char *nv_version_text(unsigned int version, char buf[NV_VERSION_TEXT]);

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
bool nv_ioctl_decode(enum nv_dev dev, unsigned int version, uint32_t request,
		     const void *block, size_t len, struct nv_ioctl *io);

/**
 * nv_ioctl_decode_inner() - add the words of the block an XFER_CMD points to
 * @io: from nv_ioctl_decode()
 * @block: the first @len bytes of the inner block after the call
 * @len: bytes there are
 *
 * Does nothing unless @io->xfer.
 */
void nv_ioctl_decode_inner(struct nv_ioctl *io, const void *block, size_t len);

/**
 * struct nv_arg - one field of a parameter block
 * @name: as in NVIDIA's headers, of a nested struct with a dot ("pci_info.bus")
 * @kind: how to show it
 * @offset: in the block
 * @size: in bytes
 * @value: the value, if @size is 1, 2, 4 or 8 and @kind is none of the last
 *	three; a signed one is extended to 64 bits
 * @data: the field in the caller's block
 */
struct nv_arg {
	const char		*name;
	enum nv_arg_kind	kind;
	unsigned int		offset;
	unsigned int		size;
	uint64_t		value;
	const void		*data;
};

/**
 * nv_ioctl_args() - all fields of an ioctl's parameter block
 * @io: from nv_ioctl_decode()
 * @block: the block, of an XFER_CMD the inner one
 * @len: bytes there are
 * @args: filled with the fields that are wholly inside the @len bytes, in the
 *	order of the header; @args[i].data points into @block
 * @max: places in @args
 *
 * Return: number of such fields; may be more than @max.  0 if the block's
 * layout is not known.
 */
size_t nv_ioctl_args(const struct nv_ioctl *io, const void *block, size_t len,
		     struct nv_arg *args, size_t max);

#endif /* CUDATRACE_NV_DECODE_H */
