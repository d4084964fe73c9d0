// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading the environment; see options.h.  Must never change it: children get
 * it as the program leaves it.
 */
#include "base/options.h"

early_data struct ct_options ct_options;

void ct_path_absolute(struct ct_text *t, const char *path)
{
	long n;

	if (*path != '/') {
		n = ct_sys2(SYS_getcwd, t->buf, t->size - 1);
		if (n > 1 && *t->buf == '/') {
			t->len = (size_t)n - 1;
			ct_put(t, "/");
		}
	}
	ct_put(t, path);
}

static u64 number(const char *s)
{
	u64 n = 0;

	for (; s && *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (u64)(*s - '0');
	return n;
}

static u32 packet_size(const char *s)
{
	u64 size = number(s);

	if (size < CT_PACKET_MIN || size > CT_PACKET_MAX || size & (size - 1))
		return 0;
	return (u32)size;
}

static enum ct_backend_wish backend_wish(const char *s)
{
	if (!s || !*s)
		return CT_BACKEND_ANY;
	if (!strcmp(s, "device"))
		return CT_BACKEND_DEVICE;
	if (!strcmp(s, "files"))
		return CT_BACKEND_FILES;
	if (strcmp(s, "none"))
		ct_say("CUDATRACE_SINK is none of device, files, none: ", s);
	return CT_BACKEND_NONE;
}

static void copy(char *to, size_t size, const char *from)
{
	struct ct_text t = { to, size, 0 };

	if (from)
		ct_put(&t, from);
}

#define PAGE	4096

/*
 * In a page of its own, so that a start without them touches no page more: one for all times that the
 * process is attached to, with a half for each.  NULL without memory.
 */
static cold const char *copy_away(const char *from, u32 at)
{
	static char *page;

	if (!page)
		page = ct_map_private(PAGE);
	if (page)
		copy(page + at, PAGE / 2, from);
	return page ? page + at : NULL;
}

/* Not getenv(): libc has no environment yet when we start. */
static const char *value_of(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* The environment may be large, and every program that is started reads it. */
char *const *ct_options_pick(char *const *env, char *ours[], int room)
{
	int n = 0;

	for (; env && *env && n < room - 1; env++)
		if (**env == 'C' && !strncmp(*env, "CUDATRACE_", 10))
			ours[n++] = *env;
	ours[n] = NULL;
	return ours;
}

/* All is copied: some programs write over their environment (process titles). */
void ct_options_read(char *const *all)
{
	char *ours[32], *const *env = ct_options_pick(all, ours, 32);
	const char *dir = value_of(env, "CUDATRACE_DIR");
	const char *device = value_of(env, "CUDATRACE_DEVICE");
	const char *queries = value_of(env, "CUDATRACE_TIME_QUERIES");
	const char *threadbufs = value_of(env, "CUDATRACE_THREADBUFS");
	const char *runtime = value_of(env, "CUDATRACE_RUNTIME");
	const char *table = value_of(env, "CUDATRACE_TABLE");
	const char *stacks = value_of(env, "CUDATRACE_STACKS");
	const char *keep = value_of(env, "CUDATRACE_KEEP");
	const char *only = value_of(env, "CUDATRACE_ONLY");
	const char *range = value_of(env, "CUDATRACE_RANGE");
	const char *standby = value_of(env, "CUDATRACE_STANDBY");
	struct ct_text t = { ct_options.dir, sizeof(ct_options.dir), 0 };
	struct ct_text d = { ct_options.device, sizeof(ct_options.device), 0 };

	copy(ct_options.trace, sizeof(ct_options.trace), value_of(env, "CUDATRACE_TRACE"));
	copy(ct_options.injection_next, sizeof(ct_options.injection_next),
	     value_of(env, "CUDATRACE_INJECTION_NEXT"));
	ct_options.backend = backend_wish(value_of(env, "CUDATRACE_SINK"));
	ct_put(&d, device && *device ? device : CT_DEVICE_PATH);
	ct_options.packet_size = packet_size(value_of(env, "CUDATRACE_PACKET"));
	ct_options.time_queries = queries && *queries == '1';
	ct_options.threadbufs = !threadbufs || *threadbufs != '0';
	ct_options.runtime = runtime && *runtime == '1';
	ct_options.stacks = stacks && *stacks;
	ct_options.only = only && *only ? copy_away(only, 0) : NULL;
	ct_options.range = range && *range ? copy_away(range, PAGE / 2) : NULL;
	ct_options.keep = number(keep);
	ct_options.standby = !standby ? CT_STANDBY_NO : *standby == '1' ? CT_STANDBY_WAITS :
			     *standby == 'b' ? CT_STANDBY_BEGINS : CT_STANDBY_NO;
	ct_options.table = !table || *table != '0';
	if (dir && *dir)
		ct_path_absolute(&t, dir);
}
