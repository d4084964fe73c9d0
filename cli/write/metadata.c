// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing TSDL.  Names come from traced programs: must never let one end a
 * string, a comment or a statement.
 */
#include "write/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out.h"
#include "write/registry_line.h"
#include "write/usage.h"
#include "decode/nv_decode.h"
#include "trace/directory.h"
#include "trace/names.h"

static const char *const stream_word[] = { "CPU", "thread", "state", "GPU" };

/*
 * A TSDL string literal.  As JSON's but for control characters, which become '?'
 * (babeltrace2 takes \u for a character of a wide string).
 */
static void metadata_put_literal(struct ct_out *out, const char *text)
{
	char clean[2048];
	size_t len = strnlen(text, sizeof(clean) - 1);

	for (size_t i = 0; i < len; i++)
		clean[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
	ct_out_json(out, clean, len);
}

static void metadata_put_env(struct ct_out *out, const char *key, const char *text)
{
	static const char *const reserved[] = {
		"align", "callsite", "char", "clock", "const", "double", "enum", "env", "event",
		"float", "floating_point", "int", "integer", "long", "short", "signed", "stream",
		"string", "struct", "trace", "typealias", "typedef", "unsigned", "variant", "void",
	};
	char name[64];
	size_t len = strnlen(key, sizeof(name) - 2);

	for (size_t i = 0; i < len; i++) {
		char c = key[i];

		name[i] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			  (c >= '0' && c <= '9' && i) ? c : '_';
	}
	name[len] = 0;
	if (!len || ct_word_index(reserved, sizeof(reserved) / sizeof(*reserved), name) >= 0)
		strcat(name, "_");
	ct_out_char(out, '\t');
	ct_out_text(out, name);
	ct_out_text(out, " = ");
	metadata_put_literal(out, text);
	ct_out_text(out, ";\n");
}

/* ------------------------------------------------ the registry as comment --- */

/* No line may hold the end of the comment.  @line is NULL where there was no memory for it. */
static void metadata_put_line(struct ct_out *out, char *line)
{
	if (!line) {
		out->error = -ENOMEM;
		return;
	}
	ct_out_text(out, "@ ");
	for (const char *p = line; *p; p++) {
		if (*p == '*')
			ct_out_text(out, "%2A");
		else
			ct_out_char(out, *p);
	}
	free(line);
}

static void metadata_put_registry(struct ct_out *out, const struct ct_registry *reg)
{
	metadata_put_line(out, ct_registry_head_line(reg->uuid, reg->start, reg->realtime));
	for (unsigned int i = CT_CLASS_DYNAMIC; i <= CT_CLASS_MAX; i++)
		if (reg->classes[i])
			metadata_put_line(out, ct_registry_class_line(i, reg->classes[i]));
	for (unsigned int i = 1; i < reg->strings_count; i++)
		if (reg->strings[i])
			metadata_put_line(out, ct_registry_string_line(i, reg->strings[i]));
	for (unsigned int i = 0; i < reg->infos_count; i++)
		metadata_put_line(out, ct_registry_info_line(reg->infos[i].key,
							     reg->infos[i].text));
}

/* ------------------------------------------------------------------ types --- */

static void metadata_put_integer(struct ct_out *out, const char *name, unsigned int bits,
				 bool is_signed, bool hex, bool clock)
{
	char line[256];

	/* 48 bits are aligned to 8 bytes: 16 other bits follow them. */
	snprintf(line, sizeof(line),
		 "typealias integer { size = %u; align = %u; signed = %s; base = %u;%s } := %s;\n",
		 bits, bits == 48 ? 64 : bits, is_signed ? "true" : "false", hex ? 16 : 10,
		 clock ? " map = clock.monotonic.value;" : "", name);
	ct_out_text(out, line);
}

/* An enumeration that is built label by label; without one it is an integer. */
struct labels {
	struct ct_out *out;
	const char *base, *name;
	unsigned int count;
};

static void metadata_put_label(struct labels *l, const char *label, uint64_t value)
{
	if (!label)
		return;
	if (!l->count++) {
		ct_out_text(l->out, "typealias enum : ");
		ct_out_text(l->out, l->base);
		ct_out_text(l->out, " {\n\t");
	} else {
		ct_out_text(l->out, ",\n\t");
	}
	metadata_put_literal(l->out, label);
	ct_out_text(l->out, " = ");
	ct_out_u64(l->out, value);
}

static void metadata_end_labels(struct labels *l)
{
	if (!l->count)
		metadata_put_label(l, "none", 0);
	ct_out_text(l->out, "\n} := ");
	ct_out_text(l->out, l->name);
	ct_out_text(l->out, ";\n");
}

static void metadata_put_enums(struct ct_out *out, const struct ct_registry *reg,
			       const struct ct_usage *usage, struct ct_names *names, bool gpu)
{
	struct labels l = { out, "uint32_t", "ct_str", 0 };

	metadata_put_label(&l, "", 0);
	for (size_t i = 0; i < usage->strings.count; i++)
		metadata_put_label(&l, ct_names_string(names, usage->strings.list[i].number),
				   usage->strings.list[i].number);
	metadata_end_labels(&l);

	l = (struct labels){ out, "uint16_t", "ct_class", 0 };
	for (unsigned int i = 0; i <= CT_CLASS_MAX && l.count < CT_USAGE_LABELS; i++)
		if (reg->classes[i] && reg->classes[i]->layer == CT_LAYER_USER)
			metadata_put_label(&l, reg->classes[i]->name, i);
	metadata_end_labels(&l);

	l = (struct labels){ out, "uint32_t", "ct_dir", 0 };
	for (unsigned int i = 0; i < CT_DIR_COUNT; i++)
		metadata_put_label(&l, ct_direction_word[i], i);
	metadata_end_labels(&l);

	l = (struct labels){ out, "uint16_t", "ct_memk", 0 };
	for (unsigned int i = 0; gpu && i < CT_MEMKIND_COUNT; i++)
		metadata_put_label(&l, ct_memkind_word[i], i);
	if (gpu)
		metadata_end_labels(&l);

	l = (struct labels){ out, "uint32_t", "ct_dev", 0 };
	for (unsigned int i = 0; i < 32; i++) {
		char buf[24];

		metadata_put_label(&l, ct_name_device(i, buf), i);
	}
	metadata_put_label(&l, "nvidiactl", CT_DEV_NVIDIACTL);
	metadata_put_label(&l, "nvidia-uvm", CT_DEV_UVM);
	metadata_put_label(&l, "nvidia-uvm-tools", CT_DEV_UVM_TOOLS);
	metadata_put_label(&l, "nvidia-modeset", CT_DEV_MODESET);
	metadata_put_label(&l, "unknown", CT_DEV_UNKNOWN);
	metadata_end_labels(&l);

	for (unsigned int bits = 16; bits <= 32; bits += 16) {
		l = (struct labels){ out, bits == 16 ? "uint16_t" : "uint32_t",
				     bits == 16 ? "ct_cures16" : "ct_cures", 0 };
		for (unsigned int i = 0; i < 1000; i++)
			metadata_put_label(&l, cu_result_name(i), i);
		metadata_end_labels(&l);
	}

	l = (struct labels){ out, "uint32_t", "ct_nvst", 0 };
	for (size_t i = 0; i < usage->statuses.count; i++)
		metadata_put_label(&l, nv_status_name(usage->statuses.list[i].number),
				   usage->statuses.list[i].number);
	metadata_end_labels(&l);

	l = (struct labels){ out, "uint32_t", "ct_nvcode", 0 };
	for (size_t i = 0; i < usage->codes.count; i++)
		metadata_put_label(&l, ct_name_code(usage->codes.list[i].number, usage->codes.list[i].have),
				   usage->codes.list[i].number);
	metadata_end_labels(&l);
}

/* --------------------------------------------------------------- streams --- */

static void metadata_put_stream(struct ct_out *out, unsigned int kind)
{
	char line[128];

	snprintf(line, sizeof(line), "\nstream { /* %s */\n\tid = %u;\n", stream_word[kind], kind);
	ct_out_text(out, line);
	/* struct ct_packet, from ts_begin on */
	ct_out_text(out,
		    "\tpacket.context := struct {\n"
		    "\t\tct_ts64 timestamp_begin;\n"
		    "\t\tct_ts64 timestamp_end;\n"
		    "\t\tuint64_t content_size;\n"
		    "\t\tuint64_t packet_size;\n"
		    "\t\tuint64_t packet_seq_num;\n"
		    "\t\tuint64_t events_discarded;\n"
		    "\t\tuint32_t cpu_id;\n"
		    "\t\tuint32_t pid;\n"
		    "\t\tuint32_t tid;\n"
		    "\t\tuint32_t reserved;\n"
		    "\t\tuint64_t op_base;\n"
		    "\t};\n"
		    "\tevent.header := struct {\n"
		    "\t\tct_ts48 timestamp;\n"
		    "\t\tuint16_t id;\n"
		    "\t} align(64);\n");
	if (kind == CT_STREAM_THREAD || kind == CT_STREAM_GPU)	/* struct ct_thread_record */
		ct_out_text(out,
			    "\tevent.context := struct {\n"
			    "\t\tuint32_t op;\n"
			    "\t\tuint8_t depth;\n"
			    "\t\tct_flags flags;\n"
			    "\t\tct_cures16 result;\n"
			    "\t\tct_u48 duration;\n"
			    "\t\tuint16_t cpu;\n"
			    "\t};\n};\n");
	else	/* struct ct_cpu_record */
		ct_out_text(out,
			    "\tevent.context := struct {\n"
			    "\t\tuint32_t pid;\n"
			    "\t\tuint32_t tid;\n"
			    "\t\tuint64_t op;\n"
			    "\t\tct_u48 duration;\n"
			    "\t\tuint8_t depth;\n"
			    "\t\tct_flags flags;\n"
			    "\t\tint64_t result;\n"
			    "\t};\n};\n");
}

/* The TSDL type of a field.  @named: the value gets its name, by an enumeration. */
static const char *metadata_tsdl_type(unsigned int type, bool named)
{
	static const char *const plain[CT_TYPE_COUNT] = {
		[CT_TYPE_u8] = "uint8_t", [CT_TYPE_u16] = "uint16_t",
		[CT_TYPE_u32] = "uint32_t", [CT_TYPE_u64] = "uint64_t",
		[CT_TYPE_s8] = "int8_t", [CT_TYPE_s16] = "int16_t",
		[CT_TYPE_s32] = "int32_t", [CT_TYPE_s64] = "int64_t",
		[CT_TYPE_x8] = "ct_x8", [CT_TYPE_x16] = "ct_x16",
		[CT_TYPE_x32] = "ct_x32", [CT_TYPE_x64] = "ct_x64",
		[CT_TYPE_str] = "uint32_t", [CT_TYPE_class] = "uint16_t",
		[CT_TYPE_dir] = "uint32_t", [CT_TYPE_dev] = "uint32_t",
		[CT_TYPE_cures] = "uint32_t", [CT_TYPE_nvst] = "ct_x32",
		[CT_TYPE_nvcode] = "ct_x32", [CT_TYPE_text] = "uint16_t",
		[CT_TYPE_memk] = "uint16_t",
	};
	static const char *const enumerated[CT_TYPE_COUNT] = {
		[CT_TYPE_str] = "ct_str", [CT_TYPE_class] = "ct_class",
		[CT_TYPE_dir] = "ct_dir", [CT_TYPE_dev] = "ct_dev",
		[CT_TYPE_cures] = "ct_cures", [CT_TYPE_nvst] = "ct_nvst",
		[CT_TYPE_nvcode] = "ct_nvcode", [CT_TYPE_memk] = "ct_memk",
	};

	return named && enumerated[type] ? enumerated[type] : plain[type];
}

static void metadata_put_event(struct ct_out *out, unsigned int id, const struct ct_class *class,
			       unsigned int kind, bool named)
{
	char line[64];

	ct_out_text(out, "\nevent {\n\tname = ");
	metadata_put_literal(out, class->name);
	snprintf(line, sizeof(line), ";\n\tid = %u;\n\tstream_id = %u;\n", id, kind);
	ct_out_text(out, line);
	ct_out_text(out, "\tfields := struct {\n");
	for (unsigned int i = 0; i < class->fields_count; i++) {
		const struct ct_class_field *field = &class->fields[i];
		const char *name = field->name;

		ct_out_text(out, "\t\t");
		ct_out_text(out, metadata_tsdl_type(field->type, named));
		/* Readers remove a first '_': so no field is a keyword. */
		if (field->type == CT_TYPE_text) {
			/* The empty struct covers the padding at the end of the record. */
			ct_out_text(out, " __");
			ct_out_text(out, name);
			ct_out_text(out, "_length;\n\t\tct_char _");
			ct_out_text(out, name);
			ct_out_text(out, "[__");
			ct_out_text(out, name);
			ct_out_text(out, "_length];\n\t\tstruct { } align(64) __end;\n");
		} else {
			ct_out_text(out, " _");
			ct_out_text(out, name);
			ct_out_text(out, ";\n");
		}
	}
	ct_out_text(out, "\t} align(64);\n};\n");
}

static void metadata_put_head(struct ct_out *out, const struct ct_registry *reg)
{
	int64_t offset = reg->realtime > reg->start ? reg->realtime - reg->start : 0;
	char line[256], *p = line;

	ct_out_text(out, "\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (unsigned int i = 0; i < 16; i++)
		p += sprintf(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			     reg->uuid[i]);
	ct_out_text(out, line);
	ct_out_text(out, "\";\n\tbyte_order = le;\n"
		    "\tpacket.header := struct {\n"
		    "\t\tuint32_t magic;\n"
		    "\t\tuint8_t uuid[16];\n"
		    "\t\tuint32_t stream_id;\n"
		    "\t};\n};\n\nenv {\n");
	metadata_put_env(out, "tracer_name", "cudatrace");
	metadata_put_env(out, "tracer_version", CT_VERSION);
	for (unsigned int i = 0; i < reg->infos_count; i++) {
		const char *key = reg->infos[i].key;

		/* Where a key is there twice, the last counts. */
		if (ct_registry_info(reg, key) == reg->infos[i].text &&
		    strcmp(key, "tracer_name") && strcmp(key, "tracer_version"))
			metadata_put_env(out, key, reg->infos[i].text);
	}
	snprintf(line, sizeof(line),
		 "};\n\nclock {\n\tname = monotonic;\n\tdescription = \"CLOCK_MONOTONIC\";\n"
		 "\tfreq = 1000000000;\n\toffset_s = %lld;\n\toffset = %lld;\n"
		 "\tabsolute = FALSE;\n};\n\n",
		 (long long)offset / 1000000000, (long long)offset % 1000000000);
	ct_out_text(out, line);
}

static void metadata_put_all(struct ct_out *out, const struct ct_trace *t,
			     const struct ct_usage *usage, struct ct_names *names)
{
	static const unsigned int widths[] = { 8, 16, 32, 64 };
	const struct ct_registry *reg = &t->reg;
	unsigned int last = CT_STREAM_STATE;
	char name[16];

	for (unsigned int i = 0; i < t->streams_count; i++)
		if (t->streams[i].kind == CT_STREAM_GPU)
			last = CT_STREAM_GPU;
	ct_out_text(out, "/* CTF 1.8 */\n/*\nA trace of cudatrace " CT_VERSION
		    ".  The lines that begin with '@' are its registry: cudatrace\n"
		    "reads them where the trace was copied without its hidden files.\n\n");
	metadata_put_registry(out, reg);
	ct_out_text(out, "*/\n");

	for (unsigned int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "uint%u_t", widths[i]);
		metadata_put_integer(out, name, widths[i], false, false, false);
		snprintf(name, sizeof(name), "int%u_t", widths[i]);
		metadata_put_integer(out, name, widths[i], true, false, false);
		snprintf(name, sizeof(name), "ct_x%u", widths[i]);
		metadata_put_integer(out, name, widths[i], false, true, false);
	}
	ct_out_text(out, "typealias integer { size = 8; align = 8; encoding = UTF8; } := ct_char;\n");
	metadata_put_head(out, reg);
	metadata_put_integer(out, "ct_ts48", 48, false, false, true);
	metadata_put_integer(out, "ct_ts64", 64, false, false, true);
	metadata_put_integer(out, "ct_u48", 48, false, false, false);
	metadata_put_integer(out, "ct_flags", 8, false, true, false);
	metadata_put_enums(out, reg, usage, names, last == CT_STREAM_GPU);

	for (unsigned int kind = CT_STREAM_CPU; kind <= last; kind++)
		metadata_put_stream(out, kind);
	for (unsigned int i = 0; i <= CT_CLASS_MAX; i++) {
		const struct ct_class *class = reg->classes[i];

		if (!class)
			continue;
		for (unsigned int kind = CT_STREAM_CPU; kind <= last; kind++) {
			bool used = usage->classes[class->id] & 1u << kind;

			/* What the GPU did has streams of its own, with nothing else in them. */
			if (!used && (kind == CT_STREAM_GPU ? class->layer != CT_LAYER_GPU :
				      i < CT_CLASS_DYNAMIC && class->layer == CT_LAYER_GPU))
				continue;

			if (i >= CT_CLASS_DYNAMIC && !used &&
			    (kind == CT_STREAM_STATE ||
			     (kind == CT_STREAM_THREAD && class->layer != CT_LAYER_USER)))
				continue;
			metadata_put_event(out, i, class, kind, used);
		}
	}
}

int ct_metadata_write(const struct ct_trace *t, struct ct_error *err)
{
	char path[4096], temporary[4200];
	struct ct_usage usage;
	struct ct_names names;
	struct ct_out out;
	int fd, rc;

	if (ct_path(path, sizeof(path), t->dir, CT_METADATA_FILE))
		return ct_fail(err, ENAMETOOLONG, "%.100s...: the path is too long", t->dir);
	snprintf(temporary, sizeof(temporary), "%s/.metadata.%d", t->dir, getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return ct_fail(err, errno, "%s: %s", temporary, strerror(errno));
	rc = ct_usage_collect(&usage, t);
	if (!rc)
		rc = ct_names_init(&names, &t->reg);
	if (!rc) {
		rc = ct_out_open(&out, fd);
		if (!rc) {
			metadata_put_all(&out, t, &usage, &names);
			rc = ct_out_close(&out);
		}
		ct_names_forget(&names);
	}
	ct_usage_free(&usage);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc) {
		unlink(temporary);
		return ct_fail(err, -rc, "%s: %s", path, strerror(-rc));
	}
	return 0;
}
