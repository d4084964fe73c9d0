// SPDX-License-Identifier: LGPL-2.1-or-later
/* See tried.h. */
#include "attach/tried.h"

#include "attach/attach.h"
#include "base/error.h"
#include "base/proc.h"

struct ct_tried_one ct_tried_look(pid_t pid)
{
	struct ct_proc_stat s = { .started = 0 };

	ct_proc_stat(pid, &s);
	return (struct ct_tried_one){ pid, s.started, s.stack };
}

static bool tried_lives(const struct ct_tried_one *one)
{
	const struct ct_attached process = { .pid = one->pid, .start = one->start, .stack = one->stack };

	return ct_attached_lives(&process);
}

bool ct_tried_add(struct ct_tried *t, struct ct_tried_one one)
{
	if (!tried_lives(&one))
		return false;
	if (t->count == CT_TRIED_MAX)
		return true;
	t->list[t->count++] = one;
	if (t->count == CT_TRIED_MAX)
		ct_complain("%d processes were tried: until some of them end no further ones are", CT_TRIED_MAX);
	return true;
}

void ct_tried_forget(struct ct_tried *t)
{
	for (unsigned int i = 0; i < t->count;) {
		if (tried_lives(&t->list[i]))
			i++;
		else
			t->list[i] = t->list[--t->count];
	}
}

bool ct_tried_has(const struct ct_tried *t, pid_t pid)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (t->list[i].pid == pid)
			return true;
	return t->count == CT_TRIED_MAX;
}
