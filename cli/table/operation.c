// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of kernels whose library writes the operation last, or between template arguments:
 * PyTorch's elementwise kernels and reductions, matrix products and convolutions of cuBLAS,
 * cuDNN and CUTLASS, collectives of NCCL, kernels of Triton.  Must never read beyond a name;
 * a name is in a string, so strspn() and strchr() end with it.
 *
 * A kind that is missing is a row in kinds[] or wrappers[], or a function in ct_operation_name().
 */
#include "table/operation.h"

#include <string.h>

#define TYPES_MOST	3	/* different types that are shown */
#define WORDS_MOST	24	/* words of a name of C */
#define WRAPPED_MOST	8	/* classes around the operation */

struct op_words {
	char *buf;
	size_t size, used;
	struct ct_name_text types[TYPES_MOST];
	unsigned int types_count;
};

static struct ct_name_text op_text(const char *s)
{
	return (struct ct_name_text){ s, strlen(s) };
}

static bool op_is(struct ct_name_text t, const char *word)
{
	return t.n == strlen(word) && !memcmp(t.s, word, t.n);
}

static bool op_has(struct ct_name_text t, const char *word)
{
	return memmem(t.s, t.n, word, strlen(word));
}

static bool op_ends(struct ct_name_text t, const char *word)
{
	size_t n = strlen(word);

	return t.n >= n && !memcmp(t.s + t.n - n, word, n);
}

/* One of @words, which NULL ends. */
static bool op_any(struct ct_name_text t, const char *const *words)
{
	for (; *words; words++)
		if (op_is(t, *words))
			return true;
	return false;
}

static void op_put(struct op_words *w, struct ct_name_text t)
{
	if (t.n > w->size - 1 - w->used)
		t.n = w->size - 1 - w->used;
	memcpy(w->buf + w->used, t.s, t.n);
	w->used += t.n;
	w->buf[w->used] = 0;
}

static void op_word(struct op_words *w, struct ct_name_text t)
{
	if (w->used)
		op_put(w, op_text(" "));
	op_put(w, t);
}

/* ------------------------------------------------------------- names of C --- */

static bool op_next(struct ct_name_text *rest, struct ct_name_text *word)
{
	const char *end = rest->n ? memchr(rest->s, '_', rest->n) : NULL;

	if (!rest->n)
		return false;
	word->s = rest->s;
	word->n = end ? (size_t)(end - rest->s) : rest->n;
	rest->s += word->n + !!end;
	rest->n -= word->n + !!end;
	return true;
}

static bool op_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The rest of @t behind @head, in @t itself; false: it does not begin so. */
static bool op_cut(struct ct_name_text *t, const char *head)
{
	size_t n = strlen(head);

	if (!ct_name_starts(*t, 0, head))
		return false;
	t->s += n;
	t->n -= n;
	return true;
}

/* 128x64, 128x128x32 */
static bool op_is_tile(struct ct_name_text t)
{
	bool x = false;

	for (size_t i = 0; i < t.n; i++) {
		if (t.s[i] == 'x')
			x = true;
		else if (!op_is_digit(t.s[i]))
			return false;
	}
	return x && op_is_digit(*t.s);
}

/* ncclDevKernel_AllReduce_Sum_f32_RING_LL */
static bool op_nccl(struct op_words *w, struct ct_name_text t)
{
	struct ct_name_text word;
	unsigned int words = 0;

	if (!op_cut(&t, "ncclDevKernel_") && !op_cut(&t, "ncclKernel_") &&
	    !op_cut(&t, "ncclSymDevKernel_") && !op_cut(&t, "ncclSymkDevKernel_"))
		return false;
	for (; op_next(&t, &word); words++)
		if (!op_is(word, "Sum"))
			op_word(w, word);
	/* "SendRecv" alone says too little. */
	if (words && words < 3)
		op_word(w, op_text("nccl"));
	return words;
}

/* f32, tf32, bf16, i8, e4m3: the first type of "tf32f32". */
static struct ct_name_text op_type_head(struct ct_name_text t)
{
	size_t i = 0;

	for (unsigned int parts = *t.s == 'e' ? 2 : 1; parts; parts--) {
		while (i < t.n && t.s[i] >= 'a' && t.s[i] <= 'z')
			i++;
		while (i < t.n && op_is_digit(t.s[i]))
			i++;
	}
	return (struct ct_name_text){ t.s, i };
}

