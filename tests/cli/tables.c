// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables and their formats by themselves.
 *
 *	tables				the tests; prints TAP
 *	tables print FORMAT		a table with each type and texts of every kind, for judges
 *	tables several FORMAT COUNT	COUNT tables
 *	tables stream FORMAT ROWS	rows one by one
 *	tables short [COLUMNS]		short names of the names on stdin
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../cli/table/format.h"
#include "../../cli/table/short_name.h"
#include "../tap.h"

static const struct ct_column every_type[] = {
	{ "Text", NULL, CT_CELL_TEXT, 0 },
	{ "Kernel", NULL, CT_CELL_KERNEL, 0 },
	{ "Count", NULL, CT_CELL_COUNT, 0 },
	{ "Id", NULL, CT_CELL_ID, 0 },
	{ "Hex", NULL, CT_CELL_HEX, 0 },
	{ "Time (ns)", NULL, CT_CELL_NS, 0 },
	{ "At (ns)", "at", CT_CELL_TIME, 0 },
	{ "Size (bytes)", NULL, CT_CELL_BYTES, 0 },
	{ "Avg (ns)", NULL, CT_CELL_NS_MEAN, 0 },
	{ "Avg (bytes)", "avg size", CT_CELL_BYTES_MEAN, 0 },
	{ "Number", NULL, CT_CELL_NUMBER, 0 },
	{ "Time (%)", NULL, CT_CELL_PERCENT, 0 },
};
#define TYPES (sizeof(every_type) / sizeof(*every_type))

static const char *const hostile[] = {
	"plain", "", "a,b", "say \"hi\"", "two\nlines", "car\rriage", "tab\there", "=1+1", "-x", "@y",
	"esc\033[31mred", "bell\007", "invalid \xff\xfe end", "half \xc3", "gemm_\xc3\xa9\xe2\x82\xac",
	"c1 \xc2\x9b" "31m", " space ", "back\\slash", "\"", "\x7f",
};
#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

static void fill(struct ct_cell *cells, uint64_t u, double d)
{
	cells[0] = ct_const("cuMemAlloc");
	cells[1] = ct_const("void ns::add<float, 3ul>(float*, int)");
	for (unsigned int i = 2; i < 8; i++)
		cells[i] = ct_u64(u);
	for (unsigned int i = 8; i < TYPES; i++)
		cells[i] = ct_double(d);
}

static void every_row(struct ct_table *t)
{
	ct_table_begin(t, "every_type", "Every type (of cell)", every_type, TYPES);
	fill(ct_table_row(t), 1234567, 1234.56);
	ct_table_row(t);
	fill(ct_table_row(t), UINT64_MAX, -0.04);
	fill(ct_table_row(t), 0, 0.25);
	fill(ct_table_row(t), 31, NAN);
	for (unsigned int i = 0; i < HOSTILE; i++) {
		struct ct_cell *cells = ct_table_row(t);

		cells[0] = ct_text(t, hostile[i]);
		cells[1] = ct_const(hostile[i]);
		cells[2] = ct_u64(i);
	}
	ct_table_note(t, "a note of %d\033[1m words", 4);
	ct_table_end(t);
}

/* ------------------------------------------------------------- for judges --- */

static int print(int argc, char **argv)
{
	static const struct ct_column columns[] = { { "Name, \"quoted\"", NULL, CT_CELL_TEXT, 0 } };
	const struct ct_format *format = argc > 2 ? ct_format_find(argv[2]) : NULL;
	unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	bool several = !strcmp(argv[1], "several");
	struct ct_printer *p;
	struct ct_table t;
	char name[32];
	int rc;

	if (!format)
		return 2;
	p = ct_printer_open(format, stdout, NULL, several);
	if (!strcmp(argv[1], "stream")) {
		ct_table_begin(&t, "streamed", "Streamed", every_type, TYPES);
		ct_table_stream(&t, ct_printer_row, p);
		ct_printer_begin(p, &t);
		for (unsigned long i = 0; i < n && !t.error; i++)
			fill(ct_table_row(&t), i * 1000, i * 0.7);
		ct_table_end(&t);
		ct_printer_end(p, &t);
		ct_table_free(&t);
	}
	for (unsigned long i = 0; several && i < n; i++) {
		snprintf(name, sizeof(name), "table_%lu", i);
		ct_table_begin(&t, name, "One of several", columns, 1);
		for (unsigned long row = 0; row < i; row++)
			ct_table_row(&t)[0] = ct_format(&t, "row %lu", row);
		ct_table_row(&t);
		ct_table_end(&t);
		ct_printer_table(p, &t);
		ct_table_free(&t);
	}
	if (!strcmp(argv[1], "print")) {
		every_row(&t);
		ct_printer_table(p, &t);
		ct_table_free(&t);
	}
	rc = ct_printer_close(p);
	if (rc)
		fprintf(stderr, "error %d\n", -rc);
	return rc ? 1 : 0;
}

