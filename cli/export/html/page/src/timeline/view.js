// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which part of the trace is in view.  Times are ns since the trace began.

const SHORTEST = 200;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
	constructor(begin, end) {
		const margin = Math.max(1000, (end - begin) * 0.01);
		this.min = begin - margin;
		this.max = end + margin;
		this.from = this.min;
		this.to = this.max;
		this.width = 1;		// in pixels of the page
		this.listeners = [];
		this.animation = 0;
	}

	get span() { return this.to - this.from; }
	get perPixel() { return this.span / this.width; }
	get all() { return this.from <= this.min && this.to >= this.max; }
	x(time) { return (time - this.from) / this.span * this.width; }
	time(x) { return this.from + x / this.width * this.span; }
	onChange(f) { this.listeners.push(f); }
	changed() { for (const f of this.listeners) f(); }

	set(from, to) {
		const most = this.max - this.min;
		const span = Math.min(most, Math.max(SHORTEST, to - from));
		const middle = (from + to) / 2;
		from = Math.max(this.min, Math.min(middle - span / 2, this.max - span));
		if (from === this.from && from + span === this.to)
			return;
		this.from = from;
		this.to = from + span;
		this.changed();
	}

	resize(width) {
		this.width = Math.max(1, width);
		this.changed();
	}

	stop() {
		cancelAnimationFrame(this.animation);
		this.animation = 0;
	}

	zoom(factor, x = this.width / 2) {
		this.stop();
		const time = this.time(x), span = Math.min(this.max - this.min, Math.max(SHORTEST, this.span * factor));
		const from = time - x / this.width * span;
		this.set(from, from + span);
	}

	pan(pixels) {
		this.stop();
		const by = pixels * this.perPixel;
		this.set(this.from + by, this.to + by);
	}

	/** Goes there in some frames, so that the eye can follow. */
	go(from, to) {
		this.stop();
		if (still.matches) {
			this.set(from, to);
			return;
		}
		const start = [this.from, this.to];
		let began = 0;
		const step = (now) => {
			began ||= now;
			const part = Math.min(1, (now - began) / 220);
			const eased = 1 - (1 - part) ** 3;
			this.set(start[0] + (from - start[0]) * eased, start[1] + (to - start[1]) * eased);
			this.animation = part < 1 ? requestAnimationFrame(step) : 0;
		};
		this.animation = requestAnimationFrame(step);
	}

	zoomSmooth(factor) {
		const middle = (this.from + this.to) / 2, half = this.span * factor / 2;
		this.go(middle - half, middle + half);
	}

	/** Shows a span with some of what is around it. */
	show(begin, end) {
		const span = Math.max((end - begin) * 1.5, 2000);
		const middle = (begin + end) / 2;
		this.go(middle - span / 2, middle + span / 2);
	}
}
