// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The records of the tracks: decoded when they are needed, and found by time.

import { gallop, lowerBound } from "./codec.js";
import { pause } from "./data.js";

export const FAILED = 1, UNFINISHED = 2, INSTANT = 4, ABANDONED = 8, BEGIN_LOST = 16;

/** Where the row @depth of a track has a span at a time. */
class Row {
	constructor(count) {
		this.begin = new Float64Array(count);
		this.end = new Float64Array(count);
		this.record = new Uint32Array(count);
		this.count = 0;
	}

	add(record, begin, end) {
		const i = this.count++;
		this.begin[i] = begin;
		// Calls of a row do not overlap; where a trace says they do, an end never goes back, so
		// that a search by it stays right.
		this.end[i] = i > 0 && end < this.end[i - 1] ? this.end[i - 1] : end;
		this.record[i] = record;
	}

	/** The first span that ends after @time. */
	first(time, from = 0) {
		return lowerBound(this.end, time, from, this.count);
	}

	/** The first span from @from on that ends after @time, which is near. */
	next(time, from) {
		return gallop(this.end, time, from, this.count);
	}
}

/** Rows of the records @which of @columns, or of all. */
export function makeRows(columns, depth, which) {
	const counts = new Uint32Array(depth);
	const n = which ? which.length : columns.begin.length;
	const row = (i) => Math.min(columns.depth[i], depth - 1);
	for (let k = 0; k < n; k++)
		counts[row(which ? which[k] : k)]++;
	const rows = Array.from(counts, (count) => new Row(count));
	for (let k = 0; k < n; k++) {
		const i = which ? which[k] : k;
		if (i < columns.begin.length)
			rows[row(i)].add(i, columns.begin[i], columns.begin[i] + columns.duration[i]);
	}
	return rows;
}

export class Track {
	constructor(store, entry) {
		Object.assign(this, entry);
		this.store = store;
		this.depth = Math.min(Math.max(1, entry.depth), 200);
		this.levels = (entry.levels ?? []).map((level) => ({ ...level, state: "none" }));
		this.columns = null;	// begin, duration, class, depth, flags, detail
		this.rows = null;
		this.links = null;	// op, parent
		this.loading = null;
		this.loadingLinks = null;
	}

	/** Decodes what is drawn. */
	load() {
		this.loading ??= (async () => {
			const column = (name, Out) => this.store.column(this.blobs[name], Out);
			const [begin, duration, of, depth, flags, detail] = await Promise.all([column("begin", Float64Array),
				column("duration", Float64Array), column("class", Uint32Array), column("depth", Uint32Array),
				column("flags", Uint8Array), column("detail", Uint32Array)]);
			const columns = { begin, duration, class: of, depth, flags, detail };
			await pause();
			this.rows = makeRows(columns, this.depth);
			this.columns = columns;
		})();
		return this.loading;
	}

	/** Decodes which call a record is, and which is around it. */
	loadLinks() {
		this.loadingLinks ??= (async () => {
			await this.load();
			const op = await this.store.column(this.blobs.op, Float64Array);
			const parent = await this.store.column(this.blobs.parent, Float64Array);
			for (let i = 0; i < parent.length; i++)
				parent[i] = parent[i] === 0 ? 0 : op[i] - parent[i];
			this.links = { op, parent };
		})();
		return this.loadingLinks;
	}

	/** Decodes a zoom level; its long records need load() too. */
	async loadLevel(level) {
		if (level.state !== "none")
			return;
		level.state = "loading";
		const column = (name, Out) => this.store.column(level.blobs[name], Out);
		const bins = {
			bin: await column("bin", Float64Array),
			depth: await column("depth", Uint32Array),
			busy: await column("busy", Float64Array),
			count: await column("count", Float64Array),
			class: await column("class", Uint32Array),
		};
		level.bins = bins;
		level.state = "bins";
		await this.load();
		const long = await this.store.column(level.long, Uint32Array);
		level.rows = makeRows(this.columns, this.depth, long);
		level.state = "there";
	}

	/** How many kept records begin between two times; 0 before load(). */
	countBetween(from, to) {
		if (!this.columns)
			return 0;
		const begin = this.columns.begin;
		return lowerBound(begin, to) - lowerBound(begin, from);
	}

	/** The record of the row @depth at @time, or the nearest within @slack ns; -1: none. */
	at(depth, time, slack) {
		const row = this.rows?.[depth];
		if (!row)
			return -1;
		const i = row.first(time);
		if (i < row.count && row.begin[i] <= time)
			return row.record[i];
		const after = i < row.count ? row.begin[i] - time : Infinity;
		const before = i > 0 ? time - row.end[i - 1] : Infinity;
		if (Math.min(after, before) > slack)
			return -1;
		return row.record[after < before ? i : i - 1];
	}

	/** The index of the record with @op, which begins at @begin if that is known; -1: none. */
	find(op, begin) {
		if (!this.links || !op)
			return -1;
		const list = this.links.op;
		if (begin !== undefined) {
			const begins = this.columns.begin;
			for (let i = lowerBound(begins, begin); i < begins.length && begins[i] === begin; i++)
				if (list[i] === op)
					return i;
		}
		return list.indexOf(op);
	}
}

/** All tracks, and what is asked of all of them. */
export class Tracks {
	constructor(store) {
		this.store = store;
		this.manifest = store.manifest;
		this.classes = store.manifest.classes;
		this.list = store.manifest.tracks.map((entry) => new Track(store, entry));
		this.strings = [];
		this.fields = new Map();
	}

	async loadStrings() {
		this.strings = await this.store.strings();
	}

	text(number) {
		return number > 0 ? this.strings[number - 1] ?? "" : "";
	}

