// SPDX-License-Identifier: LGPL-2.1-or-later
/* See python.h.  Must never call what takes the interpreter's lock, a reference or memory. */
#include "plugins/stacks/python.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "plugins/gpu/loader.h"
#include "plugins/stacks/check.h"
#include "plugins/stacks/interpreters.h"
#include "plugins/stacks/nodes.h"
#include "plugins/stacks/sampled.h"

static enum python_state state;

struct finding {
	void *handle;
};

static int python_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct finding *f = arg;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!name || strncmp(name, "/libpython", 10))
		return 0;
	f->handle = (void *)info->dlpi_name;
	return 1;
}

/* The program's, or that of a library which was loaded for itself. */
static void *python_open(void)
{
	struct finding f = { NULL };

	if (loader_find(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))
		return RTLD_DEFAULT;
	dl_iterate_phdr(python_library, &f);
	return f.handle ? loader_open(f.handle, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static uint32_t python_version(void *handle)
{
	const uint64_t *version = loader_find(handle, "Py_Version");
	const char *(*get)(void) = (const char *(*)(void))loader_find(handle, "Py_GetVersion");
	unsigned int major = 0, minor = 0, micro = 0;

	/* From 3.11 on it is a variable. */
	if (version)
		return (uint32_t)*version;
	if (!get || sscanf(get(), "%u.%u.%u", &major, &minor, &micro) < 2)
		return 0;
	return major << 24 | minor << 16 | micro << 8;
}

void python_refuse(const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s", *python.text ? python.text : "?", why);
	__atomic_store_n(&state, PYTHON_REFUSED, __ATOMIC_RELEASE);
	sampled_refused();
	nodes_info("stacks_refused", text);
}

static void python_tell(const struct python *p, void *handle, enum page_state is)
{
	sampled_python(p->version, &p->layout, (uint64_t)loader_find(handle, "_PyRuntime"), p->code_type, p->string_type,
		       p->bytes_type, is);
}

/* What does not change from its load on. */
static void python_types(struct python *p, void *handle)
{
	p->version = python_version(handle);
	p->code_type = (uint64_t)loader_find(handle, "PyCode_Type");
	p->string_type = (uint64_t)loader_find(handle, "PyUnicode_Type");
	p->bytes_type = (uint64_t)loader_find(handle, "PyBytes_Type");
}

void python_begin(void)
{
	struct python p = { 0 };
	const char *why = "";
	bool known = false;

	if (loader_find(RTLD_DEFAULT, "PyGILState_GetThisThreadState")) {
		python_types(&p, RTLD_DEFAULT);
		known = layout_find(&p.layout, p.version, loader_find(RTLD_DEFAULT, "_PyRuntime"), &why) && p.code_type &&
			p.string_type && p.bytes_type;
		if (known)
			python_tell(&p, RTLD_DEFAULT, PAGE_FOUND);
	}
	sampled_begin(known);
}

static bool python_find(void)
{
	struct python p = { 0 };
	void *handle = python_open();
	const char *why = "";
	int (*initialized)(void);

	if (!handle && !loader_find(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))
		return false;
	initialized = (int (*)(void))loader_find(handle, "Py_IsInitialized");
	if (!initialized || !initialized())
		return false;
	python_types(&p, handle);
	snprintf(p.text, sizeof(p.text), "%u.%u.%u", p.version >> 24, p.version >> 16 & 255, p.version >> 8 & 255);
	p.this_thread = (void *(*)(void))loader_find(handle, "PyGILState_GetThisThreadState");
	p.current = (void *(*)(void))loader_find(handle, "_PyThreadState_UncheckedGet");
	if (!p.current)
		p.current = (void *(*)(void))loader_find(handle, "PyThreadState_GetUnchecked");
	p.finalizing = (int (*)(void))loader_find(handle, "Py_IsFinalizing");
	if (!p.finalizing)
		p.finalizing = (int (*)(void))loader_find(handle, "_Py_IsFinalizing");
	if (!layout_find(&p.layout, p.version, loader_find(handle, "_PyRuntime"), &why) || !p.code_type ||
	    !p.string_type || !p.bytes_type || !p.current) {
		python = p;
		python_refuse(*why ? why : "functions are missing");
		return true;
	}
	check_find(handle);
	p.interpreters = interpreters_find(handle, &p.layout);
	p.unnumbered = p.layout;
	p.unnumbered.code_version = 0;
	python = p;
	python_tell(&p, handle, PAGE_FOUND);
	__atomic_store_n(&state, PYTHON_READY, __ATOMIC_RELEASE);
	return true;
}

/* A thread state that is ours, and whose frames nobody changes while we look. */
static void *python_thread(bool *attached)
{
	void *current = python.current(), *own;

	/* From 3.12 on the current one is that of the thread; before, of who has the lock. */
	own = python.layout.version >= 0x030c && current ? current : python.this_thread();
	*attached = own && own == current;
	/* While the interpreter ends, others free what is not theirs. */
	if (own && !*attached && python.finalizing && python.finalizing())
		return NULL;
	return own;
}

/* Strings of free-threaded builds have a byte where others have two bits. */
static bool python_string_kind(const struct python_stack *s)
{
	struct layout *l = &python.layout;
	struct python_text t;

	for (unsigned int shift = 2; shift <= 8; shift += 6) {
		l->string_kind = (uint8_t)shift;
		if (frames_describe(&s->frames[0], &t))
			return true;
	}
	return false;
}

/*
 * In a program with several interpreters all that this thread runs; false: there is only one, or nothing is known of
 * this stack.
 */
static bool python_several(struct python_own *own, bool *has)
{
	uint64_t end = interpreters_several() ? native_begins(&own->native, own->here) : 0;

	if (!end)
		return false;
	*has = !(python.finalizing && python.finalizing()) && interpreters_walk(own->here, end, &own->more, &own->stack);
	return true;
}

static enum python_state python_check(struct python_own *own)
{
	struct python_stack *room = &own->stack;
	bool attached = false, has, several = python_several(own, &has);
	void *thread = several ? NULL : python_thread(&attached);
	const char *why;

	if (several ? !has : !thread)
		return PYTHON_NONE;
	if (!several && !frames_walk(true, thread, NULL, room)) {
		python_refuse("its frames are not where they should be");
		return PYTHON_REFUSED;
	}
	if (!room->depth)
		return PYTHON_NONE;
	if (!python_string_kind(room)) {
		python_refuse("its code objects are not what they should be");
		return PYTHON_REFUSED;
	}
	why = check_stack(&python, room, attached ? thread : NULL);
	if (why) {
		python_refuse(why);
		return PYTHON_REFUSED;
	}
	if (!check_versions(&python, room))
		python.layout.code_version = 0;
	__atomic_store_n(&python_checked, true, __ATOMIC_RELEASE);
	python_tell(&python, python_open(), PAGE_CHECKED);
	nodes_info("stacks_python", python.text);
	return PYTHON_READY;
}

enum python_state python_ready(struct python_own *own)
{
	static uint32_t looked;
	uint32_t n;

	switch (__atomic_load_n(&state, __ATOMIC_ACQUIRE)) {
	case PYTHON_REFUSED:
		return PYTHON_REFUSED;
	case PYTHON_NONE:
		/* After 1, 2, 4 ... 4,096 calls, and then each 4,096. */
		n = __atomic_add_fetch(&looked, 1, __ATOMIC_RELAXED);
		if ((n & (n - 1) && n & 4095) || !python_find())
			return PYTHON_NONE;
		break;
	case PYTHON_READY:
		break;
	}
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != PYTHON_READY)
		return PYTHON_REFUSED;
	return __atomic_load_n(&python_checked, __ATOMIC_ACQUIRE) ? PYTHON_READY : python_check(own);
}

bool python_walk(struct python_own *own)
{
	struct python_stack *s = &own->stack;
	bool attached, check, has;
	const char *why;
	void *thread;

	if (unlikely(python_several(own, &has)))
		return has;
	thread = python_thread(&attached);
	if (!thread)
		return false;
	/* Once more with the interpreter's own words, where the thread has its lock: all frames. */
	check = attached && !check_done();
	if (!frames_walk(false, thread, check ? NULL : &own->last, s))
		return false;
	why = check && s->depth ? check_stack(&python, s, thread) : NULL;
	if (!why)
		return true;
	python_refuse(why);
	return false;
}
