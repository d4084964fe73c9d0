// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records as text: a field of every type, and the keys of launches, copies and ioctls
 * outside "details".  Runs as root in a guest with the module loaded; prints TAP.
 */
#include <poll.h>

#include "session.h"

static int producer, reader;
static char *line;		/* the last line that was searched for */

/* The id of a class of this name with these fields, written as by CT_LAYOUT_SPEC(). */
static uint16_t class_of(const char *name, const char *spec)
{
	static const char *const types[] = {
#define CT_TYPE_ROW(type, ctype, bytes)	#type,
		CT_TYPES(CT_TYPE_ROW)
#undef CT_TYPE_ROW
	};
	struct ct_define d = define(name, name);
	char type[16];
	int used;

	for (d.fields_count = 0; *spec; spec += used) {
		struct ct_field *f = &d.fields[d.fields_count++];

		*f = (struct ct_field){ .type = 0 };
		if (sscanf(spec, "%23[^:]:%15[^,],%n", f->name, type, &used) != 2)
			return 0;
		while (strcmp(types[f->type], type))
			f->type++;
	}
	return call(producer, CT_IOC_DEFINE, &d) ? 0 : d.id;
}

static uint32_t string_of(const char *text)
{
	struct ct_string s = { .size = sizeof(s), .text = (uintptr_t)text, .len = strlen(text) };

	return call(producer, CT_IOC_STRING, &s) ? 0 : s.id;
}

/*
 * Writes one mark with this payload, of the class of this name, and reads it as text into
 * line.  A record is emitted only when it is a millisecond old, so this waits.
 */
static int mark_and_read(const char *name, uint16_t class, const void *payload, uint32_t size,
			 uint8_t flags, int64_t result)
{
	static char text[1 << 16], wanted[64];
	struct pollfd p = { .fd = reader, .events = POLLIN };
	struct { struct ct_mark_head head; uint8_t payload[256]; } m = {
		.head = { .size = sizeof(m.head) + size, .class = class, .flags = flags,
			  .begin = now(), .result = result },
	};
	size_t have = 0;
	ssize_t n;
	int i;

	line = NULL;
	memcpy(m.payload, payload, size);
	if (!class || call(producer, CT_IOC_MARK(sizeof(m.head) + size), &m))
		return 0;
	snprintf(wanted, sizeof(wanted), "\"name\":\"%s\"", name);
	/* A process record may come first. */
	for (i = 0; i < 100 && !line; i++) {
		poll(&p, 1, 100);
		n = read(reader, text + have, sizeof(text) - 1 - have);
		have += n > 0 ? n : 0;
		text[have] = '\0';
		line = strstr(text, wanted);
	}
	return line != NULL;
}

static void says(const char *want, const char *what)
{
	int there = line && strstr(line, want);

	ok(there, "%s", what);
	if (!there)
		printf("# no %s in: %.400s\n", want, line ? line : "nothing");
}

static void test_numbers(void)
{
	const struct {
		uint8_t a; int8_t b; uint16_t c; int32_t d; uint64_t e; int64_t f;
		int16_t g; uint16_t h; uint32_t i; uint64_t j;
	} p = { 200, -7, 60000, -70000, ~0ull, INT64_MIN, -300, 0xbeef, 0, ~0ull };
	uint16_t class = class_of("text_numbers",
				  "a:u8,b:s8,c:u16,d:s32,e:u64,f:s64,g:s16,h:x16,i:x32,j:x64,");

	ok(mark_and_read("text_numbers", class, &p, sizeof(p), CT_F_INSTANT, 0), "numbers of every size are marked");
	says("\"details\":{\"a\":200,\"b\":-7,\"c\":60000,\"d\":-70000,"
	     "\"e\":18446744073709551615,\"f\":-9223372036854775808,\"g\":-300,"
	     "\"h\":\"0xbeef\",\"i\":\"0x0\",\"j\":\"0xffffffffffffffff\"}",
	     "signed, unsigned and hexadecimal, the least and the greatest");
	says("\"result\":\"CUDA_SUCCESS\",\"result_code\":0", "a result of 0 has its name");
	mark_and_read("text_numbers", class, &p, sizeof(p), 0, 700);
	says("\"result\":700,\"result_code\":700", "any other is its number");
	says("\"duration_us\":", "a call has its duration");
	mark_and_read("text_numbers", class, &p, sizeof(p), CT_F_ABANDONED | CT_F_NO_RESULT, 0);
	says("\"abandoned\":true", "an abandoned call says so");
	ok(line && !strstr(line, "\"duration_us\":"), "and has none");
}

