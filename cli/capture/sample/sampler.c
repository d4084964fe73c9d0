// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See sampler.h.  A process is found by the page that its plugin makes (.sample-PID).  Its samples
 * are kept only if it calls CUDA, or was attached to.
 */
#include "capture/sample/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/thread.h"
#include "capture/sample/gil.h"
#include "capture/sample/python.h"
#include "capture/sample/sample_state.h"
#include "write/state.h"
#include "write/claims.h"

#define SAMPLER_LOOK_NS		50000000ull	/* between two looks for processes */
#define SAMPLER_FIND_NS		20000000ull	/* between two looks for a thread's state */
#define SAMPLER_PROCESSES	256u
#define SAMPLER_NAMES		256u		/* of threads that are told */
#define SAMPLER_TRIES		2u		/* to see who holds Python's lock while it is handed on */
#define SAMPLER_REST		3u		/* times as long as it works it rests at least */

struct sampled_thread {
	struct ct_sampled_task task;
	uint64_t state;			/* the interpreter's, 0: not known */
	uint64_t next;			/* ns: when it is looked for again */
	struct ct_remote_known known;	/* where its frames lay */
	bool gone;
};

struct sampled_process {
	pid_t pid;
	ino_t inode;			/* of its page: after an exec there is another one */
	int page;
	char name[CT_STATE_NAME];	/* of its stream */
	struct ct_state out;
	struct ct_sampled_python python;
	struct ct_sampled_gils gils;
	/* Who held Python's lock at this look, seen by the first thread that waited for it. */
	uint64_t lock;			/* 0: none waited */
	struct ct_gil_wait held;
	struct ct_sampled_task holder;	/* the last one; .tid 0: there was none */
	struct sampled_thread *threads;
	unsigned int count, capacity;
	uint32_t known;			/* threads of the page that were read */
	uint64_t missed;		/* those that were overwritten before */
	bool main;			/* its main thread was added */
	bool several;			/* it has several interpreters now */
	uint64_t samples;
	bool called;			/* CUDA, with a stack */
	bool refused;			/* the plugin does not believe its interpreter */
	bool gone;			/* nothing can be read of it any more */
};

/* A node below its parent. */
struct sampled_node {
	uint64_t parent;
	uint64_t at;			/* function << 32 | line */
	uint32_t node;
};

/* A thread that held Python's lock while a sampled one waited for it. */
struct sampled_holder {
	uint64_t thread;		/* pid << 32 | tid */
	char name[16];			/* as the kernel has it; "": as the process is called */
};

struct ct_sampler {
	pthread_t thread;
	bool stop;
	int dirfd;
	uint8_t uuid[16];
	bool quiet;
	unsigned int rate;
	struct ct_claims claims;
	CT_KEYED(struct sampled_node) nodes;
	struct sampled_process *processes[SAMPLER_PROCESSES];
	unsigned int count;
	uint64_t looked;
	uint64_t samples, late;		/* late: turns that were left out */
	uint64_t missed;		/* threads that were not sampled: too many came at once */
	int refused;			/* the errno with which a process's memory could not be read; 0: never */
	uint32_t deeper;		/* id of "(deeper frames)" */
	CT_KEYED(struct sampled_holder) holders;
	struct ct_sampled_stack stack;
};

/* --------------------------------------------------------------- processes --- */

static bool sampler_read_page(const struct sampled_process *p, struct python_page *page)
{
	return pread(p->page, page, sizeof(*page), 0) == (ssize_t)sizeof(*page) && page->magic == PAGE_MAGIC;
}

/* Is the process with this number the one that made the page?  In another pid namespace it is not. */
static bool sampler_is_its(struct ct_sampler *s, struct sampled_process *p, const struct python_page *page)
{
	struct python_page there;
	size_t head = offsetof(struct python_page, state);

	if (memcmp(page->uuid, s->uuid, sizeof(s->uuid)) || page->pid != (uint32_t)p->pid)
		return false;
	if (ct_remote_now(&p->python.remote, page->self, &there, head))
		return !memcmp(&there, page, head);
	if (p->python.remote.error == EPERM || p->python.remote.error == ENOSYS)
		s->refused = p->python.remote.error;
	return false;
}

