/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of HTML reports, as its build made it.  Without HTML_TEMPLATE it is empty: then this
 * build has no HTML reports.
 */
	.section .rodata
	.globl	ct_html_template_data
	.globl	ct_html_template_end
	.type	ct_html_template_data, @object
	.type	ct_html_template_end, @object
ct_html_template_data:
#ifdef HTML_TEMPLATE
	.incbin	HTML_TEMPLATE
#endif
	.size	ct_html_template_data, . - ct_html_template_data
ct_html_template_end:
	.byte	0
	.size	ct_html_template_end, 1
	.section .note.GNU-stack, "", %progbits
