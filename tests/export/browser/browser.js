// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A headless browser that opens a report, and notes what a report must not do.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(join(process.env.NODE_MODULES, "x"))("playwright-core");

/** After so many milliseconds a page hangs: a busy machine takes none as long. */
export const hang = 600000;

/** Of the program $CHROMIUM. */
export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM,
	args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"] });

/** A page with the report; page.wrongs lists what it did wrong. */
export async function open(browser, file, { width = 1280, height = 900, scheme = "light", wait = true } = {}) {
	const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
	page.wrongs = [];
	page.setDefaultTimeout(hang);
	page.on("console", (message) => {
		if (["error", "warning", "assert"].includes(message.type()))
			page.wrongs.push(`console: ${message.text()}`);
	});
	page.on("pageerror", (error) => page.wrongs.push(`error: ${error.message}`));
	page.on("request", (request) => {
		if (request.url() !== pathToFileURL(file).href && !/^(data|blob):/.test(request.url()))
			page.wrongs.push(`request: ${request.url().slice(0, 200)}`);
	});
	page.on("dialog", (dialog) => {
		page.wrongs.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	await page.addInitScript(() => {
		addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
	});
	await page.goto(pathToFileURL(file).href);
	if (wait)
		await complete(page);
	return page;
}

/** Until all data are there. */
export const complete = (page) => page.waitForFunction(() => document.documentElement.dataset.state === "complete", null, { timeout: hang });

/** What promiseOf() gives when good() accepts it, or after 400 frames: a busy machine has few of them, but has them. */
export async function until(page, promiseOf, good) {
	let value = await promiseOf();
	for (let i = 0; i < 400 && !good(value); i++) {
		await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
		value = await promiseOf();
	}
	return value;
}

/** Until the timeline has stopped moving. */
export const still = (page) => page.evaluate(async () => {
	const { view } = window.cudatraceReport.timeline;
	let last = null;
	for (let i = 0; i < 200; i++) {
		await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
		const now = `${view.from} ${view.to} ${view.animation}`;
		if (now === last && !view.animation)
			return;
		last = now;
	}
});
