// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/cudatrace: the file operations.  They find the part of the module that does the work, and
 * hold what belongs to an open file.  The protocol stands in cudatrace.h.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include "api/access.h"
#include "api/chardev.h"
#include "api/file.h"
#include "api/ioctl.h"
#include "read/reader.h"
#include "control/control.h"
#include "probes/counter.h"
#include "core/registry.h"
#include "core/session.h"
#include "base/compat.h"
#include "base/pages.h"

/* Sub-buffers of a ring of a session that a read() starts. */
#define CHARDEV_SUBBUF_COUNT 16

static int chardev_open(struct inode *inode, struct file *file)
{
	struct ct_session_state *s;
	struct ct_file *f;

	if (file->f_mode & FMODE_READ && !ct_access_may_read(inode))
		return -EACCES;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	ct_file_init(f);
	if (file->f_mode & FMODE_READ) {
		/* Of the task that opens it: a kernel worker may call poll() later. */
		f->viewer.pids = get_pid_ns(task_active_pid_ns(current));
		f->viewer.addresses = ct_access_sees_addresses();
		f->privileged = ct_access_privileged();
		s = ct_session_get();
		if (s) {
			f->number = s->number;
			f->reader = ct_reader_open(s, &f->viewer);
			if (IS_ERR(f->reader)) {
				put_pid_ns(f->viewer.pids);
				kfree(f);
				return -ENOMEM;
			}
		}
	}
	file->private_data = f;
	if (file->f_mode & FMODE_READ && !f->privileged)
		ct_file_add_reader(f);
	return nonseekable_open(inode, file);
}

static int chardev_release(struct inode *inode, struct file *file)
{
	struct ct_file *f = file->private_data;

	/* Every traced program closes a file: only those that count wait for ct_session_lock. */
	if (f->counts)
		ct_counter_closed(file);
	if (file->f_mode & FMODE_READ)
		ct_control_closed(file);
	if (file->f_mode & FMODE_READ && !f->privileged)
		ct_file_remove_reader(f);
	ct_reader_close(f->reader);
	ct_timer_shutdown(&f->look);
	if (f->viewer.pids)
		put_pid_ns(f->viewer.pids);
	ct_session_put(f->session);
	if (atomic_read(&f->defines))
		ct_registry_put();
	kfree(f);
	return 0;
}

/*
 * Opens the reader of this file; starts a default session if none is running.  The task that
 * opened the file must have been privileged: the current one may be a worker of the kernel, by aio.
 */
static int chardev_attach(struct file *file, struct ct_file *f)
{
	struct ct_session arg = {
		.subbuf_count = CHARDEV_SUBBUF_COUNT,
		.flags = CT_SESSION_OVERWRITE,
		.groups = ~0ull,
	};
	struct ct_session_state *s;
	int err;

	if (f->reader)
		return 0;
	s = ct_session_get();
	if (!s && !f->privileged)
		return -ENODATA;
	if (!s) {
		err = ct_control_start(&arg, file, true);
		/* EBUSY: another task has just started one, which serves as well. */
		if (err && err != -EBUSY)
			return err;
		ct_file_drop_old();
		s = ct_session_get();
		if (!s)
			return -EAGAIN;
	}
	f->number = s->number;
	f->reader = ct_reader_open(s, &f->viewer);
	if (IS_ERR(f->reader)) {
		err = PTR_ERR(f->reader);
		f->reader = NULL;
		return err;
	}
	return 0;
}

