# SPDX-License-Identifier: BSD-3-Clause
#
# layering.awk - what layering.sh says of sources, which are its arguments: one pass over all of them.

function words(list, set,    n, i, word) {
    n = split(list, word, " ")
    for (i = 1; i <= n; i++) set[word[i]] = 1
}

function complain(text) {
    print "layering: " text
    bad = 1
}

BEGIN {
    # The rooms that each may include from (its own and base go without saying).
    below["base"] = below["erasure"] = below["topology"] = below["model"] = ""
    below["image"] = below["transport"] = below["save"] = below["wire"] = ""
    below["proto"] = "model" # the clock of checkpoints
    below["gate"] = "wire transport alog rma erasure" # what the processes of a node say goes over the wire
    below["alog"] = "transport" # records lie in arenas
    below["recover"] = "proto alog image erasure topology"
    below["msg"] = "transport alog"
    below["coll"] = "transport alog msg" # nonblocking ones go on in waits, and say so at the log home
    below["rma"] = "transport alog msg coll" # a fence is a barrier, post and complete are messages
    below["runtime"] = "coll rma msg recover model image proto transport alog erasure topology save"
    below["mpi"] = "runtime coll rma msg alog"
    below["ftt"] = "runtime transport proto" # the transport as a library, for programs without MPI, too
    below["launch"] = "model topology transport image save gate wire proto" # a writer of sets reads images in arenas
    below["tools"] = "transport alog model topology" # what logs look like
    public["ftrma.h"] = "mpi"
    public["ftrma_transport.h"] = "ftt"

    # Rooms where time and randomness arrive with the event.
    words("proto recover alog image erasure topology model", pure)
    calls = "time|times|clock|clock_[a-z]*|gettimeofday|ft_now_ns|ft_proc_[a-z_]*"
    calls = calls "|[nu]?sleep|nanosleep|alarm|timer_[a-z]*"
    calls = calls "|pthread_[a-z_]*|thrd_[a-z]*|mtx_[a-z]*|fork|vfork|syscall|ft_wait|ft_wake_[a-z]*"
    calls = calls "|getenv|secure_getenv|setenv|ft_setting_[a-z0-9]*"
    calls = calls "|s?rand|rand_r|s?random|[dlm]rand48|getrandom|getentropy"
    calls = calls "|socket|socketpair|connect|bind|listen|accept|send|sendto|sendmsg"
    calls = calls "|recv|recvfrom|recvmsg|poll|ppoll|select|epoll_[a-z]*"
    calls = calls "|open|openat|fopen|read|write|pread|pwrite|mmap|P?MPI_[A-Za-z_]*"
    forbidden_call = "(^|[^A-Za-z0-9_.>])(" calls ")[ \t]*[(]"
    headers = "time\\.h|pthread\\.h|threads\\.h|unistd\\.h|signal\\.h|fcntl\\.h|poll\\.h|mpi\\.h"
    headers = headers "|sys/(time|socket|epoll|mman|random|syscall)\\.h|base/settings\\.h|base/private\\.h"
    forbidden_header = "#[ \t]*include[ \t]*[<\"](" headers ")[>\"]"

    # File stems that stand for one subject in two rooms: a machine and what carries it out, what a
    # process and what ftrun does about it.
    words("coll demand output rehearse replay save scratch snapshot win", common_stem)
    # Tags that stand for one thing in two places, as one of them takes the other's place.
    words("ft_command", common_tag)
    # Private headers above 120 lines.
    words("src/ftt/endpoint.h", long_header)
}

function end_of_file() {
    if (!skip && header && lines > 120 && !(name in long_header))
        complain(name " has " lines " lines: a private header has at most 120")
}

# Tests may do what they like, with their helpers: test_*.h, mock_*.[ch] and, in src, sim*.h.
function is_test(file) {
    if (file ~ /^sim\//) return 0
    return file ~ /\/(test_[^\/]*\.[ch]|mock_[^\/]*\.[ch]|sim[^\/]*\.h)$/
}

function note(kind, what, where,    key) {
    key = kind " " what
    if ((key, where) in noted) return
    noted[key, where] = 1
    count[key]++
    places[key] = places[key] " " where
}

FNR == 1 {
    end_of_file()
    name = FILENAME
    room = name
    sub(/^src\//, "", room)
    sub(/\/.*/, "", room)
    header = name ~ /\.h$/
    inside = lines = 0
    skip = is_test(name)
    if (room != "sim" && !(room in below)) {
        complain(name ": src/" room " is no room of the house: say in scripts/layering.awk what it may include")
        skip = 1
    }
    if (!skip) {
        stem = name
        sub(/\.[^.]*$/, "", stem)
        base = stem
        sub(/.*\//, "", base)
        if (!(base in common_stem)) note("stem", base, stem)
    }
    # a machine in a room with I/O is one without
    without_io = room in pure || name ~ /^src\/wire\/link\.[ch]$/
}

skip { next }

{ lines++; line = without_comments($0) }

# The line without comments, and with empty strings but for what is included.
function without_comments(line,    out, end, token, rest) {
    out = ""
    while (line != "") {
        if (inside) {
            end = index(line, "*/")
            if (!end) return out
            line = substr(line, end + 2)
            inside = 0
        } else if (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//)) {
            token = substr(line, RSTART, RLENGTH)
            out = out substr(line, 1, RSTART - 1)
            rest = substr(line, RSTART + RLENGTH)
            if (token == "/*") inside = 1
            else if (token == "//") rest = ""
            else out = out (line ~ /^[ \t]*#[ \t]*include/ ? token : "\"\"")
            line = rest
        } else return out line
    }
    return out
}

# A variable of another file is declared in a header, which its definition includes: else the two may
# differ. What no C file of ours defines (the linker's names, Fortran's) has __attribute__.
!header && line ~ /^[ \t]*extern[ \t]/ && line !~ /__attribute__/ {
    complain(name ":" FNR ": an extern belongs in a header: " line)
}

match(line, /^[ \t]*(typedef[ \t]+)?(struct|union|enum)[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]*\{/) {
    tag = substr(line, 1, RSTART + RLENGTH - 2)
    sub(/[ \t]*$/, "", tag)
    sub(/.*[ \t]/, "", tag)
    if (!(tag in common_tag)) note("tag", tag, name) # in one file it may be defined again, in another function
}

room == "sim" { next }

line ~ /^[ \t]*#[ \t]*include[ \t]*"/ {
    inc = line
    sub(/^[^"]*"/, "", inc)
    sub(/".*/, "", inc)
    from = inc
    sub(/\/.*/, "", from)
    allowed = " " room " base " below[room] " "
    test = inc ~ /\/(mock_|sim)/ # a test's helper in what is no test
    if (inc in public ? public[inc] != room : test || inc !~ /\// || !index(allowed, " " from " "))
        complain(name " includes " inc ": " room " may include from:" allowed)
}

room != "mpi" && line ~ /#[ \t]*include[ \t]*[<"]mpi(-ext)?\.h/ {
    complain(name " includes mpi.h, which belongs to src/mpi")
}

without_io && (line ~ forbidden_call || line ~ forbidden_header) {
    complain(name ":" FNR ": rooms without I/O must not know this: " line)
}

# launch is no part of the library: ftrun feeds standard input by a thread of its own
room != "runtime" && room != "launch" && line ~ /(pthread|thrd)_create[ \t]*\(/ {
    complain(name ":" FNR " starts a thread: threads belong to src/runtime")
}

END {
    end_of_file()
    for (key in count)
        if (count[key] > 1) complain("the " key " stands for two things:" places[key])
    exit bad
}