static int shorten(unsigned int columns)
{
	char *line = NULL, buf[1024];
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		puts(ct_short_kernel_fit(buf, sizeof(buf), line, columns));
	}
	free(line);
	return 0;
}

/* -------------------------------------------------------------------- tests --- */

static char output[1 << 16];

/* What @format makes of @t; in the end of @output. */
static const char *printed(const struct ct_table *t, const char *format,
			   const struct ct_print_options *options)
{
	FILE *file = tmpfile();
	struct ct_printer *p = ct_printer_open(ct_format_find(format), file, options, false);
	ssize_t n;

	ct_printer_table(p, t);
	if (ct_printer_close(p))
		return "error";
	n = pread(fileno(file), output, sizeof(output) - 1, 0);
	output[n > 0 ? n : 0] = 0;
	fclose(file);
	return output;
}

/* A text that was not the right one. */
static void show(int good, const char *text)
{
	if (!good)
		printf("%s\n", text);
}

static unsigned int widest(const char *text)
{
	unsigned int most = 0, columns = 0;

	for (; *text; text++) {
		columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
		most = columns > most ? columns : most;
	}
	return most;
}

static void model(void)
{
	static const struct ct_column columns[] = {
		{ "Total (ns)", "total", CT_CELL_NS, 0 },
		{ "Name", NULL, CT_CELL_TEXT, 0 },
		{ "Share", "Name", CT_CELL_PERCENT, 0 },
	};
	static const int order[] = { 5, 3, 9, 5, -1, 3, 0, -1, 5 };
	struct ct_table t;
	struct ct_cell *cells;
	char long_text[200000], seen[64] = "";

	ct_table_begin(&t, "model", "Model", columns, 3);
	for (unsigned int i = 0; i < 9; i++) {
		cells = ct_table_row(&t);
		ok(!cells[0].some && !cells[1].some && !cells[2].some, "a new row knows nothing");
		if (order[i] >= 0)
			cells[0] = ct_u64(order[i]);
		cells[1] = ct_format(&t, "%c", 'a' + i);
		cells[2] = order[i] == 9 ? ct_double(NAN) : ct_double(order[i] / 2.0);
	}
	ok(ct_table_end(&t) == 0 && t.rows == 9, "nine rows");
	ct_table_sort(&t, 0, true);
	for (unsigned int i = 0; i < t.rows; i++)
		strcat(seen, t.cells[i * 3 + 1].text);
	ok(!strcmp(seen, "cadibfgeh"), "sorted downwards, equal rows in their order, unknown last: %s", seen);
	ct_table_sort(&t, 0, false);
	for (unsigned int i = *seen = 0; i < t.rows; i++)
		strcat(seen, t.cells[i * 3 + 1].text);
	ok(!strcmp(seen, "gbfadiceh"), "and upwards: %s", seen);
	ct_table_sort(&t, 1, true);
	for (unsigned int i = *seen = 0; i < t.rows; i++)
		strcat(seen, t.cells[i * 3 + 1].text);
	ok(!strcmp(seen, "ihgfedcba"), "by a text: %s", seen);
	ct_table_sort(&t, 2, false);
	ok(t.cells[8 * 3 + 1].text[0] == 'c', "what is no number comes last");
	ok(ct_table_sort(&t, 3, false) == -EINVAL, "no such column");
	ok(ct_table_column(columns, 3, "TOTAL (NS)") == 0 && ct_table_column(columns, 3, "total") == 0 &&
	   ct_table_column(columns, 3, "name") == 1 && ct_table_column(columns, 3, "none") == -1,
	   "columns by name and head");
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	cells = ct_table_row(&t);
	cells[1] = ct_text(&t, long_text);
	cells = ct_table_row(&t);
	cells[1] = ct_text(&t, "after");
	ok(ct_table_end(&t) == 0 && !strcmp(t.cells[9 * 3 + 1].text, long_text) &&
	   !strcmp(t.cells[10 * 3 + 1].text, "after"), "long texts, and rows after the end");
	ok(!ct_text(&t, NULL).some && !ct_const(NULL).some, "no text: unknown");
	ct_table_free(&t);
}

