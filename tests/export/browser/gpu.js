// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: gpu.js REPORT
//
// A report of a trace with records of the GPU (make_gpu nodes): its tracks, and the way from a
// launch to what the GPU did for it and back.  Prints "ok" or "not ok", a tab and what it was.

import { launch, open } from "./browser.js";

const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, process.argv[2]);

try {
	const labels = await page.locator("button.tl-label .name").allInnerTexts();
	say(labels.includes("GPU 0") && labels.includes("ctx 1 stream 7"), `the GPU has a track for its stream (${labels.join(", ")})`);
	const links = await page.evaluate(async () => {
		const { tracks } = window.cudatraceReport;
		const gpu = tracks.list.find((t) => t.layer === "gpu");
		const parents = await tracks.parents(gpu, 0);
		const call = parents[0];
		const children = call ? await tracks.children(call.track, call.i, 20) : { list: [] };
		return {
			count: gpu.count, parents: parents.map((p) => tracks.name(p.track, p.i)),
			children: children.list.map((c) => `${c.track.layer} ${c.i}`),
		};
	});
	say(links.count === 40, `all its records are there (${links.count})`);
	say(links.parents.length === 1 && links.parents[0] === "cuGraphLaunch", `a kernel shows the call that caused it (${links.parents})`);
	say(links.children.join() === "gpu 0,gpu 1", `and the call the kernels of its graph (${links.children})`);
	say(!(await page.locator("body").innerText()).includes("No GPU records"), "nothing says that there are no records of the GPU");
} catch (error) {
	say(false, `no error: ${error.message}`);
}
await browser.close();
