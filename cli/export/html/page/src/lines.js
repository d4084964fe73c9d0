// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lines of the program as an icicle: callers above, what they call below, as wide as they cost.

import { el, get } from "./dom.js";
import { bytes, count, percent, time } from "./format.js";

const NAMES = { wall: "time, in the application and in CUDA", app: "time in the application", cuda: "time in calls of CUDA", calls: "calls of CUDA",
	launches: "launches", gpu: "time of the GPU", bytes: "bytes copied", held: "memory that was not freed", startup: "time before the first call of CUDA" };
const SHOW = { calls: count, launches: count, bytes, held: bytes };
const LEAST = 0.0015;	// of the width
const DEPTH = 60;	// rows

// [parent + 1, text, costs..., own], parents first.
function tree(lines) {
	const root = { text: "all", costs: lines.all.map(Number), children: [], own: true, parent: null };
	const nodes = [];
	for (const [parent, text, ...rest] of lines.nodes) {
		const node = { text, own: rest[rest.length - 1], costs: rest.slice(0, -1).map(Number), children: [], parent: parent ? nodes[parent - 1] : root };
		node.parent.children.push(node);
		nodes.push(node);
	}
	return root;
}

export function lines(manifest) {
	if (!manifest.lines?.nodes.length)
		return;
	const { weights } = manifest.lines;
	const root = tree(manifest.lines);
	const place = get("lines-icicle");
	const path = get("lines-path");
	const choice = get("lines-weight");
	let weight = 0, from = root;
	const show = (n) => (SHOW[weights[weight]] ?? time)(n);

	function draw() {
		const all = from.costs[weight];
		const boxes = [];
		let rows = 0;
		const put = (node, x, row) => {
			const width = node.costs[weight] / all;
			if (!(width >= LEAST) || row === DEPTH)
				return;
			rows = Math.max(rows, row + 1);
			boxes.push(el("button", { type: "button", class: node.own ? "own" : "foreign", title: `${node.text}\n${show(node.costs[weight])}, ${percent(100 * node.costs[weight] / root.costs[weight])} of all`,
				vars: { "--x": String(x), "--w": String(width), "--row": String(row) }, onclick: () => zoom(node) }, node.text));
			for (const child of [...node.children].sort((a, b) => b.costs[weight] - a.costs[weight])) {
				put(child, x, row + 1);
				x += child.costs[weight] / all;
			}
		};
		put(from, 0, 0);
		place.style.setProperty("--rows", String(rows));
		place.replaceChildren(...boxes);
		const callers = [];
		for (let node = from.parent; node; node = node.parent)
			callers.unshift(node);
		path.replaceChildren(...callers.map((node) => el("button", { type: "button", class: "quiet", onclick: () => zoom(node) }, node.text)));
	}
	function zoom(node) {
		from = node;
		draw();
	}
	choice.replaceChildren(...weights.flatMap((name, i) => root.costs[i] > 0 ? [el("option", { value: String(i) }, NAMES[name] ?? name)] : []));
	choice.addEventListener("change", () => {
		weight = Number(choice.value);
		draw();
	});
	weight = Number(choice.value);
	get("lines").hidden = false;
	draw();
}
