// SPDX-License-Identifier: LGPL-2.1-or-later
//
// node html_data.js REPORT.html TRACE.jsonl REPORTS.json
//
// Reads the data of an HTML report as cli/export/html/data.md describes them, and compares them
// with the trace's JSON Lines and with what `report --all --format json` says.  Prints a line for
// each thing that is wrong, at most 20, and then what it compared; exits 1 if anything is wrong.
'use strict';
const fs = require('fs'), zlib = require('zlib'), readline = require('readline');

let wrong = 0;
function bad(text) {
	if (wrong++ < 20)
		console.log('wrong: ' + String(text).slice(0, 300));
}
function same(got, wanted, what) {
	if (got !== wanted)
		bad(`${what}: ${got}, not ${wanted}`);
}

// ------------------------------------------------------------------ the file
const html = fs.readFileSync(process.argv[2], 'utf8');
function script(id) {
	const found = html.match(new RegExp(`<script[^>]* id="${id}"[^>]*>([^<]*)</script>`));
	if (!found) {
		console.log(`wrong: no script ${id} without a '<' in it`);
		process.exit(1);
	}
	return found[1];
}
const manifestText = script('ct-manifest');
const manifest = JSON.parse(manifestText);
const data = Buffer.from(script('ct-data'), 'base64');
if (/[<>&\u2028\u2029\ufffe]/.test(manifestText) || manifestText.includes('\0'))
	bad('the manifest has a character that means something to HTML');

// ----------------------------------------------------------------- the blobs
let end = 0;
for (const [name, b] of Object.entries(manifest.blobs)) {
	if (b.coding === 'const')
		continue;
	same(b.at, end, `${name} begins`);
	end = b.at + b.size;
}
same(end, data.length, 'bytes of all blobs');

