// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See sampled.h.  A child of fork() must not write into its parent's page: where the page is stands
 * in memory that a child finds empty.
 */
#include "plugins/stacks/sampled.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "call/host.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct own {
	struct python_page *page;
	uint64_t generation;		/* of the process, never 0 */
	uint32_t making, failed;
};

static struct own *own;			/* NULL: a kernel before 4.14, or no memory: no samples */
static struct python_page about;	/* what was found of the interpreter */
static uint32_t pages;			/* that were made */
static const struct ct_host *(*host)(void);	/* of a process that was attached to */
static void *mapped;			/* where its page is: that of the next trace comes to the same place */

static bool sampled_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int byte;

	for (unsigned int i = 0; i < 16; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		uuid[i] = (uint8_t)byte;
	}
	return true;
}

/* Of which trace; NULL: of none. */
static const char *sampled_trace(uint8_t uuid[16])
{
	const char *dir = getenv("CUDATRACE_DIR"), *trace = getenv("CUDATRACE_TRACE");
	const struct ct_host *h = host ? host() : NULL;

	if (h && h->recorded()) {
		memcpy(uuid, h->uuid, 16);
		return h->dir;
	}
	if (host || !getenv("CUDATRACE_SAMPLE") || !dir || !trace || strlen(trace) != 32 || !sampled_uuid(trace, uuid))
		return NULL;
	return dir;
}

static struct python_page *sampled_make(void)
{
	uint32_t pid = (uint32_t)getpid();
	struct python_page *page;
	uint8_t uuid[16];
	const char *dir = sampled_trace(uuid);
	char path[4096];
	int fd;

	if (!dir || snprintf(path, sizeof(path), "%s/" PAGE_PREFIX "%u", dir, pid) >= (int)sizeof(path))
		return NULL;
	/* That of a program before an exec. */
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	page = ftruncate(fd, PAGE_SIZE) ? MAP_FAILED : mmap(mapped, PAGE_SIZE, PROT_READ | PROT_WRITE,
							    MAP_SHARED | (mapped ? MAP_FIXED : 0), fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	mapped = page;
	*page = about;
	page->self = (uint64_t)page;
	page->pid = pid;
	page->threads = 0;
	memcpy(page->uuid, uuid, sizeof(uuid));
	__atomic_store_n(&page->magic, PAGE_MAGIC, __ATOMIC_RELEASE);
	return page;
}

/* The page of this process, made if it has none; NULL: there will be none. */
static struct python_page *sampled_page(void)
{
	struct python_page *page;
	uint32_t none = 0;

	if (!own || __atomic_load_n(&own->failed, __ATOMIC_RELAXED))
		return NULL;
	page = __atomic_load_n(&own->page, __ATOMIC_ACQUIRE);
	if (page || !__atomic_compare_exchange_n(&own->making, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return page;
	page = sampled_make();
	own->generation = (uint64_t)getpid() << 32 | ++pages;
	if (page)
		__atomic_store_n(&own->page, page, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&own->failed, 1u, __ATOMIC_RELAXED);
	return page;
}

void sampled_thread(uint64_t *known)
{
	struct python_page *page;
	uint32_t i;

	/* In the usual case two words are read. */
	if (!own || (*known && *known == own->generation))
		return;
	page = sampled_page();
	if (!page) {
		/* Another thread may be making it just now. */
		if (__atomic_load_n(&own->failed, __ATOMIC_RELAXED))
			*known = own->generation;
		return;
	}
	*known = own->generation;
	i = __atomic_fetch_add(&page->threads, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&page->tids[i % PAGE_THREADS], page_thread(i, (uint32_t)ct_sys0(SYS_gettid)), __ATOMIC_RELEASE);
}

void sampled_python(uint32_t version, const struct layout *layout, uint64_t runtime, uint64_t code_type,
		    uint64_t string_type, uint64_t bytes_type, enum page_state state)
{
	struct python_page *page = own ? __atomic_load_n(&own->page, __ATOMIC_ACQUIRE) : NULL;

	about.layout = *layout;
	about.runtime = runtime;
	about.code_type = code_type;
	about.string_type = string_type;
	about.bytes_type = bytes_type;
	about.state = state;
	about.version = version;
	if (!page)
		return;
	page->layout = *layout;
	page->runtime = runtime;
	page->code_type = code_type;
	page->string_type = string_type;
	page->bytes_type = bytes_type;
	page->state = state;
	__atomic_store_n(&page->version, version, __ATOMIC_RELEASE);
}

void sampled_refused(void)
{
	struct python_page *page = own ? __atomic_load_n(&own->page, __ATOMIC_ACQUIRE) : NULL;

	about.state = PAGE_REFUSED;
	if (page)
		__atomic_store_n(&page->state, (uint32_t)PAGE_REFUSED, __ATOMIC_RELEASE);
}

static struct own *sampled_own(void)
{
	void *memory = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (!madvise(memory, PAGE_SIZE, MADV_WIPEONFORK))
		return memory;
	munmap(memory, PAGE_SIZE);
	return NULL;
}

void sampled_begin(bool python)
{
	if (!getenv("CUDATRACE_SAMPLE"))
		return;
	own = sampled_own();
	if (own && python)
		sampled_page();
}

void sampled_again(const struct ct_host *(*get)(void), bool wanted)
{
	const struct ct_host *h = get();
	struct python_page *page = own ? __atomic_load_n(&own->page, __ATOMIC_ACQUIRE) : NULL;

	host = get;
	/* One that stood by and begins by itself has this trace's page already. */
	if (!wanted || !h || (page && !memcmp(page->uuid, h->uuid, sizeof(page->uuid))))
		return;
	if (own) {
		__atomic_store_n(&own->page, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&own->failed, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&own->generation, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&own->making, 0, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&own, sampled_own(), __ATOMIC_RELEASE);
	}
	/* Not with its first call: a process that hangs makes none, and where it hangs is what is asked. */
	sampled_page();
}
