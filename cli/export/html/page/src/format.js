// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers as people read them: the same units and separators everywhere, whatever the locale.

export const group = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

export function count(n) {
	return Number.isFinite(n) ? (n < 0 ? "-" : "") + group(String(Math.round(Math.abs(n)))) : "";
}

const unit = (n, digits, name) => {
	const [whole, part] = Math.abs(n).toFixed(digits).split(".");
	return `${n < 0 ? "\u2212" : ""}${group(whole)}${part ? "." + part : ""}\u00a0${name}`;
};

/** A duration. */
export function time(ns) {
	if (!Number.isFinite(ns))
		return "";
	const n = Math.abs(ns);
	if (n < 1e3)
		return unit(ns, 0, "ns");
	if (n < 999.995e3)
		return unit(ns / 1e3, 2, "\u00b5s");
	if (n < 999.995e6)
		return unit(ns / 1e6, 2, "ms");
	return unit(ns / 1e9, 3, "s");
}

/** A moment: as exactly as a step of @step ns needs, by default to the microsecond. */
export function at(ns, step = 1e3) {
	if (!Number.isFinite(ns))
		return "";
	const n = Math.abs(ns);
	const digits = (of) => Math.max(0, Math.min(9, Math.ceil(Math.log10(of / Math.max(1, step)) - 1e-9)));
	if (n >= 1e9)
		return unit(ns / 1e9, digits(1e9), "s");
	if (n >= 1e6)
		return unit(ns / 1e6, Math.min(6, digits(1e6)), "ms");
	return n === 0 ? "0" : unit(ns / 1e3, Math.min(3, digits(1e3)), "\u00b5s");
}

export function bytes(n) {
	if (!Number.isFinite(n))
		return "";
	let i = 0;
	const names = ["B", "KiB", "MiB", "GiB", "TiB"];
	for (; Math.abs(n) >= 1024 && i < names.length - 1; i++)
		n /= 1024;
	return unit(n, i === 0 ? 0 : 2, names[i]);
}

/** @n is in percent already. */
export const percent = (n) => Number.isFinite(n) ? unit(n, 1, "%") : "";

export function number(n) {
	if (!Number.isFinite(n))
		return "";
	return Number.isInteger(n) ? count(n) : unit(n, Math.abs(n) < 10 ? 3 : 2, "").trimEnd();
}

/** A cell of a table by the kind of its column. */
export function cell(value, kind) {
	if (value === null || value === undefined)
		return "";
	if (typeof value !== "number")
		return String(value);
	switch (kind) {
	case "ns": return time(value);
	case "time": return at(value);
	case "bytes": return bytes(value);
	case "percent": return percent(value);
	case "id": return String(value);
	case "hex": return `0x${value.toString(16)}`;
	case "count": return count(value);
	default: return number(value);
	}
}

/** Steps of 1, 2, 5 times a power of ten: the smallest that is at least @least. */
export function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	for (const factor of [1, 2, 5, 10])
		if (power * factor >= least)
			return power * factor;
	return power * 10;
}

/** Names of kernels by what they compute, as all of cudatrace has them: of the manifest. */
export const kernelNames = new Map();

/** Else a C++ function's own name: without its return type, scope, arguments and templates' parameters. */
export function shortKernel(name) {
	const known = kernelNames.get(name);
	if (known)
		return known;
	const cut = name.replace(/^void /, "").replace(/\(anonymous namespace\)/g, "");
	const end = cut.search(/[<(]/);
	const scope = (end > 0 ? cut.slice(0, end) : cut).split("::");
	return scope[scope.length - 1] || cut;
}

export const capital = (text) => text ? text[0].toUpperCase() + text.slice(1) : text;

/** A process by its name, which need not be known. */
export const who = (name, pid) => name ? `${name} (${pid})` : `process ${pid}`;
