// SPDX-License-Identifier: LGPL-2.1-or-later
// Preloaded after the library, so that it ends after it: then the program still calls.
#include <stddef.h>

__attribute__((visibility("default"))) void (*late_hook)(void);

__attribute__((destructor)) static void late(void)
{
	if (late_hook)
		late_hook();
}
