// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements.  Text of the trace gets into the page here and nowhere else, and always as text.

/**
 * el("td", {class: "n", onclick: f, title: "x"}, "text", element, ...)
 * Attributes that are false, null or undefined are left out; true is an empty one.
 */
export function el(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === false || value === null || value === undefined)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (name === "vars")	// style attributes are forbidden by the policy
			for (const [key, of] of Object.entries(value))
				element.style.setProperty(key, of);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}

export const get = (id) => document.getElementById(id);

/** A button; @label is what a screen reader says where the text is a sign. */
export const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);

/** Calls @f at most once a frame, however often it is asked. */
export function onceAFrame(f) {
	let asked = 0;
	return () => {
		asked ||= requestAnimationFrame(() => {
			asked = 0;
			f();
		});
	};
}

/** Calls @f when @ms have passed without a further call. */
export function settled(f, ms) {
	let timer = 0;
	return (...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => f(...args), ms);
	};
}

/** Hands a text to the browser as a download, without a request. */
export function download(name, text, type) {
	const url = URL.createObjectURL(new Blob([text], { type }));
	const link = el("a", { href: url, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}
