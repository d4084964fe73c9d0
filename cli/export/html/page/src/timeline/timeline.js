// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The timeline: puts its parts together and holds what is selected and marked.

import { button, el, get, onceAFrame, settled } from "../dom.js";
import { at, count, time } from "../format.js";
import { GROUPS, groupColour, groupOf, onTheme, palette } from "../theme.js";
import { INSTANT, UNFINISHED } from "../tracks.js";
import { Arrows } from "./arrows.js";
import { Painter } from "./draw.js";
import { KEYS, keys, mouse } from "./input.js";
import { InView, Range } from "./range.js";
import { LAYERS, Rows } from "./rows.js";
import { MAP, Minimap, Ruler } from "./ruler.js";
import { Search } from "./search.js";
import { Selection } from "./selection.js";
import { View } from "./view.js";

export class Timeline {
	constructor(element, tracks) {
		Object.assign(this, { element, tracks, manifest: tracks.manifest });
		const { trace } = this.manifest;
		this.view = new View(trace.begin ?? 0, Math.max(trace.end ?? trace.duration_ns ?? 0, (trace.begin ?? 0) + 1000));
		this.selected = this.range = this.preview = null;
		this.pointer = undefined;
		this.hovered = false;
		this.palette = palette();
		this.redraw = onceAFrame(() => this.draw());
		this.search = new Search(this);
		this.build();
		this.rows = new Rows(tracks, this.labels, () => { this.place(); this.redraw(); });
		this.painter = new Painter(this.body, tracks, this.view, this.rows);
		this.arrows = new Arrows(this.painter, this.view, this.rows);
		// The overview adds up all tracks: not for each that comes.
		const repaintMap = settled(() => { this.minimap.dirty = true; this.redraw(); }, 150);
		this.painter.onload = () => { this.redraw(); repaintMap(); };
		this.ruler = new Ruler(this.head, this.view, this.manifest);
		this.minimap = new Minimap(this.map, tracks, this.view);
		this.selection = new Selection(this, this.panels.record);
		this.totals = new Range(this, this.panels.range);
		this.inView = new InView(this, this.panels.view);
		this.settled = settled(() => this.describe(), 250);
		this.view.onChange(() => { this.redraw(); this.settled(); });
		this.scroller.addEventListener("scroll", this.redraw, { passive: true });
		mouse(this);
		keys(this);
		onTheme(() => { this.palette = palette(); this.minimap.dirty = true; this.redraw(); });
		new ResizeObserver(() => this.place()).observe(this.scroller);
		this.place();
		this.open();
		this.describe();
	}

	/** What is of interest first: the warm-up and the steady state of the process that the page is about. */
	open() {
		const { stages, verdict } = this.manifest;
		const of = (stages ?? []).filter((s) => s.pid === verdict?.pid && (s.name === "warmup" || s.name === "steady") && s.end > s.begin);
		if (!of.some((s) => s.name === "steady"))
			return;
		const begin = Math.min(...of.map((s) => s.begin)), end = Math.max(...of.map((s) => s.end)), margin = (end - begin) * 0.02;
		this.view.set(begin - margin, end + margin);
	}

