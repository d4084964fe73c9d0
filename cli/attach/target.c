// SPDX-License-Identifier: LGPL-2.1-or-later
/* See target.h. */
#include "attach/target.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"

#define LOADER_MOST	(1u << 20)	/* bytes of the loader's data; it has some 10 KiB */

/* ------------------------------------------------------ symbols of files --- */

static uint64_t symbol_in(const uint8_t *file, uint64_t size, const char *name)
{
	const Elf64_Ehdr *e = (const void *)file;
	const Elf64_Shdr *s;

	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_shentsize != sizeof(*s) || e->e_shoff > size || e->e_shnum > (size - e->e_shoff) / sizeof(*s))
		return 0;
	s = (const void *)(file + e->e_shoff);
	for (unsigned int i = 0; i < e->e_shnum; i++) {
		const Elf64_Shdr *strings;
		const Elf64_Sym *sym;

		if (s[i].sh_type != SHT_DYNSYM || s[i].sh_link >= e->e_shnum)
			continue;
		strings = &s[s[i].sh_link];
		if (s[i].sh_offset > size || s[i].sh_size > size - s[i].sh_offset || strings->sh_offset > size ||
		    strings->sh_size > size - strings->sh_offset || !strings->sh_size ||
		    file[strings->sh_offset + strings->sh_size - 1])
			continue;
		sym = (const void *)(file + s[i].sh_offset);
		for (uint64_t n = 0; n < s[i].sh_size / sizeof(*sym); n++)
			if (sym[n].st_shndx != SHN_UNDEF && sym[n].st_name < strings->sh_size &&
			    (ELF64_ST_TYPE(sym[n].st_info) == STT_FUNC || ELF64_ST_TYPE(sym[n].st_info) == STT_OBJECT) &&
			    !strcmp((const char *)file + strings->sh_offset + sym[n].st_name, name))
				return sym[n].st_value;
	}
	return 0;
}

uint64_t ct_target_symbol(const char *path, uint64_t base, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;
	struct stat st;
	void *file;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			value = symbol_in(file, st.st_size, name);
			munmap(file, st.st_size);
		}
	}
	close(fd);
	return value ? base + value : 0;
}

/* ------------------------------------------------------ its mappings ------- */

static bool is_library(const char *path, const char *name)
{
	const char *file = ct_proc_file(path);
	size_t n = strlen(name);

	return !strncmp(file, name, n) && (file[n] == '.' || file[n] == '-');
}

static void note_locks(struct ct_target *t, const struct ct_proc_mapping *m)
{
	if (t->locks_count < sizeof(t->locks) / sizeof(t->locks[0])) {
		t->locks[t->locks_count].start = m->start;
		t->locks[t->locks_count++].end = m->end;
	}
}

static void note_loader(struct ct_inject_libc *l, const struct ct_proc_mapping *m)
{
	if (l->loader_count < sizeof(l->loader) / sizeof(l->loader[0]) && m->end - m->start < LOADER_MOST) {
		l->loader[l->loader_count].start = m->start;
		l->loader[l->loader_count++].end = m->end;
	}
}

/*
 * The file that is mapped.  By its path it may be another one by now, and of a process with another root in another
 * mount namespace the path is not that in its root; but only root may open what is mapped.
 */
