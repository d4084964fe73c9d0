// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Iterations and device memory as charts.

import uPlot from "uplot";
import { lowerBound } from "./codec.js";
import { button, el, get, onceAFrame } from "./dom.js";
import { at, bytes, count, time, who } from "./format.js";
import { groupColour, onTheme, palette } from "./theme.js";

const HEIGHT = 220;

/** Keeps a chart as wide as its place and in the colours of the system's setting. */
function keep(place, make) {
	let chart = null;
	const draw = () => {
		chart?.destroy();
		chart = make(palette(), Math.max(200, place.clientWidth));
	};
	draw();
	new ResizeObserver(onceAFrame(() => {
		if (Math.abs(chart.width - place.clientWidth) > 1)
			chart.setSize({ width: Math.max(200, place.clientWidth), height: HEIGHT });
	})).observe(place);
	onTheme(draw);
}

function axes(p, x, y) {
	const common = { stroke: p.of("--muted"), font: "11px system-ui, sans-serif",
		grid: { stroke: p.of("--line"), width: 1 }, ticks: { stroke: p.of("--line"), width: 1, size: 4 } };
	return [{ ...common, size: 30, ...x }, { ...common, size: 78, ...y }];
}

/** Calls @f with a chart's x where it is clicked, but not where a part of it is dragged over. */
const onClick = (f) => (chart) => {
	let down = 0;
	chart.over.addEventListener("mousedown", (event) => { down = event.clientX; });
	chart.over.addEventListener("click", (event) => {
		if (Math.abs(event.clientX - down) < 4)
			f(chart.posToVal(event.offsetX, "x"), event);
	});
};

export async function iterationsChart(manifest, store, timeline, jump) {
	const of = manifest.iterations;
	if (!of)
		return;
	get("iterations").hidden = false;
	if (!of.blobs) {
		get("iterations-lead").textContent = of.why_none ? `None were found: ${of.why_none}` : "None were found.";
		get("iterations-chart").parentElement.hidden = true;
		return;
	}
	const begin = await store.column(of.blobs.begin, Float64Array);
	const duration = await store.column(of.blobs.duration, Float64Array);
	const launches = of.blobs.launches ? await store.column(of.blobs.launches, Float64Array) : null;
	timeline.ruler.iterations = { begin, duration };
	timeline.redraw();
	const process = (manifest.stages ?? []).find((s) => s.pid === of.pid)?.process;
	// One that is many times longer than usual would make all others flat.
	const log = duration.reduce((most, ns) => ns > most ? ns : most, 0) > of.median * 20;
	get("iterations-lead").textContent = `${who(process, of.pid)}: ${count(of.count)} iterations${of.what ? ` (${of.what})` : ""}` +
		`${of.warmup ? `, ${count(of.warmup)} more in the warm-up` : ""}: median ${time(of.median)}, ` +
		`p95 ${time(of.p95)}, longest ${time(of.max)}. ${log ? "The axis of durations is logarithmic. " : ""}Click one to see it in the timeline.`;
	// Those of the warm-up are drawn, but are none of the longest.
	const order = Array.from(duration.keys()).filter((i) => i >= (of.warmup ?? 0)).sort((a, b) => duration[b] - duration[a]).slice(0, 5);
	const show = (i) => jump(begin[i], begin[i] + duration[i], null);
	const place = get("iterations-chart");
	place.after(el("p", { class: "jumps" }, el("span", { class: "hint" }, "Longest: "), order.map((i) =>
		button([`iteration ${count(i + 1)} `, el("small", {}, time(duration[i]))], () => show(i), { class: "jump" }))));
	const readout = el("p", { class: "hint readout", "aria-hidden": "true" }, "\u00a0");
	place.before(readout);
	const few = duration.length <= 400;
	const numbers = Float64Array.from(duration, (_, i) => i + 1);
	keep(place, (p, width) => new uPlot({
		width, height: HEIGHT, legend: { show: false },
		cursor: { y: false, points: { size: 7 } },
		scales: { x: { time: false, range: [0.25, duration.length + 0.75] }, y: log ? { distr: 3, range: (_, min, max) => [10 ** Math.floor(Math.log10(Math.max(1, min))), max * 1.3] } : { range: (_, _min, max) => [0, max * 1.08] } },
		axes: axes(p, { values: (_, v) => v.map((n) => Number.isInteger(n) ? count(n) : ""), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6] },
			{ label: log ? "duration (logarithmic)" : "duration", labelFont: "11px system-ui, sans-serif", labelSize: 18,
				values: (_, v) => v.map((n) => n === null ? "" : time(n).replace(".00", "").replace(".000", "")) }),
		series: [{}, { stroke: p.groups[0], fill: few ? p.groups[0] : undefined, width: few ? 0 : 1,
			paths: few ? uPlot.paths.bars({ size: [0.72, 40, 1] }) : undefined, points: { show: false } }],
		hooks: {
			ready: [onClick((x) => {
				const i = Math.round(x) - 1;
				if (i >= 0 && i < duration.length)
					show(i);
			})],
			setCursor: [(u) => {
				const i = u.cursor.idx;
				readout.textContent = i === null || i === undefined ? "\u00a0" : `iteration ${count(i + 1)}: ${time(duration[i])}, at ${at(begin[i])}` +
					(launches ? `, ${count(launches[i])} launches` : "");
			}],
			draw: [(u) => {
				const y = u.valToPos(of.median, "y", true);
				u.ctx.save();
				u.ctx.strokeStyle = u.ctx.fillStyle = p.of("--muted");
				u.ctx.setLineDash([5, 4]);
				u.ctx.beginPath();
				u.ctx.moveTo(u.bbox.left, y);
				u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
				u.ctx.stroke();
				u.ctx.restore();
			}],
		},
	}, [numbers, duration], place));
}

