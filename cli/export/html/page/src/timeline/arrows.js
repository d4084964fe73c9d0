// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Thin arrows from the selected call to the work of the GPU that it caused, or from the call to
// the selected work.  An end that is out of sight is drawn at the edge, one that is folded away
// at the head it is folded into.  However much work there is, a frame has at most .most arrows.

import { lowerBound } from "../codec.js";

/** Arrows to one row that are nearer than this are one: pixels. */
const SPACE = 12;
/** Where a row has more arrows than this, they leave a line along it. */
export const FEW = 8;
/** How far from a row that line is, and what comes from beyond an edge. */
const ALONG = 12, BESIDE = 3;
const contrast = matchMedia("(prefers-contrast: more)");

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

export class Arrows {
	constructor(painter, view, rows) {
		Object.assign(this, { painter, view, rows });
		this.most = 200;
		this.drawn = [];	// of the last frame
		this.show(null);
	}

	/** @flow as Tracks.flow() tells it, or null. */
	show(flow) {
		this.flow = flow?.call && flow.count ? flow : null;
		this.begins = this.flow?.work.map(({ track, list }) => Float64Array.from(list, (i) => track.columns.begin[i])) ?? [];
	}

	/** The indices of @work to which arrows are drawn; one beyond an edge stands for all there. */
	pick({ list }, begins) {
		const { from, to, perPixel } = this.view;
		const picked = [];
		let k = lowerBound(begins, from);
		if (k > 0)
			picked.push(list[k - 1]);
		while (k < list.length && begins[k] <= to && picked.length < this.most) {
			picked.push(list[k]);
			k = lowerBound(begins, begins[k] + SPACE * perPixel, k + 1);
		}
		k = lowerBound(begins, to, k);
		if (k < list.length && begins[k] > to)
			picked.push(list[k]);
		return picked;
	}

	/** An arrow in pixels of the canvas, cut at its edges; null: none of it is to be seen. */
	arrow(from, to, width, height) {
		const sign = to.y > from.y ? 1 : -1;
		const [a, b] = [from, to].map(({ x, y, height: high }, k) => {
			const side = x < 0 ? -1 : x > width ? 1 : 0;
			// Beyond a side the line stays beside the row, so that it covers nothing there.
			const edge = ((sign > 0) === (k === 0) ? y + high : y) + (!side ? 0 : k === 0 ? sign * BESIDE : -sign * ALONG);
			const above = edge < 0 ? -1 : edge > height ? 1 : 0;
			return { x: clamp(x, 0, width), y: clamp(edge, 0, height), side, above };
		});
		if (from.y === to.y || (a.side && a.side === b.side) || (a.above && a.above === b.above))
			return null;
		const rise = sign * clamp(Math.abs(b.y - a.y) / 2, 10, 90), run = clamp(Math.abs(b.x - a.x) / 2, 10, 120);
		const bend = (end, way) => end.side ? [end.x - end.side * run, end.y] : [end.x, end.y + way * rise];
		return { from: a, to: b, bends: [...bend(a, 1), ...bend(b, -1)], head: b.side ? [b.side, 0] : [0, sign] };
	}

	/** All arrows of the view, those to each row for themselves. */
	list(scroll) {
		const { call, work } = this.flow;
		const { width, painter, rows, view } = { ...this, width: this.view.width };
		const height = painter.height / painter.scale;
		const of = call.track.columns;
		const first = of.begin[call.i], last = first + of.duration[call.i];
		const source = rows.placeOrHead(call.track, of.depth[call.i]);
		let left = this.most;
		return work.map((part, n) => {
			const { columns } = part.track, arrows = [];
			for (const i of source ? this.pick(part, this.begins[n]) : []) {
				const target = rows.placeOrHead(part.track, columns.depth[i]);
				// Work may begin before the call returns.
				const leaves = clamp(columns.begin[i], first, last);
				const arrow = target && left > 0 ? this.arrow(
					{ x: view.x(leaves), y: source.y - scroll, height: source.height },
					{ x: view.x(columns.begin[i]), y: target.y - scroll, height: target.height }, width, height) : null;
				if (arrow && left-- > 0)
					arrows.push({ ...arrow, track: part.track, i });
			}
			return arrows;
		});
	}

	draw(palette, scroll) {
		const rows = this.flow ? this.list(scroll) : [];
		this.drawn = rows.flat();
		if (!this.drawn.length)
			return;
		const { context: c, scale } = this.painter;
		const lines = new Path2D(), heads = new Path2D();
		for (const arrows of rows)
			for (const [n, { from, to, bends, head: [dx, dy] }] of arrows.entries()) {
				// The line ends in the head, whose tip is the end.
				const x = to.x - dx * 5, y = to.y - dy * 5;
				if (n > 0 && arrows.length > FEW) {
					const before = arrows[n - 1].to, along = to.y - dy * ALONG;
					lines.moveTo(before.x, along);
					lines.lineTo(x, along);
					lines.lineTo(x, y);
				} else {
					lines.moveTo(from.x, from.y);
					lines.bezierCurveTo(...bends, x, y);
				}
			}
		for (const { to, head: [dx, dy] } of this.drawn) {
			heads.moveTo(to.x, to.y);
			heads.lineTo(to.x - dx * 8 + dy * 4, to.y - dy * 8 + dx * 4);
			heads.lineTo(to.x - dx * 8 - dy * 4, to.y - dy * 8 - dx * 4);
			heads.closePath();
		}
		c.setTransform(scale, 0, 0, scale, 0, 0);
		// A rim in the colour of the page keeps an arrow apart from what it crosses.
		const width = contrast.matches ? 2.5 : 1.5;
		c.lineJoin = "round";
		c.strokeStyle = palette.of("--surface");
		c.lineWidth = width + 2.5;
		c.stroke(lines);
		c.stroke(heads);
		c.strokeStyle = c.fillStyle = palette.of("--select");
		c.lineWidth = width;
		c.stroke(lines);
		c.fill(heads);
		c.setTransform(1, 0, 0, 1, 0, 0);
	}
}
