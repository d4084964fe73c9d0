// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Mouse, touch pad and keys of the timeline.

/** Keys as the help shows them. */
export const KEYS = [
	["W S", "zoom in and out"],
	["A D or \u2190 \u2192", "move left and right"],
	["\u2191 \u2193", "scroll the rows"],
	["F", "zoom to the selected call"],
	["0", "show the whole trace"],
	["/", "search; Enter and Shift+Enter go to the next and previous match"],
	[", .", "previous and next call of the row"],
	["P", "call around the selected one"],
	["G", "from a call to the GPU's work for it, and back"],
	["Esc", "drop the selection and the marked range"],
	["wheel", "zoom at the pointer"],
	["Shift+wheel", "move left and right"],
	["Ctrl+wheel or label column", "scroll the rows"],
	["drag", "move; in the ruler: zoom to what is dragged over; in the overview: choose a part"],
	["Shift+drag", "mark a range and add up what is in it"],
	["click", "all fields of a call, and the calls around and inside it"],
	["double click", "zoom to a call, a stage or an iteration"],
];

/** Follows a pointer from its press to its release. */
function drag(element, { start, move, end }) {
	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0)
			return;
		const state = start(event);
		if (!state)
			return;
		element.setPointerCapture(event.pointerId);
		const onMove = (e) => move(e, state);
		const onEnd = (e) => {
			element.removeEventListener("pointermove", onMove);
			element.removeEventListener("pointerup", onEnd);
			element.removeEventListener("pointercancel", onEnd);
			end?.(e, state);
		};
		element.addEventListener("pointermove", onMove);
		element.addEventListener("pointerup", onEnd);
		element.addEventListener("pointercancel", onEnd);
	});
}

export function mouse(timeline) {
	const { view, body, head, map, scroller } = timeline;

	// A page that is being scrolled goes on scrolling when the pointer comes over the timeline.
	let lastOutside = 0;
	document.addEventListener("wheel", (event) => {
		if (!timeline.element.contains(event.target))
			lastOutside = event.timeStamp;
	}, { passive: true });
	const wheel = (event) => {
		if (event.timeStamp - lastOutside < 350) {
			lastOutside = event.timeStamp;
			return;
		}
		const lines = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 300 : 1;
		const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
		if (event.ctrlKey && !event.metaKey && Math.abs(dy) >= 40) {	// a pinch has small steps
			event.preventDefault();
			scroller.scrollTop += dy;
			return;
		}
		event.preventDefault();
		if (event.shiftKey || Math.abs(dx) > Math.abs(dy))
			view.pan((event.shiftKey && dx === 0 ? dy : dx));
		else
			view.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) * (event.ctrlKey ? 0.01 : 0.0022)), event.offsetX);
	};
	for (const canvas of [body, head, map])
		canvas.addEventListener("wheel", wheel, { passive: false });

	drag(body, {
		start(event) {
			view.stop();
			timeline.element.focus({ preventScroll: true });
			const mark = event.shiftKey;
			if (mark)
				timeline.setRange([view.time(event.offsetX), view.time(event.offsetX)], false);
			return { x: event.clientX, y: event.clientY, from: view.from, time: view.time(event.offsetX),
				top: scroller.scrollTop, mark, moved: false };
		},
		move(event, state) {
			const dx = event.clientX - state.x, dy = event.clientY - state.y;
			if (!state.moved && Math.abs(dx) + Math.abs(dy) < 4)
				return;
			state.moved = true;
			if (state.mark) {
				const time = view.time(event.clientX - body.getBoundingClientRect().left);
				timeline.setRange([Math.min(time, state.time), Math.max(time, state.time)], false);
				return;
			}
			body.classList.add("dragging");
			const from = state.from - dx * view.perPixel;
			view.set(from, from + view.span);
			scroller.scrollTop = state.top - dy;
		},
		end(event, state) {
			body.classList.remove("dragging");
			if (state.mark && state.moved)
				timeline.setRange(timeline.range, true);
			else if (!state.moved)
				timeline.click(event.offsetX, event.offsetY);
		},
	});
	body.addEventListener("dblclick", () => timeline.zoomToSelection());
	body.addEventListener("pointermove", (event) => timeline.hover(event));
	body.addEventListener("pointerleave", () => timeline.hover(null));

	drag(head, {
		start: (event) => ({ from: view.time(event.offsetX), x: event.clientX, moved: false }),
		move(event, state) {
			state.moved ||= Math.abs(event.clientX - state.x) > 4;
			const to = view.time(event.clientX - head.getBoundingClientRect().left);
			state.range = [Math.min(state.from, to), Math.max(state.from, to)];
			if (state.moved)
				timeline.previewRange(state.range);
		},
		end(event, state) {
			timeline.previewRange(null);
			if (state.moved && state.range[1] > state.range[0])
				view.go(...state.range);
		},
	});
	head.addEventListener("dblclick", (event) => {
		const of = timeline.ruler.hit(event.offsetX, event.offsetY);
		if (of)
			view.show(of.begin, of.end);
	});
	head.addEventListener("pointermove", (event) => timeline.hoverHead(event));
	head.addEventListener("pointerleave", () => timeline.hoverHead(null));

	const timeOfMap = (event) => view.min +
		(event.clientX - map.getBoundingClientRect().left) / view.width * (view.max - view.min);
	drag(map, {
		start(event) {
			view.stop();
			const time = timeOfMap(event);
			const inside = !view.all && time >= view.from && time <= view.to;
			return { time, inside, offset: time - view.from, moved: false, x: event.clientX };
		},
		move(event, state) {
			state.moved ||= Math.abs(event.clientX - state.x) > 3;
			if (!state.moved)
				return;
			const time = timeOfMap(event);
			if (state.inside)
				view.set(time - state.offset, time - state.offset + view.span);
			else
				view.set(Math.min(time, state.time), Math.max(time, state.time));
		},
		end(event, state) {
			if (!state.moved && !view.all)
				view.go(state.time - view.span / 2, state.time + view.span / 2);
		},
	});
}


