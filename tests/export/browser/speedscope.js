// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: speedscope.js FOLDED WORKDIR
//
// What speedscope makes of a file of folded stacks: its table of functions, a line each: NAME, TOTAL and SELF by tabs.

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { hang, launch } from "./browser.js";

const [file, work] = process.argv.slice(2);
// As its own command gives it a file: a script that the page loads.
const script = join(work, "speedscope-profile.js");
writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${readFileSync(file).toString("base64")}")`);
const page = join(process.env.NODE_MODULES, "speedscope/dist/release/index.html");
const browser = await launch();
// Rows that are not in sight are not made.
const tab = await browser.newPage({ viewport: { width: 1280, height: 4000 } });
tab.setDefaultTimeout(hang);
await tab.goto(`${pathToFileURL(page).href}#localProfilePath=${script}`);
await tab.getByText("Sandwich").click();
await tab.locator("td").first().waitFor();
for (const row of await tab.locator("tr").all()) {
	const cells = await row.locator("td").allInnerTexts();
	if (cells.length === 3)
		console.log([cells[2], ...cells.slice(0, 2).map((cell) => cell.replace(/\(.*|,/g, ""))].map((text) => text.trim()).join("\t"));
}
await browser.close();
