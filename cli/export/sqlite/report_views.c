// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reports as views: they have the columns and the rows of 'cudatrace report', computed from the
 * tables by SQL.  Must never give other figures than the report.
 */
#include "export/sqlite/views.h"

#include "export/sqlite/schema.h"

#define RECORDS	" FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId "

/* SQLite has a square root only where it was built with it: Newton's method needs none. */
#define ROOT(v)	"CASE WHEN " v " > 0 THEN (WITH RECURSIVE q(x, i) AS (SELECT " v " + 0.0, 0 UNION ALL"	\
		" SELECT (x + " v " / x) / 2, i + 1 FROM q WHERE i < 80) SELECT x FROM q WHERE i = 80) WHEN " v " NOT NULL THEN 0 END"

/*
 * Behind "source AS (SELECT ... AS key, ... AS ns)": figures of each key's values.  Equal values
 * are counted first, which leaves few; the median and the percentiles are those of all of them.
 */
#define FIGURES									\
	", h AS (SELECT key, ns, count(*) AS c FROM source GROUP BY key, ns),"			\
	" a AS (SELECT key, sum(c) AS k, sum(ns * c) AS total, sum(ns * c) * 1.0 / sum(c) AS mean,"	\
	" min(ns) AS least, max(ns) AS most FROM h GROUP BY key),"					\
	" u AS (SELECT key, ns, c, sum(c) OVER (PARTITION BY key ORDER BY ns) AS upto FROM h),"	\
	" f AS (SELECT a.key, k, total, mean, least, most,"						\
	" (min(CASE WHEN upto >= (k + 1) / 2 THEN ns END) + min(CASE WHEN upto >= k / 2 + 1 THEN ns END)) / 2.0" \
	" AS med, sum(c * (ns - mean) * (ns - mean)) / max(k - 1, 1) AS variance,"			\
	" min(CASE WHEN upto >= (k * 950 + 999) / 1000 THEN ns END) AS p95,"				\
	" min(CASE WHEN upto >= (k * 990 + 999) / 1000 THEN ns END) AS p99"				\
	" FROM u JOIN a ON a.key = u.key GROUP BY a.key)"

#define SHARE(of)	"round(100.0 * " of " / NULLIF(sum(" of ") OVER (), 0), 1) AS \"Time (%%)\""

/* nsys's columns of a summary by time. */
#define FIGURES_OF_TIME(count, name)						\
	SHARE("f.total") ", f.total AS \"Total Time (ns)\", " count " AS \"" name "\","			\
	" round(f.mean, 1) AS \"Avg (ns)\", f.med AS \"Med (ns)\", f.least AS \"Min (ns)\","		\
	" f.most AS \"Max (ns)\", round(" ROOT("f.variance") ", 1) AS \"StdDev (ns)\""

#define MB(v)	"round(" v " / 1e6, 3)"

static const char api[] =
	"CREATE VIEW report_cuda_api_sum AS WITH source AS (SELECT r.classId AS key, r.end - r.start AS ns"
	RECORDS "WHERE c.isApi AND r.selfTime NOT NULL)" FIGURES
	", g AS (SELECT classId, sum(flags & 1) AS failed FROM CUDATRACE_RECORDS GROUP BY classId)"
	" SELECT " FIGURES_OF_TIME("c.records", "Num Calls") ", c.name AS \"Name\", f.p95 AS \"P95 (ns)\","
	" f.p99 AS \"P99 (ns)\", g.failed AS \"Failed\" FROM CUDATRACE_CLASSES c JOIN g ON g.classId = c.id"
	" LEFT JOIN f ON f.key = c.id WHERE c.isApi ORDER BY COALESCE(f.total, 0) DESC, c.records DESC, c.id;"

	"CREATE VIEW report_cuda_api_trace AS SELECT r.start AS \"Start (ns)\","
	" CASE WHEN r.selfTime NOT NULL THEN r.end - r.start END AS \"Duration (ns)\", c.name AS \"Name\","
	" CASE WHEN r.result >= 0 THEN r.result END AS \"Result\", r.id AS \"CorrID\", r.pid AS \"Pid\","
	" r.tid AS \"Tid\", r.depth AS \"Depth\", CASE WHEN r.flags & 1 THEN COALESCE((SELECT name FROM"
	" CUDATRACE_RESULTS WHERE kind = c.results AND code = r.result), CAST(r.result AS TEXT)) END AS \"Error\","
	" r.size AS \"Size (bytes)\", (SELECT kernel FROM CUDATRACE_EVENTS WHERE id = r.id) AS \"Kernel\""
	RECORDS "WHERE c.isApi ORDER BY r.start, r.id;";

