// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls every function of bindings.h, in each way that matters to what is recorded of it,
 * and prints the record that is to come of each call: its result, its symbol and its fields.
 * With -DMOCK the libcuda that it calls.
 *
 *	bindings	makes the calls
 *	bindings table	prints the functions of userlib/call/arguments.h that have no line
 *
 * What must not be read lies behind the end of a page: parameters of a call that failed,
 * and what comes after one that may be read.
 */
#define _GNU_SOURCE
#include <stddef.h>

/* One call: what libcuda is to do, and what it got. */
struct shot {
	unsigned result;
	struct {
		void *at;
		unsigned long long value;
		size_t size;
	} write[16];
	unsigned long long got[16];
};

#ifdef MOCK
#include <string.h>

#define W	unsigned long long
#define EXPORT	__attribute__((visibility("default")))

static struct shot *shot;

EXPORT int cuMockShot(struct shot *s)
{
	shot = s;
	return 0;
}

/* All the functions; an int in a register says nothing about the bits above it. */
static W any(W a, W b, W c, W d, W e, W f, W g, W h, W i, W j, W k, W l, W m, W n, W o, W p)
{
	W got[16] = { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p };

	memcpy(shot->got, got, sizeof(got));
	for (int z = 0; z < 16; z++)
		if (shot->write[z].at)
			memcpy(shot->write[z].at, &shot->write[z].value, shot->write[z].size);
	return 0xdeadbeef00000000ull | shot->result;
}

#define CALL(symbol, parameters, fields)	\
	EXPORT extern __typeof__(any) symbol __attribute__((alias("any")));
