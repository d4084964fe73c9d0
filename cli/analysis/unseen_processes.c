// SPDX-License-Identifier: LGPL-2.1-or-later
/* See unseen_processes.h. */
#include "analysis/unseen_processes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "view/term.h"

#define SHOWN 8 /* processes; the others are only counted */

static bool unseen_is_known(const struct ct_trace *t, int pid)
{
	for (unsigned int i = 0; i < t->reg.infos_count; i++)
		if ((!strcmp(t->reg.infos[i].key, CT_UNSEEN_INFO) ||
		     !strcmp(t->reg.infos[i].key, CT_UNSEEN_ELSEWHERE) ||
		     !strcmp(t->reg.infos[i].key, CT_UNSEEN_READ_ONLY) ||
		     !strcmp(t->reg.infos[i].key, CT_UNSEEN_LOADED_INFO) ||
		     !strcmp(t->reg.infos[i].key, CT_UNSEEN_NAMESPACE)) &&
		    atoi(t->reg.infos[i].text) == pid)
			return true;
	return false;
}

/* Processes that the recorder saw. */
static void unseen_print_found(const struct ct_trace *t, const char *key, const char *why,
			       const char *advice, FILE *out)
{
	unsigned int n = 0;
	char name[64];

	for (unsigned int i = 0; i < t->reg.infos_count; i++) {
		int pid, at;

		if (strcmp(t->reg.infos[i].key, key) ||
		    sscanf(t->reg.infos[i].text, "%d %n", &pid, &at) != 1)
			continue;
		if (n++ < SHOWN)
			fprintf(out, "  not recorded: CUDA calls of %s (%d), %s\n",
				ct_term_clean(name, sizeof(name), t->reg.infos[i].text + at, 40),
				pid, why);
	}
	if (n > SHOWN)
		fprintf(out, "  not recorded: and those of %u more\n", n - SHOWN);
	if (n)
		fprintf(out, "    do:  %s\n", advice);
}

/* What the library said of calls that pass it. */
static void unseen_print_some(const struct ct_trace *t, FILE *out)
{
	for (unsigned int i = 0; i < t->reg.infos_count; i++) {
		if (strcmp(t->reg.infos[i].key, CT_UNSEEN_SOME_INFO))
			continue;
		if (!strcmp(t->reg.infos[i].text, "slots"))
			fprintf(out,
				"  not recorded: calls of libraries whose tables of functions may not "
				"be written\n"
				"    do:  allow mprotect() (SELinux: execmod; seccomp), or link them "
				"with -z lazy\n");
		else if (!strcmp(t->reg.infos[i].text, "namespace"))
			fprintf(out, "  not recorded: calls of a libcuda that dlmopen() loaded\n"
				     "    do:  load libcuda by dlopen()\n");
		else if (!strcmp(t->reg.infos[i].text, "table"))
			fprintf(out,
				"  libcuda's table was not recognised: calls by pointers that the program did "
				"not get from dlsym() or cuGetProcAddress() may be missing\n"
				"    do:  tell us this driver's version (cudatrace doctor)\n");
		else if (!strcmp(t->reg.infos[i].text, "put_back"))
			fprintf(out,
				"  not recorded: some CUDA calls while another tool ended: it had put libcuda's "
				"table back as it was before cudatrace\n"
				"    do:  start that tool after cudatrace, or leave it out\n");
	}
}

/* The records show them: they use the driver as CUDA does, and call nothing. */
static void unseen_print_bypassed(const struct ct_trace *t, const struct ct_calls *s, FILE *out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->bypassed_count && i < CT_CALLS_BYPASSED; i++) {
		if (unseen_is_known(t, s->bypassed[i]))
			continue;
		fprintf(out,
			"  not recorded: CUDA calls of process %u, which used the GPU's driver\n",
			s->bypassed[i]);
		n++;
	}
	if (s->bypassed_count > CT_CALLS_BYPASSED)
		fprintf(out, "  not recorded: and those of %u more\n",
			s->bypassed_count - CT_CALLS_BYPASSED);
	if (n)
		fprintf(out,
			"    do:  start it by cudatrace record; if it was, another tool stands "
			"between it and libcuda: leave that out\n");
}

/* Launches only: the program got its pointers past the library, or began before it. */
static void unseen_print_partial(const struct ct_calls *s, FILE *out)
{
	for (unsigned int i = 0; i < s->partial_count && i < CT_CALLS_BYPASSED; i++)
		fprintf(out,
			"  not recorded: most CUDA calls of process %u: it launches kernels, but "
			"makes no context and loads none\n",
			s->partial[i]);
	if (s->partial_count)
		fprintf(out,
			"    do:  start it by cudatrace record, without --inject; leave out other "
			"preloaded libraries\n");
}

