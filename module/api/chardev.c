// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/cudatrace: who may do what, and the way from a system call to the part of
 * the module that does it.  The protocol stands in cudatrace.h.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "base/clock.h"
#include "base/compat.h"
#include "api/chardev.h"
#include "probes/multi_probe.h"
#include "core/filter.h"
#include "api/mmap.h"
#include "control/mark.h"
#include "probes/probe.h"
#include "threadbuf/threadbuf.h"
#include "read/reader.h"
#include "core/registry.h"
#include "core/session.h"
#include "read/json.h"
#include "core/trigger.h"

/* Rings of a session that a read() started. */
#define CT_DEFAULT_COUNT	16

/* One open file. */
struct ct_file {
	struct mutex lock;	/* reader, and read() against itself */
	struct ct_reader *reader;
	struct ct_viewer viewer;	/* who opened it; of readers alone */
	struct ct_watermark watermark; /* each word by itself, see chardev_set_watermark() */
	bool mapped;		/* has mapped a CPU's data */
	bool probes;		/* may have added some */
	bool overlooked; /* a poll() that could not look, see chardev_poll() */
	struct mutex start;	/* started, taken; a read() may sleep with the other one */
	struct ct_session_state *started;	/* the last session of this file's making */
	struct ct_session_state *adopted; /* CT_IOC_ADOPT since; read under taken_lock, too */
	spinlock_t adopted_lock; /* for mmap(), which can't wait for start */
};

/* Any of the ioctl's structs: they all begin with their size. */
union ct_arg {
	u32 size;
	struct ct_version version;
	struct ct_session session;
	struct ct_define define;
	struct ct_string string;
	struct ct_probe_info probe;
	struct ct_filter filter;
	struct ct_probe_add add;
	struct ct_trigger_set trigger;
	struct ct_clock_map clock;
	struct ct_watermark watermark;
	struct ct_limits limits;
	struct ct_threadbuf_new tb;
	struct ct_threadbuf_read threadbuf_read;
};

/* Who may read: see section 4 of cudatrace.h. */
static bool chardev_may_read(const struct inode *inode)
{
	return perfmon_capable() || uid_eq(current_fsuid(), inode->i_uid) ||
	       in_group_p(inode->i_gid);
}