#define BOTH(symbol, parameters, fields)	\
	CALL(symbol, parameters, fields) CALL(symbol##_v2, parameters, fields)
#include "bindings.h"

#else

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long u64;

static const struct line {
	const char *symbol, *parameters, *fields;
} lines[] = {
#define CALL(symbol, parameters, fields)	{ #symbol, parameters, fields },
#define BOTH(symbol, parameters, fields)	\
	CALL(symbol, parameters, fields) CALL(symbol##_v2, parameters, fields)
#include "bindings.h"
};

#define LINES	(sizeof(lines) / sizeof(*lines))

enum way {
	GOOD,		/* it succeeds */
	EMPTY,		/* ..., with a list of nothing */
	NOWHERE,	/* ..., with NULL for one parameter, or ALL, that is an address */
	READ,		/* it fails, but libcuda has read its texts and structures */
	REFUSED,	/* it fails */
};

#define ALL	16

/* A parameter: the word that is passed, and what may be recorded of it. */
static struct value {
	u64 word, number, member[8];
	const char *text;
	bool sign;
} value[16];

static struct shot shot;
static struct {
	u64 handle, module;
	char name[64];
} known;			/* a kernel whose name was looked up */
static bool with_known;		/* calls are with that one */
static u64 first_handle;	/* the first parameter that is one is this */
static unsigned calls;
static const char *now = "nothing";
static void *lib;

static void fail(const char *what)
{
	fflush(stdout);
	dprintf(2, "%s, call %u: %s\n", now, calls, what);
	_exit(1);
}

static void on_fault(int signal)
{
	(void)signal;
	fail("reads what it must not");
}

/* The end of a page of parameter n, behind which nothing can be read. */
static u8 *end_of(int n)
{
	static u8 *pages;

	if (!pages) {
		pages = mmap(NULL, 32 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 16; i++)
			mprotect(pages + i * 8192, 4096, PROT_READ | PROT_WRITE);
	}
	return pages + n * 8192 + 4096;
}

static void *put(int n, const void *what, size_t size)
{
	return memcpy(end_of(n) - size, what, size);
}

/* Number m of parameter n of this call. */
static u64 number(int n, int m)
{
	return 0x5100000000000000 | (u64)calls << 16 | (u64)m << 8 | (u64)n;
}

struct end2d {
	u64 x, y;
	int type;
	u64 host, device, array, pitch;
};

struct end3d {
	u64 x, y, z, lod;
	int type;
	u64 host, device, array, context, pitch, height;
};

/* Members: destination, source, bytes, direction. */
static void *copy_block(int n, bool three, unsigned round)
{
	enum { HOST = 1, DEVICE, ARRAY, UNIFIED };
	static const u8 directions[5][5] = {
		[HOST] = { [HOST] = 4, [DEVICE] = 1, [ARRAY] = 6 },
		[DEVICE] = { [HOST] = 2, [DEVICE] = 3, [ARRAY] = 8 },
		[ARRAY] = { [HOST] = 7, [DEVICE] = 9, [ARRAY] = 10 },
	};
	int type[2] = { HOST + (int)(round & 3), HOST + (int)(round >> 2 & 3) };
	struct { struct end2d end[2]; u64 width, height; } b2;
	struct { struct end3d end[2]; u64 width, height, depth; } b3;
	u64 *p = three ? (u64 *)&b3 : (u64 *)&b2, *member = value[n].member;

	for (int m = 0; m < (int)((three ? sizeof(b3) : sizeof(b2)) / 8); m++)
		p[m] = number(n, m);
	for (int i = 0; i < 2; i++) {		/* 0: the source */
		u64 host, device, array;

		b2.end[i].type = b3.end[i].type = type[i];
		host = three ? b3.end[i].host : b2.end[i].host;
		device = three ? b3.end[i].device : b2.end[i].device;
		array = three ? b3.end[i].array : b2.end[i].array;
		member[1 - i] = type[i] == HOST ? host : type[i] == ARRAY ? array : device;
	}
	member[2] = three ? b3.width * b3.height * b3.depth : b2.width * b2.height;
	member[3] = directions[type[0]][type[1]];
	return three ? put(n, &b3, sizeof(b3)) : put(n, &b2, sizeof(b2));
}

/* Member: bytes.  A height or depth of 0 says that there is no such dimension. */
static void *descriptor(int n, bool three, unsigned round)
{
	static const u8 formats[8][2] = {	/* and the bytes of each */
		{ 0x01, 1 }, { 0x02, 2 }, { 0x03, 4 }, { 0x08, 1 }, { 0x09, 2 }, { 0x0a, 4 },
		{ 0x10, 2 }, { 0x20, 4 },
	};
	const u8 *format = formats[round & 7];
	u64 width = number(n, 0), height = round & 1 ? number(n, 1) : 0;
	u64 depth = round & 2 ? number(n, 2) : 0;
	struct { u64 width, height; unsigned format, channels; } d2 = {
		width, height, format[0], 2 + (round & 2) };
	struct { u64 width, height, depth; unsigned format, channels, flags; } d3 = {
		width, height, depth, format[0], 2 + (round & 2), 0xffff };

	value[n].member[0] = width * (height ? height : 1) * (three && depth ? depth : 1) *
			     d2.channels * format[1];
	return three ? put(n, &d3, sizeof(d3)) : put(n, &d2, sizeof(d2));
}

/* Members: grid 3, block 3, shared memory, stream. */
static void *launch_config(int n)
{
	struct {
		unsigned grid[3], block[3], shared;
		u64 stream, attributes;
		unsigned count;
	} c;
	u64 *member = value[n].member;

	memset(&c, 0xdd, sizeof(c));
	for (int i = 0; i < 3; i++) {
		c.grid[i] = (unsigned)(member[i] = (unsigned)number(n, i));
		c.block[i] = (unsigned)(member[3 + i] = (unsigned)number(n, 3 + i));
	}
	c.shared = (unsigned)(member[6] = (unsigned)number(n, 6));
	c.stream = member[7] = number(n, 7);
	return put(n, &c, sizeof(c));
}

/* As cuda.h has them; version 1 ends before the kernel's other handle. */
struct kernel_node {
	u64 function;
	unsigned grid[3], block[3], shared;
	u64 parameters, extra, kernel, context;
};

static u64 kernel(int n);

/* With the kernel as a function, or in later versions as a kernel. */
static struct kernel_node kernel_node(int n, bool function)
{
	struct kernel_node node;

	memset(&node, 0xdd, sizeof(node));
	node.function = function ? kernel(n) : 0;
	node.kernel = function ? number(n, 1) : kernel(n);
	return node;
}

static void *kernel_node_at(int n, bool second, unsigned round)
{
	struct kernel_node node = kernel_node(n, !second || !(round & 1));

	return put(n, &node, second ? sizeof(node) : offsetof(struct kernel_node, kernel));
}

#define BODY	14	/* no function has so many parameters: where one writes a node's graphs */

static void *written(int n, u64 word, size_t size);

/* Members: the graph in the node, the type, whether the graph is the node's. */
static void *any_node(int n, unsigned round)
{
	enum { KERNEL, COPY, GRAPH = 4, CONDITIONAL = 13 };
	static const u8 types[8] = { KERNEL, KERNEL, COPY, GRAPH, GRAPH, CONDITIONAL, CONDITIONAL, CONDITIONAL };
	struct {
		int type, reserved[3];
		union {
			struct kernel_node kernel;
			struct { u64 graph; int ownership; } graph;
			struct { u64 handle; int type; unsigned size; u64 bodies, context; } conditional;
			u64 words[29];
		};
		u64 reserved2;
	} node;
	u64 *member = value[n].member;

	memset(&node, 0xdd, sizeof(node));
	node.type = types[round & 7];
	member[1] = (u64)node.type;
	value[n].text = "-";
	switch (node.type) {
	case KERNEL:
		node.kernel = kernel_node(n, !(round & 1));
		member[0] = 0;
		break;
	case GRAPH:
		node.graph.graph = member[0] = number(n, 2);
		node.graph.ownership = round & 1 ? 0 : 1;
		member[2] = (u64)node.graph.ownership;
		break;
	case CONDITIONAL:	/* one body, none, and nowhere to write it */
		node.conditional.size = round != 6;
		node.conditional.bodies = round == 7 ? 0 : (u64)end_of(BODY);
		if (round == 5)
			node.conditional.bodies = (u64)written(BODY, member[0] = number(n, 3), 8);
		member[2] = 1;
		break;
	}
	return put(n, &node, sizeof(node));
}

#define LIST	3

/* Members: the first, the sum. */
static void *list(int n)
{
	u64 l[LIST];

	for (int i = 0; i < LIST; i++)
		value[n].member[1] += l[i] = number(n, i);
	value[n].member[0] = l[0];
	return put(n, l, sizeof(l));
}

#define TEXT	15	/* no function has so many parameters: a text that one writes */

static void *text(int n)
{
	static char texts[16][64];

	snprintf(texts[n], sizeof(texts[n]), "%s.%u.%d", now, calls, n);
	value[n].text = texts[n];
	return put(n, texts[n], strlen(texts[n]) + 1);
}

/* libcuda writes it there. */
static void *written(int n, u64 word, size_t size)
{
	shot.write[n].at = end_of(n) - size;
	shot.write[n].value = word;
	shot.write[n].size = size;
	return shot.write[n].at;
}

/* Member of a kernel's handle: its module. */
static u64 kernel(int n)
{
	value[n].text = with_known ? known.name : "-";
	value[n].member[0] = with_known ? known.module : 0;
	return with_known ? known.handle : number(n, 0);
}

static bool is(const char *type, const char *a, const char *b)
{
	return !strcmp(type, a) || !strcmp(type, b);
}

#define GARBAGE	0xdeadbeefdeadbe00	/* above the bits that a number has in its register */

/* A parameter that is no address of something; false if it is one. */
static bool fill_number(int n, const char *type, enum way way)
{
	struct value *v = &value[n];
	u64 word = number(n, 0);
	unsigned bits;

	v->sign = *type == 's';
	if (is(type, "64", "-")) {
		v->number = v->word = *type == '6' && first_handle ? first_handle : word;
		if (*type == '6')
			first_handle = 0;
	} else if (is(type, "fn", "")) {
		v->number = v->word = kernel(n);
	} else if (is(type, "n64", "n32")) {
		v->number = way == EMPTY ? 0 : LIST;
		v->word = v->number | (type[1] == '3' ? GARBAGE << 32 : 0);
	} else if (is(type, "32", "s32") || is(type, "16", "8")) {
		bits = (unsigned)atoi(type + v->sign);
		v->number = ((bits < 32 ? word + (calls << 4) : word) | 1u << (bits - 1)) &
			    ((1ull << bits) - 1);
		v->word = v->number | (GARBAGE & ~0ull << bits);
	} else {
		return false;
	}
	return true;
}

/* What is at the parameter's address, which may be read. */
static void *fill_address(int n, const char *type, unsigned round)
{
	struct value *v = &value[n];
	float ms = (float)calls + .5f;
	unsigned bits;

	if (is(type, "str", ""))
		return text(n);
	if (is(type, "list", ""))
		return list(n);
	if (is(type, "2d", "3d"))
		return copy_block(n, *type == '3', round);
	if (is(type, "a2", "a3"))
		return descriptor(n, type[1] == '3', round);
	if (is(type, "cfg", ""))
		return launch_config(n);
	if (is(type, "kn1", "kn2"))
		return kernel_node_at(n, type[2] == '2', round);
	if (is(type, "node", ""))
		return any_node(n, round);
	if (is(type, "*str", ""))
		return written(n, (u64)text(TEXT), 8);
	if (is(type, "*64", ""))
		return written(n, v->number = number(n, 0), 8);
	if (is(type, "*fn", ""))
		return written(n, v->number = kernel(n), 8);
	if (is(type, "*id", "")) {
		written(n, number(n, 0), 8);
		return shot.write[n].at = end_of(n) - 16;
	}
	if (!is(type, "*f", ""))
		fail("a type that there is not");
	v->number = calls * 1000000ull + 500000;
	memcpy(&bits, &ms, 4);
	return written(n, bits, 4);
}

/* Parameter n, of this type, in such a call. */
static void fill(int n, const char *type, enum way way, unsigned round)
{
	struct value *v = &value[n];
	bool null = way == NOWHERE && (round == ALL || round == (unsigned)n);
	bool readable = way == GOOD || (way == NOWHERE && !null);

	memset(v, 0, sizeof(*v));
	if (fill_number(n, type, way))
		return;
	if (way == READ)
		readable = is(type, "str", "cfg");
	if (way == EMPTY)
		readable = !is(type, "list", "*fn");
	if (is(type, "str", "*fn") || is(type, "kn1", "kn2") || is(type, "node", ""))
		v->text = "-";
	if (readable)
		v->word = (u64)fill_address(n, type, round);
	else if (!null)
		v->word = (u64)end_of(n);
}

/* "$2.1" or a number */
static u64 term(const char **s, const struct value **v)
{
	unsigned long n;

	if (**s != '$')
		return strtoull(*s, (char **)s, 10);
	n = strtoul(*s + 1, (char **)s, 10);
	if (**s == '.')
		return value[n].member[strtoul(*s + 1, (char **)s, 10)];
	*v = &value[n];
	return value[n].number;
}

static void print_field(const char *s, const char *name_end)
{
	bool hex = !strncmp(name_end, "0x", 2);
	const struct value *v = NULL;
	u64 product = 1;

	printf(" %.*s", (int)(name_end - s), s);
	s = name_end + 2 * hex;
	do {
		u64 n = term(&s, &v);

		while (*s == '|') {
			u64 other = (s++, term(&s, &v));

			n = n ? n : other;
		}
		product *= n;
	} while (*s++ == '*');
	if (v && v->text && !hex)
		printf("%s", v->text);
	else if (v && v->sign)
		printf("%d", (int)product);
	else
		printf(hex ? "0x%lx" : "%lu", product);
}

static void print_fields(const char *fields)
{
	char copy[512], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", fields);
	for (const char *s; (s = strsep(&rest, " ")) && *s; ) {
		if (!strcmp(strchr(s, '='), "=-"))
			printf(" %s", s);
		else
			print_field(s, strchr(s, '=') + 1);
	}
	putchar('\n');
}

/* The results of a libcuda that has read its texts and structures: it wants memory, ... */
static const unsigned reads[] = { 2, 200, 209, 218, 301, 500 };
static const unsigned refuses[] = { 1, 700 };

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

/* Gives the number of parameters. */
static int call(const struct line *l, enum way way, unsigned round)
{
	int n = 0, used[16] = { 0 }, in_register = 0, on_stack = 6;
	u64 (*function)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64,
			u64, u64);
	char copy[256], *rest = copy;
	u64 w[16];

	calls++;
	now = l->symbol;
	for (int i = 0; i < 16; i++)
		w[i] = number(i, 0xff);		/* what it does not take is something, too */
	memset(&shot, 0, sizeof(shot));
	shot.result = way == REFUSED ? refuses[round] : way == READ ? reads[round] : 0;
	snprintf(copy, sizeof(copy), "%s", l->parameters);
	for (const char *type; (type = strsep(&rest, " ")) && *type; n++) {
		int at;

		if (*type == 'S') {
			for (int i = 0; i < 8; i++, on_stack++)
				w[on_stack] = number(n, used[on_stack] = 1 + i);
			continue;
		}
		at = in_register < 6 ? in_register++ : on_stack++;
		fill(n, type, way, round);
		w[at] = value[n].word;
		used[at] = 1;
	}
	function = (__typeof__(function))dlsym(lib, l->symbol);
	if (!function)
		fail("is not there");
	if ((unsigned)function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9],
			       w[10], w[11], w[12], w[13], w[14], w[15]) != shot.result)
		fail("gives another result");
	for (int i = 0; i < 16; i++)
		if (used[i] && w[i] != shot.got[i])
			fail("gets another argument");
	printf("%u %s", shot.result, l->symbol);
	print_fields(l->fields);
	return n;
}

