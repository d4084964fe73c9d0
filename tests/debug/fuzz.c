// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A generated fuzz of /dev/cudatrace: valid structs with random changes, sizes and pointers of
 * all kinds, every open mode, any mapping, concurrent read/poll/epoll/close, descriptors that
 * are shared and forked, a consumer page that is overwritten all the time, and thread
 * buffers.  The kernel's own checks find errors inside the module; this program checks that
 * every refusal is an errno that cudatrace.h names.
 *
 * Usage: fuzz [SECONDS [SEED]].  Prints TAP, and the seed.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fuzz.h"

#define PROCESSES	4
#define FDS		12

__thread uint64_t state;
struct tally *tally;
static int fds[FDS], epoll_fd;

uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* A number that is likely to cause an error. */
uint64_t odd_number(void)
{
	static const uint64_t n[] = { 0, 1, 7, 8, 15, 16, 17, 63, 64, 4095, 4096, 4097, 65535,
		65536, 1 << 20, 16 << 20, 1u << 30, 0x7fffffff, 0x80000000, 0xffffffff,
		1ull << 32, 1ull << 40, 1ull << 62, ~0ull >> 1, 1ull << 63, ~0ull };

	return below(4) ? n[below(sizeof(n) / sizeof(n[0]))] : rnd();
}

int any_fd(void)
{
	return fds[below(FDS)];
}

void *bad_pointer(void)
{
	static const uintptr_t bad[] = { 0, 8, 0x7ffffffff000, 0x800000000000, ~0ull - 7,
					 0xffff888000000000, 0xffffffff81000000 };

	return (void *)bad[below(7)];
}

/* A nearly valid argument of this ioctl. */
void judge(const char *name, int err, const int *allowed, int n)
{
	static const int always[] = { EFAULT, EINVAL, E2BIG, EBADF, EINTR };
	int i;

	tally->done++;
	if (!err)
		return;
	tally->refused++;
	for (i = 0; i < 5; i++)
		if (err == always[i])
			return;
	for (i = 0; i < n; i++)
		if (err == allowed[i])
			return;
	if (!tally->bad++)
		snprintf(tally->said, sizeof(tally->said), "%s: %s", name, strerror(err));
}

/* ------------------------------------------------------------- mappings ---- */

void unmap_rest(void *at, uint64_t size, uint64_t hole)
{
	if (hole)
		munmap(at, hole < size ? hole : size);
	if (hole + PAGE < size)
		munmap((uint8_t *)at + hole + PAGE, size - hole - PAGE);
}

static void fuzz_mmap(void)
{
	uint32_t cpu = below(8) ? below(4) : odd_number();
	uint64_t offset[] = { CT_MMAP_FACTS, CT_MMAP_STATUS(cpu), CT_MMAP_CONSUMER(cpu),
			      CT_MMAP_DATA(cpu), CT_MMAP_DATA(cpu) + PAGE, odd_number() };
	size_t size = below(3) ? PAGE : below(4) ? (4096ull << below(3)) * (2u << below(4)) :
		      odd_number();
	int prot = below(3) ? PROT_READ : below(8);
	int flags = below(6) ? MAP_SHARED : MAP_PRIVATE;
	static const int err[] = { EPERM, ENODATA, ENOMEM, EACCES, EOVERFLOW, ENODEV };
	uint64_t where = offset[below(6)] & ~(uint64_t)(PAGE - 1);
	volatile uint8_t *p;
	size_t hole = size;
	pid_t pid;

	p = mmap(NULL, size, prot, flags, any_fd(), where);
	judge("mmap", p == MAP_FAILED ? errno : 0, err, 6);
	if (p == MAP_FAILED)
		return;
	tally->maps++;
	if (prot & PROT_READ)
		(void)(p[0] + p[size - 1]);
	if (prot & PROT_WRITE)
		p[below(size)] = rnd();
	switch (below(6)) {
	case 0:
		mprotect((void *)p, size, below(8));
		break;
	case 1:
		if (mremap((void *)p, size, size / 2 + PAGE, MREMAP_MAYMOVE) != MAP_FAILED)
			return;
		break;
	case 2:
		hole = 0;
		munmap((void *)p, PAGE);
		break;
	case 3:
		if (below(10))
			break;
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		break;
	case 4:
		madvise((void *)p, size, below(2) ? MADV_DONTNEED : MADV_DOFORK);
	}
	unmap_rest((void *)p, size, hole);
}

/* ---------------------------------------------------- reading and closing -- */

