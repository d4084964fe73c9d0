// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ioctl(), as the program and libcuda see it.  Where records go to files (no
 * module, so no probes), those on NVIDIA's devices are recorded.
 *
 * Must pass every call on as it came, at once if it is not the driver's.
 */
#include "call/ioctl.h"

#include <errno.h>
#include <stdarg.h>

#include "../../module/uapi/nv_ioctl.h"
#include "backend/backend.h"
#include "base/elf.h"
#include "base/process.h"
#include "call/function.h"
#include "call/inflight.h"
#include "call/range.h"
#include "record/attach.h"

typedef int ioctl_function(int fd, unsigned long cmd, ...);

static early_data ioctl_function *next;

void ct_ioctl_found(void *real)
{
	ct_store(&next, (ioctl_function *)real);
}

void *ct_ioctl_start(void)
{
	void *found = (void *)ct_load(&next);

	if (!found) {
		found = ct_find_next("ioctl");
		ct_ioctl_found(found);
	}
	return found;
}

static int pass_on(int fd, unsigned long cmd, void *arg)
{
	ioctl_function *f = ct_load(&next);

	if (unlikely(!f)) {
		ct_ioctl_start();
		f = ct_load(&next);
		if (!f)
			return (int)ct_sys3(SYS_ioctl, fd, cmd, arg);
	}
	return f(fd, cmd, arg);
}

/* Escapes have type 'F'; the numbers of UVM are small integers, or these two. */
static bool looks_like_driver(unsigned long cmd)
{
	u32 c = (u32)cmd;

	return ((c >> 8) & 0xff) == 'F' || c < 0x1000 || c == 0x30000001 ||
	       c == 0x30000002;
}

#define MAJOR_NVIDIA	195
#define MINOR_MODESET	254

/* nvidia-uvm's major number is given at load time; 0: not known yet. */
static u32 uvm_major(void)
{
	static u32 major;
	char text[4096], *p;
	u32 value = 0;
	long n;

	if (ct_load(&major))
		return major;
	n = ct_read_file("/proc/devices", text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = 0;
	p = strstr(text, " nvidia-uvm\n");
	if (!p)
		return 0;
	while (p > text && p[-1] != '\n' && p[-1] != ' ')
		p--;
	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (u32)(*p - '0');
	ct_store(&major, value);
	return value;
}

/* The device behind fd as a record's field, CT_DEV_UNKNOWN if not NVIDIA's. */
static u32 device_of(int fd)
{
	struct {		/* struct stat of x86-64 */
		u64 dev, ino, nlink;
		u32 mode, uid, gid, pad;
		u64 rdev;
		u64 rest[14];
	} st;
	u32 major, minor;

	if (ct_sys2(SYS_fstat, fd, &st) < 0 || (st.mode & 0170000) != 0020000)
		return CT_DEV_UNKNOWN;
	major = (u32)(st.rdev >> 8 & 0xfff);
	minor = (u32)((st.rdev & 0xff) | (st.rdev >> 12 & 0xffffff00));
	if (major == MAJOR_NVIDIA)
		return minor == MINOR_MODESET ? CT_DEV_MODESET : minor;
	if (major && major == uvm_major())
		return minor ? CT_DEV_UVM_TOOLS : CT_DEV_UVM;
	return CT_DEV_UNKNOWN;
}

/*
 * The parameter block is the program's, and read after the call, by a system call that fails
 * where a plain read would crash: the driver may have refused a pointer that leads nowhere.
 */
static long ioctl_copy(void *to, __u64 from, u32 size)
{
	struct { u64 base, len; } local = { (u64)to, size }, remote = { from, size };

	return ct_sys6(SYS_process_vm_readv, ct_sys0(SYS_getpid), &local, 1, &remote, 1, 0);
}

static bool ioctl_read(void *to, __u64 from, u32 size)
{
	return ioctl_copy(to, from, size) == size;
}

/* Where we may not ask (seccomp): the driver has read it, so it can be read. */
static bool ioctl_read_of_success(void *to, __u64 from, u32 size)
{
	long n = ioctl_copy(to, from, size);

	if (n >= 0 || n == -EFAULT || !from)
		return n == size;
	memcpy(to, (const void *)from, size);
	return true;
}

/* Of the loaded driver, 0 if it doesn't say; asked once. */
static u32 ioctl_driver_version(void)
{
	static u32 version = ~0u;
	u32 part[3] = { 0, 0, 0 }, n = 0;
	char text[32];
	long len;

	if (ct_load(&version) != ~0u)
		return version;
	len = ct_read_file("/sys/module/nvidia/version", text, sizeof(text));
	for (long i = 0; i < len && n < 3; i++) {
		if (text[i] == '.')
			n++;
		else if (text[i] >= '0' && text[i] <= '9')
			part[n] = part[n] * 10 + (u32)(text[i] - '0');
	}
	ct_store(&version, len > 0 ? NV_VERSION(part[0], part[1], part[2]) : 0);
	return version;
}

static cold int recorded(struct ct_thread *t, u32 device, int fd,
			 unsigned long cmd, void *arg)
{
	u32 level = t->open->depth;
	u64 payload[(sizeof(struct ct_ioctl) + 7) / 8];
	struct ct_ioctl *o = (void *)payload;
	struct ct_record e = {
		.class = CT_CLASS_ioctl,
		.depth = (u8)(level < 255 ? level : 255),
		.size = sizeof(payload),
		.payload = payload,
		.op = ct_local_add(&t->ops, 1),
	};
	u32 life = t->life;
	int ret, *error = __errno_location();

	e.begin = ct_clock_now(&t->clock);
	ct_inflight_begin(t, level, e.op, e.begin, (u64)__builtin_frame_address(0),
			  CT_CLASS_ioctl | (u64)(e.size << 8) << 32);

	ret = pass_on(fd, cmd, arg);
	e.end = ct_clock_now(&t->clock);

	if (t->life != life || t->life != ct_process->life)
		return ret;
	memset(payload, 0, sizeof(payload));
	o->cmd = (u32)cmd;
	o->ret = ret < 0 ? -*error : ret;
	o->device = device;
	o->arg = (u64)arg;
	nv_ioctl_fill(o, ioctl_driver_version(), ret < 0 ? ioctl_read : ioctl_read_of_success);
	e.result = ret < 0 ? 0 : (u16)ret;
	ct_record(t, &e);
	ct_inflight_end(t, level);
	return ret;
}

int ct_ioctl(int fd, unsigned long cmd, ...)
{
	struct ct_thread *t = ct_self;
	u32 device;
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);

	if (likely(!looks_like_driver(cmd)) || !ct_ready)
		return pass_on(fd, cmd, arg);
	device = device_of(fd);
	/* libcuda's caller may have been loaded without any lookup since then. */
	if (device != CT_DEV_UNKNOWN)
		ct_call_above->check_objects();
	if (device == CT_DEV_UNKNOWN || unlikely(ct_load(&ct_outside)))
		return pass_on(fd, cmd, arg);
	if (t->life != ct_process->life)
		t = ct_thread_attach();
	if (!t || !ct_backend->ioctls)
		return pass_on(fd, cmd, arg);
	return recorded(t, device, fd, cmd, arg);
}

__attribute__((visibility("default"), alias("ct_ioctl"))) int ioctl(int fd, unsigned long cmd, ...);
