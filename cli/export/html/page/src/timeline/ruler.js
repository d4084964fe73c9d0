// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Above the rows: the whole trace in small, the times, and the bands of stages and iterations.

import { lowerBound } from "../codec.js";
import { at, niceStep } from "../format.js";
import { GROUPS, groupOf } from "../theme.js";

const FONT = "11px system-ui, sans-serif";

/** Makes the canvas as fine as the screen; returns its context in pixels of the page. */
export function fit(canvas, width, height) {
	const scale = Math.min(2, Math.max(1, devicePixelRatio || 1));
	const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	const context = canvas.getContext("2d");
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

export const RULER = 24, BAND = 18;

export class Ruler {
	constructor(canvas, view, manifest) {
		Object.assign(this, { canvas, view });
		this.stages = manifest.stages ?? [];
		const pids = [...new Set(this.stages.map((s) => s.pid))];
		this.stageRows = pids.slice(0, 3);
		this.iterations = null;		// {begin, duration}
		this.hasIterations = Boolean(manifest.iterations?.blobs);
	}

	get height() { return RULER + (this.stageRows.length + (this.hasIterations ? 1 : 0)) * BAND + 2; }

	draw(palette, range) {
		const { view } = this;
		const c = fit(this.canvas, view.width, this.height);
		c.font = FONT;
		c.textBaseline = "middle";
		const step = niceStep(view.perPixel * 110);
		c.fillStyle = palette.of("--muted");
		c.strokeStyle = palette.of("--line");
		c.beginPath();
		for (let t = Math.ceil(view.from / step) * step; t < view.to; t += step) {
			const x = Math.floor(view.x(t)) + 0.5;
			c.moveTo(x, RULER - 8);
			c.lineTo(x, this.height);
			c.fillText(at(t, step), x + 4, RULER / 2);
		}
		c.stroke();
		let y = RULER;
		for (const pid of this.stageRows) {
			for (const [i, stage] of this.stages.filter((s) => s.pid === pid).entries())
				this.band(c, palette, y, stage.begin, stage.end, stage.name, i % 2 ? "--band2" : "--band1", "--ink");
			y += BAND;
		}
		if (this.iterations)
			this.drawIterations(c, palette, y);
		if (range) {
			const x0 = view.x(range[0]), x1 = view.x(range[1]);
			c.fillStyle = palette.of("--mark");
			c.fillRect(x0, 0, Math.max(1, x1 - x0), this.height);
		}
	}

	band(c, palette, y, begin, end, text, colour, ink) {
		const x0 = Math.max(-2, this.view.x(begin)), x1 = Math.min(this.view.width + 2, this.view.x(end));
		if (x1 < 0 || x0 > this.view.width || x1 <= x0)
			return;
		c.fillStyle = palette.of(colour);
		c.fillRect(x0, y, Math.max(1, x1 - x0 - 1), BAND - 2);
		const room = x1 - Math.max(0, x0) - 10;
		if (c.measureText(text).width <= room) {
			c.fillStyle = palette.of(ink);
			c.fillText(text, Math.max(0, x0) + 6, y + BAND / 2 - 0.5);
		}
	}

	drawIterations(c, palette, y) {
		const { begin, duration } = this.iterations;
		const { view } = this;
		let i = Math.max(0, lowerBound(begin, view.from) - 1), last = -10;
		for (; i < begin.length && begin[i] < view.to; i++) {
			const x = view.x(begin[i]);
			// Narrow ones are a block.
			if (duration[i] / view.perPixel < 3 && x - last < 3)
				continue;
			last = x;
			const end = Math.max(begin[i] + duration[i], view.time(x + 2));
			this.band(c, palette, y, begin[i], end, duration[i] / view.perPixel > 70 ? `iteration ${i + 1}` : String(i + 1), i % 2 ? "--iter2" : "--iter1", "--ink");
		}
	}

	/** The stage or iteration at a point: {begin, end, text}. */
	hit(x, y) {
		const time = this.view.time(x), row = Math.floor((y - RULER) / BAND);
		if (row < 0)
			return null;
		if (row < this.stageRows.length) {
			const stage = this.stages.find((s) => s.pid === this.stageRows[row] && s.begin <= time && time < s.end);
			return stage ? { begin: stage.begin, end: stage.end, text: `${stage.name}: ${stage.text ?? ""}` } : null;
		}
		if (!this.iterations)
			return null;
		const { begin, duration } = this.iterations;
		const i = lowerBound(begin, time + 1) - 1;
		return i >= 0 && time < begin[i] + duration[i] ?
			{ begin: begin[i], end: begin[i] + duration[i], text: `iteration ${i + 1}` } : null;
	}
}

export const MAP = 44;

/** The whole trace in small: how busy each layer is, and which part is in view. */
export class Minimap {
	constructor(canvas, tracks, view) {
		Object.assign(this, { canvas, tracks, view });
		this.picture = document.createElement("canvas");
		this.dirty = true;
	}

	/** Busy shares by pixel and group, from the records or the coarsest level that is fine enough. */
	columns(width) {
		const { view, tracks } = this;
		const per = (view.max - view.min) / width;
		const sums = Array.from(GROUPS, () => new Float32Array(width));
		const group = Uint8Array.from(tracks.classes, groupOf);
		const put = (cls, begin, busy) => {
			const to = sums[group[cls]];
			const from = (begin - view.min) / per, end = from + busy / per;
			for (let x = Math.max(0, Math.floor(from)); x < width && x < end; x++)
				to[x] += Math.min(end, x + 1) - Math.max(from, x);
		};
		for (const track of tracks.list) {
			// These last all the time and say little about how busy it is.
			if (track.layer === "switch" || track.layer === "nvtx")
				continue;
			const level = track.levels.find((l) => l.bins);
			const rows = level?.rows ?? (track.columns && !track.levels.length ? track.rows : null);
			if (level)
				for (let i = 0; i < level.bins.bin.length; i++)
					if (level.bins.depth[i] === 0)
						put(level.bins.class[i], level.bins.bin[i] * level.bin_ns, level.bins.busy[i]);
			if (rows?.[0])
				for (let i = 0; i < rows[0].count; i++)
					put(track.columns.class[rows[0].record[i]], rows[0].begin[i], rows[0].end[i] - rows[0].begin[i]);
		}
		return sums;
	}

	paint(palette, width) {
		const c = fit(this.picture, width, MAP);
		const sums = this.columns(Math.max(1, Math.floor(width)));
		let most = 0;
		for (let x = 0; x < sums[0].length; x++)
			most = Math.max(most, sums.reduce((sum, of) => sum + of[x], 0));
		most = Math.max(0.05, Math.min(most, 4));
		for (let x = 0; x < sums[0].length; x++) {
			let y = MAP - 1;
			for (let g = 0; g < GROUPS.length; g++) {
				if (!sums[g][x])
					continue;
				const height = Math.min(y, Math.max(0.7, sums[g][x] / most * (MAP - 8)));
				c.fillStyle = palette.groups[g];
				// A little wider: no seams where a pixel of the page is not whole pixels of the screen.
				c.fillRect(x, y - height, 1.3, height);
				y -= height;
			}
		}
		this.dirty = false;
		this.paintedWidth = width;
	}

	draw(palette, range) {
		const { view } = this;
		if (this.dirty || this.paintedWidth !== view.width)
			this.paint(palette, view.width);
		const c = fit(this.canvas, view.width, MAP);
		c.drawImage(this.picture, 0, 0, view.width, MAP);
		const x = (t) => (t - view.min) / (view.max - view.min) * view.width;
		const x0 = x(view.from), x1 = Math.max(x0 + 2, x(view.to));
		if (range) {
			c.fillStyle = palette.of("--mark");
			c.fillRect(x(range[0]), 0, Math.max(1, x(range[1]) - x(range[0])), MAP);
		}
		if (!view.all) {
			c.fillStyle = palette.of("--veil");
			c.fillRect(0, 0, x0, MAP);
			c.fillRect(x1, 0, view.width - x1, MAP);
		}
		c.strokeStyle = palette.of("--accent");
		c.lineWidth = 1.5;
		c.strokeRect(Math.max(0.75, x0), 0.75, Math.min(view.width - 0.75, x1) - Math.max(0.75, x0), MAP - 1.5);
	}
}
