// SPDX-License-Identifier: LGPL-2.1-or-later
/* See template.h. */
#include "export/html/template.h"

#include <errno.h>
#include <string.h>

/*
 * As the page's build made it, or nothing.  The path is from the top folder, where the compiler
 * runs; the make files know that this object depends on it.
 */
#if __has_include("build/html/template.html")
#define TEMPLATE_BYTES	".incbin \"build/html/template.html\"\n"
#else
#define TEMPLATE_BYTES
#endif
asm(".pushsection .rodata\n"
    "ct_html_template_data:\n"
    TEMPLATE_BYTES
    "ct_html_template_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern const char ct_html_template_data[], ct_html_template_end[];

int ct_html_template(struct ct_html_template *t, struct ct_error *err)
{
	static const char *const marks[] = { "<!--ct:title-->", "<!--ct:manifest-->", "<!--ct:data-->" };
	const char *from = ct_html_template_data, *end = ct_html_template_end, *mark;

	*t = (struct ct_html_template){ 0 };
	if (from == end)
		return ct_fail(err, ENOTSUP, "this cudatrace was built without the page of HTML reports; "
			       "install npm and build it again (docs/install.md)");
	for (unsigned int i = 0; i < 3; i++) {
		mark = memmem(from, end - from, marks[i], strlen(marks[i]));
		if (!mark && !i)
			continue;
		if (!mark)
			return ct_fail(err, EINVAL, "the page of HTML reports in this cudatrace has no mark %s: "
				       "build it again", marks[i]);
		t->parts[i].text = from;
		t->parts[i].len = mark - from;
		from = mark + strlen(marks[i]);
	}
	t->parts[3].text = from;
	t->parts[3].len = end - from;
	return 0;
}
