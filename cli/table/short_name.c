// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Short names of kernels.  Must never read beyond a name or recurse without a limit: a name
 * may be any text, with brackets that match nothing.
 *
 * A name is read as components that "::" separates.  Of a function and of each template
 * argument only the last component counts, with its own template arguments.  These are
 * written with less and less detail until the name fits.
 */
#include "table/short_name.h"

#include <stdbool.h>
#include <string.h>

#define NAME_MOST	8192	/* bytes of a name that are looked at */
#define NEST_MOST	64	/* brackets within brackets */
#define SHORT_WORD	6	/* a name of so few bytes is shown with the one in front of it */

struct short_text {
	const char *s;
	size_t n;
};

struct short_out {
	char *buf;
	size_t size, used;
	size_t columns;		/* also of what did not fit into @buf */
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
};

/* From the longest to the shortest. */
static const struct short_style styles[] = {
	{ SHORT_ALL, 6 },  { SHORT_SOME, 6 }, { SHORT_SOME, 3 }, { SHORT_CLASSES, 4 },
	{ SHORT_CLASSES, 3 }, { SHORT_CLASSES, 2 }, { SHORT_NONE, 1 },
};

/* A component of a name: "reduce_kernel" and "<512, 1, ...>". */
struct short_part {
	struct short_text name;
	struct short_text args;		/* without the brackets; s is NULL: no template */
};

