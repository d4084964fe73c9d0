/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudatrace probe status: the state, the place and the counters of each probe. */
#ifndef CT_CLI_PROBE_STATUS_H
#define CT_CLI_PROBE_STATUS_H

#include "capture/device.h"

/* Prints the table and a line that sums it up; 0, or 1 after a line on stderr. */
int ct_probe_status(struct ct_device *dev);

#endif
