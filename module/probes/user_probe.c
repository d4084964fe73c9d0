// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that a user adds while the module runs.  Each is turned into the same description as a row
 * of the driver's table, so that no other file distinguishes them.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "probes/probe.h"
#include "probes/quirk.h"
#include "probes/user_probe.h"
#include "nvidia/driver.h"
#include "core/registry.h"
#include "core/session.h"

/* A description with everything that it points to; desc is first, so kfree(desc) frees all. */
struct user_probe {
	struct ct_probe_desc desc;
	char module[56];
	char symbol[CT_NAME_LEN];
	struct ct_fetch fetch[CT_ARGS_MAX + 1];
	struct ct_define def;		/* its event class */
};

static bool user_probe_word(const char *s, size_t room, bool may_be_empty)
{
	size_t i, len = strnlen(s, room);

	if (len == room || (!len && !may_be_empty))
		return false;
	for (i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr(":,%\"\\", s[i]))
			return false;
	return true;
}

static bool user_probe_names(const struct ct_probe_add *arg)
{
	return user_probe_word(arg->module, sizeof(arg->module), true) &&
	       user_probe_word(arg->symbol, sizeof(arg->symbol), false);
}

/*
 * Fields stand in the order of the user's arguments.  A field that is narrower than 8 bytes is
 * widened to the type of its kind with 8 bytes, so that every field is aligned and no order of
 * arguments leaves holes.
 */
static u8 user_probe_widened(u8 type)
{
	switch (type) {
	case CT_TYPE_u8: case CT_TYPE_u16: case CT_TYPE_u32:
		return CT_TYPE_u64;
	case CT_TYPE_s8: case CT_TYPE_s16: case CT_TYPE_s32:
		return CT_TYPE_s64;
	case CT_TYPE_x8: case CT_TYPE_x16: case CT_TYPE_x32:
		return CT_TYPE_x64;
	default:
		return type;
	}
}

static int user_probe_describe_args(struct user_probe *a, const struct ct_probe_add *arg)
{
	u32 i, bits, highest = 0;

	if (arg->args > CT_ARGS_MAX)
		return -EINVAL;
	for (i = 0; i < arg->args; i++) {
		const struct ct_probe_arg *f = &arg->arg[i];

		if (!user_probe_word(f->name, sizeof(f->name), false) || f->type > CT_TYPE_x64 ||
		    (f->number > 5 && f->number != CT_ARG_RETURN))
			return -EINVAL;
		strscpy(a->def.fields[i].name, f->name, sizeof(a->def.fields[i].name));
		a->def.fields[i].type = user_probe_widened(f->type);
		bits = 8 * ct_type_size[f->type];
		a->fetch[i] = (struct ct_fetch){
			.mask = ~0ull >> (64 - bits),
			.sign = f->type >= CT_TYPE_s8 && f->type <= CT_TYPE_s64 ?
				1ull << (bits - 1) : 0,
			.number = f->number == CT_ARG_RETURN ? CT_ARG_RETURNED : f->number,
		};
		a->desc.fetch_signed |= a->fetch[i].sign != 0;
		if (f->number != CT_ARG_RETURN)
			highest = max_t(u32, highest, f->number + 1);
	}
	a->def.fields_count = arg->args;
	a->desc.args = highest;
	a->desc.size = arg->args * 8;
	return 0;
}

static struct user_probe *user_probe_describe(const struct ct_probe_add *arg)
{
	struct user_probe *a;
	int err;

	if (arg->flags & ~CT_PROBE_ENTRY || !user_probe_names(arg))
		return ERR_PTR(-EINVAL);
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return ERR_PTR(-ENOMEM);
	strscpy(a->module, arg->module, sizeof(a->module));
	strscpy(a->symbol, arg->symbol, sizeof(a->symbol));
	err = user_probe_describe_args(a, arg);
	if (err) {
		kfree(a);
		return ERR_PTR(err);
	}
	a->desc.name = a->symbol;
	a->desc.module = a->module;
	a->desc.group = CT_GROUP_ADDED;
	a->desc.category = CT_CAT_DRIVER;
	a->desc.alt[0].symbol = a->symbol;
	a->desc.fetch = arg->args ? a->fetch : NULL;
	a->desc.entry = arg->flags & CT_PROBE_ENTRY;
	/* It may sleep: the user does not say. */
	a->desc.sleeps = true;
	a->def.layer = CT_LAYER_KERNEL;
	a->def.category = a->desc.category;
	strscpy(a->def.name, a->symbol, sizeof(a->def.name));
	strscpy(a->def.symbol, a->symbol, sizeof(a->def.symbol));
	return a;
}

