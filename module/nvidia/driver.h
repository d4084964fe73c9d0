/* SPDX-License-Identifier: GPL-2.0 */
/* Which of NVIDIA's modules are loaded, and the driver's version. */
#ifndef CT_DRIVER_H
#define CT_DRIVER_H

#include <linux/types.h>

struct module;

/*
 * The version of the loaded driver in the form of NV_VERSION() of uapi/nv_names.h
 * (535.261.03 is 535261003); 0: unknown.  Layouts of parameter blocks and signatures of
 * functions depend on it.
 */
extern u32 ct_driver_version;

/*
 * ct_driver_verified - is the loaded driver of a branch from first to last whose source was read?
 * Any context.
 */
bool ct_driver_verified(u16 first, u16 last);

/* ct_driver_loaded - is a module of this name loaded or being loaded?  May sleep. */
bool ct_driver_loaded(const char *name);

/*
 * ct_driver_get - the module of this name, or NULL if none is loaded or being loaded.
 * The module cannot be unloaded completely until ct_driver_put().  May sleep.
 */
struct module *ct_driver_get(const char *name);
void ct_driver_put(struct module *mod);

/*
 * ct_driver_learn - set ct_driver_version.
 * @mod:	a module that is being loaded: ignored unless it is the driver's; NULL: use
 *		the driver's module that is loaded.
 * May sleep.
 */
void ct_driver_learn(const struct module *mod);

#endif