static void fuzz_read(void)
{
	static const int err[] = { EAGAIN, ENOMEM };
	static __thread char buf[200000];
	struct pollfd p = { .fd = any_fd(), .events = below(2) ? POLLIN : 0xffff };
	struct epoll_event ev[4];
	ssize_t n;

	switch (below(8)) {
	case 0:
		poll(&p, 1, below(5));
		break;
	case 1:
		ev[0] = (struct epoll_event){ .events = EPOLLIN | EPOLLET * below(2) };
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, any_fd(), &ev[0]);
		break;
	case 2:
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, any_fd(), &ev[0]);
		break;
	case 3:
		epoll_wait(epoll_fd, ev, 4, below(5));
		break;
	case 4:
		n = read(p.fd, bad_pointer(), below(5000));
		judge("read", n < 0 ? errno : 0, err, 2);
		break;
	default:
		n = read(p.fd, buf, below(4) ? sizeof(buf) : below(300));
		judge("read", n < 0 ? errno : 0, err, 2);
	}
}

static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDONLY | O_NONBLOCK,
			     O_RDWR | O_NONBLOCK, O_RDONLY | O_NONBLOCK };

static void fuzz_files(void)
{
	int i = below(FDS), fd;
	char c = 'x';
	off_t at = 0;

	switch (below(12)) {
	default:
		fd = open(CT_DEVICE_PATH, modes[below(7)] | O_CLOEXEC);
		if (fd < 0) {
			judge("open", errno, (const int[]){ EACCES, ENOMEM }, 2);
			return;
		}
		/* The old file is closed while other threads may still use it. */
		dup2(fd, fds[i]);
		close(fd);
		break;
	case 3:
		dup2(any_fd(), fds[i]);
		break;
	case 4:
		fcntl(fds[i], F_SETFL, below(2) ? O_NONBLOCK : 0);
		break;
	case 5:
		lseek(fds[i], odd_number(), below(4));
		if (write(fds[i], &c, 1) < 0)
			judge("write", errno, (const int[]){ EINVAL }, 1);
		break;
	case 6:
		sendfile(fds[below(FDS)], fds[i], &at, 100);
		break;
	case 7:
		if (below(10))
			break;
		fd = fork();
		if (!fd) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(1);
			for (i = 0; i < 20; i++)
				below(2) ? fuzz_ioctl() : fuzz_read();
			_exit(0);
		}
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Starts a session on a file that other threads may use and close. */
static void fuzz_session(void)
{
	int i = below(FDS), fd = open(CT_DEVICE_PATH, O_RDWR | O_CLOEXEC), err, n;

	if (fd < 0) {
		judge("open", errno, (const int[]){ EACCES, ENOMEM }, 2);
		return;
	}
	err = fuzz_start(fd);
	dup2(fd, fds[i]);
	close(fd);
	if (err)
		return;
	for (n = below(200); n; n--)
		fuzz_mark();
	if (below(2))
		judge("STOP", call(fds[i], CT_IOC_STOP, NULL), (const int[]){ ENODATA, EPERM }, 2);
}

static void *one_thread(void *arg)
{
	state = (uintptr_t)arg | 1;
	for (;;) {
		switch (below(16)) {
		case 0:
			below(4) ? fuzz_files() : fuzz_session();
			break;
		case 1: case 2:
			fuzz_read();
			break;
		case 3:
			fuzz_mmap();
			break;
		case 4: case 5: case 6: case 7: case 8:
			fuzz_mark();
			break;
		case 9:
			fuzz_written();
			break;
		default:
			fuzz_ioctl();
		}
	}
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

static void one_process(int number, uint64_t seed)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction sa = { .sa_handler = nothing };
	pthread_t t;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Interrupts threads that block. */
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	signal(SIGPIPE, SIG_IGN);
	state = seed | 1;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (number == PROCESSES - 1 && setresuid(1000, 1000, 1000))
		_exit(1);
	for (i = 0; i < FDS; i++)
		fds[i] = open(CT_DEVICE_PATH, modes[i % 7] | O_CLOEXEC);
	for (i = 0; i < FDS; i++)
		if (fds[i] < 0)
			fds[i] = open(CT_DEVICE_PATH, O_WRONLY | O_CLOEXEC);
	pthread_create(&t, NULL, one_thread, (void *)(seed * 3));
	one_thread((void *)seed);
}

/*
 * From time to time starts a session, stores only wrong values in its consumer pages, reads
 * its thread buffers; and a reader reads whichever session runs.
 */
static uint64_t threadbuf_answers, threadbuf_lies;

static volatile int draining;

static void *drain(void *arg)
{
	const struct session *s = arg;
	uint64_t n;

	state = (uintptr_t)arg | 1;
	while (draining) {
		n = threadbuf_drain(s->fd);
		threadbuf_lies += n == ~0ull;
		__atomic_fetch_add(&threadbuf_answers, n == ~0ull ? 0 : n, __ATOMIC_RELAXED);
		usleep(1000);
	}
	return NULL;
}

/* Before the session has extra readers, because of which thread buffers are refused. */
static void read_threadbufs(int fd)
{
	struct ct_threadbuf_new arg;
	int i;

	for (i = 0; i < 12; i++) {
		arg = (struct ct_threadbuf_new){ .size = sizeof(arg) };
		threadbuf_make(&arg);
		if (!call(fd, CT_IOC_THREADBUF, &arg))
			threadbuf_keep(&arg);
	}
}

static void *scribble(void *arg)
{
	static struct tally own;
	static struct session s;
	pthread_t reader;
	uint32_t cpu;
	int i, fd;

	state = (uintptr_t)arg | 1;
	tally = &own;
	fd = open(CT_DEVICE_PATH, O_WRONLY | O_CLOEXEC);
	fuzz_define(fd);
	for (;;) {
		if (session_start(&s, 4096, 4, below(4) ? CT_SESSION_THREADBUFS : 0)) {
			close(s.fd);
			usleep(1000);
			continue;
		}
		read_threadbufs(s.fd);
		draining = 1;
		pthread_create(&reader, NULL, drain, &s);
		for (i = below(100000); i < 100000; i++) {
			if (i % 1000 == 0)
				usleep(3000);
			if (i % 10 == 0)
				fuzz_written();
			cpu = below(s.arg.cpus);
			if (s.cpu[cpu].consumer && s.cpu[cpu].status)
				((uint64_t *)s.cpu[cpu].consumer)[below(8) ? 0 : below(512)] =
					below(2) ? odd_number() :
					s.cpu[cpu].status->committed - below(9000);
		}
		draining = 0;
		pthread_join(reader, NULL);
		session_end(&s);
		usleep(below(400000));
	}
	return NULL;
}

static void follow(void)
{
	static char buf[1 << 16];
	int fd = -1, n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (fd < 0 || ++n % 500 == 0) {
			close(fd);
			fd = open(CT_DEVICE_PATH, O_RDONLY | O_NONBLOCK);
		}
		if (read(fd, buf, sizeof(buf)) <= 0)
			usleep(500);
	}
}

