// SPDX-License-Identifier: LGPL-2.1-or-later
/* See json_machine.h. */
#include "export/json_machine.h"

#include <string.h>

static void machine_text(struct ct_out *out, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	ct_out_text(out, key);
	ct_out_json(out, text, strlen(text));
}

static void machine_list(struct ct_out *out, const char *key, const char *const *list, unsigned int count)
{
	ct_out_text(out, key);
	for (unsigned int i = 0; i < count; i++)
		machine_text(out, i ? "," : "", list[i]);
	ct_out_char(out, ']');
}

static void json_machine_gpu(struct ct_out *out, const struct ct_machine_gpu *gpu)
{
	ct_out_text(out, "{\"device\":");
	if (gpu->device >= 0)
		ct_out_u64(out, gpu->device);
	else
		ct_out_text(out, "null");
	machine_text(out, ",\"name\":", gpu->name);
	machine_text(out, ",\"pci\":", gpu->pci);
	machine_text(out, ",\"uuid\":", gpu->uuid);
	if (gpu->memory) {
		ct_out_text(out, ",\"memory\":");
		ct_out_u64(out, gpu->memory);
	}
	ct_out_char(out, '}');
}

void ct_json_machine(struct ct_out *out, const struct ct_machine *m)
{
	ct_out_text(out, "{\"gpus\":[");
	for (unsigned int i = 0; i < m->gpus_count; i++) {
		ct_out_text(out, i ? "," : "");
		json_machine_gpu(out, &m->gpus[i]);
	}
	ct_out_char(out, ']');
	machine_text(out, ",\"driver\":", m->driver);
	machine_text(out, ",\"cuda\":", m->cuda);
	machine_text(out, ",\"linux\":", m->linux_release);
	machine_text(out, ",\"host\":", m->host);
	machine_list(out, ",\"versions\":[", m->versions, m->versions_count);
	machine_list(out, ",\"env\":[", m->env, m->env_count);
	ct_out_text(out, ",\"threads\":[");
	for (unsigned int i = 0; i < m->threads_count; i++) {
		ct_out_text(out, i ? ",{\"pid\":" : "{\"pid\":");
		ct_out_u64(out, m->threads[i].pid);
		ct_out_text(out, ",\"tid\":");
		ct_out_u64(out, m->threads[i].tid);
		machine_text(out, ",\"name\":", m->threads[i].name);
		ct_out_char(out, '}');
	}
	ct_out_text(out, "]}");
}