static void sampler_forget_names(struct ct_sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->holders.count; i++)
		if (s->holders.list[i].thread >> 32 == (uint64_t)pid)
			*s->holders.list[i].name = 0;
}

static void sampler_close(struct ct_sampler *s, struct sampled_process *p)
{
	struct python_page page;

	/* A thread may have called after the last sample. */
	if (sampler_read_page(p, &page)) {
		p->called |= page.threads > 0;
		p->refused = page.state == PAGE_REFUSED;
	}
	ct_state_close(&p->out);
	/* Where the interpreter is not what it seemed, nor are the stacks that were read of it. */
	if ((!p->called && !s->quiet) || !p->samples || p->refused) {
		unlinkat(s->dirfd, p->name, 0);
		sampler_forget_names(s, p->pid);
	} else {
		s->samples += p->samples, s->missed += p->missed;
	}
	for (unsigned int i = 0; i < p->count; i++)
		ct_sampled_task_close(&p->threads[i].task);
	if (p->holder.tid)
		ct_sampled_task_close(&p->holder);
	free(p->threads);
	ct_sampled_python_free(&p->python);
	close(p->page);
	free(p);
}

static void sampler_open(struct ct_sampler *s, pid_t pid, const char *name)
{
	struct sampled_process *p = calloc(1, sizeof(*p));
	struct python_page page;
	struct stat st;

	if (!p)
		return;
	p->pid = p->python.remote.pid = pid;
	p->page = openat(s->dirfd, name, O_RDONLY | CT_O_FOREIGN);
	if (p->page < 0 || fstat(p->page, &st) || !S_ISREG(st.st_mode) || !sampler_read_page(p, &page) ||
	    !sampler_is_its(s, p, &page)) {
		if (p->page >= 0)
			close(p->page);
		free(p);
		return;
	}
	p->inode = st.st_ino;
	if (!ct_state_open_samples(&p->out, s->dirfd, pid, p->name, s->uuid)) {
		s->processes[s->count++] = p;
		return;
	}
	close(p->page);
	free(p);
}

static bool sampler_known(struct ct_sampler *s, pid_t pid, ino_t inode)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->processes[i]->pid == pid && s->processes[i]->inode == inode)
			return true;
	return false;
}

