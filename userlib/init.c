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
 * cu* name.  It never interposes dlopen.  It makes no CUDA call of its own (but hook/ask.h), calls
 * no malloc, and leaves errno, signals, file descriptors and the environment as
 * the program has them.  What goes wrong costs records, never the program.
 */
#include <sys/auxv.h>
#include <unistd.h>

#include "base/options.h"
#include "base/process.h"
#include "hook/begin.h"
#include "hook/objects.h"
#include "hook/standby.h"
#include "record/attach.h"

/*
 * Runs before all other constructors (-z initfirst), which may call CUDA: libc's too, so
 * that only what the loader has made ready is there.  Where another library wants to be the
 * first, as libpthread did before glibc 2.34, it runs in its turn.
 */
__attribute__((constructor)) static void start(int argc, char **argv, char **env)
{
	(void)argc;
	(void)argv;
	ct_begin_early();
	/* In a program with other rights than its caller's: do nothing. */
	if (getauxval(AT_SECURE))
		return;
	ct_say_start();
	if (ct_begun_from_outside())
		return;
	/* libc's, if it has it: not every libc's loader tells constructors. */
	ct_options_read(__environ ? __environ : env);
	if (ct_options.backend == CT_BACKEND_NONE)
		return;
	if (ct_options.standby)
		ct_standby_start(__environ ? __environ : env);
	ct_begin();
}

__attribute__((destructor)) static void end(void)
{
	if (!ct_ready)
		return;
	if (ct_first_call)
		ct_standby_end();
	ct_objects_tell();
	ct_thread_end();
}