static bool user_probe_is(const struct ct_kprobe *p, const char *module, const char *symbol)
{
	return !strcmp(p->desc->module, module) && !strcmp(p->desc->alt[p->variant].symbol, symbol);
}

/* The kernel has several errors for "may not be probed"; users get one. */
static int user_probe_refusal(int err)
{
	return err == -ENOENT || err == -ENOMEM ? err : -EINVAL;
}

/* Can the function be probed?  0, -ENOENT, -EINVAL; 0 while its module is not loaded. */
static int user_probe_try(const struct user_probe *a)
{
	char name[sizeof(a->module) + sizeof(a->symbol) + 1];
	struct kprobe kp = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int err;

	if (a->module[0] && !ct_driver_loaded(a->module))
		return 0;
	err = ct_quirk_check_name(a->module, a->symbol);
	if (err)
		return err;
	snprintf(name, sizeof(name), "%s%s%s", a->module, a->module[0] ? ":" : "", a->symbol);
	err = register_kprobe(&kp);
	if (!err)
		unregister_kprobe(&kp);
	return err ? user_probe_refusal(err) : 0;
}

static int user_probe_add(struct user_probe *a, u32 sample)
{
	struct ct_kprobe *p;
	unsigned long id = 0;
	int class, err = 0;

	while ((p = ct_probe_next(&id)))
		if (user_probe_is(p, a->module, a->symbol) && (p->added || p->armed))
			return -EEXIST;
	class = ct_class_define(&a->def, 0);
	if (class < 0)
		return class;
	p = ct_probe_new(&a->desc, true, class, sample);
	if (IS_ERR(p)) {
		ct_class_drop(class);
		return PTR_ERR(p);
	}
	switch (p->state[0]) {
	case CT_PROBE_ABSENT:
	case CT_PROBE_FAILED:
		err = user_probe_refusal(p->error[0]);
		break;
	case CT_PROBE_IDLE:
		/* No session arms it now, so try it, at the cost of arming it. */
		err = user_probe_try(a);
		break;
	}
	if (err) {
		p->added = false; /* the caller frees the description */
		ct_probe_free(p);
	}
	return err;
}

int ct_user_probe_add(const struct ct_probe_add *arg)
{
	struct user_probe *a = user_probe_describe(arg);
	int err;

	if (IS_ERR(a))
		return PTR_ERR(a);
	err = mutex_lock_killable(&ct_session_lock);
	if (!err) {
		err = user_probe_add(a, arg->sample);
		mutex_unlock(&ct_session_lock);
	}
	if (err)
		kfree(a);
	return err;
}

int ct_user_probe_remove(struct ct_probe_add *arg)
{
	struct ct_kprobe *p;
	unsigned long id = 0;
	int err = -ENOENT;

	if (!user_probe_names(arg))
		return -EINVAL;
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	while ((p = ct_probe_next(&id))) {
		if (p->added && user_probe_is(p, arg->module, arg->symbol)) {
			ct_probe_disarm(p);
			ct_probe_sum(p, &arg->hits, &arg->missed, &arg->lost);
			ct_probe_free(p);
			err = 0;
			break;
		}
	}
	mutex_unlock(&ct_session_lock);
	return err;
}

int ct_user_probe_set(const struct ct_probe_add *arg)
{
	struct ct_kprobe *p;
	unsigned long id = 0;
	int err = -ENOENT;

	if (!user_probe_names(arg) || arg->flags || arg->args)
		return -EINVAL;
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	while ((p = ct_probe_next(&id))) {
		if (strcmp(arg->symbol, "*") && !user_probe_is(p, arg->module, arg->symbol))
			continue;
		WRITE_ONCE(p->sample, arg->sample);
		err = 0;
	}
	mutex_unlock(&ct_session_lock);
	return err;
}
