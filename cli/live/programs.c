// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See programs.h.
 *
 * Records of several threads come stream by stream and not in the order of time: so of each address it is kept when it
 * was allocated last, and when it was freed last.  A handle of cuMemCreate() counts until its first release.
 */
#include "live/programs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/way.h"
#include "base/clock.h"
#include "base/grow.h"
#include "live/live.h"
#include "view/term.h"

#define PROGRAMS_MOST	1024u
#define MEMORY_MOST	(1u << 18)	/* addresses that are known at a moment */
#define ROWS		8u		/* processes that are recorded */
#define ROWS_OTHERS	4u
#define LOOK_NS		1000000000ull	/* between two looks for processes */

static struct ct_program *programs_of(struct ct_programs *p, uint32_t pid)
{
	struct ct_program *one = ct_keyed_get(&p->programs, pid);

	return one || p->programs.count == PROGRAMS_MOST ? one : ct_keyed_put(&p->programs, pid);
}

int ct_programs_call(struct ct_programs *p, uint32_t pid, bool here, bool failed, uint64_t ns)
{
	struct ct_program *one = programs_of(p, pid);

	if (!one)
		return p->programs.count == PROGRAMS_MOST ? 0 : -ENOMEM;
	one->here |= here;
	one->calls++;
	one->now_calls++;
	one->failed += failed;
	one->ns += ns;
	one->now_ns += ns;
	return 0;
}

/* ------------------------------------------------------ memory ------------- */

static bool programs_holds(const struct ct_program_memory *m) { return m->since > m->freed; }

/* Room for more: what is not held is forgotten. */
static void programs_forget(struct ct_programs *p)
{
	size_t before = p->memory.count;

	for (size_t i = before; i-- > 0;)
		if (!programs_holds(&p->memory.list[i]))
			ct_keyed_remove_pair(&p->memory, &p->memory.list[i]);
	p->memory_full = before - p->memory.count < before / 8;
}

/* Another program begins under this pid, or the one that was there has ended. */
static void programs_ended(struct ct_programs *p, struct ct_program *one, uint64_t ts)
{
	for (size_t i = 0; one->held && i < p->memory.count; i++) {
		struct ct_program_memory *m = &p->memory.list[i];

		if (m->who >> 1 != one->pid || m->since >= ts)
			continue;
		one->held -= programs_holds(m) ? m->bytes : 0;
		m->freed = m->freed > ts ? m->freed : ts;
	}
}

static int programs_memory(struct ct_programs *p, struct ct_program *one, const struct ct_record *r)
{
	bool alloc = ct_class_is(r->class, CT_IS_ALLOC), handle = !ct_record_known(r, CT_KNOWN_PTR);
	uint64_t at = ct_record_allocation(r), bytes = ct_record_known(r, CT_KNOWN_SIZE), who = one->pid << 1 | handle;
	struct ct_program_memory *m;

	if (!at || (alloc && !ct_record_has(r, CT_KNOWN_SIZE)))
		return 0;
	m = ct_keyed_get_pair(&p->memory, at, who);
	if (!m && p->memory.count >= MEMORY_MOST && !p->memory_full)
		programs_forget(p);
	if (!m && p->memory.count >= MEMORY_MOST)
		return 0;
	m = m ? m : ct_keyed_put_pair(&p->memory, at, who);
	if (!m)
		return -ENOMEM;
	one->held -= programs_holds(m) ? m->bytes : 0;
	if (!alloc && ct_record_begin(r) > m->freed) {
		m->freed = ct_record_begin(r);
	} else if (alloc && r->end > m->since) {
		m->since = r->end;
		m->bytes = bytes;
	}
	one->held += programs_holds(m) ? m->bytes : 0;
	return 0;
}

