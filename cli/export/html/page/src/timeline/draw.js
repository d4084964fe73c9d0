// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Draws the spans.  A row is one line of pixels, made in memory and copied to the row's height,
// so a frame costs about the same however many records are in view.  Text comes on top of that.

import { lowerBound } from "../codec.js";
import { niceStep, shortKernel } from "../format.js";
import { groupOf } from "../theme.js";
import { FAILED, INSTANT } from "../tracks.js";
import { PAD, ROW, THIN } from "./rows.js";

/** With more records in view than this, a zoom level is drawn. */
const MANY = 20000;
const FONT = "11px system-ui, sans-serif";

export class Painter {
	constructor(canvas, tracks, view, rows) {
		Object.assign(this, { canvas, tracks, view, rows });
		this.context = canvas.getContext("2d", { alpha: false });
		this.group = Uint8Array.from(tracks.classes, groupOf);
		this.widths = new Map();
		this.short = new Map();
		this.hits = null;		// of a search: Map(track -> indices)
		this.onload = () => {};
		this.texts = [];
	}

	resize(width, height) {
		this.scale = Math.min(2, Math.max(1, devicePixelRatio || 1));
		const [w, h] = [Math.max(1, Math.round(width * this.scale)), Math.max(1, Math.round(height * this.scale))];
		if (w !== this.canvas.width || h !== this.canvas.height || !this.image) {
			this.canvas.width = w;
			this.canvas.height = h;
			this.image = this.context.createImageData(w, h);
			this.pixels = new Uint32Array(this.image.data.buffer);
			this.line = new Uint32Array(w);
			this.top = new Uint32Array(w);
			this.grid = new Uint32Array(w);
		}
		this.width = w;
		this.height = h;
	}

	/** Draws what is at @scroll and below it. */
	draw(palette, scroll) {
		const { view, scale, width } = this;
		this.palette = palette;
		this.perPixel = view.span / width;
		this.texts = [];
		this.drawnRecords = 0;
		this.grid.fill(palette.background);
		this.bands(palette);
		const step = niceStep(view.perPixel * 110);
		for (let t = Math.ceil(view.from / step) * step; t < view.to; t += step)
			this.grid[Math.min(width - 1, Math.floor((t - view.from) / this.perPixel))] = palette.line;
		for (let y = 0; y < this.height; y++)
			this.pixels.set(this.grid, y * width);
		for (const item of this.rows.items) {
			const y = item.y - scroll;
			if (y + item.height < 0 || y * scale > this.height)
				continue;
			if (item.kind !== "track") {
				this.head(item, y);
				continue;
			}
			this.fetch(item.track);
			if (item.open)
				for (let depth = 0; depth < item.track.depth; depth++)
					this.row(item.track, depth, y + PAD + depth * ROW, ROW - 1, true);
			else
				this.row(item.track, 0, y + PAD + 2, THIN, false);
		}
		this.context.putImageData(this.image, 0, 0);
		this.text();
	}

	/** Collectives, through the tracks of all ranks: until the last one came, and until the last one left. */
	bands(palette) {
		const operations = this.tracks.manifest.job?.operations ?? [];
		const x = (ns) => Math.max(0, Math.min(this.width, Math.round((ns - this.view.from) / this.perPixel)));
		for (const [, , , , arrived, waited, took] of operations) {
			if (arrived + took < this.view.from || arrived > this.view.to || took < this.perPixel)
				continue;
			this.grid.fill(palette.waits, x(arrived), x(arrived + waited));
			this.grid.fill(palette.moves, x(arrived + waited), x(arrived + took));
		}
	}

	/** The line of a process or thread; what is folded away shows its first track there. */
	head(item, y) {
		if (item.kind === "process")
			this.fill(y, item.height - 1, this.palette.stripe);
		if (item.open)
			return;
		const thread = item.kind === "thread" ? item : item.threads[0];
		const t = thread.tracks.find((of) => !this.rows.hidden.has(of.track.layer));
		if (!t)
			return;
		this.fetch(t.track);
		this.row(t.track, 0, y + (item.height - THIN) / 2, THIN, false);
	}

	fill(y, height, colour) {
		const from = Math.max(0, Math.round(y * this.scale)), to = Math.min(this.height, Math.round((y + height) * this.scale));
		if (to > from)
			this.pixels.fill(colour, from * this.width, to * this.width);
	}

