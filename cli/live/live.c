// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows of the live table.  Must never send a traced program's bytes to the
 * terminal as they are.
 */
#include "live/live.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "trace/names.h"
#include "view/term.h"

/* A thread that is off its CPU for so long is worth a line. */
#define STALL_NS	1000000u
#define DETAILS		512

void ct_live_init(struct ct_live *live, const struct ct_registry *reg, FILE *out)
{
	*live = (struct ct_live){ .reg = reg, .colour = ct_term_colour(out) };
	/* A terminal wraps lines that are too long; a file keeps them whole. */
	live->width = live->colour ? ct_term_width(out, 0) : 0;
}

void ct_live_free(struct ct_live *live)
{
	ct_processes_free(&live->processes);
}

void ct_live_head(const struct ct_live *live, FILE *out)
{
	fprintf(out, "%s%14s %-16s %8s %-28s %s%s\n", live->colour ? "\033[1m" : "", "TIME(ms)",
		"PROCESS", "PID", "EVENT", "DETAILS", live->colour ? "\033[0m" : "");
}

/* The name is kept: the process may have ended when its next row is printed. */
const char *ct_live_process(struct ct_processes *processes, uint32_t pid, bool here)
{
	struct ct_process_name *process = ct_keyed_put(&processes->names, pid);
	char path[64], comm[32] = "";

	if (!process)
		return "?";
	if (!process->name && here) {
		snprintf(path, sizeof(path), "/proc/%u/comm", pid);
		if (ct_first_line(path, comm, sizeof(comm)) && *comm)
			process->name = strdup(comm);
	}
	return process->name ? process->name : "?";
}

void ct_live_row(struct ct_live *live, FILE *out, double ms, uint32_t pid, const char *event,
		 const char *details, bool failed)
{
	char name[64], clean_event[128], text[DETAILS * 2];
	unsigned int columns = live->width > 75 ? live->width - 71 : live->width ? 4 : DETAILS;

	ct_term_clean(name, sizeof(name), ct_live_process(&live->processes, pid, true), 16);
	ct_term_clean(clean_event, sizeof(clean_event), event, 28);
	ct_term_clean(text, sizeof(text), details, columns);
	fprintf(out, "%14.6f %-16s %8u %s%-28s%s %s\n", ms, name, pid,
		failed && live->colour ? "\033[31m" : "", clean_event,
		failed && live->colour ? "\033[0m" : "", text);
}

/* ---------------------------------------------------------------- details --- */

struct text {
	char buf[DETAILS];
	size_t len;
};

static void live_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void live_add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	if (t->len >= sizeof(t->buf) - 1)
		return;
	va_start(args, format);
	n = vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, format, args);
	va_end(args);
	if (n > 0)
		t->len += n;
	if (t->len > sizeof(t->buf) - 1)
		t->len = sizeof(t->buf) - 1;
}

static void live_add_string(struct ct_live *live, struct text *t, uint32_t id)
{
	const char *string = ct_registry_string(live->reg, id);
	char *plain = string ? ct_demangle(string) : NULL;

	live_add(t, "%s", plain ? plain : string ? string : "?");
	free(plain);
}

static void live_add_launch(struct ct_live *live, struct text *t, const struct ct_record *r)
{
#define N(known)	((unsigned int)ct_record_known(r, CT_KNOWN_##known))
	live_add_string(live, t, N(KERNEL));
	live_add(t, " grid %ux%ux%u block %ux%ux%u", N(GRID_X), N(GRID_Y), N(GRID_Z), N(BLOCK_X),
		 N(BLOCK_Y), N(BLOCK_Z));
	if (N(SHARED))
		live_add(t, " shared %u", N(SHARED));
#undef N
}

static void live_add_ioctl(struct text *t, const struct ct_record *r)
{
	struct ct_ioctl_words w;

	ct_ioctl_words(&w, r);
	live_add(t, "%s ", w.device_name);
	if (w.escape)
		live_add(t, "%s", w.escape);
	else
		live_add(t, "0x%x", w.cmd);
	if (w.code_name)
		live_add(t, " %s", w.code_name);
	else if (w.code_kind)
		live_add(t, " 0x%x", w.code);
	if (w.status && w.status_name)
		live_add(t, " %s", w.status_name);
	else if (w.status && (w.have & CT_IOCTL_STATUS))
		live_add(t, " status 0x%x", w.status);
}

