// SPDX-License-Identifier: LGPL-2.1-or-later
/* See pack.h. */
#ifdef CT_HAVE_ZSTD
#include "pack/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "pack/tar.h"
#include "trace/directory.h"

#define LEVEL		3	/* of zstd: the next ones gain some percent and take twice the time */
#define READ_SIZE	(1u << 20)

struct pack {
	ZSTD_CCtx *zstd;
	int fd;
	char *in, *out;
	size_t out_size;
	struct ct_packed *packed;
	const char *file;	/* for messages */
};

static int pack_write(struct pack *p, const void *from, size_t size, ZSTD_EndDirective how, struct ct_error *err)
{
	ZSTD_inBuffer in = { from, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { p->out, p->out_size, 0 };
		int rc;

		left = ZSTD_compressStream2(p->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return ct_fail(err, EIO, "%s: zstd: %s", p->file, ZSTD_getErrorName(left));
		rc = ct_write_all(p->fd, p->out, out.pos);
		if (rc)
			return ct_fail(err, -rc, "%s: %s", p->file, strerror(-rc));
		p->packed->to += out.pos;
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	return 0;
}

static int pack_file(struct pack *p, int dirfd, const char *folder, const char *name, struct ct_error *err)
{
	static const uint8_t zeros[CT_TAR_BLOCK];
	int fd = openat(dirfd, name, O_RDONLY | CT_O_FOREIGN), rc;
	uint8_t head[CT_TAR_BLOCK];
	uint64_t left;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = ct_fail(err, errno ? : EINVAL, "%s/%s can't be read", folder, name);
		goto out;
	}
	if (!ct_tar_head(head, folder, name, (uint64_t)st.st_size, (uint64_t)st.st_mtime)) {
		rc = ct_fail(err, ENAMETOOLONG, "%s/%s: the name is too long", folder, name);
		goto out;
	}
	rc = pack_write(p, head, sizeof(head), ZSTD_e_continue, err);
	for (left = (uint64_t)st.st_size; left && !rc;) {
		ssize_t n = read(fd, p->in, left < READ_SIZE ? left : READ_SIZE);

		if (n <= 0) {
			rc = ct_fail(err, n ? errno : EIO, "%s/%s: %s", folder, name, n ? strerror(errno) : "it became shorter");
			break;
		}
		rc = pack_write(p, p->in, (size_t)n, ZSTD_e_continue, err);
		left -= (uint64_t)n;
	}
	if (!rc)
		rc = pack_write(p, zeros, ct_tar_padding((uint64_t)st.st_size), ZSTD_e_continue, err);
	p->packed->from += (uint64_t)st.st_size;
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

static int pack_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int pack_filter(const struct dirent *entry)
{
	return ct_is_trace_file(entry->d_name);
}

static int pack_all(struct pack *p, const char *dir, const char *folder, struct ct_error *err)
{
	static const uint8_t end[2 * CT_TAR_BLOCK];
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), n, rc = 0;
	struct dirent **list = NULL;

	n = dirfd < 0 ? -1 : scandirat(dirfd, ".", &list, pack_filter, pack_order);
	if (n < 0)
		rc = ct_fail(err, errno, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = pack_file(p, dirfd, folder, list[i]->d_name, err);
		free(list[i]);
	}
	free(list);
	if (dirfd >= 0)
		close(dirfd);
	return rc ? rc : pack_write(p, end, sizeof(end), ZSTD_e_end, err);
}

/* The trace's own name, in the archive: so that tar unpacks a directory. */
static void pack_folder(const char *dir, char folder[64])
{
	char path[PATH_MAX];
	const char *name;

	name = realpath(dir, path) ? strrchr(path, '/') : NULL;
	snprintf(folder, 64, "%.60s", name && name[1] ? name + 1 : "trace");
}

int ct_pack(const char *dir, const char *file, bool force, struct ct_packed *packed, struct ct_error *err)
{
	struct pack p = { .zstd = ZSTD_createCCtx(), .packed = packed, .file = file, .fd = -1 };
	char part[PATH_MAX], folder[64];
	int rc;

	*packed = (struct ct_packed){ 0 };
	p.out_size = ZSTD_CStreamOutSize();
	p.out = malloc(p.out_size);
	p.in = malloc(READ_SIZE);
	if (!p.zstd || !p.out || !p.in) {
		rc = ct_fail(err, ENOMEM, "no memory");
		goto out;
	}
	ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
	if (snprintf(part, sizeof(part), "%s.part-%d", file, (int)getpid()) >= (int)sizeof(part)) {
		rc = ct_fail(err, ENAMETOOLONG, "%.100s...: the name is too long", file);
		goto out;
	}
	if (!force && !access(file, F_OK)) {
		rc = ct_fail(err, EEXIST, "%s exists already (-f replaces it)", file);
		goto out;
	}
	p.fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (p.fd < 0) {
		rc = ct_fail(err, errno, "%s: %s", part, strerror(errno));
		goto out;
	}
	pack_folder(dir, folder);
	rc = pack_all(&p, dir, folder, err);
	if (!rc && (force ? rename(part, file) : link(part, file)))
		rc = ct_fail(err, errno, "%s: %s", file, strerror(errno));
	if (rc || !force)
		unlink(part);
out:
	if (p.fd >= 0)
		close(p.fd);
	ZSTD_freeCCtx(p.zstd);
	free(p.out);
	free(p.in);
	return rc;
}
#endif
