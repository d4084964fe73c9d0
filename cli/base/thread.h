/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the recorder's. */
#ifndef CT_CLI_THREAD_H
#define CT_CLI_THREAD_H

#include <pthread.h>

/* Starts a thread that gets no signals: the program's are the main thread's to pass on.  0 or a negative errno. */
int ct_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
