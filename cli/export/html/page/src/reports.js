// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The tables of the reports: a list to choose from, and for print the first rows of all.

import { button, el, get } from "./dom.js";
import { count } from "./format.js";
import { SortTable, tableTools } from "./sorttable.js";

const PRINTED = 25;

function fileName(manifest, table) {
	const program = (manifest.trace.program || "trace").replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 40) || "trace";
	return `${program}-${table.name.replace(/[^A-Za-z0-9_-]+/g, "-")}.csv`;
}

const notes = (table) => (table.notes ?? (table.note ? [table.note] : [])).map((note) => el("p", { class: "note" }, note));

/** A report for people begins with the name of what a row is about, one for programs with its share. */
function nameFirst(table) {
	const first = table.columns.findIndex((c) => c.kind === "text" || c.kind === "kernel");
	if (table.columns[0].kind !== "percent" || first < 0)
		return table;
	const move = (list) => [list[first], ...list.slice(0, first), ...list.slice(first + 1)];
	return { ...table, columns: move(table.columns), rows: table.rows.map(move) };
}

function panel(manifest, table, id) {
	const total = table.total ?? table.rows.length;
	const counted = () => total > table.rows.length ?
		`the first ${count(table.rows.length)} of ${count(total)} rows` : `${count(total)} ${total === 1 ? "row" : "rows"}`;
	const sortable = new SortTable({ title: table.title || table.name, columns: table.columns, rows: table.rows, most: 100 });
	return el("section", { class: "report", id: `table-${id}` },
		el("h3", {}, table.title || table.name), notes(table),
		tableTools(sortable, `table-${id}`, fileName(manifest, table), counted), sortable.element);
}

export function reports(manifest) {
	const tables = (manifest.tables ?? []).filter((t) => t.columns?.length).map(nameFirst);
	if (!tables.length)
		return;
	get("tables").hidden = false;
	const groups = new Map();
	tables.forEach((table, i) => {
		const report = table.report ?? table.name;
		if (!groups.has(report))
			groups.set(report, []);
		groups.get(report).push([table, i]);
	});
	const place = el("div", { class: "report-panel", id: "report-panel" });
	const made = new Map();
	const buttons = new Map();
	const open = (report) => {
		if (!made.has(report))
			made.set(report, groups.get(report).map(([table, i]) => panel(manifest, table, i)));
		place.replaceChildren(...made.get(report));
		for (const [name, b] of buttons)
			b.setAttribute("aria-current", String(name === report));
	};
	const list = el("ul");
	for (const [report, of] of groups) {
		const rows = of.reduce((sum, [table]) => sum + table.rows.length, 0);
		const b = button([el("span", {}, report), el("span", { class: "records" }, count(rows))], () => open(report),
			{ "aria-controls": "report-panel", class: rows ? null : "none" });
		buttons.set(report, b);
		list.append(el("li", {}, b));
	}
	const printed = el("div", { class: "printed" });
	get("tables-body").append(el("div", { class: "reports" }, el("nav", { class: "report-list", "aria-label": "Reports" }, list), place), printed);
	const wanted = ["cuda_api_sum", "summary"].find((name) => groups.get(name)?.some(([t]) => t.rows.length));
	open(wanted ?? [...groups.keys()][0]);

	addEventListener("beforeprint", () => {
		printed.replaceChildren(...tables.filter((t) => t.rows.length).map((table) => {
			const short = new SortTable({ title: table.title || table.name, columns: table.columns, rows: table.rows.slice(0, PRINTED), most: PRINTED });
			const total = table.total ?? table.rows.length;
			return el("section", { class: "report" }, el("h3", {}, table.title || table.name), notes(table),
				total > PRINTED ? el("p", { class: "note" }, `The first ${PRINTED} of ${count(total)} rows.`) : null, short.element);
		}));
	});
	addEventListener("afterprint", () => printed.replaceChildren());
}