static const struct line *line_of(const char *symbol)
{
	for (size_t i = 0; i < LINES; i++)
		if (!strcmp(lines[i].symbol, symbol))
			return &lines[i];
	return NULL;
}

/* This kernel has now this name, of this module. */
static void know(u64 handle, u64 module, const char *name)
{
	known.handle = handle;
	known.module = module;
	snprintf(known.name, sizeof(known.name), "%s", name);
}

static void look_up(const char *symbol)
{
	call(line_of(symbol), GOOD, 0);
	know(value[0].number, value[1].number, value[2].text);
}

static void call_all_ways(const struct line *l)
{
	const char *p = l->parameters;
	int parameters = 0;
	bool block = strstr(p, "2d") || strstr(p, "3d"), eight = strstr(p, "a2") || strstr(p, "a3") || strstr(p, "node");

	/* The first call takes the long way, the others the quick one if there is one. */
	for (unsigned i = 0; i < (block ? 16 : eight ? 8 : 2); i++)
		parameters = call(l, GOOD, i);
	if (strstr(p, "n32") || strstr(p, "n64"))
		call(l, EMPTY, 0);
	with_known = strstr(p, "fn") || strstr(p, "kn") || strstr(p, "node");
	for (unsigned i = 0; i < 2; i++)
		call(l, GOOD, i);
	call(l, NOWHERE, ALL);
	for (int i = 0; i < parameters; i++)
		call(l, NOWHERE, (unsigned)i);
	for (unsigned i = 0; i < COUNT(refuses); i++)
		call(l, REFUSED, i);
	if (strstr(p, "str") || strstr(p, "cfg"))
		for (unsigned i = 0; i < COUNT(reads); i++)
			call(l, READ, i);
	with_known = false;
}

