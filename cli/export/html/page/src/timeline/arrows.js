// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Thin arrows from the selected call to the work of the GPU that it caused, or from the call to
// the selected work.  An end that is out of sight is drawn at the edge, one that is folded away
// at the head it is folded into.  However much work there is, a frame has at most .most arrows.

import { lowerBound } from "../codec.js";

/** Arrows to one row that are nearer than this are one: pixels. */
const SPACE = 7;
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
			// At the side the row's middle tells where the end is; else its edge.
			const edge = side ? y + high / 2 : (sign > 0) === (k === 0) ? y + high : y;
			const above = edge < 0 ? -1 : edge > height ? 1 : 0;
			return { x: clamp(x, 0, width), y: clamp(edge, 0, height), side, above };
		});
		if (from.y === to.y || (a.side && a.side === b.side) || (a.above && a.above === b.above))
			return null;
		const rise = sign * clamp(Math.abs(b.y - a.y) / 2, 10, 90), run = clamp(Math.abs(b.x - a.x) / 2, 10, 120);
		const bend = (end, way) => end.side ? [end.x - end.side * run, end.y] : [end.x, end.y + way * rise];
		return { from: a, to: b, bends: [...bend(a, 1), ...bend(b, -1)], head: b.side ? [b.side, 0] : [0, sign] };
	}

	/** All arrows of the view. */
	list(scroll) {
		const { call, work } = this.flow;
		const { width, painter, rows, view } = { ...this, width: this.view.width };
		const height = painter.height / painter.scale;
		const of = call.track.columns;
		const first = of.begin[call.i], last = first + of.duration[call.i];
		const source = rows.placeOrHead(call.track, of.depth[call.i]);
		const arrows = [];
		for (const [n, part] of work.entries()) {
			const { columns } = part.track;
			for (const i of source ? this.pick(part, this.begins[n]) : []) {
				const target = rows.placeOrHead(part.track, columns.depth[i]);
				// Work may begin before the call returns.
				const left = clamp(columns.begin[i], first, last);
				const arrow = target && arrows.length < this.most ? this.arrow(
					{ x: view.x(left), y: source.y - scroll, height: source.height },
					{ x: view.x(columns.begin[i]), y: target.y - scroll, height: target.height }, width, height) : null;
				if (arrow)
					arrows.push({ ...arrow, track: part.track, i });
			}
		}
		return arrows;
	}

	draw(palette, scroll) {
		this.drawn = this.flow ? this.list(scroll) : [];
		if (!this.drawn.length)
			return;
		const { context: c, scale } = this.painter;
		const lines = new Path2D(), heads = new Path2D();
		for (const { from, to, bends, head: [dx, dy] } of this.drawn) {
			// The line ends in the head, whose tip is the end.
			lines.moveTo(from.x, from.y);
			lines.bezierCurveTo(...bends, to.x - dx * 5, to.y - dy * 5);
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
