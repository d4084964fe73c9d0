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

static struct python_page *sampled_make(void)
{
	const char *dir = getenv("CUDATRACE_DIR"), *trace = getenv("CUDATRACE_TRACE");
	struct python_page *page;
	char path[4096];
	uint32_t pid = (uint32_t)getpid();
	int fd;

	if (!getenv("CUDATRACE_SAMPLE") || !dir || !trace || strlen(trace) != 32 ||
	    snprintf(path, sizeof(path), "%s/" PAGE_PREFIX "%u", dir, pid) >= (int)sizeof(path))
		return NULL;
	/* That of a program before an exec. */
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	page = ftruncate(fd, PAGE_SIZE) ? MAP_FAILED : mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return NULL;
	*page = about;
	page->self = (uint64_t)page;
	page->pid = pid;
	page->threads = 0;
	if (sampled_uuid(trace, page->uuid))
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
	own->generation = (uint64_t)getpid() << 32 | 1;
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
		if (own->generation)
			*known = own->generation;
		return;
	}
	*known = own->generation;
	i = __atomic_fetch_add(&page->threads, 1, __ATOMIC_RELAXED);
	if (i < PAGE_THREADS)
		__atomic_store_n(&page->tids[i], (uint32_t)ct_sys0(SYS_gettid), __ATOMIC_RELEASE);
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

void sampled_begin(bool python)
{
	void *memory;

	if (!getenv("CUDATRACE_SAMPLE"))
		return;
	memory = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	if (madvise(memory, PAGE_SIZE, MADV_WIPEONFORK)) {
		munmap(memory, PAGE_SIZE);
		return;
	}
	own = memory;
	if (python)
		sampled_page();
}