static void sampler_look(struct ct_sampler *s)
{
	int fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		if (s->processes[i]->gone)
			sampler_close(s, s->processes[i]);
		else
			s->processes[kept++] = s->processes[i];
	}
	s->count = kept;
	while (dir && s->count < SAMPLER_PROCESSES && (entry = readdir(dir))) {
		const char *number = entry->d_name + strlen(PAGE_PREFIX);
		char *end;
		long pid;

		if (strncmp(entry->d_name, PAGE_PREFIX, strlen(PAGE_PREFIX)))
			continue;
		pid = strtol(number, &end, 10);
		if (!*end && pid > 0 && pid <= INT32_MAX && !sampler_known(s, pid, entry->d_ino))
			sampler_open(s, pid, entry->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* ------------------------------------------------------------------ stacks --- */

static uint32_t sampler_node(struct ct_sampler *s, uint32_t parent, uint32_t function, uint32_t line)
{
	uint64_t at = (uint64_t)function << 32 | line;
	struct sampled_node *node = ct_keyed_get_pair(&s->nodes, parent, at);
	char text[48];
	uint32_t id;

	if (node)
		return node->node;
	snprintf(text, sizeof(text), "%u %u %u", parent, function, line);
	id = ct_claims_id(&s->claims, text);
	node = id ? ct_keyed_put_pair(&s->nodes, parent, at) : NULL;
	if (node)
		node->node = id;
	return id;
}

/* The node of the stack that was read; 0: it has none. */
static uint32_t sampler_stack(struct ct_sampler *s)
{
	uint32_t node = 0;

	if (s->stack.cut && s->stack.depth) {
		if (!s->deeper)
			s->deeper = ct_claims_id(&s->claims, "python\t(deeper frames)\t");
		node = s->deeper ? sampler_node(s, 0, s->deeper, 0) : 0;
		if (!node)
			return 0;
	}
	for (unsigned int i = s->stack.depth; i--;) {
		struct ct_sampled_code *code = s->stack.frames[i].code;

		if (!code->id)
			code->id = ct_claims_id(&s->claims, code->function);
		node = code->id ? sampler_node(s, node, code->id, s->stack.frames[i].line) : 0;
		if (!node)
			return 0;
	}
	return node;
}

static bool sampler_believes(const struct sampled_process *p)
{
	return p->python.about.version && p->python.about.state != PAGE_REFUSED;
}

static uint32_t sampler_python(struct ct_sampler *s, struct sampled_process *p, struct sampled_thread *t, uint64_t now)
{
	int rc;

	if (!sampler_believes(p))
		return 0;
	if (p->several)
		return ct_sampled_all(&p->python, t->task.tid, &s->stack) > 0 ? sampler_stack(s) : 0;
	if (!t->state && now >= t->next) {
		t->state = ct_sampled_thread(&p->python, t->task.tid);
		t->next = now + SAMPLER_FIND_NS;
	}
	if (!t->state)
		return 0;
	rc = ct_sampled_stack(&p->python, t->task.tid, t->state, &t->known, &s->stack);
	if (rc == -ESRCH)
		t->state = 0;
	return rc > 0 ? sampler_stack(s) : 0;
}

/* ------------------------------------------------------------ Python's lock --- */

/* The kernel's name of a thread. */
static void sampler_comm(pid_t pid, pid_t tid, char name[16])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, 15);
	if (fd >= 0)
		close(fd);
	name[n > 0 ? n : 0] = 0;
	name[strcspn(name, "\n")] = 0;
}

/* How a thread is called that calls no CUDA, and so has not said it itself. */
static void sampler_name(struct ct_sampler *s, pid_t pid, pid_t tid)
{
	uint64_t thread = (uint64_t)pid << 32 | (uint32_t)tid;
	char process[16];
	struct sampled_holder *h;

	if (ct_keyed_get(&s->holders, thread) || s->holders.count == SAMPLER_NAMES)
		return;
	h = ct_keyed_put(&s->holders, thread);
	if (!h)
		return;
	sampler_comm(pid, tid, h->name);
	sampler_comm(pid, pid, process);
	if (!strcmp(h->name, process))
		*h->name = 0;
}

/* What the thread does that holds a lock, and where.  False: another one holds it now, or none. */
static bool sampler_look_at(struct ct_sampler *s, struct sampled_process *p, uint64_t lock, uint64_t holder, pid_t tid)
{
	struct ct_sampled_python *python = &p->python;
	enum ct_sample_state state;
	uint64_t futex;
	int rc;

	if (p->holder.tid != tid) {
		if (p->holder.tid)
			ct_sampled_task_close(&p->holder);
		ct_sampled_task_open(&p->holder, p->pid, tid);
	}
	if (ct_sampled_task_state(&p->holder, &state, &futex))
		return false;
	rc = p->several ? ct_sampled_all(python, tid, &s->stack) :
	     ct_sampled_stack(python, tid, holder, ct_sampled_known(python, holder), &s->stack);
	if (ct_sampled_gil_holder(python, lock) != holder)
		return false;
	sampler_name(s, p->pid, tid);
	p->held = (struct ct_gil_wait){ .holder_tid = tid, .holder_state = state, .holder = rc > 0 ? sampler_stack(s) : 0 };
	return true;
}

/* Thread @tid waits for this lock: who holds it?  Nobody is told who could not be seen while he held it. */
static void sampler_gil(struct ct_sampler *s, struct sampled_process *p, uint64_t lock, pid_t tid)
{
	if (p->lock == lock && p->held.holder_tid != (uint32_t)tid)
		return;
	p->lock = lock;
	p->held = (struct ct_gil_wait){ 0 };
	for (unsigned int i = 0; i < SAMPLER_TRIES; i++) {
		uint64_t state = ct_sampled_gil_holder(&p->python, lock);
		pid_t holder = state ? ct_sampled_tid(&p->python, state) : 0;

		/* It may have got it since. */
		if (!holder || holder == tid || sampler_look_at(s, p, lock, state, holder))
			return;
	}
}