static void live_add_fields(struct ct_live *live, struct text *t, const struct ct_record *r)
{
	for (unsigned int i = 0; i < r->class->fields_count; i++) {
		const struct ct_class_field *field = &r->class->fields[i];
		uint64_t value = ct_record_field(r, i);
		const char *text;
		uint16_t len;

		if (i)
			live_add(t, " ");
		switch (field->type) {
		case CT_TYPE_text:
			text = ct_record_text(r, &len);
			live_add(t, "\"%.*s\"", (int)len, text);
			break;
		case CT_TYPE_str:
			live_add(t, "%s=", field->name);
			live_add_string(live, t, value);
			break;
		case CT_TYPE_s8: case CT_TYPE_s16: case CT_TYPE_s32: case CT_TYPE_s64:
			live_add(t, "%s=%lld", field->name, (long long)value);
			break;
		case CT_TYPE_u8: case CT_TYPE_u16: case CT_TYPE_u32: case CT_TYPE_u64:
			live_add(t, "%s=%llu", field->name, (unsigned long long)value);
			break;
		case CT_TYPE_memk:
			live_add(t, "%s=%s", field->name, value < CT_MEMKIND_COUNT ? ct_memkind_word[value] : "?");
			break;
		default:
			live_add(t, "%s=0x%llx", field->name, (unsigned long long)value);
		}
	}
}

static void live_add_details(struct ct_live *live, struct text *t, const struct ct_record *r)
{
	uint64_t direction = ct_record_known(r, CT_KNOWN_DIRECTION);
	char buf[CT_TERM_TEXT];

	if (ct_record_is_ioctl(r)) {
		live_add_ioctl(t, r);
	} else if (ct_record_has(r, CT_KNOWN_GRID_X)) {
		live_add_launch(live, t, r);
	} else if (ct_record_has(r, CT_KNOWN_DIRECTION)) {
		live_add(t, "%s %s", ct_name_direction(direction) ? ct_name_direction(direction) : "?",
			 ct_term_bytes(buf, ct_record_known(r, CT_KNOWN_SIZE)));
	} else if (ct_record_has(r, CT_KNOWN_SIZE) && ct_record_has(r, CT_KNOWN_PTR)) {
		live_add(t, "%s at 0x%llx", ct_term_bytes(buf, ct_record_known(r, CT_KNOWN_SIZE)),
			 (unsigned long long)ct_record_known(r, CT_KNOWN_PTR));
	} else {
		live_add_fields(live, t, r);
	}
}

void ct_live_record(struct ct_live *live, const struct ct_record *r, FILE *out)
{
	bool failed = ct_record_failed(r);
	struct text t = { .len = 0 };
	const char *name;
	char buf[CT_TERM_TEXT];

	if (r->class->id == CT_CLASS_process) {
		ct_processes_record(&live->processes, r);
	} else if ((r->flags & CT_F_BEGIN) || r->class->category == CT_CAT_TRACER) {
		return;
	} else if (ct_class_is(r->class, CT_IS_SWITCH) && r->duration < STALL_NS) {
		return;	/* the scheduler's daily work */
	}
	live_add_details(live, &t, r);
	if (!(r->flags & CT_F_INSTANT))
		live_add(&t, "%s%s", t.len ? "  " : "",
			 r->flags & CT_F_ABANDONED ? CT_LIVE_ABANDONED :
						     ct_term_ns(buf, r->duration));
	if (failed) {
		name = ct_name_result(r);
		if (name)
			live_add(&t, "  = %s", name);
		else if (!ct_record_is_ioctl(r))
			live_add(&t, "  = %lld", (long long)r->result);
	}
	ct_live_row(live, out, ((double)r->end - (double)live->reg->start) / 1e6, r->pid,
		    r->class->name, t.buf, failed);
}
