// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program of C++ without Python: calls libcuda from all kinds of code, and prints for each call of a thread its
 * functions that are on the stack, the innermost first, as it counts them itself: TID NAME NAME ...
 *
 * Usage: native_stacks LIBCUDA
 */
#include <alloca.h>
#include <cstdio>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

static int (*cuda_sync)();
static std::mutex lock;
static thread_local std::vector<const char *> names;

struct Scope {
	explicit Scope(const char *name) { names.push_back(name); }
	~Scope() { names.pop_back(); }
};

#define NOT_INLINE	__attribute__((noinline, noclone))
#define STAYS		__asm__ volatile("" : : : "memory")	/* no tail call */

NOT_INLINE void call()
{
	Scope s("call");
	std::string line = std::to_string(gettid());

	for (size_t i = names.size(); i--;)
		line += std::string(" ") + names[i];
	{
		std::lock_guard<std::mutex> guard(lock);
		puts(line.c_str());
	}
	cuda_sync();
	STAYS;
}

namespace model {
struct Layer {
	NOT_INLINE void forward(int n)
	{
		Scope s("forward");

		if (n % 3)
			call();
		call();
		STAYS;
	}
};
}

/* Its frame has another size each time. */
NOT_INLINE void sized(int n)
{
	Scope s("sized");
	volatile char *room = static_cast<volatile char *>(alloca(16 + n % 7 * 48));

	room[0] = 1;
	call();
	STAYS;
}

/* Two functions whose frames have one size: what was called stands where it stood. */
NOT_INLINE void left()
{
	Scope s("left");

	call();
	STAYS;
}

NOT_INLINE void right()
{
	Scope s("right");

	call();
	STAYS;
}

NOT_INLINE int deep(int n)
{
	Scope s("deep");
	int r = 0;

	if (n)
		r = deep(n - 1);
	else
		left(), right();
	STAYS;
	return r + 1;
}

struct Cleanup {
	NOT_INLINE ~Cleanup()
	{
		Scope s("~Cleanup");

		call();
		STAYS;
	}
};

NOT_INLINE void thrower()
{
	Scope s("thrower");
	Cleanup c;

	throw std::runtime_error("as it should");
}

static ucontext_t outside, inside;

/* On a stack of its own. */
NOT_INLINE void coroutine()
{
	Scope s("coroutine");

	for (int i = 0; i < 3; i++) {
		call();
		sized(i);
		swapcontext(&inside, &outside);
	}
	STAYS;
}

NOT_INLINE void coroutines()
{
	static char stack[2][256 << 10];

	for (auto &one : stack) {
		std::vector<const char *> ours, theirs;

		getcontext(&inside);
		inside.uc_stack.ss_sp = one;
		inside.uc_stack.ss_size = sizeof(one);
		inside.uc_link = &outside;
		makecontext(&inside, coroutine, 0);
		for (int i = 0; i < 4; i++) {
			std::swap(names, theirs);
			std::swap(ours, theirs);
			swapcontext(&outside, &inside);
			std::swap(ours, theirs);
			std::swap(names, theirs);
			call();
		}
	}
	STAYS;
}

NOT_INLINE void once()
{
	Scope s("once");

	call();
	STAYS;
}

static const size_t stack_size = 1 << 20;

static char *stacks(size_t n)
{
	return static_cast<char *>(mmap(nullptr, n * stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* A call on a stack that is gone afterwards. */
void short_stack(char *memory)
{
	ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = memory;
	there.uc_stack.ss_size = stack_size;
	there.uc_link = &here;
	makecontext(&there, once, 0);
	swapcontext(&here, &there);
	munmap(memory, stack_size);
}

/* A thread whose calls are made on stacks that are gone at its next one. */
void short_stacks()
{
	char *memory = stacks(4);

	for (int i = 3; i >= 0; i--)
		short_stack(memory + i * stack_size);
}

/* One whose own stack is of the same mapping as such a one. */
void *joined_stacks(void *above)
{
	once();
	short_stack(static_cast<char *>(above));
	once();
	STAYS;
	return nullptr;
}

NOT_INLINE void rounds()
{
	Scope s("rounds");

	for (int i = 0; i < 50; i++) {
		model::Layer().forward(i);
		sized(i);
		left();
		right();
		deep(i % 9);
		try {
			thrower();
		} catch (std::exception &) {
			call();
		}
	}
	deep(100);
	STAYS;
}

int main(int, char **argv)
{
	void *cuda = dlopen(argv[1], RTLD_NOW), *context;

	cuda_sync = reinterpret_cast<int (*)()>(dlsym(cuda, "cuCtxSynchronize"));
	reinterpret_cast<int (*)(unsigned int)>(dlsym(cuda, "cuInit"))(0);
	reinterpret_cast<int (*)(void **, int)>(dlsym(cuda, "cuDevicePrimaryCtxRetain"))(&context, 0);
	reinterpret_cast<int (*)(void *)>(dlsym(cuda, "cuCtxSetCurrent"))(context);
	char *joined = stacks(2);
	pthread_attr_t attr;
	pthread_t four;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, joined, stack_size);
	if (pthread_create(&four, &attr, joined_stacks, joined + stack_size))
		return 1;
	std::thread one(rounds), two(rounds), three(short_stacks);
	rounds();
	coroutines();
	one.join();
	two.join();
	three.join();
	pthread_join(four, nullptr);
	deep(300);
	return 0;
}
