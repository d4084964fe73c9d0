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
#include "base/proc.h"
#include "capture/nvml/nvml_used.h"
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

int ct_programs_call(struct ct_programs *p, const struct ct_live_call *call, struct ct_programs_from from)
{
	struct ct_program *one = programs_of(p, call->pid);
	uint64_t ns = call->timed ? call->ns : 0;

	if (!one)
		return p->programs.count == PROGRAMS_MOST ? 0 : -ENOMEM;
	one->here |= from.here;
	one->elsewhere |= from.elsewhere;
	one->sizes |= from.session;
	one->partly |= from.session;
	one->calls++;
	one->now_calls += from.now;
	one->failed += call->failed;
	one->ns += ns;
	one->now_ns += from.now ? ns : 0;
	one->copied += call->copies ? call->bytes : 0;
	one->now_copied += from.now && call->copies ? call->bytes : 0;
	return 0;
}

void ct_programs_left_out(struct ct_programs *p, uint32_t pid)
{
	struct ct_program *one = pid ? programs_of(p, pid) : NULL;

	for (size_t i = 0; !pid && i < p->programs.count; i++)
		p->programs.list[i].partly = true;
	if (!one)
		return;
	one->partly = true;
	one->elsewhere |= p->follows;
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

int ct_programs_record(struct ct_programs *p, const struct ct_record *r, struct ct_programs_from from)
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
	one->elsewhere |= from.elsewhere;
	if ((r->flags & (CT_F_BEGIN | CT_F_ABANDONED)) || ct_record_failed(r) || !r->fields)
		return 0;
	if (copies) {
		one->copied += ct_record_known(r, CT_KNOWN_SIZE);
		one->now_copied += from.now ? ct_record_known(r, CT_KNOWN_SIZE) : 0;
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

static void programs_other(struct ct_programs *p, pid_t pid, const char *dir, struct ct_elsewhere *follow)
{
	struct ct_program_other *o;
	struct ct_proc_stat stat;
	struct ct_way w;

	ct_way_of(pid, &w);
	p->hidden |= w.how == CT_WAY_UNKNOWN && ct_proc_stat(pid, &stat);
	if ((!w.cuda && w.how != CT_WAY_STANDBY) || programs_same_dir(w.dir, dir) || !ct_proc_stat(pid, &stat) ||
	    !ct_room(p->others, p->others_count, p->others_room))
		return;
	o = &p->others[p->others_count++];
	*o = (struct ct_program_other){ .pid = (uint32_t)pid, .started = stat.started, .attached = w.how == CT_WAY_ATTACHED, .session = w.session };
	memcpy(o->name, stat.name, sizeof(o->name));
	if (*w.dir) {
		o->dir = strdup(w.dir);
		o->why = !follow ? NULL : o->dir ? ct_elsewhere_process(follow, pid, &w) : "no memory";
	} else {
		o->what = w.how == CT_WAY_STANDBY ? "no, stands by" : "no";
	}
}

static void programs_forget_others(struct ct_programs *p)
{
	for (unsigned int i = 0; i < p->others_count; i++)
		free(p->others[i].dir);
	p->others_count = 0;
}

static const struct ct_program_other *programs_other_of(const struct ct_programs *p, uint64_t pid)
{
	for (unsigned int i = 0; i < p->others_count; i++)
		if (p->others[i].pid == pid)
			return &p->others[i];
	return NULL;
}

static bool programs_is_followed(const struct ct_program_other *o) { return o->dir && !o->why; }

/* Those that are recorded into a directory, and those that are not any more. */
static void programs_follow(struct ct_programs *p)
{
	for (size_t i = p->programs.count; i-- > 0;) {
		struct ct_program *one = &p->programs.list[i];
		const struct ct_program_other *o = one->elsewhere ? programs_other_of(p, one->pid) : NULL;

		if (!one->elsewhere || (o && programs_is_followed(o) && (!one->started || o->started == one->started)))
			continue;
		programs_ended(p, one, ct_now_ns());
		ct_keyed_remove(&p->programs, one);
	}
	for (unsigned int i = 0; i < p->others_count; i++) {
		struct ct_program *one = programs_is_followed(&p->others[i]) ? programs_of(p, p->others[i].pid) : NULL;

		if (!one)
			continue;
		one->elsewhere = one->here = one->sizes = true;
		one->started = p->others[i].started;
	}
}

bool ct_programs_look(struct ct_programs *p, const char *dir, struct ct_elsewhere *follow)
{
	struct dirent *entry;
	DIR *proc;

	if (p->looked && ct_now_ns() - p->looked < LOOK_NS)
		return false;
	p->looked = ct_now_ns();
	programs_forget_others(p);
	p->hidden = false;
	p->follows = follow != NULL;
	if (follow)
		ct_elsewhere_look_begin(follow);
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != getpid() && p->others_count < PROGRAMS_MOST)
			programs_other(p, pid, dir, follow);
	}
	if (proc)
		closedir(proc);
	if (follow) {
		ct_elsewhere_look_end(follow);
		programs_follow(p);
	}
	/* Where nobody uses a GPU, asking could be what starts it. */
	if (!p->used && (p->others_count || p->programs.count))
		p->used = ct_nvml_used_start();
	return true;
}

