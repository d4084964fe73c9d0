// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: graphs.js REPORT FUNCTION [PICTURE]
//
// A report with a CUDA graph whose nodes were recorded: a kernel of a replay says from where its node was made, in FUNCTION, and
// its launch has no such line.  PICTURE: of the page with that kernel.  Prints "ok" or "not ok", a tab and what it was.

import { launch, open, still } from "./browser.js";

const [file, name, picture] = process.argv.slice(2);
const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, file);

/** The rows of the panel with the fields of a record, [name, text], once this one is shown. */
async function panel(which) {
	await page.evaluate(async (which) => {
		const { tracks, timeline } = window.cudatraceReport;
		for (const track of tracks.list) {
			await track.load();
			for (let i = track.count - 1; i >= 0; i--)
				if ((track.layer === "gpu" ? tracks.label(track, i) : tracks.name(track, i)) === which) {
					await timeline.select(track, i, { move: true });
					return;
				}
		}
	}, which);
	// The last one to come.
	await page.locator("#fields th", { hasText: "op_id" }).waitFor();
	await still(page);
	return page.evaluate(() => [...document.querySelectorAll("#fields tr")].map((row) => [...row.children].map((cell) => cell.innerText)));
}

try {
	const kernel = new Map(await panel("two"));
	say(kernel.get("node made from")?.includes(`(${name})`), `graphs: a kernel says from where its node was made (${kernel.get("node made from")})`);
	say(kernel.get("called from") && !kernel.get("called from").includes(`(${name})`), `graphs: and from where it was replayed (${kernel.get("called from")})`);
	if (picture) {
		await page.evaluate(() => document.getElementById("timeline").scrollIntoView({ behavior: "instant" }));
		await page.screenshot({ path: picture });
	}
	say(!new Map(await panel("cuGraphLaunch")).has("node made from"), "graphs: its launch has no such line");
	say(page.wrongs.length === 0, `graphs: nothing else${page.wrongs.length ? `: ${page.wrongs[0]}` : ""}`);
} catch (error) {
	say(false, `graphs: the browser's test ended: ${error.message.split("\n").slice(0, 3).join(" ")}`);
}
await browser.close();