static int refuse_third(void *arg, const struct ct_table *t, const struct ct_cell *row)
{
	unsigned int *count = arg;

	(void)t;
	return !row[0].some || strcmp(row[0].text, "text") || ++*count == 3 ? -ENOSPC : 0;
}

static void streaming(void)
{
	static const struct ct_column columns[] = { { "Name", NULL, CT_CELL_TEXT, 0 } };
	unsigned int count = 0;
	struct ct_table t;

	ct_table_begin(&t, "stream", "Stream", columns, 1);
	ct_table_stream(&t, refuse_third, &count);
	for (unsigned int i = 0; i < 10; i++)
		ct_table_row(&t)[0] = ct_text(&t, "text");
	ok(ct_table_end(&t) == -ENOSPC && count == 3 && !t.rows && !t.cells,
	   "rows go to the receiver until it fails, and none is kept");
	ct_table_free(&t);
}

static void for_people(void)
{
	static const struct ct_column columns[] = {
		{ "Share", NULL, CT_CELL_PERCENT, 0 }, { "Total (ns)", NULL, CT_CELL_NS, 0 },
		{ "Calls", NULL, CT_CELL_COUNT, 0 },   { "Med (ns)", NULL, CT_CELL_NS_MEAN, 1 },
		{ "P99", NULL, CT_CELL_NS, 2 },	       { "Name", NULL, CT_CELL_KERNEL, 0 },
	};
	struct ct_print_options options = { .width = 80, .top = 2 };
	struct ct_table t;
	const char *text;

	ct_table_begin(&t, "sum", "GPU kernels (by time): x", columns, 6);
	ok(!strcmp(printed(&t, "table", &options), "GPU KERNELS (by time): x\n  (none)\n"),
	   "an empty table");
	for (unsigned int i = 0; i < 4; i++) {
		struct ct_cell *cells = ct_table_row(&t);

		cells[0] = ct_double(41.26);
		cells[1] = ct_u64(1234567890 >> 10 * i);
		cells[2] = ct_u64(282000);
		cells[3] = i ? ct_double(999.6) : (struct ct_cell){ 0 };
		cells[4] = ct_u64(7);
		cells[5] = ct_const("void ns::reduce_rows<512, 1, ns::ReduceOp<float, ns::func_wrapper_t<float, ns::MaxNanFunctor<float> >, unsigned int, float, 4, 4> >(int)");
	}
	ct_table_note(&t, "see\033[31m");
	ct_table_end(&t);
	text = printed(&t, "table", &options);
	show(ok(!strcmp(text,
		"GPU KERNELS (by time): x\n"
		"   Share    Total    Calls      Med  Name\n"
		"  41.3 %  1.235 s  282,000        -  reduce_rows<512, 1, ReduceOp<func_wrapper_~\n"
		"  41.3 %  1.21 ms  282,000  1.00 us  reduce_rows<512, 1, ReduceOp<func_wrapper_~\n"
		"  ... and 2 more; --top 0 shows all\n"
		"  see?[31m\n"), "80 columns: P99 is left out, the name is cut"), text);
	options.width = 160;
	options.top = 0;
	text = printed(&t, "table", &options);
	show(ok(strstr(text, "P99  Name") && strstr(text, "MaxNanFunctor<float>>, ..>>\n") &&
	   !strstr(text, "more;") && widest(text) <= 160, "160 columns: all"), text);
	for (options.width = 60; options.width < 200; options.width++)
		if (widest(printed(&t, "table", &options)) > options.width)
			break;
	ok(options.width == 200, "no line is wider than the terminal (%u)", options.width);
	options.colour = true;
	ok(!strncmp(printed(&t, "table", &options), "\033[1mGPU KERNELS (by time): x\033[0m\n", 32),
	   "a title in bold");
	ct_table_free(&t);

	every_row(&t);
	options = (struct ct_print_options){ 0 };
	text = printed(&t, "table", &options);
	show(ok(strstr(text, "  cuMemAlloc      ns::add<float, 3>                   1,234,567               1234567            0x12d687            1.23 ms ") &&
	   strstr(text, "1.234 ms") && strstr(text, "1.18 MiB"), "numbers with units"), text);
	show(ok(!!strstr(text, "1.24 us  1.21 KiB  1,234.56  1234.6 %\n"), "means and percents"), text);
	ok(strstr(text, "Text ") && strstr(text, " Time  ") && strstr(text, "  at  ") && !strstr(text, "(ns)"),
	   "heads without units");
	ok(!strpbrk(text, "\033\007\r\t\x7f") && !strstr(text, "\xc2\x9b") && !strstr(text, "\xff") &&
	   strstr(text, "gemm_\xc3\xa9\xe2\x82\xac"), "hostile texts are harmless");
	ok(!strstr(text, " \n"), "no spaces at the end of a line");
	ct_table_free(&t);
}

