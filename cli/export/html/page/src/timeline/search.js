// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Search by name: functions, kernels, ranges.

import { pause } from "../data.js";
import { button, el, settled } from "../dom.js";
import { count } from "../format.js";
import { makeRows } from "../tracks.js";

/** Records of all tracks are in the order of begin, then track. */
const order = (a, b) => a.time - b.time || a.track.id - b.track.id || a.i - b.i;

/** How many of the @hits of @track are before @me or are it. */
function rank(track, hits, me) {
	const begin = track.columns.begin;
	let low = 0, high = hits.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (order({ time: begin[hits[middle]], track, i: hits[middle] }, me) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

export class Search {
	constructor(timeline) {
		this.timeline = timeline;
		this.total = 0;
		this.job = 0;
		this.input = el("input", { type: "search", placeholder: "Search functions, kernels, ranges", "aria-label": "Search the timeline",
			id: "search", autocomplete: "off", spellcheck: "false" });
		this.status = el("output", { class: "search-count", for: "search", id: "search-count" });
		this.previous = button("\u2039", () => this.go(-1), { "aria-label": "Previous match", id: "search-previous", disabled: true });
		this.next = button("\u203a", () => this.go(1), { "aria-label": "Next match", id: "search-next", disabled: true });
		this.element = el("search", { class: "search" }, this.input, this.previous, this.next, this.status);
		const later = settled(() => this.run(this.input.value), 150);
		this.input.addEventListener("input", later);
		this.input.addEventListener("keydown", async (event) => {
			if (event.key === "Enter") {
				event.preventDefault();
				if (this.text !== this.input.value.trim().toLowerCase())
					await this.run(this.input.value);
				this.go(event.shiftKey ? -1 : 1);
			} else if (event.key === "Escape") {
				this.input.value = "";
				this.run("");
				this.timeline.element.focus({ preventScroll: true });
			}
		});
	}

	/** Finds all records whose name, kernel or text holds @text. */
	async run(text) {
		const { tracks, painter } = this.timeline;
		const job = ++this.job;
		text = text.trim().toLowerCase();
		this.text = text;
		this.hits = null;
		this.total = 0;
		this.current = null;
		if (!text) {
			painter.hits = null;
			this.say("");
			this.timeline.redraw();
			return;
		}
		this.say("searching \u2026");
		const classes = Uint8Array.from(tracks.classes, (c) =>
			c.name.toLowerCase().includes(text) || (c.symbol ?? "").toLowerCase().includes(text) ? 1 : 0);
		const strings = new Uint8Array(tracks.strings.length + 1);
		for (let i = 0; i < tracks.strings.length; i++)
			strings[i + 1] = tracks.strings[i].toLowerCase().includes(text) ? 1 : 0;
		const all = new Map();
		let total = 0;
		for (const track of tracks.list) {
			await track.load();
			if (job !== this.job)
				return;
			const { class: cls, detail } = track.columns;
			const found = new Uint32Array(cls.length);
			let n = 0;
			for (let i = 0; i < cls.length; i++)
				if (classes[cls[i]] || strings[detail[i]])
					found[n++] = i;
			const hits = found.slice(0, n);
			// As a track has them, so that drawing skips what lies in one pixel.
			hits.rows = makeRows(track.columns, track.depth, hits);
			all.set(track, hits);
			total += n;
			await pause();
			if (job !== this.job)
				return;
		}
		this.hits = all;
		this.total = total;
		painter.hits = all;
		this.say(total ? `${count(total)} found` : "not found");
		this.timeline.redraw();
	}

	say(text) {
		this.status.textContent = text;
		this.status.classList.toggle("bad", text === "not found");
		this.previous.disabled = this.next.disabled = !this.total;
	}

	/** Goes to the next match in the order of time, or with -1 to the one before. */
	go(step) {
		if (!this.total)
			return;
		const { view } = this.timeline;
		const selected = this.timeline.selected;
		const here = this.current ?? (selected ? { track: selected.track, i: selected.i } :
			{ track: null, i: -1, time: step > 0 ? (view.all ? -Infinity : view.from) : view.to });
		const time = here.track ? here.track.columns.begin[here.i] : here.time;
		let best = null;
		const me = { time, track: here.track ?? { id: step > 0 ? -1 : 1e9 }, i: here.i };
		for (const [track, hits] of this.hits) {
			const begin = track.columns.begin;
			const low = rank(track, hits, me);
			let k = step > 0 ? low : low - 1;
			if (step < 0 && k >= 0 && track === here.track && hits[k] === here.i)
				k--;
			if (k < 0 || k >= hits.length)
				continue;
			const candidate = { time: begin[hits[k]], track, i: hits[k] };
			if (!best || order(candidate, best) * step < 0)
				best = candidate;
		}
		if (!best)	// round about
			for (const [track, hits] of this.hits) {
				if (!hits.length)
					continue;
				const i = hits[step > 0 ? 0 : hits.length - 1];
				const candidate = { time: track.columns.begin[i], track, i };
				if (!best || order(candidate, best) * step < 0)
					best = candidate;
			}
		this.current = best;
		let before = 0;
		for (const [track, hits] of this.hits)
			before += rank(track, hits, best);
		this.say(`${count(before)} of ${count(this.total)}`);
		this.timeline.select(best.track, best.i, { move: true });
	}
}
