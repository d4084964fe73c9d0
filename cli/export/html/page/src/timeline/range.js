// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The totals of a marked range, and the list of what is in view.

import { pause } from "../data.js";
import { button, el } from "../dom.js";
import { at, count, time } from "../format.js";
import { groupColour, groupOf } from "../theme.js";
import { INSTANT } from "../tracks.js";
import { SortTable } from "../sorttable.js";
import { LAYERS } from "./rows.js";

const LAYER_NAME = Object.fromEntries(LAYERS.map(([id, name]) => [id, name]));
/** Records are looked at in parts of this many. */
const SLICE = 200000;

/**
 * Calls @f(track, i) for the records of the tracks that are shown, which overlap from..to.
 * Records are sorted by begin, so those that began before are found by the rows of the track.
 */
async function overlapping(timeline, from, to, f, current) {
	let left = SLICE;
	for (const track of timeline.tracks.list) {
		if (timeline.rows.hidden.has(track.layer))
			continue;
		await track.load();
		if (!current())
			return false;
		for (const row of track.rows) {
			for (let k = row.first(from); k < row.count && row.begin[k] < to; k++) {
				f(track, row.record[k]);
				if (--left === 0) {
					left = SLICE;
					await pause();
					if (!current())
						return false;
				}
			}
		}
	}
	return true;
}

export class Range {
	constructor(timeline, panel) {
		Object.assign(this, { timeline, panel });
		this.job = 0;
		this.empty();
	}

	empty() {
		this.job++;
		this.panel.replaceChildren(el("p", { class: "hint" },
			"No range is marked. Shift-drag in the timeline marks one, or: ",
			button("Mark what is in view", () => {
				const { view } = this.timeline;
				this.timeline.setRange([view.from, view.to], true);
			}, { class: "quiet", id: "mark-view" })));
	}

	async show([from, to]) {
		const job = ++this.job;
		const { tracks, manifest } = this.timeline;
		const sums = new Map();
		const done = await overlapping(this.timeline, from, to, (track, i) => {
			const { begin, duration, class: classes, flags } = track.columns;
			const key = `${track.layer} ${classes[i]}`;
			let sum = sums.get(key);
			if (!sum)
				sums.set(key, sum = { layer: track.layer, cls: classes[i], count: 0, timed: 0, time: 0, longest: 0 });
			sum.count++;
			if (flags[i] & INSTANT)
				return;
			sum.timed++;
			const part = Math.min(to, begin[i] + duration[i]) - Math.max(from, begin[i]);
			sum.time += part;
			sum.longest = Math.max(sum.longest, part);
		}, () => job === this.job);
		if (!done)
			return;
		const rows = [...sums.values()].sort((a, b) => b.time - a.time || b.count - a.count)
			.map((s) => [tracks.classes[s.cls]?.name ?? "?", LAYER_NAME[s.layer] ?? s.layer, s.count, s.timed ? s.time : null,
				s.timed ? s.time / (to - from) * 100 : null, s.timed ? s.time / s.timed : null, s.timed ? s.longest : null]);
		const calls = rows.reduce((sum, row) => sum + row[2], 0);
		const table = new SortTable({
			title: "Totals of the marked range",
			columns: [["Function", "text"], ["Layer", "text"], ["Count", "count"], ["Time in range", "ns"], ["Of the range", "percent"],
				["Average", "ns"], ["Longest", "ns"]].map(([title, kind]) => ({ title, kind, name: title })),
			rows, most: 200,
		});
		this.panel.replaceChildren(el("div", { class: "sel-head" }, el("h3", {}, `${time(to - from)} marked`),
			el("span", { class: "hint" }, `${at(from)} to ${at(to)} \u00b7 ${count(calls)} records of ${count(rows.length)} functions`),
			el("span", { class: "sel-actions" },
				button("Zoom to it", () => this.timeline.view.go(from, to), { class: "quiet" }),
				button("Clear", () => this.timeline.setRange(null, true), { class: "quiet" }))),
		...(manifest.left_out?.records ? [el("p", { class: "hint" }, "Records that this page left out are not counted here.")] : []), table.element);
	}
}

/** The timeline in words: the longest calls that are in view. */
export class InView {
	constructor(timeline, panel) {
		Object.assign(this, { timeline, panel });
		this.job = 0;
	}

	async show() {
		const job = ++this.job;
		const { view, tracks } = this.timeline;
		const [from, to] = [view.from, view.to];
		const most = 100;
		let list = [], total = 0, least = -1;
		const trim = () => {
			list.sort((a, b) => b.duration - a.duration);
			list.length = Math.min(list.length, most);
			least = list.length === most ? list[most - 1].duration : -1;
		};
		const done = await overlapping(this.timeline, from, to, (track, i) => {
			total++;
			const duration = track.columns.duration[i];
			if (duration > least) {
				list.push({ track, i, duration });
				if (list.length > most * 4)
					trim();
			}
		}, () => job === this.job);
		if (!done)
			return;
		trim();
		list.sort((a, b) => a.track.columns.begin[a.i] - b.track.columns.begin[b.i]);
		const row = ({ track, i, duration }) => el("tr", {},
			el("td", {}, button([el("span", { class: "swatch", "aria-hidden": "true",
				vars: { "--c": groupColour(groupOf(tracks.classes[track.columns.class[i]] ?? {})) } }), tracks.name(track, i)],
			() => this.timeline.select(track, i, {}), { class: "link" })),
			el("td", {}, el("div", { class: "t" }, tracks.text(track.columns.detail[i]))),
			el("td", {}, LAYER_NAME[track.layer] ?? track.layer),
			el("td", {}, track.tid ? String(track.tid) : track.name),
			el("td", { class: "n" }, at(track.columns.begin[i])),
			el("td", { class: "n" }, track.columns.flags[i] & INSTANT ? "" : time(duration)));
		this.panel.replaceChildren(el("div", { class: "sel-head" }, el("h3", {}, `In view: ${time(to - from)}`),
			el("span", { class: "hint" }, `${at(from)} to ${at(to)} \u00b7 ${count(total)} records` +
				(total > most ? `; the ${most} longest, in the order of time` : ""))),
		el("div", { class: "scroll" }, el("table", { class: "data", "aria-label": "Calls in view" },
			el("thead", {}, el("tr", {}, ["Function", "Kernel or text", "Layer", "Thread", "Begin", "Duration"].map((h, k) =>
				el("th", { scope: "col", class: k > 3 ? "n" : null }, h)))),
			el("tbody", {}, list.map(row)))));
	}
}

