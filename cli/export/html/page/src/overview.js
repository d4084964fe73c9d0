// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first screen: what was run, what limits it, its stages and the findings.

import { button, el, get } from "./dom.js";
import { jobVerdict, ranks, whoOf } from "./ranks.js";
import { at, capital, count, percent, time, who } from "./format.js";

const date = (iso) => {
	const when = new Date(iso);
	return Number.isNaN(when.getTime()) ? String(iso) :
		when.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
};
const plural = (n, one) => `${count(n)} ${one}${n === 1 ? "" : one.endsWith("s") ? "es" : "s"}`;

function notices(manifest) {
	const { trace } = manifest, left = manifest.left_out, list = [], notes = [];
	if (trace.simulated)
		list.push(["bad", "Simulated GPU", "These figures are of a simulated libcuda. They say nothing about a device."]);
	if (trace.lost > 0)
		list.push(["warn", `${plural(trace.lost, "record")} lost`, "The trace lacks them. The report \u201clost\u201d says where and why, and what to do."]);
	if (trace.unfinished)
		list.push(["warn", "Unfinished trace", "It was still being recorded when this page was made, or its recorder was ended."]);
	if (left && (left.records || left.tracks)) {
		const parts = [];
		if (left.records)
			parts.push(`Of the ${count(trace.records)} records, ${count(left.records)} are counted and not drawn one by one` +
				(left.shorter_than_ns ? `: all of them are shorter than ${time(left.shorter_than_ns)}` : "") +
				". The zoomed-out timeline, the findings and the reports have them.");
		if (left.tracks)
			parts.push(`${plural(left.tracks, "record")} of further threads or open ranges are in no track.`);
		notes.push(["info", "Not each record is drawn", parts.join(" ")]);
	}
	if (left && (left.details || left.strings))
		notes.push(["info", "Not all texts and fields are here", [left.details ? `Those of ${plural(left.details, "record")} are left out.` : "",
			left.strings ? `${plural(left.strings, "text")} left out.` : ""].filter(Boolean).join(" ")]);
	const missing = manifest.gpu_missing ?? [];
	if (missing.length)
		list.push(["warn", "GPU records are not complete", missing.join(" ")]);
	else if (!manifest.tracks.some((t) => t.layer === "gpu" && t.count > 0))
		notes.push(["info", "No GPU records", "The trace has what the host did. What the GPU did is bounded by the host's calls, not measured."]);
	const show = (id, of) => get(id).replaceChildren(...of.map(([kind, title, text]) =>
		el("p", { class: `notice ${kind}` }, el("strong", {}, title), " ", text)));
	show("notices", list);
	// What a reader of the timeline has to know is not the first thing of the page.
	show("notes", notes);
}

function header(manifest) {
	const { trace } = manifest;
	document.title = `${trace.program || trace.command || "trace"} \u00b7 cudatrace`;
	get("program").textContent = "Trace of";
	get("command").textContent = trace.command || trace.program || "(the command is not known)";
	const items = [
		trace.recorded && date(trace.recorded),
		Number.isFinite(trace.duration_ns) && time(trace.duration_ns),
		plural(trace.records, "record"),
		trace.processes > 0 && plural(trace.processes, "process"),
		trace.threads > 0 && plural(trace.threads, "thread"),
	];
	const { job } = manifest;
	if (job?.summaries) {
		get("program").textContent = "Ranks of a job";
		get("command").textContent = `${count(job.ranks.length + job.ranks_left_out)} ranks`;
		document.title = `${get("command").textContent} \u00b7 cudatrace`;
		items.splice(1, items.length, `by ${count(job.summaries)} summar${job.summaries === 1 ? "y" : "ies"}, without the traces`);
		get("facts").closest(".card").hidden = true;
		get("facts").closest(".hero").classList.add("alone");
	}
	get("meta").replaceChildren(...items.filter(Boolean).map((item) => el("li", {}, item)));
	// What stands above already is not said twice.
	const facts = (manifest.facts ?? []).filter(([label]) => !/^(command|verdict|trace|recorded)$/i.test(label));
	if (trace.module === true || trace.module === false)
		facts.unshift(["recorded by", trace.module ? "the kernel module and the library" : "the library, without the kernel module"]);
	get("facts").replaceChildren(...facts.map(([label, value]) => el("div", {}, el("dt", {}, capital(label)), el("dd", {}, value))));
	get("foot").textContent = `Made by cudatrace${trace.version ? ` ${trace.version}` : ""}. This file is complete: it loads nothing from any network.`;
}

