// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Begins: the first screen at once, from the manifest; the timeline when the data are there.

import { iterationsChart, memoryChart } from "./charts.js";
import { Store, readManifest } from "./data.js";
import { el, get } from "./dom.js";
import { kernelNames } from "./format.js";
import { gpusChart } from "./gpus.js";
import { lines } from "./lines.js";
import { overview } from "./overview.js";
import { reports } from "./reports.js";
import { Timeline } from "./timeline/timeline.js";
import { Tracks } from "./tracks.js";

const SECTIONS = [["overview", "Overview"], ["findings", "Findings"], ["lines", "Lines"], ["timeline", "Timeline"],
	["iterations", "Iterations"], ["memory", "Memory"], ["gpus", "GPUs"], ["tables", "Reports"]];

function failed(error) {
	console.error(error);
	get("notices").append(el("p", { class: "notice bad" }, el("strong", {}, "This report cannot be shown."), ` ${error.message}`));
}

function navigation() {
	get("sections").replaceChildren(...SECTIONS.filter(([id]) => !get(id).hidden)
		.map(([id, name]) => el("a", { href: `#${id}` }, name)));
}

async function main() {
	const manifest = readManifest();
	if (!manifest)
		throw new Error("The file has no data in it.");
	if (manifest.format !== 1)
		throw new Error(`Its data have the format ${manifest.format}; this page knows the format 1.`);
	if (typeof DecompressionStream === "undefined")
		throw new Error("This browser lacks DecompressionStream; a version from 2023 or later has it.");
	for (const [whole, short] of manifest.kernel_names ?? [])
		kernelNames.set(whole, short);
	const store = new Store(manifest);
	const tracks = new Tracks(store);
	let timeline = null;
	// A page of summaries is about ranks; there are no records to draw.
	const summaries = Boolean(manifest.job?.summaries);
	get("timeline").hidden = summaries;
	const jump = (begin, end, record) => timeline?.goTo(begin, end, record);
	overview(manifest, jump);
	lines(manifest, (begin, end) => {
		timeline?.view.show(begin, end);
		timeline?.setRange([begin, end], true);
	});
	reports(manifest);
	performance.mark("cudatrace.first");
	if (summaries) {
		navigation();
		document.documentElement.dataset.state = "complete";
		return;
	}
	await tracks.loadStrings();
	timeline = new Timeline(get("tl"), tracks);
	// For tests, and for whoever asks the browser's console.
	window.cudatraceReport = { manifest, store, tracks, timeline };
	performance.mark("cudatrace.timeline");
	await iterationsChart(manifest, store, timeline, jump);
	timeline.place();
	await memoryChart(manifest, store, jump);
	await gpusChart(manifest, store, jump);
	navigation();
	// The rest of the data while nobody waits for them; then a search answers at once.
	await tracks.loadAll();
	timeline.minimap.dirty = true;
	timeline.redraw();
	timeline.describe();
	await timeline.selectFirst();
	performance.mark("cudatrace.complete");
	document.documentElement.dataset.state = "complete";
}

main().catch(failed);