	/** What a span shows: the kernel or the text if there is one, else the function. */
	label(track, i) {
		return this.text(track.columns.detail[i]) || (this.classes[track.columns.class[i]]?.name ?? "?");
	}

	name(track, i) {
		return this.classes[track.columns.class[i]]?.name ?? "?";
	}

	async loadAll() {
		// Some at a time: small ones wait more than they work.
		for (let i = 0; i < this.list.length; i += 8)
			await Promise.all(this.list.slice(i, i + 8).map((track) => track.load()));
	}

	/** The values of all fields of a record: [{name, type, value, extra}]. */
	async fieldsOf(track, i) {
		const cls = track.columns.class[i];
		const of = this.classes[cls];
		if (!of?.fields?.length)
			return [];
		// Its row in the columns of its class.
		let row = 0;
		for (const other of this.list) {
			if (other.id > track.id)
				continue;
			await other.load();
			const list = other.columns.class;
			const end = other === track ? i : list.length;
			for (let k = 0; k < end; k++)
				row += list[k] === cls ? 1 : 0;
		}
		const column = (name) => {
			if (!this.fields.has(name))
				this.fields.set(name, this.store.column(name));
			return this.fields.get(name);
		};
		const fields = [];
		for (const field of of.fields) {
			if (field.missing && (await column(field.missing))[row] === 1)
				continue;
			const values = await column(field.blob);
			if (row >= values.length)
				continue;
			let value = values[row];
			if (field.type === "string") {
				if (Number(value) === 0)
					continue;
				value = this.text(Number(value));
			}
			fields.push({ name: field.name, type: field.type, value, extra: field.extra });
		}
		return fields;
	}

	/** The tracks of one thread; with them those of the GPU, whose records name its calls, and the other way round. */
	ofThread(track) {
		if (track.layer === "gpu")
			return this.list.filter((t) => t.pid === track.pid && (t === track || t.layer === "api"));
		if (track.cpu !== null && track.cpu !== undefined && !track.tid)
			return [track];
		return this.list.filter((t) => t.pid === track.pid && (t.layer === "gpu" ? track.layer === "api" :
			t.tid === track.tid && t.layer !== "interrupt"));
	}

	/** The calls around a record, outermost first: [{track, i}]. */
	async parents(track, i) {
		const tracks = this.ofThread(track);
		await Promise.all(tracks.map((t) => t.loadLinks()));
		const chain = [];
		let parent = track.links.parent[i];
		// A trace may claim a circle.
		for (let n = 0; parent > 0 && n < 100; n++) {
			let found = null;
			for (const t of tracks) {
				const k = t.find(parent);
				if (k >= 0) {
					found = { track: t, i: k };
					break;
				}
			}
			if (!found)
				break;
			chain.unshift(found);
			const next = found.track.links.parent[found.i];
			if (next >= parent)
				break;
			parent = next;
		}
		return chain;
	}

	/** The calls @calls of op_ids grow by those inside the record. */
	inside(track, i, calls) {
		const { begin, duration } = track.columns, { op, parent } = track.links;
		const to = begin[i] + duration[i];
		for (let k = lowerBound(begin, begin[i]); k < begin.length && begin[k] <= to; k++)
			if (calls.has(parent[k]))
				calls.add(op[k]);
		return calls;
	}

	/**
	 * From a call to what the GPU did for it and for the calls inside it, or to this work from its
	 * call: {call: {track, i} or null, work: [{track, list}], count}, each list in the order of time.
	 */
	async flow(track, i) {
		if (track.layer === "gpu") {
			const parents = await this.parents(track, i);
			return { call: parents[parents.length - 1] ?? null, work: [{ track, list: [i] }], count: 1 };
		}
		const tracks = track.layer === "api" ? this.ofThread(track).filter((t) => t.layer === "gpu") : [];
		await Promise.all([track, ...tracks].map((t) => t.loadLinks()));
		const work = [];
		const calls = tracks.length && track.links.op[i] ? this.inside(track, i, new Set([track.links.op[i]])) : new Set();
		for (const t of calls.size ? tracks : []) {
			const list = [], { parent } = t.links;
			for (let k = 0; k < parent.length; k++)
				if (calls.has(parent[k]))
					list.push(k);
			if (list.length)
				work.push({ track: t, list });
		}
		work.sort((a, b) => a.track.columns.begin[a.list[0]] - b.track.columns.begin[b.list[0]]);
		return { call: { track, i }, work, count: work.reduce((sum, of) => sum + of.list.length, 0) };
	}

	/** The calls directly inside a record, and what the GPU did for it, at most @limit: {list: [{track, i}], more}. */
	async children(track, i, limit) {
		const op = track.links.op[i];
		const tracks = this.ofThread(track);
		await Promise.all(tracks.map((t) => t.loadLinks()));
		const from = track.columns.begin[i], to = from + track.columns.duration[i];
		const list = [];
		let more = 0;
		if (op > 0)
			for (const t of tracks) {
				const begin = t.columns.begin;
				// The GPU comes later; calls of several threads may come to it in any order.
				const gpu = t.layer === "gpu" && track.layer !== "gpu", parents = t.links.parent;
				for (let k = lowerBound(begin, from); k < begin.length && (gpu || begin[k] <= to); k++)
					if (t.links.parent[k] === op && !(t === track && k === i)) {
						if (list.length < limit * 4)
							list.push({ track: t, i: k });
						else
							more++;
					}
			}
		list.sort((a, b) => a.track.columns.begin[a.i] - b.track.columns.begin[b.i]);
		return { list: list.slice(0, limit), more: more + Math.max(0, list.length - limit) };
	}
}