static int chardev_open(struct inode *inode, struct file *file)
{
	struct ct_session_state *s;
	struct ct_file *f;

	if (file->f_mode & FMODE_READ && !chardev_may_read(inode))
		return -EACCES;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	mutex_init(&f->start);
	spin_lock_init(&f->adopted_lock);
	if (file->f_mode & FMODE_READ) {
		/* Not the task that reads: poll() may be a worker's of the kernel. */
		f->viewer.pids = get_pid_ns(task_active_pid_ns(current));
		f->viewer.users = file->f_cred->user_ns;
		s = ct_session_get();
		if (s) {
			f->reader = ct_reader_open(s, &f->viewer);
			if (IS_ERR(f->reader)) {
				put_pid_ns(f->viewer.pids);
				kfree(f);
				return -ENOMEM;
			}
		}
	}
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int chardev_release(struct inode *inode, struct file *file)
{
	struct ct_file *f = file->private_data;

	/* Every traced program closes one: it need not wait for who arms probes. */
	if (f->probes)
		ct_probe_closed(file);
	if (file->f_mode & FMODE_READ)
		ct_session_closed(file);
	ct_reader_close(f->reader);
	if (f->viewer.pids)
		put_pid_ns(f->viewer.pids);
	ct_session_put(f->adopted);
	ct_session_put(f->started);
	kfree(f);
	return 0;
}

/* The reader of this file; a default session where none runs. */
static int chardev_attach(struct file *file, struct ct_file *f)
{
	struct ct_session arg = {
		.subbuf_count = CT_DEFAULT_COUNT,
		.flags = CT_SESSION_OVERWRITE,
		.groups = ~0ull,
	};
	struct ct_session_state *s;
	int err;

	if (f->reader)
		return 0;
	s = ct_session_get();
	if (!s) {
		err = ct_session_start(&arg, file, true);
		/* EBUSY: somebody else was quicker, which is as good. */
		if (err && err != -EBUSY)
			return err;
		s = ct_session_get();
		if (!s)
			return -EAGAIN;
	}
	f->reader = ct_reader_open(s, &f->viewer);
	if (IS_ERR(f->reader)) {
		err = PTR_ERR(f->reader);
		f->reader = NULL;
		return err;
	}
	return 0;
}

/* The reader may be looked at again. */
static void chardev_unlock(struct ct_file *f)
{
	mutex_unlock(&f->lock);
	/* A poll() that comes in between finds the lock free. */
	if (READ_ONCE(f->overlooked) && xchg(&f->overlooked, false))
		wake_up_interruptible_all(&ct_session_wait);
}

static ssize_t chardev_read(struct file *file, char __user *to, size_t room, loff_t *pos)
{
	struct ct_file *f = file->private_data;
	ssize_t n;

	if (!room)
		return 0;
	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	for (;;) {
		n = chardev_attach(file, f);
		if (n)
			break;
		ct_reader_watch(f->reader, file);
		n = ct_reader_read(f->reader, to, room, &f->watermark,
				   file->f_flags & O_NONBLOCK);
		if (n)
			break;
		/* That session is over and read: follow the next one. */
		ct_reader_close(f->reader);
		f->reader = NULL;
		if (signal_pending(current)) {
			n = -ERESTARTSYS;
			break;
		}
	}
	chardev_unlock(f);
	return n;
}

static __poll_t chardev_poll(struct file *file, poll_table *wait)
{
	struct ct_file *f = file->private_data;
	__poll_t mask = 0;

	if (!(file->f_mode & FMODE_READ))
		return EPOLLERR;
	if (!mutex_trylock(&f->lock)) {
		/* Another task is in read() on this file, and wakes us when it has done. */
		poll_wait(file, &ct_session_wait, wait);
		WRITE_ONCE(f->overlooked, true);
		return 0;
	}
	if (chardev_attach(file, f)) {
		mask = EPOLLERR;
	} else {
		ct_reader_watch(f->reader, file);
		mask = ct_reader_poll(f->reader, file, wait, &f->watermark,
				      READ_ONCE(f->mapped));
	}
	mutex_unlock(&f->lock);
	return mask;
}

/* What this file has taken, with a reference, or NULL. */
static struct ct_session_state *chardev_adopted_get(struct ct_file *f)
{
	struct ct_session_state *s;

	spin_lock(&f->adopted_lock);
	s = f->adopted;
	if (s)
		kref_get(&s->ref);
	spin_unlock(&f->adopted_lock);
	return s;
}

/* With the reference of s; gives back that of what was there.  The caller holds start. */
static void chardev_adopted_set(struct ct_file *f, struct ct_session_state *s)
{
	spin_lock(&f->adopted_lock);
	swap(f->adopted, s);
	spin_unlock(&f->adopted_lock);
	ct_session_put(s);
}

/* Records hold pids and uids of the initial namespaces. */
static bool chardev_elsewhere(void)
{
	return task_active_pid_ns(current) != &init_pid_ns || current_user_ns() != &init_user_ns;
}

static int chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if (chardev_elsewhere())
		return -EPERM;
	/* VM_SHARED is already gone from a read-only file's mapping. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	s = chardev_adopted_get(f);
	if (!s)
		s = ct_session_get();
	if (!s)
		return -ENODATA;
	err = ct_mmap_session(file, vma, s, &f->mapped);
	ct_session_put(s);
	return err;
}

static int chardev_start(struct file *file, struct ct_session *arg)
{
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != (FMODE_READ | FMODE_WRITE))
		return -EBADF;
	if (!perfmon_capable())
		return -EPERM;
	mutex_lock(&f->start);
	err = ct_session_start(arg, file, false);
	if (!err) {
		ct_session_put(f->started);
		s = ct_session_get();
		/* Somebody may have ended it already, and begun another. */
		f->started = s && s->owner == file ? s : NULL;
		if (s && !f->started)
			ct_session_put(s);
		/* Its own takes the place of what it took. */
		chardev_adopted_set(f, NULL);
	}
	mutex_unlock(&f->start);
	return err;
}

static int chardev_get_define(struct ct_define *def)
{
	const struct ct_class *c = ct_class_find(def->id);
	u32 size = def->size;

	if (!c)
		return -ENOENT;
	*def = c->def;
	def->size = size;
	return 0;
}