/* %s: layer of what counts: 'gpu' where the GPU was recorded, else 'user'. */
static const char gpu[] =
	"CREATE VIEW report_cuda_gpu_kern_sum AS WITH source AS (SELECT COALESCE(NULLIF(kernel, ''), '(unknown)')"
	" AS key, end - start AS ns FROM CUDATRACE_LAUNCHES WHERE layer = %Q AND NOT flags & 1"
	" AND selfTime NOT NULL)" FIGURES
	" SELECT " FIGURES_OF_TIME("f.k", "Instances") ", f.key AS \"Name\" FROM f ORDER BY f.total DESC, f.k DESC, f.key;";

static const char gpu_memory[] =
	"CREATE VIEW report_cuda_gpu_mem_time_sum AS WITH source AS (SELECT operation AS key, end - start AS ns"
	" FROM CUDATRACE_COPIES WHERE layer = %Q AND NOT flags & 1 AND selfTime NOT NULL)" FIGURES
	" SELECT " FIGURES_OF_TIME("f.k", "Count") ", f.key AS \"Operation\" FROM f ORDER BY f.total DESC;";

static const char gpu_sizes[] =
	"CREATE VIEW report_cuda_gpu_mem_size_sum AS WITH source AS (SELECT operation AS key,"
	" COALESCE(bytes, 0) AS ns FROM CUDATRACE_COPIES WHERE layer = %Q AND NOT flags & 1"
	" AND selfTime NOT NULL)" FIGURES
	" SELECT " MB("f.total") " AS \"Total (MB)\", f.k AS \"Count\", " MB("f.mean") " AS \"Avg (MB)\", "
	MB("f.med") " AS \"Med (MB)\", " MB("f.least") " AS \"Min (MB)\", " MB("f.most") " AS \"Max (MB)\","
	" round(" ROOT("f.variance") " / 1e6, 3) AS \"StdDev (MB)\", f.key AS \"Operation\""
	" FROM f ORDER BY f.total DESC;";

static const char gpu_trace[] =
	"CREATE VIEW report_cuda_gpu_trace AS SELECT start AS \"Start (ns)\", ns AS \"Duration (ns)\","
	" id AS \"CorrId\", gridX AS \"GrdX\", gridY AS \"GrdY\", gridZ AS \"GrdZ\", blockX AS \"BlkX\","
	" blockY AS \"BlkY\", blockZ AS \"BlkZ\", " MB("shared") " AS \"DymSMem (MB)\", " MB("bytes")
	" AS \"Bytes (MB)\", printf('0x%%llx', stream) AS \"Strm\", name AS \"Name\", pid AS \"Pid\", tid AS \"Tid\""
	" FROM (SELECT id, start, CASE WHEN selfTime NOT NULL THEN end - start END AS ns, gridX, gridY, gridZ, blockX,"
	" blockY, blockZ, dynamicSharedMemory AS shared, NULL AS bytes, stream,"
	" COALESCE(NULLIF(kernel, ''), '(unknown)') AS name, pid, tid FROM CUDATRACE_LAUNCHES"
	" WHERE layer = 'user' AND NOT flags & 3"
	" UNION ALL SELECT id, start, CASE WHEN selfTime NOT NULL THEN end - start END, NULL, NULL, NULL, NULL,"
	" NULL, NULL, NULL, COALESCE(bytes, 0), stream, operation, pid, tid FROM CUDATRACE_COPIES"
	" WHERE layer = 'user' AND NOT flags & 3) ORDER BY start, id;";

/* The same from records of the GPU. */
#define MEMORY_KIND(v)	"CASE " v " WHEN 0 THEN 'Unknown' WHEN 1 THEN 'Pageable' WHEN 2 THEN 'Pinned' WHEN 3 THEN 'Device'" \
			" WHEN 4 THEN 'Array' WHEN 5 THEN 'Managed' WHEN 6 THEN 'Device Static'"			\
			" WHEN 7 THEN 'Managed Static' END"
#define PLACE		"start, end, correlationId AS id, deviceId, contextId, streamId, globalPid"
#define NO_SIZES	"NULL AS gridX, NULL AS gridY, NULL AS gridZ, NULL AS blockX, NULL AS blockY, NULL AS blockZ,"	\
			" NULL AS registers, NULL AS static, NULL AS dynamic"
