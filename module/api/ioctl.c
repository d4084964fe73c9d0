// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls of /dev/cudatrace: one row each in ioctl_rows[], with what it needs and the function
 * that does it.  What each does for users stands in cudatrace.h.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "api/access.h"
#include "api/arg.h"
#include "api/file.h"
#include "api/ioctl.h"
#include "control/control.h"
#include "control/mark.h"
#include "probes/counter.h"
#include "probes/user_probe.h"
#include "threadbuf/threadbuf.h"
#include "core/filter.h"
#include "core/limit.h"
#include "core/producer.h"
#include "core/registry.h"
#include "core/session.h"
#include "core/source.h"
#include "core/trigger.h"
#include "base/clock.h"

static int ioctl_version(struct file *file, union ct_arg *arg)
{
	arg->version.abi = CT_ABI_VERSION;
	arg->version.schema = CT_SCHEMA_VERSION;
	strscpy(arg->version.module, CT_VERSION, sizeof(arg->version.module));
	return 0;
}

/* ----------------------------------------------------- the session --------- */

static int ioctl_start(struct file *file, union ct_arg *arg)
{
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if (mutex_lock_killable(&f->start))
		return -EINTR;
	err = ct_control_start(&arg->session, file, false);
	if (!err) {
		s = ct_session_get();
		/* Another task may have ended it already and started another one. */
		if (s && s->owner != file) {
			ct_session_put(s);
			s = NULL;
		}
		ct_file_set_session(f, s, false);
		ct_file_drop_old();
	}
	mutex_unlock(&f->start);
	return err;
}

static int ioctl_stop(struct file *file, union ct_arg *arg)
{
	struct ct_session_state *s = ct_file_adopted(file->private_data);
	int err;

	if (!s)
		return ct_control_stop(file, ct_access_privileged());
	err = ct_access_privileged() ? ct_control_drop_orphan(s) : -EPERM;
	ct_session_put(s);
	return err;
}

/* The file keeps the orphan, too, until it starts its own session. */
static int ioctl_adopt(struct file *file, union ct_arg *arg)
{
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err = 0;

	if (mutex_lock_killable(&f->start))
		return -EINTR;
	s = ct_control_adopt(&arg->session);
	if (!s) {
		err = -ENODATA;
	} else if (f->adopted) {
		ct_session_put(s);
		err = -EBUSY;
	} else {
		ct_file_set_session(f, s, true);
	}
	mutex_unlock(&f->start);
	return err;
}

static int ioctl_get_session(struct file *file, union ct_arg *arg)
{
	return ct_control_describe(&arg->session);
}

static int ioctl_flush(struct file *file, union ct_arg *arg)
{
	return ct_control_flush();
}

static int ioctl_pause(struct file *file, union ct_arg *arg)
{
	ct_control_pause(true);
	return 0;
}

static int ioctl_resume(struct file *file, union ct_arg *arg)
{
	ct_control_pause(false);
	return 0;
}

static int ioctl_limits(struct file *file, union ct_arg *arg)
{
	return ct_limit_set(ct_session_running(), &arg->limits);
}

static int ioctl_get_limits(struct file *file, union ct_arg *arg)
{
	if (!ct_session_running())
		return -ENODATA;
	ct_limit_get(ct_session_running(), &arg->limits);
	return 0;
}

static int ioctl_filter(struct file *file, union ct_arg *arg)
{
	return ct_control_set_filter(&arg->filter);
}

static int ioctl_get_filter(struct file *file, union ct_arg *arg)
{
	ct_filter_get(&arg->filter);
	return 0;
}

static int ioctl_trigger(struct file *file, union ct_arg *arg)
{
	return ct_trigger_set(&arg->trigger);
}

/* --------------------------------------------------------- probes ---------- */

static int ioctl_probe_add(struct file *file, union ct_arg *arg)
{
	int err;

	/* If it is refused, its class goes. */
	ct_registry_get();
	err = ct_user_probe_add(&arg->add);
	ct_registry_put();
	return err;
}

