// SPDX-License-Identifier: LGPL-2.1
/*
 * replay [-V VERSION] FILE - decode a recorded ioctl trace
 *
 * Prints a line an ioctl: when it began (ns), the device, the escape or UVM
 * ioctl, the control command or class, the status, and the handles.  Then the
 * numbers that have no name, each with how often it came up, on lines that
 * begin with #.  VERSION is the driver's, without it the newest is assumed.
 *
 * Fails if the file cannot be read or if a line of it is no ioctl.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ioctl.h"
#include "trace.h"

static struct unnamed {
	const char	*what;
	uint32_t	nr;
	unsigned int	count;
} unnamed[64];
static unsigned int unnamed_count;

static void note_unnamed(const char *what, uint32_t nr)
{
	unsigned int i;

	for (i = 0; i < unnamed_count; i++)
		if (unnamed[i].nr == nr && !strcmp(unnamed[i].what, what))
			break;
	if (i == sizeof(unnamed) / sizeof(unnamed[0]))
		return;
	if (i == unnamed_count)
		unnamed[unnamed_count++] = (struct unnamed) { what, nr, 0 };
	unnamed[i].count++;
}

static void print_name(const char *what, const char *name, uint32_t nr)
{
	if (name) {
		printf(" %s", name);
		return;
	}
	printf(" 0x%x", nr);
	note_unnamed(what, nr);
}

/* What is known of a control command without a name: its class. */
static void print_group(uint32_t cmd)
{
	const char *group = nv_class_name(cmd >> 16);

	if (group)
		printf("(%s)", group);
}

static void print_code(const struct nv_ioctl *io)
{
	const char *what = io->code_kind == NV_CODE_CLASS ? "class" : "control";

	if (!(io->w.has & NV_HAS_CODE)) {
		printf(" -");
	} else if (io->code_kind == NV_CODE_FUNCTION) {
		printf(" function=%u", io->w.code);
	} else {
		print_name(what, io->code_name, io->w.code);
		if (!io->code_name && io->code_kind == NV_CODE_CMD)
			print_group(io->w.code);
	}
}

static void print_ioctl(const struct trace_line *t, const struct nv_ioctl *io)
{
	printf("%llu %s", t->begin, t->device);
	print_name(io->dev == NV_DEV_UVM ? "uvm" : "escape", io->name, io->nr);
	print_code(io);
	if (io->w.has & NV_HAS_STATUS)
		print_name("status", io->status_name, io->w.status);
	else
		printf(" -");
	if (io->w.has & NV_HAS_CLIENT)
		printf(" client=0x%x", io->w.client);
	if (io->w.has & NV_HAS_OBJECT)
		printf(" object=0x%x", io->w.object);
	if (io->w.has & NV_HAS_SUB)
		printf(" sub=0x%x", io->w.sub);
	if (t->result)
		printf(" result=%d", t->result);
	putchar('\n');
}

int main(int argc, char **argv)
{
	unsigned int version = 0, number = 0, i;
	char text[1024];
	FILE *f;
	int opt;

	while ((opt = getopt(argc, argv, "V:")) != -1) {
		if (opt == 'V')
			version = nv_version_parse(optarg);
		if (opt != 'V' || !version) {
			fprintf(stderr, "usage: replay [-V VERSION] FILE\n");
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: replay [-V VERSION] FILE\n");
		return 2;
	}
	f = fopen(argv[optind], "r");
	if (!f) {
		perror(argv[optind]);
		return 1;
	}
	while (fgets(text, sizeof(text), f)) {
		struct trace_line t;
		struct nv_ioctl io;

		number++;
		switch (trace_parse(text, &t)) {
		case 0:
			continue;
		case -1:
			fprintf(stderr, "%s:%u: not an ioctl\n", argv[optind], number);
			fclose(f);
			return 1;
		}
		nv_ioctl_decode(nv_dev_of(t.device), version, t.request, t.word, t.words * 4, &io);
		print_ioctl(&t, &io);
	}
	fclose(f);
	for (i = 0; i < unnamed_count; i++)
		printf("# no name: %s 0x%08x, %u times\n", unnamed[i].what, unnamed[i].nr,
		       unnamed[i].count);
	return 0;
}