static const char gpu_records[] =
	"CREATE VIEW report_cuda_gpu_trace AS SELECT start AS \"Start (ns)\", end - start AS \"Duration (ns)\","
	" id AS \"CorrId\", gridX AS \"GrdX\", gridY AS \"GrdY\", gridZ AS \"GrdZ\", blockX AS \"BlkX\","
	" blockY AS \"BlkY\", blockZ AS \"BlkZ\", registers AS \"Reg/Trd\", " MB("static") " AS \"StcSMem (MB)\", "
	MB("dynamic") " AS \"DymSMem (MB)\", " MB("bytes") " AS \"Bytes (MB)\","
	" CASE WHEN end > start THEN round(bytes * 1e3 / (end - start), 3) END AS \"Throughput (MB/s)\","
	" source AS \"SrcMemKd\", destination AS \"DstMemKd\", deviceId AS \"Device\", contextId AS \"Ctx\","
	" streamId AS \"Strm\", name AS \"Name\", globalPid >> 24 AS \"Pid\","
	" (SELECT tid FROM CUDATRACE_RECORDS r WHERE r.id = g.id) AS \"Tid\""
	" FROM (SELECT " PLACE ", gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread AS registers,"
	" staticSharedMemory AS static, dynamicSharedMemory AS dynamic, NULL AS bytes, NULL AS source, NULL AS destination,"
	" COALESCE(NULLIF((SELECT value FROM StringIds WHERE id = demangledName), ''), '(unknown)') AS name"
	" FROM CUPTI_ACTIVITY_KIND_KERNEL"
	" UNION ALL SELECT " PLACE ", " NO_SIZES ", bytes, " MEMORY_KIND("srcKind") ", " MEMORY_KIND("dstKind") ","
	" '[CUDA memcpy ' || (SELECT label FROM ENUM_CUDA_MEMCPY_OPER e WHERE e.id = copyKind) || ']'"
	" FROM CUPTI_ACTIVITY_KIND_MEMCPY"
	" UNION ALL SELECT " PLACE ", " NO_SIZES ", bytes, NULL, " MEMORY_KIND("memKind") ", '[CUDA memset]'"
	" FROM CUPTI_ACTIVITY_KIND_MEMSET"
	" UNION ALL SELECT " PLACE ", " NO_SIZES ", NULL, NULL, NULL, '[CUDA graph ' || graphId || ']'"
	" FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE) g ORDER BY start, end;";

static const char ranges[] =
	"CREATE VIEW report_nvtx_sum AS WITH source AS (SELECT COALESCE(text, '') AS key, end - start AS ns"
	" FROM NVTX_EVENTS WHERE eventType = 59 AND end NOT NULL)" FIGURES
	" SELECT " FIGURES_OF_TIME("f.k", "Instances") ", 'PushPop' AS \"Style\", f.key AS \"Range\""
	" FROM f ORDER BY f.total DESC, f.k DESC, f.key;";

/* %s: which side saw the ioctls; %u: the flag of those inside another one. */
static const char osrt[] =
	"CREATE VIEW report_osrt_sum AS WITH source AS (SELECT ioctl AS key, end - start AS ns"
	" FROM CUDATRACE_IOCTLS WHERE seenBy = %Q AND selfTime NOT NULL AND NOT flags & %u)" FIGURES
	", g AS (SELECT ioctl, sum(flags & 1) AS failed FROM CUDATRACE_IOCTLS WHERE seenBy = %Q"
	" AND selfTime NOT NULL AND NOT flags & %u GROUP BY ioctl)"
	" SELECT " FIGURES_OF_TIME("f.k", "Num Calls") ", 'ioctl' AS \"Name\", f.key AS \"Ioctl\","
	" g.failed AS \"Failed\" FROM f JOIN g ON g.ioctl = f.key ORDER BY f.total DESC, f.k DESC, f.key;";