static int chardev_define_string(struct ct_string *str)
{
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
	id = ct_string_define(text, len, from_kuid(&init_user_ns, current_uid()));
	kfree(text);
	if (id < 0)
		return id;
	str->id = id;
	return 0;
}

static int chardev_get_string(struct ct_string *str)
{
	const char *text = ct_string_find(str->id);
	u32 room = str->len;

	if (!text)
		return -ENOENT;
	str->len = strlen(text);
	if (str->len > room)
		return -ENOSPC;
	if (copy_to_user((void __user *)(unsigned long)str->text, text, str->len))
		return -EFAULT;
	return 0;
}

static int chardev_filter(const struct ct_filter *f)
{
	int err = ct_filter_set(f);

	if (!err)
		ct_session_filtered();
	return err;
}

/*
 * Probes reach any function of the kernel, with its arguments, and outlive sessions: for
 * that nobody's session is enough.
 */
static int chardev_probes(struct file *file, unsigned int nr, struct ct_probe_add *add)
{
	struct ct_file *f = file->private_data;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (!perfmon_capable())
		return -EPERM;
	switch (nr) {
	case _IOC_NR(CT_IOC_PROBE_ADD):
		WRITE_ONCE(f->probes, true);
		return ct_probe_add(add, file);
	case _IOC_NR(CT_IOC_PROBE_REMOVE):
		return ct_probe_remove(add);
	case _IOC_NR(CT_IOC_PROBE_SET):
		return ct_probe_set(add);
	}
	return ct_multi_probe_arm(file);
}

/* What changes what is recorded: the owner's right, and that of who may be one. */
static int chardev_configure(struct file *file, unsigned int nr, union ct_arg *arg)
{
	int err;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	mutex_lock(&ct_session_lock);
	err = ct_session_may(file, perfmon_capable());
	if (err)
		goto out;
	switch (nr) {
	case _IOC_NR(CT_IOC_PAUSE):
	case _IOC_NR(CT_IOC_RESUME):
		ct_session_pause(nr == _IOC_NR(CT_IOC_PAUSE));
		break;
	case _IOC_NR(CT_IOC_LIMITS):
		err = ct_session_limit(&arg->limits);
		break;
	case _IOC_NR(CT_IOC_FILTER):
		err = chardev_filter(&arg->filter);
		break;
	default:
		err = ct_trigger_set(&arg->trigger);
	}
out:
	mutex_unlock(&ct_session_lock);
	return err;
}

static int chardev_get_filter(struct ct_filter *f)
{
	mutex_lock(&ct_session_lock);
	ct_filter_get(f);
	mutex_unlock(&ct_session_lock);
	return 0;
}

static int chardev_read_threadbufs(struct file *file, struct ct_threadbuf_read *arg)
{
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if (arg->flags & ~CT_THREADBUF_READ_ALL)
		return -EINVAL;
	if (chardev_elsewhere())
		return -EPERM;
	mutex_lock(&f->start);
	s = f->adopted ? f->adopted : f->started;
	/* What is read is gone for all others. */
	if (!s)
		err = -EBADF;
	else if (f->adopted && !perfmon_capable())
		err = -EPERM;
	else
		err = ct_threadbuf_read(s, arg);
	mutex_unlock(&f->start);
	return err;
}

static int chardev_map_clock(struct ct_clock_map *arg)
{
	long address = ct_clock_map();

	if (IS_ERR_VALUE(address))
		return address;
	arg->address = address;
	arg->length = PAGE_SIZE;
	return 0;
}

static int chardev_set_watermark(struct ct_file *f, const struct ct_watermark *arg)
{
	if (arg->reserved)
		return -EINVAL;
	/*
	 * Not under the lock, which a read() that waits holds: whoever waits already,
	 * waits for another amount now.
	 */
	WRITE_ONCE(f->watermark.bytes, arg->bytes);
	WRITE_ONCE(f->watermark.records, arg->records);
	WRITE_ONCE(f->watermark.ns, arg->ns);
	wake_up_interruptible_all(&ct_session_wait);
	return 0;
}

