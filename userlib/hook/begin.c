// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Beginning to record; and what cudatrace record --pid and session attach call in a process that already
 * runs: cudatrace_attach() and cudatrace_detach().  See begin.h, and include/cudatrace/attach.h.
 *
 * A process that was attached to and left again has nothing of ours in its way: libcuda's
 * table and all slots are as they were, and the library stays mapped, as a thread may still be in
 * a call that it entered through us.
 */
#include "hook/begin.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>

#include "backend/backend.h"
#include "backend/device.h"
#include "base/clock.h"
#include "base/elf.h"
#include "base/options.h"
#include "base/process.h"
#include "call/collective.h"
#include "call/function.h"
#include "call/host.h"
#include "call/ioctl.h"
#include "call/kernels.h"
#include "call/range.h"
#include "call/stack.h"
#include "hook/announce.h"
#include "hook/ask.h"
#include "hook/driver.h"
#include "hook/got.h"
#include "hook/interpose.h"
#include "hook/objects.h"
#include "hook/slot.h"
#include "include/cudatrace/attach.h"
#include "record/attach.h"
#include "record/packet.h"

#define EXPORT	__attribute__((visibility("default")))

static const struct ct_call_above above_calls = {
	.full = ct_way_full, .query = ct_way_query, .ask = ct_way_ask, .call = ct_way_call,
	.args = ct_way_args, .pass = ct_way_pass,
	.check_objects = ct_objects_check,
	.announce = ct_announce,
	.after_get_proc_address = ct_after_get_proc_address,
};

/* Our own, whatever these names are bound to. */
__typeof__(dlsym) ct_dlsym __attribute__((visibility("hidden")));
__typeof__(dlvsym) ct_dlvsym __attribute__((visibility("hidden")));

void ct_begin_early(void)
{
	ct_interpose_start((void *)ct_dlsym, (void *)ct_dlvsym, (void *)dlsym);
}

/* For kernels without MADV_WIPEONFORK; a bare clone() is not seen then. */
static cold void begin_tell_child_by_libc(void)
{
	int (*at_fork)(void (*)(void), void (*)(void), void (*)(void), void *);

	at_fork = (__typeof__(at_fork))ct_find_next("__register_atfork");
	if (at_fork)
		at_fork(NULL, NULL, ct_process_wipe, NULL);
}

/* A thread has asked for another packet: rare enough for what changes rarely. */
static void begin_packet_asked(void)
{
	ct_objects_check();
	ct_thread_name();
}

void ct_begin(void)
{
	if (!ct_process_start())
		begin_tell_child_by_libc();
	/* What was opened with RTLD_DEEPBIND has libc's. */
	ct_got_functions[CT_GOT_IOCTL] = (struct ct_got_function){
		"ioctl", ct_ioctl_start(), (void *)ct_ioctl, (void *)ioctl == (void *)ct_ioctl,
	};
	ct_call_above = &above_calls;
	ct_range_route = ct_slots_route;
	ct_packet_asked = begin_packet_asked;
	ct_objects_allow();
	ct_ready = 1;
	ct_objects_check();
}

/* ------------------------------------------------- a process that already runs --- */

static int begin_is_from_outside(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!ct_object_is_ours(info))
		return 0;
	*(bool *)data = info->dlpi_name && !strncmp(info->dlpi_name, "/proc/", 6);
	return 1;
}

/* Only this file is loaded by such a name: it has none in the target's root. */
bool ct_begun_from_outside(void)
{
	bool outside = false;

	ct_each_object(begin_is_from_outside, &outside);
	return outside;
}

/* "NAME=VALUE", each with its NUL, and an empty one at the end. */
static void begin_read_options(const char *texts)
{
	char *texts_of[32];
	int n = 0;

	while (*texts && n < 31) {
		texts_of[n++] = (char *)texts;
		texts += strlen(texts) + 1;
	}
	texts_of[n] = NULL;
	memset(&ct_options, 0, sizeof(ct_options));
	ct_options_read(texts_of);
}

EXPORT struct ct_attach_answer cudatrace_attach_answer;
u32 *ct_begin_running = &cudatrace_attach_answer.running;

static bool attached;
static u32 recordings;		/* so many times */

/* Is this the last one?  0: any is meant. */
static bool begin_is(u32 number)
{
	return ct_load(&attached) && (!number || ct_load(&recordings) == number);
}

/* Another thread may have left it, and another recording may have begun: @number is then not the one that runs. */
static u32 begin_put_back(u32 number)
{
	u64 mask = ct_lock();
	bool runs = begin_is(number);

	/* First: a call that is not over looks for new objects, and would find all of them new. */
	if (runs) {
		ct_store(&ct_stopped, (u8)CT_STOPPED);
		ct_store(ct_begin_running, 0u);
	}
	ct_unlock(mask);
	return runs ? ct_objects_put_back() : 0;
}

