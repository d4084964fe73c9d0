/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Standby: a program that was started with LD_PRELOAD and CUDATRACE_STANDBY=1, which records
 * nothing until cudatrace record --pid asks for it.
 */
#ifndef CT_STANDBY_H
#define CT_STANDBY_H

/*
 * Before ct_begin().  At the process's first call everything is put back, so that calls cost
 * nothing any more, and a thread begins to wait for a request.  With CUDATRACE_STANDBY=begin the first one is
 * made here, of the variables in @env.
 */
void ct_standby_start(char *const *env);

/* The process ends: its page goes. */
void ct_standby_end(void);

#endif
