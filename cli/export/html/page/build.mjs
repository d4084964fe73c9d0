// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: node build.mjs NODE_MODULES FILE
//
// Makes one HTML file of index.html, style.css and the modules of src/.  The policy in its head
// names the hashes of the one script and the one style sheet; nothing else runs, and nothing is
// loaded from anywhere.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, out] = process.argv.slice(2).map((path) => resolve(path));
const page = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "x"))("esbuild");
const uplot = join(modules, "uplot");

const bundle = await esbuild.build({
	entryPoints: [join(page, "src/main.js")],
	alias: { uplot: join(uplot, "dist/uPlot.esm.js") },
	bundle: true,
	charset: "ascii",
	format: "iife",
	legalComments: "none",
	logLevel: "warning",
	minify: true,
	target: "es2020",
	write: false,
});
const css = await esbuild.transform(
	readFileSync(join(uplot, "dist/uPlot.min.css"), "utf8") + readFileSync(join(page, "style.css"), "utf8"),
	{ loader: "css", minify: true });

const script = bundle.outputFiles[0].text;
const style = css.code;
const licence = "cudatrace, LGPL-2.1-or-later. Contains uPlot " +
	JSON.parse(readFileSync(join(uplot, "package.json"), "utf8")).version + ":\n\n" +
	readFileSync(join(uplot, "LICENSE"), "utf8").trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
	"img-src data:; base-uri 'none'; form-action 'none'";

// Functions: "$&" in what is put in means nothing.
let html = readFileSync(join(page, "index.html"), "utf8");
const put = (mark, text) => {
	if (html.split(mark).length !== 2)
		throw new Error(`index.html does not have ${mark} once`);
	html = html.replace(mark, () => text);
};
for (const [what, text] of Object.entries({ script, style }))
	if (/<\/(script|style)|<!--/i.test(text))
		throw new Error(`the ${what} holds what ends its element`);
put("<!--page:licence-->", `<!--\n${licence.replaceAll("--", "- -")}\n-->`);
put("@policy@", policy);
put("/*page:style*/", style);
put("/*page:script*/", script);
for (const mark of ["<!--ct:title-->", "<!--ct:manifest-->", "<!--ct:data-->"])
	if (html.split(mark).length !== 2)
		throw new Error(`the page does not have ${mark} once`);
writeFileSync(out, html);
