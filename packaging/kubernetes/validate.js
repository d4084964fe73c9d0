// SPDX-License-Identifier: LGPL-2.1-or-later
// Usage: node validate.js FILE...
// Checks manifests by the schemas of Kubernetes (npm: kubernetes-models, js-yaml).  A line for each fault.
'use strict';

const fs = require('fs');

const kinds = ['v1/Namespace', 'v1/ConfigMap', 'v1/Pod', 'apps/v1/DaemonSet'];

async function main(files) {
	const yaml = await import('js-yaml');
	let faults = 0;
	const fault = (file, what) => {
		console.log(`${file}: ${what}`);
		faults++;
	};

	for (const file of files) {
		for (const document of (yaml.loadAll ?? yaml.default.loadAll)(fs.readFileSync(file, 'utf8'))) {
			const name = `${document.apiVersion}/${document.kind}`;

			if (!kinds.includes(name)) {
				fault(file, `no schema of ${name} is asked for`);
				continue;
			}
			const model = (await import(`kubernetes-models/${name}`))[document.kind];

			try {
				new model(document).validate();
			} catch (error) {
				fault(file, `${name}: ${error.message}`);
			}
		}
	}
	return faults ? 1 : 0;
}

main(process.argv.slice(2)).then(status => process.exit(status));
