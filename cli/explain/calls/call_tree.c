// SPDX-License-Identifier: LGPL-2.1-or-later
/* See call_tree.h. */
#include "explain/calls/call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain/calls/call_at.h"
#include "explain/calls/call_collect.h"
#include "explain/calls/call_print.h"

static int tree_find(const struct ct_trace *t, struct ct_call_found *found, struct ct_error *err)
{
	const struct ct_call_request *q = found->request;
	const struct ct_analyser *find = q->question == CT_CALL_ONE ? &ct_call_find_one :
								      &ct_call_find_slowest;
	struct ct_engine_options options = { .filter = q->filter, .arg = found };
	struct ct_engine *e = ct_engine_run(t, &find, 1, &options, err);

	if (!e)
		return -ENOMEM;
	ct_engine_free(e);
	if (found->count)
		return 0;
	if (q->question == CT_CALL_ONE)
		return ct_fail(err, ENOENT, "there is no call %llu; 'cudatrace export' shows each call's op_id",
			       (unsigned long long)q->op_id);
	return ct_fail(err, ENOENT, found->unreturned ? "none of the calls that count returned" :
							"the trace has no such call that returned: --name, --pid and --tid choose among the outermost calls");
}

static int tree_say(const struct ct_trace *t, const struct ct_call_found *found, FILE *out)
{
	const struct ct_call_request *q = found->request;

	if (t->simulated && !q->format)
		fputs(CT_SIMULATED_LABEL "\n", out);
	if (q->format || q->question != CT_CALL_SLOWEST)
		return 0;
	if (found->kernel)
		fputs("No call of the program counts: these are of the driver's functions.\n", out);
	if (found->count == 1)
		fputs("The longest call", out);
	else
		fprintf(out, "The %u longest calls", found->count);
	fprintf(out, "%s, %swith %s largest parts.\n",
		q->filter.name || found->kernel ? "" : " of the outermost level",
		found->count == 1 ? "" : "each ", found->count == 1 ? "the" : "its");
	if (found->unreturned)
		fprintf(out, "%llu more never returned, the first is call %llu: their times are not known.\n",
			(unsigned long long)found->unreturned, (unsigned long long)found->unreturned_op);
	fputc('\n', out);
	return 0;
}

int ct_explain_calls(const struct ct_trace *t, const struct ct_call_request *q, FILE *out,
		     struct ct_error *err)
{
	const struct ct_analyser *collect = &ct_call_collect;
	struct ct_engine_options options = { .filter = { .layer = -1, .category = -1, .fold = true, .modules = q->filter.modules } };
	struct ct_call_found *found;
	struct ct_engine *e = NULL;
	int rc;

	*err = (struct ct_error){ 0 };
	if (q->question == CT_CALL_AT)
		rc = ct_call_at(t, q, out, err);
	else if (q->question == CT_CALL_SLOWEST && (!q->count || q->count > CT_CALLS_SLOWEST_MAX))
		return ct_fail(err, EINVAL, "from 1 to %u calls can be shown", CT_CALLS_SLOWEST_MAX);
	else {
		found = calloc(1, sizeof(*found));
		if (!found)
			return ct_fail(err, ENOMEM, "%s", strerror(ENOMEM));
		found->request = q;
		options.arg = found;
		rc = tree_find(t, found, err);
		if (!rc) {
			e = ct_engine_run(t, &collect, 1, &options, err);
			rc = e ? tree_say(t, found, out) : -ENOMEM;
		}
		if (!rc)
			rc = ct_call_print(ct_engine_result(e, collect), q, out);
		ct_engine_free(e);
		free(found);
	}
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	if (rc && !err->code)
		ct_fail(err, -rc, "%s", strerror(-rc));
	return rc;
}
