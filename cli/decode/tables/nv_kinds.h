/* SPDX-License-Identifier: LGPL-2.1 */
/* What the generated tables and nv_decode.h both speak of. */
#ifndef CUDATRACE_NV_KINDS_H
#define CUDATRACE_NV_KINDS_H

/* Which driver an ioctl went to. */
enum nv_dev {
	NV_DEV_NONE,	/* none of NVIDIA's */
	NV_DEV_RM,	/* /dev/nvidiactl, /dev/nvidiaN */
	NV_DEV_UVM,	/* /dev/nvidia-uvm */
};

/* How to show a field of a parameter block. */
enum nv_arg_kind {
	NV_ARG_UNSIGNED,	/* a number */
	NV_ARG_SIGNED,
	NV_ARG_HEX,		/* flags, masks */
	NV_ARG_ADDRESS,		/* a user, GPU or PCI address, or a limit of one */
	NV_ARG_HANDLE,		/* an RM handle */
	NV_ARG_CLASS,		/* an RM class */
	NV_ARG_CMD,		/* an RM control command */
	NV_ARG_STATUS,		/* an NV_STATUS */
	NV_ARG_UUID,		/* 16 bytes: a GPU, or the CPU */
	NV_ARG_TEXT,		/* characters, not always ended by 0 */
	NV_ARG_BYTES,		/* an array or a union, not taken apart */
};

#endif /* CUDATRACE_NV_KINDS_H */
