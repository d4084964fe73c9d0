-- SPDX-License-Identifier: LGPL-2.1-or-later
-- Views on the records: the tables of nsys whose content they have, and the reports that list
-- every record.  A view takes no space and no time until it is asked.

-- Calls whose times are known: getters that are only counted are in CUDATRACE_RECORDS.
CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
SELECT r.start, r.end, CASE c.type WHEN 'runtime' THEN 0 ELSE 1 END AS eventClass,
	(r.pid & 0xffffff) << 24 | (r.tid & 0xffffff) AS globalTid, r.id AS correlationId, c.nameId,
	COALESCE(r.result, 0) AS returnValue, NULL AS callchainId
FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId
WHERE c.isApi AND r.selfTime NOT NULL;

-- Times of the calls on the host; which device and context is not known.
CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
SELECT r.start, r.end, NULL AS deviceId, NULL AS contextId, NULL AS streamId, r.id AS correlationId,
	(r.pid & 0xffffff) << 24 AS globalPid,
	CASE WHEN c.name GLOB 'cu*EventSynchronize*' THEN 1 WHEN c.name GLOB 'cu*StreamWaitEvent*' THEN 2
		WHEN c.name GLOB 'cu*StreamSynchronize*' THEN 3 ELSE 4 END AS syncType, NULL AS eventId
FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId
WHERE c.isApi AND c.type = 'sync' AND r.selfTime NOT NULL;

-- Classes 1 and 2: marks, and the begins of ranges.
CREATE VIEW NVTX_EVENTS AS
SELECT r.start, g.end, CASE r.classId WHEN 2 THEN 59 ELSE 34 END AS eventType,
	NULL AS rangeId, NULL AS category, NULL AS color, f.text,
	(r.pid & 0xffffff) << 24 | (r.tid & 0xffffff) AS globalTid,
	CASE WHEN g.end NOT NULL THEN (r.pid & 0xffffff) << 24 | (r.tid & 0xffffff) END AS endGlobalTid,
	NULL AS textId, 0 AS domainId, NULL AS uint64Value, NULL AS int64Value, NULL AS doubleValue,
	NULL AS uint32Value, NULL AS int32Value, NULL AS floatValue, NULL AS jsonTextId, NULL AS jsonText
FROM CUDATRACE_FIELDS_MARK f JOIN CUDATRACE_RECORDS r ON r.id = f.record
	LEFT JOIN CUDATRACE_RANGES g ON g.pushId = r.id
WHERE r.classId IN (1, 2);

-- The ioctls of one side alone: one that both saw would count twice.  Flag 32: inside another one.
CREATE VIEW OSRT_API AS
SELECT start, end, 27 AS eventClass, globalTid, (SELECT id FROM StringIds WHERE value = 'ioctl') AS nameId,
	result AS returnValue, depth AS nestingLevel, 0 AS callchainId, ioctl AS ioctlKind, command
FROM CUDATRACE_IOCTLS
WHERE seenBy = (SELECT value FROM CUDATRACE_META WHERE key = 'ioctls_seen_by' ORDER BY rowid DESC LIMIT 1)
	AND selfTime NOT NULL AND NOT flags & 32;

-- The report cuda_api_trace.
CREATE VIEW report_cuda_api_trace AS
SELECT r.start AS "Start (ns)", CASE WHEN r.selfTime NOT NULL THEN r.end - r.start END AS "Duration (ns)",
	c.name AS "Name", CASE WHEN r.result >= 0 THEN r.result END AS "Result", r.id AS "CorrID",
	r.pid AS "Pid", r.tid AS "Tid", r.depth AS "Depth",
	CASE WHEN r.flags & 1 THEN COALESCE((SELECT name FROM CUDATRACE_RESULTS WHERE kind = c.results AND code = r.result),
		CAST(r.result AS TEXT)) END AS "Error",
	r.size AS "Size (bytes)", (SELECT kernel FROM CUDATRACE_EVENTS WHERE id = r.id) AS "Kernel"
FROM CUDATRACE_RECORDS r JOIN CUDATRACE_CLASSES c ON c.id = r.classId
WHERE c.isApi ORDER BY r.start, r.id;

