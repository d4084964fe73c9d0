// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A table that sorts by its heads and is filtered by a text.

import { button, download, el, settled } from "./dom.js";
import { capital, cell, count, kernelNames } from "./format.js";

const TEXTS = new Set(["text", "kernel"]);

const UNITS = { ns: "ns", bytes: "bytes", records: "count", calls: "count", "%": "percent" };

/** A cell of CSV (RFC 4180).  A text that a spreadsheet would compute gets a quote before it. */
function csvCell(value) {
	if (value === null || value === undefined)
		return "";
	let text = String(value);
	if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text))
		text = `'${text}`;
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csv = (columns, rows) =>
	[columns.map((c) => csvCell(c.name ?? c.title)), ...rows.map((row) => row.map(csvCell))]
		.map((line) => line.join(",")).join("\r\n") + "\r\n";

export class SortTable {
	/** @most: rows that are shown at first. */
	constructor({ title, columns, rows, most = 100 }) {
		Object.assign(this, { title, columns, rows, most });
		this.shown = rows;
		this.sorted = -1;
		this.down = false;
		this.body = el("tbody");
		this.heads = columns.map((column, i) => el("th", { scope: "col", class: TEXTS.has(column.kind) ? null : "n", "aria-sort": "none",
			title: column.name && column.name !== column.title ? column.name : null },
		button([capital(column.title), el("span", { class: "arrow", "aria-hidden": "true" })], () => this.sort(i))));
		this.more = button("", () => {
			this.most = Infinity;
			this.fill();
		}, { class: "quiet more", hidden: true });
		this.table = el("table", { class: "data", "aria-label": title },
			el("thead", {}, el("tr", {}, this.heads)), this.body);
		this.element = el("div", { class: "table-box" }, el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, this.table), this.more);
		// A bar behind the shares and times that matters most.
		// In a table of facts the unit stands in a column of its own.
		this.unit = columns.findIndex((c) => c.name === "Unit");
		this.bar = columns.findIndex((c) => c.kind === "percent");
		this.fill();
	}

	fill() {
		const rows = this.shown.slice(0, this.most);
		this.body.replaceChildren(...rows.map((row) => el("tr", {}, this.columns.map((column, i) => {
			const value = row[i];
			const isText = TEXTS.has(column.kind);
			const kind = column.name === "Value" && UNITS[row[this.unit]] || column.kind;
			const share = i === this.bar && typeof value === "number" ? Math.max(0, Math.min(100, value)) : null;
			return el("td", { class: isText ? column.kind === "kernel" ? "long" : null : share === null ? "n" : "n bar",
				vars: share === null ? null : { "--share": `${share}%` },
			}, isText ? el("div", { class: "t", title: kernelNames.has(value) ? value : null }, cell(kernelNames.get(value) ?? value, column.kind)) : cell(value, kind));
		}))));
		const left = this.shown.length - rows.length;
		this.more.hidden = left <= 0;
		this.more.textContent = `Show ${count(left)} more`;
		if (!rows.length)
			this.body.append(el("tr", {}, el("td", { colspan: this.columns.length, class: "hint" }, "No row matches.")));
	}

	sort(i) {
		const text = TEXTS.has(this.columns[i].kind);
		// Numbers begin with the largest, texts with A.
		this.down = this.sorted === i ? !this.down : !text;
		this.sorted = i;
		this.heads.forEach((head, k) => head.setAttribute("aria-sort",
			k !== i ? "none" : this.down ? "descending" : "ascending"));
		this.order();
		this.fill();
	}

	order() {
		const i = this.sorted;
		if (i < 0)
			return;
		const sign = this.down ? -1 : 1;
		this.shown = [...this.shown].sort((a, b) => {
			const [x, y] = [a[i], b[i]];
			// What is not known comes last, whatever the order.
			if (x === null || x === undefined || y === null || y === undefined)
				return (x === null || x === undefined ? 1 : 0) - (y === null || y === undefined ? 1 : 0);
			if (typeof x === "number" && typeof y === "number")
				return sign * (x - y);
			return sign * String(x).localeCompare(String(y), "en", { numeric: true });
		});
	}

	filter(text) {
		const words = text.toLowerCase().split(/\s+/).filter(Boolean);
		this.shown = words.length ? this.rows.filter((row) => {
			const line = row.map((value, i) => cell(value, this.columns[i].kind)).join("\n").toLowerCase();
			return words.every((word) => line.includes(word));
		}) : this.rows;
		this.order();
		this.fill();
	}

	/** The rows as they are filtered and sorted. */
	csv() {
		return csv(this.columns, this.shown);
	}
}

/** The line above a table: filter, count, download. */
export function tableTools(table, id, fileName, counted) {
	const input = el("input", { type: "search", placeholder: "Filter rows", "aria-label": `Filter ${table.title}`, id: `${id}-filter`, autocomplete: "off" });
	const status = el("output", { for: `${id}-filter`, class: "hint" }, counted());
	input.addEventListener("input", settled(() => {
		table.filter(input.value);
		status.textContent = input.value.trim() ? `${count(table.shown.length)} of ${count(table.rows.length)} rows` : counted();
	}, 120));
	return el("div", { class: "tools" }, input, status,
		button("Download CSV", () => download(fileName, table.csv(), "text/csv;charset=utf-8"), { class: "quiet csv", "aria-label": `Download ${table.title} as CSV` }));
}
