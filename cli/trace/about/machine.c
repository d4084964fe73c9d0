// SPDX-License-Identifier: LGPL-2.1-or-later
/* See machine.h.  Must never trust a line of info: anybody may have written it. */
#include "trace/about/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first word of @text that begins like a version, 580.159.04, into @buf. */
static void machine_driver(char *buf, size_t size, const char *text)
{
	*buf = 0;
	for (const char *p = text; p && *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		size_t n = strspn(p, "0123456789."), dots = 0;

		for (size_t i = 0; i < n; i++)
			dots += p[i] == '.';
		if (dots && (p[n] == ' ' || !p[n]) && n < size) {
			snprintf(buf, size, "%.*s", (int)n, p);
			return;
		}
	}
}

static struct ct_machine_gpu *machine_add(struct ct_machine *m)
{
	struct ct_machine_gpu *gpu = &m->gpus[m->gpus_count];

	if (m->gpus_count == CT_MACHINE_GPUS)
		return NULL;
	*gpu = (struct ct_machine_gpu){ .device = -1 };
	m->gpus_count++;
	return gpu;
}

/* Copies the word at @text; what stands behind it, or NULL. */
static const char *machine_word(char *buf, size_t size, const char *text)
{
	size_t n = strcspn(text, " ");

	snprintf(buf, size, "%.*s", (int)(n < size ? n : size - 1), text);
	if (!strcmp(buf, "-"))
		*buf = 0;
	return text[n] ? text + n + 1 : NULL;
}

/* "0000:1b:00.0 GPU-... 0 NVIDIA H100": one of the machine, which CUDA may not show. */
static void machine_card(struct ct_machine *m, const char *text)
{
	struct ct_machine_gpu *gpu = machine_add(m);
	char uuid[64], minor[16];

	if (!gpu)
		return;
	text = machine_word(gpu->pci, sizeof(gpu->pci), text);
	text = text ? machine_word(uuid, sizeof(uuid), text) : NULL;
	if (!text)
		return;
	snprintf(gpu->uuid, sizeof(gpu->uuid), "%.47s", !strncmp(uuid, "GPU-", 4) ? uuid + 4 : uuid);
	text = machine_word(minor, sizeof(minor), text);
	if (text)
		snprintf(gpu->name, sizeof(gpu->name), "%s", text);
}

/* What programs asked CUDA for: by device. */
struct machine_asked {
	char name[128], uuid[48];
	uint64_t memory;
	bool any;
};

static void machine_ask(struct machine_asked *asked, const char *key, const char *text)
{
	char *end;
	unsigned long device = strtoul(text, &end, 10);

	if (end == text || *end != ' ' || device >= CT_MACHINE_GPUS)
		return;
	asked += device;
	asked->any = true;
	if (!strcmp(key, "device_name"))
		snprintf(asked->name, sizeof(asked->name), "%s", end + 1);
	else if (!strcmp(key, "device_uuid"))
		snprintf(asked->uuid, sizeof(asked->uuid), "%.47s", end + 1);
	else
		asked->memory = strtoull(end + 1, NULL, 10);
}

/* The card that a device is: by its UUID, else the next one of its name. */
static struct ct_machine_gpu *machine_find(struct ct_machine *m, const struct machine_asked *asked)
{
	for (unsigned int i = 0; *asked->uuid && i < m->gpus_count; i++)
		if (!strcmp(m->gpus[i].uuid, asked->uuid))
			return &m->gpus[i];
	for (unsigned int i = 0; i < m->gpus_count; i++)
		if (m->gpus[i].device < 0 && (!*asked->uuid || !*m->gpus[i].uuid) &&
		    (!*asked->name || !strcmp(m->gpus[i].name, asked->name)))
			return &m->gpus[i];
	return machine_add(m);
}

static int machine_by_device(const void *a, const void *b)
{
	const struct ct_machine_gpu *x = a, *y = b;

	if ((x->device < 0) != (y->device < 0))
		return x->device < 0 ? 1 : -1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return strcmp(x->pci, y->pci);
}

static void machine_devices(struct ct_machine *m, const struct machine_asked *asked)
{
	for (unsigned int i = 0; i < CT_MACHINE_GPUS; i++) {
		struct ct_machine_gpu *gpu = asked[i].any ? machine_find(m, &asked[i]) : NULL;

		if (!gpu)
			continue;
		gpu->device = i;
		gpu->memory = asked[i].memory;
		if (*asked[i].name)
			snprintf(gpu->name, sizeof(gpu->name), "%s", asked[i].name);
		if (*asked[i].uuid)
			snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", asked[i].uuid);
	}
	qsort(m->gpus, m->gpus_count, sizeof(*m->gpus), machine_by_device);
}

static int machine_by_thread(const void *a, const void *b)
{
	const struct ct_thread_name *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return 0;
}