/* Its recorder is gone. */
static bool begin_is_deserted(void)
{
	const struct ct_backend *b = ct_load(&ct_backend);

	return ct_load(&attached) && b->deserted && b->deserted(ct_clock_real());
}

static void begin_leave_if_deserted(void)
{
	u32 number = ct_load(&recordings);

	if (!begin_is_deserted())
		return;
	begin_put_back(number);
	cudatrace_detach(CT_DETACH_LEAVE, number);
}

/* Also where there is no room for a packet: nobody may be there who makes some. */
static void begin_look_after_recorder(void)
{
	begin_packet_asked();
	begin_leave_if_deserted();
}

bool ct_begin_records(void)
{
	return ct_ready && !ct_load(&ct_stopped) && !begin_is_deserted();
}

u32 ct_begin_number(void)
{
	return ct_load(&recordings);
}

bool ct_begin_watched(u32 number)
{
	if (ct_load(&recordings) != number)
		return false;
	begin_leave_if_deserted();
	return ct_load(&attached);
}

EXPORT int cudatrace_attach(const char *options, uint32_t (*stack)(void))
{
	long refused = 0;
	u64 mask;

	if (getauxval(AT_SECURE))
		return -1;	/* EPERM */
	/* Who records now may have been killed. */
	begin_leave_if_deserted();
	if (ct_ready && !ct_load(&ct_stopped))
		return -16;	/* EBUSY: it is being recorded */
	/* Another thread may be leaving a recording at this moment, and have put all back. */
	cudatrace_detach(CT_DETACH_LEAVE, 0);
	begin_read_options(options);
	if (ct_options.backend == CT_BACKEND_NONE)
		return -22;	/* EINVAL */
	if (ct_options.backend == CT_BACKEND_DEVICE)
		refused = ct_device_refused();
	if (refused)
		return (int)(refused - CT_ATTACH_NO_DEVICE);
	ct_stack_use(stack);
	ct_range_start();
	ct_say_start();
	if (ct_load(&ct_stopped)) {
		mask = ct_lock();
		ct_process_restart();
		ct_unlock(mask);
		ct_slots_renew();
		ct_kernels_renew();
		ct_collectives_renew();
		ct_store(&ct_stopped, 0);
	}
	ct_kernel_asked = ct_kernel_ask;
	ct_collective_asked = ct_collective_ask;
	ct_begin();
	ct_packet_asked = begin_look_after_recorder;
	ct_store(&ct_device_unread, begin_leave_if_deserted);
	ct_store(&recordings, recordings + 1);
	ct_store(&attached, true);
	ct_store(ct_begin_running, recordings);
	/* Open from here on: others see by it where the process records, and it sees whether its recorder is there. */
	if (!ct_process_attach() && ct_options.backend == CT_BACKEND_FILES) {
		cudatrace_detach(CT_DETACH_PUT_BACK, recordings);
		cudatrace_detach(CT_DETACH_LEAVE, recordings);
		return -13;	/* EACCES */
	}
	/* By pointers alone the functions that the program has looked up are not seen. */
	if (ct_objects_without_table())
		return CT_ATTACHED_PARTLY;
	return ct_driver_here() ? CT_ATTACHED : CT_ATTACHED_EARLY;
}

int ct_begin_attached(const char *options, const struct ct_begin_plugins *p, u32 *gpu)
{
	int rc = cudatrace_attach(options, p->stack);

	*gpu = 0;
	/* CUPTI would load a libcuda, where there is none yet. */
	if (rc != CT_ATTACHED && rc != CT_ATTACHED_PARTLY)
		return rc;
	if (p->stacks_begin)
		p->stacks_begin(cudatrace_host, p->stacks_what, p->sample);
	if (p->gpu_begin)
		*gpu = !p->gpu_begin(p->gpu_what, cudatrace_host);
	return rc;
}

EXPORT int cudatrace_detach(int step, uint32_t number)
{
	u64 mask;

	if (!begin_is(number))
		return 0;
	switch (step) {
	case CT_DETACH_PUT_BACK:
		return (int)begin_put_back(number);
	case CT_DETACH_LEAVE:
		mask = ct_lock();
		/* Another thread may have done it, or begun another recording. */
		if (begin_is(number) && ct_load(&ct_stopped)) {
			ct_threads_leave();
			ct_store(&attached, false);
		}
		ct_unlock(mask);
	}
	return 0;
}
