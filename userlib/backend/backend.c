// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Choosing the backend; see backend.h.
 *
 * Whatever fails here must leave the program running untraced, with one line
 * that says so.
 */
#include "backend/backend.h"

#include "backend/device.h"
#include "backend/files.h"
#include "base/options.h"
#include "base/process.h"
#include "tracedir/lost.h"

static void none_info(const char *key, const char *text)
{
	(void)key;
	(void)text;
}

static u32 none_define(const struct ct_class_text *class)
{
	(void)class;
	return 0;
}

static u32 none_string(const char *s, size_t n)
{
	(void)s;
	(void)n;
	return 0;
}

static bool none_begin(struct ct_record *e)
{
	(void)e;
	return false;
}

static void none_mark(const struct ct_record *e)
{
	(void)e;
}

static bool none_changed(const struct ct_producer *s)
{
	(void)s;
	return false;
}

static bool none_renew(struct ct_producer *s)
{
	(void)s;
	return false;
}

/*
 * No thread attaches to it.  But a line about the recording may come in another thread than the first
 * one that attaches, which is just choosing; and a thread that is in the middle of a call when the recording is
 * left finds this one here.
 */
static const struct ct_backend none = {
	.name = "none", .info = none_info, .define = none_define, .string = none_string, .begin = none_begin,
	.mark = none_mark, .changed = none_changed, .renew = none_renew,
};

const struct ct_backend *ct_backend = &none;

static const struct ct_backend *choose(void)
{
	enum ct_backend_wish wish = ct_options.backend;

	if (wish == CT_BACKEND_ANY || wish == CT_BACKEND_DEVICE) {
		bool passing = false;

		if (ct_device_open(&passing))
			return &ct_backend_device;
		/* Not files, then: somebody may record by the device. */
		if (passing)
			return &none;
		if (wish == CT_BACKEND_DEVICE) {
			ct_say_once(CT_ONCE_BACKEND, "not tracing: cannot use ",
				    ct_options.device);
			return &none;
		}
	}
	if (wish != CT_BACKEND_NONE && ct_files_open())
		return &ct_backend_files;
	return &none;
}

/* Names of templates may differ only behind what fits. */
static cold u32 backend_long_string(const char *s, size_t n)
{
	char cut[CT_STRING_MAX + 1];
	struct ct_text t = { cut, sizeof(cut), 0 };

	ct_put_n(&t, s, CT_STRING_MAX - 17);
	ct_put(&t, "~");
	ct_put_hex(&t, ct_hash(s, n), 16);
	return ct_backend->string(t.buf, t.len);
}

u32 ct_backend_string(const char *s, size_t n)
{
	return n > CT_STRING_MAX ? backend_long_string(s, n) : ct_backend->string(s, n);
}

void ct_backend_forget(void)
{
	ct_store(&ct_backend, &none);
	ct_lost_forget();
	ct_files_forget();
	ct_device_forget();
}

void ct_backend_choose(void)
{
	if (ct_backend == &none)
		ct_backend = choose();
}