/* A process of another machine may have the same number. */
static bool programs_is_here(const struct ct_program *one, const struct ct_way *w, const char *dir)
{
	return one->here || programs_same_dir(w->dir, dir);
}

/* How a process came to be recorded; "": that is not known here. */
static const char *programs_how(const struct ct_program *one, const struct ct_way *w, const char *dir)
{
	static const char *const how[] = {
		[CT_WAY_UNKNOWN] = "", [CT_WAY_NONE] = "", [CT_WAY_PRELOADED] = "preloaded", [CT_WAY_STANDBY] = "standby",
		[CT_WAY_ATTACHED] = "attached",
	};

	return programs_is_here(one, w, dir) ? how[w->how] : "";
}

/* ------------------------------------------------------ the table ---------- */

static int programs_compare(const void *a, const void *b, void *arg)
{
	const struct ct_programs_view *view = arg;
	const struct ct_program *x = *(struct ct_program *const *)a, *y = *(struct ct_program *const *)b;
	uint64_t of[2][3] = { { x->now_ns, x->ns, x->calls }, { y->now_ns, y->ns, y->calls } };

	if (view->by_calls || view->by_failed || view->by_bytes) {
		of[0][0] = view->by_failed ? x->failed : view->by_bytes ? x->now_copied : x->now_calls;
		of[1][0] = view->by_failed ? y->failed : view->by_bytes ? y->now_copied : y->now_calls;
	}
	for (unsigned int i = 0; i < 3; i++)
		if (of[0][i] != of[1][i])
			return of[0][i] > of[1][i] ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

enum { PROGRAMS_CALLS, PROGRAMS_FAILED, PROGRAMS_COPIED, PROGRAMS_MEMORY, PROGRAMS_USED, PROGRAMS_FIGURES };

static const struct { const char *head; int width; } programs_columns[PROGRAMS_FIGURES] = {
	[PROGRAMS_CALLS] = { "CALLS/s", 8 }, [PROGRAMS_FAILED] = { "FAILED", 7 }, [PROGRAMS_COPIED] = { "COPIED/s", 11 },
	[PROGRAMS_MEMORY] = { "MEMORY", 11 }, [PROGRAMS_USED] = { "USED", 11 },
};

static bool programs_is_narrow(const struct ct_programs_view *view) { return view->width < 100; }

/*
 * Where there is no room for both, it is what NVML says of the machine's processes, which began at some time, and what a
 * trace says of its own.
 */
static bool programs_has(const struct ct_programs *p, const struct ct_programs_view *view, int column)
{
	if (column == PROGRAMS_USED)
		return p->used_known && !(programs_is_narrow(view) && view->dir);
	return column != PROGRAMS_MEMORY || !p->used_known || !programs_is_narrow(view) || view->dir;
}

/* Where there is room, all of the 15 bytes that the kernel has of a name. */
static int programs_name_width(const struct ct_programs_view *view)
{
	return programs_is_narrow(view) ? 12 : 15;
}

/* Columns for how it is recorded: all that the figures leave. */
static unsigned int programs_recorded_width(const struct ct_programs *p, const struct ct_programs_view *view)
{
	unsigned int used = (unsigned int)programs_name_width(view) + 9;

	for (int i = 0; i < PROGRAMS_FIGURES; i++)
		used += programs_has(p, view, i) ? (unsigned int)programs_columns[i].width + 1 : 0;
	return view->width > used + 18 ? view->width - used : 18;
}

static void programs_row(const struct ct_programs *p, const struct ct_programs_view *view, const char *name, uint32_t pid,
			 const char *const figures[PROGRAMS_FIGURES], const char *recorded)
{
	int width = programs_name_width(view);
	char process[64], what[256];

	fprintf(view->out, "%-*s %7u", width, ct_term_clean(process, sizeof(process), name, (unsigned int)width), pid);
	for (int i = 0; i < PROGRAMS_FIGURES; i++)
		if (programs_has(p, view, i))
			fprintf(view->out, " %*s", programs_columns[i].width, figures[i]);
	fprintf(view->out, "%s%s\n", *recorded ? " " : "", ct_term_clean(what, sizeof(what), recorded, programs_recorded_width(p, view)));
}

static void programs_head(const struct ct_programs *p, const struct ct_programs_view *view)
{
	fprintf(view->out, "%-*s %7s", programs_name_width(view), "PROCESS", "PID");
	for (int i = 0; i < PROGRAMS_FIGURES; i++)
		if (programs_has(p, view, i))
			fprintf(view->out, " %*s", programs_columns[i].width, programs_columns[i].head);
	fputs(view->machine ? " RECORDED\n" : "\n", view->out);
}

/* "-": NVML has no such process. */
static const char *programs_used(const struct ct_programs *p, uint64_t pid, char *text)
{
	uint64_t bytes;

	return p->used && ct_nvml_used_of(p->used, pid, &bytes) ? ct_term_bytes(text, bytes) : "-";
}

/* Of a directory the end is what tells it from others. */
static const char *programs_recorded(const struct ct_programs *p, const struct ct_programs_view *view, const struct ct_program_other *o,
				     char *text, size_t size)
{
	size_t room = programs_recorded_width(p, view), before = o->why ? strlen(o->why) + 2 : strlen("into ");
	const char *how = o->attached && room > 50 ? ", attached" : "", *dir = o->dir;

	if (!o->dir)
		return o->session && view->session ? "session" : o->what;
	before += o->why ? 0 : strlen(how);
	room = room > before ? room - before : 0;
	while (strlen(dir) > room && strchr(dir + 1, '/'))
		dir = strchr(dir + 1, '/') + 1;
	snprintf(text, size, "%s%s%s%s", o->why ? o->why : "into", o->why ? ": " : " ", dir, o->why ? "" : how);
	return text;
}

static void programs_own(const struct ct_programs *p, const struct ct_programs_view *view, struct ct_processes *names,
			 const struct ct_program *one)
{
	char calls[32], failed[CT_TERM_TEXT], copied[CT_TERM_TEXT], held[CT_TERM_TEXT], used[CT_TERM_TEXT], text[512];
	const struct ct_program_other *o = one->elsewhere ? programs_other_of(p, one->pid) : NULL;
	const char *figures[PROGRAMS_FIGURES] = { calls, failed, one->sizes ? copied : "-", one->sizes && !one->partly ? held : "-", "-" };
	struct ct_way w;

	snprintf(calls, sizeof(calls), "%.0f", view->seconds > 0 ? one->now_calls / view->seconds : 0);
	ct_term_count(failed, one->failed);
	ct_term_bytes(copied, view->seconds > 0 ? one->now_copied / view->seconds : 0);
	ct_term_bytes(held, one->held);
	if (view->machine)
		ct_way_of((pid_t)one->pid, &w);
	if (programs_has(p, view, PROGRAMS_USED) && programs_is_here(one, &w, view->dir))
		figures[PROGRAMS_USED] = programs_used(p, one->pid, used);
	programs_row(p, view, ct_live_process(names, (uint32_t)one->pid, one->here), (uint32_t)one->pid, figures,
		     !view->machine ? "" : o ? programs_recorded(p, view, o, text, sizeof(text)) : programs_how(one, &w, view->dir));
}

/* @rows: that there is room for. */
static unsigned int programs_others(const struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view,
				    unsigned int rows)
{
	unsigned int lines = 0, left_out = 0;
	char text[512], used[CT_TERM_TEXT];

	for (unsigned int i = 0; i < p->others_count; i++) {
		const struct ct_program_other *o = &p->others[i];
		const struct ct_program *one = ct_keyed_get(&p->programs, o->pid);
		const char *what;

		if ((one && one->here) || (view->pid && view->pid != o->pid))
			continue;
		if (lines == rows) {
			left_out++;
			continue;
		}
		lines++;
		what = o->why ? "-" : "";
		programs_row(p, view, ct_live_process(names, o->pid, true), o->pid,
			     (const char *const[PROGRAMS_FIGURES]){ what, what, what, what, programs_used(p, o->pid, used) },
			     programs_recorded(p, view, o, text, sizeof(text)));
	}
	if (left_out)
		fprintf(view->out, "... and %u more that are not recorded here\n", left_out);
	return lines + !!left_out;
}

unsigned int ct_programs_print(struct ct_programs *p, struct ct_processes *names, const struct ct_programs_view *view)
{
	struct ct_program **list = malloc((p->programs.count + 1) * sizeof(*list));
	unsigned int count = 0, rows = view->rows ? view->rows : ROWS, shown, lines = 1;

	p->used_known = view->machine && p->used && ct_nvml_used_known(p->used);
	programs_head(p, view);
	for (size_t i = 0; list && i < p->programs.count; i++)
		if (!view->pid || view->pid == p->programs.list[i].pid)
			list[count++] = &p->programs.list[i];
	if (count)
		qsort_r(list, count, sizeof(*list), programs_compare, (void *)view);
	shown = count < rows ? count : rows;
	for (unsigned int i = 0; i < shown; i++, lines++)
		programs_own(p, view, names, list[i]);
	if (count > shown) {
		fprintf(view->out, "... and %u more\n", count - shown);
		lines++;
	}
	free(list);
	for (size_t i = 0; i < p->programs.count; i++)
		p->programs.list[i].now_calls = p->programs.list[i].now_ns = p->programs.list[i].now_copied = 0;
	return lines + (view->machine ? programs_others(p, names, view, view->rows ? rows - shown : ROWS_OTHERS) : 0);
}

void ct_programs_free(struct ct_programs *p)
{
	ct_keyed_free(&p->programs);
	ct_keyed_free(&p->memory);
	programs_forget_others(p);
	free(p->others);
	ct_nvml_used_stop(p->used);
}