	fetch(track) {
		if (track.columns || track.asked)
			return;
		track.asked = true;
		const { onload } = this;
		const coarse = track.levels.length ? this.level(track) : null;
		(coarse ? track.loadLevel(coarse) : track.load()).then(onload, onload);
		track.load().then(onload, onload);
	}

	/** The level whose bins are about a pixel wide, or the finest. */
	level(track) {
		let best = track.levels[0];
		for (const level of track.levels)
			if (level.bin_ns <= this.perPixel * 1.01)
				best = level;
		return best;
	}

	row(track, depth, y, height, labels) {
		const from = Math.max(0, Math.round(y * this.scale)), to = Math.min(this.height, Math.round((y + height) * this.scale));
		if (to <= from)
			return;
		const { line } = this;
		line.set(this.grid);
		this.failed = false;
		let rows = track.rows;
		if (track.levels.length && (track.kept < track.count ||
			!track.columns || track.countBetween(this.view.from, this.view.to) > MANY)) {
			const level = this.level(track);
			if (level.state === "none")
				track.loadLevel(level).then(this.onload, this.onload);
			const there = level.bins ? level : track.levels.find((l) => l.bins);
			if (there?.bins)
				this.bins(there, depth);
			if (there?.rows && track.countBetween(this.view.from, this.view.to) > MANY)
				rows = there.rows;
			else if (track.countBetween(this.view.from, this.view.to) > MANY)
				rows = there?.rows ?? null;
		}
		if (rows?.[depth])
			this.spans(track, rows[depth], labels ? y : NaN, height);
		const hits = this.hits?.get(track);
		if (hits)
			this.marks(track, hits.rows[depth]);
		for (let i = from; i < to; i++)
			this.pixels.set(line, i * this.width);
		if (this.failed)
			for (let i = Math.max(from, to - Math.round(3 * this.scale)); i < to; i++)
				this.pixels.set(this.top, i * this.width);
	}

	/** The bins of a zoom level: the more of a pixel is busy, the fuller its colour. */
	bins(level, depth) {
		const { bin, depth: depths, busy, class: classes } = level.bins;
		const { view, line, group, width, perPixel, hits } = this;
		const per = level.bin_ns;
		const shades = this.palette.shades;
		let i = lowerBound(bin, Math.floor(view.from / per));
		const end = lowerBound(bin, Math.ceil(view.to / per), i);
		for (; i < end; i++) {
			if (depths[i] !== depth)
				continue;
			const x = (bin[i] * per - view.from) / perPixel;
			const share = Math.min(16, Math.max(hits ? 2 : 5, Math.round(busy[i] / per * 16)));
			const x0 = Math.max(0, Math.floor(x)), x1 = Math.min(width, Math.max(x0 + 1, Math.floor(x + per / perPixel)));
			line.fill(shades[group[classes[i]]][hits ? Math.min(share, 4) : share], x0, x1);
		}
	}

	spans(track, row, y, height) {
		const { view, line, width, perPixel, group, hits } = this;
		const { class: classes, flags } = track.columns;
		const { shades, faint, edges, failed } = this.palette;
		const from = view.from, to = view.to, wide = 36 * this.scale;
		let i = row.first(from);
		while (i < row.count && row.begin[i] < to) {
			const x = (row.begin[i] - from) / perPixel;
			const right = (row.end[i] - from) / perPixel;
			const record = row.record[i];
			const g = group[classes[record]];
			const flag = flags[record];
			if (right - x >= 2) {
				const x0 = Math.max(0, Math.round(x)), x1 = Math.min(width, Math.max(x0 + 1, Math.round(right) - (right - x > 4 ? 1 : 0)));
				line.fill(hits ? faint[g] : shades[g][16], x0, x1);
				if (!hits && x >= 0 && right - x > 8)
					line[x0] = edges[g];
				if (flag & FAILED)
					this.fail(x0, x1, failed);
				if (x1 - x0 >= wide && y === y)
					this.texts.push({ track, record, x: x0, to: x1, y, height, g });
				i++;
				continue;
			}
			// Less than two pixels: the longest of those that begin here stands for all of them.
			const column = Math.max(0, Math.floor(x));
			const next = row.next(from + (column + 1) * perPixel, i + 1);
			if (column < width) {
				let best = i, any = 0;
				for (let k = i, end = Math.min(next, i + 24); k < end; k++) {
					any |= flags[row.record[k]];
					if (row.end[k] - row.begin[k] > row.end[best] - row.begin[best])
						best = k;
				}
				const of = group[classes[row.record[best]]];
				const little = (row.end[best] - row.begin[best]) / perPixel < 0.3 && next - i < 3;
				line.fill(hits ? faint[of] : shades[of][little && !(any & INSTANT) ? 12 : 16], column, Math.min(width, column + 1));
				if (any & FAILED)
					this.fail(column, column + 1, failed);
			}
			i = next;
		}
	}

