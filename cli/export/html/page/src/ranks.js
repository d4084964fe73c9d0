// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ranks of a job: a row of figures each, and a map of how late each came in each step.

import { el, get, onceAFrame } from "./dom.js";
import { at, count, niceStep, time, who } from "./format.js";
import { onTheme, palette } from "./theme.js";

const LABELS = 64;	// pixels for the ranks' names
const CELL = { begin: 0, duration: 1, late: 2 };

const NAMES = [["step", "step"], ["application", "application"], ["compute", "compute"], ["moving", "moving data"],
	["waiting", "waits"], ["makes_wait", "makes another wait"]];

function table(job) {
	const names = NAMES.filter(([key]) => job.ranks.some((r) => Number.isFinite(r[key])));
	// Of many ranks the one that matters comes first.
	const ranks = job.ranks.length > 12 ? [...job.ranks].sort((a, b) => (b.rank === job.guilty) - (a.rank === job.guilty)) : job.ranks;
	const more = ranks.length > 12 ? el("p", { class: "hint" }, `${count(ranks.length)} ranks` +
		`${Number.isFinite(job.guilty) ? ", first the one that makes the others wait" : ""}: scroll for the rest.`) : "";
	return [more, el("div", { class: "ranks-scroll", tabindex: "0" }, el("table", { class: "ranks-table" },
		el("thead", {}, el("tr", {}, el("th", {}, "rank"), el("th", {}, "process"), names.map(([, name]) => el("th", { class: "n" }, name)))),
		el("tbody", {}, ranks.map((r) => el("tr", { class: r.rank === job.guilty ? "guilty" : "" },
			el("td", {}, String(r.rank)), el("td", {}, who(r.process, r.pid)),
			names.map(([key]) => el("td", { class: "n" }, Number.isFinite(r[key]) ? time(r[key]) : "")))))))];
}

/** "rank 3: python (1133)": whose process it is, where it is one rank. */
export function whoOf(manifest, name, pid) {
	const ranks = manifest.job?.ranks?.filter((r) => r.pid === pid) ?? [];
	return `${ranks.length === 1 ? `rank ${ranks[0].rank}: ` : ""}${who(name, pid)}`;
}

/** The height of a row: so that all have room, at last less than a pixel each. */
const rowHeight = (rows) => Math.min(22, rows < 100 ? Math.floor(480 / rows) : 480 / rows);

/** The row at a height. */
const rowAt = (y, height, rows) => Math.max(0, Math.min(rows - 1, Math.floor(y / height)));

/** A name for each row that has room for one, and for the one that is late in any case. */
function names(c, p, rows, height, guilty) {
	const late = rows.findIndex((r) => r.rank === guilty);
	let free = 0;
	c.font = "11px system-ui, sans-serif";
	c.textBaseline = "middle";
	rows.forEach((r, i) => {
		const y = i * height + height / 2;
		if (i !== late && (y < free || (late >= 0 && Math.abs(i - late) * height < 13)))
			return;
		free = i === late ? free : Math.max(y, 6) + 13;
		c.fillStyle = p.of(i === late ? "--bad" : "--muted");
		c.fillText(`rank ${r.rank}`, 0, Math.max(y, 6));
	});
}

