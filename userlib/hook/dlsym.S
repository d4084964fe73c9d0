/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlsym() and dlvsym(), as the program sees them: ct_look_up() may have a thunk for it, else
 * the real function is jumped to with the caller's return address in place, since that is
 * what RTLD_NEXT and RTLD_DEFAULT go by.
 *
 * Must work before the library's constructor ran and before malloc does; keeps
 * no state and takes no lock of its own.
 */
#include "base/asm.h"

	.text

	.macro	lookup name
	.globl	\name
	.type	\name, @function
	/* Ours, whatever the name is bound to. */
	.globl	ct_\name
	.hidden	ct_\name
	.type	ct_\name, @function
	.balign	16
ct_\name:
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	leaq	ct_real_\name(%rip), %rcx
	call	ct_look_up
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	1f
	ret
1:	jmp	*ct_real_\name(%rip)
	.cfi_endproc
	.size	\name, . - \name
	.endm

	lookup	dlsym
	lookup	dlvsym

	asm_end
