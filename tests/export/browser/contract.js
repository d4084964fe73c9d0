// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Makes reports without the command: data as cli/export/html/data.md describes them, of records
// that a test makes up.  So the page is tested apart from what writes its data.

import { deflateRawSync } from "node:zlib";

export function varint(values) {
	const out = [];
	for (let value of values) {
		while (value >= 128) {
			out.push(value % 128 + 128);
			value = Math.floor(value / 128);
		}
		out.push(value);
	}
	return Buffer.from(out);
}

export function delta(values) {
	let last = 0;
	return varint(values.map((value) => {
		const by = value - last;
		last = value;
		return by >= 0 ? by * 2 : -by * 2 - 1;
	}));
}

export class Blobs {
	constructor() {
		this.entries = {};
		this.parts = [];
		this.at = 0;
	}

	raw(name, bytes, entry) {
		const packed = deflateRawSync(bytes);
		this.entries[name] = { at: this.at, size: packed.length, ...entry };
		this.parts.push(packed);
		this.at += packed.length;
		return name;
	}

	varint(name, values) { return this.raw(name, varint(values), { count: values.length, type: "varint", coding: "varint" }); }
	delta(name, values) { return this.raw(name, delta(values), { count: values.length, type: "varint", coding: "delta" }); }
	json(name, value) { return this.raw(name, Buffer.from(JSON.stringify(value)), { count: 1, type: "json", coding: "json" }); }
	base64() { return Buffer.concat(this.parts).toString("base64"); }
}

const escape = (text) => text.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** @manifest and @blobs into @template, as the command does it. */
export function fill(template, manifest, blobs) {
	const parts = {
		"<!--ct:title-->": "report",
		"<!--ct:manifest-->": escape(JSON.stringify({ ...manifest, blobs: blobs.entries })),
		"<!--ct:data-->": blobs.base64(),
	};
	for (const [mark, text] of Object.entries(parts))
		template = template.replace(mark, () => text);
	return template;
}

/**
 * A report of one thread: @calls calls of a row each 10 us, with a call inside every second one.
 * @name is in every place where a trace's text can come from.
 */
export function report(template, { calls = 200, name = "cuLaunchKernel", extra = {} } = {}) {
	const blobs = new Blobs();
	const strings = [`kernel of ${name}`, `field of ${name}`];
	const outer = { begin: [], duration: [], class: [], depth: [], op: [], parent: [], flags: [], detail: [] };
	const inner = { begin: [], duration: [], class: [], depth: [], op: [], parent: [], flags: [], detail: [] };
	const put = (of, values) => Object.keys(of).forEach((key) => of[key].push(values[key] ?? 0));
	let op = 0;
	for (let i = 0; i < calls; i++) {
		const begin = 1000000 + i * 10000, around = ++op;
		put(outer, { begin, duration: 6000, class: i % 10 === 9 ? 1 : 0, op: around, flags: i % 50 === 7 ? 1 : 0, detail: i % 10 === 9 ? 0 : 1 });
		if (i % 2)
			put(inner, { begin: begin + 1000, duration: 3000, class: 2, op: ++op, parent: 1 });
	}
	const track = (id, layer, of) => ({ id, pid: 10, tid: 10, cpu: null, layer, name: "main", process: `program ${name}`,
		depth: 1, count: of.begin.length, kept: of.begin.length, levels: [],
		blobs: Object.fromEntries(Object.keys(of).map((key) => [key,
			blobs[key === "begin" || key === "op" ? "delta" : "varint"](`t${id}.${key}`, of[key])])) });
	const tracks = [track(0, "api", outer), track(1, "ioctl", inner)];
	const classes = [[name, "user", "kernel", calls - Math.floor(calls / 10)], ["cuStreamSynchronize", "user", "sync", Math.floor(calls / 10)],
		["ioctl", "user", "ioctl", Math.floor(calls / 2)]].map(([n, layer, category, kept], c) => ({ name: n, symbol: null, layer, category, op: "none", kept,
		fields: [{ name: "size", type: "dec", blob: blobs.varint(`f${c}.size`, Array.from({ length: kept }, (_, i) => 4096 + i)) },
			{ name: "ptr", type: "hex", blob: blobs.varint(`f${c}.ptr`, Array.from({ length: kept }, (_, i) => 0x7f0000000000 + i)) },
			{ name: `text ${name}`, type: "string", blob: blobs.varint(`f${c}.text`, Array.from({ length: kept }, () => 2)) }] }));
	const end = 1000000 + calls * 10000;
	const third = Math.floor(end / 3);
	const iterations = Array.from({ length: Math.floor(calls / 10) }, (_, i) => 1000000 + i * 100000);
	return fill(template, {
		format: 1, tracks, classes, strings: blobs.json("strings", strings), left_out: null,
		trace: { command: `run ${name}`, program: name, recorded: "2026-01-02T03:04:05Z", begin: 0, end, duration_ns: end, host: name, driver: name,
			gpu: name, module: false, simulated: false, unfinished: false, records: outer.begin.length + inner.begin.length, processes: 1, threads: 1, lost: 0, version: "0" },
		facts: [["trace", name]],
		verdict: { pid: 10, process: name, limited_by: `the host ${name}`, text: name, startup: null }, verdicts: [],
		stages: [["startup", 0, third], ["steady", third, end]].map(([n, b, e]) => ({ name: n, pid: 10, process: name, begin: b, end: e, text: name })),
		iterations: { pid: 10, tid: 10, how: "pattern", what: name, count: iterations.length, kept: iterations.length, median: 100000, p95: 100000, max: 100000,
			blobs: { begin: blobs.delta("i.begin", iterations), duration: blobs.varint("i.duration", iterations.map((_, i) => 90000 + i * 10)),
				launches: blobs.varint("i.launches", iterations.map(() => 9)), waiting: blobs.varint("i.waiting", iterations.map(() => 6000)) } },
		findings: [{ rule: "r", severity: "high", title: name, text: `text ${name}`, pid: 10, process: name, scope: "steady", cost_ns: 1000, at_most: true, share: 42.5,
			try: [`try ${name}`], records: [{ label: name, begin: outer.begin[20], end: outer.begin[20] + 6000, pid: 10, tid: 10, op: outer.op[20], track: 0 }] }],
		memory: [{ pid: 10, process: name, peak: 4096, blobs: { ts: blobs.delta("m.ts", [1000000, third, end]), bytes: blobs.varint("m.bytes", [1024, 4096, 0]) } }],
		tables: [{ name: "cuda_api_sum", report: "cuda_api_sum", title: `Calls ${name}`, notes: [name], total: 3,
			columns: [{ name: "Name", title: `Name ${name}`, kind: "text" }, { name: "Count", title: "Count", kind: "count" }, { name: "Share (%)", title: "Share", kind: "percent" }],
			rows: [[name, 90, 60.5], ["=cmd()", 1200, 30.25], ["b,\"c\"", null, 9]] }],
		...extra,
	}, blobs);
}
