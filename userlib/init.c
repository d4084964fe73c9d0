// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libcudatrace.so: records the calls that a program makes to libcuda, when put
 * into LD_PRELOAD.
 *
 * Folders, top layer first; a file uses its own folder and those below it.
 *   plugins/	shared objects of their own, which are loaded when they are asked for: NVTX ranges,
 *		what the GPU does
 *   hook/	thunks in libcuda's own table of pointers.  Where that is not known, the program gets
 *		them instead of pointers: from dlsym(), from cuGetProcAddress and in the GOT slots of
 *		what is linked to libcuda
 *   call/	what is recorded of a call: before and after it, its name and category, its
 *		arguments; the driver's ioctls; the program's own markers
 *   record/	writing a record into a packet; threads
 *   backend/	where packets go: the device, or files
 *   tracedir/	the trace directory: registry of ids, counted losses, disk space
 *   base/	system calls, text, the environment, fork, the clock, loaded objects
 *
 * Rules of the whole library.  It exports dlsym, dlvsym, ioctl and cudatrace_*, and no
 * cu* name.  It never interposes dlopen.  It makes no CUDA call of its own, calls
 * no malloc, and leaves errno, signals, file descriptors and the environment as
 * the program has them.  What goes wrong costs records, never the program.
 */
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/elf.h"
#include "base/options.h"
#include "base/process.h"
#include "call/function.h"
#include "call/ioctl.h"
#include "hook/announce.h"
#include "hook/got.h"
#include "hook/interpose.h"
#include "hook/objects.h"
#include "hook/slot.h"
#include "record/attach.h"
#include "record/packet.h"

static const struct ct_call_above above_calls = {
	.full = ct_way_full, .query = ct_way_query, .ask = ct_way_ask, .call = ct_way_call,
	.args = ct_way_args,
	.check_objects = ct_objects_check,
	.announce = ct_announce,
	.after_get_proc_address = ct_after_get_proc_address,
};

/* Our own, whatever these names are bound to. */
__typeof__(dlsym) ct_dlsym __attribute__((visibility("hidden")));
__typeof__(dlvsym) ct_dlvsym __attribute__((visibility("hidden")));

/* For kernels without MADV_WIPEONFORK; a bare clone() is not seen then. */
static cold void tell_child_by_libc(void)
{
	int (*at_fork)(void (*)(void), void (*)(void), void (*)(void), void *);

	at_fork = (__typeof__(at_fork))ct_find_next("__register_atfork");
	if (at_fork)
		at_fork(NULL, NULL, ct_process_wipe, NULL);
}

/*
 * Runs before all other constructors (-z initfirst), which may call CUDA: libc's too, so
 * that only what the loader has made ready is there.  Where another library wants to be the
 * first, as libpthread did before glibc 2.34, it runs in its turn.
 */
__attribute__((constructor)) static void start(int argc, char **argv, char **env)
{
	(void)argc;
	(void)argv;
	ct_interpose_start((void *)ct_dlsym, (void *)ct_dlvsym, (void *)dlsym);
	/* In a program with other rights than its caller's: do nothing. */
	if (getauxval(AT_SECURE))
		return;
	ct_say_start();
	/* libc's, if it has it: not every libc's loader tells constructors. */
	ct_options_read(__environ ? __environ : env);
	if (ct_options.backend == CT_BACKEND_NONE)
		return;
	if (!ct_process_start())
		tell_child_by_libc();
	/* What was opened with RTLD_DEEPBIND has libc's. */
	ct_got_functions[CT_GOT_IOCTL] = (struct ct_got_function){
		"ioctl", ct_ioctl_start(), (void *)ct_ioctl, (void *)ioctl == (void *)ct_ioctl,
	};
	ct_call_above = &above_calls;
	ct_packet_begun = ct_objects_check;
	ct_objects_allow();
	ct_ready = 1;
	ct_objects_check();
}

__attribute__((destructor)) static void end(void)
{
	if (!ct_ready)
		return;
	ct_objects_tell();
	ct_thread_end();
}
