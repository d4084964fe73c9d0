// SPDX-License-Identifier: LGPL-2.1-or-later
/* See capture_machine.h. */
#include "capture/capture_machine.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/registry.h"

/* Variables that change how CUDA, and what is built on it, works.  None holds a secret. */
static const char *const variables[] = {
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING", "CUDA_MODULE_DATA_LOADING",
	"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT",
	"CUDA_MANAGED_FORCE_DEVICE_ALLOC", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
	"NVIDIA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG",
	"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
	"TORCH_CUDNN_V8_API_DISABLED", "TORCH_NCCL_BLOCKING_WAIT", "XLA_FLAGS", "XLA_PYTHON_CLIENT_PREALLOCATE",
	"XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_ALLOCATOR", "TF_FORCE_GPU_ALLOW_GROWTH",
	"TF_GPU_ALLOCATOR", "NCCL_ALGO", "NCCL_PROTO", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",
	"NCCL_IB_DISABLE", "OMP_NUM_THREADS",
};

void ct_machine_environment(struct ct_registry_writer *w)
{
	char text[1024];

	for (unsigned int i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (!value)
			continue;
		snprintf(text, sizeof(text), "%s=%s", variables[i], value);
		ct_registry_add_info(w, "env", text);
	}
}

/* What stands behind "KEY:" in a line of the driver, NULL: it is another line. */
static char *machine_value(char *line, const char *key)
{
	size_t n = strlen(key);
	char *value = line + n + 1;

	if (strncmp(line, key, n) || line[n] != ':')
		return NULL;
	value += strspn(value, " \t");
	value[strcspn(value, "\n")] = 0;
	return value;
}

static void machine_gpu(struct ct_registry_writer *w, const char *path, const char *pci)
{
	char line[256], model[128] = "", uuid[64] = "", minor[16] = "", text[512];
	FILE *f = fopen(path, "re");
	const char *value;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if ((value = machine_value(line, "Model")))
			snprintf(model, sizeof(model), "%s", value);
		else if ((value = machine_value(line, "GPU UUID")))
			snprintf(uuid, sizeof(uuid), "%s", value);
		else if ((value = machine_value(line, "Device Minor")))
			snprintf(minor, sizeof(minor), "%s", value);
	}
	fclose(f);
	/* Each is a word, and the model the rest of the line. */
	snprintf(text, sizeof(text), "%s %s %s %s", pci, *uuid && !strchr(uuid, ' ') ? uuid : "-",
		 *minor && !strchr(minor, ' ') ? minor : "-", model);
	ct_registry_add_info(w, "gpu_card", text);
}

void ct_machine_note(struct ct_registry_writer *w, const char *root)
{
	char dir[256], path[PATH_MAX];
	struct dirent **list = NULL;
	int n;

	snprintf(dir, sizeof(dir), "%s/proc/driver/nvidia/gpus", root);
	n = scandir(dir, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (*list[i]->d_name != '.' && snprintf(path, sizeof(path), "%s/%s/information", dir,
							list[i]->d_name) < (int)sizeof(path))
			machine_gpu(w, path, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

/* ------------------------------------------------------------------ versions --- */

/* Whether @a, up to the end or a "-", is the distribution @b: "-", "_" and "." are the same. */
static size_t machine_same(const char *a, const char *b)
{
	size_t i = 0;

	for (; b[i]; i++) {
		bool x = a[i] == '_' || a[i] == '.', y = b[i] == '_' || b[i] == '.' || b[i] == '-';

		if (a[i] != b[i] && !(x && y))
			return 0;
	}
	return i;
}

/* The folder PACKAGE[_MORE]-VERSION.dist-info in @packages; false: there is none. */
static bool machine_package(const char *packages, const char *package, char *name, char *version, size_t size)
{
	DIR *d = opendir(packages);
	bool found = false;
	struct dirent *e;

	while (d && !found && (e = readdir(d))) {
		size_t n = machine_same(e->d_name, package), end = strlen(e->d_name);
		const char *dash = strchr(e->d_name, '-');

		/* nvidia_nccl_cu12-2.21.5.dist-info is of nvidia/nccl */
		if (!n || end < 11 || strcmp(e->d_name + end - 10, ".dist-info") || !dash ||
		    !(e->d_name + n == dash || (e->d_name[n] == '_' && e->d_name + n < dash)))
			continue;
		snprintf(name, size, "%.*s", (int)(dash - e->d_name), e->d_name);
		snprintf(version, size, "%.*s", (int)(e->d_name + end - 10 - dash - 1), dash + 1);
		found = true;
	}
	if (d)
		closedir(d);
	return found;
}

/* Of site-packages/nvidia/nccl/lib/libnccl.so.2: nvidia_nccl; of jax_plugins/xla_cuda12: that of JAX. */
static bool machine_python(const char *path, char *name, char *version, size_t size)
{
	static const char *const folders[] = { "/site-packages/", "/dist-packages/" };
	char packages[PATH_MAX], package[128], part[2][64] = { "", "" };
	const char *at = NULL;

	for (unsigned int i = 0; i < 2 && !at; i++) {
		at = strstr(path, folders[i]);
		at = at ? at + strlen(folders[i]) : NULL;
	}
	if (!at || at - path >= (int)sizeof(packages))
		return false;
	snprintf(packages, sizeof(packages), "%.*s", (int)(at - path), path);
	if (sscanf(at, "%63[^/]/%63[^/]", part[0], part[1]) < 2)
		return false;
	if (!strcmp(part[0], "nvidia"))
		snprintf(package, sizeof(package), "nvidia_%s", part[1]);
	else if (!strcmp(part[0], "jax_plugins") && !strncmp(part[1], "xla_", 4))
		snprintf(package, sizeof(package), "jax_%s_plugin", part[1] + 4);
	else
		snprintf(package, sizeof(package), "%s", part[0]);
	return machine_package(packages, package, name, version, size);
}

bool ct_machine_library(const char *path, char *name, char *version, size_t size)
{
	char real[PATH_MAX];
	const char *file, *so;

	if (machine_python(path, name, version, size))
		return true;
	if (!realpath(path, real))
		return false;
	/* libcudart.so.12.4.127 */
	file = strrchr(real, '/') + 1;
	so = strstr(file, ".so.");
	if (!so || strncmp(file, "lib", 3) || !strchr(so + 4, '.'))
		return false;
	snprintf(name, size, "%.*s", (int)(so - file - 3), file + 3);
	snprintf(version, size, "%s", so + 4);
	return true;
}

void ct_machine_versions(struct ct_registry_writer *w, const char *dir)
{
	char name[128], version[128], text[300];
	struct ct_registry reg = { 0 };
	struct ct_error err = { 0 };

	if (!ct_registry_read(&reg, dir, &err))
		for (unsigned int i = 0; i < reg.infos_count; i++) {
			if (strcmp(reg.infos[i].key, "library") ||
			    !ct_machine_library(reg.infos[i].text, name, version, sizeof(name)))
				continue;
			snprintf(text, sizeof(text), "%s %s", name, version);
			ct_registry_add_info(w, "version", text);
		}
	ct_registry_free(&reg);
}
