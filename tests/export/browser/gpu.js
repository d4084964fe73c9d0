// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: gpu.js REPORT [TEXT]
//
// A report of a trace with records of the GPU (make_gpu nodes): its tracks, and the way from a
// launch to what the GPU did for it and back.  With TEXT: of one that lacks some of them; the page
// says it.  Prints "ok" or "not ok", a tab and what it was.

import { launch, open } from "./browser.js";

const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, process.argv[2]);

async function missing(text) {
	const said = await page.locator("#notices").innerText();
	say(said.includes("GPU records are not complete") && said.includes(text), `what is missing is said above all (${said})`);
}

async function complete() {
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
	await page.evaluate(async () => {
		const { tracks } = window.cudatraceReport;
		const gpu = tracks.list.find((t) => t.layer === "gpu"), [call] = await tracks.parents(gpu, 0);
		await window.cudatraceReport.timeline.select(call.track, call.i, { move: true });
	});
	await page.waitForFunction(() => document.querySelectorAll(".tree .node-name").length === 3);
	const nodes = await page.locator(".tree .node-name").allInnerTexts();
	say(nodes.slice(1).every((n) => /gemm|softmax/.test(n)), `the tree of a call names the kernels (${nodes})`);
	say(links.count === 40, `all its records are there (${links.count})`);
	say(links.parents.length === 1 && links.parents[0] === "cuGraphLaunch", `a kernel shows the call that caused it (${links.parents})`);
	say(links.children.join() === "gpu 0,gpu 1", `and the call the kernels of its graph (${links.children})`);
	say(!(await page.locator("body").innerText()).includes("No GPU records"), "nothing says that there are no records of the GPU");
}

try {
	await (process.argv[3] ? missing(process.argv[3]) : complete());
} catch (error) {
	say(false, `no error: ${error.message}`);
}
await browser.close();
