// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: lines.js REPORT FUNCTION LIBRARY
//
// Lines of the program in a report: libraries are folded, a search finds FUNCTION, a click shows its time in the timeline.
// LIBRARY calls CUDA.  Prints "ok" or "not ok", a tab and what it was.

import { launch, open, still } from "./browser.js";

const [file, name, library] = process.argv.slice(2);
const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, file);
const boxes = (which) => page.locator(`#lines-icicle button${which}`);

try {
	say(await boxes(`:text-is("in ${library}")`).count() > 0, `lines: those of ${library} are one box`);
	say(await boxes(`:has-text("__init__.py")`).count() === 0, "lines: and are not shown one by one");
	await page.locator("#lines-whole").check();
	say(await boxes(`:has-text("__init__.py")`).count() > 0, "lines: until that is asked for");
	await page.locator("#lines-whole").uncheck();
	await page.locator("#lines-search").fill(name);
	const marked = boxes(".match");
	say(await marked.count() > 0 && (await marked.first().innerText()).includes(name), `lines: a search finds ${name}`);
	say(/%/.test(await page.locator("#lines-found").innerText()), "lines: and says what it costs");
	await page.locator("#lines-search").fill("no such line");
	say(await boxes(".match").count() === 0 && await page.locator("#lines-found").innerText() === "nothing", "lines: or that there is none");
	await page.locator("#lines-search").fill(name);
	const [from, to] = await page.evaluate((name) => {
		const node = window.cudatraceReport.manifest.lines.nodes.find((one) => one[1].includes(name));
		return node.slice(-2).map(Number);
	}, name);
	await boxes(".match").first().evaluate((box) => box.click());
	await still(page);
	const range = await page.evaluate(() => window.cudatraceReport.timeline.range);
	say(to > from && range?.[0] === from && range?.[1] === to, "lines: a click shows its time in the timeline");
	say((await page.locator("#lines-path").innerText()).includes("deep.outer"), "lines: and its text");
	say(page.wrongs.length === 0, `lines: nothing else${page.wrongs.length ? `: ${page.wrongs[0]}` : ""}`);
} catch (error) {
	say(false, `lines: the browser's test ended: ${error.message.split("\n").slice(0, 3).join(" ")}`);
}
await browser.close();
