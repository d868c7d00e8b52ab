# SPDX-License-Identifier: BSD-3-Clause
#
# sweep.gp IN OUT latency|bandwidth - messages of all sizes, from the CSV of sweep.awk.
load ARG0[1:strlen(ARG0)-8]."style.gp"
set output ARG2
set datafile separator comma
set title (ARG3 eq "latency" ? "Latency" : "Bandwidth")." of messages between two ranks"
set xlabel "bytes in a message"
set ylabel ARG3 eq "latency" ? "microseconds one way" : "MB/s"
set xtics ("1" 1, "16" 16, "256" 256, "4 Ki" 4096, "64 Ki" 65536, "1 Mi" 1048576, "16 Mi" 16777216)
set format y "%.10g"
plot ARG1 using 1:3 every ::1 with linespoints title "Open MPI alone", \
     ARG1 using 1:2 every ::1 with linespoints title "ftrma, --log off", \
     ARG1 using 1:4 every ::1 with linespoints title "ftrma, --log all"