static const char ioctls[] =
	"CREATE VIEW report_ioctl_sum AS WITH o AS (SELECT deviceName, ioctl, command, flags & 1 AS failed,"
	" deviceName || ' ' || ioctl || ' ' || COALESCE(command, '') AS key, end - start AS ns"
	" FROM CUDATRACE_IOCTLS WHERE seenBy = %Q AND selfTime NOT NULL AND NOT flags & %u),"
	" source AS (SELECT key, ns FROM o)" FIGURES
	", g AS (SELECT key, deviceName, ioctl, command, sum(failed) AS failed FROM o GROUP BY key)"
	" SELECT " SHARE("f.total") ", f.total AS \"Total Time (ns)\", f.k AS \"Num Calls\","
	" round(f.mean, 1) AS \"Avg (ns)\", f.med AS \"Med (ns)\", f.most AS \"Max (ns)\", g.failed AS \"Failed\","
	" g.deviceName AS \"Device\", g.ioctl AS \"Ioctl\", g.command AS \"Command\""
	" FROM f JOIN g ON g.key = f.key ORDER BY f.total DESC, g.deviceName, g.ioctl, g.command;";

static const char driver[] =
	"CREATE VIEW report_driver_sum AS WITH source AS (SELECT r.classId AS key, r.end - r.start AS ns"
	RECORDS "WHERE c.layer = 'kernel' AND c.isCall AND c.type <> 'switch' AND r.selfTime NOT NULL)" FIGURES
	", g AS (SELECT classId, sum(flags & 1) AS failed, sum(selfTime) AS self FROM CUDATRACE_RECORDS GROUP BY classId)"
	" SELECT CASE WHEN f.k NOT NULL THEN round(100.0 * g.self / NULLIF(sum(g.self) OVER (), 0), 1) END"
	" AS \"Time (%%)\", f.total AS \"Total Time (ns)\", g.self AS \"Self (ns)\", c.records AS \"Num Calls\","
	" round(f.mean, 1) AS \"Avg (ns)\", f.med AS \"Med (ns)\", f.p99 AS \"P99 (ns)\", f.most AS \"Max (ns)\","
	" g.failed AS \"Failed\", c.type AS \"Type\", c.name AS \"Name\" FROM CUDATRACE_CLASSES c"
	" JOIN g ON g.classId = c.id LEFT JOIN f ON f.key = c.id"
	" WHERE c.layer = 'kernel' AND c.isCall AND c.type <> 'switch'"
	" ORDER BY COALESCE(g.self, 0) DESC, c.records DESC, c.id;"

	/* A failed ioctl that the kernel carried out has the driver's own status. */
	"CREATE VIEW report_errors AS WITH e AS (SELECT r.classId, r.start, r.pid, c.results,"
	" c.ioctlOf NOT NULL AND r.result >= 0 AS own, CASE WHEN c.ioctlOf NOT NULL AND r.result >= 0 THEN"
	" COALESCE((SELECT status FROM CUDATRACE_IOCTLS i WHERE i.id = r.id), 0) ELSE r.result END AS number"
	RECORDS "WHERE r.flags & 1)"
	" SELECT count(*) AS \"Calls\", (SELECT n.value FROM CUDATRACE_CLASSES c JOIN StringIds n ON n.id = c.plainNameId"
	" WHERE c.id = e.classId) AS \"Name\", (SELECT name FROM CUDATRACE_RESULTS WHERE kind ="
	" CASE WHEN own THEN 'nvidia' ELSE results END AND code = number) AS \"Result\","
	" CASE WHEN own THEN printf('0x%%llx', number) ELSE CAST(number AS TEXT) END AS \"Code\","
	" min(start) AS \"First (ns)\", max(start) AS \"Last (ns)\","
	" replace(group_concat(DISTINCT pid), ',', ' ') AS \"Pids\""
	" FROM e GROUP BY classId, own, number ORDER BY 1 DESC, 5, classId;";

int ct_report_views_create(struct ct_db *db, const struct ct_records *s, const struct ct_trace *t)
{
	const char *side = s->kernel_ioctls ? "kernel" : "program";
	const char *layer = ct_layer_word[t->has_gpu ? CT_LAYER_GPU : CT_LAYER_USER];
	unsigned int inner = CT_RECORD_INNER_IOCTL;
	int rc = ct_db_execf(db, api);

	rc = rc ? rc : ct_db_execf(db, driver);
	rc = rc ? rc : ct_db_execf(db, ranges);
	rc = rc ? rc : ct_db_execf(db, gpu, layer);
	rc = rc ? rc : ct_db_execf(db, gpu_memory, layer);
	rc = rc ? rc : ct_db_execf(db, gpu_sizes, layer);
	rc = rc ? rc : ct_db_execf(db, t->has_gpu ? gpu_records : gpu_trace);
	rc = rc ? rc : ct_db_execf(db, osrt, side, inner, side, inner);
	return rc ? rc : ct_db_execf(db, ioctls, side, inner);
}
