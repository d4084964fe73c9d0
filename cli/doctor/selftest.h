/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * doctor --selftest: this command records itself, in the way that 'cudatrace record' takes here, and
 * looks at every record.  It needs no program that uses a GPU, and no GPU.
 */
#ifndef CT_CLI_SELFTEST_H
#define CT_CLI_SELFTEST_H

#include "doctor/doctor.h"

/* Records a program of its own, and tells what was recorded of it. */
struct ct_check_result ct_check_selftest(struct ct_doctor *d);

/* The program that is recorded; what it prints is for ct_check_selftest(). */
int ct_selftest_program(void);

#define CT_SELFTEST_PROGRAM	"selftest-program"	/* the option that starts it */

#endif
