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

#include "decode/nccl.h"
#include "decode/nv_decode.h"
#include "trace/errno_names.h"

#define DEMANGLED_MAX	16384

/* "EINVAL" for 22; NULL if unknown. */
static const char *names_errno(int number)
{
	static const char *const names[] = {
#define NAME(name)	[name] = #name,
		CT_ERRNO_NAMES(NAME)
#undef NAME
	};

	return number > 0 && (size_t)number < sizeof(names) / sizeof(*names) ? names[number] : NULL;
}

const char *const ct_results_word[] = {
	NULL,
#define ROW(id, word)	word,
	CT_RESULTS(ROW)
#undef ROW
};

enum ct_results_kind ct_results_of(const struct ct_class *class)
{
	if (ct_class_is(class, CT_IS_IOCTL))
		return CT_RESULTS_ERRNO;
	if (!class->call)
		return CT_RESULTS_NONE;
	if (class->layer != CT_LAYER_USER)
		return CT_RESULTS_ERRNO;
	if (class->category == CT_CAT_RUNTIME)
		return CT_RESULTS_CUDART;
	if (ct_class_is(class, CT_IS_NCCL))
		return CT_RESULTS_NCCL;
	return class->id < CT_CLASS_DYNAMIC ? CT_RESULTS_NONE : CT_RESULTS_CUDA;
}

static const char *names_result(enum ct_results_kind kind, int64_t code)
{
	switch (kind) {
	case CT_RESULTS_CUDA:
		return cu_result_name(code);
	case CT_RESULTS_CUDART:
		return cudart_error_name(code);
	case CT_RESULTS_NCCL:
		return nccl_result_name(code);
	case CT_RESULTS_ERRNO:
		return code < 0 && code >= -4095 ? names_errno(-code) : NULL;
	case CT_RESULTS_NV:
		return nv_status_name(code);
	default:
		return NULL;
	}
}

const char *ct_name_result(const struct ct_record *r)
{
	int64_t code;

	ct_record_result(r, &code);
	return names_result(ct_results_of(r->class), code);
}

const char *ct_name_failure(const struct ct_record *r)
{
	struct ct_failure f = ct_record_failure(r);

	return names_result(f.status ? CT_RESULTS_NV : ct_results_of(r->class), f.code);
}

const char *ct_name_direction(uint64_t direction)
{
	return direction < CT_DIR_COUNT ? ct_direction_word[direction] : NULL;
}

void ct_ioctl_words(struct ct_ioctl_words *w, const struct ct_record *r)
{
	w->cmd = ct_record_known(r, CT_KNOWN_CMD);
	w->device = ct_record_known(r, CT_KNOWN_DEVICE);
	w->have = ct_record_known(r, CT_KNOWN_HAVE);
	w->code = ct_record_known(r, CT_KNOWN_CODE);
	w->status = ct_record_known(r, CT_KNOWN_STATUS);
	w->escape = ct_name_ioctl(w->cmd, w->device);
	w->code_kind = w->have & CT_IOCTL_CONTROL ? "control" : w->have & CT_IOCTL_CLASS ? "class" : NULL;
	w->code_name = ct_name_code(w->code, w->have);
	w->status_name = w->have & CT_IOCTL_STATUS ? nv_status_name(w->status) : NULL;
	w->device_name = ct_name_device(w->device, w->buf);
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
