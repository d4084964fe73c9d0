// SPDX-License-Identifier: LGPL-2.1-or-later
//
// All that is known of the record that was clicked, and the tree of its call.

import { button, el } from "../dom.js";
import { at, bytes, count, shortKernel, time, who } from "../format.js";
import { groupColour, groupOf } from "../theme.js";
import { ABANDONED, BEGIN_LOST, FAILED, INSTANT, UNFINISHED } from "../tracks.js";
import { FEW } from "./arrows.js";

const SHOWN = 60;

const FLAGS = [[FAILED, "failed"], [UNFINISHED, "never returned"], [ABANDONED, "left by longjmp or an exception"],
	[BEGIN_LOST, "its begin was lost"], [INSTANT, "instant"]];

/** Fields with the lines of the program: of the call, and of the one that made the node of a CUDA graph's kernel. */
const LINES = { called_from: "called from", captured_from: "node made from" };

/** A value of a field, with what it means where that is sure. */
function valueOf(field) {
	const { value, type, name } = field;
	if (type === "hex")
		return `0x${BigInt(value).toString(16)}`;
	if (type !== "dec")
		return String(value);
	const n = Number(value);
	if (name === "size" && n >= 1024)
		return `${bytes(n)} (${count(n)} B)`;
	return typeof value === "bigint" ? String(value) : n < 1e4 && n > -1e4 ? String(n) : count(n);
}

/** The longest text that is kept, in bytes; the last of its characters may be missing. */
const LONGEST = 4096;

/** A text, and that it was longer if it was. */
function whole(text) {
	const size = text.length * 4 < LONGEST ? 0 : new TextEncoder().encode(text).length;
	return size > LONGEST - 4 ? `${text}\u2026 (cut here: it has more than ${count(LONGEST)} bytes)` : text;
}

export class Selection {
	constructor(timeline, panel) {
		Object.assign(this, { timeline, panel });
		this.job = 0;
		this.empty();
	}

	empty() {
		this.job++;
		this.panel.replaceChildren(el("p", { class: "hint" },
			"Click a call to see its fields and the calls around and inside it. ",
			"Shift-drag marks a range and adds up what is in it."));
	}

	swatch(cls) {
		return el("span", { class: "swatch", "aria-hidden": "true", vars: { "--c": groupColour(groupOf(cls)) } });
	}

	async show(track, i) {
		const job = ++this.job;
		const { tracks } = this.timeline;
		const { begin, duration, class: classes, flags, detail } = track.columns;
		const cls = tracks.classes[classes[i]] ?? { name: "?", fields: [] };
		const flag = flags[i];
		const rows = el("tbody");
		const put = (name, value, kind) => rows.append(el("tr", {}, el("th", { scope: "row" }, name),
			el("td", { class: kind ?? null }, value)));
		if (detail[i])
			put(track.layer === "nvtx" ? "text" : track.layer === "gpu" && cls.category !== "kernel" ? "work" : "kernel",
				this.timeline.manifest.left_out?.cut ? whole(tracks.text(detail[i])) : tracks.text(detail[i]));
		put("begin", at(begin[i], 1));
		if (!(flag & INSTANT))
			put("duration", flag & UNFINISHED ? `at least ${time(duration[i])}` : time(duration[i]));
		const said = FLAGS.filter(([bit]) => flag & bit).map(([, text]) => text).join(", ");
		if (said)
			put("state", said, flag & FAILED ? "bad" : null);
		put("thread", track.tid ? `${track.tid} of ${who(track.process, track.pid)}` : track.name);
		put("layer", [cls.layer, cls.category, cls.op].filter((w) => w && w !== "none").join(" \u00b7 "));
		if (cls.symbol && cls.symbol !== cls.name)
			put("symbol", cls.symbol);
		const tree = el("div", { class: "tree" }, el("p", { class: "hint" }, "\u2026"));
		const head = el("div", { class: "sel-head" }, this.swatch(cls), el("h3", {}, cls.name),
			el("span", { class: "sel-actions" },
				button("Zoom to it", () => this.timeline.zoomToSelection(), { class: "quiet" }),
				button("Previous", () => this.timeline.step(-1), { class: "quiet", "aria-label": "Previous call of the row" }),
				button("Next", () => this.timeline.step(1), { class: "quiet", "aria-label": "Next call of the row" })));
		this.panel.replaceChildren(head, el("div", { class: "sel-body" },
			el("table", { class: "fields", id: "fields", "aria-label": `Fields of ${cls.name}` }, rows), tree));
		this.panel.scrollTop = 0;

		const flow = await tracks.flow(track, i);
		if (job !== this.job)
			return;
		this.timeline.arrows.show(flow);
		this.timeline.redraw();
		rows.prepend(...this.flow(track, i, flow));

		const failed = (error) => rows.append(el("tr", {}, el("td", { colspan: 2, class: "bad" }, error.message)));
		const fields = await tracks.fieldsOf(track, i).catch((error) => { failed(error); return []; });
		if (job !== this.job)
			return;
		// First what most look for.
		for (const field of fields)
			if (LINES[field.name])
				put(LINES[field.name], valueOf(field), "mono");
		for (const field of fields)
			if (!LINES[field.name] && (field.name !== "kernel" || !detail[i]))
				put(field.name, valueOf(field), "mono");
		await track.loadLinks();
		if (job !== this.job)
			return;
		if (track.links.op[i])
			put("op_id", String(track.links.op[i]), "mono");
		await this.tree(tree, track, i, job);
	}

