// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See standby.h.  A request comes through a page that both sides map, struct ct_standby_page in
 * attach.h.  Only those can write its file who may write the process's memory, too: its user and
 * root.  No descriptor stays open, no signal is used, and a thread that waits in futex()
 * takes no time.
 *
 * A process with other rights than its user's (PR_SET_DUMPABLE is 0) has no such page.
 */
#include "hook/standby.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/elf.h"
#include "base/options.h"
#include "base/process.h"
#include "hook/begin.h"
#include "hook/objects.h"
#include "hook/table.h"
#include "include/cudatrace/attach.h"
#include "call/host.h"
#include "call/range.h"
#include "tracedir/preallocate.h"

#define GPU_BEGINS_S	3		/* ... and until CUPTI collects */
#define BEGINS_NS	1000000000u	/* the first call waits at most so long until it can be recorded */

static struct ct_standby_page *page;
static char path[96];
/* Found at the start: a child that was forked may not look for them. */
static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static void *(*open_library)(const char *, int);
static int (*at_fork)(void (*)(void), void (*)(void), void (*)(void), void *);
static char *begins;		/* what to begin with, as page->options; NULL: nothing */

/* The pid namespace's number; 0: not known. */
static u64 standby_pid_ns(void)
{
	char text[64], *p = text;
	u64 n = 0;
	long len = ct_sys3(SYS_readlink, "/proc/self/ns/pid", text, sizeof(text) - 1);

	if (len <= 0)
		return 0;
	text[len] = '\0';
	while (*p && (*p < '0' || *p > '9'))
		p++;
	for (; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (u64)(*p - '0');
	return n;
}

/* The page of a process of this user that was killed. */
static void standby_clean_one(int dir, const char *name, u64 pid_ns)
{
	struct {	/* the begin of struct ct_standby_page */
		u64 magic;
		u32 version, schema, pid, rest[5];
		u64 pid_ns;
	} p;
	int fd = (int)ct_sys4(SYS_openat, dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	long n;

	_Static_assert(offsetof(struct ct_standby_page, pid_ns) == offsetof(__typeof__(p), pid_ns), "the same");
	if (fd < 0)
		return;
	n = ct_sys4(SYS_pread64, fd, &p, sizeof(p), 0);
	ct_close(fd);
	if (n == (long)sizeof(p) && p.magic == CT_MAGIC && p.version == CT_STANDBY_VERSION && p.pid_ns == pid_ns && p.pid &&
	    ct_sys2(SYS_kill, p.pid, 0) == -3 /* ESRCH */)
		ct_sys3(SYS_unlinkat, dir, name, 0);
}

/* Who is killed leaves a page: the next one of the user removes it.  /dev/shm is sticky, so it is never another's. */
static void standby_clean(u64 pid_ns)
{
	struct entry {
		u64 ino, off;
		u16 len;
		u8 type;
		char name[];
	};
	static const char prefix[] = CT_STANDBY_PREFIX;
	const char *name = strrchr(prefix, '/') + 1;
	char place[sizeof(prefix)], buf[4096] __attribute__((aligned(8)));
	int dir;
	long n;

	memcpy(place, prefix, sizeof(prefix));
	place[name - 1 - prefix] = '\0';
	dir = pid_ns ? ct_open(place, O_RDONLY | O_DIRECTORY, 0) : -1;
	if (dir < 0)
		return;
	while ((n = ct_sys3(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n; at += ((struct entry *)(buf + at))->len) {
			const struct entry *e = (void *)(buf + at);

			if (!strncmp(e->name, name, strlen(name)))
				standby_clean_one(dir, e->name, pid_ns);
		}
	ct_close(dir);
}

/* The clock's part: another user may have made a file of any other name, and one that was killed left its own. */
static bool standby_make_page(void)
{
	struct ct_text t = { path, sizeof(path), 0 };
	struct ct_standby_page *p = NULL;
	u32 pid = (u32)ct_sys0(SYS_getpid);
	u64 pid_ns = standby_pid_ns();
	int fd;

	if (ct_sys2(SYS_prctl, PR_GET_DUMPABLE, 0) != 1)
		return false;
	standby_clean(pid_ns);
	ct_put(&t, CT_STANDBY_PREFIX);
	ct_put_u(&t, pid);
	ct_put(&t, "-");
	ct_put_hex(&t, ct_clock_real(), 16);
	fd = ct_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	if (!ct_preallocate(fd, 0, sizeof(*p)))
		p = ct_map(sizeof(*p), MAP_SHARED, fd, 0);
	ct_close(fd);
	if (!p) {
		ct_sys3(SYS_unlinkat, AT_FDCWD, path, 0);
		return false;
	}
	p->version = CT_STANDBY_VERSION;
	p->schema = CT_SCHEMA_VERSION;
	p->pid = pid;
	p->pid_ns = pid_ns;
	__atomic_store_n(&p->magic, CT_MAGIC, __ATOMIC_RELEASE);
	ct_store(&page, p);
	ct_store(&ct_begin_running, &p->running);
	return true;
}

/* ------------------------------------------------------ a request --------- */

/* Of a list of "NAME=VALUE", as cudatrace_attach() takes it; NULL: it has none. */
static const char *standby_option(const char *texts, const char *name)
{
	size_t n = strlen(name);

	for (; *texts; texts += strlen(texts) + 1)
		if (!strncmp(texts, name, n) && texts[n] == '=')
			return texts + n + 1;
	return NULL;
}

static int standby_is_our_path(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!ct_object_is_ours(info))
		return 0;
	ct_put(data, info->dlpi_name);
	return 1;
}

/* The program's loader finds it beside this library, or else where the command has it. */
static void *standby_plugin(const char *file)
{
	const char *name = strrchr(file, '/');
	char beside[4096];
	struct ct_text t = { beside, sizeof(beside), 0 };
	void *handle = NULL;
	char *end;

	/* There is no path if the list of objects can't be looked at now. */
	*beside = '\0';
	ct_each_object(standby_is_our_path, &t);
	end = strrchr(beside, '/');
	if (!open_library)
		open_library = (__typeof__(open_library))ct_find_next("dlopen");
	if (!open_library)
		return NULL;
	if (end && name) {
		t.len = (size_t)(end - beside);
		ct_put(&t, name);
		handle = open_library(beside, RTLD_NOW);
	}
	return handle ? handle : open_library(file, RTLD_NOW);
}

static s32 standby_attach(struct ct_standby_page *p, const char *options)
{
	const char *gpu_file = standby_option(options, CT_STANDBY_GPU), *stacks_file = standby_option(options, CT_STANDBY_STACKS);
	void *gpu = gpu_file ? standby_plugin(gpu_file) : NULL, *stacks = stacks_file ? standby_plugin(stacks_file) : NULL;
	struct ct_begin_plugins plugins = {
		.stacks_what = standby_option(options, CT_STANDBY_STACKS_WHAT), .gpu_what = standby_option(options, CT_STANDBY_GPU_WHAT),
		.sample = standby_option(options, CT_STANDBY_SAMPLE) != NULL,
	};
	s32 rc;

	p->gpu = 0;
	if (!gpu != !gpu_file || !stacks != !stacks_file)
		return -8;	/* ENOEXEC */
	if (stacks) {
		plugins.stack = (__typeof__(plugins.stack))dlsym(stacks, "cudatrace_stack");
		plugins.stacks_begin = (__typeof__(plugins.stacks_begin))dlsym(stacks, "cudatrace_stacks_begin");
	}
	if (gpu)
		plugins.gpu_begin = (__typeof__(plugins.gpu_begin))dlsym(gpu, "cudatrace_gpu_begin");
	rc = ct_begin_attached(options, &plugins, &p->gpu);
	ct_store(&p->number, rc < 0 ? 0 : ct_begin_number());
	return rc;
}

static s32 standby_gpu_end(const char *options)
{
	const char *file = standby_option(options, CT_STANDBY_GPU);
	void *gpu = file ? standby_plugin(file) : NULL;
	__typeof__(cudatrace_gpu_end) *gpu_end = gpu ? (__typeof__(gpu_end))dlsym(gpu, "cudatrace_gpu_end") : NULL;

	return gpu_end ? gpu_end() : 0;
}

static s32 standby_serve(struct ct_standby_page *p)
{
	static char options[sizeof(p->options) + 2];

	/* The other side may write on. */
	for (u32 i = 0; i < sizeof(p->options); i++)
		options[i] = *(volatile char *)&p->options[i];
	switch (ct_load(&p->command)) {
	case CT_STANDBY_ATTACH:
		return standby_attach(p, options);
	case CT_STANDBY_GPU_END:
		return standby_gpu_end(options);
	case CT_STANDBY_PUT_BACK:
		return cudatrace_detach(CT_DETACH_PUT_BACK, ct_load(&p->number));
	case CT_STANDBY_LEAVE:
		return cudatrace_detach(CT_DETACH_LEAVE, ct_load(&p->number));
	}
	return -22;	/* EINVAL */
}

/* ------------------------------------------------------ its thread --------- */

static void *standby_run(void *unused)
{
	static const struct { s64 s, ns; } second = { 1, 0 };
	struct ct_standby_page *p = page;
	u32 seen = 0, now;

	(void)unused;
	ct_sys2(SYS_prctl, PR_SET_NAME, "cudatrace");
	for (;;) {
		now = __atomic_load_n(&p->request, __ATOMIC_ACQUIRE);
		if (now == seen) {
			bool watched = ct_begin_watched(ct_begin_number());

			ct_sys4(SYS_futex, &p->request, FUTEX_WAIT, seen, watched ? &second : NULL);
			continue;
		}
		seen = now;
		ct_store(&p->result, standby_serve(p));
		__atomic_store_n(&p->answer, seen, __ATOMIC_RELEASE);
		ct_sys3(SYS_futex, &p->answer, FUTEX_WAKE, 1 << 30);
	}
	return NULL;
}

/* Before there is a thread. */
static void standby_ask(struct ct_standby_page *p)
{
	memcpy(p->options, begins, sizeof(p->options));
	p->command = CT_STANDBY_ATTACH;
	p->request = 1;
}

/* Not for ever: the caller may hold a lock of the loader's, which plugins need. */
static void standby_await(struct ct_standby_page *p)
{
	const struct { s64 s, ns; } longest = { BEGINS_NS / 1000000000, BEGINS_NS % 1000000000 };

	if (!ct_load(&p->answer))
		ct_sys4(SYS_futex, &p->answer, FUTEX_WAIT, 0, &longest);
}

/*
 * In a child: the page and the thread are its parent's, and so is a recording.  Otherwise it stands by itself, from
 * its first call on.
 */
static void standby_forked(void)
{
	ct_store(&ct_begin_running, &cudatrace_attach_answer.running);
	if (ct_load(&page))
		ct_sys2(SYS_munmap, page, sizeof(*page));
	ct_store(&page, NULL);
	if (ct_load(&ct_stopped) == CT_STOPPED && ct_table_again(true))
		ct_store(&ct_stopped, (u8)CT_STANDS_BY);
}

/*
 * In the process's first call, which is cuInit() as a rule.  All pointers and slots are put back, so that
 * the next call is the program's own affair.
 */
static void standby_first_call(void)
{
	u8 stands_by = CT_STANDS_BY;
	bool created = false;
	pthread_t thread;
	u64 mask;

	if (!__atomic_compare_exchange_n(&ct_stopped, &stands_by, CT_STOPPED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	ct_objects_put_back();
	ct_table_again(false);
	if (!create)
		create = (__typeof__(create))ct_find_next("pthread_create");
	/* The program's signals are not for our thread. */
	mask = ct_signals_block();
	if (create && standby_make_page()) {
		if (begins)
			standby_ask(page);
		created = !create(&thread, NULL, standby_run, NULL);
	}
	if (!created) {
		ct_standby_end();
		ct_say("no standby, this process can't be recorded: it has other rights than its user's, or can't make files here (or there is no room): ",
		       CT_STANDBY_PREFIX);
	}
	if (created && at_fork) {
		at_fork(NULL, NULL, standby_forked, NULL);
		at_fork = NULL;		/* children have it, too */
	}
	ct_signals_restore(mask);
	if (created && begins)
		standby_await(page);
	/* The GPU's work of the program's first calls is to be seen, too. */
	if (created && begins && ct_load(&page->answer) && ct_load(&page->gpu))
		ct_range_await_plugin(GPU_BEGINS_S);
}

static void standby_copy_options(char *const *env)
{
	struct ct_text t = { ct_map_private(sizeof(page->options)), sizeof(page->options) - 1, 0 };
	char *ours[32];

	if (!t.buf)
		return;
	begins = t.buf;
	for (char *const *o = ct_options_pick(env, ours, 32); *o; o++) {
		ct_put(&t, *o);
		if (t.len + 2 < t.size)
			begins[++t.len] = '\0';
	}
}

void ct_standby_start(char *const *env)
{
	if (ct_options.standby == CT_STANDBY_BEGINS)
		standby_copy_options(env);
	create = (__typeof__(create))ct_find_next("pthread_create");
	open_library = (__typeof__(open_library))ct_find_next("dlopen");
	at_fork = (__typeof__(at_fork))ct_find_next("__register_atfork");
	ct_first_call = standby_first_call;
	ct_store(&ct_stopped, (u8)CT_STANDS_BY);
}

void ct_standby_end(void)
{
	/* A child has its parent's page mapped. */
	if (ct_load(&page) && page->pid == (u32)ct_sys0(SYS_getpid))
		ct_sys3(SYS_unlinkat, AT_FDCWD, path, 0);
}