-- The report cuda_gpu_trace: work of the GPU, or the calls where the GPU was not recorded.
CREATE VIEW report_cuda_gpu_trace AS
WITH memory(kind, word) AS (VALUES (0, 'Unknown'), (1, 'Pageable'), (2, 'Pinned'), (3, 'Device'), (4, 'Array'),
	(5, 'Managed'), (6, 'Device Static'), (7, 'Managed Static')),
work AS (
SELECT start, end - start AS ns, correlationId AS id, gridX, gridY, gridZ, blockX, blockY, blockZ,
	registersPerThread AS registers, staticSharedMemory AS static, dynamicSharedMemory AS dynamic,
	NULL AS bytes, NULL AS source, NULL AS destination, deviceId, contextId, streamId AS stream,
	COALESCE(NULLIF((SELECT value FROM StringIds WHERE id = demangledName), ''), '(unknown)') AS name,
	globalPid >> 24 AS pid, (SELECT tid FROM CUDATRACE_RECORDS r WHERE r.id = correlationId) AS tid
FROM CUPTI_ACTIVITY_KIND_KERNEL
UNION ALL
SELECT start, end - start, correlationId, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, bytes,
	(SELECT word FROM memory WHERE kind = srcKind), (SELECT word FROM memory WHERE kind = dstKind),
	deviceId, contextId, streamId,
	'[CUDA memcpy ' || (SELECT label FROM ENUM_CUDA_MEMCPY_OPER e WHERE e.id = copyKind) || ']',
	globalPid >> 24, (SELECT tid FROM CUDATRACE_RECORDS r WHERE r.id = correlationId)
FROM CUPTI_ACTIVITY_KIND_MEMCPY
UNION ALL
SELECT start, end - start, correlationId, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, bytes,
	NULL, (SELECT word FROM memory WHERE kind = memKind), deviceId, contextId, streamId, '[CUDA memset]',
	globalPid >> 24, (SELECT tid FROM CUDATRACE_RECORDS r WHERE r.id = correlationId)
FROM CUPTI_ACTIVITY_KIND_MEMSET
UNION ALL
SELECT start, end - start, correlationId, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, deviceId, contextId, streamId, '[CUDA graph ' || graphId || ']',
	globalPid >> 24, (SELECT tid FROM CUDATRACE_RECORDS r WHERE r.id = correlationId)
FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE
UNION ALL
SELECT start, CASE WHEN selfTime NOT NULL THEN end - start END, id, gridX, gridY, gridZ, blockX, blockY, blockZ,
	NULL, NULL, dynamicSharedMemory, NULL, NULL, NULL, NULL, NULL, printf('0x%llx', stream),
	COALESCE(NULLIF(kernel, ''), '(unknown)'), pid, tid
FROM CUDATRACE_LAUNCHES
WHERE layer = 'user' AND NOT flags & 3 AND NOT (SELECT value FROM CUDATRACE_META WHERE key = 'gpu_records' ORDER BY rowid DESC LIMIT 1)
UNION ALL
SELECT start, CASE WHEN selfTime NOT NULL THEN end - start END, id, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, COALESCE(bytes, 0), NULL, NULL, NULL, NULL, printf('0x%llx', stream), operation, pid, tid
FROM CUDATRACE_COPIES
WHERE layer = 'user' AND NOT flags & 3 AND NOT (SELECT value FROM CUDATRACE_META WHERE key = 'gpu_records' ORDER BY rowid DESC LIMIT 1))
SELECT start AS "Start (ns)", ns AS "Duration (ns)", id AS "CorrId", gridX AS "GrdX", gridY AS "GrdY", gridZ AS "GrdZ",
	blockX AS "BlkX", blockY AS "BlkY", blockZ AS "BlkZ", registers AS "Reg/Trd", round(static / 1e6, 3) AS "StcSMem (MB)",
	round(dynamic / 1e6, 3) AS "DymSMem (MB)", round(bytes / 1e6, 3) AS "Bytes (MB)",
	CASE WHEN deviceId NOT NULL AND ns > 0 THEN round(bytes * 1e3 / ns, 3) END AS "Throughput (MB/s)",
	source AS "SrcMemKd", destination AS "DstMemKd", deviceId AS "Device", contextId AS "Ctx", stream AS "Strm",
	name AS "Name", pid AS "Pid", tid AS "Tid"
FROM work ORDER BY start, id;
