// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Usage: node duckdb.cjs MODULES [NAME=VALUE...] < SQL
//
// Runs statements, and prints the rows of each as lines of JSON, each an array.  MODULES is the
// folder where npm installed package.json.
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const { DuckDBInstance } = createRequire(process.argv[2] + '/')('@duckdb/node-api');

async function main() {
	const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GB' });
	const connection = await instance.connect();
	const statements = await connection.extractStatements(readFileSync(0, 'utf8'));

	for (let i = 0; i < statements.count; i++) {
		const reader = await (await statements.prepare(i)).runAndReadAll();

		for (const row of reader.getRowsJson())
			console.log(JSON.stringify(row));
	}
}

main().catch(error => {
	console.error(`duckdb: ${error.message}`);
	process.exitCode = 1;
});