/* Which columns of a table that is too wide stay. */
static void narrow(void)
{
	static const struct ct_column columns[] = {
		{ "Pid", "pid", CT_CELL_ID, 9 }, { "Process", "process", CT_CELL_TEXT, 8 },
		{ "Off", "off", CT_CELL_COUNT, 2 }, { "Off (ns)", "off for", CT_CELL_NS, 2 },
		{ "On", "on", CT_CELL_COUNT, 2 }, { "On (ns)", "on for", CT_CELL_NS, 2 },
		{ "Calls", "calls", CT_CELL_COUNT, 0 }, { "Name", "name", CT_CELL_TEXT, 1 },
	};
	struct ct_print_options options = { 0 };
	unsigned int pairs = 0, pids = 0, names = 0, widths = 0;
	struct ct_table t;
	const char *text;

	for (unsigned int several = 0; several < 2; several++) {
		ct_table_begin(&t, "narrow", "Narrow", columns, 8);
		for (unsigned int i = 0; i < 3; i++) {
			struct ct_cell *cells = ct_table_row(&t);

			cells[0] = ct_u64(several ? 4000 + i : 4000);
			cells[1] = ct_const("python3");
			for (unsigned int k = 2; k < 7; k++)
				cells[k] = ct_u64(1234567 * k);
			cells[7] = ct_format(&t, "a rather long name of row number %u", i);
		}
		ct_table_end(&t);
		for (options.width = 30; options.width <= 120; options.width++) {
			text = strchr(printed(&t, "table", &options), '\n') + 1;
			widths++;
			pairs += !strstr(text, " off ") == !strstr(text, " off for") && !strstr(text, " on ") == !strstr(text, " on for");
			pids += !several || strstr(text, "pid");
			/* The name goes only after all figures that may go. */
			names += strstr(text, " name") || !strstr(text, "off for");
		}
		ok(several || !strstr(printed(&t, "table", &(struct ct_print_options){ .width = 70 }), "pid"),
		   "a pid that is the same in all rows goes first");
		ct_table_free(&t);
	}
	ok(pairs == widths, "pairs of columns stay or go together (%u of %u widths)", pairs, widths);
	ok(pids == widths, "the pid stays where there are two (%u)", pids);
	ok(names == widths, "names go last (%u)", names);
	ct_table_begin(&t, "whole", "Whole", every_type, 2);
	ct_table_row(&t)[1] = ct_const("void ns::a_kernel_with_a_long_name<float, int, 3>(float const*, float const*, unsigned long)");
	ct_table_end(&t);
	options = (struct ct_print_options){ .width = 60, .full_names = true };
	ok(!!strstr(printed(&t, "table", &options), "a_kernel_with_a_long_name<float, int, 3>(float const*, float const*, unsigned long)\n"),
	   "whole names where they are asked for");
	ct_table_free(&t);
}