/* "PID TID NAME"; a later one replaces an earlier one. */
static int machine_thread(struct ct_machine *m, const char *text)
{
	struct ct_thread_name *more, thread;
	char *end;

	thread.pid = strtoul(text, &end, 10);
	if (*end != ' ')
		return 0;
	thread.tid = strtoul(end + 1, &end, 10);
	if (*end != ' ')
		return 0;
	thread.name = end + 1;
	for (unsigned int i = m->threads_count; i; i--)
		if (m->threads[i - 1].pid == thread.pid && m->threads[i - 1].tid == thread.tid) {
			m->threads[i - 1].name = thread.name;
			return 0;
		}
	if (!(m->threads_count & (m->threads_count - 1))) {
		more = realloc(m->threads, (m->threads_count ? 2ul * m->threads_count : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->threads = more;
	}
	m->threads[m->threads_count++] = thread;
	return 0;
}

int ct_machine_read(struct ct_machine *m, const struct ct_registry *reg)
{
	struct machine_asked *asked = calloc(CT_MACHINE_GPUS, sizeof(*asked));
	const char *text = ct_registry_info(reg, "cuda");
	int rc = asked ? 0 : -ENOMEM;

	*m = (struct ct_machine){
		.host = ct_registry_info(reg, "hostname"), .linux_release = ct_registry_info(reg, "kernel"),
	};
	snprintf(m->cuda, sizeof(m->cuda), "%s", text ? text : "");
	machine_driver(m->driver, sizeof(m->driver), ct_registry_info(reg, "driver"));
	for (unsigned int i = 0; i < reg->infos_count && !rc; i++) {
		const char *key = reg->infos[i].key;

		text = reg->infos[i].text;
		if (!strcmp(key, "gpu_card"))
			machine_card(m, text);
		else if (!strcmp(key, "device_name") || !strcmp(key, "device_memory") || !strcmp(key, "device_uuid"))
			machine_ask(asked, key, text);
		else if (!strcmp(key, "version") && m->versions_count < CT_MACHINE_LISTED)
			m->versions[m->versions_count++] = text;
		else if (!strcmp(key, "env") && m->env_count < CT_MACHINE_LISTED)
			m->env[m->env_count++] = text;
		else if (!strcmp(key, "thread_name"))
			rc = machine_thread(m, text);
	}
	if (!rc)
		machine_devices(m, asked);
	if (m->threads_count)
		qsort(m->threads, m->threads_count, sizeof(*m->threads), machine_by_thread);
	free(asked);
	return rc;
}

void ct_machine_free(struct ct_machine *m)
{
	free(m->threads);
	m->threads = NULL;
	m->threads_count = 0;
}

const char *ct_machine_thread(const struct ct_machine *m, uint32_t pid, uint32_t tid)
{
	struct ct_thread_name key = { pid, tid, NULL };
	const struct ct_thread_name *t = m->threads_count ?
		bsearch(&key, m->threads, m->threads_count, sizeof(key), machine_by_thread) : NULL;

	return t ? t->name : NULL;
}

/* Whether CUDA showed programs only some of the machine's GPUs: then the others do not matter. */
static unsigned int machine_shown(const struct ct_machine *m)
{
	unsigned int shown = 0;

	while (shown < m->gpus_count && m->gpus[shown].device >= 0)
		shown++;
	return shown ? shown : m->gpus_count;
}

char *ct_machine_gpus(const struct ct_machine *m, char *buf, size_t size)
{
	unsigned int count = machine_shown(m);
	size_t used = 0;

	*buf = 0;
	for (unsigned int i = 0, same; i < count && used < size; i += same) {
		const struct ct_machine_gpu *gpu = &m->gpus[i];
		char memory[32] = "";

		for (same = 1; i + same < count && !strcmp(gpu[same].name, gpu->name) &&
		     gpu[same].memory == gpu->memory; same++)
			;
		used += snprintf(buf + used, size - used, "%s", i ? ", " : "");
		if (same > 1 && used < size)
			used += snprintf(buf + used, size - used, "%u x ", same);
		if (used < size)
			used += snprintf(buf + used, size - used, "%s", *gpu->name ? gpu->name : "GPU");
		if (gpu->memory)
			snprintf(memory, sizeof(memory), "%.2f GiB%s", gpu->memory / 1073741824.0,
				 same > 1 ? " each" : "");
		if (used < size && (*memory || (same == 1 && *gpu->pci)))
			used += snprintf(buf + used, size - used, " (%s%s%s)", memory,
					 *memory && same == 1 && *gpu->pci ? ", " : "",
					 same == 1 ? gpu->pci : "");
	}
	return buf;
}

char *ct_machine_versions_text(const struct ct_machine *m, char *buf, size_t size)
{
	size_t used = 0;

	*buf = 0;
	for (unsigned int i = 0; i < m->versions_count && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", i ? ", " : "", m->versions[i]);
	return buf;
}
