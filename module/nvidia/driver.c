// SPDX-License-Identifier: GPL-2.0
/*
 * Finds NVIDIA's modules by name among the module objects of sysfs, because the kernel
 * does not export its list of modules.
 */
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/string.h>
#include "nvidia/driver.h"

u32 ct_driver_version;

/*
 * The branches that NVIDIA has published.  In none of them a release changed the signature of a
 * function that another release of the branch has, so releases to come count as read.
 */
static const u16 driver_branches[] = {
	515, 520, 525, 530, 535, 545, 550, 555, 560, 565, 570, 575, 580, 590, 595,
};

bool ct_driver_verified(u16 first, u16 last)
{
	u32 branch = READ_ONCE(ct_driver_version) / 1000000;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(driver_branches); i++)
		if (branch == driver_branches[i])
			return branch >= first && branch <= last;
	return false;
}

static struct kobject *driver_find(const char *name)
{
	return kset_find_obj(THIS_MODULE->mkobj.kobj.kset, name);
}

bool ct_driver_loaded(const char *name)
{
	struct kobject *obj = driver_find(name);

	kobject_put(obj);
	return obj;
}

/* Unloading a module waits until the last reference to its object is dropped. */
struct module *ct_driver_get(const char *name)
{
	struct kobject *obj = driver_find(name);
	struct module *mod;

	if (!obj)
		return NULL;
	mod = container_of(obj, struct module_kobject, kobj)->mod;
	/* Code that is built into the kernel has an object without a module. */
	if (!mod)
		kobject_put(obj);
	return mod;
}

void ct_driver_put(struct module *mod)
{
	kobject_put(&mod->mkobj.kobj);
}

/* "535.261.03" as 535261003; 0 if the text has another form. */
static u32 driver_parse(const char *text)
{
	unsigned int major, minor, patch = 0;

	if (!text || sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2 ||
	    major > 4000 || minor > 999 || patch > 999)
		return 0;
	return major * 1000000 + minor * 1000 + patch;
}

void ct_driver_learn(const struct module *mod)
{
	struct module *loaded = mod ? NULL : ct_driver_get("nvidia");

	if (loaded)
		mod = loaded;
	if (mod && !strcmp(mod->name, "nvidia"))
		WRITE_ONCE(ct_driver_version, driver_parse(mod->version));
	if (loaded)
		ct_driver_put(loaded);
}