/**
 * Draws what holds from each moment until the next as steps, in @place.
 * @curves: of each its columns {ts, value} and a label, at most six
 * @text: of a value
 */
export function stepChart(place, curves, text, trace, jump, axis = {}) {
	const begin = trace.begin ?? 0, end = trace.end ?? trace.duration_ns;
	// One axis of all moments; each curve keeps its value until it says otherwise.
	const moments = [...new Set([begin, ...curves.flatMap((c) => [...c.ts]), end])].sort((a, b) => a - b);
	const series = curves.map((c) => Array.from(moments, (t) => {
		const i = lowerBound(c.ts, t + 0.5) - 1;
		return i < 0 ? c.before ?? null : c.value[i];
	}));
	const legend = el("ul", { class: "legend chart-legend" }, curves.map((c, i) => el("li", {},
		el("span", { class: "swatch", "aria-hidden": "true", vars: { "--c": groupColour(COLOURS[i]) } }), c.label)));
	const readout = el("p", { class: "hint readout", "aria-hidden": "true" }, "\u00a0");
	const chart = el("div", { class: "chart" });
	place.replaceChildren(legend, readout, chart);
	keep(chart, (p, width) => new uPlot({
		width, height: HEIGHT, legend: { show: false },
		cursor: { y: false, points: { size: 7 } },
		scales: { x: { time: false }, y: { range: (_, _min, max) => [0, Math.max(1, max) * 1.08] } },
		axes: axes(p, { values: (_, v) => v.map((t) => at(t, Math.max(1e3, (v[1] ?? 1e6) - (v[0] ?? 0)))) },
			{ values: (_, v) => v.map((n) => text(n).replace(".00", "")), ...axis }),
		series: [{}, ...series.map((_, i) => ({ stroke: p.groups[COLOURS[i]], width: 1.5, points: { show: false },
			fill: series.length === 1 ? `${p.groups[COLOURS[i]]}30` : undefined, paths: uPlot.paths.stepped({ align: 1 }) }))],
		hooks: {
			ready: [onClick((x) => {
				const span = Math.max(1e6, (end - begin) / 100);
				jump(x - span / 2, x + span / 2, null, false);
			})],
			setCursor: [(u) => {
				const i = u.cursor.idx;
				readout.textContent = i === null || i === undefined ? "\u00a0" :
					`${at(moments[i])}: ${series.map((s, k) => (series.length > 1 ? `${curves[k].name} ` : "") + (s[i] === null ? "not known" : text(s[i]))).join(", ")}`;
			}],
		},
	}, [moments, ...series], chart));
}

export const BYTES_AXIS = { incrs: Array.from({ length: 50 }, (_, i) => 2 ** i) };

export async function memoryChart(manifest, store, jump) {
	const list = (manifest.memory ?? []).filter((m) => m.blobs);
	if (!list.length)
		return;
	get("memory").hidden = false;
	const curves = [];
	for (const m of list.slice(0, COLOURS.length)) {
		const name = who(m.process, m.pid);
		curves.push({ ts: await store.column(m.blobs.ts, Float64Array), value: await store.column(m.blobs.bytes, Float64Array),
			name, label: `${name}: peak ${bytes(m.peak)}`, before: 0 });
	}
	get("memory-lead").textContent = "Memory of the GPU that the program holds, by its calls. Click a moment to see it in the timeline.";
	stepChart(get("memory-chart"), curves, bytes, manifest.trace, jump, BYTES_AXIS);
}

const COLOURS = [2, 0, 1, 3, 4, 6];
