/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own markers, for those who make them in its name. */
#ifndef CT_MARK_H
#define CT_MARK_H

#include "include/cudatrace/cudatrace.h"

#endif