/* They may never have called it: that is no loss. */
static void unseen_print_idle(const struct ct_trace *t, FILE *out)
{
	unsigned int n = 0;
	char name[64];

	for (unsigned int i = 0; i < t->reg.infos_count; i++) {
		int pid, at;

		if (strcmp(t->reg.infos[i].key, CT_UNSEEN_IDLE) ||
		    sscanf(t->reg.infos[i].text, "%d %n", &pid, &at) != 1 ||
		    n++ >= SHOWN)
			continue;
		fprintf(out, "  no CUDA call of %s (%d): it loaded libcuda, and was not seen to "
			"use the GPU\n",
			ct_term_clean(name, sizeof(name), t->reg.infos[i].text + at, 40), pid);
	}
	if (n > SHOWN)
		fprintf(out, "  no CUDA call of %u more\n", n - SHOWN);
}

void ct_unseen_print(const struct ct_trace *t, const struct ct_calls *calls, FILE *out)
{
	if (ct_registry_info(&t->reg, CT_INJECTED_INFO))
		unseen_print_found(t, CT_UNSEEN_INFO, "whose libcuda did not load libcudatrace.so",
				   "leave out --inject; or see why the loader refuses the library: "
				   "LD_DEBUG=files (LD_DEBUG_OUTPUT=FILE)", out);
	else
		unseen_print_found(t, CT_UNSEEN_INFO, "which ran without LD_PRELOAD",
				   "run cudatrace behind what takes LD_PRELOAD away, as LAUNCHER "
				   "cudatrace record PROGRAM, or try --inject", out);
	unseen_print_found(t, CT_UNSEEN_ELSEWHERE, "which has another root (container, chroot)",
			   "mount the trace directory and libcudatrace.so there, under the same "
			   "paths, or run cudatrace record inside", out);
	unseen_print_found(t, CT_UNSEEN_READ_ONLY,
			   "for which the trace directory is read-only (container)",
			   "mount the directory there writable (bwrap --bind DIR DIR), or run cudatrace "
			   "record inside", out);
	unseen_print_found(t, CT_UNSEEN_LOADED_INFO,
			   "if it made any: libcuda was loaded, but not called through the library",
			   "put libcudatrace.so first in LD_PRELOAD, leave out other libraries that "
			   "export dlsym() or CUDA functions, or try --inject", out);
	unseen_print_found(t, CT_UNSEEN_NAMESPACE,
			   "if it made any: it used dlmopen(), and calls of a libcuda in another "
			   "namespace are not seen",
			   "load libcuda, and what is linked to it, by dlopen()", out);
	unseen_print_idle(t, out);
	unseen_print_some(t, out);
	unseen_print_bypassed(t, calls, out);
	/* What it did before somebody attached, or what is not kept any more, is not missing. */
	if (!ct_registry_info(&t->reg, CT_ATTACHED_INFO) && !ct_registry_info(&t->reg, CT_KEEP_INFO) &&
	    ct_registry_info(&t->reg, "command"))
		unseen_print_partial(calls, out);
}

/* Does the registry have functions of libcuda?  A process adds one with its first call of it. */
static bool unseen_was_called(const struct ct_trace *t)
{
	for (unsigned int i = CT_CLASS_DYNAMIC; i <= CT_CLASS_MAX; i++)
		if (t->reg.classes[i] && ct_class_is(t->reg.classes[i], CT_IS_API))
			return true;
	return false;
}

bool ct_unseen_range(const struct ct_trace *t)
{
	const char *range = ct_registry_info(&t->reg, CT_RANGE_INFO);

	if (!range || t->unfinished)
		return false;
	if (!strncmp(range, "iteration:", 10))
		return ct_registry_info(&t->reg, CT_RANGE_NEVER_INFO);
	return !ct_registry_info(&t->reg, CT_RANGE_BEGUN_INFO);
}

const char *ct_unseen_nothing(const struct ct_trace *t)
{
	static const char *const loaded[] = {
		"libcuda", CT_UNSEEN_INFO, CT_UNSEEN_ELSEWHERE, CT_UNSEEN_READ_ONLY, CT_UNSEEN_IDLE,
		CT_UNSEEN_LOADED_INFO, CT_UNSEEN_NAMESPACE,
	};

	if (ct_unseen_range(t))
		return "No call was recorded: the capture range never began.";
	if (unseen_was_called(t))
		return "No call is left: the registry names functions that were called, and no stream has their records.";
	for (unsigned int i = 0; i < sizeof(loaded) / sizeof(*loaded); i++)
		if (ct_registry_info(&t->reg, loaded[i]))
			return "No call was recorded: libcuda.so was loaded.";
	if (!ct_registry_info(&t->reg, "command"))
		return "No call was recorded.";
	if (ct_registry_info(&t->reg, CT_ATTACHED_INFO))
		return ct_registry_info(&t->reg, "samples") ?
			       "No call was recorded: the processes made none in that time." :
			       "No call was recorded: the processes made none in that time. Where they are meanwhile, record --stacks says.";
	return "No process loaded libcuda.so (a static or set-uid program takes no library).";
}
