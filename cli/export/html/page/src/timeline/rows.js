// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What lies where from top to bottom: processes, their threads, and the threads' tracks.  The
// labels are elements, so that the keyboard and a screen reader reach them.

import { el } from "../dom.js";
import { count, who } from "../format.js";

export const ROW = 18, THIN = 10, PAD = 3;
const HEADS = { process: 28, thread: 22 };

export const LAYERS = [
	["nvtx", "Ranges", "ranges and marks of the program (NVTX)"],
	["api", "API", "calls of libcuda and libcudart"],
	["ioctl", "ioctl", "ioctls of the driver"],
	["driver", "Driver", "functions of the kernel driver"],
	["interrupt", "Interrupts", "the driver's interrupt handlers, by CPU"],
	["switch", "Off CPU", "the thread does not run"],
	["gpu", "GPU", "what the GPU did"],
];
const LAYER_NAME = Object.fromEntries(LAYERS.map(([id, name]) => [id, name]));

export class Rows {
	/** @changed is called when the layout has changed. */
	constructor(tracks, labels, changed) {
		this.labels = labels;
		this.changed = changed;
		this.hidden = new Set();
		this.groups = [];
		// As the kernel has them; an older recorder noted none.
		this.names = new Map((tracks.manifest.thread_names ?? []).map(([pid, tid, name]) => [`${pid} ${tid}`, name]));
		this.ranks = new Map((tracks.manifest.job?.ranks ?? []).map((r) => [r.pid, r.rank]));
		for (const track of tracks.list)
			this.add(track);
		// Ranks side by side, in their order; what is no rank comes behind them.
		this.groups.sort((a, b) => a.rank - b.rank);
		this.openSome();
		this.layout();
	}

	add(track) {
		const pid = track.pid || 0;
		const process = pid ? who(track.process, pid) : track.layer === "gpu" ? "GPU" : "CPUs";
		let group = this.groups.find((g) => g.key === process);
		if (!group) {
			const rank = this.ranks.get(pid) ?? Infinity;
			group = { kind: "process", key: process, title: rank < Infinity ? `rank ${rank} \u00b7 ${process}` : process, rank, threads: [], open: true, records: 0 };
			this.groups.push(group);
		}
		const gpu = track.layer === "gpu";
		const key = gpu ? `g${track.gpu}` : pid && track.tid ? `t${track.tid}` : `n${track.name}`;
		let thread = group.threads.find((t) => t.key === key);
		if (!thread) {
			const called = this.names.get(`${track.pid} ${track.tid}`);
			const title = gpu ? `GPU ${track.gpu}` : !track.tid ? track.name : called ? `${called} (${track.tid})` : track.name === "main" ? `main (${track.tid})` :
				track.name || `thread ${track.tid}`;
			thread = { kind: "thread", key, title, tracks: [], open: false, records: 0, group };
			group.threads.push(thread);
		}
		thread.tracks.push({ kind: "track", track, title: gpu ? `ctx ${track.context} stream ${track.stream}` : LAYER_NAME[track.layer] ?? track.layer, open: true, thread });
		thread.records += track.count;
		group.records += track.count;
	}

	/** At first the busiest threads are open, as far as they fit on a screen. */
	openSome() {
		let left = 900;
		const threads = this.groups.flatMap((g) => g.threads).sort((a, b) => b.records - a.records);
		for (const [i, thread] of threads.entries()) {
			const height = thread.tracks.reduce((sum, t) => sum + t.track.depth * ROW + 2 * PAD, HEADS.thread);
			if (i > 0 && height > left)
				break;
			thread.open = true;
			left -= height;
		}
		const folded = threads.length - threads.filter((t) => t.open).length;
		if (folded > 40)
			for (const group of this.groups)
				group.open = group.threads.some((t) => t.open);
	}

	/** Computes this.items: [{kind, y, height, ...}], and makes the labels. */
	layout() {
		const items = [];
		let y = 0;
		const put = (item, height, open) => {
			items.push({ ...item, item, y, height, open });
			y += height;
		};
		for (const group of this.groups) {
			const threads = group.threads.map((thread) =>
				[thread, thread.tracks.filter((t) => !this.hidden.has(t.track.layer))]).filter(([, t]) => t.length);
			if (!threads.length)
				continue;
			put(group, HEADS.process, group.open);
			if (!group.open)
				continue;
			for (const [thread, tracks] of threads) {
				put(thread, HEADS.thread, thread.open);
				if (!thread.open)
					continue;
				for (const t of tracks)
					put(t, (t.open ? t.track.depth * ROW : THIN + 4) + 2 * PAD, t.open);
			}
		}
		this.items = items;
		this.height = y;
		this.label();
	}

	label() {
		const focused = this.labels.querySelector("button:focus")?.dataset.key;
		this.labels.replaceChildren(...this.items.map((item) => {
			const records = item.kind === "track" ? item.track.count : item.records;
			const key = item.kind === "track" ? `${item.track.id}` : `${item.group?.key ?? ""}/${item.key}`;
			return el("button", {
				type: "button",
				class: `tl-label ${item.kind}`,
				"data-key": key,
				"aria-expanded": String(item.open),
				title: `${item.title}: ${count(records)} records`,
				vars: { "--y": `${item.y}px`, "--h": `${item.height}px` },
				onclick: () => {
					item.item.open = !item.open;
					this.layout();
					this.changed();
				},
			}, el("span", { class: "fold", "aria-hidden": "true" }), el("span", { class: "name" }, item.title),
			el("span", { class: "records" }, count(records)));
		}));
		if (focused !== undefined)
			[...this.labels.children].find((b) => b.dataset.key === focused)?.focus({ preventScroll: true });
	}

	toggleLayer(layer, on) {
		if (on)
			this.hidden.delete(layer);
		else
			this.hidden.add(layer);
		this.layout();
		this.changed();
	}

	/** Makes a track visible; returns its item. */
	reveal(track) {
		const of = this.groups.flatMap((g) => g.threads).flatMap((t) => t.tracks).find((t) => t.track === track);
		this.hidden.delete(track.layer);
		of.open = of.thread.open = of.thread.group.open = true;
		this.layout();
		this.changed();
		return this.items.find((item) => item.track === track);
	}

	/** Where a record's row is: {y, height}, or null while it is folded away. */
	place(track, depth) {
		const item = this.items.find((t) => t.track === track);
		if (!item)
			return null;
		return item.open ? { y: item.y + PAD + Math.min(depth, track.depth - 1) * ROW, height: ROW - 1 } :
			{ y: item.y + PAD, height: THIN };
	}

	/** The same, or the head of what it is folded into; null where its layer is hidden. */
	placeOrHead(track, depth) {
		const place = this.place(track, depth);
		if (place || this.hidden.has(track.layer))
			return place;
		const head = this.items.findLast((item) => item.kind === "thread" ? item.tracks.some((t) => t.track === track) :
			item.kind === "process" && item.threads.some((thread) => thread.tracks.some((t) => t.track === track)));
		return head ? { y: head.y + (head.height - THIN) / 2, height: THIN } : null;
	}

	/** What is at a height: {item, track, depth}. */
	hit(y) {
		const item = this.items.find((i) => y >= i.y && y < i.y + i.height);
		if (item?.kind !== "track")
			return item ? { item, track: null, depth: 0 } : null;
		const depth = item.open ? Math.floor((y - item.y - PAD) / ROW) : 0;
		return { item, track: item.track, depth: Math.max(0, Math.min(depth, item.track.depth - 1)) };
	}
}
