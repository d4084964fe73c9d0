// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules on ioctls of the kernel driver: long ones and failing ones, by RM command or class. */
#include <errno.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "explain/rules/rule_common.h"
#include "decode/nv_decode.h"
#include "trace/names.h"
#include "view/term.h"

#define IOCTL_KINDS	1024	/* of a process and scope; more are not told apart */

struct kind {
	uint64_t key;			/* of the next four */
	uint32_t cmd, device, code, have;
	uint64_t count, failed, ns, failed_ns;
	bool others;			/* all that came when the table was full */
	uint32_t object;		/* of the longest */
	int64_t  status;
	struct ct_evidence longest, failure;
};

struct kinds {
	CT_KEYED(struct kind);
};

struct ioctls {
	struct kinds scopes[CT_SCOPE_COUNT];
	struct ct_union taken[CT_SCOPE_COUNT];	/* wall time in them, of any thread */
};

static bool ioctls_wants(const struct ct_class *class)
{
	return ct_class_is(class, CT_IS_IOCTL);
}

static int ioctls_begin(struct ct_analysis *a)
{
	*(struct ioctls **)a->state = ct_rule_per_process(a, sizeof(struct ioctls));
	return *(struct ioctls **)a->state ? 0 : -ENOMEM;
}

static struct kind *ioctls_kind(struct kinds *kinds, const struct ct_record *r)
{
	uint32_t have = ct_record_known(r, CT_KNOWN_HAVE) & (CT_IOCTL_CONTROL | CT_IOCTL_CLASS);
	uint32_t cmd = ct_record_known(r, CT_KNOWN_CMD), device = ct_record_known(r, CT_KNOWN_DEVICE);
	uint32_t code = have ? ct_record_known(r, CT_KNOWN_CODE) : 0;
	uint64_t key = ct_mix((uint64_t)cmd << 32 | code, device >= CT_DEV_UVM ? device : 0);
	struct kind *k = ct_keyed_get(kinds, key);
	bool others = kinds->count >= IOCTL_KINDS;

	if (k)
		return k;
	k = ct_keyed_put(kinds, others ? UINT64_MAX : key);
	if (k && !k->count)
		*k = (struct kind){ .key = k->key, .cmd = cmd, .device = device, .code = code, .have = have,
				    .others = others };
	return k;
}

static int ioctls_event(struct ct_analysis *a, const struct ct_trace_event *e)
{
	enum ct_scope scope;
	int64_t iteration;
	int index = ct_rule_process(a, e, &scope, &iteration);
	struct kind *k;

	/* Where the kernel recorded, its view counts; and of two nested functions the outer one. */
	if (index < 0 || !e->timed || e->kernel != a->trace->has_kernel || e->track->ioctls[e->kernel])
		return 0;
	k = ioctls_kind(&(*(struct ioctls **)a->state)[index].scopes[scope], e->record);
	if (!k)
		return -ENOMEM;
	k->count++;
	k->ns += e->duration;
	ct_scope_union(&a->phases->processes[index], scope, e, &(*(struct ioctls **)a->state)[index].taken[scope]);
	k->failed_ns += e->failed ? e->duration : 0;
	if (e->failed && !k->failed++) {
		ct_evidence_set(&k->failure, e);
		k->status = ct_record_known(e->record, CT_KNOWN_STATUS);
	}
	if (e->duration >= k->longest.ns) {
		ct_evidence_set(&k->longest, e);
		k->object = ct_record_known(e->record, CT_KNOWN_OBJECT);
	}
	return 0;
}

static void ioctls_free(struct ct_analysis *a)
{
	struct ioctls *all = *(struct ioctls **)a->state;

	for (unsigned int i = 0; all && i < a->phases->processes_count; i++)
		for (unsigned int s = 0; s < CT_SCOPE_COUNT; s++)
			ct_keyed_free(&all[i].scopes[s]);
	free(all);
}