function verdict(manifest) {
	const list = manifest.verdicts?.length ? manifest.verdicts : manifest.verdict ? [manifest.verdict] : [];
	const place = get("verdict");
	if (!list.length) {
		place.append(el("p", { class: "eyebrow" }, "Verdict"), el("p", { class: "verdict-line" }, "No call of libcuda was recorded"));
		return;
	}
	place.append(...jobVerdict(manifest));
	if (manifest.job?.summaries)
		return;
	const main = manifest.verdict ?? list[0];
	const line = main.limited_by ? /^(limited|no )/.test(main.limited_by) ? capital(main.limited_by) : `Limited by ${main.limited_by}` : "Not limited by one thing";
	place.append(el("p", { class: "eyebrow" }, list.length > 1 ? `Verdict \u00b7 ${whoOf(manifest, main.process, main.pid)}` : "Verdict"),
		el("p", { class: "verdict-line" }, line),
		el("p", { class: "verdict-text" }, capital(main.text ?? "")),
		main.startup ? el("p", { class: "verdict-text" }, capital(main.startup)) : "");
	const others = list.filter((v) => v.pid !== main.pid);
	if (others.length)
		place.append(el("details", {}, el("summary", {}, `${plural(others.length, "other process")}`),
			others.map((v) => el("p", { class: "verdict-text" }, el("b", {}, `${whoOf(manifest, v.process, v.pid)} `), v.text ?? "", " ", v.startup ?? ""))));
}

const STAGE_CLASS = { startup: 0, init: 1, modules: 2, weights: 3, warmup: 4, steady: 5, teardown: 6, communicators: 8 };

function stages(manifest, jump) {
	const all = manifest.job?.summaries ? [] : manifest.stages ?? [];
	const pids = [...new Set(all.map((s) => s.pid))];
	if (!pids.length)
		return;
	get("stages-card").hidden = false;
	const one = (pid) => {
		const list = all.filter((s) => s.pid === pid && s.end > s.begin);
		const whole = list.reduce((sum, s) => sum + s.end - s.begin, 0) || 1;
		const share = (s) => (s.end - s.begin) / whole * 100;
		const tone = (s) => `s${STAGE_CLASS[s.name] ?? 7}`;
		const show = (s) => () => jump(s.begin, s.end, null);
		return el("div", { class: "stages-of" },
			pids.length > 1 ? el("p", { class: "stages-who" }, whoOf(manifest, list[0]?.process, pid)) : null,
			el("div", { class: "stage-bar", "aria-hidden": "true" }, list.map((s) => el("div", { class: `stage ${tone(s)}`, title: `${s.name}: ${time(s.end - s.begin)}`,
				vars: { "--share": String(Math.max(share(s), 0.4)) }, onclick: show(s) }, share(s) > 7 ? s.name : ""))),
			el("ul", { class: "stage-list" }, list.map((s) => el("li", {}, button([
				el("span", { class: `swatch ${tone(s)}`, "aria-hidden": "true" }),
				el("span", { class: "stage-name" }, s.name),
				el("span", { class: "stage-time" }, time(s.end - s.begin)),
				el("span", { class: "stage-share" }, percent(share(s))),
				el("span", { class: "stage-text" }, s.text ?? ""),
			], show(s), { class: "stage-row" })))));
	};
	const place = get("stages");
	place.append(...pids.slice(0, 3).map(one));
	if (pids.length > 3)
		place.append(el("details", {}, el("summary", {}, plural(pids.length - 3, "further process")), pids.slice(3).map(one)));
}

// How sure the number of a gain is.
function how(f) {
	const least = !f.estimate && f.least_ns > 0 && f.gain_ns > 0 ? f.gain * f.least_ns / f.gain_ns : 0;
	if (least >= 1 && f.gain - least >= 0.1)
		return `${percent(least)} to `;
	return f.estimate ? "about " : f.at_most || f.gain_ns < f.cost_ns ? "up to " : "";
}

// What "likely" and "possible" mean stands where the pointer is.
const SURE = {
	sure: "The records show it.",
	likely: "The records show it, but for a part that they do not time.",
	possible: "The records allow it; try, and measure.",
};

