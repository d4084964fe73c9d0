// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the command wrote into this page: the manifest at once, the columns when they are needed.

import { base64Bytes, decode, inflate } from "./codec.js";

/** Lets input and drawing go first. */
export const pause = () => new Promise((resolve) => {
	const channel = new MessageChannel();
	channel.port1.onmessage = () => { channel.port1.close(); resolve(); };
	channel.port2.postMessage(0);
});

export function readManifest() {
	const text = document.getElementById("ct-manifest").textContent;
	return text.trim().startsWith("{") ? JSON.parse(text) : null;
}

const loaded = () => new Promise((resolve) => {
	if (document.readyState === "loading")
		document.addEventListener("DOMContentLoaded", resolve, { once: true });
	else
		resolve();
});

export class Store {
	constructor(manifest) {
		this.manifest = manifest;
		this.text = null;
		this.promises = new Map();
	}

	async bytes(blob) {
		if (this.text === null) {
			await loaded();
			this.text ??= document.getElementById("ct-data")?.textContent ?? "";
		}
		return inflate(base64Bytes(this.text, blob.at, blob.size));
	}

	/** The column @name as an array of @Out (default: doubles).  It is not kept here. */
	async column(name, Out) {
		const blob = this.manifest.blobs[name];
		if (!blob)
			throw new Error(`this report lacks the data of ${name}`);
		return decode(blob.coding === "const" ? null : await this.bytes(blob), blob, Out, pause);
	}

	/** The texts that string numbers stand for; kept. */
	strings() {
		return this.json(this.manifest.strings);
	}

	/** JSON in a blob; kept. */
	json(name) {
		if (!this.promises.has(name))
			this.promises.set(name, (async () => {
				const blob = this.manifest.blobs[name];
				return blob ? JSON.parse(new TextDecoder().decode(await this.bytes(blob))) : [];
			})());
		return this.promises.get(name);
	}
}
