// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: NODE_MODULES=build/browser/node_modules CHROMIUM=/usr/bin/chromium
//        node screenshots.js OUTDIR REPORT...
//
// Pictures of each report to look at: its first screen, the timeline where the first finding with
// a record points, and the whole page; at 1280 and 1920 pixels, light and dark.

import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { launch, open, still } from "./browser.js";

const [dir, ...reports] = process.argv.slice(2);
mkdirSync(dir, { recursive: true });
const browser = await launch();
for (const report of reports)
	for (const width of [1280, 1920])
		for (const scheme of ["light", "dark"]) {
			const page = await open(browser, report, { width, height: width === 1280 ? 900 : 1080, scheme });
			const shot = async (name, options) => {
				const path = join(dir, `${basename(report, ".html")}-${width}-${scheme}-${name}.png`);
				await page.screenshot({ path, ...options });
				console.log(path);
			};
			await shot("first");
			await shot("page", { fullPage: true });
			const jump = page.locator("#findings .jump").first();
			if (await jump.count())
				await jump.click();
			else
				await page.evaluate(() => document.getElementById("timeline").scrollIntoView({ behavior: "instant" }));
			await still(page);
			await page.waitForTimeout(700);
			await shot("timeline");
			if (page.wrongs.length)
				console.error(`${report}: ${page.wrongs.join("; ")}`);
			await page.close();
		}
await browser.close();