int ct_programs_record(struct ct_programs *p, const struct ct_record *r)
{
	bool begins = r->class->id == CT_CLASS_process, ends = r->class->id == CT_CLASS_exit;
	bool copies = ct_class_is(r->class, CT_IS_COPY);
	struct ct_program *one;

	if (!begins && !ends && !copies && !ct_class_is(r->class, CT_IS_ALLOC | CT_IS_FREE))
		return 0;
	one = programs_of(p, r->pid);
	if (!one)
		return p->programs.count == PROGRAMS_MOST ? 0 : -ENOMEM;
	if (begins || ends) {
		programs_ended(p, one, r->end);
		return 0;
	}
	one->sizes = true;
	if ((r->flags & (CT_F_BEGIN | CT_F_ABANDONED)) || ct_record_failed(r) || !r->fields)
		return 0;
	if (copies) {
		one->copied += ct_record_known(r, CT_KNOWN_SIZE);
		one->now_copied += ct_record_known(r, CT_KNOWN_SIZE);
		return 0;
	}
	return ct_class_is(r->class, CT_IS_HOST) ? 0 : programs_memory(p, one, r);
}

void ct_programs_whole(struct ct_programs *p)
{
	for (size_t i = 0; i < p->programs.count; i++) {
		struct ct_program *one = &p->programs.list[i];

		one->now_calls = one->calls;
		one->now_ns = one->ns;
		one->now_copied = one->copied;
	}
}

/* ------------------------------------------------------ the machine -------- */

static bool programs_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return *a && b && !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void programs_other(struct ct_programs *p, pid_t pid, const char *dir)
{
	struct ct_program_other *o;
	struct ct_way w;

	ct_way_of(pid, &w);
	if ((!w.cuda && w.how != CT_WAY_STANDBY) || programs_same_dir(w.dir, dir) ||
	    !ct_room(p->others, p->others_count, p->others_room))
		return;
	o = &p->others[p->others_count++];
	*o = (struct ct_program_other){ .pid = (uint32_t)pid };
	if (*w.dir)
		snprintf(o->what, sizeof(o->what), "into %.50s", w.dir);
	else
		snprintf(o->what, sizeof(o->what), "%s", w.how == CT_WAY_STANDBY ? "no, stands by" : "no");
}

static void programs_look(struct ct_programs *p, const char *dir)
{
	struct dirent *entry;
	DIR *proc;

	if (p->looked && ct_now_ns() - p->looked < LOOK_NS)
		return;
	p->looked = ct_now_ns();
	p->others_count = 0;
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != getpid() && p->others_count < PROGRAMS_MOST)
			programs_other(p, pid, dir);
	}
	if (proc)
		closedir(proc);
}

/* How a process came to be recorded; "": that is not known here. */
static const char *programs_how(const struct ct_program *one, const char *dir)
{
	static const char *const how[] = {
		[CT_WAY_UNKNOWN] = "", [CT_WAY_NONE] = "", [CT_WAY_PRELOADED] = "preloaded", [CT_WAY_STANDBY] = "standby",
		[CT_WAY_ATTACHED] = "attached",
	};
	struct ct_way w;

	ct_way_of((pid_t)one->pid, &w);
	/* A process of another machine may have the same number. */
	return one->here || programs_same_dir(w.dir, dir) ? how[w.how] : "";
}

/* ------------------------------------------------------ the table ---------- */