	build() {
		const used = new Set(this.tracks.classes.filter((c) => c.kept > 0).map(groupOf));
		const present = new Set(this.tracks.list.map((t) => t.layer));
		const layers = el("fieldset", { class: "layers" }, el("legend", { class: "sr" }, "Layers"),
			LAYERS.filter(([id]) => present.has(id)).map(([id, name, title]) => el("label", { class: "chip", title },
				el("input", { type: "checkbox", checked: true, onchange: (event) => this.rows.toggleLayer(id, event.target.checked) }), name)));
		const zoom = el("div", { class: "buttons", role: "group", "aria-label": "Zoom" },
			button("\u2212", () => this.view.zoomSmooth(2), { "aria-label": "Zoom out" }),
			button("+", () => this.view.zoomSmooth(0.5), { "aria-label": "Zoom in" }),
			button("Whole trace", () => this.showAll(), { id: "whole" }));
		this.head = el("canvas", { class: "tl-head" });
		this.map = el("canvas", { class: "tl-map" });
		this.body = el("canvas", { class: "tl-body" });
		for (const canvas of [this.head, this.map, this.body])
			canvas.setAttribute("aria-hidden", "true");
		this.labels = el("div", { class: "tl-labels" });
		this.scroller = el("div", { class: "tl-scroll" }, this.labels, this.body);
		this.tip = el("div", { class: "tip", hidden: true });
		this.status = el("p", { class: "tl-status", "aria-live": "polite", id: "in-view" });
		this.mapLabel = el("span", { class: "hint" });
		this.headLabels = el("div", { class: "tl-corner bands" });
		this.panels = {};
		const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Details" });
		const panels = el("div", { class: "tl-panels" });
		for (const [id, name] of [["record", "Call"], ["range", "Marked range"], ["view", "List of what is in view"]]) {
			const tab = button(name, () => this.openTab(id), { role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` });
			this.panels[id] = el("div", { class: "panel", role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: 0 });
			tabs.append(tab);
			panels.append(this.panels[id]);
		}
		tabs.addEventListener("keydown", (event) => {
			const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			if (!by)
				return;
			event.preventDefault();
			event.stopPropagation();
			const all = [...tabs.children], next = all[(all.indexOf(document.activeElement) + by + all.length) % all.length];
			next.click();
			next.focus();
		});
		this.tabs = tabs;
		this.element.tabIndex = 0;
		this.element.setAttribute("role", "group");
		this.element.setAttribute("aria-label", "Timeline; the tab \u201cList of what is in view\u201d has it in words");
		this.element.append(
			el("div", { class: "tl-bar" }, this.search.element, layers, zoom),
			el("div", { class: "tl-row" }, el("div", { class: "tl-corner" }, el("b", {}, "Overview"), this.mapLabel), this.map),
			el("div", { class: "tl-row" }, this.headLabels, this.head),
			this.scroller,
			el("div", { class: "tl-foot" }, this.status, el("ul", { class: "legend", "aria-label": "Colours" },
				GROUPS.map((g, i) => used.has(i) && el("li", {}, el("span", { class: "swatch", "aria-hidden": "true", vars: { "--c": groupColour(i) } }), g.name)))),
			tabs, panels, this.tip);
		this.openTab("record");
		this.element.addEventListener("pointerenter", () => { this.hovered = true; });
		this.element.addEventListener("pointerleave", () => { this.hovered = false; });
		const help = get("keys"), helpButton = get("keys-button");
		help.append(el("dl", {}, KEYS.map(([key, text]) => el("div", {}, el("dt", {}, key), el("dd", {}, text)))));
		helpButton.addEventListener("click", () => {
			help.hidden = !help.hidden;
			helpButton.setAttribute("aria-expanded", String(!help.hidden));
		});
		this.mapLabel.textContent = time(this.view.max - this.view.min);
	}

	openTab(id) {
		this.tab = id;
		for (const tab of this.tabs.children) {
			const on = tab.id === `tab-${id}`;
			tab.setAttribute("aria-selected", String(on));
			tab.tabIndex = on ? 0 : -1;
		}
		for (const [name, panel] of Object.entries(this.panels))
			panel.hidden = name !== id;
		if (id === "view" && this.inView)
			this.inView.show();
	}

	/** Sizes: the rows take what they need, up to a part of the window. */
	place() {
		const most = Math.max(240, Math.round(innerHeight * 0.62));
		const shown = Math.max(80, Math.min(most, this.rows.height));
		// On the elements themselves: all labels would inherit a property of the timeline.
		for (const [of, height] of [[this.scroller, shown], [this.body, shown], [this.labels, this.rows.height],
			[this.head, this.ruler.height], [this.map, MAP]])
			of.style.height = `${height}px`;
		const names = this.ruler.stageRows.map((pid) => this.ruler.stageRows.length > 1 ? `Stages of ${pid}` : "Stages");
		this.headLabels.replaceChildren(...names.map((n) => el("span", {}, n)), ...(this.ruler.hasIterations ? [el("span", {}, "Iterations")] : []));
		const width = this.body.clientWidth, height = this.scroller.clientHeight;
		this.painter.resize(width, height);
		if (width !== this.view.width)
			this.view.resize(width);
		this.redraw();
	}

	draw() {
		const range = this.preview ?? this.range;
		const scroll = this.scroller.scrollTop;
		this.painter.draw(this.palette, scroll);
		this.painter.overlay(scroll, this.selected, range);
		this.arrows.draw(this.palette, scroll);
		this.ruler.draw(this.palette, range);
		this.minimap.draw(this.palette, range);
	}

	/** What is in view, for those who do not see it. */
	describe() {
		const { view, tracks } = this;
		let n = 0;
		for (const track of tracks.list)
			n += track.columns ? track.countBetween(view.from, view.to) : view.all ? track.count : 0;
		this.status.textContent = view.all ? `The whole trace: ${time(view.span)}, ${count(this.tracks.list.reduce((sum, t) => sum + t.count, 0))} records` :
			`In view: ${at(view.from)} to ${at(view.to)} (${time(view.span)}), ${count(n)} ${this.manifest.left_out?.records ? "of the kept " : ""}records begin here`;
		if (this.tab === "view")
			this.inView.show();
	}

	showAll() {
		this.view.go(this.view.min, this.view.max);
	}

	at(x, y) {
		const hit = this.rows.hit(y + this.scroller.scrollTop);
		if (!hit?.track)
			return null;
		const i = hit.track.at(hit.depth, this.view.time(x), this.view.perPixel * 3);
		return i < 0 ? null : { track: hit.track, i };
	}

	click(x, y) {
		const hit = this.at(x, y);
		if (hit)
			this.select(hit.track, hit.i, {});
		else
			this.clear();
	}

	/** @move: bring it into view, if it is not well to be seen there. */
	async select(track, i, { move = false, zoom = false }) {
		await track.load();
		this.selected = { track, i };
		this.arrows.show(null);
		if (move || zoom) {
			const { begin, duration, depth } = track.columns;
			const item = this.rows.reveal(track);
			const place = this.rows.place(track, depth[i]) ?? item;
			const { scrollTop, clientHeight } = this.scroller;
			if (place.y < scrollTop + 10 || place.y + place.height > scrollTop + clientHeight - 10)
				this.scroller.scrollTop = place.y - clientHeight / 3;
			const { view } = this;
			const from = begin[i], to = from + duration[i];
			const width = (to - from) / view.perPixel;
			if (zoom)	// with what is around it
				view.show(from - (to - from) * 1.2, to + (to - from) * 1.2);
			else if (from < view.from || to > view.to || width < 12)
				view.show(from - Math.max(duration[i] * 3, 2000), to + Math.max(duration[i] * 3, 2000));
		}
		this.openTab("record");
		this.redraw();
		await this.selection.show(track, i);
	}

	/** What is selected before anybody clicks: what a finding shows, else the longest call. */
	async selectFirst() {
		if (this.selected || this.range)
			return;
		const { list } = this.tracks;
		for (const record of (this.manifest.findings ?? []).flatMap((f) => f.records ?? [])) {
			await list[record.track]?.loadLinks();
			const i = list[record.track]?.find(record.op, record.begin) ?? -1;
			if (i >= 0 && !this.selected)
				return this.select(list[record.track], i, {});
		}
		const track = list.find((t) => t.layer === "api" && t.kept > 0) ?? list.find((t) => t.kept > 0);
		if (track && !this.selected) {
			const { duration } = track.columns;
			await this.select(track, duration.reduce((best, of, i) => of > duration[best] ? i : best, 0), {});
		}
	}

	async selectParent() {
		if (!this.selected)
			return;
		const parents = await this.tracks.parents(this.selected.track, this.selected.i);
		const parent = parents[parents.length - 1];
		if (parent)
			this.select(parent.track, parent.i, { move: true });
	}

	/** From a call to the first work of the GPU for it, or from work to its call. */
	async follow() {
		if (!this.selected)
			return;
		const { call, work: [first] } = await this.tracks.flow(this.selected.track, this.selected.i);
		if (this.selected.track.layer !== "gpu" && first)
			this.select(first.track, first.list[0], { move: true });
		else if (this.selected.track.layer === "gpu" && call)
			this.select(call.track, call.i, { move: true });
	}

	/** The next record of the same row, or with -1 the one before. */
	step(by) {
		if (!this.selected)
			return;
		const { track, i } = this.selected;
		const { depth } = track.columns;
		for (let k = i + by; k >= 0 && k < depth.length; k += by)
			if (depth[k] === depth[i]) {
				this.select(track, k, { move: true });
				return;
			}
	}

	zoomToSelection() {
		if (!this.selected) {
			if (this.range)
				this.view.go(...this.range);
			return;
		}
		const { track, i } = this.selected;
		this.view.show(track.columns.begin[i], track.columns.begin[i] + track.columns.duration[i]);
	}

	setRange(range, done) {
		this.range = range;
		this.redraw();
		if (!done)
			return;
		if (range) {
			this.openTab("range");
			this.totals.show(range);
		} else {
			this.totals.empty();
		}
	}

	previewRange(range) {
		this.preview = range;
		this.redraw();
	}

	clear() {
		this.selected = null;
		this.arrows.show(null);
		this.selection.empty();
		if (this.range)
			this.setRange(null, true);
		this.redraw();
	}

	/** Shows a time, and the record {track, op, begin} there if it is one that this page has. */
	async goTo(begin, end, record) {
		this.element.closest("section").scrollIntoView({ block: "start" });
		this.element.focus({ preventScroll: true });
		const track = this.tracks.list[record?.track];
		if (track) {
			await track.loadLinks();
			const i = track.find(record.op, begin);
			if (i >= 0) {
				await this.select(track, i, { zoom: true });
				return;
			}
		}
		this.view.show(begin, end);
		this.setRange(record && end > begin ? [begin, end] : null, true);
	}

	hover(event) {
		const hit = event && event.buttons === 0 ? this.at(event.offsetX, event.offsetY) : null;
		this.pointer = event ? event.offsetX : undefined;
		if (!hit) {
			this.showTip(null);
			return;
		}
		const { track, i } = hit;
		const { duration, flags, detail } = track.columns;
		const length = flags[i] & INSTANT ? at(track.columns.begin[i]) :
			(flags[i] & UNFINISHED ? "at least " : "") + time(duration[i]);
		this.showTip(event, this.tracks.name(track, i), length, this.tracks.text(detail[i]));
	}

	hoverHead(event) {
		const hit = event && event.buttons === 0 ? this.ruler.hit(event.offsetX, event.offsetY) : null;
		if (hit)
			this.showTip(event, hit.text, time(hit.end - hit.begin));
		else
			this.showTip(null);
	}

	showTip(event, name, length, detail) {
		this.tip.hidden = !event;
		if (!event)
			return;
		this.tip.replaceChildren(el("b", {}, name), el("span", { class: "tip-time" }, length), ...(detail ? [el("small", {}, detail)] : []));
		const box = this.element.getBoundingClientRect(), width = this.tip.offsetWidth;
		const x = Math.min(event.clientX - box.left + 14, box.width - width - 8);
		this.tip.style.setProperty("--x", `${Math.max(4, x)}px`);
		this.tip.style.setProperty("--y", `${event.clientY - box.top + 18}px`);
	}
}
