// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the GPUs themselves were like: clocks, power, use, as NVML said.

import { BYTES_AXIS, stepChart } from "./charts.js";
import { el, get } from "./dom.js";
import { bytes, number } from "./format.js";

const SHOWN = 6;

/** A value of a figure with its unit, as people write it. */
function text(unit) {
	switch (unit) {
	case "bytes": return bytes;
	case "bytes/s": return (v) => `${bytes(v)}/s`;
	case "permille": return (v) => `${number(v / 10)} %`;
	case "mW": return (v) => `${number(v / 1000)} W`;
	case "C": return (v) => `${number(v)} \u00b0C`;
	default: return (v) => `${number(v)} ${unit}`;
	}
}

export async function gpusChart(manifest, store, jump) {
	const gpus = (manifest.gpus ?? []).filter((g) => g.metrics.length).slice(0, SHOWN);
	if (!gpus.length)
		return;
	get("gpus").hidden = false;
	const names = [...new Set(gpus.flatMap((g) => g.metrics.map((m) => m.name)))];
	const select = el("select", {}, names.map((name) => el("option", { value: name }, name)));
	const place = get("gpus-chart");
	const draw = async () => {
		const curves = [];
		let unit = "";
		for (const g of gpus) {
			const metric = g.metrics.find((m) => m.name === select.value);
			if (!metric)
				continue;
			unit = metric.unit;
			const highest = unit === "MHz" ? g.clock_max : unit === "mW" ? g.power_limit : 0;
			curves.push({ ts: await store.column(metric.blobs.ts, Float64Array), value: await store.column(metric.blobs.value, Float64Array),
				name: `GPU ${g.gpu}`, label: `GPU ${g.gpu}, ${g.name}${highest ? `: at most ${text(unit)(highest)}` : ""}` });
		}
		stepChart(place, curves, text(unit), manifest.trace, jump, unit.startsWith("bytes") ? BYTES_AXIS : {});
	};
	select.addEventListener("change", draw);
	get("gpus-lead").append("What NVML said of the GPUs while the program ran; figures are of all programs on them. Show ",
		el("label", {}, select));
	await draw();
}