static int chardev_seen(struct ct_file *f)
{
	struct ct_session_state *s;
	int err = 0;

	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	if (!f->reader) {
		s = ct_session_get();
		f->reader = s ? ct_reader_open(s, &f->viewer) : NULL;
		if (IS_ERR_OR_NULL(f->reader)) {
			err = s ? -ENOMEM : -ENODATA;
			f->reader = NULL;
		}
	}
	if (!err)
		ct_reader_done(f->reader);
	chardev_unlock(f);
	return err;
}

/* What a closed owner left: this file keeps it, too, until it starts its own. */
static int chardev_take(struct ct_file *f, struct ct_session *arg)
{
	struct ct_session_state *s;
	int err = 0;

	mutex_lock(&f->start);
	s = ct_session_adopt(arg);
	if (!s) {
		err = -ENODATA;
	} else if (f->adopted) {
		ct_session_put(s);
		err = -EBUSY;
	} else {
		chardev_adopted_set(f, s);
	}
	mutex_unlock(&f->start);
	return err;
}

static int chardev_stop(struct file *file, struct ct_file *f)
{
	struct ct_session_state *s;
	int err;

	if (!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	s = chardev_adopted_get(f);
	if (!s)
		return ct_session_stop(file, perfmon_capable());
	err = perfmon_capable() ? ct_session_drop_orphan(s) : -EPERM;
	ct_session_put(s);
	return err;
}

static int chardev_do_ioctl(struct file *file, unsigned int nr, union ct_arg *arg)
{
	bool reader = file->f_mode & FMODE_READ;
	struct ct_file *f = file->private_data;

	switch (nr) {
	case _IOC_NR(CT_IOC_FILTER):
	case _IOC_NR(CT_IOC_TRIGGER):
	case _IOC_NR(CT_IOC_LIMITS):
		return chardev_configure(file, nr, arg);
	case _IOC_NR(CT_IOC_PROBE_ADD):
	case _IOC_NR(CT_IOC_PROBE_REMOVE):
	case _IOC_NR(CT_IOC_PROBE_SET):
		return chardev_probes(file, nr, &arg->add);
	case _IOC_NR(CT_IOC_GET_LIMITS):
		return reader ? ct_session_limits(&arg->limits) : -EBADF;
	case _IOC_NR(CT_IOC_WATERMARK):
		return reader ? chardev_set_watermark(f, &arg->watermark) : -EBADF;
	case _IOC_NR(CT_IOC_ADOPT):
		return reader ? chardev_take(f, &arg->session) : -EBADF;
	case _IOC_NR(CT_IOC_GET_SESSION):
		return reader ? ct_session_tell(&arg->session) : -EBADF;
	case _IOC_NR(CT_IOC_GET_FILTER):
		return reader ? chardev_get_filter(&arg->filter) : -EBADF;
	case _IOC_NR(CT_IOC_VERSION):
		arg->version.abi = CT_ABI_VERSION;
		arg->version.schema = CT_SCHEMA_VERSION;
		strscpy(arg->version.module, CT_VERSION, sizeof(arg->version.module));
		return 0;
	case _IOC_NR(CT_IOC_START):
		return chardev_start(file, &arg->session);
	case _IOC_NR(CT_IOC_DEFINE):
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		arg->define.layer = CT_LAYER_USER;
		return ct_class_define(&arg->define,
				       from_kuid(&init_user_ns, current_uid()), false);
	case _IOC_NR(CT_IOC_STRING):
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return chardev_define_string(&arg->string);
	case _IOC_NR(CT_IOC_THREADBUF):
		return file->f_mode & FMODE_WRITE ? ct_threadbuf_make(&arg->tb) : -EBADF;
	case _IOC_NR(CT_IOC_THREADBUF_READ):
		return chardev_read_threadbufs(file, &arg->threadbuf_read);
	case _IOC_NR(CT_IOC_CLOCK):
		return file->f_mode & FMODE_WRITE ? chardev_map_clock(&arg->clock) : -EBADF;
	case _IOC_NR(CT_IOC_GET_DEFINE):
		return reader ? chardev_get_define(&arg->define) : -EBADF;
	case _IOC_NR(CT_IOC_GET_STRING):
		return reader ? chardev_get_string(&arg->string) : -EBADF;
	case _IOC_NR(CT_IOC_GET_PROBE):
		return reader ? ct_probe_info(&arg->probe) : -EBADF;
	}
	return -ENOTTY;
}

/* Sizes of the structs by the ioctl's number; 0: not one of these. */
#define SIZE(cmd)	[_IOC_NR(cmd)] = _IOC_SIZE(cmd)
static const u16 arg_sizes[] = {
	SIZE(CT_IOC_VERSION),	     SIZE(CT_IOC_START),	SIZE(CT_IOC_GET_SESSION),
	SIZE(CT_IOC_ADOPT),	     SIZE(CT_IOC_FILTER),	SIZE(CT_IOC_GET_FILTER),
	SIZE(CT_IOC_PROBE_ADD),	     SIZE(CT_IOC_PROBE_REMOVE), SIZE(CT_IOC_PROBE_SET),
	SIZE(CT_IOC_TRIGGER),	     SIZE(CT_IOC_WATERMARK),	SIZE(CT_IOC_LIMITS),
	SIZE(CT_IOC_GET_LIMITS),     SIZE(CT_IOC_DEFINE),	SIZE(CT_IOC_GET_DEFINE),
	SIZE(CT_IOC_STRING),	     SIZE(CT_IOC_GET_STRING),	SIZE(CT_IOC_THREADBUF),
	SIZE(CT_IOC_THREADBUF_READ), SIZE(CT_IOC_CLOCK),	SIZE(CT_IOC_GET_PROBE),
};
#undef SIZE

static long chardev_struct_ioctl(struct file *file, unsigned int nr, void __user *user)
{
	size_t known = nr < ARRAY_SIZE(arg_sizes) ? arg_sizes[nr] : 0;
	union ct_arg *arg;
	u32 size;
	int err;

	if (!known)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < 2 * sizeof(u32) || size > PAGE_SIZE)
		return -EINVAL;
	arg = kzalloc(sizeof(*arg), GFP_KERNEL);
	if (!arg)
		return -ENOMEM;
	err = copy_struct_from_user(arg, known, user, size);
	arg->size = size;
	if (!err)
		err = chardev_do_ioctl(file, nr, arg);
	/* EBUSY tells whose session it is. */
	if ((!err || err == -EBUSY || err == -ENOSPC) &&
	    copy_to_user(user, arg, min_t(size_t, size, known)))
		err = -EFAULT;
	kfree(arg);
	return err;
}