/* Words go on in lines below; a column that a note tells is not shown; a note goes with its column. */
static void words(void)
{
	static const struct ct_column columns[] = {
		{ "Count", "count", CT_CELL_COUNT, 0 }, { "Idle (ns)", "GPU idle", CT_CELL_NS, 1 },
		{ "Found By", "found by", CT_CELL_TEXT, CT_COLUMN_NOTED }, { "Difference", "what was different", CT_CELL_WORDS, 0 },
	};
	struct ct_print_options options = { .width = 60 };
	struct ct_table t;
	struct ct_cell *cells;
	const char *text;

	ct_table_begin(&t, "words", "Words", columns, 4);
	cells = ct_table_row(&t);
	cells[0] = ct_u64(7);
	cells[1] = ct_u64(5000);
	cells[2] = ct_const("a pattern");
	cells[3] = ct_const("one gap of 41.4 ms before a kernel, in the application; one call of 3 ms");
	ct_table_note(&t, "GPU idle is measured.");
	ct_table_note(&t, "count: how many.");
	ct_table_end(&t);
	text = printed(&t, "table", &options);
	ok(strstr(text, "  count  GPU idle  what was different\n"
			"      7   5.00 us  one gap of 41.4 ms before a kernel, in\n"
			"                   the application; one call of 3 ms\n"
			"  GPU idle is measured.\n  count: how many.\n") != NULL, "words go on in lines below");
	show(strstr(text, "in\n                   the") != NULL, text);
	options.width = 40;
	text = printed(&t, "table", &options);
	ok(!strstr(text, "GPU idle") && strstr(text, "  count: how many.\n") && widest(text) <= 40,
	   "the note of a column that is left out is left out");
	show(!strstr(text, "GPU idle"), text);
	text = printed(&t, "csv", &options);
	ok(strstr(text, "7,5000,a pattern,\"one gap of 41.4 ms before a kernel, in the application; one call of 3 ms\"") != NULL,
	   "other formats have all of it");
	show(strstr(text, "a pattern") != NULL, text);
	ct_table_free(&t);
}

static void for_programs(void)
{
	struct ct_print_options options = { .top = 4, .width = 40, .colour = true };
	struct ct_table t;
	const char *text;

	every_row(&t);
	text = printed(&t, "csv", &options);
	show(ok(!strcmp(text,
		"Text,Kernel,Count,Id,Hex,Time (ns),At (ns),Size (bytes),Avg (ns),Avg (bytes),Number,Time (%)\n"
		"cuMemAlloc,\"void ns::add<float, 3ul>(float*, int)\",1234567,1234567,0x12d687,1234567,1234567,1234567,1234.6,1234.6,1234.56,1234.6\n"
		",,,,,,,,,,,\n"
		"cuMemAlloc,\"void ns::add<float, 3ul>(float*, int)\",18446744073709551615,18446744073709551615,0xffffffffffffffff,18446744073709551615,18446744073709551615,18446744073709551615,0.0,0.0,-0.04,0.0\n"
		"cuMemAlloc,\"void ns::add<float, 3ul>(float*, int)\",0,0,0x0,0,0,0,0.2,0.2,0.25,0.2\n"),
	   "csv"), text);
	text = printed(&t, "tsv", &options);
	show(ok(strstr(text, "\nvoid") == NULL && strstr(text, "cuMemAlloc\tvoid ns::add<float, 3ul>(float*, int)\t1234567\t"),
	   "tsv"), text);
	options.top = 0;
	text = printed(&t, "tsv", &options);
	ok(strstr(text, "\ntwo lines\ttwo lines\t") && strstr(text, "\ntab here\ttab here\t") &&
	   strstr(text, "\nsay \"hi\"\t"), "tsv: tabs and line ends become spaces");
	text = printed(&t, "csv", &options);
	ok(strstr(text, "\n=1+1,=1+1,7,") && strstr(text, "\n\"say \"\"hi\"\"\",") &&
	   strstr(text, "\n\"two\nlines\","), "csv: quotes where they are needed");
	ct_table_free(&t);
}

