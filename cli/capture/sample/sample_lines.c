// SPDX-License-Identifier: LGPL-2.1-or-later
/* How lines are stored in code objects of Python is decided once, for the plugin and for samples. */
#include "userlib/plugins/stacks/lines.c"