static ssize_t chardev_read(struct file *file, char __user *to, size_t room, loff_t *pos)
{
	struct ct_file *f = file->private_data;
	bool ended = false;
	ssize_t n;

	if (!room)
		return 0;
	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	for (;;) {
		n = chardev_attach(file, f);
		if (n) {
			/* It may not start another session: the end of the text. */
			if (n == -ENODATA && ended)
				n = 0;
			break;
		}
		n = ct_reader_read(f->reader, file, to, room, &f->watermark);
		if (n)
			break;
		/* That session has ended and was read to its end: follow the next one. */
		ct_reader_close(f->reader);
		f->reader = NULL;
		ended = true;
		if (signal_pending(current)) {
			n = -ERESTARTSYS;
			break;
		}
	}
	mutex_unlock(&f->lock);
	/* An edge-triggered epoll waits for a wake-up before it polls again. */
	if (n == -EAGAIN)
		ct_file_look_later(f);
	return n;
}

static __poll_t chardev_poll(struct file *file, poll_table *wait)
{
	struct ct_file *f = file->private_data;
	__poll_t mask = 0;

	if (!(file->f_mode & FMODE_READ))
		return EPOLLERR;
	poll_wait(file, &f->wait, wait);
	/* Another task may be in read() on this file, for as long as it likes. */
	if (mutex_trylock(&f->lock)) {
		mask = chardev_attach(file, f) ? EPOLLERR :
		       ct_reader_poll(f->reader, file, &f->watermark, READ_ONCE(f->mapped));
		mutex_unlock(&f->lock);
	}
	if (!mask)
		ct_file_look_later(f);
	return mask;
}

/*
 * Mappings are read-only but for the consumer pages, whose words the module checks before it uses
 * them.  A CPU's data has addresses of the kernel: whoever lacks the privilege maps those of its
 * own session only.
 */
static int chardev_map_cpu(struct file *file, struct vm_area_struct *vma,
			   const struct ct_session_state *s, u64 offset)
{
	struct ct_file *f = file->private_data;
	u64 cpu = (offset >> 32) - 1;
	struct ct_ring *r;

	if (cpu >= s->cpus)
		return -EINVAL;
	/* The caller chooses it: no speculative load behind the array. */
	cpu = array_index_nospec(cpu, s->cpus);
	if (!s->cpu[cpu])
		return -EINVAL;
	r = &s->cpu[cpu]->ring;
	if (offset == CT_MMAP_STATUS(cpu))
		return ct_pages_map(vma, r->status, PAGE_SIZE, false);
	if (offset == CT_MMAP_DATA(cpu)) {
		if (!f->privileged && s->owner != file)
			return -EPERM;
		WRITE_ONCE(f->mapped, true);
		return ct_pages_map(vma, r->data, r->size, false);
	}
	if (offset == CT_MMAP_CONSUMER(cpu)) {
		if (s->owner != file || !(file->f_mode & FMODE_WRITE))
			return -EPERM;
		return ct_pages_map(vma, r->consumer, PAGE_SIZE, true);
	}
	return -EINVAL;
}

static int chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	struct ct_file *f = file->private_data;
	struct ct_session_state *s;
	int err;

	if (!ct_access_initial_namespaces())
		return -EPERM;
	/* Not VM_SHARED, which the kernel has removed from a read-only file's mapping. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	s = ct_file_adopted(f);
	if (!s)
		s = ct_session_get();
	if (!s)
		return -ENODATA;
	if (offset == CT_MMAP_FACTS)
		err = ct_pages_map(vma, s->facts, PAGE_SIZE, false);
	else
		err = chardev_map_cpu(file, vma, s, offset);
	ct_session_put(s);
	return err;
}

static const struct file_operations chardev_fops = {
	.owner = THIS_MODULE,
	.open = chardev_open,
	.release = chardev_release,
	.read = chardev_read,
	.poll = chardev_poll,
	.mmap = chardev_mmap,
	.unlocked_ioctl = ct_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/*
 * Everybody may open it to write marks.  chardev_open() decides who may read.  The udev rule gives
 * the device its group.
 */
static struct miscdevice chardev_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = CT_DEVICE_NAME,
	.fops = &chardev_fops,
	.mode = 0666,
};

int ct_chardev_init(void)
{
	return misc_register(&chardev_device);
}

void ct_chardev_exit(void)
{
	misc_deregister(&chardev_device);
}
