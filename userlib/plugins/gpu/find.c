// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which libcupti to load.  It must be that of the CUDA which the program uses, and the one that
 * other parts of the program use, too: so, first of those that are there,
 *   1. one that is in the process already;
 *   2. beside the program's libcudart, or another of its libraries;
 *   3. in Python's nvidia packages, where a library of the process lies among them or beside;
 *   4. the CUDA toolkit's ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda and others there);
 *   5. what the loader finds.
 * Never one of Nsight's own: it belongs to that tool's version.
 */
#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/gpu/find.h"
#include "plugins/gpu/loader.h"

#define DIRS	64

struct dirs {
	char path[DIRS][512];
	const char *why[DIRS];
	unsigned count;
	char loaded[512];	/* a libcupti of this process */
	int major;		/* of the process's libcudart; 0: not known */
};

static bool find_is_nsight(const char *path)
{
	return strstr(path, "/nsight") || strstr(path, "/Nsight") || strstr(path, "/NsightSystems");
}

static int find_loaded(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!base || strncmp(base, "/libcupti.so", 12) || find_is_nsight(info->dlpi_name) ||
	    strlen(info->dlpi_name) >= 512)
		return 0;
	strcpy(path, info->dlpi_name);
	return 1;
}

static void dirs_add(struct dirs *d, const char *why, const char *from, size_t len, const char *more)
{
	char *to = d->path[d->count];

	if (d->count == DIRS || find_is_nsight(from) ||
	    snprintf(to, sizeof(d->path[0]), "%.*s%s", (int)len, from, more) >= (int)sizeof(d->path[0]))
		return;
	for (unsigned i = 0; i < d->count; i++)
		if (!strcmp(d->path[i], to))
			return;
	d->why[d->count++] = why;
}

static void dirs_of_packages(struct dirs *d, const char *path, size_t len)
{
	dirs_add(d, "in Python's nvidia packages", path, len, "/nvidia/cuda_cupti/lib");
	dirs_add(d, "in Python's nvidia packages", path, len, "/nvidia/cu13/lib");
}

static int dirs_of_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const packages[] = { "/site-packages/", "/dist-packages/" };
	struct dirs *d = arg;
	const char *path = info->dlpi_name, *base = path ? strrchr(path, '/') : NULL;

	if (!base || find_is_nsight(path))
		return 0;
	find_loaded(info, size, d->loaded);
	if (!strncmp(base, "/libcudart.so.", 14)) {
		d->major = atoi(base + 14);
		dirs_add(d, "beside the program's libcudart", path, (size_t)(base - path), "");
		dirs_add(d, "beside the program's libcudart", path, (size_t)(base - path),
			 "/../extras/CUPTI/lib64");
	}
	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(path, packages[i]);

		if (at)
			dirs_of_packages(d, path, (size_t)(at - path) + strlen(packages[i]) - 1);
	}
	return 0;
}

static void dirs_of_toolkit(struct dirs *d, const char *root)
{
	static const char *const more[] = {
		"/extras/CUPTI/lib64", "/targets/x86_64-linux/lib", "/lib64", "/lib",
	};

	for (unsigned i = 0; root && *root && i < 4; i++)
		dirs_add(d, "in the CUDA toolkit", root, strlen(root), more[i]);
}

static void dirs_fill(struct dirs *d)
{
	const char *conda = getenv("CONDA_PREFIX");
	char root[300];
	struct dirent *e;
	DIR *local;

	memset(d, 0, sizeof(*d));
	dl_iterate_phdr(dirs_of_object, d);
	dirs_of_toolkit(d, getenv("CUDA_HOME"));
	dirs_of_toolkit(d, getenv("CUDA_PATH"));
	if (conda)
		dirs_of_toolkit(d, conda);
	dirs_of_toolkit(d, "/usr/local/cuda");
	local = opendir("/usr/local");
	while (local && (e = readdir(local)))
		if (!strncmp(e->d_name, "cuda-", 5)) {
			snprintf(root, sizeof(root), "/usr/local/%s", e->d_name);
			dirs_of_toolkit(d, root);
		}
	if (local)
		closedir(local);
}

/* Loads what is there under this name. */
static void *find_open(struct found *f, const char *dir, const char *file, const char *why)
{
	int (*version)(u32 *);
	void *handle;

	if (snprintf(f->path, sizeof(f->path), "%s%s%s", dir, *dir ? "/" : "", file) >=
	    (int)sizeof(f->path) || (*dir && access(f->path, R_OK)))
		return NULL;
	handle = loader_open(f->path, RTLD_LAZY | RTLD_LOCAL);
	version = handle ? (int (*)(u32 *))loader_find(handle, "cuptiGetVersion") : NULL;
	if (!version || version(&f->version) != CUPTI_OK)
		return NULL;
	snprintf(f->why, sizeof(f->why), "%s", why);
	return handle;
}

static void *find_in(struct found *f, const char *dir, int major, const char *why)
{
	char file[64];
	void *handle = NULL;

	if (major) {
		snprintf(file, sizeof(file), "libcupti.so.%d", major);
		return find_open(f, dir, file, why);
	}
	for (major = 19; major >= 11 && !handle; major--)
		handle = find_in(f, dir, major, why);
	return handle ? handle : find_open(f, dir, "libcupti.so", why);
}

static void *find_any(struct found *f, const struct dirs *d, int major)
{
	void *handle = NULL;

	for (unsigned i = 0; i < d->count && !handle; i++)
		handle = find_in(f, d->path[i], major, d->why[i]);
	return handle ? handle : find_in(f, "", major, "where the loader finds it");
}

void *find_cupti(struct found *f)
{
	static struct dirs d;
	const char *wanted = getenv("CUDATRACE_CUPTI");
	void *handle = NULL;

	memset(f, 0, sizeof(*f));
	if (wanted && *wanted) {
		handle = find_open(f, "", wanted, "CUDATRACE_CUPTI names it");
		if (!handle)
			snprintf(f->why, sizeof(f->why), "CUDATRACE_CUPTI names %.200s, which is no libcupti",
				 wanted);
		return handle;
	}
	dirs_fill(&d);
	if (*d.loaded)
		handle = find_open(f, "", d.loaded, "it is in the program already");
	/* That of the program's libcudart first. */
	if (!handle && d.major)
		handle = find_any(f, &d, d.major);
	if (!handle)
		handle = find_any(f, &d, 0);
	if (!handle)
		snprintf(f->why, sizeof(f->why), "there is no libcupti: not beside the program's libcudart, not in "
			 "Python's nvidia packages, not in the CUDA toolkit (set CUDATRACE_CUPTI to its path)");
	return handle;
}

void *find_cupti_loaded(void)
{
	char path[512];

	return dl_iterate_phdr(find_loaded, path) ? loader_open(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

struct named {
	const char *code;
	char path[4096];
};

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct named *n = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && n->code >= at && n->code < at + p->p_memsz) {
			snprintf(n->path, sizeof(n->path), "%s", info->dlpi_name);
			return 1;
		}
	}
	return 0;
}

void *find_object(const void *code)
{
	struct named n = { .code = code };

	return dl_iterate_phdr(find_code, &n) && *n.path ?
	       loader_open(n.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}
