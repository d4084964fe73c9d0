// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lines of the program as an icicle: callers above, what they call below, as wide as they cost.

import { el, get } from "./dom.js";
import { bytes, count, percent, time } from "./format.js";

const NAMES = { wall: "time, in the application and in CUDA", app: "time in the application", cuda: "time in calls of CUDA", calls: "calls of CUDA",
	launches: "launches", gpu: "time of the GPU", idle: "time in which the GPU waited", bytes: "bytes copied", most: "memory that was held at most", held: "memory that was not freed", startup: "time before the first call of CUDA" };
const SHOW = { calls: count, launches: count, bytes, most: bytes, held: bytes };
const LEAST = 0.0015;	// of the width
const DEPTH = 60;	// rows

// [parent + 1, text, costs..., own, module, source, from, to], parents first.
const AFTER = 5;	// what stands behind the costs

function read(lines) {
	const root = { text: "all", costs: lines.all.map(Number), own: true, parent: null };
	const nodes = [];
	for (const [parent, text, ...rest] of lines.nodes) {
		const [own, module, source, from, to] = rest.slice(-AFTER);
		nodes.push({ text, own, module, source, from: Number(from), to: Number(to), costs: rest.slice(0, -AFTER).map(Number),
			parent: parent ? nodes[parent - 1] : root });
	}
	return [root, nodes];
}

// Lines of libraries that call each other are one box, of the package that the program called.
function folded(root, nodes) {
	const boxes = new Map([[root, root]]);
	const known = new Map();
	const all = [];
	for (const node of nodes) {
		const above = boxes.get(node.parent);
		if (!node.own && above.folds) {
			above.folds.push(node);
			boxes.set(node, above);
			continue;
		}
		let box = node.own ? { ...node, parent: above } : known.get(above)?.get(node.module);
		if (!box) {
			box = { ...node, parent: above, text: `in ${node.module || "generated code"}`, source: "", folds: [], costs: node.costs.map(() => 0) };
			if (!known.has(above))
				known.set(above, new Map());
			known.get(above).set(node.module, box);
			all.push(box);
		} else if (node.own) {
			all.push(box);
		}
		if (!node.own) {
			box.folds.push(node);
			box.costs = box.costs.map((cost, i) => cost + node.costs[i]);
			box.from = Math.min(box.from, node.from);
			box.to = Math.max(box.to, node.to);
		}
		boxes.set(node, box);
	}
	return all;
}

function linked(root, nodes) {
	root.children = [];
	for (const node of nodes)
		node.children = [];
	for (const node of nodes)
		node.parent.children.push(node);
	return root;
}

// What the nodes that match have together, none counted in another one.
function matching(root, matches) {
	const sum = root.costs.map(() => 0);
	const visit = (node) => {
		if (node !== root && matches(node))
			node.costs.forEach((cost, i) => { sum[i] += cost; });
		else
			node.children.forEach(visit);
	};
	visit(root);
	return sum;
}

/** @show(from, to) makes the timeline show this time. */
export function lines(manifest, show) {
	if (!manifest.lines?.nodes.length)
		return;
	const { weights } = manifest.lines;
	const [root, nodes] = read(manifest.lines);
	const place = get("lines-icicle");
	const path = get("lines-path");
	const choice = get("lines-weight");
	const whole = get("lines-whole");
	const word = get("lines-search");
	const found = get("lines-found");
	let weight = 0, from = root;
	const text = (n) => (SHOW[weights[weight]] ?? time)(n);
	const share = (n) => percent(100 * n / root.costs[weight]);
	const matches = (node) => node !== root && word.value !== "" && `${node.text} ${node.source ?? ""} ${node.module ?? ""}`.toLowerCase().includes(word.value.toLowerCase());

	function draw() {
		const all = from.costs[weight];
		const boxes = [];
		let rows = 0;
		const put = (node, x, row) => {
			const width = node.costs[weight] / all;
			if (!(width >= LEAST) || row === DEPTH)
				return;
			rows = Math.max(rows, row + 1);
			const title = [node.text, node.source, node.folds && `${count(node.folds.length)} lines of libraries`, `${text(node.costs[weight])}, ${share(node.costs[weight])} of all`];
			boxes.push(el("button", { type: "button", class: `${node.own ? "own" : "foreign"}${matches(node) ? " match" : ""}`, title: title.filter(Boolean).join("\n"),
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
		path.replaceChildren(...callers.map((node) => el("button", { type: "button", class: "quiet", onclick: () => zoom(node) }, node.text)),
			from.source ? el("code", {}, from.source) : "");
		const sum = word.value ? matching(root, matches)[weight] : 0;
		found.textContent = !word.value ? "" : sum ? `${text(sum)}, ${share(sum)}` : "nothing";
	}
	function zoom(node) {
		from = node;
		draw();
		if (node.to > node.from)
			show(node.from, node.to);
	}
	function build() {
		from = root;
		linked(root, whole.checked ? nodes : folded(root, nodes));
		draw();
	}
	choice.replaceChildren(...weights.flatMap((name, i) => root.costs[i] > 0 ? [el("option", { value: String(i) }, NAMES[name] ?? name)] : []));
	choice.addEventListener("change", () => {
		weight = Number(choice.value);
		draw();
	});
	whole.addEventListener("change", build);
	word.addEventListener("input", draw);
	weight = Number(choice.value);
	get("lines").hidden = false;
	build();
}
