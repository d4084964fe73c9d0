// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Columns as they are stored: base64 of raw deflate of LEB128 numbers.  Nothing here knows the
// document, so that it is tested by node.

const BASE64 = new Uint8Array(128).fill(255);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((c, i) => {
	BASE64[c.charCodeAt(0)] = i;
});

/** The bytes at..at+size of what the base64 @text stands for, without decoding the others. */
export function base64Bytes(text, at, size) {
	const out = new Uint8Array(size);
	let bits = 0, have = 0, skip = at % 3, n = 0;
	for (let i = Math.floor(at / 3) * 4; n < size; i++) {
		const value = BASE64[text.charCodeAt(i) & 127];
		if (i >= text.length || value === 255)
			throw new Error("the data of this report are incomplete");
		bits = (bits << 6 | value) & 0xffffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			if (skip > 0)
				skip--;
			else
				out[n++] = bits >> have & 255;
		}
	}
	return out;
}

/** Inflates raw deflate with the browser's own decoder. */
export async function inflate(bytes) {
	const { readable, writable } = new DecompressionStream("deflate-raw");
	// What is wrong with the data is seen by the reader; the writer's copy of the error is not.
	const writer = writable.getWriter();
	writer.write(bytes).catch(() => {});
	writer.close().catch(() => {});
	const reader = readable.getReader(), parts = [];
	let size = 0;
	for (;;) {
		const { value, done } = await reader.read();
		if (done)
			break;
		parts.push(value);
		size += value.length;
	}
	if (parts.length === 1 && parts[0].byteOffset === 0)
		return parts[0];
	const all = new Uint8Array(size);
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/**
 * Decodes @count LEB128 numbers of @bytes into @out, some thousands at a time.  With @delta each
 * is the zigzag-coded difference from the one before.  A number takes a byte at least, so a
 * claim of more numbers than bytes is cut.
 */
export class VarintReader {
	constructor(bytes, out, delta) {
		this.bytes = bytes;
		this.out = out;
		this.delta = delta;
		this.at = 0;
		this.done = 0;
		this.last = 0;
	}

	/** Decodes up to @limit further numbers; false once all are there. */
	run(limit) {
		const { bytes, out, delta } = this;
		const end = Math.min(out.length, this.done + limit);
		let at = this.at, last = this.last, i = this.done;
		for (; i < end && at < bytes.length; i++) {
			let byte = bytes[at++];
			let value = byte & 127;
			if (byte & 128) {
				byte = bytes[at++];
				value |= (byte & 127) << 7;
				if (byte & 128) {
					byte = bytes[at++];
					value |= (byte & 127) << 14;
					let scale = 2097152;
					// Beyond 21 bits by multiplication: shifts work on 32 bits only.
					while (byte & 128 && at < bytes.length) {
						byte = bytes[at++];
						value += (byte & 127) * scale;
						scale *= 128;
					}
				}
			}
			if (delta) {
				last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
				value = last;
			}
			out[i] = value;
		}
		this.at = at;
		this.last = last;
		this.done = i;
		return i < out.length && at < bytes.length;
	}
}

const PLAIN = {
	u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
	s8: Int8Array, s16: Int16Array, s32: Int32Array, s64: BigInt64Array,
};
const SLICE = 1 << 17;

/**
 * Decodes a column.  @Out is the array to make of it; without it plain values keep their type and
 * others become doubles.  @pause is awaited between slices, so that the page stays usable.
 */
export async function decode(bytes, blob, Out, pause) {
	if (blob.coding === "const")
		return new (Out ?? Float64Array)(blob.count).fill(blob.value);
	if (blob.coding === "plain") {
		const Plain = PLAIN[blob.type];
		if (!Plain)
			throw new Error(`unknown type of a column: ${blob.type}`);
		const count = Math.min(blob.count, Math.floor(bytes.length / Plain.BYTES_PER_ELEMENT));
		const plain = new Plain(bytes.buffer, bytes.byteOffset, count);
		if (!Out || plain instanceof Out)
			return plain;
		return Out.from(plain, Number);
	}
	if (blob.coding !== "varint" && blob.coding !== "delta")
		throw new Error(`unknown coding of a column: ${blob.coding}`);
	const out = new (Out ?? Float64Array)(Math.min(blob.count, bytes.length));
	const reader = new VarintReader(bytes, out, blob.coding === "delta");
	while (reader.run(SLICE))
		await pause();
	return out;
}

/** The index of the first element of @list, which is sorted, that is at least @value. */
export function lowerBound(list, value, from = 0, to = list.length) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (list[middle] < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/** As lowerBound(), but with few steps where the answer is near @from. */
export function gallop(list, value, from, to) {
	let step = 1;
	while (from + step < to && list[from + step] < value) {
		from += step;
		step *= 2;
	}
	return lowerBound(list, value, from, Math.min(to, from + step + 1));
}
