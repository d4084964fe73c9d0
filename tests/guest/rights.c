// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rights of a reader without privileges: it starts no session, and if it owns the default
 * session (because it has dropped its privileges since), it may not configure that.  Runs as root
 * in a guest with the module loaded; the device's group is root's again when it ends.  Prints TAP.
 */
#include <grp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "session.h"

#define READER_UID 4711
#define READER_GID 4712

/* A file that as_reader()'s child has opened while it was root. */
static int opened = -1;

static void become_reader(void)
{
	opened = device(O_RDWR | O_NONBLOCK);
	if (setgroups(0, NULL) || setresgid(READER_GID, READER_GID, READER_GID) ||
	    setresuid(READER_UID, READER_UID, READER_UID))
		_exit(99);
}

/* In a child that is in the device's group, without any capability: its exit status. */
static int as_reader(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		become_reader();
		_exit(run());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* No session runs.  0, or a number that says what was wrong. */
static int starts_nothing(void)
{
	int fd = device(O_RDONLY | O_NONBLOCK), blocks = device(O_RDONLY);
	struct ct_session s = { .size = sizeof(s) };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	alarm(600);
	if (read(fd, &c, 1) != -1 || errno != ENODATA)
		return 1;
	if (read(blocks, &c, 1) != -1 || errno != ENODATA)
		return 2;
	if (poll(&p, 1, 0) != 1 || p.revents != POLLERR)
		return 3;
	return call(fd, CT_IOC_GET_SESSION, &s) == ENODATA ? 0 : 4;
}

/* What it reads ends with the session, because it may not start the next one. */
static void test_end(void)
{
	struct mark m = text_mark("the end");
	struct session s;
	int ready[2], w, status = -1;
	pid_t pid;
	char c;

	if (pipe(ready))
		return;
	session_start(&s, 4096, 16, CT_SESSION_OVERWRITE);
	pid = fork();
	if (!pid) {
		static char text[65536];
		size_t used = 0;
		ssize_t n = 1;
		int fd;

		alarm(600);
		become_reader();
		close(s.fd);
		fd = device(O_RDONLY);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (; n > 0 && !strstr(text, "the end"); used += n)
			n = read(fd, text + used, sizeof(text) - 1 - used);
		if (write(ready[1], "", 1) != 1)
			_exit(2);
		while ((n = read(fd, text, sizeof(text))) > 0)
			;
		_exit(n ? 3 : read(fd, &c, 1) == -1 && errno == ENODATA ? 0 : 4);
	}
	if (read(ready[0], &c, 1) != 1)
		return;
	w = device(O_WRONLY);
	call(w, CT_IOC_MARK(sizeof(m)), &m);
	if (read(ready[0], &c, 1) != 1)
		return;
	call(s.fd, CT_IOC_STOP, NULL);
	waitpid(pid, &status, 0);
	ok(!status, "a reader's text ends with the session (%d)", status);
	close(w);
	session_end(&s);
}

/* By a file that root opened: 0, or the number of the call that was not refused with EPERM. */
static int configures(void)
{
	struct ct_probe_add probe = { .size = sizeof(probe), .symbol = "__x64_sys_getpriority" };
	struct ct_probe_add all = { .size = sizeof(all), .symbol = "*", .sample = 2 };
	struct ct_count_add count = { .size = sizeof(count), .count = 1 };
	struct ct_filter filter = { .size = sizeof(filter) };
	struct ct_limits limits = { .size = sizeof(limits), .share = 100 };
	struct ct_trigger_set trigger = { .size = sizeof(trigger) };
	const struct { unsigned long cmd; void *arg; } calls[] = {
		{ CT_IOC_PROBE_ADD, &probe }, { CT_IOC_PROBE_REMOVE, &probe },
		{ CT_IOC_PROBE_SET, &all }, { CT_IOC_COUNT_ADD, &count },
		{ CT_IOC_PAUSE, NULL }, { CT_IOC_RESUME, NULL },
		{ CT_IOC_FILTER, &filter }, { CT_IOC_LIMITS, &limits },
		{ CT_IOC_TRIGGER, &trigger },
	};
	struct ct_session s = { .size = sizeof(s) };
	int fd = opened;
	size_t i;
	char c;

	if (read(fd, &c, 1) != -1 || errno != EAGAIN)
		return 50;
	if (call(fd, CT_IOC_GET_SESSION, &s) || !(s.flags & CT_SESSION_DEFAULT) ||
	    s.owner_pid != (uint32_t)getpid())
		return 51;
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (call(fd, calls[i].cmd, calls[i].arg) != EPERM)
			return 1 + i;
	return 0;
}

/* -------------------- a right that ends at the moment in which it is used -- */
#define SESSIONS	24	/* sessions of root */
#define PAUSERS	4	/* more than processors, so that some are interrupted anywhere */

static struct race {
	int done;
	unsigned int paused, refused;	/* results of the readers' calls */
} *race;

static void count(int error)
{
	if (!error)
		race->paused++;
	else if (error == EPERM)
		race->refused++;
}

/* Calls CT_IOC_PAUSE by this file all the time, until race->done. */
static int keeps_pausing(int fd)
{
	while (!__atomic_load_n(&race->done, __ATOMIC_ACQUIRE))
		count(call(fd, CT_IOC_PAUSE, NULL));
	return 0;
}

/*
 * The same by a file of its own that root opened, and reads in order to own every default session
 * that it can get.
 */
static int reads_and_pauses(void)
{
	char c;

	while (!__atomic_load_n(&race->done, __ATOMIC_ACQUIRE)) {
		if (read(opened, &c, 1) < 0 && errno != EAGAIN)
			return 1;
		for (int i = 0; i < 20; i++)
			count(call(opened, CT_IOC_PAUSE, NULL));
	}
	return 0;
}

static int inherited;

static int pauses(void)
{
	return keeps_pausing(inherited);
}

/*
 * Readers pause all the time, by a file that owns a session; when that session ends, they
 * lose the right.  Root starts a session at that moment, again and again: it must never be
 * paused.
 */
static void test_race(int (*run)(void), const char *what)
{
	const struct sched_param first = { .sched_priority = 1 }, last = { 0 };
	struct ct_session arg, said = { .size = sizeof(said) };
	unsigned int wrong = 0, sessions = 0;
	int own = device(O_RDWR), i;

	race = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inherited = device(O_RDWR);
	for (i = 0; i < PAUSERS; i++)
		if (!fork()) {
			/* The kernel's own threads go first. */
			setpriority(PRIO_PROCESS, 0, 19);
			_exit(as_reader(run));
		}
	/* So that this process runs at once and interrupts the readers anywhere. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (i = 0; sessions < SESSIONS && i < 100 * SESSIONS; i++) {
		arg = (struct ct_session){ .size = sizeof(arg), .groups = 1u << CT_GROUP_ADDED,
					   .subbuf_size = 4096, .subbuf_count = 2 };
		if (run == pauses) {
			call(inherited, CT_IOC_START, &arg);
			usleep(500);
			call(inherited, CT_IOC_STOP, NULL);
		} else {
			usleep(2000);
		}
		if (call(own, CT_IOC_START, &arg))
			continue;
		sessions++;
		usleep(1000);
		if (!call(own, CT_IOC_GET_SESSION, &said) && said.flags & CT_SESSION_PAUSED)
			wrong++;
		call(own, CT_IOC_STOP, NULL);
	}
	sched_setscheduler(0, SCHED_OTHER, &last);
	race->done = 1;
	while (wait(NULL) > 0)
		;
	ok(sessions == SESSIONS && !wrong && race->refused,
	   "%s: %u sessions of root, %u are paused (%u calls paused, %u were refused)", what,
	   sessions, wrong, race->paused, race->refused);
	close(inherited);
	close(own);
	munmap(race, PAGE);
}

/* How many probes are armed, and of how many of them the address is visible. */
static void addresses(int *armed, int *visible)
{
	struct ct_probe_info info = { .size = sizeof(info) };
	int fd = device(O_RDONLY);

	for (*armed = *visible = 0; !call(fd, CT_IOC_GET_PROBE, &info);
	     info = (struct ct_probe_info){ .size = sizeof(info), .index = info.index + 1 }) {
		*armed += info.state == CT_PROBE_ARMED;
		*visible += info.address != 0;
	}
	close(fd);
}

static int sees_no_address(void)
{
	int armed, visible;

	addresses(&armed, &visible);
	return !armed ? 1 : visible ? 2 : 0;
}

/* A reader may adopt a killed recorder's session, but not read its thread buffers. */
static int reads_threadbufs(void)
{
	struct ct_session adopted = { .size = sizeof(adopted) };
	static char buf[CT_THREADBUF_SUBBUF_MAX];
	struct ct_threadbuf_read tb = { .size = sizeof(tb),
					.buf = (uintptr_t)buf,
					.len = sizeof(buf) };
	int fd = device(O_RDWR), error = call(fd, CT_IOC_ADOPT, &adopted);

	if (error)
		return error;
	return call(fd, CT_IOC_THREADBUF_READ, &tb) == EPERM ? 0 : 1;
}

static void test_orphan(void)
{
	struct ct_session adopted = { .size = sizeof(adopted) };
	struct session s;
	struct mark m = text_mark("rights");
	char c;
	int fd, w, i, status;
	pid_t pid = fork();

	if (!pid) {
		session_start(&s, 4096, 16, 0);
		w = device(O_WRONLY);
		for (i = 0; i < 10; i++)
			call(w, CT_IOC_MARK(sizeof(m)), &m);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	ok(!as_reader(reads_threadbufs),
	   "a reader cannot read the thread buffers of an orphaned session: EPERM");
	fd = device(O_RDONLY | O_NONBLOCK);
	ok(read(fd, &c, 1) == -1 && errno == EAGAIN, "root's read() starts the default session");
	close(fd);
	fd = device(O_RDWR);
	ok(!call(fd, CT_IOC_ADOPT, &adopted) && adopted.owner_pid == (uint32_t)pid,
	   "the orphaned session is still there");
	ok(!call(fd, CT_IOC_STOP, NULL), "until a privileged file drops it");
	close(fd);
}

/* Pieces of memory that the module has: sessions' above all. */
static int pieces(void)
{
	FILE *f = fopen("/proc/vmallocinfo", "r");
	char line[512];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "ct_pages_alloc") != NULL;
	if (f)
		fclose(f);
	return n;
}

#define KEPT	6

/* It opens a file in each session, and keeps all of them. */
static int keeps(int go, int done)
{
	static char text[65536];
	int fd[KEPT];
	char c;

	for (int i = 0; i < KEPT; i++) {
		if (read(go, &c, 1) != 1)
			return 1;
		fd[i] = device(O_RDONLY | O_NONBLOCK);
		if (write(done, "", 1) != 1)
			return 2;
	}
	if (read(go, &c, 1) != 1)
		return 3;
	for (int i = KEPT - 2; i < KEPT; i++)
		if (read(fd[i], text, sizeof(text)) <= 0)
			return 4 + i;
	return read(fd[0], &c, 1) == -1 && errno == ENODATA ? 0 : 90;
}

/* The rings of sessions that have ended, whose readers don't close their files. */
static void test_kept(void)
{
	int go[2], done[2], before = pieces(), one = 0, status = -1, i, ready = 1;
	struct mark m = text_mark("kept");
	struct session s;
	pid_t pid;
	char c;

	if (pipe(go) || pipe(done))
		return;
	pid = fork();
	if (!pid) {
		alarm(600);
		become_reader();
		close(opened);
		_exit(keeps(go[0], done[1]));
	}
	for (i = 0; i < KEPT && ready; i++) {
		session_start(&s, 4096, 16, 0);
		if (!i)
			one = pieces() - before;
		ready = write(go[1], "", 1) == 1 && read(done[0], &c, 1) == 1;
		call(s.fd, CT_IOC_MARK(sizeof(m)), &m);
		call(s.fd, CT_IOC_STOP, NULL);
		session_end(&s);
	}
	i = pieces() - before;
	ok(ready && one && i <= 2 * one, "readers keep the last session and the one before, of %d"
	   " (%d pieces of memory, %d a session)", KEPT, i, one);
	if (write(go[1], "", 1) == 1)
		waitpid(pid, &status, 0);
	ok(!status, "whose text they read to its end (%d)", status);
	ok(pieces() == before, "then all of it is free");
}

int main(void)
{
	struct ct_probe_add probe = { .size = sizeof(probe), .symbol = "__x64_sys_getpriority" };
	struct session s;
	int armed, visible, fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (chown(CT_DEVICE_PATH, 0, READER_GID))
		return 1;
	fd = as_reader(starts_nothing);
	ok(!fd, "a reader without privileges starts no session: ENODATA (%d)", fd);
	test_end();
	fd = as_reader(configures);
	ok(!fd, "the owner of the default session may not configure: EPERM (%d)", fd);
	fd = device(O_RDWR);
	s.arg = (struct ct_session){ .size = sizeof(s.arg), .groups = ~0ull };
	ok(!call(fd, CT_IOC_START, &s.arg), "a session with all probes");
	call(fd, CT_IOC_PROBE_ADD, &probe);
	addresses(&armed, &visible);
	ok(armed && visible, "root sees their addresses (%d of %d)", visible, armed);
	armed = as_reader(sees_no_address);
	ok(!armed, "a reader does not (%d)", armed);
	call(fd, CT_IOC_PROBE_REMOVE, &probe);
	close(fd);
	test_kept();
	test_orphan();
	test_race(pauses, "a former owner");
	test_race(reads_and_pauses, "readers that come first");
	if (chown(CT_DEVICE_PATH, 0, 0))
		return 1;
	return tap_done();
}