static void test_names(void)
{
	struct {
		uint32_t str; uint16_t class; uint8_t u, x; uint32_t dir, dev, nvst, nvcode, cures, y;
	} p = { .class = CT_CLASS_mark, .u = 1, .x = 0x2f, .dir = CT_DIR_H2D, .dev = 3,
		.nvst = 0x55, .nvcode = 0x20800102, .cures = 999, .y = 0xf };
	uint16_t class = class_of("text_names",
				  "n0:str,n1:class,n2:u8,n3:x8,n4:dir,n5:dev,n6:nvst,n7:nvcode,n8:cures,n9:x32,");
	static const struct { uint32_t dev; const char *want; } devices[] = {
		{ CT_DEV_NVIDIACTL, "\"n5\":\"nvidiactl\"" }, { CT_DEV_UVM, "\"n5\":\"nvidia-uvm\"" },
		{ CT_DEV_UVM_TOOLS, "\"n5\":\"nvidia-uvm-tools\"" },
		{ CT_DEV_MODESET, "\"n5\":\"nvidia-modeset\"" }, { CT_DEV_UNKNOWN, "\"n5\":\"unknown\"" },
	};
	size_t i;

	p.str = string_of("a \"name\"\twith \\");
	ok(mark_and_read("text_names", class, &p, sizeof(p), CT_F_INSTANT, 0), "names of every kind are marked");
	says("\"details\":{\"n0\":\"a \\\"name\\\"\\u0009with \\\\\",\"n1\":\"mark\",\"n2\":1,"
	     "\"n3\":\"0x2f\",\"n4\":\"H2D\",\"n5\":\"nvidia3\",\"n6\":\"0x55\","
	     "\"n7\":\"0x20800102\",\"n8\":999,\"n9\":\"0xf\"}",
	     "strings (escaped), classes, directions, devices and codes");
	p.str = string_of("\xc2\x9b" "31m\xc2\x85\x9b\xc3\xbc\xc2");
	mark_and_read("text_names", class, &p, sizeof(p), CT_F_INSTANT, 0);
	says("\"n0\":\"\\u009b31m\\u0085\\u009b\xc3\xbc\xc2\"",
	     "what steers a terminal is escaped, too, where it lies above ASCII");
	p.str = 0;
	p.class = CT_CLASS_MAX;
	p.dir = CT_DIR_COUNT;
	mark_and_read("text_names", class, &p, sizeof(p), CT_F_INSTANT, 0);
	says("\"n0\":\"\",\"n1\":\"\"", "an unknown string and an unknown class are empty");
	says("\"n4\":\"unknown\"", "and a direction is unknown");
	for (i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		p.dev = devices[i].dev;
		mark_and_read("text_names", class, &p, sizeof(p), CT_F_INSTANT, 0);
		says(devices[i].want, "a device's name");
	}
}

static void test_top(void)
{
	struct ct_launch launch = { .kernel = string_of("saxpy"), .grid_x = 2, .grid_y = 3,
				    .grid_z = 4, .block_x = 5, .block_y = 6, .block_z = 1 };
	struct ct_copy copy = { .size = 4096, .direction = CT_DIR_D2H };
	uint16_t copies = class_of("text_copy", CT_LAYOUT_SPEC(copy));

	ok(mark_and_read("text_launch", class_of("text_launch", CT_LAYOUT_SPEC(launch)), &launch,
			 sizeof(launch), 0, 0), "a launch is marked");
	says(",\"threads\":720,\"kernel\":\"saxpy\"", "its threads and its kernel are outside details");
	mark_and_read("text_copy", copies, &copy, sizeof(copy), 0, 0);
	says(",\"size\":4096,\"direction\":\"D2H\"", "so do a copy's size and direction");
	copy.direction = 99;
	mark_and_read("text_copy", copies, &copy, sizeof(copy), 0, 0);
	says(",\"direction\":\"unknown\"", "one that there is not is unknown");
}

static void test_ioctl(void)
{
	struct ct_ioctl p = { .cmd = _IOC(_IOC_READ | _IOC_WRITE, 'F', 0x2a, 32),
			      .device = CT_DEV_NVIDIACTL, .code = 0x20800102,
			      .have = CT_IOCTL_CONTROL | CT_IOCTL_STATUS };

	ok(mark_and_read("ioctl", CT_CLASS_ioctl, &p, sizeof(p), 0, 0), "an ioctl is marked");
	says("\"decoded\":{\"dir\":3,\"type\":70,\"nr\":42,\"size\":32},"
	     "\"escape\":\"NV_ESC_RM_CONTROL\",\"control\":\"0x20800102\",\"status\":\"NV_OK\","
	     "\"device\":\"nvidiactl\"", "its command is decoded, with escape and control");
	p = (struct ct_ioctl){ .cmd = 0x30000001, .device = CT_DEV_UVM, .code = 0x41,
			       .have = CT_IOCTL_CLASS | CT_IOCTL_STATUS, .status = 0x1f };
	mark_and_read("ioctl", CT_CLASS_ioctl, &p, sizeof(p), 0, 0);
	says("\"escape\":\"UVM_INITIALIZE\",\"class\":\"0x41\",\"status\":\"0x1f\","
	     "\"device\":\"nvidia-uvm\"", "so are those of UVM, a class and a status that failed");
	p = (struct ct_ioctl){ .cmd = _IO('x', 1), .device = 7 };
	mark_and_read("ioctl", CT_CLASS_ioctl, &p, sizeof(p), 0, 0);
	says("\"size\":0},\"device\":\"nvidia7\"", "an unknown ioctl has no name");
}

int main(void)
{
	struct session s;

	if (session_start(&s, 65536, 4, CT_SESSION_OVERWRITE)) {
		printf("Bail out! no session\n");
		return 1;
	}
	producer = device(O_WRONLY);
	reader = device(O_RDONLY | O_NONBLOCK);
	test_numbers();
	test_names();
	test_top();
	test_ioctl();
	return tap_done();
}