/** A row for each rank, a column for each step; the darker, the later, or the longer. */
function heat(job, jump) {
	const ranks = job.ranks.filter((r) => r.cells.length);
	const steps = Math.max(0, ...ranks.map((r) => r.cells.length));
	if (!steps)
		return [];
	const height = rowHeight(ranks.length);
	const canvas = el("canvas", { class: "ranks-heat", role: "img", "aria-label": "How late each rank came in each step: the figures above say the same as medians" });
	const readout = el("p", { class: "hint readout", "aria-hidden": "true" }, "\u00a0");
	const select = el("select", {}, el("option", { value: "late" }, "how late it comes"), el("option", { value: "duration" }, "how long the step takes"));
	const each = ranks[0].each;
	const draw = () => {
		const what = CELL[select.value], width = Math.max(200, canvas.parentElement?.clientWidth ?? 600), ratio = devicePixelRatio || 1;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ranks.length * ratio);
		canvas.style.setProperty("height", `${height * ranks.length}px`);
		const c = canvas.getContext("2d"), p = palette();
		const values = ranks.flatMap((r) => r.cells.map((cell) => cell[what]));
		const most = values.reduce((m, v) => v > m ? v : m, 1);
		const least = what === CELL.duration ? values.reduce((m, v) => v < m ? v : m, most) : 0;
		c.scale(ratio, ratio);
		c.fillStyle = p.of("--stripe");
		c.fillRect(LABELS, 0, width - LABELS, height * ranks.length);
		names(c, p, ranks, height, job.guilty);
		c.fillStyle = p.of("--bad");
		const each = (width - LABELS) / steps;
		ranks.forEach((r, row) => r.cells.forEach((cell, i) => {
			c.globalAlpha = most > least ? Math.sqrt((cell[what] - least) / (most - least)) : 0;
			const x = LABELS + Math.floor(i * each);
			// What is late is seen, however many ranks there are.
			const tall = r.rank === job.guilty ? Math.max(2, height) : height;
			c.fillRect(x, row * height, Math.max(1, LABELS + Math.floor((i + 1) * each) - x - (each > 4 ? 1 : 0)), tall - (tall > 6 ? 1 : 0));
		}));
	};
	const cell = (event) => {
		const box = canvas.getBoundingClientRect();
		const row = ranks[rowAt(event.clientY - box.top, height, ranks.length)];
		const i = Math.floor((event.clientX - box.left - LABELS) / (box.width - LABELS) * steps);
		return row?.cells[i] ? { row, i, of: row.cells[i] } : null;
	};
	canvas.addEventListener("mousemove", (event) => {
		const found = cell(event);
		readout.textContent = found ? `rank ${found.row.rank}, step ${count(found.i * each + 1)}${each > 1 ? ` and ${count(each - 1)} more` : ""}: comes ` +
			`${time(found.of[CELL.late])} late to its collectives, takes ${time(found.of[CELL.duration])}, at ${at(found.of[CELL.begin])}` : "\u00a0";
	});
	canvas.addEventListener("click", (event) => {
		const found = cell(event);
		if (found)
			jump(found.of[CELL.begin], found.of[CELL.begin] + found.of[CELL.duration], null);
	});
	select.addEventListener("change", draw);
	onTheme(draw);
	requestAnimationFrame(() => {
		draw();
		new ResizeObserver(onceAFrame(draw)).observe(canvas.parentElement);
	});
	return [el("div", { class: "head-row ranks-head" }, el("p", { class: "hint" },
		`A row for each rank, from rank ${ranks[0].rank}; a column for ${each > 1 ? `${count(each)} steps: the worst of them` : "each step"}.${job.summaries ? "" : " Click one to see it in the timeline."}`),
	el("label", {}, "show ", select)), el("div", {}, canvas), readout];
}

/** The ticks of a time axis of @width pixels: round numbers, about 110 pixels apart. */
function ticks(from, to, width) {
	const step = niceStep((to - from) / width * 110);
	return Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, i) => i * step);
}

const PART = { rank: 0, name: 1, number: 2, begin: 3, waits: 4, takes: 5 };
const AXIS = 18;

