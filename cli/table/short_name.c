// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Short names of kernels.  Must never read beyond a name or recurse without a limit: a name
 * may be any text, with brackets that match nothing.
 *
 * A kernel of a well-known library is named by its operation (operation.h).  Else: of a function
 * and of each template argument only the last component counts, with its own template
 * arguments.  These are written with less and less detail until the name fits.
 */
#include "table/short_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/out.h"
#include "table/name_parts.h"
#include "table/operation.h"

#define NAME_MOST	8192	/* bytes of a name that are looked at */
#define ARGS_MOST	24	/* template arguments of a function that are shown */
#define SHORT_WORD	6	/* a name of so few bytes is shown with the one in front of it */

struct short_out {
	char *buf;
	size_t size, used;
	size_t columns;		/* also of what did not fit into @buf */
	size_t most;		/* columns; what is longer is not finished */
};

/* How much is shown of the arguments of template arguments. */
enum short_detail {
	SHORT_NONE,		/* <..> */
	SHORT_CLASSES,		/* those that are classes; else the first */
	SHORT_SOME,		/* the first, and those that are classes */
	SHORT_ALL,
};

struct short_style {
	enum short_detail detail;
	unsigned int depth;	/* template arguments within template arguments */
	unsigned int name;	/* bytes of the function's own name, 0: all */
};

/* From the longest to the shortest. */
static const struct short_style styles[] = {
	{ SHORT_ALL, 6, 0 },	 { SHORT_SOME, 6, 0 },	  { SHORT_SOME, 3, 0 },
	{ SHORT_CLASSES, 4, 0 }, { SHORT_CLASSES, 3, 0 }, { SHORT_CLASSES, 2, 0 },
	{ SHORT_NONE, 1, 0 },
};

static void short_put(struct short_out *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		out->columns += ((unsigned char)s[i] & 0xc0) != 0x80;
		if (out->used + 1 < out->size)
			out->buf[out->used++] = s[i];
	}
}

static void short_puts(struct short_out *out, const char *s)
{
	short_put(out, s, strlen(s));
}

static struct ct_name_text short_text(const char *s)
{
	return (struct ct_name_text){ s, strlen(s) };
}

/* 3ul, 4u: without the letters of the type. */
static void short_number(struct short_out *out, struct ct_name_text t)
{
	size_t digits = *t.s == '-';

	while (digits < t.n && t.s[digits] >= '0' && t.s[digits] <= '9')
		digits++;
	for (size_t i = digits; i < t.n; i++)
		if (t.s[i] != 'u' && t.s[i] != 'l')
			digits = t.n;
	short_put(out, t.s, digits);
}

static void short_args(struct short_out *out, struct ct_name_text args,
		       const struct short_style *style, unsigned int level, unsigned int most);

static void short_part(struct short_out *out, const struct ct_name_part *part,
		       const struct short_style *style, unsigned int level, unsigned int most)
{
	size_t n = part->name.n;

	if (!level && style->name && style->name < n) {
		for (n = style->name; n && ((unsigned char)part->name.s[n] & 0xc0) == 0x80; n--)
			;
		short_put(out, part->name.s, n);
		short_puts(out, "~");
	} else {
		short_put(out, part->name.s, n);
	}
	if (!part->args.s)
		return;
	short_puts(out, "<");
	if (level && part->args.n && (style->detail == SHORT_NONE || level >= style->depth))
		short_puts(out, "..");
	else
		short_args(out, part->args, style, level, most);
	short_puts(out, ">");
}

static void short_write(struct short_out *out, const struct ct_name *name,
			const struct short_style *style, unsigned int level, unsigned int most)
{
	const struct ct_name_text *last = &name->part[0].name, *before = &name->part[1].name;

	/* "gemvx::kernel<...>", but "Sqrt<float>". */
	if (before->n && ((last->n <= SHORT_WORD && (!level || !name->part[0].args.s)) ||
			  (last->n >= 8 && !memcmp(last->s, "operator", 8)))) {
		short_put(out, before->s, before->n);
		short_puts(out, "::");
	}
	short_part(out, &name->part[0], style, level, most);
	if (*name->lambda) {
		short_puts(out, last->n ? "::{lambda" : "{lambda");
		short_puts(out, name->lambda);
		short_puts(out, "}");
	}
	if (name->suffix.n &&
	    strspn(name->suffix.s, " const*&volatile[]0123456789") >= name->suffix.n)
		short_put(out, name->suffix.s, name->suffix.n);
}

static void short_arg(struct short_out *out, struct ct_name_text arg,
		      const struct short_style *style, unsigned int level)
{
	struct ct_name name;
	bool function = false;

	/* (ns::kind)0: the number. */
	if (arg.n && *arg.s == '(') {
		size_t next = ct_name_skip(arg, 0);

		if (next < arg.n && strchr("-0123456789", arg.s[next]))
			arg = (struct ct_name_text){ arg.s + next, arg.n - next };
	}
	if (!arg.n)
		return;
	if ((*arg.s >= '0' && *arg.s <= '9') || *arg.s == '-') {
		short_number(out, arg);
		return;
	}
	if (*arg.s == '&' || *arg.s == '!') {
		short_put(out, arg.s, 1);
		arg = ct_name_trim((struct ct_name_text){ arg.s + 1, arg.n - 1 });
		/* &(void f<int>(int)): a function. */
		if (arg.n > 2 && *arg.s == '(' && ct_name_skip(arg, 0) == arg.n) {
			arg = (struct ct_name_text){ arg.s + 1, arg.n - 2 };
			function = true;
		}
	}
	if (function || ct_name_is_class(arg))
		ct_name_read(&name, arg, function);
	else
		memset(&name, 0, sizeof(name));
	if (name.part[0].name.n || *name.lambda)
		short_write(out, &name, style, level, ~0u);
	else
		short_put(out, arg.s, arg.n);
}

