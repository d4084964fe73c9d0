// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: page.js REPORT FACTS
//
// What a user does with a report of a real trace.  FACTS is JSON that the caller computed from
// the same trace's JSON Lines: {search: {text, count}, call: {op_id, name, begin, fields}}.
// Prints "ok" or "not ok", a tab and what it was.

import { readFileSync } from "node:fs";
import { launch, open, still, until } from "./browser.js";

const [file, factsFile] = process.argv.slice(2);
const facts = JSON.parse(readFileSync(factsFile, "utf8"));
const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, file);
const text = (selector) => page.locator(selector).first().innerText();
const view = () => page.evaluate(() => {
	const { from, to } = window.cudatraceReport.timeline.view;
	return [from, to];
});

try {
	/** Colours of the canvas on the record and in an empty place of the same row. */
	const spots = () => page.evaluate(async (op) => {
		const { timeline, tracks } = window.cudatraceReport;
		for (const track of tracks.list) {
			await track.loadLinks();
			const i = track.find(op);
			if (i < 0)
				continue;
			timeline.body.scrollIntoView({ block: "center", behavior: "instant" });
			await timeline.select(track, i, { zoom: true });
			await new Promise((resolve) => setTimeout(resolve, 600));
			timeline.clear();
			timeline.draw();
			const place = timeline.rows.place(track, track.columns.depth[i]);
			const y = place.y + place.height - 4 - timeline.scroller.scrollTop;
			const { begin, duration } = track.columns;
			const x = timeline.view.x(begin[i] + duration[i] * 0.98);
			const scale = timeline.painter.scale;
			const copy = new OffscreenCanvas(timeline.body.width, timeline.body.height).getContext("2d", { willReadFrequently: true });
			copy.drawImage(timeline.body, 0, 0);
			const colour = (cx, cy) => [...copy.getImageData(Math.floor(cx * scale), Math.floor(cy * scale), 1, 1).data].join();
			const box = timeline.body.getBoundingClientRect();
			return { there: colour(x, y), background: getComputedStyle(document.documentElement).getPropertyValue("--surface").trim(),
				x: box.left + x, y: box.top + y, local: [x, y] };
		}
		return null;
	}, facts.call.op_id);
	const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join() + ",255";

	say((await text("h1")).length > 3 && (await text(".verdict-line")).length > 5, "the first screen says what was run and the verdict");
	say(await page.locator(".stage").count() >= 1, "there are stages");

	const spot = await spots();
	say(spot && spot.there !== rgb(spot.background), `the timeline is drawn where a call is (${spot?.there})`);
	const empty = await page.evaluate(() => {
		const { timeline } = window.cudatraceReport;
		const { canvas } = timeline.painter;
		const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
		copy.drawImage(canvas, 0, 0);
		const data = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
		const colours = new Map();
		for (const pixel of data)
			colours.set(pixel, (colours.get(pixel) ?? 0) + 1);
		return [colours.size, Math.max(...colours.values()) / data.length];
	});
	say(empty[0] > 4 && empty[1] > 0.02, `and not everywhere (${empty[0]} colours)`);

	await page.mouse.move(spot.x, spot.y);
	say((await text(".tip")).includes(facts.call.name), "the pointer over a call shows its name");
	await page.mouse.click(spot.x, spot.y);
	await page.waitForFunction((op) => document.getElementById("fields")?.innerText.includes(op), String(facts.call.op_id)).catch(() => {});
	const fields = await page.locator("#fields tr").evaluateAll((rows) => Object.fromEntries(rows.map((r) => [r.cells[0].innerText, r.cells[1]?.innerText])));
	say(await text("#panel-record h3") === facts.call.name && fields.op_id === String(facts.call.op_id), `a click shows the call (${fields.op_id})`);
	const missing = Object.entries(facts.call.fields).filter(([name, value]) => (fields[name] ?? "").replaceAll(",", "") !== String(value) &&
		!(fields[name] ?? "").replaceAll(",", "").includes(`(${value} B)`));
	say(missing.length === 0, `with all its fields${missing.length ? `, but for ${missing.map(([n, v]) => `${n}=${v}: ${fields[n]}`).join("; ")}` : ""}`);
	say(await page.locator(".tree .node.self").count() === 1, "and the tree of its call");

	await page.fill("#search", facts.search.text);
	await page.waitForFunction(() => /found/.test(document.getElementById("search-count").textContent)).catch(() => {});
	say((await text("#search-count")).replace(/\D/g, "") === String(facts.search.count), `a search finds ${facts.search.count} calls (${await text("#search-count")})`);
	await page.click("#whole");
	await still(page);
	await page.press("#search", "Enter");
	const position = async (other) => {
		await page.waitForFunction((not) => / of /.test(document.getElementById("search-count").textContent) &&
			document.getElementById("search-count").textContent !== not, other ?? "").catch(() => {});
		return text("#search-count");
	};
	const one = await position();
	await still(page);
	const first = await view();
	await page.click("#search-next");
	const two = await position(one);
	say(parseInt(two) === parseInt(one) + 1, `and goes from match to match (${one}, ${two})`);
	await page.click("#search-previous");
	say(await position(two) === one, "and back");
	await page.press("#search", "Escape");

	await page.click("#whole");
	await still(page);
	const whole = await view();
	say(first[1] - first[0] < whole[1] - whole[0], "a match is zoomed to");
	const jumps = page.locator("#findings .jump");
	if (await jumps.count()) {
		const label = await jumps.first().innerText();
		await jumps.first().click();
		await page.waitForFunction(() => document.querySelector("#panel-record h3")).catch(() => {});
		await still(page);
		const there = await view();
		const name = await page.locator("#panel-record h3").innerText().catch(() => "none");
		say(there[1] - there[0] < (whole[1] - whole[0]) * 0.98 && label.includes(name.split(" ")[0]), `the link of a finding moves the timeline to ${name}`);
	} else {
		say(false, "no finding has a link");
	}

	// Keys, when the timeline has the focus.
	await page.evaluate(() => window.cudatraceReport.timeline.element.focus());
	const key = async (name, moved) => {
		await page.keyboard.down(name);
		await until(page, view, moved);
		await page.keyboard.up(name);
		await still(page);
		return view();
	};
	const width = (v) => v[1] - v[0];
	const zero = await key("0", () => true);
	const near = await key("w", (v) => width(v) < width(zero) * 0.5);
	const right = await key("d", (v) => v[0] > near[0] + width(near) * 0.1);
	const left = await key("ArrowLeft", (v) => v[0] < right[0] - width(near) * 0.05);
	const far = await key("s", (v) => width(v) > width(left) * 1.2);
	say(near[1] - near[0] < (zero[1] - zero[0]) * 0.9 && right[0] > near[0] && left[0] < right[0] && far[1] - far[0] > left[1] - left[0],
		"W, D, the left arrow and S zoom and move");
	await page.evaluate(() => window.cudatraceReport.timeline.body.scrollIntoView({ block: "center", behavior: "instant" }));
	const box = await page.locator(".tl-body").boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + 40);
	await page.waitForTimeout(400);
	const before = await view();
	await page.mouse.wheel(0, -300);
	await still(page);
	const wheeled = await view();
	say(wheeled[1] - wheeled[0] < before[1] - before[0], "the wheel zooms");
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2 + 120, box.y + 40, { steps: 5 });
	await page.mouse.up();
	const dragged = await view();
	say(dragged[0] < wheeled[0] || wheeled[0] <= zero[0], "a drag moves");

	// A range and its totals, against the records themselves.
	await page.keyboard.press("0");
	await still(page);
	await page.keyboard.down("Shift");
	await page.mouse.move(box.x + box.width * 0.2, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.97, box.y + 60, { steps: 8 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await page.waitForSelector("#panel-range table");
	const totals = await page.evaluate(async () => {
		const { timeline, tracks } = window.cudatraceReport;
		const [from, to] = timeline.range;
		const counts = {};
		for (const track of tracks.list)
			for (let i = 0; i < track.columns.begin.length; i++)
				if (track.columns.begin[i] < to && track.columns.begin[i] + track.columns.duration[i] >= from)
					counts[tracks.classes[track.columns.class[i]].name] = (counts[tracks.classes[track.columns.class[i]].name] ?? 0) + 1;
		const row = document.querySelector("#panel-range tbody tr");
		return [row.cells[0].innerText, Number(row.cells[2].innerText.replaceAll(",", "")), counts[row.cells[0].innerText]];
	});
	say(totals[1] > 0 && Math.abs(totals[1] - totals[2]) <= 1, `a marked range has its totals (${totals.join(" ")})`);
	await page.click("#tab-view");
	await page.waitForSelector("#panel-view tbody tr");
	say(await page.locator("#panel-view tbody tr").count() > 3, "what is in view is there in words");

	const odd = (await page.locator("body").innerText()).match(/[^\n]*\b(undefined|NaN|\[object|Invalid Date)\b[^\n]*|^null$/m);
	say(!odd, `nothing says undefined or NaN ${odd?.[0] ?? ""}`);

	// Folding by keyboard.
	const labels = await page.locator(".tl-label").count();
	await page.locator(".tl-label.process").first().focus();
	await page.keyboard.press("Enter");
	const folded = await page.locator(".tl-label").count();
	await page.keyboard.press("Enter");
	say(folded < labels && await page.locator(".tl-label").count() === labels, "a process is folded and unfolded by the keyboard");

	// Tables.
	const report = page.locator(".report").first();
	const column = await report.locator("thead th.n").first();
	await column.locator("button").click();
	const cells = () => report.evaluate((r) => {
		const heads = [...r.querySelectorAll("thead th")];
		const k = heads.findIndex((h) => h.classList.contains("n"));
		return [...r.querySelectorAll("tbody tr")].map((tr) => tr.cells[k]?.innerText ?? "");
	});
	const scaled = (s) => parseFloat(s.replace(/[^\d.]/g, "")) * ({ ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30 }[s.match(/[^\d.,\s]+$/)?.[0]] ?? 1);
	const sorted = (list, sign) => list.map(scaled).filter((n) => !Number.isNaN(n)).every((n, i, all) => i === 0 || sign * (all[i - 1] - n) >= -1e-9 * Math.abs(n));
	const down = await cells();
	say(await column.getAttribute("aria-sort") === "descending" && sorted(down, 1), "a head sorts a table, the largest first");
	await column.locator("button").click();
	say(await column.getAttribute("aria-sort") === "ascending" && sorted(await cells(), -1), "and the other way");
	const name = (await report.locator("tbody tr").first().locator("td").evaluateAll((tds) => tds.map((td) => td.innerText))).find((t) => /[a-z]{4}/i.test(t)) ?? "";
	await report.locator("input").fill(name);
	await page.waitForFunction(() => / of /.test(document.querySelector(".report output").textContent)).catch(() => {});
	const shown = await report.locator("tbody tr").count();
	say(shown >= 1 && shown < down.length, `a filter leaves ${shown} of ${down.length} rows`);
	await report.locator("input").fill("");
	await page.waitForFunction(() => !/ of \d+ rows/.test(document.querySelector(".report output").textContent)).catch(() => {});
	const [download] = await Promise.all([page.waitForEvent("download"), report.locator("button.csv").click()]);
	const csv = readFileSync(await download.path(), "utf8");
	const all = await page.evaluate(() => {
		const title = document.querySelector(".report h3").innerText;
		return window.cudatraceReport.manifest.tables.find((t) => (t.title || t.name) === title).rows;
	});
	const unquoted = csv.replace(/"(?:[^"]|"")*"/g, "");
	say(unquoted.trim().split("\r\n").length === all.length + 1, `the CSV of a table has its ${all.length} rows (${download.suggestedFilename()})`);

	// The page for those who do not see it.
	const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, a[href], [role=tab], table, section")].filter((e) =>
		!(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80)));
	say(nameless.length === 0, `everything that is used has a name ${nameless.slice(0, 3).join(" ")}`);
	const outline = await page.evaluate(() => [document.querySelectorAll("h1").length, document.querySelectorAll("main, header, footer").length, document.querySelectorAll("main h2").length]);
	say(outline[0] === 1 && outline[1] === 3 && outline[2] >= 3, `one h1, landmarks, heads (${outline})`);

	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	const printed = await page.evaluate(() => [[...document.querySelectorAll(".printed table")].filter((t) => t.offsetHeight > 0).length,
		[...document.querySelectorAll(".finding")].filter((f) => f.offsetHeight > 0).length, document.querySelector(".tl-panels").offsetHeight]);
	say(printed[0] > 3 && printed[1] > 0 && printed[2] === 0, `print has the tables and findings (${printed})`);
	await page.emulateMedia({ media: "screen" });
	say(page.wrongs.length === 0, `no console error and no request: ${page.wrongs.slice(0, 3).join("; ")}`);

	const colours = [];
	for (const scheme of ["light", "dark"]) {
		await page.emulateMedia({ colorScheme: scheme });
		const colour = () => page.evaluate(() => {
			const { canvas } = window.cudatraceReport.timeline.painter;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
			copy.drawImage(canvas, 0, 0);
			return [getComputedStyle(document.body).backgroundColor, copy.getImageData(canvas.width - 3, canvas.height - 2, 1, 1).data.join()].join(" ");
		});
		await still(page);
		// The canvas is painted again when a frame comes.
		colours.push(colours.length ? await until(page, colour, (now) => now.split(" ").pop() !== colours[0].split(" ").pop()) : await colour());
	}
	say(colours[0].split(" ").pop() !== colours[1].split(" ").pop() && colours[0] !== colours[1], `light and dark differ, on the canvas too (${colours.join(" / ")})`);
	for (const width of [800, 1280, 1920]) {
		await page.setViewportSize({ width, height: 900 });
		const over = await until(page, () => page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth), (n) => n <= 0);
		say(over <= 0, `nothing stands out at ${width} pixels (${over})`);
	}
} catch (error) {
	say(false, `the browser's test ended: ${error.message.split("\n").slice(0, 3).join(" ")}`);
}
await browser.close();
