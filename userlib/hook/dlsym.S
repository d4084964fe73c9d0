/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlsym(), as the program sees it.  Names of libcuda and libcudart ("cu" or "cuda" and a
 * capital letter, so neither cublas nor cudnn) go through ct_dlsym_driver(), which may hand out
 * a thunk; everything else is a jump to the real dlsym with the caller's return
 * address in place, since that is what RTLD_NEXT and RTLD_DEFAULT go by.
 *
 * Must work before the library's constructor ran and before malloc does; keeps
 * no state and takes no lock of its own.
 */
	.text
	.globl	dlsym
	.type	dlsym, @function
	/* Ours, whatever the name is bound to. */
	.globl	ct_dlsym
	.hidden	ct_dlsym
	.type	ct_dlsym, @function
	.balign	16
ct_dlsym:
dlsym:
	.cfi_startproc
	endbr64
	testq	%rsi, %rsi
	jz	.Lreal
	cmpb	$'c', 0(%rsi)
	jne	.Lother
	cmpb	$'u', 1(%rsi)
	jne	.Lother
	movzbl	2(%rsi), %eax
	cmpl	$'d', %eax
	jne	1f
	cmpb	$'a', 3(%rsi)
	jne	.Lother
	movzbl	4(%rsi), %eax
1:	subl	$'A', %eax
	cmpl	$25, %eax
	ja	.Lother
	cmpq	$-1, %rdi		/* RTLD_NEXT: relative to the caller */
	je	.Lreal
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx
	call	ct_dlsym_driver
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	.Lreal			/* not found by us: as the caller, then */
	ret
.Lother:
	cmpb	$0, ct_ready(%rip)
	je	.Lreal
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ct_objects_check
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
.Lreal:
	movq	ct_real_dlsym(%rip), %rax
	testq	%rax, %rax
	jz	.Lresolve
	jmp	*%rax
.Lresolve:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ct_resolve_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	dlsym, . - dlsym

	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