struct short_name {
	struct short_part part[3];	/* the last ones; [0] is the last */
	char lambda[32];		/* "#2#1": the last component is in these lambdas */
	struct short_text suffix;	/* "*", " const&" */
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

static bool short_starts(struct short_text t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return t.n - at >= n && !memcmp(t.s + at, word, n);
}

static bool short_is_word(char c)
{
	return c == '_' || c == '$' || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
	       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct short_text short_trim(struct short_text t)
{
	while (t.n && *t.s == ' ') {
		t.s++;
		t.n--;
	}
	while (t.n && t.s[t.n - 1] == ' ')
		t.n--;
	return t;
}

/* The bytes of "operator" and its symbol at @at, 0: there is none. */
static size_t short_operator(struct short_text t, size_t at)
{
	static const char word[] = "operator";
	size_t i = at + sizeof(word) - 1;

	if (!short_starts(t, at, word) || (at && short_is_word(t.s[at - 1])) || i >= t.n)
		return 0;
	if (short_starts(t, i, "()") || short_starts(t, i, "[]"))
		return i + 2 - at;
	while (i < t.n && strchr("<>=!+-*/%&|^~,", t.s[i]))
		i++;
	return i == at + sizeof(word) - 1 ? 0 : i - at;
}

/* The place behind the bracket that matches the one at @at; the end where none does. */
static size_t short_skip(struct short_text t, size_t at)
{
	char open[NEST_MOST];
	unsigned int depth = 0;

	for (size_t i = at; i < t.n; i++) {
		char c = t.s[i];
		size_t n = c == 'o' ? short_operator(t, i) : 0;

		if (n) {
			i += n - 1;
		} else if (c == '<' || c == '(' || c == '[' || c == '{') {
			if (depth == NEST_MOST)
				return t.n;
			open[depth++] = c;
		} else if (c == '-' && i + 1 < t.n && t.s[i + 1] == '>') {
			i++;
		} else if (c == '>') {
			/* Otherwise it compares: (3>2). */
			if (open[depth - 1] == '<')
				depth--;
		} else if (c == ')' || c == ']' || c == '}') {
			char match = c == ')' ? '(' : c == ']' ? '[' : '{';
			unsigned int d = depth;

			while (d && open[d - 1] != match)
				d--;
			if (d)
				depth = d - 1;
		}
		if (!depth)
			return i + 1;
	}
	return t.n;
}

/* ------------------------------------------------------------------ reading --- */

static void short_push(struct short_name *name, struct short_part part)
{
	/* A function of a lambda stands for the lambda. */
	if (*name->lambda && part.name.n >= 8 && !memcmp(part.name.s, "operator", 8))
		return;
	name->part[2] = name->part[1];
	name->part[1] = name->part[0];
	name->part[0] = part;
	*name->lambda = 0;
}

/* "{lambda(float)#2}": keeps "#2"; other texts in such brackets the same way. */
static void short_lambda(struct short_name *name, struct short_text t)
{
	size_t used = strlen(name->lambda), at = t.n;

	if (name->part[0].name.n == 10 && !memcmp(name->part[0].name.s, "operator()", 10) &&
	    name->part[1].name.n) {
		name->part[0] = name->part[1];
		name->part[1] = name->part[2];
	}
	while (at && t.s[at - 1] != '#')
		at--;
	if (at && t.s[t.n - 1] == '}' && used + t.n - at + 1 < sizeof(name->lambda)) {
		memcpy(name->lambda + used, t.s + at - 1, t.n - at);
		name->lambda[used + t.n - at] = 0;
	} else if (!used) {
		memcpy(name->lambda, "#", 2);
	}
}

/* Whether what stands behind a parameter list belongs to the same name: "f() const::{lambda". */
static bool short_goes_on(struct short_text t, size_t at)
{
	if (short_starts(t, at, " const"))
		at += 6;
	return short_starts(t, at, "::");
}

/*
 * Reads the components of @t.  In the name of a function what stands in front of a space is
 * the return type; in a type what stands behind one is " const*".
 */
static void short_read(struct short_name *name, struct short_text t, bool function)
{
	struct short_part part = { 0 };
	size_t i = 0;

	memset(name, 0, sizeof(*name));
	while (i < t.n) {
		size_t n = t.s[i] == 'o' && !part.name.n ? short_operator(t, i) : 0, next;

		if (n) {
			part.name = (struct short_text){ t.s + i, n };
			i += n;
		} else if (short_starts(t, i, "::")) {
			if (part.name.n)
				short_push(name, part);
			part = (struct short_part){ 0 };
			i += 2;
		} else if (t.s[i] == '<') {
			next = short_skip(t, i);
			/* The last byte is the bracket, unless the text ends too early. */
			n = next - i - 1 - (next - i > 1 && t.s[next - 1] == '>');
			part.args = short_trim((struct short_text){ t.s + i + 1, n });
			i = next;
		} else if (t.s[i] == '{') {
			next = short_skip(t, i);
			short_lambda(name, (struct short_text){ t.s + i, next - i });
			part = (struct short_part){ 0 };
			i = next;
		} else if (short_starts(t, i, "(anonymous namespace)")) {
			i += strlen("(anonymous namespace)");
		} else if (t.s[i] == '(') {
			next = short_skip(t, i);
			if (!short_goes_on(t, next)) {
				/* "decltype (...) f<...>(...)": the return type ends here. */
				if (function && part.name.n == 0 && next < t.n) {
					i = next;
					continue;
				}
				break;
			}
			i = next;
		} else if (t.s[i] == ' ' && short_starts(t, i, " const::")) {
			i += 6;
		} else if (t.s[i] == ' ' && function) {
			memset(name, 0, sizeof(*name));
			part = (struct short_part){ 0 };
			i++;
		} else if (!function && strchr(" *&", t.s[i]) && (part.name.n || *name->lambda)) {
			name->suffix = (struct short_text){ t.s + i, t.n - i };
			break;
		} else {
			if (!part.name.n)
				part.name.s = t.s + i;
			part.name.n = t.s + i + 1 - part.name.s;
			i++;
		}
	}
	if (part.name.n)
		short_push(name, part);
}

/* ------------------------------------------------------------------ writing --- */

/* Cuts the next argument off @rest; false: there is none. */
static bool short_next(struct short_text *rest, struct short_text *arg)
{
	size_t i = 0, n;

	if (!rest->s || !rest->n)
		return false;
	while (i < rest->n && rest->s[i] != ',') {
		n = rest->s[i] == 'o' ? short_operator(*rest, i) : 0;
		i = n ? i + n : strchr("<([{", rest->s[i]) ? short_skip(*rest, i) : i + 1;
	}
	*arg = short_trim((struct short_text){ rest->s, i });
	n = i < rest->n ? i + 1 : i;
	rest->s += n;
	rest->n -= n;
	return true;
}

/* A class, not a number or a type of the language. */
static bool short_is_class(struct short_text arg)
{
	for (size_t i = 0; i < arg.n; i++)
		if (strchr("<{", arg.s[i]) || short_starts(arg, i, "::"))
			return true;
	return false;
}

static bool short_same(struct short_text a, struct short_text b)
{
	return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* 3ul, 4u: without the letters of the type. */
static void short_number(struct short_out *out, struct short_text t)
{
	size_t digits = *t.s == '-';

	while (digits < t.n && t.s[digits] >= '0' && t.s[digits] <= '9')
		digits++;
	for (size_t i = digits; i < t.n; i++)
		if (t.s[i] != 'u' && t.s[i] != 'l')
			digits = t.n;
	short_put(out, t.s, digits);
}

static void short_args(struct short_out *out, struct short_text args,
		       const struct short_style *style, unsigned int level, unsigned int most);

static void short_part(struct short_out *out, const struct short_part *part,
		       const struct short_style *style, unsigned int level, unsigned int most)
{
	short_put(out, part->name.s, part->name.n);
	if (!part->args.s)
		return;
	short_puts(out, "<");
	if (level && part->args.n && (style->detail == SHORT_NONE || level >= style->depth))
		short_puts(out, "..");
	else
		short_args(out, part->args, style, level, most);
	short_puts(out, ">");
}

static void short_write(struct short_out *out, const struct short_name *name,
			const struct short_style *style, unsigned int level, unsigned int most)
{
	const struct short_text *last = &name->part[0].name, *before = &name->part[1].name;

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
	if (name->suffix.n && strspn(name->suffix.s, " const*&volatile[]0123456789") >= name->suffix.n)
		short_put(out, name->suffix.s, name->suffix.n);
}

static void short_arg(struct short_out *out, struct short_text arg,
		      const struct short_style *style, unsigned int level)
{
	struct short_name name;

	/* (ns::kind)0: the number.  (&f): the function. */
	if (arg.n && *arg.s == '(' && !short_starts(arg, 0, "(anonymous namespace)")) {
		size_t next = short_skip(arg, 0);

		if (next < arg.n && ((arg.s[next] >= '0' && arg.s[next] <= '9') || arg.s[next] == '-'))
			arg = (struct short_text){ arg.s + next, arg.n - next };
		else if (next == arg.n && arg.n > 2)
			arg = short_trim((struct short_text){ arg.s + 1, arg.n - 2 });
	}
	if (!arg.n)
		return;
	if ((*arg.s >= '0' && *arg.s <= '9') || *arg.s == '-') {
		short_number(out, arg);
		return;
	}
	if (*arg.s == '&' || *arg.s == '!') {
		short_put(out, arg.s, 1);
		arg = short_trim((struct short_text){ arg.s + 1, arg.n - 1 });
	}
	if (short_is_class(arg))
		short_read(&name, arg, false);
	else
		memset(&name, 0, sizeof(name));
	if (name.part[0].name.n || *name.lambda)
		short_write(out, &name, style, level, ~0u);
	else
		short_put(out, arg.s, arg.n);
}

/* Arguments with ", " between them; ".." for each row of those that are left out. */
static void short_args(struct short_out *out, struct short_text args,
		       const struct short_style *style, unsigned int level, unsigned int most)
{
	struct short_text rest = args, arg, look, before = { 0 }, after;
	enum short_detail detail = level ? style->detail : SHORT_ALL;
	bool any_class = false, left_out = false;
	unsigned int i = 0;

	for (look = args; short_next(&look, &arg);)
		any_class |= short_is_class(arg);
	for (; short_next(&rest, &arg); i++) {
		bool show = detail == SHORT_ALL || short_is_class(arg) ||
			    (!i && (detail == SHORT_SOME || !any_class));

		/* Of three or more that are the same: the first. */
		look = rest;
		if (i && short_same(arg, before) &&
		    (left_out || (short_next(&look, &after) && short_same(arg, after))))
			show = false;
		before = arg;
		if (i >= most)
			show = false;
		if (show) {
			short_puts(out, i ? ", " : "");
			short_arg(out, arg, style, level + 1);
		} else if (!left_out) {
			short_puts(out, i ? ", .." : "..");
		}
		left_out = !show;
	}
}

/* Classes that say how data is reached, not what is computed. */
static bool short_is_access(struct short_text arg)
{
	static const char *const names[] = {
		"std::array<", "TrivialOffsetCalculator<", "OffsetCalculator<",
		"at::native::memory::",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (short_starts(arg, 0, names[i]))
			return true;
	return false;
}

/*
 * How many of the function's template arguments must be shown, and in @count how many there
 * are.  Those behind the third class seldom tell two kernels apart.
 */
static unsigned int short_least(struct short_text args, unsigned int *count)
{
	unsigned int least = 0, classes = 0;
	struct short_text arg;

	for (*count = 0; short_next(&args, &arg); ++*count) {
		if (short_is_class(arg) && !short_is_access(arg) && classes++ < 3)
			least = *count + 1;
	}
	return least ? least : *count < 3 ? *count : 3;
}

char *ct_short_kernel_fit(char *buf, size_t size, const char *text, unsigned int columns)
{
	struct short_text t = { text, strnlen(text, NAME_MOST) };
	struct short_out out = { .buf = buf, .size = size };
	unsigned int least, count, last = sizeof(styles) / sizeof(*styles) - 1;
	struct short_name name;

	if (memchr(t.s, '(', t.n) || memchr(t.s, '<', t.n) || memmem(t.s, t.n, "::", 2))
		short_read(&name, t, true);
	else
		memset(&name, 0, sizeof(name));
	least = short_least(name.part[0].args, &count);
	if (!name.part[0].name.n && !*name.lambda) {
		short_put(&out, t.s, t.n);
		count = 0;
		last = 0;
	}
	for (unsigned int i = 0; i <= last && (name.part[0].name.n || *name.lambda); i++) {
		for (unsigned int most = count;; most--) {
			out = (struct short_out){ .buf = buf, .size = size };
			short_write(&out, &name, &styles[i], 0, most);
			if (out.columns <= columns)
				i = last;
			if (out.columns <= columns || most <= least)
				break;
		}
	}
	/* No part of a character of UTF-8. */
	if (out.columns && out.used + 1 == size)
		while (out.used && ((unsigned char)buf[out.used - 1] & 0xc0) == 0x80)
			out.used--;
	if (out.used && (unsigned char)buf[out.used - 1] >= 0xc0)
		out.used--;
	buf[out.used] = 0;
	return buf;
}

char *ct_short_kernel(char *buf, size_t size, const char *name)
{
	return ct_short_kernel_fit(buf, size, name, CT_SHORT_COLUMNS);
}