static void mapped_file(const struct ct_target *t, const struct ct_proc_mapping *m, char *to, size_t size)
{
	int fd;

	snprintf(to, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, t->pid, m->start, m->end);
	fd = open(to, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		snprintf(to, size, "/proc/%d/root%s", t->pid, m->path);
	else
		close(fd);
}

/* *foreign: it is a libc, but not glibc; Debian's musl is libc.so, and only its link is called ld-musl. */
static void find_functions(struct ct_target *t, const struct ct_proc_mapping *m, bool *foreign)
{
	uint64_t base = m->start;
	char file[PATH_MAX + 128];

	mapped_file(t, m, file, sizeof(file));
	if (ct_target_symbol(file, base, "__errno_location") && !ct_target_symbol(file, base, "gnu_get_libc_version")) {
		*foreign = true;
		return;
	}
	if (!t->libc.mmap) {
		t->libc.mmap = ct_target_symbol(file, base, "mmap");
		t->libc.munmap = ct_target_symbol(file, base, "munmap");
		t->libc.errno_location = ct_target_symbol(file, base, "__errno_location");
		t->memfd_create = ct_target_symbol(file, base, "memfd_create");
		t->close = ct_target_symbol(file, base, "close");
	}
	if (!t->dlopen) {
		t->dlopen = ct_target_symbol(file, base, "dlopen");
		t->dlerror = ct_target_symbol(file, base, "dlerror");
	}
}

/* Is it one of our files in memory? */
static bool note_ours(struct ct_target *t, const struct ct_proc_mapping *m, const char *const *names)
{
	if (strncmp(m->path, "/memfd:", 7))
		return false;
	for (int i = 0; i < CT_TARGET_FILES; i++)
		if (*names[i] && !strncmp(m->path + 7, names[i], strlen(names[i]))) {
			t->at[i] = t->at[i] ? t->at[i] : m->start;
			return true;
		}
	return false;
}

int ct_target_read(struct ct_target *t, pid_t pid, const char *const *names, struct ct_error *err)
{
	bool foreign = false, previous_is_lock = false;
	struct ct_proc_mapping m = { .end = 0 };
	struct ct_proc_stat s = { .stack = 0 };
	FILE *maps;

	/* First: where it becomes another program meanwhile that is seen by it. */
	ct_proc_stat(pid, &s);
	maps = ct_proc_maps(pid);
	*t = (struct ct_target){ .pid = pid, .libc.stack = s.stack };
	if (!maps)
		return errno == ENOENT ? ct_fail(err, ESRCH, "there is no process %d", pid) :
					 ct_fail(err, errno, "process %d: its memory map can't be read: %s%s", pid, strerror(errno),
						 errno == EACCES && geteuid() ? " (run as root)" : "");
	while (ct_proc_next_mapping(maps, &m)) {
		bool libc = is_library(m.path, "libc"), loader = is_library(m.path, "ld") || is_library(m.path, "ld-linux-x86-64");
		bool lock = libc || loader || is_library(m.path, "libjemalloc") || is_library(m.path, "libtcmalloc");

		foreign |= strstr(m.path, "/ld-musl-") != NULL;
		/* .bss behind a library has no name. */
		if (lock || (previous_is_lock && !*m.path))
			note_locks(t, &m);
		if (loader && m.offset)
			note_loader(&t->libc, &m);
		previous_is_lock = lock;
		t->cuda |= is_library(m.path, "libcuda");
		if (m.offset)
			continue;
		if (libc || is_library(m.path, "libdl"))
			find_functions(t, &m, &foreign);
		/* A plugin of an older one, or another version, is no sign of LD_PRELOAD. */
		if (!note_ours(t, &m, names) && is_library(m.path, "libcudatrace") && strncmp(m.path, "/memfd:", 7))
			t->preloaded = true;
	}
	fclose(maps);
	if (!m.end && !geteuid())
		return ct_fail(err, ESRCH, "process %d has no memory of its own: it is a thread of the kernel's, or ends", pid);
	if (!m.end)
		return ct_fail(err, EACCES, "process %d: its memory map can't be read (run as root)", pid);
	if (foreign || !t->libc.mmap || !t->dlopen || !t->libc.errno_location || !t->libc.munmap || !t->close || !t->memfd_create)
		return ct_fail(err, ENOTSUP, "process %d %s: no library can be brought in (record it from its start instead)", pid,
			       foreign ? "uses musl or another libc, not glibc" : "has no glibc of 2.27 or newer that is linked dynamically");
	return 0;
}

bool ct_target_has_cuda(pid_t pid)
{
	bool found = false;
	FILE *maps = ct_proc_maps(pid);
	struct ct_proc_mapping m;

	while (maps && !found && ct_proc_next_mapping(maps, &m))
		found = is_library(m.path, "libcuda");
	if (maps)
		fclose(maps);
	return found;
}

/* ------------------------------------------------------ its threads -------- */

int ct_target_refused(pid_t pid)
{
	char path[40], byte;
	int fd, error = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error == EPERM || error == EACCES ? error : 0;
}

/* 0: not this one; else the higher, the better. */
static int thread_worth(const struct ct_target *t, pid_t tid)
{
	char path[80], text[256] = "";
	unsigned long long word = 0;
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", t->pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f) || sscanf(text, "%ld 0x%llx", &nr, &word) < 1)
		nr = -1;
	fclose(f);
	switch (nr) {
	case SYS_poll: case SYS_ppoll: case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_select: case SYS_pselect6:
	case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_rt_sigtimedwait: case SYS_pause: case SYS_wait4: case SYS_waitid:
	case SYS_accept: case SYS_accept4: case SYS_recvfrom: case SYS_recvmsg:
		return 3;
	case SYS_futex:
		for (unsigned int i = 0; i < t->locks_count; i++)
			if (word >= t->locks[i].start && word < t->locks[i].end)
				return 0;
		return 2;
	case SYS_restart_syscall:
		return 2;	/* a wait with a timeout that was interrupted, as by us; locks have none */
	case SYS_read: case SYS_ioctl:
		return 1;	/* the loader reads files under its lock */
	}
	return 0;
}

pid_t ct_target_thread(const struct ct_target *t, unsigned int nth)
{
	char path[64];
	struct dirent *entry;

	for (int worth = 3; worth; worth--) {
		DIR *d;

		snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
		d = opendir(path);
		while (d && (entry = readdir(d))) {
			pid_t tid = (pid_t)atoi(entry->d_name);

			if (tid > 0 && thread_worth(t, tid) == worth && !nth--) {
				closedir(d);
				return tid;
			}
		}
		if (d)
			closedir(d);
	}
	return 0;
}
