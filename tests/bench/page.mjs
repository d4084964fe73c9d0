// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: page.mjs REPORT
//
// Opens a report in headless Chromium, zooms and pans, and measures by the browser's own
// performance trace.  Prints, with tabs between, ms: until the first screen; until the timeline;
// until all data are decoded; while panning the longest task of the page's thread by the clock,
// the same in processor time, the longest of drawing in processor time, and between two frames
// the median and the longest.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open } from "../export/browser/browser.js";

const file = process.argv[2];
const browser = await launch();
const dir = mkdtempSync(join(tmpdir(), "page-"));

/** Events of the performance trace while @f runs. */
async function traced(page, name, f) {
	const path = join(dir, `${name}.json`);
	await browser.startTracing(page, { path, categories: ["-*", "devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "blink.user_timing", "loading"] });
	await f();
	await browser.stopTracing();
	return JSON.parse(readFileSync(path, "utf8")).traceEvents;
}

const page = await open(browser, file, { width: 1600, height: 1000 });
const marks = Object.fromEntries(await page.evaluate(() => performance.getEntriesByType("mark").map((m) => [m.name, m.startTime])));

/** The tasks of the page's thread: by the clock and in processor time, which does not grow with other programs. */
function tasks(events) {
	const main = events.find((e) => e.name === "cudatrace.pan");
	return events.filter((e) => e.ph === "X" && e.pid === main.pid && e.tid === main.tid && /RunTask/.test(e.name));
}
const longest = (list, key) => Math.max(0, ...list.map((e) => (e[key] ?? 0) / 1e3));

const frames = [];
const events = await traced(page, "pan", async () => {
	frames.push(...await page.evaluate(async () => {
		const { timeline } = window.cudatraceReport;
		const { view } = timeline;
		timeline.element.scrollIntoView({ behavior: "instant" });
		performance.mark("cudatrace.pan");
		const list = [];
		let last = 0;
		const frame = () => new Promise((resolve) => requestAnimationFrame((now) => {
			if (last)
				list.push(now - last);
			last = now;
			resolve();
		}));
		// At each of these depths of zoom to and fro, as a hand does it.
		for (const part of [1, 0.3, 0.1, 0.01, 0.001, 0.0001]) {
			const span = (view.max - view.min) * part, middle = (view.max + view.min) / 2;
			for (let i = 0; i < 8; i++) {
				view.set(middle - span * (2 - i / 8), middle + span * (2 - i / 8));
				await frame();
			}
			view.set(middle - span / 2, middle + span / 2);
			for (let i = 0; i < 40; i++) {
				view.pan(i < 20 ? 25 : -25);
				await frame();
			}
		}
		return list;
	}));
});
const run = tasks(events);
const raster = events.filter((e) => e.ph === "X" && /RasterTask|GPUTask/.test(e.name));
frames.sort((a, b) => a - b);
console.log([marks["cudatrace.first"], marks["cudatrace.timeline"], marks["cudatrace.complete"],
	longest(run, "dur"), longest(run, "tdur"), longest(raster, "tdur"), frames[frames.length >> 1], frames[frames.length - 1]]
	.map((n) => n.toFixed(1)).join("\t"));
if (page.wrongs.length)
	console.error(page.wrongs.join("\n"));
await browser.close();
rmSync(dir, { recursive: true });