const sure = (f) => f.certainty ? el("span", { class: `certainty ${f.certainty}`, title: SURE[f.certainty] ?? "" }, f.certainty) : null;

function jumps(f, jump) {
	return (f.records ?? []).length ? el("p", { class: "jumps" }, f.records.map((r) =>
		button([el("span", { class: "jump-mark", "aria-hidden": "true" }, "\u2192"), ` ${r.label ?? "record"} `,
			el("small", {}, `at ${at(r.begin)}${r.op > 0 ? `, call ${r.op}` : ""}`)],
		() => jump(r.begin, r.end, r), { class: "jump" }))) : null;
}

function advice(texts) {
	return texts.length > 1 ? el("ul", {}, texts.map((text) => el("li", {}, text))) : el("p", {}, texts[0]);
}

// Which lines of the program cost most of it.
const lines = (f) => f.lines ? el("p", { class: "lines" }, "Lines: ", f.lines) : null;

// What shows a finding, and what to try by what it could gain: the findings that are parts of it.
function parts(list, jump) {
	const tries = list.filter((p) => (p.try ?? []).length);
	return [
		el("ul", { class: "seen" }, list.map((p) => el("li", {}, p.text ?? "", " ", sure(p), lines(p), jumps(p, jump)))),
		tries.length ? el("div", { class: "try" }, el("h4", {}, "Try"), el("ul", {}, tries.map((p) =>
			el("li", {}, p.gain >= 0.05 ? el("b", {}, `${how(p)}${percent(p.gain)}: `) : null, p.try.join(" "))))) : null,
	];
}

function finding({ head: f, rest }, rank, several, jump) {
	const share = Number.isFinite(f.gain) ? `${how(f)}${percent(f.gain)}` :
		Number.isFinite(f.gain_ns) && f.gain_ns > 0 ? `${how(f)}${time(f.gain_ns)}` : "";
	const where = [f.scope === "startup" ? "of the startup" : f.scope === "steady" ? "of the steady state" : "", several && f.pid ? who(f.process, f.pid) : ""];
	return el("li", { class: `finding card ${f.severity ?? ""}` },
		el("div", { class: "cost" },
			el("span", { class: "cost-share" }, share),
			el("span", { class: "cost-bar", vars: { "--share": `${Math.max(0, Math.min(100, f.gain ?? 0))}%` } }),
			el("span", { class: "cost-of" }, [...where.filter(Boolean)].join(" \u00b7 ")),
			Number.isFinite(f.gain_ns) && f.gain_ns > 0 && Number.isFinite(f.gain) ? el("span", { class: "cost-of" }, time(f.gain_ns)) : null),
		el("div", { class: "what" },
			el("h3", {}, el("span", { class: "rank" }, `${rank}.`), ` ${capital(f.title ?? "")} `, sure(f)),
			f.text && f.text !== f.title ? el("p", {}, f.text) : null,
			lines(f),
			rest.length ? parts(rest, jump) : null,
			(f.try ?? []).length ? el("div", { class: "try" }, el("h4", {}, "Try"), advice(f.try)) : null,
			jumps(f, jump)));
}

function findings(manifest, jump) {
	const list = [];
	for (const f of manifest.findings ?? [])
		if (f.part && list.length)
			list[list.length - 1].rest.push(f);
		else
			list.push({ head: f, rest: [] });
	const several = new Set(list.map((f) => f.head.pid)).size > 1;
	get("findings-lead").textContent = list.length ?
		"What a mend could gain, most first: a share of the wall time of its phase. They do not count the same time. An arrow shows the record in the timeline." :
		"No rule of explain found something that costs time here.";
	const most = 8;
	const rest = list.slice(most);
	get("findings-list").append(el("ol", { class: "findings" }, list.slice(0, most).map((f, i) => finding(f, i + 1, several, jump))));
	if (rest.length)
		get("findings-list").append(el("details", { class: "more-findings" }, el("summary", {}, plural(rest.length, "further finding")),
			el("ol", { class: "findings" }, rest.map((f, i) => finding(f, most + i + 1, several, jump)))));
}

/** @jump(begin, end, record) shows a time or a record in the timeline. */
export function overview(manifest, jump) {
	notices(manifest);
	header(manifest);
	verdict(manifest);
	ranks(manifest, jump);
	stages(manifest, jump);
	findings(manifest, jump);
}
