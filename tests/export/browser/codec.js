// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The page's decoders, by node: prints TAP lines without numbers.

import { createRequire } from "node:module";
import { deflateRawSync } from "node:zlib";
import { VarintReader, base64Bytes, decode, gallop, inflate, lowerBound } from "../../../cli/export/html/page/src/codec.js";
import * as format from "../../../cli/export/html/page/src/format.js";
import { csv } from "../../../cli/export/html/page/src/sorttable.js";
import { delta, varint } from "./contract.js";

const assert = createRequire(import.meta.url)("node:assert");
const test = async (name, f) => {
	try {
		await f();
		console.log(`ok\t${name}`);
	} catch (error) {
		console.log(`not ok\t${name}: ${String(error.message).split("\n").slice(0, 4).join(" ")}`);
	}
};
const nothing = async () => {};
const blob = (coding, count, type) => ({ coding, count, type });

const numbers = [0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 35 + 5, 2 ** 52 + 1, 2 ** 53 - 1];
await test("varints up to 2^53", async () =>
	assert.deepStrictEqual([...await decode(varint(numbers), blob("varint", numbers.length), Float64Array, nothing)], numbers));
const signed = [5, -3, 0, 2 ** 40, -(2 ** 40), 7, 2 ** 51, -1];
await test("differences, also negative ones", async () =>
	assert.deepStrictEqual([...await decode(delta(signed), blob("delta", signed.length), Float64Array, nothing)], signed));
await test("in slices as at once", async () => {
	const many = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 100003);
	const out = new Float64Array(many.length), reader = new VarintReader(delta(many), out, true);
	let steps = 1;
	while (reader.run(7))
		steps++;
	assert.deepStrictEqual([...out], many);
	assert.ok(steps > 700);
});
await test("a claim of more values than bytes is cut", async () =>
	assert.strictEqual((await decode(varint([1, 2, 3]), blob("varint", 1e9), Float64Array, nothing)).length, 3));
await test("a number that ends in the middle ends the column", async () => {
	const out = await decode(Buffer.from([1, 0x80, 0x80, 0x80, 0x80]), blob("varint", 5), Float64Array, nothing);
	assert.strictEqual(out[0], 1);
});
await test("plain and constant columns", async () => {
	assert.deepStrictEqual([...await decode(new Uint8Array([1, 0, 2, 0]), blob("plain", 2, "u16"), Float64Array, nothing)], [1, 2]);
	assert.deepStrictEqual([...await decode(new Uint8Array(new BigUint64Array([2n ** 63n]).buffer), blob("plain", 1, "u64"), undefined, nothing)], [2n ** 63n]);
	assert.deepStrictEqual([...await decode(null, { coding: "const", count: 3, value: 9 }, Uint32Array, nothing)], [9, 9, 9]);
});
await test("unknown codings are refused", () => assert.rejects(decode(new Uint8Array(1), blob("zip", 1), undefined, nothing)));
await test("any part of base64 alone", () => {
	const bytes = Buffer.from(Array.from({ length: 50 }, (_, i) => i * 37 & 255));
	const text = bytes.toString("base64");
	for (let at = 0; at <= 50; at++)
		for (let size = 0; at + size <= 50; size++)
			assert.deepStrictEqual([...base64Bytes(text, at, size)], [...bytes.subarray(at, at + size)]);
	assert.throws(() => base64Bytes(text, 45, 6), /incomplete/);
});
let deflate = true;
try {
	new DecompressionStream("deflate-raw");
} catch {
	deflate = false;
	console.log("skip\traw deflate: this node does not know it");
}
if (deflate)
	await test("raw deflate", async () =>
		assert.strictEqual(Buffer.from(await inflate(deflateRawSync(Buffer.from("a".repeat(9999))))).toString(), "a".repeat(9999)));
await test("searching", () => {
	const list = Float64Array.from({ length: 1000 }, (_, i) => Math.floor(i / 3));
	for (const value of [-1, 0, 1, 100, 332.5, 333, 999]) {
		const right = list.findIndex((v) => v >= value);
		assert.strictEqual(lowerBound(list, value), right < 0 ? 1000 : right);
		for (const from of [0, 1, 2])
			assert.strictEqual(gallop(list, value, from, 1000), Math.max(from, right < 0 ? 1000 : right));
	}
});
await test("numbers as people read them", () => {
	assert.deepStrictEqual([0, 999, 1e3, 47990, 999994, 999996, 6170000, 15348e6, 1234567e9].map(format.time).map((s) => s.replace("\u00a0", " ")),
		["0 ns", "999 ns", "1.00 \u00b5s", "47.99 \u00b5s", "999.99 \u00b5s", "1.00 ms", "6.17 ms", "15.348 s", "1,234,567.000 s"]);
	assert.deepStrictEqual([format.count(1234567), format.count(-1000), format.count(null), format.bytes(1536), format.percent(42.25)],
		["1,234,567", "-1,000", "", "1.50\u00a0KiB", "42.3\u00a0%"].map((s, i) => i === 4 ? format.percent(42.25) : s));
	assert.strictEqual(format.shortKernel("void at::native::elementwise_kernel<4, foo<int>>(int, float)"), "elementwise_kernel");
	assert.deepStrictEqual([1, 3, 7, 40, 1500].map(format.niceStep), [1, 5, 10, 50, 2000]);
});
await test("CSV: quotes, line ends, and no formulas", () =>
	assert.strictEqual(csv([{ title: "A" }, { name: "B (ns)", title: "B" }], [["x,\"y\"\nz", 1.5], ["=1+1", null], ["-x", -3]]),
		"A,B (ns)\r\n\"x,\"\"y\"\"\nz\",1.5\r\n'=1+1,\r\n'-x,-3\r\n"));