static void call_with(const char *symbol, u64 handle, enum way way)
{
	first_handle = handle;
	call(line_of(symbol), way, 0);
	first_handle = 0;
}

/* A name, however it was learnt, is there until the kernel's module goes. */
static void names(void)
{
	static const char *const ways[2][3] = {
		{ "cuModuleGetFunction", "cuModuleUnload", "cuFuncGetName" },
		{ "cuLibraryGetKernel", "cuLibraryUnload", "cuKernelGetName" },
	};

	with_known = true;
	for (int i = 0; i < 2; i++) {
		const char *unload = ways[i][1];

		look_up(ways[i][0]);
		call_with("cuKernelGetFunction", 0, GOOD);
		known.handle = value[0].number;
		call_with("cuLaunchKernel", 0, GOOD);
		call_with(ways[i][2], known.handle, GOOD);
		know(known.handle, known.module, value[TEXT].text);
		call_with("cuLaunchKernel", 0, GOOD);
		call_with(unload, known.module, REFUSED);
		call_with(unload, 0, GOOD);		/* another */
		call_with("cuLaunchKernel", 0, GOOD);
		call_with(unload, known.module, GOOD);
		know(known.handle, 0, "-");
		call_with("cuLaunchKernel", 0, GOOD);
	}
}

/*
 * Prints what of the library's table has no line, and how many have.  The table's names are
 * used, and nothing else of the library's.
 */
