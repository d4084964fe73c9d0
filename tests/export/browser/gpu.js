// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: gpu.js REPORT [TEXT]
//
// A report of a trace with records of the GPU (make_gpu nodes): its tracks, and the way from a
// launch to what the GPU did for it and back.  With TEXT: of one that lacks some of them; the page
// says it.  Prints "ok" or "not ok", a tab and what it was.

import { launch, open, still } from "./browser.js";

const say = (good, text) => console.log(`${good ? "ok" : "not ok"}\t${text}`);
const browser = await launch();
const page = await open(browser, process.argv[2]);

async function missing(text) {
	const said = await page.locator("#notices").innerText();
	say(said.includes("GPU records are not complete") && said.includes(text), `what is missing is said above all (${said})`);
}

/** What the arrows of the timeline are, after it came to rest. */
async function arrows() {
	await still(page);
	return page.evaluate(() => {
		const { timeline } = window.cudatraceReport;
		timeline.draw();
		const { columns } = window.gpu;
		return timeline.arrows.drawn.map(({ track, i, to, head }) => ({
			i, gpu: track === window.gpu, x: to.x, y: to.y, head: head.join(), at: timeline.view.x(columns.begin[i]),
			top: timeline.rows.placeOrHead(track, columns.depth[i]).y - timeline.scroller.scrollTop,
		}));
	});
}

/** How much the colour of the middle of the first arrow's head differs from the page's: the contrast. */
const contrast = () => page.evaluate(() => {
	const { timeline } = window.cudatraceReport, { canvas, scale } = timeline.painter;
	const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
	copy.drawImage(canvas, 0, 0);
	const [{ to }] = timeline.arrows.drawn;
	const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0.05);
	const surface = getComputedStyle(document.documentElement).getPropertyValue("--surface").trim();
	const [a, b] = [light(copy.getImageData(Math.round(to.x * scale), Math.round((to.y - 5) * scale), 1, 1).data),
		light([1, 3, 5].map((k) => parseInt(surface.slice(k, k + 2), 16)))];
	return Math.max(a, b) / Math.min(a, b);
});

/** The arrows between a call and its work, and the ways there and back. */
async function flows() {
	const near = (a, b) => Math.abs(a - b) < 1.5;
	await page.evaluate(async () => {
		const { tracks, timeline } = window.cudatraceReport;
		window.gpu = tracks.list.find((t) => t.layer === "gpu");
		[window.call] = await tracks.parents(window.gpu, 4);
		timeline.scroller.scrollIntoView({ block: "center", behavior: "instant" });
		timeline.rows.reveal(window.gpu);
		await timeline.select(window.call.track, window.call.i, {});
		const { begin } = window.call.track.columns;
		timeline.view.go(begin[window.call.i] - 5000, begin[window.call.i] + 40000);
	});
	const two = await arrows();
	say(two.map((a) => a.i).join() === "4,5" && two.every((a) => near(a.x, a.at) && near(a.y, a.top) && a.head === "0,1"),
		`arrows lead from a call to the begins of its kernels (${JSON.stringify(two)})`);
	for (const colorScheme of ["light", "dark"]) {
		await page.emulateMedia({ colorScheme });
		await arrows();
		const ratio = await contrast();
		say(ratio >= 7, `they stand out, ${colorScheme} (${ratio.toFixed(1)})`);
	}
	await page.emulateMedia({ colorScheme: "light" });

	await page.locator("#fields .flow .jump").click();
	await page.waitForFunction(() => window.cudatraceReport.timeline.selected?.track === window.gpu);
	await page.locator("#fields .flow").getByText("caused by").waitFor();
	say((await arrows()).map((a) => a.i).join() === "4", "the panel leads to the first of them, and only its arrow is left");
	await page.locator("#fields .flow .jump").click();
	await page.waitForFunction(() => window.cudatraceReport.timeline.selected?.track === window.call.track);
	await page.locator("#fields .flow").getByText("GPU work").waitFor();
	say((await arrows()).length > 0, "and back to the call");
	for (const track of ["gpu", "call.track"]) {
		await page.evaluate(() => window.cudatraceReport.timeline.element.focus());
		await page.keyboard.press("g");
		await page.waitForFunction((is) => window.cudatraceReport.timeline.selected?.track === (is === "gpu" ? window.gpu : window.call.track), track);
	}
	say(true, "so does the key G");

	// Out of sight, to the side and folded away.
	const go = (from, to) => page.evaluate(([a, b]) => {
		const { timeline } = window.cudatraceReport, { begin } = window.call.track.columns;
		timeline.view.go(begin[window.call.i] + a, begin[window.call.i] + b);
	}, [from, to]);
	await page.locator("#fields .flow").getByText("GPU work").waitFor();
	await go(-4000, 7000);
	const [right, ...others] = await arrows();
	const width = await page.evaluate(() => window.cudatraceReport.timeline.view.width);
	say(others.length === 0 && right?.head === "1,0" && right.x === width, `what is beyond the edge has an arrow to the edge (${JSON.stringify(right)})`);
	await go(18000, 40000);
	say((await arrows()).map((a) => `${a.i} ${a.head}`).join() === "5 0,1", "and one comes from a call that is beyond it");
	await go(-200000, -100000);
	say((await arrows()).length === 0, "where both are beyond it there is none");
	await go(-5000, 40000);
	await page.locator("button.tl-label.thread").filter({ hasText: "GPU 0" }).click();
	const folded = await arrows();
	say(folded.length === 2 && folded.every((a) => near(a.y, a.top)), `arrows lead to the head of what is folded away (${folded.length})`);
	await page.locator("button.tl-label.thread").filter({ hasText: "GPU 0" }).click();
	await still(page);
	// At once: the timeline takes its size back in the next frame.
	const [height, below] = await page.evaluate(() => {
		const { timeline } = window.cudatraceReport, most = timeline.rows.placeOrHead(window.gpu, 0).y - 20;
		timeline.painter.resize(timeline.view.width, most);
		timeline.draw();
		const ends = timeline.arrows.drawn.map(({ to, head }) => [to.y, head.join()].join(" "));
		timeline.place();
		return [most, ends];
	});
	say(below.join() === `${height} 0,1,${height} 0,1`, `and to the lower edge, where the track is below it (${below})`);
	await page.locator(".layers label").filter({ hasText: "GPU" }).click();
	say((await arrows()).length === 0, "a hidden layer has none");
	await page.locator(".layers label").filter({ hasText: "GPU" }).click();

	// A graph of many kernels.
	await page.evaluate(async () => {
		const { timeline } = window.cudatraceReport, { track, i } = window.call;
		window.gpu.links.parent.fill(track.links.op[i]);
		await timeline.select(track, i, {});
		timeline.showAll();
	});
	const many = (await arrows()).map((a) => a.x);
	say(many.length > 2 && many.length < 40 && many.every((x, k) => k === 0 || x - many[k - 1] > 10), `arrows keep a distance (${many.length} of 40)`);
	say((await page.locator("#fields .flow").innerText()).includes("first of 40 records"), "the panel counts all");
	await page.evaluate(() => { window.cudatraceReport.timeline.arrows.most = 5; });
	say((await arrows()).length === 5, "and there are at most as many as it says");
	await page.evaluate(() => window.cudatraceReport.timeline.clear());
	say((await arrows()).length === 0, "without a selection there are none");
	say(page.wrongs.length === 0, `no complaint of the browser ${page.wrongs.join("; ")}`);
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
	if (!process.argv[3])
		await flows();
} catch (error) {
	say(false, `no error: ${error.message}`);
}
await browser.close();
