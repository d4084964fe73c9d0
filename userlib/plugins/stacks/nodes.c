// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * See nodes.h.
 *
 * Any thread may ask, and a child may be forked at any instruction: entries are only added, the
 * id last, and the lock is the pid of who has it, so that a child takes over that of its parent.
 */
#include "plugins/stacks/nodes.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "call/host.h"

#define ENTRIES	(1u << 18)	/* 4 MiB of address space; pages that are used are taken */
#define FULL	(ENTRIES / 4 * 3)

__typeof__(cudatrace_host) cudatrace_host __attribute__((weak));

struct entry {
	uint64_t key;		/* 0: free */
	uint32_t id, reserved;
};

static struct entry *entries;
static uint32_t used, locked;

uint32_t nodes_generation;

static const struct ct_host *host;

static const struct ct_host *nodes_host(void)
{
	const struct ct_host *h = __atomic_load_n(&host, __ATOMIC_ACQUIRE);

	if (!h && cudatrace_host) {
		h = cudatrace_host();
		if (h && (h->size != sizeof(*h) || h->schema != CT_SCHEMA_VERSION))
			h = NULL;
		__atomic_store_n(&host, h, __ATOMIC_RELEASE);
	}
	return h;
}

static void nodes_lock(uint32_t pid)
{
	uint32_t was = 0;

	while (!__atomic_compare_exchange_n(&locked, &was, pid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		/* That of a parent, which nobody gives back here. */
		if (was != pid)
			continue;
		was = 0;
		sched_yield();
	}
}

static void nodes_unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

bool nodes_begin(const struct ct_host *(*get)(void))
{
	const struct ct_host *h = get();

	if (!h || h->size != sizeof(*h) || h->schema != CT_SCHEMA_VERSION)
		return false;
	nodes_lock((uint32_t)ct_sys0(SYS_getpid));
	__atomic_store_n(&host, h, __ATOMIC_RELEASE);
	/* Zeros: numbers of another trace. */
	if (entries)
		madvise(entries, ENTRIES * sizeof(*entries), MADV_DONTNEED);
	used = 0;
	__atomic_fetch_add(&nodes_generation, 1, __ATOMIC_RELEASE);
	nodes_unlock();
	return true;
}

static struct entry *nodes_slot(uint64_t key)
{
	struct entry *e = __atomic_load_n(&entries, __ATOMIC_ACQUIRE);
	uint32_t i = (uint32_t)(key >> 20) & (ENTRIES - 1);

	if (!e)
		return NULL;
	for (;; i = (i + 1) & (ENTRIES - 1)) {
		uint64_t k = __atomic_load_n(&e[i].key, __ATOMIC_ACQUIRE);

		if (!k || k == key)
			return &e[i];
	}
}

static uint32_t nodes_known(uint64_t key)
{
	struct entry *e = nodes_slot(key);

	return e && __atomic_load_n(&e->key, __ATOMIC_ACQUIRE) == key ? e->id : 0;
}

/* The id of this text, and from now on of the key. */
static uint32_t nodes_add(uint64_t key, const char *text, size_t size)
{
	const struct ct_host *h = nodes_host();
	uint32_t id;
	struct entry *e;

	if (!h)
		return 0;
	nodes_lock((uint32_t)ct_sys0(SYS_getpid));
	if (!entries) {
		void *memory = mmap(NULL, ENTRIES * sizeof(*e), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory != MAP_FAILED)
			__atomic_store_n(&entries, memory, __ATOMIC_RELEASE);
	}
	id = nodes_known(key);
	if (!id && entries && used < FULL) {
		id = h->string(text, size);
		e = nodes_slot(key);
		if (id) {
			e->id = id;
			used++;
			__atomic_store_n(&e->key, key, __ATOMIC_RELEASE);
		}
	}
	nodes_unlock();
	return id;
}

static uint64_t nodes_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t nodes_hash(uint64_t h, const char *text, size_t size)
{
	uint64_t word;

	h = nodes_mix(h, size);
	for (; size >= 8; text += 8, size -= 8) {
		memcpy(&word, text, 8);
		h = nodes_mix(h, word);
	}
	word = 0;
	memcpy(&word, text, size);
	return nodes_mix(h, word);
}

uint32_t nodes_function(struct nodes_room *room, const char *language, const char *name, size_t name_size, const char *file,
			size_t file_size)
{
	uint64_t key = nodes_hash(nodes_hash(*(const uint8_t *)language, name, name_size), file, file_size) | 1;
	uint32_t id = nodes_known(key);
	int size;

	if (id)
		return id;
	size = snprintf(room->text, sizeof(room->text), "%s\t%.*s\t%.*s", language, (int)name_size, name, (int)file_size, file);
	return nodes_add(key, room->text, size < (int)sizeof(room->text) ? (size_t)size : sizeof(room->text) - 1);
}

uint32_t nodes_node(uint32_t parent, uint32_t function, uint32_t line)
{
	uint64_t key = nodes_mix(nodes_mix(0x5eed, (uint64_t)parent << 32 | function), line) | 1;
	uint32_t id = nodes_known(key);
	char text[48];

	if (id || !function)
		return id;
	return nodes_add(key, text, (size_t)snprintf(text, sizeof(text), "%u %u %u", parent, function, line));
}

void nodes_info(const char *key, const char *text)
{
	const struct ct_host *h = nodes_host();

	if (h)
		h->info(key, text);
}
