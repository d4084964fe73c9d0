// SPDX-License-Identifier: GPL-2.0
/*
 * A character device to measure tracers on: an ioctl whose handler calls a few
 * functions.  ct_bench_traced is what tracers probe; the loop around the ioctl is in
 * user space.  ioctl number 1: bare; 2: the same through ct_bench_traced.  With
 * bare_probe=1 it carries a kretprobe of its own that only rejects, the least that a
 * kretprobe can cost.
 */
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

static unsigned long total;

static noinline long ct_bench_step(unsigned long v)
{
	return v * 3 + total;
}

static noinline long ct_bench_traced(unsigned int cmd, unsigned long arg)
{
	long sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		sum += ct_bench_step(arg + i);
	total = sum;
	return cmd == 99 ? -EINVAL : 0;
}

static long ct_bench_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ct_bench_traced(cmd, arg);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ct_bench_ioctl,
};

static struct miscdevice dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ct_bench",
	.fops = &fops,
	.mode = 0666,
};

static int reject(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 1;
}

static struct kretprobe bare = {
	.kp.symbol_name = "ct_bench:ct_bench_traced",
	.entry_handler = reject,
	.maxactive = 16,
};

static int set_bare(const char *val, const struct kernel_param *kp)
{
	static bool on;
	bool want;
	int err = kstrtobool(val, &want);

	if (err || want == on)
		return err;
	if (want) {
		memset(&bare.kp, 0, sizeof(bare.kp));
		bare.kp.symbol_name = "ct_bench:ct_bench_traced";
		err = register_kretprobe(&bare);
	} else {
		unregister_kretprobe(&bare);
	}
	on = want && !err;
	return err;
}

static const struct kernel_param_ops bare_ops = { .set = set_bare };
module_param_cb(bare_probe, &bare_ops, NULL, 0200);

static int __init bench_init(void)
{
	return misc_register(&dev);
}

static void __exit bench_exit(void)
{
	set_bare("0", NULL);
	misc_deregister(&dev);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A device to measure tracers on");
