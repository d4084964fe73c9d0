// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: ranks.js REPORT SUMMARIES RANKS LATE
//
// A report of a job of two ranks of which rank 1 is late, and one of summaries of RANKS ranks of which LATE is.
// Prints "ok" or "not ok", a tab and what it was.

import { launch, open, still } from "./browser.js";

const [file, summaries, ranks, late] = process.argv.slice(2);
const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();

/** Is the guilty rank on the first screen? */
async function firstScreen(page, rank, what) {
	const line = page.locator(".verdict-line").first(), box = await line.boundingBox();
	say(await line.innerText() === `Rank ${rank} makes the others wait` && box.y + box.height < 700, `ranks: ${what}: the first screen names the rank`);
}

/** What a page did wrong; that the test reads pixels again and again is not its fault. */
const wrongs = (page) => page.wrongs.filter((text) => !text.includes("willReadFrequently"));

/** The colour of a canvas in the middle of row @row of @rows, at @share of its width without the names. */
const colour = (page, selector, row, rows, share) => page.locator(selector).evaluate((canvas, [row, rows, share]) => {
	const height = Math.min(22, rows < 100 ? Math.floor(480 / rows) : 480 / rows), x = 64 + share * (canvas.clientWidth - 64);
	const scale = canvas.width / canvas.clientWidth;
	return [...canvas.getContext("2d").getImageData(Math.round(x * scale), Math.round((row + 0.5) * height * scale), 1, 1).data.slice(0, 3)].join(",");
}, [row, rows, share]);

const BAD = "192,53,43";	// --bad of the light theme

try {
	let page = await open(browser, file);
	await firstScreen(page, 1, "two ranks");
	say(await page.locator("#ranks .guilty td").first().innerText() === "1", "ranks: and its row is marked");
	say(/rank 0: python \(751\)$/i.test(await page.locator("#verdict .eyebrow").nth(1).innerText()), "ranks: the verdict on a process says which rank it is");
	const groups = await page.locator(".tl-label.process .name").allInnerTexts();
	say(/^rank 0 . python \(751\)$/.test(groups[0]) && /^rank 1 . python \(752\)$/.test(groups[1]), `ranks: their tracks stand side by side, in their order (${groups.join(", ")})`);
	say(await colour(page, ".ranks-step", 0, 2, 0.4) === BAD && await colour(page, ".ranks-step", 1, 2, 0.4) !== BAD,
		"ranks: in the step that is shown rank 0 waits, and rank 1 does not");
	const heat = await Promise.all([0, 1].map((row) => colour(page, ".ranks-heat", row, 2, 0.51)));
	say(heat[0] !== heat[1], "ranks: the map of steps shows who is late");
	await page.locator(".ranks-step").hover({ position: { x: 300, y: 8 } });
	say(/^AllReduce \d+, rank 0: waits [\d.]+\sms, moves data for /.test(await page.locator("#ranks .readout").first().innerText()), "ranks: a collective says how long it waited");
	await page.locator(".ranks-step").click({ position: { x: 300, y: 8 } });
	await still(page);
	const bands = await page.evaluate(() => {
		const { painter } = window.cudatraceReport.timeline;
		return [painter.palette.waits, painter.palette.moves].map((c) => painter.grid.filter((pixel) => pixel === c).length / painter.grid.length);
	});
	say(bands[0] > 0.5 && bands[1] > 0.01, `ranks: in the timeline a band through all tracks says who waits until when (${bands.map((b) => b.toFixed(2)).join(", ")})`);
	say(!wrongs(page).length, `ranks: nothing else${wrongs(page).map((text) => `: ${text}`)}`);
	await page.close();

	page = await open(browser, summaries);
	await firstScreen(page, late, "summaries");
	say(await page.locator("#command").innerText() === `${Number(ranks).toLocaleString("en-US")} ranks`, "ranks: summaries: the page says how many ranks there are");
	say(await page.locator("#ranks tbody td").first().innerText() === late, "ranks: summaries: the late one comes first");
	say(/^[\d,]+ ranks, first the one that makes the others wait: scroll/.test(await page.locator("#ranks .hint").first().innerText()), "ranks: summaries: a list that scrolls says so");
	say(await page.locator("#timeline").isHidden(), "ranks: summaries: there is no timeline");
	const height = (await page.locator(".ranks-heat").boundingBox()).height;
	say(height <= 490, `ranks: summaries: the map has a height that a screen has room for (${height})`);
	const cells = await Promise.all([Number(late), 3].map((row) => colour(page, ".ranks-heat", row, Number(ranks), 0.02)));
	say(cells[0] !== cells[1], "ranks: summaries: and shows who is late");
	say(!wrongs(page).length, `ranks: summaries: nothing else${wrongs(page).map((text) => `: ${text}`)}`);
} catch (error) {
	say(false, `ranks: the browser's test ended: ${error.message.split("\n").slice(0, 3).join(" ")}`);
}
await browser.close();
