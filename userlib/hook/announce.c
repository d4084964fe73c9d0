// SPDX-License-Identifier: LGPL-2.1-or-later
/* See announce.h. */
#include "hook/announce.h"

#include "backend/backend.h"
#include "hook/driver.h"
#include "hook/libraries.h"
#include "hook/rank.h"

/* The version of the loaded driver, else that of libcuda's file name. */
static void driver_version(const struct ct_driver *d, char *buf, size_t size)
{
	char target[256];
	const char *dot;
	long n = ct_read_file("/sys/module/nvidia/version", buf, size - 1);

	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n > 0 ? n : 0] = 0;
	if (n > 0)
		return;
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

void ct_announce(void)
{
	static u32 announced;
	const struct ct_driver *d = ct_driver_last();
	u32 generation = ct_driver_generation + 1;
	char version[64];

	ct_libraries_tell();
	if (__atomic_exchange_n(&announced, generation, __ATOMIC_RELAXED) == generation)
		return;
	ct_backend->info("sink", ct_backend->name);
	ct_rank_tell();
	if (!d)
		return;
	ct_backend->info("libcuda", d->path);
	driver_version(d, version, sizeof(version));
	if (*version)
		ct_backend->info("driver", version);
	if (d->simulated)
		ct_backend->info("gpu", "simulated");
}
