/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace probe discover: which functions a program really calls. */
#ifndef CT_CLI_DISCOVER_H
#define CT_CLI_DISCOVER_H

/* GLOB... -- CMD ARG..., or GLOB CMD ARG...; returns CMD's status, or 1 after one line on stderr. */
int ct_discover(int argc, char **argv);

#endif
