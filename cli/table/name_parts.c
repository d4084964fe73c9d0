// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads names of C++ functions and types as c++filt prints them.  Must never read beyond a
 * name or recurse: it may be any text, with brackets that match nothing.
 */
#include "table/name_parts.h"

#include <string.h>

#define NEST_MOST	64	/* brackets within brackets */

bool ct_name_starts(struct ct_name_text t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return t.n - at >= n && !memcmp(t.s + at, word, n);
}

static bool name_is_word(char c)
{
	return c == '_' || c == '$' || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
	       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct ct_name_text ct_name_trim(struct ct_name_text t)
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
static size_t name_operator(struct ct_name_text t, size_t at)
{
	static const char word[] = "operator";
	size_t i = at + sizeof(word) - 1;

	if (!ct_name_starts(t, at, word) || (at && name_is_word(t.s[at - 1])) || i >= t.n)
		return 0;
	if (ct_name_starts(t, i, "()") || ct_name_starts(t, i, "[]"))
		return i + 2 - at;
	while (i < t.n && strchr("<>=!+-*/%&|^~,", t.s[i]))
		i++;
	return i == at + sizeof(word) - 1 ? 0 : i - at;
}

size_t ct_name_skip(struct ct_name_text t, size_t at)
{
	char open[NEST_MOST];
	unsigned int depth = 0;

	for (size_t i = at; i < t.n; i++) {
		char c = t.s[i];
		size_t n = c == 'o' ? name_operator(t, i) : 0;

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

static void name_push(struct ct_name *name, struct ct_name_part part)
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
static void name_lambda(struct ct_name *name, struct ct_name_text t)
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
static bool name_goes_on(struct ct_name_text t, size_t at)
{
	if (ct_name_starts(t, at, " const"))
		at += 6;
	return ct_name_starts(t, at, "::");
}

void ct_name_read(struct ct_name *name, struct ct_name_text t, bool function)
{
	struct ct_name_part part = { 0 };
	size_t i = 0;

	memset(name, 0, sizeof(*name));
	while (i < t.n) {
		size_t n = t.s[i] == 'o' && !part.name.n ? name_operator(t, i) : 0, next;

		if (n) {
			part.name = (struct ct_name_text){ t.s + i, n };
			i += n;
			/* "operator< <int>" */
			i += ct_name_starts(t, i, " <");
		} else if (ct_name_starts(t, i, "::")) {
			if (part.name.n)
				name_push(name, part);
			part = (struct ct_name_part){ 0 };
			i += 2;
		} else if (t.s[i] == '<') {
			next = ct_name_skip(t, i);
			/* The last byte is the bracket, unless the text ends too early. */
			n = next - i - 1 - (next - i > 1 && t.s[next - 1] == '>');
			part.args = ct_name_trim((struct ct_name_text){ t.s + i + 1, n });
			i = next;
		} else if (t.s[i] == '{') {
			next = ct_name_skip(t, i);
			name_lambda(name, (struct ct_name_text){ t.s + i, next - i });
			part = (struct ct_name_part){ 0 };
			i = next;
		} else if (ct_name_starts(t, i, "(anonymous namespace)")) {
			i += strlen("(anonymous namespace)");
		} else if (t.s[i] == '(') {
			next = ct_name_skip(t, i);
			if (!name_goes_on(t, next)) {
				/* "decltype (...) f<...>(...)": the return type ends here. */
				if (function && part.name.n == 0 && next < t.n) {
					i = next;
					continue;
				}
				break;
			}
			i = next;
		} else if (t.s[i] == ' ' && ct_name_starts(t, i, " const::")) {
			i += 6;
		} else if (t.s[i] == ' ' && function) {
			memset(name, 0, sizeof(*name));
			part = (struct ct_name_part){ 0 };
			i++;
		} else if (!function && strchr(" *&", t.s[i]) && (part.name.n || *name->lambda)) {
			name->suffix = (struct ct_name_text){ t.s + i, t.n - i };
			break;
		} else {
			if (!part.name.n)
				part.name.s = t.s + i;
			part.name.n = t.s + i + 1 - part.name.s;
			i++;
		}
	}
	if (part.name.n)
		name_push(name, part);
}

bool ct_name_next(struct ct_name_text *rest, struct ct_name_text *arg)
{
	size_t i = 0, n;

	if (!rest->s || !rest->n)
		return false;
	while (i < rest->n && rest->s[i] != ',') {
		n = rest->s[i] == 'o' ? name_operator(*rest, i) : 0;
		i = n ? i + n : strchr("<([{", rest->s[i]) ? ct_name_skip(*rest, i) : i + 1;
	}
	*arg = ct_name_trim((struct ct_name_text){ rest->s, i });
	n = i < rest->n ? i + 1 : i;
	rest->s += n;
	rest->n -= n;
	return true;
}

bool ct_name_is_class(struct ct_name_text arg)
{
	for (size_t i = 0; i < arg.n; i++)
		if (strchr("<{", arg.s[i]) || ct_name_starts(arg, i, "::"))
			return true;
	return false;
}
