-- SPDX-License-Identifier: LGPL-2.1-or-later
-- The tables that every database has.  Those that Nsight Systems has too keep its names and
-- columns; all others begin with CUDATRACE_ or report_.  Scripts rely on the names: must never
-- rename one.  sqlite3's .schema shows the comments on columns.

CREATE TABLE StringIds (
	id INTEGER NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

CREATE TABLE CUDATRACE_META (
	key TEXT NOT NULL,	-- a key may come several times; the last one holds
	value TEXT
);

CREATE TABLE CUDATRACE_CLASSES (	-- functions and other kinds of records
	id INTEGER NOT NULL PRIMARY KEY,
	nameId INTEGER NOT NULL REFERENCES StringIds(id),
	name TEXT NOT NULL,	-- the symbol where two functions have one name
	symbol TEXT,
	layer TEXT NOT NULL,
	type TEXT NOT NULL,
	category TEXT NOT NULL,	-- that it counts for in this trace
	op TEXT,
	isCall INTEGER NOT NULL,
	isApi INTEGER NOT NULL,	-- of libcuda or libcudart
	ioctlOf TEXT,	-- an ioctl of the driver as seen by: 'program', 'kernel'
	results TEXT,	-- kind of its results in CUDATRACE_RESULTS
	fields TEXT,	-- name of the table that has its fields
	records INTEGER NOT NULL,
	plainNameId INTEGER NOT NULL REFERENCES StringIds(id)	-- the name, never the symbol
);

CREATE TABLE CUDATRACE_RECORDS (
	id INTEGER NOT NULL PRIMARY KEY,	-- op_id of a call, by its begin; an instant: below 0
	parentId INTEGER REFERENCES CUDATRACE_RECORDS(id),
	classId INTEGER NOT NULL REFERENCES CUDATRACE_CLASSES(id),
	start INTEGER NOT NULL,	-- ns since the trace began, as all times
	end INTEGER,	-- NULL: it never returned
	selfTime INTEGER,	-- ns without the calls inside; NULL: its time is not known
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	cpu INTEGER,
	depth INTEGER,	-- of a call: those of its thread around it
	result INTEGER,
	flags INTEGER NOT NULL,	-- bits of CUDATRACE_FLAGS
	size INTEGER	-- bytes
);

CREATE TABLE CUDATRACE_FLAGS (
	bit INTEGER NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	meaning TEXT NOT NULL
);

CREATE TABLE CUDATRACE_RESULTS (
	kind TEXT NOT NULL,
	code INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (kind, code)) WITHOUT ROWID;

CREATE TABLE CUDATRACE_KERNELS (
	demangledName INTEGER NOT NULL PRIMARY KEY REFERENCES StringIds(id),
	shortName INTEGER NOT NULL REFERENCES StringIds(id),
	mangledName INTEGER REFERENCES StringIds(id)
);

CREATE TABLE CUDATRACE_RANGES (	-- which end belongs to which begin
	pushId INTEGER NOT NULL PRIMARY KEY REFERENCES CUDATRACE_RECORDS(id),
	popId INTEGER NOT NULL REFERENCES CUDATRACE_RECORDS(id),
	end INTEGER NOT NULL
);

CREATE TABLE CUDATRACE_FRAMES (	-- lines of the program, each below its caller (record --stacks)
	id INTEGER NOT NULL PRIMARY KEY,
	parentId INTEGER REFERENCES CUDATRACE_FRAMES(id),	-- of the caller; NULL: it is the outermost one
	function TEXT NOT NULL,
	file TEXT NOT NULL,
	line INTEGER,	-- NULL: not known
	language TEXT NOT NULL
);

CREATE TABLE CUDATRACE_STACKS (	-- from where a call was made
	record INTEGER NOT NULL PRIMARY KEY REFERENCES CUDATRACE_RECORDS(id),
	frame INTEGER NOT NULL REFERENCES CUDATRACE_FRAMES(id)	-- the innermost one
);

CREATE TABLE CUDATRACE_GPU_METRICS (	-- what NVML said of a GPU of the machine from a moment on
	time INTEGER NOT NULL,
	gpu INTEGER NOT NULL,	-- NVML's number
	metric TEXT NOT NULL,	-- SM clock, power, temperature, ...
	unit TEXT NOT NULL,
	value INTEGER NOT NULL	-- from this moment on
);
CREATE TABLE CUDATRACE_SAMPLES (	-- what a thread did at a moment, as the recorder saw it
	time INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	frame INTEGER REFERENCES CUDATRACE_FRAMES(id),
	state TEXT NOT NULL,	-- running, sleep, lock, gil, file, socket, pipe, child, poll, device, other, unknown
	holder INTEGER,	-- the thread that held Python's lock (GIL), of state gil
	holder_frame INTEGER REFERENCES CUDATRACE_FRAMES(id)
);

CREATE TABLE CUDATRACE_FIELDS_OTHER (	-- fields of records that have no table
	record INTEGER NOT NULL PRIMARY KEY REFERENCES CUDATRACE_RECORDS(id),
	details TEXT NOT NULL
);

CREATE TABLE PROCESSES (
	globalPid INTEGER,
	pid INTEGER,
	name TEXT
);

CREATE TABLE ThreadNames (
	nameId INTEGER NOT NULL REFERENCES StringIds(id),
	priority INTEGER,
	globalTid INTEGER
);

CREATE TABLE TARGET_INFO_SESSION_START_TIME (
	utcEpochNs INTEGER,
	utcTime TEXT,
	localTime TEXT
);

CREATE TABLE TARGET_INFO_SYSTEM_ENV (
	globalVid INTEGER,
	devStateName TEXT NOT NULL,
	name TEXT NOT NULL,
	nameEnum INTEGER NOT NULL,
	value TEXT NOT NULL
);

CREATE TABLE META_DATA_EXPORT (
	name TEXT NOT NULL,
	value TEXT
);

-- Filled from records of the GPU alone.  What those do not say is NULL, where nsys has numbers.

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
	start INTEGER NOT NULL,
	end INTEGER NOT NULL,
	deviceId INTEGER,
	contextId INTEGER,
	streamId INTEGER,
	correlationId INTEGER,
	globalPid INTEGER,
	demangledName INTEGER REFERENCES StringIds(id),
	shortName INTEGER REFERENCES StringIds(id),
	mangledName INTEGER REFERENCES StringIds(id),
	launchType INTEGER,
	cacheConfig INTEGER,
	registersPerThread INTEGER,
	gridX INTEGER, gridY INTEGER, gridZ INTEGER,
	blockX INTEGER, blockY INTEGER, blockZ INTEGER,
	staticSharedMemory INTEGER,
	dynamicSharedMemory INTEGER,
	localMemoryPerThread INTEGER,
	localMemoryTotal INTEGER,
	gridId INTEGER,
	sharedMemoryExecuted INTEGER,
	graphNodeId INTEGER,
	sharedMemoryLimitConfig INTEGER
);

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
	start INTEGER NOT NULL,
	end INTEGER NOT NULL,
	deviceId INTEGER,
	contextId INTEGER,
	streamId INTEGER,
	correlationId INTEGER,
	globalPid INTEGER,
	bytes INTEGER,
	copyKind INTEGER NOT NULL REFERENCES ENUM_CUDA_MEMCPY_OPER(id),
	deprecatedSrcId INTEGER,
	srcKind INTEGER,
	dstKind INTEGER,
	srcDeviceId INTEGER,
	srcContextId INTEGER,
	dstDeviceId INTEGER,
	dstContextId INTEGER,
	migrationCause INTEGER,
	graphNodeId INTEGER,
	virtualAddress INTEGER
);

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
	start INTEGER NOT NULL,
	end INTEGER NOT NULL,
	deviceId INTEGER,
	contextId INTEGER,
	streamId INTEGER,
	correlationId INTEGER,
	globalPid INTEGER,
	value INTEGER,
	bytes INTEGER,
	graphNodeId INTEGER,
	memKind INTEGER
);

CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
	start INTEGER NOT NULL,
	end INTEGER NOT NULL,
	deviceId INTEGER,
	contextId INTEGER,
	streamId INTEGER,
	correlationId INTEGER,
	globalPid INTEGER,
	graphId INTEGER
);

CREATE TABLE TARGET_INFO_GPU (
	vmId INTEGER,
	id INTEGER NOT NULL,
	name TEXT,
	busLocation TEXT,
	isDiscrete INTEGER,
	l2CacheSize INTEGER,
	totalMemory INTEGER,
	memoryBandwidth INTEGER,
	clockRate INTEGER,
	smCount INTEGER,
	pwGpuId INTEGER,
	uuid TEXT,
	luid INTEGER,
	chipName TEXT,
	cuDevice INTEGER,
	computeMajor INTEGER,
	computeMinor INTEGER
);

-- Words for numbers.

CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES
	(34, 'NvtxMark', 'NvtxMark'), (59, 'NvtxPushPopRange', 'NvtxPushPopRange'),
	(60, 'NvtxStartEndRange', 'NvtxStartEndRange'), (75, 'NvtxDomainCreate', 'NvtxDomainCreate');

CREATE TABLE ENUM_NSYS_EVENT_CLASS (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES
	(0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
	(1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver'),
	(27, 'TRACE_PROCESS_EVENT_OS_RUNTIME', 'OSRT runtime');

CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
	(0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
	(2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
	(4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'), (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
	(6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'), (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
	(8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
	(10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer');

CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES
	(1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', 'Event sync'),
	(2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', 'Stream wait event'),
	(3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', 'Stream sync'),
	(4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', 'Context sync');

-- The direction of a copy as a record has it, and CUPTI's number for it.
CREATE TABLE ENUM_CUDATRACE_DIRECTION (
	id INTEGER NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	copyKind INTEGER NOT NULL REFERENCES ENUM_CUDA_MEMCPY_OPER(id)
);
