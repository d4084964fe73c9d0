/* SPDX-License-Identifier: GPL-2.0 */
/* Which of NVIDIA's modules is loaded, and which version. */
#ifndef CT_DRIVER_H
#define CT_DRIVER_H

#include <linux/types.h>

struct module;

/*
 * The version of the loaded driver as NV_VERSION() of nv_names.h writes it
 * (535.261.03 is 535261003); 0: unknown.  Layouts of parameter blocks and
 * signatures of functions depend on it.
 */
extern u32 ct_driver_version;

/* Is a module of this name loaded or being loaded?  May sleep. */
bool ct_driver_loaded(const char *name);

/*
 * ct_driver_get - the module of this name, which does not go away until
 * ct_driver_put(); NULL: none is loaded or being loaded.  May sleep.
 */
struct module *ct_driver_get(const char *name);
void ct_driver_put(struct module *mod);

/* Learn the version: from mod if it is the driver's, else from what is loaded. */
void ct_driver_learn(const struct module *mod);

#endif
