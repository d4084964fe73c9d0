/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beginning to record in this process, and ending it while the process goes on.
 */
#ifndef CT_BEGIN_H
#define CT_BEGIN_H

#include "base/sys.h"

/*
 * Finds the real dlsym() and ioctl(), and what kind of call each thing is.  Before anything else,
 * also in a library that is to record nothing yet.
 */
void ct_begin_early(void);

/* ct_options are read: looks at all objects, and records from here on. */
void ct_begin(void);

/* Was the library brought in from outside, by cudatrace record --pid?  Then it waits to be told. */
bool ct_begun_from_outside(void);

#endif
