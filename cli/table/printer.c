// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Numbers as programs read them.  Must be fast: tables of millions of rows are written with
 * it, and snprintf() is only for values that need it.
 */
#include "table/printer.h"

#include <math.h>

/* @value with @digits decimals, exactly as printf rounds it. */
static void printer_decimals(struct ct_out *out, double value, unsigned int digits, bool trim)
{
	char text[400];
	double scaled = value * 10;
	int len;

	/* Near the middle of two neighbours the product says nothing about the rounding. */
	if (digits == 1 && scaled >= 0 && scaled < 1e12) {
		uint64_t whole = (uint64_t)scaled;
		double rest = scaled - (double)whole;

		if (rest < 0.499 || rest > 0.501) {
			ct_out_fixed(out, (int64_t)whole + (rest > 0.5), 1);
			return;
		}
	}
	len = snprintf(text, sizeof(text), "%.*f", (int)digits, value);
	while (trim && text[len - 1] == '0')
		text[--len] = 0;
	if (text[len - 1] == '.')
		text[--len] = 0;
	/* A small negative number that became zero. */
	if (text[0] == '-' && text[strspn(text, "-0.")] == 0)
		ct_out_bytes(out, text + 1, len - 1);
	else
		ct_out_bytes(out, text, len);
}

void ct_printer_number(struct ct_out *out, enum ct_cell_type type, const struct ct_cell *cell)
{
	switch (type) {
	case CT_CELL_HEX:
		ct_out_hex(out, cell->u);
		break;
	case CT_CELL_NUMBER:
		if (fabs(cell->d) < 1e15 && cell->d == (double)(int64_t)cell->d)
			ct_out_s64(out, (int64_t)cell->d);
		else
			printer_decimals(out, cell->d, 3, true);
		break;
	case CT_CELL_MB:
		printer_decimals(out, cell->d / 1e6, 3, false);
		break;
	case CT_CELL_NS_MEAN:
	case CT_CELL_BYTES_MEAN:
	case CT_CELL_PERCENT:
		printer_decimals(out, cell->d, 1, false);
		break;
	default:
		ct_out_u64(out, cell->u);
	}
}
