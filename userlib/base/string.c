// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the library and its compiler want of libc's <string.h>, hidden, so that the loader
 * binds none of it to another preloaded library or to a sanitizer: their versions may not
 * be called before they are ready, and dlsym() is the first thing that they call.
 *
 * Nothing of this is on the hot path.  Must never be compiled into calls of itself.
 */
#include <string.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wunknown-pragmas"
#endif
#pragma GCC optimize("no-tree-loop-distribute-patterns")

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *p = to;

	__asm__ volatile("rep movsb" : "+D"(p), "+S"(from), "+c"(n) : : "memory");
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	void *p = to;

	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(byte) : "memory");
	return to;
}

void *memchr(const void *s, int byte, size_t n)
{
	const unsigned char *p = s;

	for (; n--; p++)
		if (*p == (unsigned char)byte)
			return (void *)p;
	return NULL;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n--; p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return (size_t)(p - s);
}

size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n--; a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, ~(size_t)0);
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	char *last = NULL;

	do {
		if (*s == (char)c)
			last = (char *)s;
	} while (*s++);
	return last;
}

char *strstr(const char *s, const char *what)
{
	size_t n = strlen(what);

	for (; strncmp(s, what, n); s++)
		if (!*s)
			return NULL;
	return (char *)s;
}