static int ioctl_probe_remove(struct file *file, union ct_arg *arg)
{
	int err;

	ct_registry_get();
	err = ct_user_probe_remove(&arg->add);
	ct_registry_put();
	return err;
}

static int ioctl_probe_set(struct file *file, union ct_arg *arg)
{
	return ct_user_probe_set(&arg->add);
}

static int ioctl_count_add(struct file *file, union ct_arg *arg)
{
	struct ct_file *f = file->private_data;

	/* Before they are counted: the file's release looks at it. */
	WRITE_ONCE(f->counts, true);
	/* Whether a function is at an address is an answer, too. */
	return f->viewer.addresses ? ct_counter_add(file, &arg->count_add) : -EPERM;
}

static int ioctl_count_read(struct file *file, union ct_arg *arg)
{
	return ct_counter_read(file, &arg->count_read);
}

static int ioctl_get_probe(struct file *file, union ct_arg *arg)
{
	const struct ct_file *f = file->private_data;
	int err = ct_source_info(&arg->probe);

	if (!f->viewer.addresses)
		arg->probe.address = 0;
	return err;
}

/* -------------------------------------------- classes and strings ---------- */

/* The file's definitions stay as long as it is open. */
static void ioctl_keep_registry(struct ct_file *f)
{
	if (atomic_read(&f->defines))
		return;
	ct_registry_get();
	/* Another thread may have done it meanwhile. */
	if (atomic_xchg(&f->defines, 1))
		ct_registry_put();
}

static int ioctl_define(struct file *file, union ct_arg *arg)
{
	int id;

	/* Readers take a line of the type "tracer" for one of the module, e.g. about a loss. */
	if (arg->define.category == CT_CAT_TRACER)
		return -EINVAL;
	ioctl_keep_registry(file->private_data);
	arg->define.layer = CT_LAYER_USER;
	id = ct_class_define(&arg->define, ct_producer_of(current, 0));
	if (id < 0)
		return id;
	arg->define.id = id;
	return 0;
}

static int ioctl_get_define(struct file *file, union ct_arg *arg)
{
	struct ct_define *def = &arg->define;
	u32 size = def->size;
	const struct ct_class *c;

	rcu_read_lock();
	c = ct_class_next(def->id);
	if (c)
		*def = c->def;
	rcu_read_unlock();
	def->size = size;
	return c ? 0 : -ENOENT;
}

static int ioctl_string(struct file *file, union ct_arg *arg)
{
	struct ct_string *str = &arg->string;
	u32 len = min_t(u32, str->len, CT_STRING_MAX);
	char *text;
	int id;

	if (!len)
		return -EINVAL;
	text = memdup_user_nul((const void __user *)(unsigned long)str->text, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) != len) {
		kfree(text);
		return -EINVAL;
	}
	ioctl_keep_registry(file->private_data);
	id = ct_string_define(text, len, ct_producer_of(current, 0));
	kfree(text);
	if (id < 0)
		return id;
	str->id = id;
	return 0;
}

static int ioctl_get_string(struct file *file, union ct_arg *arg)
{
	struct ct_string *str = &arg->string;
	u32 room = str->len;
	const char *text;
	int err = -ENOENT;

	ct_registry_get();
	text = ct_string_find(str->id);
	if (text) {
		str->len = strlen(text);
		err = str->len > room ? -ENOSPC :
		      copy_to_user((void __user *)(unsigned long)str->text, text, str->len) ?
		      -EFAULT : 0;
	}
	ct_registry_put();
	return err;
}

/* --------------------------------------------- clock, thread buffers ------- */

static int ioctl_clock(struct file *file, union ct_arg *arg)
{
	long address;

	/*
	 * A program may close the file and open the device again: what it has defined stays as
	 * long as it has the page.
	 */
	ct_registry_get();
	address = ct_clock_map(ct_registry_put);
	if (IS_ERR_VALUE(address))
		return address;
	arg->clock.address = address;
	arg->clock.length = PAGE_SIZE;
	return 0;
}

