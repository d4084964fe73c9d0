// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unpacking, see pack.h.  The pack may have been made by anybody: no name in it leads out of the directory, and
 * zstd takes 128 MiB of memory at most.  A command that was killed leaves its directory; the next one
 * removes it, as nobody has its lock.
 */
#ifdef CT_HAVE_ZSTD
#include "pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "pack/tar.h"
#include "trace/directory.h"
#include "view/term.h"

#define PREFIX	"cudatrace-unpacked-"

struct unpack {
	ZSTD_DCtx *zstd;
	int fd, dirfd;
	const char *file;	/* for messages */
	char *in, *out;
	size_t in_size, out_size;
	ZSTD_inBuffer from;
	ZSTD_outBuffer to;	/* what was decompressed */
	size_t used;		/* of that */
	bool more;		/* the frame is not over */
};

/* ------------------------------------------------------ directories -------- */

static const char *unpack_place(void)
{
	const char *place = getenv("TMPDIR");

	return place && *place == '/' ? place : "/tmp";
}

/* Only files that a pack may hold: never more than was made here. */
static void unpack_empty(int dirfd)
{
	int fd = dup(dirfd);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd, entry->d_name, 0);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* Removes what is a directory of ours and locked by nobody. */
static void unpack_remove_stale(int placefd, const char *name)
{
	int fd = openat(placefd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		unpack_empty(fd);
		unlinkat(placefd, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void unpack_clean(void)
{
	DIR *place = opendir(unpack_place());
	struct dirent *entry;

	while (place && (entry = readdir(place)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			unpack_remove_stale(dirfd(place), entry->d_name);
	if (place)
		closedir(place);
}

static struct made {
	char dir[PATH_MAX];
	int fd;			/* has the lock */
	pid_t owner;
	struct made *next;
} *made;

static void unpack_at_exit(void)
{
	for (struct made *m = made; m; m = m->next)
		if (m->owner == getpid()) {
			unpack_empty(m->fd);
			rmdir(m->dir);
		}
}

/* The clean-up of another command may come between the directory and its lock: then it is made again. */
static int unpack_make(char dir[PATH_MAX], struct ct_error *err)
{
	struct made *m = calloc(1, sizeof(*m));

	if (!m)
		return ct_fail(err, ENOMEM, "no memory");
	for (int i = 0; i < 10; i++) {
		struct stat st;

		snprintf(m->dir, sizeof(m->dir), "%.4000s/" PREFIX "XXXXXX", unpack_place());
		if (!mkdtemp(m->dir))
			break;
		m->fd = open(m->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (m->fd >= 0 && !flock(m->fd, LOCK_EX | LOCK_NB) && !stat(m->dir, &st)) {
			m->owner = getpid();
			m->next = made;
			if (!made)
				atexit(unpack_at_exit);
			made = m;
			snprintf(dir, PATH_MAX, "%s", m->dir);
			return m->fd;
		}
		if (m->fd >= 0)
			close(m->fd);
	}
	snprintf(m->dir, sizeof(m->dir), "%s", strerror(errno));
	ct_fail(err, errno, "%s: no directory to unpack into can be made (TMPDIR says where): %s", unpack_place(), m->dir);
	free(m);
	return -err->code;
}

/* ------------------------------------------------------ the archive -------- */

static int unpack_short(const struct unpack *u, struct ct_error *err)
{
	return ct_fail(err, EBADMSG, "%s: the pack is cut short", u->file);
}

/* More that is decompressed: 1; 0: the archive is over. */
static int unpack_more(struct unpack *u, struct ct_error *err)
{
	size_t rc;

	u->to.pos = u->used = 0;
	while (!u->to.pos) {
		if (u->from.pos == u->from.size) {
			ssize_t n = read(u->fd, u->in, u->in_size);

			if (n < 0)
				return ct_fail(err, errno, "%s: %s", u->file, strerror(errno));
			if (!n)
				return u->more ? unpack_short(u, err) : 0;
			u->from = (ZSTD_inBuffer){ u->in, (size_t)n, 0 };
		}
		rc = ZSTD_decompressStream(u->zstd, &u->to, &u->from);
		if (ZSTD_isError(rc))
			return ct_fail(err, EBADMSG, "%s is no packed trace, or it is damaged (%s)", u->file, ZSTD_getErrorName(rc));
		u->more = rc != 0;
	}
	return 1;
}

/* Up to @size bytes that follow, at @at.  Return: how many, 0 at the end, or a negative errno. */
static int unpack_next(struct unpack *u, size_t size, const char **at, struct ct_error *err)
{
	size_t n;

	if (u->used == u->to.pos) {
		int rc = unpack_more(u, err);

		if (rc <= 0)
			return rc;
	}
	n = u->to.pos - u->used;
	n = n < size ? n : size;
	*at = (const char *)u->to.dst + u->used;
	u->used += n;
	return (int)n;
}

/* To @to, or to @fd; both none: it is left out. */
static int unpack_bytes(struct unpack *u, uint64_t size, char *to, int fd, struct ct_error *err)
{
	while (size) {
		const char *at;
		int n = unpack_next(u, size < 1u << 30 ? (size_t)size : 1u << 30, &at, err), rc;

		if (n <= 0)
			return n ? n : unpack_short(u, err);
		if (to) {
			memcpy(to, at, (size_t)n);
			to += n;
		}
		rc = fd >= 0 ? ct_write_all(fd, at, (size_t)n) : 0;
		if (rc)
			return ct_fail(err, -rc, "%s can't be unpacked in %s (TMPDIR names another place): %s", u->file, unpack_place(), strerror(-rc));
		size -= (uint64_t)n;
	}
	return 0;
}

static int unpack_room(const struct unpack *u, uint64_t size, struct ct_error *err)
{
	char needed[CT_TERM_TEXT], is[CT_TERM_TEXT];
	struct statvfs fs;

	if (fstatvfs(u->dirfd, &fs) || size / fs.f_frsize < fs.f_bavail)
		return 0;
	return ct_fail(err, ENOSPC, "%s: a file of %s does not fit in %s, where %s are free (TMPDIR names another place)", u->file,
		       ct_term_bytes(needed, size), unpack_place(), ct_term_bytes(is, fs.f_bavail * fs.f_frsize));
}

static int unpack_file(struct unpack *u, const char *name, uint64_t size, struct ct_error *err)
{
	int fd, rc = unpack_room(u, size, err);

	if (rc)
		return rc;
	fd = openat(u->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ct_fail(err, errno, "%s: %s: %s", u->file, name, strerror(errno));
	rc = unpack_bytes(u, size, NULL, fd, err);
	close(fd);
	return rc ? rc : unpack_bytes(u, ct_tar_padding(size), NULL, -1, err);
}

static int unpack_all(struct unpack *u, struct ct_error *err)
{
	uint8_t head[CT_TAR_BLOCK];
	char name[101];
	const char *at;
	uint64_t size;
	int rc, files = 0;

	for (;; files++) {
		rc = unpack_bytes(u, sizeof(head), (char *)head, -1, err);
		if (rc)
			return rc;
		rc = ct_tar_read(head, name, &size);
		if (rc < 0 || (rc && !ct_is_trace_file(name)))
			return ct_fail(err, EBADMSG, "%s is no packed trace: it holds something else", u->file);
		if (!rc)
			break;
		rc = unpack_file(u, name, size, err);
		if (rc)
			return rc;
	}
	if (!files)
		return ct_fail(err, EBADMSG, "%s is no packed trace: it holds nothing", u->file);
	/* Up to the sum at its end. */
	do
		rc = unpack_next(u, 1u << 30, &at, err);
	while (rc > 0);
	return rc;
}

/* Does it begin as what zstd writes? */
static bool unpack_is_zstd(int fd)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t first[4];

	return pread(fd, first, sizeof(first), 0) == (ssize_t)sizeof(first) && !memcmp(first, zstd, sizeof(zstd));
}

int ct_pack_unpack(const char *file, char dir[PATH_MAX], struct ct_error *err)
{
	struct unpack u = { .zstd = ZSTD_createDCtx(), .file = file };
	int rc = 0;

	u.in_size = ZSTD_DStreamInSize();
	u.out_size = ZSTD_DStreamOutSize();
	u.in = malloc(u.in_size);
	u.out = malloc(u.out_size);
	u.to = (ZSTD_outBuffer){ u.out, u.out_size, 0 };
	u.fd = open(file, O_RDONLY | O_CLOEXEC);
	if (!u.zstd || !u.in || !u.out)
		rc = ct_fail(err, ENOMEM, "no memory");
	else if (u.fd < 0)
		rc = ct_fail(err, errno, "%s: %s", file, strerror(errno));
	else if (!unpack_is_zstd(u.fd))
		rc = ct_fail(err, ENOTDIR, "%s: not a directory, and no packed trace; name the one that 'cudatrace record -o' made", file);
	if (!rc) {
		unpack_clean();
		u.dirfd = unpack_make(dir, err);
		rc = u.dirfd < 0 ? u.dirfd : unpack_all(&u, err);
		if (rc && u.dirfd >= 0)
			unpack_empty(u.dirfd);
	}
	if (u.fd >= 0)
		close(u.fd);
	ZSTD_freeDCtx(u.zstd);
	free(u.in);
	free(u.out);
	return rc;
}
#endif
