// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See check.h.  What the C API gives (frame objects) is only made where the thread has the
 * interpreter's lock, and given back.
 */
#include "plugins/stacks/check.h"

#include <string.h>

#include "plugins/gpu/loader.h"
#include "plugins/stacks/memory.h"

static int (*address_to_line)(void *code, int at);
static void *(*thread_frame)(void *thread);	/* PyThreadState_GetFrame() */
static void *(*frame_code)(void *frame);
static void *(*frame_back)(void *frame);
static int (*frame_line)(void *frame);
static void (*release)(void *object);
static bool done;

void check_find(void *handle)
{
	address_to_line = (int (*)(void *, int))loader_find(handle, "PyCode_Addr2Line");
	thread_frame = (void *(*)(void *))loader_find(handle, "PyThreadState_GetFrame");
	frame_code = (void *(*)(void *))loader_find(handle, "PyFrame_GetCode");
	frame_back = (void *(*)(void *))loader_find(handle, "PyFrame_GetBack");
	frame_line = (int (*)(void *))loader_find(handle, "PyFrame_GetLineNumber");
	release = (void (*)(void *))loader_find(handle, "Py_DecRef");
}

bool check_done(void)
{
	return __atomic_load_n(&done, __ATOMIC_RELAXED);
}

/* Only the table of lines is read for it; from 3.14 on it may take a lock of the code object. */
static const char *check_lines(const struct python *p, const struct python_stack *s, bool attached)
{
	struct python_text t;

	for (unsigned int i = 0; i < s->depth; i++) {
		if (!frames_describe(&s->frames[i], &t))
			return "a frame's code object is none";
		if (address_to_line && (attached || p->layout.version < 0x030e) &&
		    address_to_line((void *)s->frames[i].code, (int)s->frames[i].at) != t.line)
			return "its lines are stored in another way";
	}
	return NULL;
}

static const char *check_frames(const struct python_stack *s, void *thread)
{
	void *frame = thread_frame(thread), *next, *code;
	const char *why = NULL;
	struct python_text t;
	unsigned int i;

	for (i = 0; frame && i < s->depth; i++) {
		code = frame_code(frame);
		if ((uint64_t)code != s->frames[i].code)
			why = "its frames are others than it says";
		else if (!frames_describe(&s->frames[i], &t) || frame_line(frame) != t.line)
			why = "its lines are others than it says";
		if (code)
			release(code);
		next = why ? NULL : frame_back(frame);
		release(frame);
		frame = next;
	}
	if (frame)
		release(frame);
	if (!why && (i < s->depth || (frame && !s->cut)))
		why = "it has more or fewer frames than it says";
	return why;
}

const char *check_stack(const struct python *p, const struct python_stack *s, void *thread)
{
	const char *why = check_lines(p, s, thread != NULL);

	if (why || !thread || !thread_frame || !frame_code || !frame_back || !frame_line || !release)
		return why;
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	return check_frames(s, thread);
}

bool check_versions(const struct python *p, const struct python_stack *s)
{
	uint16_t at = p->layout.code_version;

	for (unsigned int i = 0; at && i < s->depth; i++)
		for (unsigned int k = 0; k < i; k++) {
			uint32_t a, b;

			if (s->frames[i].code == s->frames[k].code)
				continue;
			if (!memory_read(true, s->frames[i].code + at, &a, 4) ||
			    !memory_read(true, s->frames[k].code + at, &b, 4) || (a == b && a))
				return false;
		}
	return true;
}
