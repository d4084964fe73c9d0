// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libcudatrace-stacks.so: the stack of the thread that calls CUDA (`cudatrace record --stacks`).
 *
 * The library asks it before a call, cudatrace_stack(), and writes the number that it gives before
 * the call's record.
 *
 *   stacks.c	what was the stack at the thread's last call, and what has changed since
 *   python.c	the interpreter, from its first look on
 *   interpreters.c	several of them in one thread
 *   frames.c	the frames of its threads
 *   layout.c	where it keeps them
 *   lines.c	lines of instructions
 *   check.c	whether that is what the interpreter says
 *   native.c	frames of compiled code, of threads without frames of Python
 *   nodes.c	numbers of stacks, and the registry
 *   sampled.c	what the recorder must know to sample threads from outside (page.h)
 *
 * A plugin: it uses cudatrace_host() of libcudatrace.so and may use libc.  It runs inside the program's
 * calls, in signal handlers, too: one that comes while its thread takes a stack has none.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "include/cudatrace/attach.h"
#include "plugins/stacks/native.h"
#include "plugins/stacks/nodes.h"
#include "plugins/stacks/python.h"
#include "plugins/stacks/sampled.h"

#define CACHED	1024	/* sets of nodes of a thread, a power of two */
#define WAYS	4	/* nodes of a set */

/* Two lie in a line of the CPU's cache. */
struct cached {
	uint64_t code, digest;
	int64_t at;
	uint32_t parent, node;
};

struct thread {
	uint64_t known;			/* the recorder knows it: see sampled.c */
	uint64_t busy;			/* where on the stack one is being taken; 0: nowhere */
	uint32_t generation;		/* of the ids in nodes and cache */
	struct python_own own;
	struct cached cache[CACHED][WAYS];
	uint8_t oldest[CACHED];		/* of each set */
	struct nodes_room room;
	struct python_text text;
};

/* Of whom frames are recorded: PYTHON: of Python, and native ones where a thread has none; ALL: both. */
static enum { STACKS_PYTHON, STACKS_NATIVE, STACKS_ALL } mode;

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

/* Programs without threads may have no libpthread (glibc before 2.34). */
extern __typeof__(pthread_key_create) pthread_key_create __attribute__((weak));
extern __typeof__(pthread_setspecific) pthread_setspecific __attribute__((weak));
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");

static void thread_gone(void *t)
{
	self = NULL;
	munmap(t, sizeof(struct thread));
}

