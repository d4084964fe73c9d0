// SPDX-License-Identifier: LGPL-2.1-or-later
/* See kernel_symbols.h. */
#include "base/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

int ct_symbols_each(ct_symbol_fn *fn, void *arg)
{
	char line[1024], type, name[512], module[128];
	FILE *in = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	bool more = true;

	if (!in)
		return -errno;
	while (more && fgets(line, sizeof(line), in)) {
		module[0] = '\0';
		if (sscanf(line, "%llx %c %511s [%127[^]]", &address, &type, name, module) >= 3 &&
		    (type == 't' || type == 'T'))
			more = fn(arg, module, name, address);
	}
	fclose(in);
	return 0;
}

int ct_ftrace_sites_each(ct_symbol_fn *fn, void *arg)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions",
	};
	char line[1024], name[512], module[128];
	bool more = true;
	FILE *in = NULL;

	for (unsigned int i = 0; i < 2 && !in; i++)
		in = fopen(paths[i], "re");
	if (!in)
		return -errno;
	/* A name, or a name and [module], a line each. */
	while (more && fgets(line, sizeof(line), in)) {
		module[0] = '\0';
		if (sscanf(line, "%511s [%127[^]]", name, module) >= 1)
			more = fn(arg, module, name, 0);
	}
	fclose(in);
	return 0;
}

bool ct_kernel_is_confidential(void)
{
	char line[128];

	return ct_first_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	       strstr(line, "[confidentiality]");
}