static int programs_compare(const void *a, const void *b, void *arg)
{
	const struct ct_programs_view *view = arg;
	const struct ct_program *x = *(struct ct_program *const *)a, *y = *(struct ct_program *const *)b;
	uint64_t of[2][3] = { { x->now_ns, x->ns, x->calls }, { y->now_ns, y->ns, y->calls } };

	if (view->by_calls || view->by_failed) {
		of[0][0] = view->by_failed ? x->failed : x->now_calls;
		of[1][0] = view->by_failed ? y->failed : y->now_calls;
	}
	for (unsigned int i = 0; i < 3; i++)
		if (of[0][i] != of[1][i])
			return of[0][i] > of[1][i] ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Where there is room, all of the 15 bytes that the kernel has of a name. */
static int programs_name_width(const struct ct_programs_view *view)
{
	return view->width < 100 ? 12 : 15;
}

static void programs_row(const struct ct_programs_view *view, const char *name, uint32_t pid, const char *const figures[4],
			 const char *recorded)
{
	int width = programs_name_width(view), before = width + 50;
	char process[64], what[256];

	fprintf(view->out, "%-*s %7u %8s %7s %11s %11s%s%s\n", width, ct_term_clean(process, sizeof(process), name, (unsigned int)width), pid,
		figures[0], figures[1], figures[2], figures[3], *recorded ? " " : "",
		ct_term_clean(what, sizeof(what), recorded, view->width > 82 ? view->width - (unsigned int)before : 18));
}

static void programs_own(const struct ct_programs_view *view, struct ct_processes *names, const struct ct_program *one)
{
	char calls[32], failed[CT_TERM_TEXT], copied[CT_TERM_TEXT], held[CT_TERM_TEXT];
	const char *const figures[4] = { calls, failed, one->sizes ? copied : "-", one->sizes ? held : "-" };

	snprintf(calls, sizeof(calls), "%.0f", view->seconds > 0 ? one->now_calls / view->seconds : 0);
	ct_term_count(failed, one->failed);
	ct_term_bytes(copied, view->seconds > 0 ? one->now_copied / view->seconds : 0);
	ct_term_bytes(held, one->held);
	programs_row(view, ct_live_process(names, (uint32_t)one->pid, one->here), (uint32_t)one->pid, figures,
		     view->machine ? programs_how(one, view->dir) : "");
}

static unsigned int programs_others(struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view)
{
	static const char *const none[4] = { "", "", "", "" };
	unsigned int lines = 0, left_out = 0;

	programs_look(p, view->dir);
	for (unsigned int i = 0; i < p->others_count; i++) {
		const struct ct_program_other *o = &p->others[i];
		const struct ct_program *one = ct_keyed_get(&p->programs, o->pid);

		if ((one && one->here) || (view->pid && view->pid != o->pid))
			continue;
		if (lines == ROWS_OTHERS) {
			left_out++;
			continue;
		}
		lines++;
		programs_row(view, ct_live_process(names, o->pid, true), o->pid, none, o->what);
	}
	if (left_out)
		fprintf(view->out, "... and %u more that are not recorded here\n", left_out);
	return lines + !!left_out;
}

unsigned int ct_programs_print(struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view)
{
	struct ct_program **list = malloc((p->programs.count + 1) * sizeof(*list));
	unsigned int count = 0, lines = 1;

	fprintf(view->out, "%-*s %7s %8s %7s %11s %11s%s\n", programs_name_width(view), "PROCESS", "PID", "CALLS/s", "FAILED", "COPIED/s", "MEMORY",
		view->machine ? " RECORDED" : "");
	for (size_t i = 0; list && i < p->programs.count; i++)
		if (!view->pid || view->pid == p->programs.list[i].pid)
			list[count++] = &p->programs.list[i];
	if (count)
		qsort_r(list, count, sizeof(*list), programs_compare, (void *)view);
	for (unsigned int i = 0; i < count && i < ROWS; i++, lines++)
		programs_own(view, names, list[i]);
	if (count > ROWS) {
		fprintf(view->out, "... and %u more\n", count - ROWS);
		lines++;
	}
	free(list);
	for (size_t i = 0; i < p->programs.count; i++)
		p->programs.list[i].now_calls = p->programs.list[i].now_ns = p->programs.list[i].now_copied = 0;
	return lines + (view->machine ? programs_others(p, names, view) : 0);
}

void ct_programs_free(struct ct_programs *p)
{
	ct_keyed_free(&p->programs);
	ct_keyed_free(&p->memory);
	free(p->others);
}
