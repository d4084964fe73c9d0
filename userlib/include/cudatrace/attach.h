/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What cudatrace record --pid calls in a process that it has brought the library into.
 */
#ifndef CUDATRACE_ATTACH_H
#define CUDATRACE_ATTACH_H

/* What cudatrace_attach() returns; a negative errno: nothing was changed. */
#define CT_ATTACHED		0
#define CT_ATTACHED_EARLY	1	/* there is no libcuda yet: it is recorded when it comes */
#define CT_ATTACHED_PARTLY	2	/* functions that were looked up before are not seen */

/*
 * cudatrace_attach() - record from now on
 * @options: as in the environment, "CUDATRACE_DIR=..." and so on, each with its NUL; an empty
 *	one ends them
 *
 * Again after cudatrace_detach(), as often as is wanted.  EPERM: the program has other rights than
 * its caller's.  EBUSY: the process is being recorded.
 */
int cudatrace_attach(const char *options);

/* Steps of cudatrace_detach(), in this order. */
#define CT_DETACH_PUT_BACK	0	/* no call comes to us any more; returns words that stay */
#define CT_DETACH_LEAVE		1	/* lets go of the trace; calls that are not over are lost */

int cudatrace_detach(int step);

#endif