/* The decimals are those of printf. */
static void decimals(void)
{
	static const struct ct_column columns[] = {
		{ "a", NULL, CT_CELL_NS_MEAN, 0 }, { "b", NULL, CT_CELL_NUMBER, 0 },
	};
	unsigned int wrong = 0;
	struct ct_table t;
	char expect[64];
	const char *at;

	ct_table_begin(&t, "d", "d", columns, 2);
	for (unsigned int i = 0; i < 2000; i++) {
		struct ct_cell *cells = ct_table_row(&t);

		cells[0] = ct_double(i < 1000 ? i / 20.0 : i * 1e9 / 7 * (i % 2 ? 1 : -1));
		cells[1] = ct_double(i);
	}
	ct_table_end(&t);
	at = strchr(printed(&t, "csv", NULL), '\n') + 1;
	for (unsigned int i = 0; i < t.rows && at; i++) {
		snprintf(expect, sizeof(expect), "%.1f,%u\n", t.cells[2 * i].d, i);
		wrong += strncmp(at, expect, strlen(expect)) != 0;
		at = strchr(at, '\n') + 1;
	}
	ok(!wrong, "decimals are rounded as printf does");
	ct_table_free(&t);
}

static void errors(void)
{
	static const struct ct_column columns[] = { { "Name", NULL, CT_CELL_TEXT, 0 } };
	struct ct_printer *p;
	struct ct_table t;
	FILE *full = fopen("/dev/full", "w");

	ok(!ct_format_find("xml") && !strcmp(ct_format_names(), "table, csv, tsv, json") &&
	   !strcmp(ct_format_extension(ct_format_find("table")), "txt"), "names of formats");
	if (!full)
		return;
	ct_table_begin(&t, "e", "e", columns, 1);
	ct_table_row(&t)[0] = ct_const("x");
	ct_table_end(&t);
	p = ct_printer_open(ct_format_find("csv"), full, NULL, true);
	ct_printer_table(p, &t);
	ok(ct_printer_close(p) == -ENOSPC, "a full disk");
	fclose(full);
	ct_table_free(&t);
}

