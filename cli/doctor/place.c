// SPDX-License-Identifier: LGPL-2.1-or-later
/* See place.h.  Must never run the program. */
#include "doctor/place.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attach/target.h"

struct ct_check_result ct_check_file_system(struct ct_doctor *d)
{
	static const struct {
		unsigned long type;
		const char *name;
	} network[] = {
		{ 0x6969, "NFS" }, { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB" }, { 0x517b, "SMB" }, { 0x01021997, "9p" },
		{ 0x0bd00bd0, "Lustre" }, { 0x47504653, "GPFS" }, { 0x00c36400, "Ceph" }, { 0x5346414f, "AFS" },
		{ 0x19830326, "BeeGFS" },
	};
	struct statfs fs;

	(void)d;
	if (statfs(".", &fs))
		return ct_no_finding();
	for (unsigned int i = 0; i < sizeof(network) / sizeof(*network); i++)
		if ((unsigned long)fs.f_type == network[i].type)
			return ct_check_result(CT_FINDING_NOTE, "cudatrace record -o DIR, on a local disk",
					  "the current directory is on a network file system (%s): records may be lost there, or come late",
					  network[i].name);
	return ct_no_finding();
}

struct ct_check_result ct_check_container(struct ct_doctor *d)
{
	bool inside = ct_doctor_has("/.dockerenv") || ct_doctor_has("/run/.containerenv") || getenv("KUBERNETES_SERVICE_HOST");

	if (!inside || (ct_doctor_has("/dev/nvidiactl") && (!d->loaded || ct_doctor_has("/dev/cudatrace"))))
		return ct_no_finding();
	if (!ct_doctor_has("/dev/nvidiactl"))
		return ct_check_result(CT_FINDING_NOTE, "docker run --gpus all ...",
				  "this is a container without the devices of a GPU");
	return ct_check_result(CT_FINDING_NOTE, "docker run --device /dev/cudatrace ...",
			  "this is a container without /dev/cudatrace: it is recorded without the module");
}

/* Where the shell finds it; false: nowhere. */
static bool place_find(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return !access(path, X_OK);
	}
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dirs, name) < PATH_MAX && !access(path, X_OK))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

/* 1: a loader starts it; 0: it has none; -1: it is no program for x86-64. */
static int place_has_loader(int fd)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != EM_X86_64 || head.e_phentsize != sizeof(part))
		return -1;
	for (unsigned int i = 0; i < head.e_phnum; i++)
		if (pread(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) == sizeof(part) && part.p_type == PT_INTERP)
			return 1;
	return 0;
}

struct ct_check_result ct_check_program(struct ct_doctor *d)
{
	char path[PATH_MAX], magic[4] = "";
	struct stat st;
	int fd, loader;

	if (!d->program)
		return ct_no_finding();
	if (!place_find(d->program, path))
		return ct_check_result(CT_FINDING_MISSING, "give its path", "%s: there is no such program", d->program);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return ct_check_result(CT_FINDING_NOTE, NULL, "%s can't be read: whether it can be recorded is not known", path);
	}
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		magic[0] = 0;
	loader = memcmp(magic, ELFMAG, SELFMAG) ? 2 : place_has_loader(fd);
	close(fd);
	if ((st.st_mode & (S_ISUID | S_ISGID)) || getxattr(path, "security.capability", NULL, 0) > 0)
		return ct_check_result(CT_FINDING_MISSING, "record it as the user whose rights it takes, from a copy without them",
				  "%s takes rights of its own (set-user-ID or capabilities): no library is preloaded into it", path);
	if (loader == -1)
		return ct_check_result(CT_FINDING_MISSING, "use the program for x86-64", "%s is no program for x86-64", path);
	if (!loader)
		return ct_check_result(CT_FINDING_MISSING, "link it dynamically, or record its ioctls with the module",
				  "%s is linked statically: no library is preloaded into it", path);
	if (loader == 1 && ct_target_symbol(path, 0, "ncclCommInitRank"))
		return ct_check_result(CT_FINDING_NOTE, "link it to libnccl.so", "%s can be recorded, but there is a libnccl in it: "
				  "what it calls of that directly is not recorded", path);
	return ct_check_result(CT_FINDING_OK, NULL, loader == 2 ? "%s is a script: its interpreter is recorded" :
			  "%s can be recorded", path);
}
