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

/* No thread attaches to it, so nothing calls it. */
static const struct ct_backend none = { .name = "none" };

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

void ct_backend_choose(void)
{
	if (ct_backend == &none)
		ct_backend = choose();
}