const struct ct_analyser ct_ioctls_analyser = {
	.on = CT_ON_END,
	.wants = ioctls_wants,
	.phases = true,
	.state_size = sizeof(struct ioctls *),
	.begin = ioctls_begin,
	.event = ioctls_event,
	.free = ioctls_free,
};

/* ------------------------------------------------------------------- rules --- */

/* "NV_ESC_RM_CONTROL NV2080_CTRL_CMD_... on object 0xcaf00001" */
static const char *ioctls_name(const struct kind *k, char buf[200])
{
	const char *name = ct_name_ioctl(k->cmd, k->device), *code = ct_name_code(k->code, k->have);
	char number[32], code_number[32];

	if (k->others)
		return "ioctls of many kinds";
	snprintf(number, sizeof(number), "ioctl 0x%x", k->cmd);
	snprintf(code_number, sizeof(code_number), "0x%x", k->code);
	snprintf(buf, 200, "%s%s%s", name ? name : number, k->have ? " " : "",
		 k->have ? code ? code : code_number : "");
	return buf;
}

void ct_rule_ioctls(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ioctls *io = &(*(struct ioctls **)ct_explain_state(x, &ct_ioctls_analyser))[x->index];
	char time[64], all[64], name[200], count[CT_TERM_TEXT];

	for (unsigned int s = 0; s < CT_SCOPE_COUNT; s++) {
		const struct kinds *kinds = &io->scopes[s];
		const struct kind *most = NULL;
		struct ct_finding *f;
		uint64_t ns = io->taken[s].total, calls = 0;
		char object[64] = "";

		for (size_t n = 0; n < kinds->count; n++) {
			const struct kind *k = &kinds->list[n];

			calls += k->count;
			if (!most || k->ns > most->ns)
				most = k;
		}
		if (!most || ct_rule_share(x, s, ns) < rule->threshold)
			continue;
		if (most->object)
			snprintf(object, sizeof(object), ", the longest on object 0x%x", most->object);
		f = ct_explain_add(x, rule, s, CT_SURE, ns,
				   "%s ioctl%s of the kernel driver take%s %s, mostly by %s: %s in %llu call%s%s.",
				   ct_term_count(count, calls), ct_explain_s(calls), calls == 1 ? "s" : "", ct_explain_time(x, s, ns, all),
				   ioctls_name(most, name), ct_explain_time(x, s, most->ns, time),
				   (unsigned long long)most->count, most->count == 1 ? "" : "s", object);
		ct_explain_advise(x, f, s == CT_SCOPE_STEADY ?
				  "Find the call of libcuda that makes them (explain --call) and keep it out of the loop." :
				  "Most of them make the context and its channels: make one context and keep it.");
		ct_explain_show(f, &most->longest);
	}
}

void ct_rule_failing_ioctls(struct ct_explain *x, const struct ct_rule *rule)
{
	const struct ioctls *io = &(*(struct ioctls **)ct_explain_state(x, &ct_ioctls_analyser))[x->index];
	const struct kinds *kinds = &io->scopes[CT_SCOPE_STEADY];
	char name[200], count[CT_TERM_TEXT];
	const struct kind *most = NULL;
	struct ct_finding *f;
	uint64_t failed = 0, ns = 0;

	for (size_t n = 0; n < kinds->count; n++) {
		const struct kind *k = &kinds->list[n];

		if (!k->failed)
			continue;
		failed += k->failed;
		ns += k->failed_ns;
		if (!most || k->failed > most->failed)
			most = k;
	}
	if (!most || failed < rule->threshold)
		return;
	f = ct_explain_add(x, rule, CT_SCOPE_STEADY, CT_SURE, ns,
			   "%s ioctls of the kernel driver failed in the %s, most of them %s%s%s.",
			   ct_term_count(count, failed), ct_explain_main(x), ioctls_name(most, name),
			   nv_status_name(most->status) && most->status ? ": " : "",
			   most->status && nv_status_name(most->status) ? nv_status_name(most->status) : "");
	ct_explain_advise(x, f, "'cudatrace report errors' lists them; the kernel's log (dmesg) may say why.");
	ct_explain_show(f, &most->failure);
}