/* The last process, of an unprivileged user, can neither start a session nor map one. */
static int came_far(const struct tally *all, int i)
{
	return all[i].done > 100 && (i == PROCESSES - 1 || all[i].maps);
}

/* One session runs at a time: which of the processes starts it is chance. */
static uint64_t all_starts(const struct tally *all)
{
	uint64_t starts = 0;
	int i;

	for (i = 0; i < PROCESSES; i++)
		starts += all[i].starts;
	return starts;
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 15;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : now();
	uint64_t begin, passed, end;
	struct tally *all;
	pid_t pid[PROCESSES + 1];
	int i, status, far, gone = 0, early = 0;
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	fuzz_shapes();
	printf("# %u s, seed %llu\n", seconds, (unsigned long long)seed);
	all = mmap(NULL, sizeof(*all) * PROCESSES, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i <= PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		if (i == PROCESSES) {
			follow();
		} else {
			tally = &all[i];
			one_process(i, seed * (i + 3));
		}
	}
	pthread_create(&t, NULL, scribble, (void *)(seed | 1));
	/* For SECONDS; on a slow machine until each did enough, at most fifteen times as long. */
	begin = now();
	do {
		usleep(100000);
		for (i = 0; i <= PROCESSES; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			printf("# process %d ended with status %x\n", i, status);
			pid[i] = 0;
			early++;
		}
		far = 0;
		for (i = 0; i < PROCESSES; i++)
			far += came_far(all, i);
		far += all_starts(all) != 0;
		far += __atomic_load_n(&threadbuf_answers, __ATOMIC_RELAXED) != 0;
		passed = (now() - begin) / 1000000000;
	} while (passed < seconds || (far < PROCESSES + 2 && passed < 15 * seconds));
	for (i = 0; i <= PROCESSES; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGKILL);
	/* The device must not prevent a process from dying. */
	for (end = now() + 30000000000ull; now() < end && gone < PROCESSES + 1; usleep(10000)) {
		for (gone = i = 0; i <= PROCESSES; i++)
			gone += !pid[i] || (waitpid(pid[i], NULL, WNOHANG) == pid[i] &&
					    !(pid[i] = 0));
	}
	ok(gone == PROCESSES + 1, "every process can be killed");
	ok(!early, "no process dies by itself (%d)", early);
	for (i = 0; i < PROCESSES; i++) {
		ok(!all[i].bad, "%s: %llu calls, %llu refused, %llu with an errno that is not documented%s%s",
		   i == PROCESSES - 1 ? "a user's process" : "a process",
		   (unsigned long long)all[i].done, (unsigned long long)all[i].refused,
		   (unsigned long long)all[i].bad, all[i].bad ? ": " : "", all[i].said);
		ok(came_far(all, i),
		   "it came far: %llu sessions, %llu mappings, %llu thread buffers",
		   (unsigned long long)all[i].starts, (unsigned long long)all[i].maps,
		   (unsigned long long)all[i].threadbufs);
	}
	ok(all_starts(all) != 0, "sessions were started: %llu", (unsigned long long)all_starts(all));
	ok(threadbuf_answers && !threadbuf_lies,
	   "thread buffers were read: %llu packets and pages, %llu that are not valid",
	   (unsigned long long)threadbuf_answers, (unsigned long long)threadbuf_lies);
	i = tap_done();
	fflush(stdout);
	_exit(i);
}