/* ------------------------------------------------------------------- turns --- */

static void sampler_add_thread(struct sampled_process *p, pid_t tid)
{
	for (unsigned int i = 0; i < p->count; i++)
		if (p->threads[i].task.tid == tid && !p->threads[i].gone)
			return;
	if (!ct_room(p->threads, p->count, p->capacity))
		return;
	p->threads[p->count] = (struct sampled_thread){ 0 };
	ct_sampled_task_open(&p->threads[p->count++].task, p->pid, tid);
}

/* Those that came since the last turn. */
static void sampler_new_threads(struct sampled_process *p, const struct python_page *page)
{
	/* The ring went round: the oldest ones are overwritten. */
	if ((int32_t)(page->threads - p->known) > (int32_t)PAGE_THREADS) {
		p->missed += page->threads - PAGE_THREADS - p->known;
		p->known = page->threads - PAGE_THREADS;
	}
	for (; p->known != page->threads; p->known++) {
		uint64_t word = page->tids[p->known % PAGE_THREADS];

		/* It is being written. */
		if (word != page_thread(p->known, (uint32_t)word))
			break;
		sampler_add_thread(p, (uint32_t)word);
	}
}

/* What the page says now. */
static void sampler_update(struct sampled_process *p, bool quiet)
{
	struct python_page page;

	if (!sampler_read_page(p, &page)) {
		p->gone = true;
		return;
	}
	/* Until all of it is there, and where it was read while it changed, nothing follows from it. */
	p->python.about = page;
	if (!ct_sampled_page_fits(&page))
		p->python.about.version = 0;
	if (p->python.kind)
		p->python.about.layout.string_kind = p->python.kind;
	/* One that was attached to may hang, while another thread calls. */
	if (quiet ? !p->main : !p->known && !page.threads && !p->count)
		sampler_add_thread(p, p->pid);
	p->main = true;
	if (!p->known && page.threads && !quiet) {
		/* From now on those that call, of which the main thread may be none. */
		for (unsigned int i = 0; i < p->count; i++)
			p->threads[i].gone = p->threads[i].gone || p->threads[i].task.tid == p->pid;
	}
	sampler_new_threads(p, &page);
	p->called |= page.threads > 0;
}

static void sampler_thread(struct ct_sampler *s, struct sampled_process *p, struct sampled_thread *t)
{
	uint64_t now = ct_now_ns();
	enum ct_sample_state state;
	uint64_t futex, lock;
	uint32_t node;
	int rc;

	if (ct_sampled_task_state(&t->task, &state, &futex)) {
		t->gone = true;
		return;
	}
	lock = futex && sampler_believes(p) ? ct_sampled_gil(&p->python, &p->gils, futex) : 0;
	if (lock)
		sampler_gil(s, p, lock, t->task.tid);
	node = sampler_python(s, p, t, now);
	if (lock) {
		struct ct_gil_wait wait = p->held;

		wait.stack = node;
		rc = ct_state_gil_wait(&p->out, now, p->pid, t->task.tid, &wait);
	} else {
		rc = ct_state_sample(&p->out, now, p->pid, t->task.tid, node, state);
	}
	if (rc)
		p->gone = true;
	else
		p->samples++;
}

static void sampler_process(struct ct_sampler *s, struct sampled_process *p)
{
	unsigned int kept = 0;

	sampler_update(p, s->quiet);
	p->several = sampler_believes(p) && ct_sampled_several(&p->python);
	p->gils.looked = false;
	p->lock = 0;
	for (unsigned int i = 0; i < p->count && !p->gone; i++)
		if (!p->threads[i].gone)
			sampler_thread(s, p, &p->threads[i]);
	for (unsigned int i = 0; i < p->count; i++) {
		if (p->threads[i].gone)
			ct_sampled_task_close(&p->threads[i].task);
		else
			p->threads[kept++] = p->threads[i];
	}
	p->count = kept;
	/* A main thread that ended before the first call. */
	if (!kept && (!p->called || kill(p->pid, 0)))
		p->gone = true;
}

