/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The version that the tools print.  The Makefile gives it; this is for builds without. */
#ifndef CT_CLI_VERSION_H
#define CT_CLI_VERSION_H

#ifndef CT_VERSION
#define CT_VERSION "0.1.0"
#endif

#endif
