// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See interpreters.h.  Up to 3.11 the C API names the first interpreter's state alone, and any thread may run a state that
 * another one made.  So a state is ours if what runs it lies on our stack: a struct of the function that executes
 * Python code, or from 3.13 on the frame with which that begins.  Others' states change and go meanwhile: they are
 * read by process_vm_readv().  What ours points to changes and goes only while we run: it is read as it is.
 */
#include "plugins/stacks/interpreters.h"

#include "base/sys.h"
#include "plugins/gpu/loader.h"
#include "plugins/stacks/memory.h"

#define INTERPRETERS	256u
#define THREADS		4096u	/* of an interpreter */
#define OURS		8u	/* states on one stack */
#define HEAD		512u	/* bytes of a state that may be looked at */
#define CFRAME		64u	/* bytes of what runs one */

/* What runs a state on our stack. */
struct place {
	uint64_t state, inner, outer;
	bool whole;	/* all that runs it was seen: it is ours, and nothing that a thread left there which went */
};

const uint64_t *interpreters_find(void *handle, const struct layout *l)
{
	const uint8_t *runtime = loader_find(handle, "_PyRuntime");
	void *(*first)(void) = (void *(*)(void))loader_find(handle, "PyInterpreterState_Main");
	uint64_t words[3];

	if (!runtime || !first || !memory_copy((uint64_t)runtime + l->runtime_interpreters, words, sizeof(words)) ||
	    !words[1] || words[1] != (uint64_t)first() || !words[2] || words[2] >= 1u << 31)
		return NULL;
	return (const uint64_t *)(runtime + l->runtime_interpreters);
}

static uint64_t interpreters_word(unsigned int i)
{
	return __atomic_load_n(&python.interpreters[i], __ATOMIC_RELAXED);
}

bool interpreters_several(void)
{
	const struct layout *l = &python.layout;

	return python_were_several() && interpreters_word(0) != interpreters_word(1) &&
	       (l->thread_cframe >= 0 || l->version >= 0x030d);
}

/* Up to 3.12: the structs of a state, each in a function that executes code. */
static bool place_cframes(struct place *p, uint64_t cframe, uint64_t here, uint64_t end)
{
	p->inner = p->outer = cframe;
	for (unsigned int i = 0; cframe > here && cframe < end - CFRAME; i++) {
		p->outer = cframe;
		/* Deeper than anything that is shown: it reaches anywhere. */
		if (i == 4 * PYTHON_DEPTH) {
			p->outer = end;
			break;
		}
		/* It lies on our stack. */
		memory_word(false, cframe + python.layout.cframe_previous, &cframe);
	}
	/* The outermost one is a part of the state. */
	p->whole = cframe - p->state < HEAD;
	return p->inner > here && p->inner < end;
}

/* From 3.13 on: the frames of a state that are not Python code. */
static bool place_frames(struct place *p, uint64_t frame, uint64_t here, uint64_t end)
{
	const struct layout *l = &python.layout;
	uint8_t owner;

	p->inner = p->outer = 0;
	/* A state is run by no other thread than the one that it names. */
	p->whole = true;
	for (unsigned int i = 0; memory_may_be(frame); i++) {
		if (i == 4 * PYTHON_DEPTH) {
			p->outer = end;
			break;
		}
		memory_read(false, frame + (uint64_t)l->frame_owner, &owner, 1);
		if (owner >= l->owner_c && frame > here && frame < end) {
			p->outer = frame;
			p->inner = p->inner ? p->inner : frame;
		}
		memory_word(false, frame + l->frame_previous, &frame);
	}
	return p->inner != 0;
}

/* How many bytes of a state are looked at: behind its end there may be nothing.  0: one of its words is nowhere. */
static unsigned int interpreters_head(const struct layout *l)
{
	bool cframe = l->thread_cframe >= 0;
	unsigned int last = cframe ? (unsigned int)l->thread_cframe : l->thread_frame;

	if (!cframe && (l->thread_native < 0 || l->frame_owner < 0))
		return 0;
	if (!cframe && (unsigned int)l->thread_native > last)
		last = (unsigned int)l->thread_native;
	last = l->thread_next > last ? l->thread_next : last;
	return last <= HEAD - 8 ? last + 8 : 0;
}

/* Does this state run on our stack?  next: the one after it. */
static bool place_state(struct place *p, uint64_t state, uint64_t here, uint64_t end, uint64_t *next)
{
	const struct layout *l = &python.layout;
	uint8_t head[HEAD];
	uint64_t word;

	p->state = state;
	*next = 0;
	if (!memory_may_be(state) || !memory_copy(state, head, interpreters_head(l)))
		return false;
	memcpy(next, head + l->thread_next, 8);
	if (l->thread_cframe >= 0) {
		memcpy(&word, head + l->thread_cframe, 8);
		return place_cframes(p, word, here, end);
	}
	memcpy(&word, head + l->thread_native, 8);
	if (word != (uint64_t)ct_sys0(SYS_gettid))
		return false;
	memcpy(&word, head + l->thread_frame, 8);
	return place_frames(p, word, here, end);
}

/* The states of ours, by their place; the innermost first. */
static unsigned int interpreters_ours(struct place ours[OURS], uint64_t here, uint64_t end)
{
	uint64_t interpreter = interpreters_word(0), state, next;
	unsigned int count = 0, at;
	struct place p;

	for (unsigned int i = 0; memory_may_be(interpreter) && i < INTERPRETERS; i++) {
		if (!memory_word(true, interpreter + python.layout.interpreter_threads, &state))
			break;
		for (unsigned int k = 0; state && k < THREADS; k++, state = next) {
			if (!place_state(&p, state, here, end, &next))
				continue;
			for (at = count; at && ours[at - 1].inner > p.inner; at--)
				if (at < OURS)
					ours[at] = ours[at - 1];
			if (at < OURS)
				ours[at] = p;
			count += count < OURS;
		}
		if (!memory_word(true, interpreter + python.layout.interpreter_next, &interpreter))
			break;
	}
	return count;
}

bool interpreters_walk(uint64_t here, uint64_t end, struct python_stack *more, struct python_stack *s)
{
	struct place ours[OURS];
	unsigned int count = interpreters_head(&python.layout) ? interpreters_ours(ours, here, end) : 0, room;

	s->kept = s->depth = 0;
	s->cut = false;
	for (unsigned int i = 0; i < count; i++) {
		/* Two that call each other in turns: which frame called which is not told. */
		s->cut = s->cut || (i && ours[i].inner < ours[i - 1].outer);
		if (s->cut)
			break;
		if (!frames_walk(!ours[i].whole, (void *)ours[i].state, NULL, more))
			return false;
		room = PYTHON_DEPTH - s->depth;
		s->cut = more->cut || more->depth > room;
		room = more->depth < room ? more->depth : room;
		memcpy(s->frames + s->depth, more->frames, room * sizeof(*more->frames));
		s->depth += room;
	}
	s->cut = s->cut || count == OURS;
	/* One that is cut has a frame all the same. */
	return s->depth != 0;
}