static int ioctl_threadbuf(struct file *file, union ct_arg *arg)
{
	return ct_threadbuf_make(&arg->tb);
}

/* What one reader reads is gone for all others, so only the session's recorder may. */
static int ioctl_threadbuf_read(struct file *file, union ct_arg *arg)
{
	struct ct_threadbuf_read *read = &arg->threadbuf_read;
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if (read->flags & ~CT_THREADBUF_READ_ALL)
		return -EINVAL;
	if (!ct_access_initial_namespaces())
		return -EPERM;
	if (mutex_lock_killable(&f->start))
		return -EINTR;
	s = f->session;
	if (!s)
		err = -EBADF;
	else if (f->adopted && !ct_access_privileged())
		err = -EPERM;
	else
		err = ct_threadbuf_read(s, read);
	mutex_unlock(&f->start);
	return err;
}

/* ------------------------------------------------------------ reading ------ */

static int ioctl_watermark(struct file *file, union ct_arg *arg)
{
	struct ct_file *f = file->private_data;

	/*
	 * Without f->lock, which a read() holds while it waits: it compares with the new amounts
	 * when it looks again.
	 */
	WRITE_ONCE(f->watermark.bytes, arg->watermark.bytes);
	WRITE_ONCE(f->watermark.records, arg->watermark.records);
	WRITE_ONCE(f->watermark.ns, arg->watermark.ns);
	return 0;
}

/* ---------------------------------------------------------- the table ------ */

/* What an ioctl needs, tested in this order. */
#define MODE_READ 1u /* a file that is open for reading */
#define MODE_WRITE 2u /* ... for writing */
#define PRIVILEGED 4u /* ct_access_privileged() */
#define PROBES 8u /* ct_access_may_probe() */
/*
 * The right to change what the session records: ct_control_may().  The function runs with
 * ct_session_lock held.
 */
#define CONFIGURES 16u
#define LOCKED 32u /* ct_session_lock, and no right */

struct ioctl_row {
	unsigned int cmd;
	unsigned int needs;
	int (*run)(struct file *file, union ct_arg *arg);
};

#define ROW(name, needs, run) [_IOC_NR(CT_IOC_##name)] = { CT_IOC_##name, needs, run }

/*
 * By number.  With a struct as argument, the size in cmd is that of the module's struct; a caller's
 * may be older or newer.  Probes reach any function of the kernel with its arguments, and outlive
 * sessions: owning a session is not enough for them.
 */
static const struct ioctl_row ioctl_rows[] = {
	ROW(VERSION, 0, ioctl_version),
	ROW(START, MODE_READ | MODE_WRITE | PRIVILEGED, ioctl_start),
	ROW(STOP, MODE_READ | MODE_WRITE, ioctl_stop),
	ROW(ADOPT, MODE_READ, ioctl_adopt),
	ROW(GET_SESSION, MODE_READ | LOCKED, ioctl_get_session),
	ROW(FLUSH, MODE_READ, ioctl_flush),
	ROW(PAUSE, MODE_WRITE | CONFIGURES, ioctl_pause),
	ROW(RESUME, MODE_WRITE | CONFIGURES, ioctl_resume),
	ROW(LIMITS, MODE_WRITE | CONFIGURES, ioctl_limits),
	ROW(GET_LIMITS, MODE_READ | LOCKED, ioctl_get_limits),
	ROW(FILTER, MODE_WRITE | CONFIGURES, ioctl_filter),
	ROW(GET_FILTER, MODE_READ | LOCKED, ioctl_get_filter),
	ROW(TRIGGER, MODE_WRITE | CONFIGURES, ioctl_trigger),
	ROW(PROBE_ADD, MODE_WRITE | PROBES, ioctl_probe_add),
	ROW(PROBE_REMOVE, MODE_WRITE | PRIVILEGED, ioctl_probe_remove),
	ROW(PROBE_SET, MODE_WRITE | PRIVILEGED, ioctl_probe_set),
	ROW(COUNT_ADD, MODE_READ | MODE_WRITE | PROBES, ioctl_count_add),
	ROW(COUNT_READ, MODE_READ, ioctl_count_read),
	ROW(GET_PROBE, MODE_READ, ioctl_get_probe),
	ROW(DEFINE, MODE_WRITE, ioctl_define),
	ROW(GET_DEFINE, MODE_READ, ioctl_get_define),
	ROW(STRING, MODE_WRITE, ioctl_string),
	ROW(GET_STRING, MODE_READ, ioctl_get_string),
	ROW(CLOCK, MODE_WRITE, ioctl_clock),
	ROW(THREADBUF, MODE_WRITE, ioctl_threadbuf),
	ROW(THREADBUF_READ, 0, ioctl_threadbuf_read),
	ROW(WATERMARK, MODE_READ, ioctl_watermark),
};

