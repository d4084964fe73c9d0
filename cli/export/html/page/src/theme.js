// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Colours.  What calls do is told by hues that differ in lightness too, so that they are
// told apart with any kind of colour vision; most are those of Okabe and Ito, softened, with a
// second set for dark.  The others are read from style.css.

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Groups of categories, in the order of the legend. */
export const GROUPS = [
	{ id: "launch", name: "launches and kernels", light: "#2f6fb7", dark: "#5b9fe3" },
	{ id: "transfer", name: "copies", light: "#d9822b", dark: "#f0a04b" },
	{ id: "memory", name: "memory", light: "#2a9d7f", dark: "#45c4a0" },
	{ id: "sync", name: "waiting", light: "#c2527f", dark: "#e27fa8" },
	{ id: "setup", name: "context, modules, graphs", light: "#8568b5", dark: "#ab93d8" },
	{ id: "ioctl", name: "ioctls", light: "#b8a126", dark: "#dcc850" },
	{ id: "driver", name: "driver, UVM, interrupts", light: "#4c97ad", dark: "#7cc3d8" },
	{ id: "range", name: "ranges of the program", light: "#94694e", dark: "#c79a7d" },
	{ id: "other", name: "others", light: "#8a93a0", dark: "#8d97a5" },
];

const RANGE = 7, OTHER = 8;
const GROUP_OF = {
	kernel: 0, graph: 4, transfer: 1, memory: 2, sync: 3, event: 3, context: 4,
	init: 4, module: 4, stream: 4, ioctl: 5, uvm: 6, interrupt: 6, driver: 6, syscall: 5,
};
/* Calls of libcudart are told by what they do. */
const OP_GROUP = { launch: 0, copy: 1, set: 1, alloc: 2, free: 2, wait: 3, sync: 3 };
const LAYER_GROUP = { kernel: 6, gpu: 0 };

export function groupOf(cls) {
	if (cls.category === "marker")
		return RANGE;
	if (cls.layer === "switch" || cls.category === "switch")
		return OTHER;
	// A function of the kernel driver.
	if (cls.layer === "kernel" && cls.category === "kernel")
		return 6;
	return GROUP_OF[cls.category] ?? OP_GROUP[cls.op] ?? LAYER_GROUP[cls.layer] ?? OTHER;
}

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
/** A pixel of ImageData on a little-endian machine, which all with browsers are. */
const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const mix = (a, b, share) => a.map((v, i) => Math.round(v * share + b[i] * (1 - share)));

/** All that the canvases need; made again when the system's setting changes. */
export function palette() {
	const style = getComputedStyle(document.documentElement);
	const of = (name) => style.getPropertyValue(name).trim();
	const surface = rgb(of("--surface"));
	const groups = GROUPS.map((g) => rgb(dark.matches ? g.dark : g.light));
	return {
		dark: dark.matches,
		of,
		groups: GROUPS.map((g) => dark.matches ? g.dark : g.light),
		background: pixel(surface),
		/* [group][0..16]: the group's colour, from hardly to fully there */
		shades: groups.map((g) => Uint32Array.from({ length: 17 }, (_, i) => pixel(mix(g, surface, i / 16)))),
		/* the same, when a search matches something else */
		faint: groups.map((g) => pixel(mix(g, surface, 0.22))),
		edges: groups.map((g) => pixel(mix(g, surface, 0.72))),
		failed: pixel(rgb(of("--bad"))),
		line: pixel(rgb(of("--line"))),
		stripe: pixel(rgb(of("--stripe"))),
		/* behind the tracks: ranks wait for the last one, and then data moves */
		waits: pixel(rgb(of("--bad-soft"))),
		moves: pixel(rgb(of("--accent-soft"))),
		/* black or white, whichever can be read on the group's colour */
		ink: groups.map(([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#10151c" : "#ffffff"),
	};
}

/** Calls @f when the system changes between light and dark. */
export const onTheme = (f) => dark.addEventListener("change", f);

/** The swatch of a group, also where colours are told by style alone. */
export const groupColour = (i) => `light-dark(${GROUPS[i].light}, ${GROUPS[i].dark})`;
