// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Choosing the backend, and the backend that drops everything; see backend.h.
 *
 * Whatever fails here must leave the program running untraced, with one line
 * that says so.
 */
#include "backend/backend.h"

#include "hook/driver.h"
#include "base/options.h"
#include "base/process.h"
#include "tracedir/registry.h"

struct ct_inflight_page *ct_open_page_private(struct ct_thread *t)
{
	struct ct_inflight_page *p = ct_map_private(4096);

	if (!p)
		return NULL;
	p->magic = CT_MAGIC;
	p->abi = CT_ABI_VERSION;
	p->pid = ct_process->pid;
	p->tid = t->tid;
	return p;
}

static bool none_attach(struct ct_thread *t)
{
	(void)t;
	return false;
}

static void none_thread(struct ct_thread *t)
{
	(void)t;
}

static u32 none_define(const struct ct_class_text *c)
{
	(void)c;
	return 0;
}

static u32 none_string(const char *s, size_t n)
{
	(void)s;
	(void)n;
	return 0;
}

static void none_info(const char *key, const char *text)
{
	(void)key;
	(void)text;
}

static void none_record(struct ct_thread *t, const struct ct_record *e)
{
	(void)t;
	(void)e;
}

const struct ct_backend ct_backend_none = {
	.name = "none",
	.attach = none_attach,
	.forget = none_thread,
	.detach = none_thread,
	.lose = none_thread,
	.define = none_define,
	.string = none_string,
	.info = none_info,
	.record = none_record,
};

const struct ct_backend *ct_backend = &ct_backend_none;

static const struct ct_backend *choose(void)
{
	enum ct_backend_wish wish = ct_options.backend;

	if (wish == CT_BACKEND_ANY || wish == CT_BACKEND_DEVICE) {
		if (ct_device_open())
			return &ct_backend_device;
		if (wish == CT_BACKEND_DEVICE) {
			ct_say_once(CT_ONCE_BACKEND, "not tracing: cannot use ",
				    ct_options.device);
			return &ct_backend_none;
		}
	}
	if (wish != CT_BACKEND_NONE && ct_files_open())
		return &ct_backend_files;
	return &ct_backend_none;
}

static bool chosen;

void ct_backend_renew(void)
{
	if (!chosen) {
		ct_backend = choose();
		chosen = true;
	}
}

/* The version of the loaded driver, else that of libcuda's file name. */
static void driver_version(const struct ct_driver *d, char *buf, size_t size)
{
	char target[256];
	const char *dot;
	long n;
	int fd = ct_open("/sys/module/nvidia/version", O_RDONLY, 0);

	*buf = 0;
	if (fd >= 0) {
		n = ct_sys3(SYS_read, fd, buf, size - 1);
		ct_close(fd);
		while (n > 0 && buf[n - 1] == '\n')
			n--;
		buf[n > 0 ? n : 0] = 0;
		if (n > 0)
			return;
	}
	n = ct_sys4(SYS_readlinkat, AT_FDCWD, d->path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = 0;
	dot = strstr(target, ".so.");
	if (dot && strchr(dot + 4, '.')) {
		struct ct_text t = { buf, size, 0 };

		ct_put(&t, dot + 4);
	}
}

void ct_backend_announce(void)
{
	static u32 announced;
	const struct ct_driver *d = ct_driver_last();
	u32 generation = ct_driver_generation + 1;
	char version[64];

	if (__atomic_exchange_n(&announced, generation, __ATOMIC_RELAXED) == generation)
		return;
	ct_backend->info("sink", ct_backend->name);
	if (!d)
		return;
	ct_backend->info("libcuda", d->path);
	driver_version(d, version, sizeof(version));
	if (*version)
		ct_backend->info("driver", version);
	if (d->simulated)
		ct_backend->info("gpu", "simulated");
}
