/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each assembly source ends with. */
#ifndef CT_ASM_H
#define CT_ASM_H

	/* Code here begins with endbr64 and returns only where it was called. */
	.macro	asm_end
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
	.endm

#endif
