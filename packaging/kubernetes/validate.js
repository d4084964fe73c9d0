// SPDX-License-Identifier: LGPL-2.1-or-later
// Usage: node validate.js FILE...
// Checks manifests by the schemas of Kubernetes (npm: kubernetes-models, js-yaml).  A line for each fault.
'use strict';

const fs = require('fs');
const yaml = require('js-yaml');
const models = {
	'v1/Namespace': () => require('kubernetes-models/v1/Namespace').Namespace,
	'v1/ConfigMap': () => require('kubernetes-models/v1/ConfigMap').ConfigMap,
	'v1/Pod': () => require('kubernetes-models/v1/Pod').Pod,
	'apps/v1/DaemonSet': () => require('kubernetes-models/apps/v1/DaemonSet').DaemonSet,
};
let faults = 0;
const fault = (file, what) => {
	console.log(`${file}: ${what}`);
	faults++;
};

for (const file of process.argv.slice(2)) {
	for (const document of yaml.loadAll(fs.readFileSync(file, 'utf8'))) {
		const name = `${document.apiVersion}/${document.kind}`;

		if (!models[name]) {
			fault(file, `no schema of ${name} is asked for`);
			continue;
		}
		try {
			new (models[name]())(document).validate();
		} catch (error) {
			fault(file, `${name}: ${error.message}`);
		}
	}
}
process.exit(faults ? 1 : 0);