static bool op_is_type(struct ct_name_text t)
{
	size_t n = t.n > 2 && (*t.s == 't' || *t.s == 'b') && t.s[1] == 'f' ? 2 : 1;

	return t.n > n && strchr("fiuetb", *t.s) && op_is_digit(t.s[n]);
}

/* sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_..., also fprop, dgrad, wgrad */
static bool op_xmma(struct op_words *w, struct ct_name_text t)
{
	struct ct_name_text arch, word = { 0 }, op = { 0 }, type = { 0 }, first, last;
	unsigned int types = 0;
	bool some;

	if (!ct_name_starts(t, 0, "sm") || !op_next(&t, &arch) || !op_cut(&t, "xmma_"))
		return false;
	op.s = t.s;
	/* What computes is the second type: inputs, computation, output. */
	while ((some = op_next(&t, &word))) {
		if (!op_is_type(word)) {
			if (types)
				break;
			op.n = word.s + word.n - op.s;
		} else if (++types == 2) {
			type = op_type_head(word);
		}
	}
	first = word;
	for (last = word; some && !ct_name_starts(word, 0, "tilesize"); some = op_next(&t, &word))
		last = word;
	if (!some || !op.n || !type.n)
		return false;
	op_cut(&word, "tilesize");
	op_word(w, op);
	op_word(w, op_text("xmma"));
	op_word(w, arch);
	op_word(w, type);
	op_word(w, op_is(op, "gemm") ? first : last);
	op_word(w, word);
	if (op_has(t, "split_k"))
		op_word(w, op_text("split_k"));
	return true;
}

/* What tells nothing of a matrix product: how it is scheduled, and shapes behind the first. */
static bool op_is_schedule(struct ct_name_text t)
{
	static const char *const words[] = { "tensorop", "h", "v", "bz", "0", "void", "epi", "tma",
		"warpspecialized", "cooperative", "pingpong", "stages", "f2f", NULL };

	return op_any(t, words) || ct_name_starts(t, 0, "coop") || ct_name_starts(t, 0, "sliced") ||
	       ct_name_starts(t, 0, "ldg");
}

/*
 * nvjet_hsh_96x64_64x9_1x2_h_bz_coopA_NTT, cutlass_80_simt_sgemm_64x64_8x5_tn_align1,
 * ampere_sgemm_128x64_tn
 */
static bool op_gemm(struct op_words *w, struct ct_name_text t)
{
	static const char *const libraries[] = { "nvjet", "cutlass", "cutlass3x", "maxwell", "volta",
		"turing", "ampere", "hopper", "blackwell", NULL };
	struct ct_name_text rest = t, library, word, seen[WORDS_MOST];
	const char *op = op_has(t, "fprop") ? "fprop" : op_has(t, "dgrad") ? "dgrad" :
			 op_has(t, "wgrad") ? "wgrad" : "gemm";
	unsigned int count = 0;
	bool tile = false;

	if (!op_next(&rest, &library) || !op_any(library, libraries) || !rest.n ||
	    (!op_is(library, "nvjet") && !op_has(t, op)))
		return false;
	op_word(w, op_text(op));
	op_word(w, library);
	while (count < WORDS_MOST && op_next(&rest, &word)) {
		bool again = false, first = !count;

		for (unsigned int i = 0; i < count; i++)
			again |= ct_name_same(word, seen[i]);
		seen[count++] = word;
		if (!word.n || again || op_is_schedule(word) || (tile && op_is_tile(word)))
			continue;
		tile |= op_is_tile(word);
		if (first && strspn(word.s, "0123456789") >= word.n) {
			op_word(w, op_text("sm"));
			op_put(w, word);
		} else {
			op_word(w, word);
		}
	}
	return true;
}

/* triton_poi_fused_add_mul_0 */
static bool op_triton(struct op_words *w, struct ct_name_text t)
{
	static const char *const kinds[][2] = { { "poi_", "pointwise" }, { "red_", "reduction" },
		{ "per_", "persistent reduction" }, { "tem_", "template" } };

	if (!op_cut(&t, "triton_"))
		return false;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (op_cut(&t, kinds[i][0])) {
			op_cut(&t, "fused_");
			op_cut(&t, "_");
			if (!t.n)
				return false;
			op_word(w, t);
			op_word(w, op_text("triton"));
			op_word(w, op_text(kinds[i][1]));
			return true;
		}
	return false;
}

