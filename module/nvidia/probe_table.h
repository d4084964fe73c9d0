/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of NVIDIA's driver that are probed. */
#ifndef CT_PROBE_TABLE_H
#define CT_PROBE_TABLE_H

#include "core/probe_desc.h"

extern const struct ct_probe_desc ct_probe_table[];
extern const unsigned int ct_probe_table_size;

#endif