static long chardev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd);

	if (_IOC_TYPE(cmd) != CT_IOC_TYPE)
		return -ENOTTY;
	if (nr == _IOC_NR(CT_IOC_MARK(0)) || nr == _IOC_NR(CT_IOC_BEGIN(0))) {
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return ct_mark(user, _IOC_SIZE(cmd), nr == _IOC_NR(CT_IOC_BEGIN(0)));
	}
	switch (cmd) {
	case CT_IOC_STOP:
		return chardev_stop(file, file->private_data);
	case CT_IOC_PROBE_ARM:
		return chardev_probes(file, nr, NULL);
	case CT_IOC_PAUSE:
	case CT_IOC_RESUME:
		return chardev_configure(file, nr, NULL);
	case CT_IOC_FLUSH:
		return file->f_mode & FMODE_READ ? ct_session_flush() : -EBADF;
	case CT_IOC_READ_DONE:
		return file->f_mode & FMODE_READ ? chardev_seen(file->private_data) : -EBADF;
	}
	return chardev_struct_ioctl(file, nr, user);
}

static const struct file_operations ct_fops = {
	.owner = THIS_MODULE,
	.open = chardev_open,
	.release = chardev_release,
	.read = chardev_read,
	.poll = chardev_poll,
	.mmap = chardev_mmap,
	.unlocked_ioctl = chardev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/*
 * Anyone may open it for writing markers; who may read is decided in chardev_open(), for
 * the mode knows nothing of capabilities.  The udev rule gives it a group.
 */
static struct miscdevice ct_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = CT_DEVICE_NAME,
	.fops = &ct_fops,
	.mode = 0666,
};

int ct_chardev_init(void)
{
	return misc_register(&ct_device);
}

void ct_chardev_exit(void)
{
	misc_deregister(&ct_device);
	ct_session_exit();
}
