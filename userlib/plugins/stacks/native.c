// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See native.h.  Unwinding takes about 0.3 us a frame, so what has not changed is not unwound again: a frame whose
 * return address is at the same place, and whose callers' addresses are all at theirs, has the same callers.
 * Such places are read only on the thread's own stack, which is there as long as the thread.
 */
#include "plugins/stacks/native.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "plugins/gpu/loader.h"
#include "plugins/stacks/nodes.h"

static __typeof__(_Unwind_Backtrace) *backtrace;
static __typeof__(_Unwind_GetIP) *get_ip;
static __typeof__(_Unwind_GetCFA) *get_cfa;

/* Memory that one object's code takes. */
struct native_range {
	uint64_t from, to;
};

static struct native_range plugin, library, interpreter;	/* this one, libcudatrace.so, and Python's */
static struct native_range driver;	/* libcuda, whose functions call us where its table of pointers is used */

extern void *__libc_stack_end __attribute__((weak));

void native_begin(void)
{
	void *handle = loader_open("libgcc_s.so.1", RTLD_LAZY);

	if (!handle)
		return;
	get_ip = (__typeof__(get_ip))loader_find(handle, "_Unwind_GetIP");
	get_cfa = (__typeof__(get_cfa))loader_find(handle, "_Unwind_GetCFA");
	if (get_ip && get_cfa)
		backtrace = (__typeof__(backtrace))loader_find(handle, "_Unwind_Backtrace");
}

/* ------------------------------------------------------- the thread's stack --- */

static const char *native_hex(const char *text, uint64_t *value)
{
	for (*value = 0; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
		*value = *value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return text;
}

/*
 * A line of /proc/self/maps: is it the stack that the thread has from its begin on?  Such a one holds its TCB,
 * and its frames lie below that.  What lies above may be another mapping that the kernel has joined to it, which
 * goes when the program likes.
 */
static bool native_bounds_line(struct native_stack *n, const char *line, uint64_t here)
{
	uint64_t from, to, tcb, end = &__libc_stack_end ? (uint64_t)__libc_stack_end : 0;

	__asm__("movq %%fs:0, %0" : "=r" (tcb));
	line = native_hex(line, &from);
	if (*line != '-')
		return false;
	native_hex(line + 1, &to);
	if (here < from || here >= to)
		return false;
	if (tcb >= from && tcb < to) {
		n->low = from;
		n->high = tcb;
	} else if (end >= from && end < to) {
		n->low = from;
		n->high = to;
	}
	return true;
}

static void native_bounds(struct native_stack *n, uint64_t here)
{
	char text[4096];
	size_t used = 0;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		char *line = text, *end;

		used += (size_t)got;
		text[used] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1)
			if (native_bounds_line(n, line, here))
				goto out;
		used -= (size_t)(line - text);
		memmove(text, line, used);
		/* A path that long. */
		if (used == sizeof(text) - 1)
			used = 0;
	}
out:
	if (fd >= 0)
		close(fd);
}

/*
 * Is it on the stack that the thread has from its begin on?  The main thread's grows, and a thread may have begun on another one:
 * where it is not, its bounds are looked for after 1, 2, 4 ... such calls.
 */
static bool native_own(struct native_stack *n, uint64_t here)
{
	uint32_t times;

	if (here >= n->low && here < n->high)
		return true;
	times = ++n->elsewhere;
	if (times & (times - 1))
		return false;
	native_bounds(n, here);
	return here >= n->low && here < n->high;
}

uint64_t native_begins(struct native_stack *n, uint64_t here)
{
	return native_own(n, here) ? n->high : 0;
}

/* From which of the last stack's frames on all return addresses are where they were. */
static unsigned int native_unchanged(const struct native_stack *n, uint64_t here)
{
	unsigned int i = n->depth;

	if (here < n->low || here >= n->high)
		return n->depth;
	while (i && n->frames[i - 1].slot > here && n->frames[i - 1].slot <= n->high - 8 &&
	       *(const uint64_t *)n->frames[i - 1].slot == n->frames[i - 1].ip)
		i--;
	return i;
}

/* ------------------------------------------------------------------ unwinding --- */

struct native_walking {
	struct native_stack *n;
	uint64_t here, last;
	unsigned int depth, unchanged, at;
	bool cut, inside;		/* inside: until the interpreter */
};

static _Unwind_Reason_Code native_frame(struct _Unwind_Context *context, void *arg)
{
	struct native_walking *w = arg;
	struct native_stack *n = w->n;
	uint64_t ip = get_ip(context), slot = get_cfa(context) - 8;

	if (slot < w->here + 8)
		return _URC_NO_REASON;
	/* The end, or nonsense. */
	if (!ip || (w->depth && slot <= w->last))
		return _URC_END_OF_STACK;
	if (w->inside && ip >= interpreter.from && ip < interpreter.to)
		return _URC_END_OF_STACK;
	for (; w->at < n->depth && (w->at < w->unchanged || n->frames[w->at].slot < slot); w->at++)
		;
	if (w->at < n->depth && n->frames[w->at].slot == slot && n->frames[w->at].ip == ip) {
		for (; w->at < n->depth && w->depth < NATIVE_DEPTH; w->at++)
			n->next[w->depth++] = n->frames[w->at];
		w->cut = n->cut || w->at < n->depth;
		return _URC_END_OF_STACK;
	}
	if (w->depth == NATIVE_DEPTH) {
		w->cut = true;
		return _URC_END_OF_STACK;
	}
	n->next[w->depth++] = (struct native_frame){ slot, ip };
	w->last = slot;
	return _URC_NO_REASON;
}