static int ioctl_run(struct file *file, const struct ioctl_row *row, union ct_arg *arg)
{
	int err;

	if ((row->needs & MODE_READ && !(file->f_mode & FMODE_READ)) ||
	    (row->needs & MODE_WRITE && !(file->f_mode & FMODE_WRITE)))
		return -EBADF;
	if (row->needs & PRIVILEGED && !ct_access_privileged())
		return -EPERM;
	if (row->needs & PROBES) {
		err = ct_access_may_probe();
		if (err)
			return err;
	}
	if (!(row->needs & (CONFIGURES | LOCKED)))
		return row->run(file, arg);
	if (mutex_lock_killable(&ct_session_lock))
		return -EINTR;
	err = row->needs & CONFIGURES ? ct_control_may(file, ct_access_privileged()) : 0;
	if (!err)
		err = row->run(file, arg);
	mutex_unlock(&ct_session_lock);
	return err;
}

static long ioctl_run_struct(struct file *file, const struct ioctl_row *row, void __user *user)
{
	size_t known = _IOC_SIZE(row->cmd);
	union ct_arg *arg;
	u32 size;
	int err;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < 2 * sizeof(u32) || size > PAGE_SIZE)
		return -EINVAL;
	arg = kzalloc(sizeof(*arg), GFP_KERNEL);
	if (!arg)
		return -ENOMEM;
	err = copy_struct_from_user(arg, known, user, size);
	arg->size = size;
	if (!err && !ct_arg_reserved_clear(_IOC_NR(row->cmd), arg))
		err = -EINVAL;
	if (!err)
		err = ioctl_run(file, row, arg);
	/* These two errors come with an answer: whose session it is, how long the string is. */
	if ((!err || err == -EBUSY || err == -ENOSPC) &&
	    copy_to_user(user, arg, min_t(size_t, size, known)))
		err = -EFAULT;
	kfree(arg);
	return err;
}

long ct_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd);
	const struct ioctl_row *row;

	if (_IOC_TYPE(cmd) != CT_IOC_TYPE)
		return -ENOTTY;
	/* First, because programs call these two for every event; their size is in cmd. */
	if (nr == _IOC_NR(CT_IOC_MARK(0)) || nr == _IOC_NR(CT_IOC_BEGIN(0))) {
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return ct_mark(user, _IOC_SIZE(cmd), nr == _IOC_NR(CT_IOC_BEGIN(0)));
	}
	if (nr >= ARRAY_SIZE(ioctl_rows))
		return -ENOTTY;
	row = &ioctl_rows[array_index_nospec(nr, ARRAY_SIZE(ioctl_rows))];
	if (!row->run)
		return -ENOTTY;
	if (_IOC_SIZE(row->cmd))
		return ioctl_run_struct(file, row, user);
	return cmd == row->cmd ? ioctl_run(file, row, NULL) : -ENOTTY;
}
