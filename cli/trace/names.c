// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Words for numbers.  Must never hold a number of NVIDIA's: those are in decode/.
 */
#include "trace/names.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/nv_decode.h"

#define DEMANGLED_MAX	16384

/* "EINVAL" for 22; NULL if unknown. */
static const char *names_errno(int number)
{
	return strerrorname_np(number);
}

const char *ct_name_result(const struct ct_record *r)
{
	if (ct_record_is_ioctl(r)) {
		int64_t ret = ct_record_quick(r, CT_QUICK_RET);

		return ret < 0 && ret >= -4095 ? names_errno(-ret) : NULL;
	}
	if (r->class->layer == CT_LAYER_USER) {
		if (r->class->category == CT_CAT_RUNTIME)
			return cudart_error_name(r->result);
		return r->class->id < CT_CLASS_DYNAMIC ? NULL : cu_result_name(r->result);
	}
	return r->result < 0 && r->result >= -4095 ? names_errno(-r->result) : NULL;
}

const char *ct_name_device(uint32_t device, char buf[24])
{
	switch (device) {
	case CT_DEV_NVIDIACTL:
		return "nvidiactl";
	case CT_DEV_UVM:
		return "nvidia-uvm";
	case CT_DEV_UVM_TOOLS:
		return "nvidia-uvm-tools";
	case CT_DEV_MODESET:
		return "nvidia-modeset";
	case CT_DEV_UNKNOWN:
		return "unknown";
	}
	snprintf(buf, 24, "nvidia%u", device);
	return buf;
}

const char *ct_name_ioctl(uint32_t cmd, uint32_t device)
{
	if (device == CT_DEV_UVM)
		return nv_uvm_ioctl_name(cmd);
	if (device == CT_DEV_UVM_TOOLS || device == CT_DEV_MODESET || device == CT_DEV_UNKNOWN ||
	    (cmd >> 8 & 0xff) != 'F')
		return NULL;
	return nv_escape_name(cmd & 0xff);
}

const char *ct_name_code(uint32_t code, uint32_t have)
{
	if (have & CT_IOCTL_CONTROL)
		return nv_ctrl_name(code);
	if (have & CT_IOCTL_CLASS)
		return nv_class_name(code);
	return NULL;
}

const char *ct_name_context(unsigned int flags)
{
	switch (flags & CT_F_CONTEXT) {
	case CT_F_SOFTIRQ:
		return "softirq";
	case CT_F_HARDIRQ:
		return "hardirq";
	case CT_F_NMI:
		return "nmi";
	}
	return NULL;
}

/*
 * By libiberty: of GNU binutils, in C, linked statically, bounded in depth.  It is
 * not bounded in what it writes (a name of 100 bytes may expand to gigabytes), so
 * longjmp() ends it; with a callback it holds no memory that could leak.
 */
struct demangling {
	char text[DEMANGLED_MAX];
	size_t len;
	jmp_buf too_long;
};

static void names_demangled_more(const char *text, size_t len, void *arg)
{
	struct demangling *d = arg;

	if (len >= sizeof(d->text) - d->len)
		longjmp(d->too_long, 1);
	memcpy(d->text + d->len, text, len);
	d->len += len;
}

char *ct_demangle(const char *mangled)
{
	struct demangling d;

	d.len = 0;
	if (strncmp(mangled, "_Z", 2) || setjmp(d.too_long) ||
	    !cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_ANSI, names_demangled_more, &d))
		return NULL;
	return strndup(d.text, d.len);
}

int ct_names_init(struct ct_names *names, const struct ct_registry *reg)
{
	names->reg = reg;
	names->demangled = calloc(reg->strings_count + 1, sizeof(*names->demangled));
	return names->demangled ? 0 : -ENOMEM;
}

const char *ct_names_string(struct ct_names *names, uint32_t id)
{
	const char *string = ct_registry_string(names->reg, id);

	if (!string)
		return NULL;
	if (!names->demangled[id]) {
		char *plain = ct_demangle(string);

		names->demangled[id] = plain ? plain : (char *)string;
	}
	return names->demangled[id];
}

void ct_names_forget(struct ct_names *names)
{
	if (names->demangled)
		for (unsigned int i = 0; i < names->reg->strings_count; i++)
			if (names->demangled[i] != names->reg->strings[i])
				free(names->demangled[i]);
	free(names->demangled);
	names->demangled = NULL;
}