export function keys(timeline) {
	const { view, scroller } = timeline;
	const held = new Set();
	let running = 0, last = 0, speed = 0;
	const step = (now) => {
		const ms = Math.min(50, now - (last || now - 16));
		last = now;
		speed = Math.min(1, speed + ms / 180);
		if (held.has("w"))
			view.zoom(Math.exp(-0.0035 * speed * ms), timeline.pointer);
		if (held.has("s"))
			view.zoom(Math.exp(0.0035 * speed * ms), timeline.pointer);
		const by = (held.has("d") || held.has("arrowright") ? 1 : 0) - (held.has("a") || held.has("arrowleft") ? 1 : 0);
		if (by)
			view.pan(by * speed * ms * view.width / 900);
		running = held.size ? requestAnimationFrame(step) : 0;
	};
	const single = {
		arrowup: () => scroller.scrollBy(0, -54),
		arrowdown: () => scroller.scrollBy(0, 54),
		f: () => timeline.zoomToSelection(),
		0: () => timeline.showAll(),
		",": () => timeline.step(-1),
		".": () => timeline.step(1),
		p: () => timeline.selectParent(),
		g: () => timeline.follow(),
		escape: () => timeline.clear(),
	};
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const inside = timeline.element.contains(event.target) || timeline.hovered;
		if (event.target.matches('input:not([type="checkbox"])') || !inside)
			return;
		const key = event.key.toLowerCase();
		// These scroll what is below the timeline.
		if (key.startsWith("arrow") && event.target.closest(".panel"))
			return;
		if (["w", "a", "s", "d", "arrowleft", "arrowright"].includes(key)) {
			event.preventDefault();
			held.add(key);
			if (!running) {
				last = 0;
				speed = 0.35;
				running = requestAnimationFrame(step);
			}
		} else if (key === "/") {
			event.preventDefault();
			timeline.search.input.focus();
		} else if (single[key]) {
			event.preventDefault();
			single[key]();
		}
	});
	document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
	addEventListener("blur", () => held.clear());
}
