// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text for people.  Must never send a traced program's bytes to a terminal as
 * they are: a kernel's name could hold an escape sequence.
 */
#include "view/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/out.h"

bool ct_term_colour(FILE *out)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fileno(out)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

unsigned int ct_term_width(FILE *out, unsigned int otherwise)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width;

	if (isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	width = columns ? strtol(columns, NULL, 10) : 0;
	return width >= 20 && width <= 1000 ? width : otherwise;
}

char *ct_term_count(char buf[CT_TERM_TEXT], uint64_t n)
{
	char plain[24], *out = buf;
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = plain[i];
	}
	*out = 0;
	return buf;
}

char *ct_term_moment(char buf[CT_TERM_TEXT], uint64_t ns)
{
	ct_term_count(buf, ns / 1000000);
	snprintf(buf + strlen(buf), CT_TERM_TEXT - strlen(buf), ".%03u ms", (unsigned int)(ns / 1000 % 1000));
	return buf;
}

char *ct_term_ns(char buf[CT_TERM_TEXT], uint64_t ns)
{
	if (ns < 1000)
		snprintf(buf, CT_TERM_TEXT, "%u ns", (unsigned int)ns);
	else if (ns < 1000000)
		snprintf(buf, CT_TERM_TEXT, "%.2f us", ns / 1e3);
	else if (ns < 1000000000)
		snprintf(buf, CT_TERM_TEXT, "%.2f ms", ns / 1e6);
	else
		snprintf(buf, CT_TERM_TEXT, "%.3f s", ns / 1e9);
	return buf;
}

char *ct_term_bytes(char buf[CT_TERM_TEXT], uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	unsigned int i = 0;

	while (value >= 1024 && i < 6) {
		value /= 1024;
		i++;
	}
	snprintf(buf, CT_TERM_TEXT, i ? "%.2f %s" : "%.0f %s", value, unit[i]);
	return buf;
}

char *ct_term_clean(char *buf, unsigned int size, const char *text, unsigned int width)
{
	unsigned int used = 0, columns = 0, last = 0;

	while (*text && used + 5 < size) {
		unsigned int n = ct_utf8(text, strnlen(text, 4));
		unsigned char c = *text;

		if (columns == width) {
			/* In the place of the last character. */
			used = last;
			buf[used++] = '~';
			break;
		}
		last = used;
		columns++;
		/* C1 controls are 0xc2 0x80 to 0xc2 0x9f. */
		if (n && !(c == 0xc2 && (unsigned char)text[1] < 0xa0)) {
			memcpy(buf + used, text, n);
			used += n;
		} else {
			buf[used++] = c < 0x20 || c >= 0x7f ? '?' : c;
		}
		text += n ? n : 1;
	}
	buf[used] = 0;
	return buf;
}

unsigned int ct_term_unit(const char *text)
{
	static const char *const units[] = { "%", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned int length = strcspn(text, " ,.;:)");

	for (unsigned int i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (length == strlen(units[i]) && !strncmp(text, units[i], length))
			return strcspn(text, " ");
	return 0;
}

void ct_term_wrap(FILE *out, const char *text, unsigned int width, unsigned int indent, unsigned int at)
{
	char clean[2048];
	const char *word = ct_term_clean(clean, sizeof(clean), text, sizeof(clean) - 2);

	while (*word) {
		unsigned int length = strcspn(word, " "), unit = word[length] ? ct_term_unit(word + length + 1) : 0;

		/* A number stays with its "%" or unit. */
		length += unit ? 1 + unit : 0;
		/* A word that has no room in any line is broken, not inside a character. */
		if (length > width - indent) {
			length = width - indent;
			while (length > 1 && (word[length] & 0xc0) == 0x80)
				length--;
		}
		if (at > indent && at + 1 + length > width) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", length, word);
		at += length;
		word += length;
		word += strspn(word, " ");
	}
	fputc('\n', out);
}