	/** The way from a call to what the GPU did for it, and back. */
	flow(track, i, { call, work, count: n }) {
		const { timeline } = this, { tracks } = timeline;
		const jump = (to, text) => button([el("span", { class: "jump-mark", "aria-hidden": "true" }, "\u2192"), ` ${text}`],
			() => timeline.select(to.track, to.i, { move: true }), { class: "jump" });
		const after = (to) => time(to.track.columns.begin[to.i] - call.track.columns.begin[call.i]);
		const row = (name, ...value) => [el("tr", { class: "flow" }, el("th", { scope: "row" }, name), el("td", {}, value))];
		if (track.layer === "gpu")
			return call ? row("caused by", jump(call, tracks.name(call.track, call.i)), ` which began ${after({ track, i })} earlier`) :
				row("caused by", track.links.parent[i] > 0 ? "a call that is not in this page" : "not known: it is joined to no call");
		if (!n)
			return [];
		const first = { track: work[0].track, i: work[0].list[0] };
		return row("GPU work", jump(first, n === 1 ? shortKernel(tracks.label(first.track, first.i)) : `first of ${count(n)} records`),
			` begins ${after(first)} after the call begins`,
			n > FEW ? `. Where records are close together, an arrow stands for several; there are ${timeline.arrows.most} at most.` : "");
	}

	/** The calls around it, then itself, then those inside it. */
	async tree(place, track, i, job) {
		const { tracks } = this.timeline;
		const parents = await tracks.parents(track, i);
		if (job !== this.job)
			return;
		let list = el("ul", { class: "calls" });
		const top = list;
		for (const parent of parents) {
			const inner = el("ul", { class: "calls" });
			list.append(el("li", {}, this.node(parent, track.columns.duration[i]), inner));
			list = inner;
		}
		const inner = el("ul", { class: "calls" });
		list.append(el("li", {}, this.node({ track, i }, 0, true), inner));
		place.replaceChildren(el("h4", {}, "Tree of the call"), top);
		const { list: children, more } = await tracks.children(track, i, SHOWN);
		if (job !== this.job)
			return;
		for (const child of children)
			inner.append(el("li", {}, this.node(child, 0)));
		if (more)
			inner.append(el("li", { class: "hint" }, `and ${count(more)} more`));
		if (!children.length && !parents.length)
			place.append(el("p", { class: "hint" }, "No recorded call is around it or inside it."));
	}

	node({ track, i }, _inner, self = false) {
		const { tracks } = this.timeline;
		const cls = tracks.classes[track.columns.class[i]] ?? { name: "?" };
		const flag = track.columns.flags[i];
		return button([this.swatch(cls), el("span", { class: "node-name" }, track.layer === "gpu" ? tracks.label(track, i) : tracks.name(track, i)),
			el("span", { class: `node-time${flag & FAILED ? " bad" : ""}` }, flag & INSTANT ? "" : time(track.columns.duration[i]))],
		() => this.timeline.select(track, i, { move: true }),
		{ class: `node${self ? " self" : ""}`, "aria-current": self ? "true" : null });
	}
}