	fail(from, to, colour) {
		if (!this.failed) {
			this.failed = true;
			this.top.set(this.grid);
		}
		this.top.fill(colour, from, to);
	}

	/** What a search found stands out, also where it is less than a pixel. */
	marks(track, row) {
		const { view, line, width, perPixel, group } = this;
		const { class: classes } = track.columns;
		for (let i = row.first(view.from); i < row.count && row.begin[i] < view.to;) {
			const x = (row.begin[i] - view.from) / perPixel;
			const x0 = Math.max(0, Math.floor(x)), x1 = Math.min(width, Math.max(x0 + 1, Math.round((row.end[i] - view.from) / perPixel)));
			line.fill(this.palette.shades[group[classes[row.record[i]]]][16], x0, x1);
			i = row.next(view.from + x1 * perPixel, i + 1);
		}
	}

	measure(text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 20000)
				this.widths.clear();
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	/** What is written on a span: the function, and the kernel or text where there is room. */
	caption(track, i) {
		const number = track.columns.detail[i];
		const name = this.tracks.name(track, i);
		if (!number)
			return name;
		let detail = this.short.get(number);
		if (detail === undefined) {
			const text = this.tracks.text(number);
			detail = track.layer === "nvtx" ? text : shortKernel(text);
			this.short.set(number, detail);
		}
		if (!detail)
			return name;
		return track.layer === "nvtx" || track.layer === "gpu" ? detail : `${name}  ${detail}`;
	}

	text() {
		const { context: c, scale } = this;
		c.setTransform(scale, 0, 0, scale, 0, 0);
		c.font = FONT;
		c.textBaseline = "middle";
		for (const { track, record, x, to, y, height, g } of this.texts) {
			const left = x / scale + 5, room = to / scale - left - 3;
			let text = this.caption(track, record);
			const needed = this.measure(text);
			if (needed > room) {
				const keep = Math.floor(text.length * room / needed) - 1;
				if (keep < 2)
					continue;
				text = text.slice(0, keep) + "\u2026";
				// Its letters may be wider than the others'.
				while (text.length > 3 && c.measureText(text).width > room)
					text = text.slice(0, -2) + "\u2026";
			}
			c.fillStyle = this.hits ? this.palette.of("--ink") : this.palette.ink[g];
			c.fillText(text, left, y + height / 2 + 0.5);
		}
		c.setTransform(1, 0, 0, 1, 0, 0);
	}

	/** A frame around a record, and the marked range. */
	overlay(scroll, selected, range) {
		const { context: c, scale, view, palette } = this;
		c.setTransform(scale, 0, 0, scale, 0, 0);
		if (range) {
			const x0 = view.x(range[0]), x1 = view.x(range[1]);
			c.fillStyle = palette.of("--mark");
			c.fillRect(x0, 0, Math.max(1, x1 - x0), this.height / scale);
			c.fillStyle = palette.of("--accent");
			c.fillRect(x0 - 0.5, 0, 1, this.height / scale);
			c.fillRect(x1 - 0.5, 0, 1, this.height / scale);
		}
		if (selected) {
			const { track, i } = selected;
			const place = track.columns ? this.rows.place(track, track.columns.depth[i]) : null;
			if (place) {
				const x0 = Math.max(-4, view.x(track.columns.begin[i]));
				const x1 = Math.min(view.width + 4, view.x(track.columns.begin[i] + track.columns.duration[i]));
				c.lineWidth = 2;
				c.strokeStyle = palette.of("--select");
				c.strokeRect(x0 - 1, place.y - scroll - 0.5, Math.max(4, x1 - x0 + 1), place.height + 1);
			}
		}
		c.setTransform(1, 0, 0, 1, 0, 0);
	}
}
