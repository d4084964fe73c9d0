// SPDX-License-Identifier: GPL-2.0
/*
 * A character device to measure tracers on: any ioctl of it goes through
 * ct_bench_traced(), which calls a few functions and is what every tracer probes.
 * Writing 1 to the parameter bare_probe gives it a kretprobe that only rejects, the
 * least that a kretprobe can cost; 0 takes it away.
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

/* Not cloned: a tracer's symbol must be all of it. */
static noinline __noclone long ct_bench_traced(unsigned int cmd, unsigned long arg)
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

static struct kretprobe bare;

static int set_bare(const char *val, const struct kernel_param *kp)
{
	static bool on;
	bool want;
	int err = kstrtobool(val, &want);

	if (err || want == on)
		return err;
	if (want) {
		memset(&bare, 0, sizeof(bare));
		bare.kp.symbol_name = "ct_bench:ct_bench_traced";
		bare.entry_handler = reject;
		bare.maxactive = 16;
		err = register_kretprobe(&bare);
	} else {
		unregister_kretprobe(&bare);
	}
	on = want && !err;
	return err;
}

static const struct kernel_param_ops bare_ops = { .set = set_bare };
module_param_cb(bare_probe, &bare_ops, NULL, 0200);
MODULE_PARM_DESC(bare_probe, "a kretprobe on ct_bench_traced() that rejects every call");

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