function varints(bytes, count, delta, name) {
	const values = new Array(count);
	let at = 0, last = 0n;
	for (let i = 0; i < count; i++) {
		let value = 0n, shift = 0n, byte;
		do {
			byte = bytes[at++];
			value |= BigInt(byte & 127) << shift;
			shift += 7n;
		} while (byte & 128);
		if (delta) {
			last += value >> 1n ^ -(value & 1n);
			value = last;
		}
		if (value > 1n << 53n || value < -(1n << 53n))
			bad(`${name}: ${value} is beyond 2^53`);
		values[i] = Number(value);
	}
	same(at, bytes.length, `${name}: bytes`);
	return values;
}
const arrays = {
	u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
	s8: Int8Array, s16: Int16Array, s32: Int32Array, s64: BigInt64Array,
};
const decoded = new Map();
function column(name) {
	if (decoded.has(name))
		return decoded.get(name);
	const b = manifest.blobs[name];
	if (!b)
		throw new Error(`no blob ${name}`);
	let values;
	if (b.coding === 'const') {
		values = new Array(b.count).fill(b.value);
	} else {
		const bytes = zlib.inflateRawSync(data.subarray(b.at, b.at + b.size));
		if (b.coding === 'json')
			values = JSON.parse(bytes.toString('utf8'));
		else if (b.coding === 'plain')
			values = new arrays[b.type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
		else
			values = varints(bytes, b.count, b.coding === 'delta', name);
		if (b.coding !== 'json')
			same(values.length, b.count, `${name}: values`);
	}
	decoded.set(name, values);
	return values;
}
for (const name of Object.keys(manifest.blobs))
	column(name);
const strings = column(manifest.strings);

// --------------------------------------------------------------- the records
const FAILED = 1, UNFINISHED = 2, INSTANT = 4, ABANDONED = 8, BEGIN_LOST = 16;
const layers = ['nvtx', 'api', 'ioctl', 'driver', 'switch', 'gpu', 'interrupt'];
const leftOut = manifest.left_out || { records: 0, tracks: 0, details: 0, strings: 0, cut: 0, instants: 0 };
const records = [], byOp = new Map(), rows = manifest.classes.map(() => 0);
let total = 0;

manifest.tracks.forEach((track, t) => {
	const c = {};
	same(track.id, t, 'id of a track');
	if (!layers.includes(track.layer))
		bad(`layer ${track.layer}`);
	for (const word of ['begin', 'duration', 'class', 'depth', 'op', 'parent', 'flags', 'detail']) {
		c[word] = column(track.blobs[word]);
		same(c[word].length, track.kept, `${track.blobs[word]}: values`);
	}
	total += track.count;
	let sum = 0;
	for (let i = 0; i < track.kept; i++) {
		const r = {
			track, begin: c.begin[i], duration: c.duration[i], class: c.class[i], depth: c.depth[i], op: c.op[i],
			parent: c.parent[i] ? c.op[i] - c.parent[i] : 0, flags: c.flags[i], detail: c.detail[i],
		};
		const length = r => r.flags & UNFINISHED ? Infinity : r.duration, last = i && records[records.length - 1];
		if (i && (r.begin < last.begin || (r.begin === last.begin && length(r) > length(last))))
			bad(`track ${t}: record ${i} is not in order`);
		if (r.depth >= track.depth)
			bad(`track ${t}: depth ${r.depth} of ${track.depth}`);
		if (r.class >= manifest.classes.length || r.detail > strings.length)
			bad(`track ${t}: class ${r.class}, detail ${r.detail}`);
		r.row = rows[r.class]++;
		sum += r.duration;
		records.push(r);
		if (r.op && byOp.has(r.op))
			bad(`op ${r.op} is there twice`);
		if (r.op)
			byOp.set(r.op, r);
	}
	const mine = records.slice(records.length - track.kept);
	let finer = 0;
	for (const level of track.levels) {
		const l = {}, long = column(level.long);
		for (const word of ['bin', 'depth', 'busy', 'count', 'class']) {
			l[word] = column(level.blobs[word]);
			same(l[word].length, level.count, `${level.blobs[word]}: values`);
		}
		if (finer)
			same(level.bin_ns, 4 * finer, `track ${t}: a level's bins`);
		finer = level.bin_ns;
		let count = long.length, busy = 0;
		for (let i = 0; i < level.count; i++) {
			count += l.count[i];
			busy += l.busy[i];
			if (i && (l.bin[i] < l.bin[i - 1] || (l.bin[i] === l.bin[i - 1] && l.depth[i] <= l.depth[i - 1])))
				bad(`track ${t}, ${level.bin_ns} ns: bin ${i} is not in order`);
			if (l.depth[i] >= track.depth || l.class[i] >= manifest.classes.length || !l.count[i])
				bad(`track ${t}, ${level.bin_ns} ns: bin ${i} has depth ${l.depth[i]}, class ${l.class[i]}`);
		}
		for (let i = 0; i < long.length; i++) {
			const r = mine[long[i]];
			busy += r.duration;
			if ((i && long[i] <= long[i - 1]) || (r.duration < level.bin_ns && !(r.flags & UNFINISHED)))
				bad(`track ${t}, ${level.bin_ns} ns: ${long[i]} is not long`);
		}
		same(count, track.count, `track ${t}, ${level.bin_ns} ns: records`);
		if (track.kept === track.count)
			same(busy, sum, `track ${t}, ${level.bin_ns} ns: busy`);
		else if (busy < sum)
			bad(`track ${t}, ${level.bin_ns} ns: less busy than its records`);
	}
});
manifest.classes.forEach((c, i) => same(c.kept, rows[i], `class ${c.name}: records`));
same(total, manifest.trace.records, 'records of the tracks');
same(total - records.length, leftOut.records, 'records that were left out');
if (leftOut.records && records.length > Number(process.env.CUDATRACE_HTML_RECORDS || 1200000) * 1.01 + 100)
	bad(`${records.length} records were kept`);

// The arguments of a record, as jsonl's details, and what is there beside them.
function fields(r) {
	const details = {}, extra = {};
	for (const f of manifest.classes[r.class].fields) {
		if (f.missing && column(f.missing)[r.row])
			continue;
		let value = column(f.blob)[r.row];
		if (f.type === 'string')
			value = value ? strings[value - 1] : null;
		else if (f.type === 'hex')
			value = '0x' + BigInt(value).toString(16);
		else
			value = Number(value);
		(f.extra ? extra : details)[f.name] = value;
	}
	return { details, extra };
}

// ------------------------------------------------- the same from JSON Lines
const calls = new Map(), ranges = new Map(), instants = new Map(), wanted = [];

function ns(line) {
	return Math.round(line.ts * 1e6);
}
function add(line, begin, duration, flags) {
	wanted.push({ line, begin, duration, flags });
}
// Which call is open at each depth of a thread, or of a CPU's interrupts; and so who calls whom.
const open = new Map(), around = new Map();

function nest(line) {
	const key = line.context ? `${line.context} ${line.cpu}` : line.tid;
	if (!open.has(key))
		open.set(key, []);
	const stack = open.get(key);
	if (line.phase === 'B') {
		if (line.depth && stack[line.depth - 1])
			around.set(line.op_id, stack[line.depth - 1]);
		stack[line.depth] = line.name === 'sched_switch' ? 0 : line.op_id;
	} else if (stack[line.depth] === line.op_id) {
		stack[line.depth] = 0;
	}
}
function read(line) {
	if (line.type === 'tracer')
		return;
	if (line.op_id)
		nest(line);
	if (line.phase === 'B') {
		calls.set(line.op_id, line);
	} else if (line.phase === 'E') {
		const b = calls.get(line.op_id);
		const duration = 'duration_us' in line ? Math.round(line.duration_us * 1e3) : ns(line) - ns(b);
		calls.delete(line.op_id);
		add(line, ns(line) - duration, duration, (line.abandoned ? ABANDONED : 0) | (line.begin_lost ? BEGIN_LOST : 0));
	} else if (line.name === 'range_push') {
		if (!ranges.has(line.tid))
			ranges.set(line.tid, []);
		ranges.get(line.tid).push(line);
	} else if (line.name === 'range_pop') {
		const b = (ranges.get(line.tid) || []).pop();
		if (b)
			add(b, ns(b), ns(line) - ns(b), 0);
	} else {
		add(line, ns(line), 0, INSTANT);
	}
}

const same_details = (got, want) => Object.keys(got).length === Object.keys(want).length &&
	Object.keys(want).every(k => got[k] === want[k] ||
		((leftOut.strings || leftOut.cut) && typeof want[k] === 'string' && (got[k] === null || want[k].startsWith(got[k]))) ||
		(typeof want[k] === 'string' && got[k] === null && want[k] === ''));

function compare() {
	const sums = {}, seen = new Map();
	let compared = 0, missing = 0, unkept = 0;

	for (const b of calls.values())
		add(b, ns(b), 0, UNFINISHED);
	for (const list of ranges.values())
		for (const b of list)
			add(b, ns(b), 0, UNFINISHED);
	// What has no op_id is found by what it is.
	for (const r of records)
		if (!r.op) {
			const key = [manifest.classes[r.class].name, r.track.tid, r.begin, r.duration].join();
			if (!instants.has(key))
				instants.set(key, []);
			instants.get(key).push(r);
		}
	for (const w of wanted) {
		const l = w.line, key = [l.name, l.tid, w.begin, w.duration].join();
		const range = l.name === 'range_push';
		const r = l.op_id && !range ? byOp.get(l.op_id) : (instants.get(key) || []).shift();

		sums[l.name] = sums[l.name] || { count: 0, ns: 0 };
		sums[l.name].count++;
		sums[l.name].ns += w.duration;
		if (!r) {
			missing++;
			if (leftOut.records && w.duration >= leftOut.shorter_than_ns && !(w.flags & INSTANT))
				unkept++;
			continue;
		}
		compared++;
		const c = manifest.classes[r.class], at = `${l.name}, op ${l.op_id || 0} at ${w.begin}`;
		same(c.name, l.name, at);
		same(c.symbol, l.symbol || l.name, at);
		same(c.layer, l.layer, at);
		same(r.begin, w.begin, `${at}: begin`);
		same(r.duration, w.duration, `${at}: duration`);
		same(r.flags & ~FAILED, w.flags, `${at}: flags`);
		if (r.track.layer !== 'interrupt') {
			same(r.track.pid, l.pid, `${at}: pid`);
			same(r.track.tid, l.tid, `${at}: tid`);
		}
		if (w.flags & UNFINISHED)
			continue;
		const { details, extra } = fields(r);
		if (!leftOut.details && !same_details(details, l.details))
			bad(`${at}: ${JSON.stringify(details)}, not ${JSON.stringify(l.details)}`);
		if ('result' in l)
			same(extra.result, String(l.result), `${at}: result`);
		for (const word of ['cpu', 'context', 'escape', 'control', 'class'])
			if (word in l || extra[word] !== undefined && extra[word] !== null)
				same(extra[word], l[word], `${at}: ${word}`);
		if ('kernel' in l && !leftOut.strings && !leftOut.cut)
			same(r.detail ? strings[r.detail - 1] : undefined, l.kernel, `${at}: detail`);
		if (r.parent && byOp.has(r.parent)) {
			const p = byOp.get(r.parent);
			if (p.begin > r.begin || (p.track.tid !== r.track.tid && r.track.layer !== 'interrupt'))
				bad(`${at}: its parent ${r.parent} begins at ${p.begin}`);
		}
		// Where records were lost, or calls did not return, what is around a call is a guess.
		if (around.has(r.op) && !calls.size && !manifest.trace.lost) {
			seen.set('parents', (seen.get('parents') || 0) + 1);
			same(r.parent, around.get(r.op), `${at}: parent`);
			let depth = 0;
			for (let p = byOp.get(r.parent); p; p = byOp.get(p.parent))
				depth += p.track === r.track;
			if (['api', 'ioctl', 'driver', 'interrupt'].includes(r.track.layer) && !leftOut.records)
				same(r.depth, depth, `${at}: depth`);
		}
	}
	same(wanted.length, total + leftOut.tracks, 'records of the trace');
	same(missing, leftOut.records + leftOut.tracks, 'records of the trace that are not in the report');
	same(unkept, 0, `records of at least ${leftOut.shorter_than_ns} ns that are not in the report`);
	// By name, as somebody would count them in the page.
	const mine = {};
	for (const r of records) {
		const s = mine[manifest.classes[r.class].name] = mine[manifest.classes[r.class].name] || { count: 0, ns: 0 };
		s.count++;
		s.ns += r.duration;
	}
	for (const name of Object.keys(sums))
		if (!leftOut.records && !leftOut.tracks) {
			same(mine[name] && mine[name].count, sums[name].count, `${name}: count`);
			same(mine[name] && mine[name].ns, sums[name].ns, `${name}: ns`);
		}
	return `${compared} of ${wanted.length} records, ${Object.keys(sums).length} names, ${seen.get('parents') || 0} parents`;
}

// ------------------------------------------------------------- what is found
function check_story() {
	for (const f of manifest.findings)
		for (const e of f.records) {
			const at = `${f.rule}: ${e.label}`;
			if (!e.op)
				continue;
			const r = byOp.get(e.op);
			if (!r) {
				bad(`${at}: op ${e.op} is not there`);
				continue;
			}
			same(manifest.classes[r.class].name, e.label, `${at}: name`);
			same(r.begin, e.begin, `${at}: begin`);
			same(r.track.id, e.track, `${at}: track`);
			same(r.track.tid, e.tid, `${at}: tid`);
		}
	// The report of errors counts what failed, by function.
	const failed = {}, errors = manifest.tables.find(t => t.name === 'errors');
	for (const r of records)
		if (r.flags & FAILED)
			failed[manifest.classes[r.class].name] = (failed[manifest.classes[r.class].name] || 0) + 1;
	const calls = errors.columns.findIndex(c => c.name === 'Calls'), name = errors.columns.findIndex(c => c.name === 'Name');
	for (const row of errors.rows)
		failed[row[name]] = (failed[row[name]] || 0) - row[calls];
	for (const word of Object.keys(failed))
		if (!leftOut.records && errors.total === errors.rows.length)
			same(failed[word], 0, `${word}: failed calls that no error counts`);
	const ends = new Set(records.filter(r => manifest.classes[r.class].category === 'memory').map(
		r => `${r.track.pid} ${r.begin + r.duration}`));
	for (const m of manifest.memory) {
		for (const ts of column(m.blobs.ts))
			if (!leftOut.records && !leftOut.tracks && !ends.has(`${m.pid} ${ts}`))
				bad(`memory of ${m.pid}: no call ends at ${ts}`);
		const ts = column(m.blobs.ts), bytes = column(m.blobs.bytes);
		same(Math.max(...bytes), m.peak, `memory of ${m.pid}: peak`);
		for (let i = 1; i < ts.length; i++)
			if (ts[i] < ts[i - 1])
				bad(`memory of ${m.pid}: point ${i} is before the last`);
	}
	const it = manifest.iterations;
	if (it && it.blobs) {
		const begin = column(it.blobs.begin), duration = column(it.blobs.duration);
		same(begin.length, it.kept, 'iterations');
		same(begin.length - it.warmup, it.count, 'iterations of the steady state');
		same(Math.max(...duration.slice(it.warmup)), it.max, 'the longest iteration of the steady state');
		for (let i = 1; i < begin.length; i++)
			if (begin[i] < begin[i - 1] + duration[i - 1])
				bad(`iteration ${i} begins before the last one ends`);
	}
	for (const s of manifest.stages)
		if (s.end < s.begin)
			bad(`stage ${s.name} ends before it begins`);
	return `${manifest.findings.length} findings, ${manifest.stages.length} stages`;
}

function check_tables(reports) {
	const mine = {};
	let cells = 0;
	for (const t of manifest.tables) {
		mine[t.name] = t;
		same(t.rows.length, Math.min(t.total, 1000), `table ${t.name}: rows`);
	}
	for (const [name, rows] of Object.entries(reports)) {
		const t = mine[name];
		if (!t) {
			bad(`no table ${name}`);
			continue;
		}
		same(t.total, rows.length, `table ${name}: all rows`);
		t.rows.forEach((row, i) => {
			same(row.length, t.columns.length, `table ${name}: cells`);
			t.columns.forEach((c, k) => {
				let want = rows[i][c.name], got = row[k];
				if (want === undefined)
					bad(`table ${name} has no column ${c.name}`);
				if (c.kind === 'hex' && want !== null)
					want = Number(BigInt(want));
				if (typeof got === 'string' && typeof want === 'number')
					got = Number(got);
				cells++;
				if (typeof want === 'number' && c.name.includes('MB'))
					want *= 1e6;
				if (typeof want === 'number' && Math.abs(got - want) <= (c.name.includes('MB') ? 501 + Math.abs(want) * 1e-14 : Number.isInteger(want) && Number.isInteger(got) ? 0 : 0.051 + Math.abs(want) * 1e-5))
					return;
				if (got !== want)
					bad(`table ${name}, row ${i}, ${c.name}: ${got}, not ${want}`);
			});
		});
	}
	return `${manifest.tables.length} tables, ${cells} cells`;
}

(async () => {
	const lines = readline.createInterface({ input: fs.createReadStream(process.argv[3]), crlfDelay: Infinity });
	// A line separator of Unicode is no end of a line, but readline takes it for one.
	let part = '';
	for await (const line of lines) {
		part += part ? '\u2028' + line : line;
		if (!part.endsWith('}'))
			continue;
		try {
			read(JSON.parse(part));
			part = '';
		} catch (e) {
			continue;
		}
	}
	const said = [compare(), check_story()];
	if (process.argv[4])
		said.push(check_tables(JSON.parse(fs.readFileSync(process.argv[4], 'utf8'))));
	console.log(said.join('; '));
	if (wrong)
		console.log(`${wrong} things are wrong`);
	process.exit(wrong ? 1 : 0);
})();
