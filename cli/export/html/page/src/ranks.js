// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ranks of a job: a row of figures each, and a map of how late each came in each step.

import { el, get, onceAFrame } from "./dom.js";
import { at, count, time, who } from "./format.js";
import { onTheme, palette } from "./theme.js";

const CELL = { begin: 0, duration: 1, late: 2 };

const NAMES = [["step", "step"], ["application", "application"], ["compute", "compute"], ["moving", "moving data"],
	["waiting", "waits"], ["makes_wait", "makes another wait"]];

function table(job) {
	const names = NAMES.filter(([key]) => job.ranks.some((r) => Number.isFinite(r[key])));
	return el("div", { class: "ranks-scroll", tabindex: "0" }, el("table", { class: "ranks-table" },
		el("thead", {}, el("tr", {}, el("th", {}, "rank"), el("th", {}, "process"), names.map(([, name]) => el("th", { class: "n" }, name)))),
		el("tbody", {}, job.ranks.map((r) => el("tr", { class: r.rank === job.guilty ? "guilty" : "" },
			el("td", {}, String(r.rank)), el("td", {}, who(r.process, r.pid)),
			names.map(([key]) => el("td", { class: "n" }, Number.isFinite(r[key]) ? time(r[key]) : "")))))));
}

/** A row for each rank, a column for each step; the darker, the later, or the longer. */
function heat(job, jump) {
	const ranks = job.ranks.filter((r) => r.cells.length);
	const steps = Math.max(0, ...ranks.map((r) => r.cells.length));
	if (!steps)
		return [];
	const height = Math.max(4, Math.min(22, Math.floor(420 / ranks.length)));
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
		c.fillRect(0, 0, width, height * ranks.length);
		c.fillStyle = p.of("--bad");
		ranks.forEach((r, row) => r.cells.forEach((cell, i) => {
			c.globalAlpha = most > least ? Math.sqrt((cell[what] - least) / (most - least)) : 0;
			const x = Math.floor(i * width / steps);
			c.fillRect(x, row * height, Math.max(1, Math.floor((i + 1) * width / steps) - x - (width / steps > 4 ? 1 : 0)), height - (height > 6 ? 1 : 0));
		}));
	};
	const cell = (event) => {
		const box = canvas.getBoundingClientRect();
		const row = ranks[Math.floor((event.clientY - box.top) / height)];
		const i = Math.floor((event.clientX - box.left) / box.width * steps);
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
		`A row for each rank, from rank ${ranks[0].rank}; a column for ${each > 1 ? `${count(each)} steps: the worst of them` : "each step"}. Click one to see it in the timeline.`),
	el("label", {}, "show ", select)), el("div", {}, canvas), readout];
}

export function ranks(manifest, jump) {
	const { job } = manifest;
	if (!job)
		return;
	get("ranks-card").hidden = false;
	get("ranks").append(table(job), ...heat(job, jump),
		job.ranks_left_out ? el("p", { class: "hint" }, `${count(job.ranks_left_out)} more ranks are left out: cudatrace report ranks has them.`) : "");
}

/** What is wrong with the job stands before what limits one of its processes. */
export function jobVerdict(manifest) {
	const { job } = manifest;
	if (!job?.texts?.length)
		return [];
	const line = job.stuck ? "A collective was never complete" :
		job.guilty === undefined || job.guilty === null ? "No rank alone makes the others wait" : `Rank ${job.guilty} makes the others wait`;
	return [el("p", { class: "eyebrow" }, `Verdict \u00b7 the job, ${count(job.ranks.length + (job.ranks_left_out ?? 0))} ranks recorded`),
		el("p", { class: "verdict-line" }, line), job.texts.map((text) => el("p", { class: "verdict-text" }, text))].flat();
}
