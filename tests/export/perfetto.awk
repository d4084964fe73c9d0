# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Reads what `protoc --decode perfetto.protos.Trace` prints as a viewer does: clocks, interned
# texts, defaults, a stack of slices for each track.  Prints one line each, by tabs:
#
#	call NAME CATEGORY BEGIN DURATION OP_ID	  ns since the recording began; "?": not known;
#						  the measured duration, where an annotation says it
#	range NAME BEGIN DURATION
#	instant NAME CATEGORY TIME OP_ID
#	flow FROM TO				  names of the slices at both ends
#	counter NAME PID TIME VALUE
#	track PID TID NAME
#	process PID NAME
#	note NAME ANNOTATION VALUE		  of slices that -v show=NAME names
#	from NAME OP_ID STACK			  of slices and instants that have one: FUNCTION:LINE:FILE;...,
#						  the outermost first; of those that -v show=NAME names
#	sample PID TID TIME STACK
#	error TEXT				  what a viewer could not make sense of

function text(s) { sub(/^[^"]*"/, "", s); sub(/"$/, "", s); return s }

# The text of a number, of a kind of interned data.
function interned(kind, iid)
{
	if (!((kind, iid) in texts)) {
		print "error\tno " kind " " iid
		return "?"
	}
	return texts[kind, iid]
}

# The frames of a stack.
function stack(iid,    n, frame, i, all)
{
	if (!(iid in stacks)) {
		print "error\tno callstack " iid
		return "?"
	}
	n = split(stacks[iid], frame, " ")
	for (i = 1; i <= n; i++) {
		if (!(frame[i] in frame_function))
			print "error\tno frame " frame[i]
		all = all (i > 1 ? ";" : "") interned("function_names", frame_function[frame[i]]) ":" frame_line[frame[i]] + 0 ":" \
			(frame_source[frame[i]] ? interned("source_paths", frame_source[frame[i]]) : "")
	}
	return all
}

function show_slice(t, d, end)
{
	if (slice_category[t, d] == "marker")
		print "range\t" slice_name[t, d] "\t" slice_begin[t, d] "\t" (end == "" ? "?" : end - slice_begin[t, d])
	else
		print "call\t" slice_name[t, d] "\t" slice_category[t, d] "\t" slice_begin[t, d] "\t" \
			(end == "" || slice_open[t, d] ? "?" : ".duration_ns" in f ? f[".duration_ns"] : end - slice_begin[t, d]) "\t" slice_op[t, d]
}

function track(t)
{
	tracks[t] = 1
	if ("parent" in f && !(f["parent"] in tracks))
		print "error\ttrack " t " has no parent"
	if ("process_pid" in f) {
		pid_of[t] = f["process_pid"]
		if ("process_name" in f)
			processes[f["process_pid"]] = f["process_name"]
		return
	}
	pid_of[t] = "thread_tid" in f ? f["thread_pid"] : pid_of[f["parent"]]
	tid_of[t] = "thread_tid" in f ? f["thread_tid"] : tid_of[f["parent"]]
	track_name[t] = "thread_tid" in f ? f["thread_name"] : f["track_name"]
}

function time(    clock)
{
	clock = "timestamp_clock_id" in f ? f["timestamp_clock_id"] : default_clock
	if (clock == 64)
		return last += f["timestamp"]
	if (clock != 3)
		print "error\tno clock " clock
	return f["timestamp"] - start
}

function annotations(name,    i, note, value)
{
	for (i = 1; i <= notes; i++) {
		note = note_iid[i] ? interned("debug_annotation_names", note_iid[i]) : note_name[i]
		value = note_string[i] ? interned("debug_annotation_string_values", note_string[i]) : note_value[i]
		f["." note] = value
		if (name == show)
			print "note\t" show "\t" note "\t" value
	}
}

function packet(    now, t, i, d, name, category)
{
	if (f["sequence_flags"] + 0 == 0 || f["trusted_packet_sequence_id"] != (sequence ? sequence : sequence = f["trusted_packet_sequence_id"]))
		print "error\ta packet that does not say which state it needs"
	if ("default_clock" in f)
		default_clock = f["default_clock"]
	if ("default_track" in f)
		default_track = f["default_track"]
	if ("timestamp" in f)
		now = time()
	if ("track" in f)
		track(f["track"])
	if ("sample_callstack" in f)
		print "sample\t" f["sample_pid"] "\t" f["sample_tid"] "\t" now "\t" stack(f["sample_callstack"])
	if (!event)
		return
	t = "event_track" in f ? f["event_track"] : default_track
	d = depth[t] + 0
	if (!(t in tracks))
		print "error\tno track " t
	name = "name_iid" in f ? interned("event_names", f["name_iid"]) : f["event_name"]
	category = "category" in f ? interned("event_categories", f["category"]) : ""
	annotations(f["type"] == "TYPE_SLICE_END" ? slice_name[t, d] : name)
	if ("callstack" in f && name == show)
		print "from\t" name "\t" f[".op_id"] "\t" stack(f["callstack"])
	if (f["type"] == "TYPE_SLICE_BEGIN") {
		depth[t] = ++d
		slice_name[t, d] = name
		slice_category[t, d] = category
		slice_begin[t, d] = now
		slice_op[t, d] = f[".op_id"]
		slice_open[t, d] = ".unfinished" in f || ".abandoned" in f
	} else if (f["type"] == "TYPE_SLICE_END") {
		if (!d) {
			print "error\tan end without a begin"
			return
		}
		slice_open[t, d] = slice_open[t, d] || ".unfinished" in f || ".abandoned" in f
		show_slice(t, d, now)
		# An arrow is from the slice that began first.
		for (i = 1; i <= last_flows; i++) {
			if (!(last_ids[i] in flow_of) || flow_begin[last_ids[i]] < slice_begin[t, d])
				print "error\tan arrow to nowhere"
			print "flow\t" slice_name[t, d] "\t" flow_of[last_ids[i]]
		}
		depth[t]--
	} else if (f["type"] == "TYPE_INSTANT") {
		print "instant\t" name "\t" category "\t" now "\t" f[".op_id"]
	} else if (f["type"] == "TYPE_COUNTER") {
		print "counter\t" track_name[t] "\t" pid_of[t] "\t" now "\t" f["counter"]
	} else {
		print "error\tan event of type " f["type"]
	}
	for (i = 1; i <= flows; i++) {
		if (flow_ids[i] in flow_of)
			print "flow\t" flow_of[flow_ids[i]] "\t" name
		flow_of[flow_ids[i]] = name
		flow_begin[flow_ids[i]] = now
	}
}

/^packet \{/ {
	delete f
	notes = flows = last_flows = event = 0
	next
}
/^}/ { packet(); next }
/^  track_event \{/ { event = 1; inside = "event"; next }
/^  interned_data \{/ { inside = "interned"; next }
/^  track_descriptor \{/ { inside = "track"; next }
/^  clock_snapshot \{/ { inside = "clocks"; next }
/^  trace_packet_defaults \{/ { inside = "defaults"; next }
/^  perf_sample \{/ { inside = "sample"; next }
/^  [a-z_]+ \{/ { inside = "other"; next }
/^  }/ { inside = ""; next }
# A field that the schema does not have is a bare number.
/^ *[0-9]+[: ]/ { print "error\tunknown field: " $0; next }
inside == "" { sub(/:/, "", $1); f[$1] = $2; next }
inside == "event" {
	if ($1 == "debug_annotations") { notes++; note_iid[notes] = note_string[notes] = 0; note_value[notes] = ""; part = "note" }
	else if ($1 == "}") part = ""
	else if (part == "note") {
		if ($1 == "name_iid:") note_iid[notes] = $2
		else if ($1 == "name:") note_name[notes] = text($0)
		else if ($1 == "string_value_iid:") note_string[notes] = $2
		else if ($1 == "string_value:") note_value[notes] = text($0)
		else note_value[notes] = $2
	}
	else if ($1 == "type:") f["type"] = $2
	else if ($1 == "name_iid:") f["name_iid"] = $2
	else if ($1 == "name:") f["event_name"] = text($0)
	else if ($1 == "category_iids:") f["category"] = $2
	else if ($1 == "track_uuid:") f["event_track"] = $2
	else if ($1 == "counter_value:") f["counter"] = $2
	else if ($1 == "callstack_iid:") f["callstack"] = $2
	else if ($1 == "flow_ids:") flow_ids[++flows] = $2
	else if ($1 == "terminating_flow_ids:") last_ids[++last_flows] = $2
	next
}
inside == "interned" {
	if ($2 == "{") kind = $1
	else if ($1 == "iid:" && kind == "callstacks" && $2 in stacks) print "error\ttwo callstacks " $2
	else if ($1 == "iid:") iid = $2
	else if ($1 == "frame_ids:") stacks[iid] = stacks[iid] " " $2
	else if ($1 == "function_name_id:") frame_function[iid] = $2
	else if ($1 == "source_path_iid:") frame_source[iid] = $2
	else if ($1 == "line_number:") frame_line[iid] = $2
	else if ($1 != "}" && kind != "frames") {
		if ((kind, iid) in texts)
			print "error\ttwo texts for " kind " " iid
		texts[kind, iid] = text($0)
	}
	next
}
inside == "sample" { sub(/:/, "", $1); f["sample_" ($1 == "callstack_iid" ? "callstack" : $1)] = $2; next }
inside == "track" {
	if ($2 == "{") part = $1
	else if ($1 == "}") part = ""
	else if (part == "process" && $1 == "pid:") f["process_pid"] = $2
	else if (part == "process" && $1 == "process_name:") f["process_name"] = text($0)
	else if (part == "thread" && $1 == "pid:") f["thread_pid"] = $2
	else if (part == "thread" && $1 == "tid:") f["thread_tid"] = $2
	else if (part == "thread" && $1 == "thread_name:") f["thread_name"] = text($0)
	else if ($1 == "uuid:") f["track"] = $2
	else if ($1 == "parent_uuid:") f["parent"] = $2
	else if ($1 == "name:") f["track_name"] = text($0)
	next
}
inside == "clocks" {
	if ($1 == "clock_id:") clock_id = $2
	else if ($1 == "timestamp:" && clock_id == 3) start = $2
	else if ($1 == "timestamp:" && clock_id == 64) last = $2 - start
	next
}
inside == "defaults" {
	if ($1 == "timestamp_clock_id:") f["default_clock"] = $2
	else if ($1 == "track_uuid:") f["default_track"] = $2
	next
}
END {
	delete f
	for (t in depth)
		for (d = depth[t]; d > 0; d--)
			show_slice(t, d, "")
	for (t in track_name)
		print "track\t" pid_of[t] "\t" tid_of[t] "\t" track_name[t]
	for (pid in processes)
		print "process\t" pid "\t" processes[pid]
}