struct native_object {
	uint64_t ip;
	struct native_range range;
	uint64_t base;
	const char *name;
	const uint8_t *id;		/* of its build */
	unsigned int id_size;
};

static void native_notes(struct native_object *o, const uint8_t *at, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		size_t name = (note->n_namesz + 3u) & ~3u, text = (note->n_descsz + 3u) & ~3u, all = sizeof(*note) + name + text;

		if (all > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4)) {
			o->id = at + sizeof(*note) + name;
			o->id_size = note->n_descsz;
		}
		at += all;
		size -= all;
	}
}

static int native_is(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct native_object *o = arg;

	(void)size;
	o->range = (struct native_range){ UINT64_MAX, 0 };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < o->range.from)
			o->range.from = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > o->range.to)
			o->range.to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (o->ip < o->range.from || o->ip >= o->range.to)
		return 0;
	o->base = info->dlpi_addr;
	o->name = info->dlpi_name;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			native_notes(o, (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				     info->dlpi_phdr[i].p_memsz);
	return 1;
}

static bool native_object(struct native_object *o, uint64_t ip)
{
	*o = (struct native_object){ .ip = ip };
	return dl_iterate_phdr(native_is, o) == 1;
}

static struct native_range native_range(uint64_t ip)
{
	struct native_object o;

	return native_object(&o, ip) ? o.range : (struct native_range){ 1, 0 };
}

static bool native_has(const struct native_range *r, uint64_t ip)
{
	return ip >= r->from && ip < r->to;
}

/* Brings the thread's list up to date. */
static bool native_update(struct native_stack *n, uint64_t here, bool inside)
{
	struct native_walking w = { .n = n, .here = here, .inside = inside };
	uint64_t caller = *(const uint64_t *)(here + 8);

	if (!backtrace)
		return false;
	native_own(n, here);
	if (!plugin.to) {
		library = native_range(caller);
		plugin = native_range((uint64_t)native_update);
	}
	w.unchanged = inside ? n->depth : native_unchanged(n, here);
	if (!inside && !w.unchanged && n->depth && n->frames[0].slot == here + 8)
		return true;
	w.at = w.unchanged;
	backtrace(native_frame, &w);
	memcpy(n->frames, n->next, w.depth * sizeof(*n->frames));
	n->depth = w.depth;
	n->cut = w.cut;
	return true;
}

static bool native_is_driver(uint64_t ip)
{
	struct native_object o;
	const char *name;

	if (driver.to)
		return native_has(&driver, ip);
	name = native_object(&o, ip) ? strrchr(o.name, '/') : NULL;
	if (!name || strncmp(name, "/libcuda.so", 11))
		return false;
	driver = o.range;
	return true;
}

/* The first frame that is none of ours, nor the call itself. */
static unsigned int native_first(const struct native_stack *n)
{
	unsigned int i = 0;

	while (i < n->depth && (native_has(&plugin, n->frames[i].ip) || native_has(&library, n->frames[i].ip)))
		i++;
	while (i < n->depth && native_is_driver(n->frames[i].ip))
		i++;
	return i;
}

bool native_walk(struct native_stack *n, uint64_t here, struct python_stack *s)
{
	if (!native_update(n, here, false))
		return false;
	s->kept = s->depth = 0;
	s->cut = n->cut;
	for (unsigned int i = native_first(n); i < n->depth; i++)
		s->frames[s->depth++] = (struct python_frame){ .frame = n->frames[i].slot, .code = n->frames[i].ip,
							       .digest = NATIVE_DIGEST };
	return true;
}

void native_inside(struct native_stack *n, uint64_t here, struct python_stack *s)
{
	unsigned int first, count;

	if (!interpreter.to)
		interpreter = native_range((uint64_t)python.this_thread);
	if (!native_update(n, here, true))
		return;
	first = native_first(n);
	count = n->depth - first;
	if (count > PYTHON_DEPTH - s->kept - s->depth)
		count = PYTHON_DEPTH - s->kept - s->depth;
	memmove(s->frames + count, s->frames, s->depth * sizeof(*s->frames));
	for (unsigned int i = 0; i < count; i++)
		s->frames[i] = (struct python_frame){ .frame = n->frames[first + i].slot, .code = n->frames[first + i].ip,
						      .digest = NATIVE_DIGEST };
	s->depth += count;
	/* It ends at the interpreter: no stack of another call goes on from here. */
	n->depth = 0;
}

/* --------------------------------------------------------------------- names --- */

uint32_t native_function(struct nodes_room *room, uint64_t ip)
{
	struct native_object o;
	char where[32], *file = room->file;
	size_t used;
	ssize_t n;

	if (!native_object(&o, ip))
		return nodes_function(room, "native", "(generated code)", 16, "", 0);
	if (!*o.name) {
		n = readlink("/proc/self/exe", room->exe, sizeof(room->exe) - 1);
		room->exe[n > 0 ? n : 0] = '\0';
		o.name = room->exe;
	}
	snprintf(where, sizeof(where), "0x%lx", (unsigned long)(ip - o.base));
	used = (size_t)snprintf(file, sizeof(room->file) - 130, "\t%s\t", o.name);
	if (used >= sizeof(room->file) - 130)
		used = sizeof(room->file) - 131;
	for (unsigned int i = 0; i < o.id_size && i < 64; i++)
		used += (size_t)snprintf(file + used, sizeof(room->file) - used, "%02x", o.id[i]);
	return nodes_function(room, "native", where, strlen(where), file, used);
}