/* Classes that say how data is reached, not what is computed. */
static bool short_is_access(struct ct_name_text arg)
{
	static const char *const names[] = {
		"std::array<", "TrivialOffsetCalculator<", "OffsetCalculator<",
		"at::native::memory::", "cublasGemv",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ct_name_starts(arg, 0, names[i]))
			return true;
	return memmem(arg.s, arg.n, "policy_hub<", 11) || memmem(arg.s, arg.n, "::NullType", 10);
}

/* Neither a number nor true or false: to see it twice says nothing. */
static bool short_is_type(struct ct_name_text arg)
{
	return arg.n && !strchr("-(0123456789", *arg.s) && !ct_name_same(arg, short_text("true")) &&
	       !ct_name_same(arg, short_text("false"));
}

/* Arguments with ", " between them; ".." for each row of those that are left out. */
static void short_args(struct short_out *out, struct ct_name_text args,
		       const struct short_style *style, unsigned int level, unsigned int most)
{
	struct ct_name_text rest = args, arg, look, before = { 0 }, after;
	enum short_detail detail = level ? style->detail : SHORT_ALL;
	bool any_class = false, any = false, left_out = false;
	unsigned int i = 0;

	for (look = args; ct_name_next(&look, &arg);)
		any_class |= ct_name_is_class(arg);
	for (; out->columns <= out->most && ct_name_next(&rest, &arg); i++) {
		bool show = detail == SHORT_ALL || ct_name_is_class(arg) ||
			    (!i && (detail == SHORT_SOME || !any_class));

		/* The same type again, and ways to reach data: noise. */
		if (((i || rest.n) && short_is_access(arg)) ||
		    (i && short_is_type(arg) && ct_name_same(arg, before))) {
			before = arg;
			continue;
		}
		/* Of three or more numbers that are the same: the first. */
		look = rest;
		if (i && ct_name_same(arg, before) &&
		    (left_out || (ct_name_next(&look, &after) && ct_name_same(arg, after))))
			show = false;
		before = arg;
		if (i >= most)
			show = false;
		/* Where space is short, what stands in front of a class has no mark. */
		if (show || (!left_out && (i || detail != SHORT_CLASSES))) {
			short_puts(out, any ? ", " : "");
			any = true;
			if (show)
				short_arg(out, arg, style, level + 1);
			else
				short_puts(out, "..");
		}
		left_out = !show;
	}
}

/*
 * How many of the function's template arguments must be shown, and in @count how many there
 * are.  Those behind the third class seldom tell two kernels apart.
 */
static unsigned int short_least(struct ct_name_text args, unsigned int *count)
{
	unsigned int least = 0, classes = 0;
	struct ct_name_text arg;

	for (*count = 0; ct_name_next(&args, &arg); ++*count) {
		if (ct_name_is_class(arg) && !short_is_access(arg) && classes++ < 3)
			least = *count + 1;
	}
	return least ? least : *count < 3 ? *count : 3;
}

/* Ends @buf, of which @used bytes were written: no part of a character of UTF-8 where it is full. */
static char *short_end(char *buf, size_t size, size_t used)
{
	size_t at = used;

	while (at && ((unsigned char)buf[at - 1] & 0xc0) == 0x80)
		at--;
	if (used + 1 == size && at && (unsigned char)buf[at - 1] >= 0xc0 &&
	    !ct_utf8(buf + at - 1, used + 1 - at))
		used = at - 1;
	buf[used] = 0;
	return buf;
}

char *ct_short_kernel_fit(char *buf, size_t size, const char *text, unsigned int columns)
{
	struct ct_name_text t = { text, strnlen(text, NAME_MOST) };
	struct short_out out = { .buf = buf, .size = size };
	unsigned int least, count, last = sizeof(styles) / sizeof(*styles) - 1;
	struct short_style list[sizeof(styles) / sizeof(*styles)];
	bool fits = false;
	struct ct_name name;

	if (ct_operation_name(buf, size, t))
		return short_end(buf, size, strlen(buf));
	if (memchr(t.s, '(', t.n) || memchr(t.s, '<', t.n) || memmem(t.s, t.n, "::", 2))
		ct_name_read(&name, t, true);
	else
		memset(&name, 0, sizeof(name));
	least = short_least(name.part[0].args, &count);
	if (count > ARGS_MOST)
		count = ARGS_MOST;
	for (unsigned int i = 0; i <= last; i++)
		list[i] = styles[i];
	/* In few columns the beginning of a class says more than "<..>" or the whole name. */
	if (columns < CT_SHORT_COLUMNS)
		list[--last] = (struct short_style){ SHORT_CLASSES, 3,
			ct_name_is_class(name.part[0].args) ? columns * 2 / 5 : 0 };
	if (!name.part[0].name.n && !*name.lambda) {
		short_put(&out, t.s, t.n);
		fits = true;
	}
	for (unsigned int i = 0; i <= last && !fits; i++) {
		for (unsigned int most = count; !fits; most--) {
			bool end = most <= least || !most;

			out = (struct short_out){ .buf = buf, .size = size, .most = columns };
			if (i == last && end)
				out.most = size;
			short_write(&out, &name, &list[i], 0, most);
			fits = out.columns <= columns;
			if (end)
				break;
		}
	}
	return short_end(buf, size, out.used);
}

char *ct_short_kernel(char *buf, size_t size, const char *name)
{
	return ct_short_kernel_fit(buf, size, name, CT_SHORT_COLUMNS);
}
