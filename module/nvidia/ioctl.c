// SPDX-License-Identifier: GPL-2.0
/*
 * Fills the record of one of NVIDIA's ioctls; uapi/nv_ioctl.h has what the preload library
 * does, too.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kdev_t.h>
#include <linux/uaccess.h>
#include "nvidia/driver.h"
#include "nvidia/ioctl.h"
#include "nv_ioctl.h"

#define NV_MAJOR	195

/* The minor numbers of nvidia-uvm, whose major number is dynamic. */
#define UVM_MINOR	0
#define UVM_TOOLS_MINOR	1

/* The file comes from an argument of a function of the driver: it may be anything. */
static u32 nv_ioctl_device_of(const struct file *file)
{
	struct inode *inode;
	dev_t dev;

	if (!file || get_kernel_nofault(inode, &file->f_inode) ||
	    get_kernel_nofault(dev, &inode->i_rdev))
		return CT_DEV_UNKNOWN;
	if (MAJOR(dev) == NV_MAJOR)
		return MINOR(dev);
	return MINOR(dev) == UVM_MINOR ? CT_DEV_UVM :
	       MINOR(dev) == UVM_TOOLS_MINOR ? CT_DEV_UVM_TOOLS : CT_DEV_UNKNOWN;
}

static bool nv_ioctl_read_user(void *to, u64 from, u32 size)
{
	return !copy_from_user_nofault(to, (const void __user *)(unsigned long)from, size);
}

void ct_nv_ioctl_fill(struct ct_ioctl *p, const struct file *file, u32 cmd,
		      unsigned long arg, s64 ret, bool done)
{
	*p = (struct ct_ioctl){
		.cmd = cmd,
		.ret = ret,
		.device = nv_ioctl_device_of(file),
		.arg = arg,
	};
	if (done)
		nv_ioctl_fill(p, ct_driver_version, nv_ioctl_read_user);
}

const char *ct_nv_ioctl_name(u32 device, u32 cmd)
{
	const struct nv_uvm_layout *uvm;
	const char *name = NULL;
	u32 i;

	if (device == CT_DEV_UVM || device == CT_DEV_UVM_TOOLS) {
		uvm = nv_uvm_layout_find(cmd, 0);
		return uvm ? uvm->name : NULL;
	}
	/* A number may have several rows: the last one is its newest name. */
	for (i = 0; _IOC_TYPE(cmd) == NV_TYPE && i < NV_COUNT(nv_escape_names); i++)
		if (nv_escape_names[i].nr == _IOC_NR(cmd))
			name = nv_escape_names[i].name;
	return name;
}