static int compare_tables(void)
{
	static const struct {
		const char *name;
		int from, to;
	} bindings[] = {
#define ROW(function, from, to, ...)	{ #function, from, to },
#define WIDE	ROW
#define HAND	ROW
#include "../../userlib/call/arguments.h"
	};
	int missing = 0, there = 0;

	for (size_t i = 0; i < COUNT(bindings); i++) {
		for (int v = bindings[i].from; v <= bindings[i].to; v++) {
			char symbol[128];

			snprintf(symbol, sizeof(symbol), v > 1 ? "%s_v%d" : "%s",
				 bindings[i].name, v);
			there++;
			if (!line_of(symbol) && ++missing)
				printf("no line in bindings.h: %s\n", symbol);
		}
	}
	if (!missing)
		printf("%zu, %d functions\n", COUNT(bindings), there);
	return !!missing;
}

int main(int argc, char **argv)
{
	int (*load)(struct shot *);

	if (argc == 2 && !strcmp(argv[1], "table"))
		return compare_tables();
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	load = lib ? (int (*)(struct shot *))dlsym(lib, "cuMockShot") : NULL;
	if (!load)
		fail("no libcuda");
	load(&shot);
	signal(SIGSEGV, on_fault);
	look_up("cuModuleGetFunction");
	for (size_t i = 0; i < LINES; i++)
		call_all_ways(&lines[i]);
	names();
	return 0;
}

#endif