/* ------------------------------------------------------------ names of C++ --- */

static const struct op_kind {
	const char *name;	/* of the kernel's template */
	const char *kind;
	const char *shape;	/* in front of the numbers among its arguments */
} kinds[] = {
	{ "vectorized_elementwise_kernel", "elementwise", "vec" },
	{ "vectorized_templated_elementwise_kernel", "elementwise", "vec" },
	{ "unrolled_elementwise_kernel", "elementwise", "unrolled" },
	{ "elementwise_kernel", "elementwise", "" },
	{ "elementwise_kernel_with_index", "elementwise index", "" },
	{ "index_elementwise_kernel", "elementwise index", "" },
	{ "distribution_elementwise_grid_stride_kernel", "distribution", "unrolled" },
	{ "reduce_kernel", "reduce", "" },
	{ "multi_tensor_apply_kernel", "multi_tensor", "" },
};

/* Classes and functions whose first class argument is, or holds, the operation. */
static const char *const wrappers[] = {
	"gpu_kernel_impl_nocast", "gpu_kernel_impl", "gpu_index_kernel", "ReduceOp", "func_wrapper_t",
	"BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor", "normal_and_transform",
	"uniform_and_transform", NULL,
};

/* A type of the language, or a number of PyTorch's: "c10::Half". */
static bool op_scalar(struct ct_name_text *t)
{
	if (op_cut(t, "c10::"))
		return t->n;
	if (!t->n || op_is(*t, "true") || op_is(*t, "false") || op_is_digit(*t->s))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!(t->s[i] == ' ' || t->s[i] == '_' || op_is_digit(t->s[i]) ||
		      (t->s[i] >= 'a' && t->s[i] <= 'z') || (t->s[i] >= 'A' && t->s[i] <= 'Z')))
			return false;
	return true;
}

/* Each type once, in order. */
static void op_types(struct op_words *w, struct ct_name_text args)
{
	struct ct_name_text arg;
	bool again;

	while (ct_name_next(&args, &arg)) {
		if (!op_scalar(&arg) || w->types_count == TYPES_MOST)
			continue;
		again = false;
		for (unsigned int i = 0; i < w->types_count; i++)
			again |= ct_name_same(arg, w->types[i]);
		if (!again)
			w->types[w->types_count++] = arg;
	}
}

/* Not how data is reached, not a type. */
static bool op_is_operation(struct ct_name_text arg)
{
	struct ct_name_text t = arg;
	struct ct_name name;

	if (!ct_name_is_class(arg) || op_scalar(&t) || strchr("*&", arg.s[arg.n - 1]) ||
	    ct_name_starts(arg, 0, "std::array<") || ct_name_starts(arg, 0, "at::native::memory::"))
		return false;
	ct_name_read(&name, arg, false);
	return name.part[0].name.n && !op_ends(name.part[0].name, "Metadata") &&
	       !op_ends(name.part[0].name, "OffsetCalculator");
}

/* The parameters of the last lambda of a name: "float, float" of {lambda(float, float)#1}. */
static struct ct_name_text op_lambda(struct ct_name_text t)
{
	static const char lambda[] = "{lambda(";
	struct ct_name_text found = { 0 };

	for (size_t i = 0; i < t.n;) {
		size_t next = strchr("<({", t.s[i]) ? ct_name_skip(t, i) : i + 1;

		if (ct_name_starts(t, i, lambda)) {
			size_t open = i + sizeof(lambda) - 2, end = ct_name_skip(t, open);

			found = (struct ct_name_text){ t.s + open + 1, end > open + 1 ? end - open - 2 : 0 };
		}
		i = next;
	}
	return found;
}

/* "tanh_kernel_cuda": "tanh". */
static struct ct_name_text op_plain(struct ct_name_text t)
{
	static const char *const ends[] = { "_kernel_cuda", "_kernel_cuda_impl", "_cuda_kernel_impl",
		"_kernel_impl", "_cuda_kernel", "_kernel", "CUDAKernelImpl", "_cuda_out", "_cuda" };

