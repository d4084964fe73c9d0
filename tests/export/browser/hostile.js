// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: hostile.js TEMPLATE DIR [REPORT...]
//
// Reports whose every text attacks the page: nothing of it runs and nothing of it becomes an
// element.  REPORTs are made by the command of hostile traces; further ones are made up here.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hang, launch, open } from "./browser.js";
import { report } from "./contract.js";

const [templateFile, dir, ...reports] = process.argv.slice(2);
const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const template = readFileSync(templateFile, "utf8");
const names = [
	"<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><a href=javascript:window.hacked=1>x</a>",
	"\"'><svg onload=window.hacked=1></script><!--<script>--><style>*{display:none}</style>",
	"\u0000\u0001\u001b[31m\u202e\ufffd\u2028 $& $' ${window.hacked=1} {{constructor}} " + "long ".repeat(2000),
	"__proto__", "constructor", "",
];
const browser = await launch();

/** Uses all of the page. */
async function exercise(page) {
	await page.evaluate(async () => {
		const { timeline, tracks } = window.cudatraceReport;
		for (const track of tracks.list.slice(0, 6)) {
			await track.loadLinks();
			for (const i of [0, 1, track.columns.begin.length - 1])
				if (track.columns.begin[i] !== undefined)
					await timeline.select(track, i, { zoom: true });
		}
		timeline.showTip({ clientX: 300, clientY: 300 }, tracks.classes[0]?.name ?? "", "", tracks.strings[0] ?? "");
		timeline.setRange([timeline.view.min, timeline.view.max], true);
		await timeline.totals.show([timeline.view.min, timeline.view.max]);
		timeline.openTab("view");
		await timeline.inView.show();
		dispatchEvent(new Event("beforeprint"));
		for (const b of document.querySelectorAll(".report-list button, .jump, thead button"))
			b.click();
	});
	await page.waitForTimeout(300);
	return page.evaluate(() => ({
		hacked: window.hacked ?? null,
		foreign: [...document.querySelectorAll("img, iframe, object, embed, a[href^=javascript], svg[onload], body script:not([id]) ~ script:not([id]), main script, main style")].length,
		height: document.querySelector("main").offsetHeight,
	}));
}

for (const [i, name] of names.entries()) {
	const file = join(dir, `page-hostile-${i}.html`);
	writeFileSync(file, report(template, { calls: 60, name }));
	reports.push(file);
}
for (const file of reports) {
	try {
		const page = await open(browser, file);
		const { hacked, foreign, height } = await exercise(page);
		say(hacked === null && foreign === 0 && height > 500 && page.wrongs.length === 0,
			`${file.replace(/.*\//, "")}: no script runs, nothing breaks ${page.wrongs.slice(0, 2).join("; ")} (${hacked}, ${foreign}, ${height})`);
		await page.close();
	} catch (error) {
		say(false, `${file.replace(/.*\//, "")}: ${error.message.split("\n").slice(0, 2).join(" ")}`);
	}
}

// A file that was cut on its way says so.
const whole = report(template, { calls: 5000 });
for (const [what, text] of Object.entries({ "half of its data": whole.slice(0, whole.lastIndexOf("ct-data") + 2000), "no data": template })) {
	const file = join(dir, "page-cut.html");
	writeFileSync(file, text);
	const page = await open(browser, file, { wait: false });
	await page.waitForSelector(".notice.bad", { timeout: hang }).catch(() => {});
	say(/cannot be shown/.test(await page.locator("#notices").innerText()), `a file with ${what} says that it cannot be shown`);
	await page.close();
}
await browser.close();
