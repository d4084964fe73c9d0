// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See dwarf.h.  libdw is loaded where it is needed: the command runs without it, and building needs no headers of it.
 * These are its interfaces since elfutils 0.122 (2006).
 */
#include "capture/native/dwarf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct dwarf_callbacks {
	int (*find_elf)(void);
	int (*find_debuginfo)(void);
	int (*section_address)(void);
	char **debuginfo_path;
};

struct ct_dwarf {
	void *dwfl, *module;
	uint64_t bias;
};

static struct {
	void *(*begin)(const struct dwarf_callbacks *);
	void (*end)(void *);
	void *(*report_offline)(void *, const char *, const char *, int);
	int (*report_end)(void *, void *, void *);
	void *(*getdwarf)(void *, uint64_t *);
	void *(*getsrc)(void *, uint64_t);
	const char *(*lineinfo)(void *, uint64_t *, int *, int *, void *, void *);
	const char *(*comp_dir)(void *);
	struct dwarf_callbacks callbacks;
	bool looked, found;
} libdw;

static bool dwarf_load(void)
{
	static const struct {
		const char *name;
		void **to;
	} names[] = {
		{ "dwfl_begin", (void **)&libdw.begin }, { "dwfl_end", (void **)&libdw.end },
		{ "dwfl_report_offline", (void **)&libdw.report_offline }, { "dwfl_report_end", (void **)&libdw.report_end },
		{ "dwfl_module_getdwarf", (void **)&libdw.getdwarf }, { "dwfl_module_getsrc", (void **)&libdw.getsrc },
		{ "dwfl_lineinfo", (void **)&libdw.lineinfo }, { "dwfl_line_comp_dir", (void **)&libdw.comp_dir },
		{ "dwfl_standard_find_debuginfo", (void **)&libdw.callbacks.find_debuginfo },
		{ "dwfl_offline_section_address", (void **)&libdw.callbacks.section_address },
	};
	void *handle;

	if (libdw.looked)
		return libdw.found;
	libdw.looked = true;
	handle = dlopen("libdw.so.1", RTLD_NOW);
	for (unsigned int i = 0; handle && i < sizeof(names) / sizeof(*names); i++) {
		*names[i].to = dlsym(handle, names[i].name);
		if (!*names[i].to)
			return false;
	}
	/* It would ask servers for debug files. */
	unsetenv("DEBUGINFOD_URLS");
	return libdw.found = handle != NULL;
}

struct ct_dwarf *ct_dwarf_open(const char *path)
{
	struct ct_dwarf *d;
	struct stat st;

	if (stat(path, &st) || (st.st_uid && st.st_uid != geteuid()) || !dwarf_load())
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->dwfl = libdw.begin(&libdw.callbacks);
	d->module = d->dwfl ? libdw.report_offline(d->dwfl, path, path, -1) : NULL;
	if (d->module && !libdw.report_end(d->dwfl, NULL, NULL) && libdw.getdwarf(d->module, &d->bias))
		return d;
	ct_dwarf_close(d);
	return NULL;
}

bool ct_dwarf_line(struct ct_dwarf *d, uint64_t address, uint64_t begin, const char **file, const char **dir, int *line)
{
	void *at = libdw.getsrc(d->module, address + d->bias);
	uint64_t from = 0;

	*file = at ? libdw.lineinfo(at, &from, line, NULL, NULL, NULL) : NULL;
	*dir = *file && **file != '/' ? libdw.comp_dir(at) : NULL;
	/* Of code without lines it finds those of the code in front of it. */
	return *file && *line > 0 && from - d->bias >= begin;
}

void ct_dwarf_close(struct ct_dwarf *d)
{
	if (d && d->dwfl)
		libdw.end(d->dwfl);
	free(d);
}
