/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lines.c - an MPI program that prints all the time: in setup, in body before, across and after
 * safepoints, after it, after MPI_Finalize and at exit; on both streams, complete lines and
 * beginnings of lines, flushed or not.
 *
 * cli_lines [whole] whole: complete lines only, so that none may be torn
 *
 * Each rank r prints characters of its own (binary numbers of the letters 'a' + 2r and 'b' + 2r,
 * and the digit r at a line's end), so that its output can be told from the others' wherever their
 * lines meet.
 */
#include "ftrma.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12 };
static int rank, size, whole, step;
static MPI_Win win;
static long *cell;

/* Prints number n in rank's own letters, and the end of the line if asked for. */
static void say(FILE *f, unsigned n, int end)
{
    char text[40];
    int k = 0;
    for (int bit = 9; bit >= 0; bit--)
        text[k++] = (char)('a' + 2 * rank + (n >> bit & 1));
    if (end) {
        text[k++] = (char)('0' + rank);
        text[k++] = '\n';
    }
    text[k] = '\0';
    fputs(text, f);
}

static void body(void *arg)
{
    (void)arg;
    while (step < STEPS) {
        unsigned n = 20u * (unsigned)step;
        FTRMA_Safepoint(); /* a body that is called again begins here: nothing is printed before */
        say(stdout, n + 4, 1);
        MPI_Win_fence(0, win);
        long mine = cell[0] + rank + step;
        MPI_Put(&mine, 1, MPI_LONG, (rank + 1) % size, 1, 1, MPI_LONG, win);
        say(stdout, n + 5, whole);
        say(stderr, n + 6, whole);
        MPI_Win_fence(0, win);
        say(stdout, n + 7, 1);
        cell[0] += cell[1];
        for (int i = 0; i < rank * 40 && step == 5; i++) /* ranks' streams differ in length */
            say(i % 2 ? stdout : stderr, 300u + (unsigned)i, 1);
        step++;
        say(stdout, n + 8, 1);
        say(stderr, n + 9, 1);
        say(stdout, n + 10, whole); /* usually still in stdio's buffer when the image is taken */
        if (step % 3 == 1)
            fflush(stdout);
    }
}

static void at_exit(void) { say(stdout, 1002, whole); }

int main(int argc, char **argv)
{
    whole = argc > 1 && strcmp(argv[1], "whole") == 0;
    atexit(at_exit);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < 5; i++) {
        say(stdout, 900 + i, i % 2 || whole);
        say(stderr, 910 + i, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_allocate(2 * sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    cell[0] = cell[1] = 0;
    FTRMA_Protect(&step, sizeof step);
    say(stdout, 950, 1);
    FTRMA_Run(body, NULL);
    say(stdout, 960, whole);
    MPI_Barrier(MPI_COMM_WORLD);
    say(stdout, 961, 1);
    say(stdout, 512 + (unsigned)cell[0] % 512, 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    say(stdout, 1000, 1);
    say(stderr, 1001, 1);
    return 0;
}
