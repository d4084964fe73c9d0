// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a program's own questions to libcuda say of the machine: lines of info in the trace.
 * Extractors of getters, whose records have no fields; the rules of extract.h hold.
 *
 * We ask nothing ourselves: libcudart asks for all of it when it starts.
 */
#include "call/machine.h"

#include "backend/backend.h"
#include "call/extract.h"

/* "0 NVIDIA H100": of the device that argument n names. */
static struct ct_text machine_line(char *buf, size_t size, const struct ct_frame *f, unsigned n)
{
	struct ct_text t = { buf, size, 0 };

	ct_put_u(&t, (u32)ct_arg(f, n));
	ct_put(&t, " ");
	return t;
}

/* (int *version) */
cold void ct_x_cuda_version(const struct ct_frame *f, void *payload, bool after)
{
	const u32 *version = (const u32 *)f->arg[0];
	char buf[32];
	struct ct_text t = { buf, sizeof(buf), 0 };

	(void)payload;
	if (!ct_done(f, after) || !version)
		return;
	ct_put_u(&t, *version / 1000);
	ct_put(&t, ".");
	ct_put_u(&t, *version % 1000 / 10);
	ct_backend->info("cuda", buf);
}

/* (char *name, int length, device) */
cold void ct_x_device_name(const struct ct_frame *f, void *payload, bool after)
{
	const char *name = (const char *)f->arg[0];
	u32 length = (u32)f->arg[1];
	char buf[160];
	struct ct_text t = machine_line(buf, sizeof(buf), f, 2);

	(void)payload;
	if (!ct_done(f, after) || !name || (s32)length <= 0)
		return;
	ct_put_n(&t, name, strnlen(name, length < 128 ? length : 128));
	ct_backend->info("device_name", buf);
}

/* (size_t *bytes, device) */
cold void ct_x_device_memory(const struct ct_frame *f, void *payload, bool after)
{
	u64 bytes = ct_word(f, after, 0, 0);
	char buf[64];
	struct ct_text t = machine_line(buf, sizeof(buf), f, 1);

	(void)payload;
	if (!bytes)
		return;
	ct_put_u(&t, bytes);
	ct_backend->info("device_memory", buf);
}

/* (CUuuid *, device) */
cold void ct_x_device_uuid(const struct ct_frame *f, void *payload, bool after)
{
	const u8 *uuid = (const u8 *)f->arg[0];
	char buf[64];
	struct ct_text t = machine_line(buf, sizeof(buf), f, 1);

	(void)payload;
	if (!ct_done(f, after) || !uuid)
		return;
	for (int i = 0; i < 16; i++) {
		ct_put(&t, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
		ct_put_hex(&t, uuid[i], 2);
	}
	ct_backend->info("device_uuid", buf);
}