static void *sampler_run(void *arg)
{
	struct ct_sampler *s = arg;
	uint64_t period = 1000000000ull / s->rate, next = ct_now_ns();

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		uint64_t begin = ct_now_ns(), end;

		if (begin - s->looked >= SAMPLER_LOOK_NS) {
			sampler_look(s);
			s->looked = begin;
		}
		for (unsigned int i = 0; i < s->count; i++)
			if (!s->processes[i]->gone)
				sampler_process(s, s->processes[i]);
		end = ct_now_ns();
		next += period;
		/* It takes at most a part of a CPU, however many threads there are. */
		if (next < end + SAMPLER_REST * (end - begin)) {
			s->late++;
			next = end + SAMPLER_REST * (end - begin);
		}
		end = next - ct_now_ns();
		if ((int64_t)end > 0)
			nanosleep(&(struct timespec){ .tv_sec = end / 1000000000, .tv_nsec = end % 1000000000 }, NULL);
	}
	return NULL;
}

/* ------------------------------------------------------------ begin and end --- */

struct ct_sampler *ct_sampler_start(const char *dir, int dirfd, const uint8_t uuid[16], bool module, bool quiet, unsigned int rate)
{
	struct ct_sampler *s = calloc(1, sizeof(*s));
	int rc = s ? ct_claims_open(&s->claims, dir, module) : -ENOMEM;

	if (!rc) {
		s->dirfd = dirfd;
		s->rate = rate;
		s->quiet = quiet;
		memcpy(s->uuid, uuid, sizeof(s->uuid));
		rc = ct_thread_start(&s->thread, sampler_run, s);
		if (!rc)
			return s;
		ct_claims_close(&s->claims);
	}
	fprintf(stderr, "cudatrace: threads are not sampled: %s\n", strerror(-rc));
	free(s);
	return NULL;
}

/* Pages of processes, which no one reads any more. */
static void sampler_remove_pages(const struct ct_sampler *s)
{
	int fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, PAGE_PREFIX, strlen(PAGE_PREFIX)))
			unlinkat(s->dirfd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void ct_sampler_stop(struct ct_sampler *s, struct ct_registry_writer *registry)
{
	char text[64];

	if (!s)
		return;
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	pthread_join(s->thread, NULL);
	for (unsigned int i = 0; i < s->count; i++)
		sampler_close(s, s->processes[i]);
	sampler_remove_pages(s);
	for (size_t i = 0; i < s->holders.count && s->samples; i++) {
		const struct sampled_holder *h = &s->holders.list[i];

		snprintf(text, sizeof(text), "%u %u %s", (unsigned int)(h->thread >> 32), (uint32_t)h->thread, h->name);
		if (*h->name)
			ct_registry_add_info(registry, "thread_name", text);
	}
	ct_keyed_free(&s->holders);
	if (s->samples) {
		snprintf(text, sizeof(text), "%u", s->rate);
		ct_registry_add_info(registry, "samples", text);
		if (s->missed) {
			snprintf(text, sizeof(text), "%llu", (unsigned long long)s->missed);
			ct_registry_add_info(registry, "samples_missed", text);
			fprintf(stderr, "cudatrace: %s threads were not sampled: more than %u came at once\n", text, PAGE_THREADS);
		}
	} else if (s->refused) {
		fprintf(stderr, "cudatrace: threads were not sampled: the memory of the program can't be read: %s "
			"(/proc/sys/kernel/yama/ptrace_scope, a container's seccomp filter)\n", strerror(s->refused));
		ct_registry_add_info(registry, "samples_refused", strerror(s->refused));
	}
	ct_keyed_free(&s->nodes);
	ct_claims_close(&s->claims);
	free(s);
}
