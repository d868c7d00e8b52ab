# SPDX-License-Identifier: BSD-3-Clause
#
# transport.gp IN OUT latency|bandwidth - fetches of all sizes, from the CSV of transport.awk.
load ARG0[1:strlen(ARG0)-12]."style.gp"
set output ARG2
set datafile separator comma
time = ARG3 eq "latency"
set title (time ? "Latency" : "Throughput")." of a block fetched by name, between two processes"
set xlabel "bytes of the block"
set ylabel time ? "microseconds" : "MB/s"
set xtics ("8" 8, "128" 128, "2 Ki" 2048, "32 Ki" 32768, "512 Ki" 524288, "4 Mi" 4194304)
set format y "%.10g"
y(bytes, us) = time ? us : bytes / us
plot ARG1 using 1:(y($1, $5)) every ::1 with linespoints title "MPI, the same buffer", \
     ARG1 using 1:(y($1, $6)) every ::1 with linespoints title "MPI, a fresh buffer", \
     ARG1 using 1:(y($1, $4)) every ::1 with linespoints title "fetch, registering each time", \
     ARG1 using 1:(y($1, $3)) every ::1 with linespoints title "header, put, acknowledgement", \
     ARG1 using 1:(y($1, $2)) every ::1 with linespoints title "fetch, pre-registered"
