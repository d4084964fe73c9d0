// SPDX-License-Identifier: LGPL-2.1-or-later
/* See host.h. */
#include "call/host.h"

#include "backend/backend.h"
#include "backend/files.h"
#include "call/range.h"
#include "base/options.h"
#include "base/process.h"
#include "record/attach.h"
#include "record/backoff.h"
#include "tracedir/lost.h"

static uint64_t host_clock(void)
{
	struct ct_thread *t = ct_self;

	return t == &ct_thread_none ? ct_clock_real() : ct_clock_now(&t->clock);
}

/* Where none can be made, the disk may be full: not each record tries. */
static uint32_t host_string(const char *text, size_t len)
{
	static struct ct_backoff backoff;
	u64 now = host_clock();
	uint32_t id;

	if (ct_backoff_waits(&backoff, now))
		return 0;
	id = ct_backend_string(text, len);
	ct_backoff_note(&backoff, id, now);
	return id;
}

static void host_lose(uint64_t records)
{
	ct_lost_add_many(records);
}

static void host_info(const char *key, const char *text)
{
	void (*info)(const char *, const char *) = ct_load(&ct_backend)->info;

	if (info)
		info(key, text);
}

static bool host_recorded(void)
{
	return !ct_load(&ct_stopped);
}

__attribute__((visibility("default"))) const struct ct_host *cudatrace_host(void)
{
	static struct ct_host host;
	static const u8 none[16];
	u64 mask;

	/* Not the thread: it may have nothing to record, and an empty stream is taken for a loss. */
	if (!ct_ready || !ct_process_attach())
		return NULL;
	if (!*ct_options.dir || !ct_load(&ct_backend)->producers || !memcmp(ct_registry_uuid(), none, 16))
		return NULL;
	mask = ct_lock();
	host = (struct ct_host){
		.size = sizeof(host), .schema = CT_SCHEMA_VERSION, .dir = ct_options.dir,
		.clock = host_clock, .string = host_string, .lose = host_lose,
		.info = host_info, .recorded = host_recorded, .room = ct_files_room, .is_long = ct_files_is_long,
		.outside = &ct_outside, .followed = ct_range_served,
	};
	memcpy(host.uuid, ct_registry_uuid(), 16);
	ct_unlock(mask);
	return &host;
}
