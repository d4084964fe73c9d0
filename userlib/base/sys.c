// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text, messages and signal masks without libc; see sys.h.
 *
 * Must never allocate, lock or touch errno.
 */
#include "base/sys.h"

#include <sys/stat.h>

void ct_put_n(struct ct_text *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n && t->len + 1 < t->size; i++)
		t->buf[t->len++] = s[i];
	t->buf[t->len] = 0;
}

void ct_put(struct ct_text *t, const char *s)
{
	ct_put_n(t, s, strlen(s));
}

void ct_put_u(struct ct_text *t, u64 v)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = '0' + v % 10;
		v /= 10;
	} while (v);
	while (n)
		ct_put_n(t, &digits[--n], 1);
}

void ct_put_hex(struct ct_text *t, u64 v, unsigned digits)
{
	while (digits--)
		ct_put_n(t, &"0123456789abcdef"[v >> 4 * digits & 15], 1);
}

void ct_put_word(struct ct_text *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		u8 c = s[i];

		if (c > 0x20 && c < 0x7f && c != '%') {
			ct_put_n(t, &s[i], 1);
		} else if (t->len + 4 < t->size) {
			ct_put_n(t, "%", 1);
			ct_put_n(t, &"0123456789ABCDEF"[c >> 4], 1);
			ct_put_n(t, &"0123456789ABCDEF"[c & 15], 1);
		}
	}
}

/* Which file the descriptor 2 is. */
static struct ct_stderr {
	u64 device, inode;
} first_stderr;
static bool have_stderr;

long ct_read_file(const char *path, void *to, size_t size)
{
	int fd = ct_open(path, O_RDONLY, 0);
	long n;

	if (fd < 0)
		return fd;
	n = ct_sys3(SYS_read, fd, to, size);
	ct_close(fd);
	return n;
}

#define SIG_BLOCK_RAW	0
#define SIG_SETMASK_RAW	2

#define SIGPIPE_BIT	(1ull << (13 - 1))
#define SIGXFSZ_BIT	(1ull << (25 - 1))

long ct_write(int fd, const void *from, size_t n)
{
	const u64 ours = SIGPIPE_BIT | SIGXFSZ_BIT;
	struct timespec now = { 0, 0 };
	u64 old = 0, pending = 0, sent;
	long err;

	ct_sys4(SYS_rt_sigprocmask, SIG_BLOCK_RAW, &ours, &old, 8);
	ct_sys2(SYS_rt_sigpending, &pending, 8);
	err = ct_sys3(SYS_write, fd, from, n);
	sent = err == -32 ? SIGPIPE_BIT : err == -27 ? SIGXFSZ_BIT : 0;	/* EPIPE, EFBIG */
	sent &= ~pending;
	if (sent)
		ct_sys4(SYS_rt_sigtimedwait, &sent, NULL, &now, 8);
	ct_signals_restore(old);
	return err;
}

static bool stderr_is(struct ct_stderr *s)
{
	struct stat st;

	if (ct_sys2(SYS_fstat, 2, &st) < 0)
		return false;
	s->device = st.st_dev;
	s->inode = st.st_ino;
	return true;
}

void ct_say_start(void)
{
	have_stderr = stderr_is(&first_stderr);
}

void ct_say(const char *text, const char *more)
{
	struct { int fd; short events, revents; } wait = { 2, 4 /* POLLOUT */, 0 };
	struct ct_stderr now;
	char line[512];
	struct ct_text t = { line, sizeof(line) - 1, 0 };

	ct_put(&t, "cudatrace: ");
	ct_put(&t, text);
	ct_put(&t, more);
	line[t.len++] = '\n';
	/*
	 * What has this number by now may be a file of the program's data.  A pipe that is full
	 * may stay so for ever, and the caller may hold locks of the loader.  (Where the
	 * program may have no descriptors, poll() is an error.)
	 */
	if (have_stderr && stderr_is(&now) && now.device == first_stderr.device &&
	    now.inode == first_stderr.inode && ct_sys3(SYS_poll, &wait, 1, 0))
		ct_write(2, line, t.len);
}

/*
 * The kernel reads the new mask before it finds out that there is no such thing to do with
 * it.  Not process_vm_readv(), which seccomp filters of containers forbid.
 */
bool ct_readable(u64 address)
{
	return ct_sys4(SYS_rt_sigprocmask, -1, address, NULL, 8) != -14;	/* EFAULT */
}

u64 ct_signals_block(void)
{
	u64 all = ~0ull, old = 0;

	ct_sys4(SYS_rt_sigprocmask, SIG_SETMASK_RAW, &all, &old, 8);
	return old;
}

void ct_signals_restore(u64 mask)
{
	ct_sys4(SYS_rt_sigprocmask, SIG_SETMASK_RAW, &mask, NULL, 8);
}
