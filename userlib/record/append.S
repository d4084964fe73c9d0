/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Appending a record, for C; the sequence itself stands in append.h.
 */
#include "base/asm.h"
#include "record/append.h"

	.section .text.hot, "ax", @progbits

	/* Its arguments come in the registers that the macro wants, op and t on the stack. */
	.macro	function name rseq
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	endbr64
	movq	16(%rsp), %r10
	append_record 1, \rseq, 8(%rsp), .Lrefused\@
	movl	$1, %eax
	ret
	append_refused
.Lrefused\@:
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	function ct_packet_append, 1
	function ct_packet_append_blocked, 0

	asm_end
