/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlsym() and dlvsym(), as the program sees them.  Names of libcuda and libcudart ("cu" or
 * "cuda" and a capital letter, so neither cublas nor cudnn) go through ct_look_up(), which may
 * hand out a thunk; everything else is a jump to the real function with the caller's return
 * address in place, since that is what RTLD_NEXT and RTLD_DEFAULT go by.
 *
 * Must work before the library's constructor ran and before malloc does; keeps
 * no state and takes no lock of its own.
 */
#include "base/asm.h"

	.text

	/* Calls with the three arguments kept; the stack is then as a call wants it. */
	.macro	calling function, real
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	.ifc	\function, ct_look_up
	movq	24(%rsp), %rcx
	leaq	\real(%rip), %r8
	.endif
	.ifc	\function, ct_resolve
	leaq	\real(%rip), %rdi
	.endif
	call	\function
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.endm

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
	testq	%rsi, %rsi
	jz	.Lreal\@
	cmpb	$'c', 0(%rsi)
	jne	.Lother\@
	cmpb	$'u', 1(%rsi)
	jne	.Lother\@
	movzbl	2(%rsi), %eax
	cmpl	$'d', %eax
	jne	1f
	cmpb	$'a', 3(%rsi)
	jne	.Lother\@
	movzbl	4(%rsi), %eax
1:	subl	$'A', %eax
	cmpl	$25, %eax
	ja	.Lother\@
	calling	ct_look_up, ct_real_\name
	testq	%rax, %rax
	jz	.Lreal\@		/* not found by us: as the caller, then */
	ret
.Lother\@:
	cmpb	$0, ct_ready(%rip)
	je	.Lreal\@
	calling	ct_objects_check
.Lreal\@:
	movq	ct_real_\name(%rip), %rax
	testq	%rax, %rax
	jnz	2f
	calling	ct_resolve, ct_real_\name
2:	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	lookup	dlsym
	lookup	dlvsym

	asm_end