static void short_names(void)
{
	static const char *const names[][2] = {
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
		  "FillFunctor elementwise float vec4" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
		  "tanh elementwise float vec4" },
		{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, float, false, true, false, false, 9, false, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<float const>, float> >(cublasGemvParamsEx<int, float>)",
		  "gemvx::kernel<int, float, false, true, false, false, 9, false>" },
		{ "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)",
		  "gemm cutlass sm80 simt sgemm 64x64 tn align1" },
		{ "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float, cutlass::arch::Sm80, true>::Params)",
		  "fmha_cutlassF_f32_aligned_64x64_rf_sm80" },
		{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float)",
		  "vectorized_layer_norm_kernel<float, false>" },
		{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 4, true, false>(float*)",
		  "softmax_warp_forward<float, 4, true, false>" },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<long, at::native::func_wrapper_t<long, at::native::sum_functor<long, long, long>::operator()(at::TensorIterator&)::{lambda(long, long)#1}>, unsigned int, long, 4, 4> >(int)",
		  "sum_functor reduce long 512x1" },
		{ "void cudnn::engines_precompiled::nhwcToNchwKernel<float, float, float, true, false, (cudnnKernelDataType_t)2>(float const*)",
		  "nhwcToNchwKernel<float, true, false, 2>" },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
		  "gemm xmma sm80 f32 nt 32x32x8" },
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  "AllReduce f32 RING LL" },
		{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
		  "SendRecv nccl" },
		{ "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
		  "Generic 4 nccl" },
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
		  "AllReduce RING LL float" },
		{ "nvjet_sm90_hsh_96x64_64x9_1x2_h_bz_coopA_NTT",
		  "gemm nvjet sm90 hsh 96x64 NTT" },
		{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_bias_TNN",
		  "gemm nvjet hsh 128x256 bias TNN" },
		{ "ampere_sgemm_128x64_tn",
		  "gemm ampere sgemm 128x64 tn" },
		{ "ampere_fp16_s16816gemm_fp16_128x64_sliced1x2_ldg8_f2f_stages_64x5_tn",
		  "gemm ampere fp16 s16816gemm 128x64 tn" },
		{ "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_warpspecialized_cooperative_epi_tma",
		  "gemm cutlass3x sm90 s64x128x16gemm f16 f32 128x128x64 tnn align8" },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_s1688bf16gemm_64x64_16x6_nn_align1>(cutlass_80_tensorop_s1688bf16gemm_64x64_16x6_nn_align1::Params)",
		  "gemm cutlass sm80 s1688bf16gemm 64x64 nn align1" },
		{ "triton_poi_fused_add_mul_0",
		  "add_mul_0 triton pointwise" },
		{ "triton_red_fused__to_copy_mean_1",
		  "to_copy_mean_1 triton reduction" },
		{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)0, false>, float const*, double, double, double, double, double, bool, float const*, float const*, (at::native::ADAM_MODE)0>(int)",
		  "FusedAdamMathFunctor multi_tensor float" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
		  "MulFunctor elementwise Half float vec4" },
		{ "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>, at::native::index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1} const&, bool)::{lambda(int)#1}>(long, int)",
		  "index elementwise index long 128x4" },
		{ "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > const&)::{lambda(int)#1})",
		  "MulFunctor elementwise scalar float 128x2" },
		{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor<float, 2, 1, 1>, at::native::Sqrt<float> >(at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor<float, 2, 1, 1>, at::native::Sqrt<float>)",
		  "Sqrt multi_tensor float UnaryOpFunctor" },
		{ "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2}, at::native::(anonymous namespace)::distribution_nullary_kernel<float, float, float4, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2}, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2} const&, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(int, float)#1}>(long, at::PhiloxCudaState, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2}, at::native::(anonymous namespace)::distribution_nullary_kernel<float, float, float4, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2}, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&, at::CUDAGeneratorImpl*, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(curandStatePhilox4_32_10*)#2} const&, at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl*>(at::TensorBase const&, double, double, at::CUDAGeneratorImpl*)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::{lambda(float)#1})::{lambda(int, float)#1})",
		  "normal distribution float unrolled4" },
		{ "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x32_stage5_warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn",
		  "fprop_implicit_gemm xmma sm80 tf32 nchw 128x64x32" },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_split_k_kernel__5x_cublas",
		  "gemm xmma sm80 f32 nt 64x128x8 split_k" },
		{ "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda()#11}::operator()() const::{lambda(bool, float, float)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda()#11}::operator()() const::{lambda(bool, float, float)#1} const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda()#11}::operator()() const::{lambda(bool, float, float)#1}>(at::TensorIteratorBase&, at::native::(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda()#11}::operator()() const::{lambda(bool, float, float)#1} const&)::{lambda(int)#1})",
		  "where elementwise bool float 128x2" },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4>)",
		  "ArgMaxOps reduce float 512x1" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float, float)#1}, std::array<char*, 3ul> >(int, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()() const::{lambda(float, float)#1}, std::array<char*, 3ul>)",
		  "GeluBackward elementwise float vec4" },
		{ "void at::native::unrolled_elementwise_kernel<at::native::BinaryFunctor<long, long, long, at::native::BitwiseAndFunctor<long> >, std::array<char*, 3ul>, 4, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1> >(int, at::native::BinaryFunctor<long, long, long, at::native::BitwiseAndFunctor<long> >, std::array<char*, 3ul>, TrivialOffsetCalculator<2, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<2>, at::native::memory::StoreWithCast<1>)",
		  "BitwiseAndFunctor elementwise long unrolled4" },
		{ "void at_cuda_detail::cub::detail::scan::DeviceScanKernel<at_cuda_detail::cub::detail::scan::policy_hub<long, long, long, unsigned int, std::plus<long> >::Policy1000, long const*, long*, at_cuda_detail::cub::ScanTileState<long, true>, std::plus<long>, at_cuda_detail::cub::NullType, unsigned int, long, false, at_cuda_detail::cub::NullType>(long const*, long*, at_cuda_detail::cub::ScanTileState<long, true>, int, std::plus<long>, at_cuda_detail::cub::NullType, unsigned int)",
		  "DeviceScanKernel<long const*, long*, ScanTileState<long, true>, plus<long>, unsigned int, ..>" },
		{ "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::CollectiveMma<int> > >(int)",
		  "device_kernel<GemmUniversal<tuple<int>, CollectiveMma<int>>>" },
		{ "loop_add_fusion_13",
		  "loop_add_fusion_13" },
		/* What only looks like such a name. */
		{ "ncclDevKernel_", "ncclDevKernel_" },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32", "sm80_xmma_gemm_f32f32_f32f32_f32" },
		{ "sm80_xmma_gemm", "sm80_xmma_gemm" },
		{ "nvjet", "nvjet" },
		{ "cutlass_notes", "cutlass_notes" },
		{ "triton_poi_", "triton_poi_" },
		{ "void reduce_kernel<512, 1>(int)", "reduce_kernel<512, 1>" },
		{ "vectorAdd(float const*, float const*, float*, int)", "vectorAdd" },
		{ "ns::Foo<int>::operator()(int) const", "Foo::operator()" },
		{ "bool ns::operator< <int>(int, int)", "ns::operator<<int>" },
		{ "main::{lambda(float*)#1}::operator()(float*) const", "main::{lambda#1}" },
		{ "void f<&(void g<int>(int)), -3l, unsigned int, ns::A<(3>2)>*, float const&>()",
		  "f<&g<int>, -3, unsigned int, A<(3>2)>*, float const&>" },
		{ "ns::f(int) [clone .part.0]", "ns::f" },
		{ "", "" },
		{ "::", "::" },
		{ "<<<", "<<<" },
		{ "a b", "a b" },
		{ "(anonymous namespace)", "(anonymous namespace)" },
		{ "foo<bar<baz", "foo<bar<baz>>" },
		{ "foo>::bar<1", "foo>::bar<1>" },
	};
	char buf[512], small[8], *text;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ct_short_kernel(buf, sizeof(buf), names[i][0]);
		ok(!strcmp(buf, names[i][1]), "%.60s: %s", names[i][0], buf);
	}
	ok(!strcmp(ct_short_kernel_fit(buf, sizeof(buf), names[0][0], 60),
		   "FillFunctor elementwise float vec4"), "60 columns: %s", buf);
	ok(!strcmp(ct_short_kernel_fit(buf, sizeof(buf), "void f_with_a_long_name<4, ns::Fill<float>, ns::Load<int>, 3>()", 34),
		   "f_with_a_long~<4, Fill<float>, Load<int>, ..>"), "34 columns: %s", buf);
	ok(!strcmp(ct_short_kernel(small, sizeof(small), "gemm__\xc3\xa9"), "gemm__"),
	   "no half character at the end");
	ok(!strcmp(ct_short_kernel(small, sizeof(small), "gemm_\xc3\xa9"), "gemm_\xc3\xa9"),
	   "but a whole one");
	ok(!strcmp(ct_short_kernel(small, 1, "gemm"), ""), "one byte");

	/* Under the sanitizers: pieces of names in any order, in memory of just their size. */
	for (unsigned int i = 0; i < 50000; i++) {
		static const char *const piece[] = { "<", ">", "(", ")", "{", "}", "::", "operator", " ",
			"lambda", "#1", ",", "a", "12ul", "-", "const", "(anonymous namespace)", "*", "&",
			"\xc3\xa9", "\xff", "[", "std::array<", "operator()", "decltype" };
		char name[600] = "";

		for (unsigned int n = rand_r(&seed) % 30; n; n--)
			strcat(name, piece[rand_r(&seed) % (sizeof(piece) / sizeof(*piece))]);
		text = strdup(name);
		ct_short_kernel_fit(buf, 1 + rand_r(&seed) % 100, text, rand_r(&seed) % 100);
		free(text);
	}
	text = malloc(1 << 20);
	memset(text, '<', (1 << 20) - 1);
	text[(1 << 20) - 1] = 0;
	for (unsigned int i = 0; i < 4000; i++)
		memcpy(text + 3 * i, i % 2 ? "a::" : "b<,", 3);
	ct_short_kernel(buf, sizeof(buf), text);
	free(text);
	ok(1, "hostile names do no harm");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "short"))
		return shorten(argc > 2 ? strtoul(argv[2], NULL, 10) : CT_SHORT_COLUMNS);
	if (argc > 1)
		return print(argc, argv);
	model();
	streaming();
	for_people();
	narrow();
	words();
	for_programs();
	decimals();
	errors();
	short_names();
	return tap_done();
}