/** The collectives of one step, a row for each rank on one axis: who waits for whom. */
function step(job, jump) {
	const of = job.step;
	if (!of?.parts.length)
		return [];
	const rows = job.ranks.length, height = rowHeight(rows);
	const canvas = el("canvas", { class: "ranks-step", role: "img", "aria-label": "The collectives of one step on each rank: until when it waited, and while it moved data" });
	const readout = el("p", { class: "hint readout", "aria-hidden": "true" }, "\u00a0");
	let scale = null;
	const draw = () => {
		const width = Math.max(300, canvas.parentElement?.clientWidth ?? 600), ratio = devicePixelRatio || 1, tall = rows * height + AXIS;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(tall * ratio);
		canvas.style.setProperty("height", `${tall}px`);
		const c = canvas.getContext("2d"), p = palette();
		scale = (width - LABELS) / (of.to - of.from);
		const x = (ns) => LABELS + (Math.max(of.from, Math.min(of.to, ns)) - of.from) * scale;
		c.scale(ratio, ratio);
		c.font = "11px system-ui, sans-serif";
		// Bands through all ranks: red until the last one came, blue while data moves.
		for (const [, , , , arrived, waited, took] of job.operations) {
			if (arrived + took < of.from || arrived > of.to)
				continue;
			c.fillStyle = p.of("--bad-soft");
			c.fillRect(x(arrived), 0, x(arrived + waited) - x(arrived), rows * height);
			c.fillStyle = p.of("--accent-soft");
			c.fillRect(x(arrived + waited), 0, Math.max(0.5, x(arrived + took) - x(arrived + waited)), rows * height);
		}
		c.strokeStyle = p.of("--line");
		c.fillStyle = p.of("--muted");
		c.textBaseline = "middle";
		for (const t of ticks(of.from, of.to, width - LABELS)) {
			c.beginPath();
			c.moveTo(x(of.from + t) + 0.5, 0);
			c.lineTo(x(of.from + t) + 0.5, rows * height + 4);
			c.stroke();
			c.fillText(`+${time(t)}`, x(of.from + t) + 3, rows * height + 10);
		}
		names(c, p, job.ranks, height, job.guilty);
		for (const part of of.parts) {
			const y = part[PART.rank] * height, tall = height > 6 ? height - 4 : height > 2 ? height - 1 : height, begin = x(part[PART.begin]);
			const moves = x(part[PART.begin] + part[PART.waits]), end = x(part[PART.begin] + part[PART.takes]);
			c.fillStyle = p.of("--bad");
			c.fillRect(begin, y + (height > 6 ? 2 : 0), Math.max(0, moves - begin), tall);
			c.fillStyle = p.of("--accent");
			c.fillRect(moves, y + (height > 6 ? 2 : 0), Math.max(1, end - moves), tall);
		}
	};
	const found = (event) => {
		const box = canvas.getBoundingClientRect();
		const row = rowAt(event.clientY - box.top, height, rows), ns = of.from + (event.clientX - box.left - LABELS) / scale;
		const near = of.parts.filter((part) => part[PART.rank] === row)
			.map((part) => [Math.max(part[PART.begin] - ns, ns - part[PART.begin] - part[PART.takes], 0), part]).sort((a, b) => a[0] - b[0])[0];
		return near && near[0] * scale < 6 ? near[1] : null;
	};
	canvas.addEventListener("mousemove", (event) => {
		const part = found(event);
		readout.textContent = part ? `${part[PART.name]} ${part[PART.number]}, rank ${job.ranks[part[PART.rank]].rank}: waits ${time(part[PART.waits])}, ` +
			`moves data for ${time(part[PART.takes] - part[PART.waits])}, from ${at(part[PART.begin])} on` : "\u00a0";
	});
	canvas.addEventListener("click", () => jump(of.from, of.to, null));
	onTheme(draw);
	requestAnimationFrame(() => {
		draw();
		new ResizeObserver(onceAFrame(draw)).observe(canvas.parentElement);
	});
	const key = (name, text) => [el("span", { class: "swatch", vars: { "--c": `var(${name})` } }), ` ${text}`];
	return [el("p", { class: "hint ranks-head" }, `The collectives of ${of.number > 0 ? `step ${count(of.number)}` : "the time"} with the longest wait, on one axis: `,
		key("--bad", "the GPU waits for another rank, "), key("--accent", "it moves data"),
		`. A band through all ranks is one collective.${job.summaries ? "" : " Click to see the step in the timeline."}`), el("div", {}, canvas), readout];
}

export function ranks(manifest, jump) {
	const { job } = manifest;
	if (!job)
		return;
	get("ranks-card").hidden = false;
	get("ranks").append(...table(job), ...step(job, jump), ...heat(job, jump),
		job.operations_left_out ? el("p", { class: "hint" }, `${count(job.operations_left_out)} more collectives have no band: those in which ranks waited longest have one.`) : "",
		job.ranks_left_out ? el("p", { class: "hint" }, `${count(job.ranks_left_out)} more ranks are left out: cudatrace report ranks has them.`) : "");
}

/** What is wrong with the job stands before what limits one of its processes. */
export function jobVerdict(manifest) {
	const { job } = manifest;
	if (!job?.texts?.length)
		return [];
	return [el("p", { class: "eyebrow" }, `Verdict \u00b7 the job, ${count(job.ranks.length + (job.ranks_left_out ?? 0))} ranks recorded` +
		(job.summaries ? `, by ${count(job.summaries)} summar${job.summaries === 1 ? "y" : "ies"}` : "")),
		el("p", { class: "verdict-line" }, job.line), job.texts.map((text) => el("p", { class: "verdict-text" }, text))].flat();
}
