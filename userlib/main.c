// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libcudatrace.so: records the calls that a program makes to libcuda, when put
 * into LD_PRELOAD.
 *
 * The way of a call
 *   dlsym.S, interpose.c, got.c	the program gets thunks instead of pointers into
 *				libcuda: from dlsym(), from cuGetProcAddress and
 *				in the GOT slots of what is linked to libcuda
 *   slot.c, classify.c		which function is behind a thunk, and what it is
 *   thunks.S, call.c		before and after each call
 *   decode*.c, kernels.c	its arguments, and the names of kernels
 *   sink.c			where its record goes: device.c or files.c with
 *				registry.c and room.c; lost.c: what went nowhere;
 *				packet.c, writer.c: writing it; clock.c: its time
 *   ioctl.c			the driver's system calls, where no module sees them
 *   mark.c			the program's own markers
 *   driver.c, elf.c		where libcuda lies; loaded objects
 *   process.c, thread.c	fork, threads; options.c: the environment
 *
 * Rules of the whole library.  It exports dlsym, ioctl and cudatrace_*, and no
 * cu* name.  It never interposes dlopen.  It makes no CUDA call of its own, calls
 * no malloc, and leaves errno, signals, file descriptors and the environment as
 * the program has them.  What goes wrong costs records, never the program.
 */
#include <sys/auxv.h>
#include <unistd.h>

#include "clock.h"
#include "driver.h"
#include "ioctl.h"
#include "options.h"
#include "process.h"
#include "sink.h"

extern u8 ct_ready;

/*
 * Runs before all other constructors (-z initfirst), which may call CUDA: libc's too, so
 * that only what the loader has made ready is there.  Where another library wants to be the
 * first, as libpthread did before glibc 2.34, it runs in its turn.
 */
__attribute__((constructor)) static void start(int argc, char **argv, char **env)
{
	(void)argc;
	(void)argv;
	/* In a program with other rights than its caller's: do nothing. */
	if (getauxval(AT_SECURE))
		return;
	/* libc's, if it has it: not every libc's loader tells constructors. */
	ct_options_read(__environ ? __environ : env);
	if (ct_options.sink == CT_SINK_NONE)
		return;
	ct_process_start();
	ct_ioctl_start();
	ct_ready = 1;
	ct_objects_check();
}

__attribute__((destructor)) static void end(void)
{
	struct ct_thread *t = &ct_self;

	if (ct_ready && ct_sink->end && t->life == ct_process->life)
		ct_sink->end(t);
}