static struct thread *thread_new(void)
{
	static pthread_key_t key;
	static uint32_t made;		/* 1: being made, 2: it is there */
	uint32_t none = 0;
	void *t = mmap(NULL, sizeof(struct thread), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	self = t;
	self->generation = __atomic_load_n(&nodes_generation, __ATOMIC_ACQUIRE);
	if (pthread_key_create && pthread_setspecific) {
		if (__atomic_compare_exchange_n(&made, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			__atomic_store_n(&made, pthread_key_create(&key, thread_gone) ? 0u : 2u, __ATOMIC_RELEASE);
		if (__atomic_load_n(&made, __ATOMIC_ACQUIRE) == 2)
			pthread_setspecific(key, t);
	}
	return t;
}

static uint32_t node_make(struct thread *t, const struct python_frame *f, uint32_t parent)
{
	const struct python_text *text = &t->text;

	if (f->digest == NATIVE_DIGEST)
		return nodes_node(parent, native_function(&t->room, f->code), 0);
	if (!frames_describe(f, &t->text)) {
		python_refuse("a frame without a code object");
		return 0;
	}
	return nodes_node(parent, nodes_function(&t->room, "python", text->name, text->name_size, text->file, text->file_size),
			  text->line > 0 ? (uint32_t)text->line : 0);
}

static uint32_t node_of(struct thread *t, const struct python_frame *f, uint32_t parent)
{
	uint64_t h = (f->code ^ f->digest ^ (uint64_t)f->at << 4 ^ (uint64_t)parent << 20) * 0x9e3779b97f4a7c15ull;
	unsigned int set = (unsigned int)(h >> 32) % CACHED;
	struct cached *c = t->cache[set];

	/* The node of a line does not depend on the frame's place. */
	for (unsigned int i = 0; i < WAYS; i++)
		if (c[i].code == f->code && c[i].at == f->at && c[i].parent == parent && c[i].digest == f->digest &&
		    c[i].node)
			return c[i].node;
	c += t->oldest[set]++ % WAYS;
	*c = (struct cached){ .code = f->code, .digest = f->digest, .at = f->at, .parent = parent,
			      .node = node_make(t, f, parent) };
	return c->node;
}

static bool frame_same(const struct python_frame *a, const struct python_frame *b)
{
	return a->frame == b->frame && a->code == b->code && a->at == b->at && a->digest == b->digest;
}

/* The node of the stack that was walked, which becomes the last one. */
static uint32_t stack_node(struct thread *t)
{
	struct python_stack *s = &t->own.stack;
	struct python_last *last = &t->own.last;
	unsigned int kept = s->kept, depth = last->depth;
	uint32_t node = 0;

	/* Frames of compiled code were not compared yet. */
	while (!s->cut && s->depth && kept < depth && frame_same(&s->frames[s->depth - 1], &last->frames[kept])) {
		s->depth--;
		kept++;
	}
	if (kept)
		node = last->nodes[kept - 1];
	if (s->cut)
		node = nodes_node(0, nodes_function(&t->room, s->frames[s->depth - 1].digest == NATIVE_DIGEST ? "native" : "python",
						    "(deeper frames)", 15, "", 0), 0);
	/* A handler may leave by longjmp: what is said to be there is there. */
	last->depth = kept;
	barrier();
	for (unsigned int i = s->depth; i--; kept++) {
		node = node_of(t, &s->frames[i], node);
		/* No more numbers: no stack, rather than a part of one. */
		if (!node)
			return 0;
		last->frames[kept] = s->frames[i];
		last->nodes[kept] = node;
	}
	barrier();
	/* Where the outermost ones are not known, nothing follows from the place of a frame. */
	last->depth = s->cut ? 0 : kept;
	return node;
}

/* Another trace has begun: numbers of the one before mean nothing. */
static void stack_forget(struct thread *t)
{
	uint32_t generation = __atomic_load_n(&nodes_generation, __ATOMIC_ACQUIRE);

	if (likely(t->generation == generation))
		return;
	t->generation = generation;
	t->own.last.depth = 0;
	memset(t->cache, 0, sizeof(t->cache));
}

/* False: the thread has no frames of Python, and may have others. */
static bool stack_python(struct thread *t, uint64_t here, uint32_t *node)
{
	struct python_stack *s = &t->own.stack;

	t->own.here = here;
	switch (python_ready(&t->own)) {
	case PYTHON_NONE:
		return false;
	case PYTHON_REFUSED:
		/* Frames of the interpreter itself say nothing. */
		return true;
	case PYTHON_READY:
		break;
	}
	if (!python_walk(&t->own) || !(s->kept + s->depth))
		return false;
	if (mode == STACKS_ALL)
		native_inside(&t->own.native, here, s);
	*node = stack_node(t);
	return true;
}

static uint32_t stack_native(struct thread *t, uint64_t here)
{
	return native_walk(&t->own.native, here, &t->own.stack) && t->own.stack.depth ? stack_node(t) : 0;
}

static void stacks_mode(const char *word)
{
	mode = !word || !strcmp(word, "python") ? STACKS_PYTHON : strcmp(word, "native") ? STACKS_ALL : STACKS_NATIVE;
}

/*
 * A handler came while its thread takes a stack.  If that one was left by longjmp, its frame lies below
 * ours; what is further away lies on another stack and says nothing.
 */
static bool stack_busy(const struct thread *t, uint64_t here)
{
	return t->busy && (t->busy > here || here - t->busy > 64u << 20);
}

static void __attribute__((constructor)) stacks_begin(void)
{
	stacks_mode(getenv("CUDATRACE_STACKS"));
	python_begin();
	native_begin();
}

__attribute__((visibility("default"))) int cudatrace_stacks_begin(const struct ct_host *(*get)(void), const char *what,
								  uint32_t sample)
{
	if (!nodes_begin(get))
		return -1;
	stacks_mode(what);
	sampled_again(get, sample);
	return 0;
}

/* The number of the calling thread's stack; 0: it has none, or none that can be told. */
__attribute__((visibility("default"))) uint32_t cudatrace_stack(void);

uint32_t cudatrace_stack(void)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	struct thread *t = self ? self : thread_new();
	uint32_t node = 0;

	if (!t || stack_busy(t, here))
		return 0;
	t->busy = here;
	barrier();
	sampled_thread(&t->known);
	stack_forget(t);
	if (mode == STACKS_NATIVE || !stack_python(t, here, &node))
		node = stack_native(t, here);
	barrier();
	t->busy = 0;
	return node;
}