	for (unsigned int i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (op_ends(t, ends[i]) && t.n > strlen(ends[i]))
			return (struct ct_name_text){ t.s, t.n - strlen(ends[i]) };
	return t;
}

/* "128x2" of <128, 2, ...> */
static void op_shape(struct op_words *w, const char *shape, struct ct_name_text args)
{
	struct ct_name_text arg;
	bool any = false;

	while (ct_name_next(&args, &arg)) {
		if (!arg.n || strspn(arg.s, "0123456789") < arg.n)
			continue;
		if (any)
			op_put(w, op_text("x"));
		else
			op_word(w, op_text(shape));
		op_put(w, arg);
		any = true;
	}
}

/* multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<float, 2, 1, 1>, Sqrt<float> > */
static bool op_class(struct op_words *w, const struct ct_name_part *kernel)
{
	const struct op_kind *kind = NULL;
	struct ct_name_text args = kernel->args, arg, op = { 0 }, functor = { 0 }, rest;
	bool last = op_is(kernel->name, "multi_tensor_apply_kernel");
	const char *scalar = NULL, *number;
	struct ct_name name;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (op_is(kernel->name, kinds[i].name))
			kind = &kinds[i];
	if (!kind)
		return false;
	if (!last)
		op_types(w, args);
	for (unsigned int depth = 0;; depth++) {
		struct ct_name_text found = { 0 };

		for (rest = args; ct_name_next(&rest, &arg);) {
			if (!op_is_operation(arg))
				continue;
			functor = depth || found.n ? functor : arg;
			found = arg;
			if (!last || depth)
				break;
		}
		if (!found.n)
			break;
		op = found;
		ct_name_read(&name, op, false);
		if (!op_any(name.part[0].name, wrappers) || depth == WRAPPED_MOST)
			break;
		scalar = op_is(name.part[0].name, "BUnaryFunctor") ? "scalar second" :
			 op_is(name.part[0].name, "AUnaryFunctor") ? "scalar" : scalar;
		args = name.part[0].args;
		/* BinaryFunctor<c10::Half, c10::Half, c10::Half, MulFunctor<float> > */
		if (op_ends(name.part[0].name, "Functor"))
			op_types(w, args);
	}
	if (!op.n)
		return false;
	ct_name_read(&name, op, false);
	rest = op_lambda(op);
	op_types(w, rest.n ? rest : name.part[0].args);
	op_word(w, op_plain(name.part[0].name));
	/* Of several lambdas of a function that differ. */
	number = strrchr(name.lambda, '#');
	if (number && strcmp(number, "#1"))
		op_put(w, op_text(number));
	op_word(w, op_text(kind->kind));
	if (scalar)
		op_word(w, op_text(scalar));
	for (unsigned int i = 0; i < w->types_count; i++)
		op_word(w, w->types[i]);
	if (last && !ct_name_same(functor, op)) {
		ct_name_read(&name, functor, false);
		op_word(w, name.part[0].name);
	}
	op_shape(w, kind->shape, kernel->args);
	return true;
}

/* ---------------------------------------------------------------- any name --- */

bool ct_operation_name(char *buf, size_t size, struct ct_name_text t)
{
	static bool (*const plain[])(struct op_words *, struct ct_name_text) = {
		op_nccl, op_xmma, op_gemm, op_triton,
	};
	struct ct_name_text c = t;
	struct ct_name name;

	*buf = 0;
	ct_name_read(&name, t, true);
	if (name.part[0].args.s) {
		struct op_words w = { .buf = buf, .size = size };

		if (op_class(&w, &name.part[0]))
			return true;
		/* cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1> */
		if (!op_is(name.part[1].name, "cutlass"))
			return false;
		c = name.part[0].args;
	} else if (memchr(t.s, '(', t.n)) {
		if (*name.lambda)
			return false;
		c = name.part[0].name;
	}
	if (!c.n || memchr(c.s, '<', c.n) || memchr(c.s, ' ', c.n))
		return false;
	for (unsigned int i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		struct op_words w = { .buf = buf, .size = size };

		*buf = 0;
		if (plain[i](&w, c))
			return true;
	}
	*buf = 0;
	return false;
}
