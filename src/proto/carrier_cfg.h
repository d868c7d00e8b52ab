/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_cfg.h - what the carriers of a job have in common, and what is true of one (carrier.h).
 */
#ifndef FT_PROTO_CARRIER_CFG_H
#define FT_PROTO_CARRIER_CFG_H

#include "base/base.h"
#include "proto/broken.h"

/* The same in all processes, but for self. Never changes. */
struct ft_carrier_cfg {
    int nranks;
    int parity;      /* checksum processes of a group */
    int checkpoints; /* there are checksum processes, and checkpoints are taken */
    int logs;        /* the run is logged */
    int every;       /* mains stop at each multiple of it; 0: by the clock */
    double mtbf;     /* seconds, for the clock */
    int demand, stream;
    int snapshot; /* enum ft_snap_alg; FT_SNAP_VANILLA: there are none */
    int told;     /* the program handles losses: survivors keep their memory */
    int restart;  /* the job goes on from files: all go back to the first checkpoint */
    int broken;   /* the simulator breaks one thing: enum ft_broken */
};

enum ft_carrier_state {
    FT_CS_SPARE = 0,
    FT_CS_SERVING,
    FT_CS_ASSIGNED,
    FT_CS_SETUP,
    FT_CS_ENTRY,
    FT_CS_RETURN,
    FT_CS_BODY,
    FT_CS_HELD,
    FT_CS_OVER,
    FT_CS_PARKING,
    FT_CS_PARKED,
    FT_CS_RESTORED,
    FT_CS_AFTER,
    FT_CS_FINALIZE,
    FT_CS_GONE,
    FT_CARRIER_STATES
};
const char *ft_carrier_state_name(enum ft_carrier_state s);

enum {                           /* facts */
       FT_FACT_RUN_OVER = 1,     /* the exit's checkpoint is committed */
       FT_FACT_REFUSED = 2,      /* FTRMA_Run runs nothing: `why` */
       FT_FACT_UNPROTECTED = 4,  /* FTRMA_Run is left without the exit's checkpoint */
       FT_FACT_DONE = 8,         /* MPI_Finalize may be left */
       FT_FACT_NO_REPLAY = 16,   /* body was entered with neither checkpoint nor logs */
       FT_FACT_ENTERED = 32,     /* no checkpoints: all have come to the entry */
       FT_FACT_LEFT = 64,        /* no checkpoints: all have come to body's end */
       FT_FACT_ROLLING = 128,    /* a rollback was decided, and RESUME is not yet carried out */
       FT_FACT_RESTARTING = 256, /* cfg.restart, and RESUME is not yet carried out */
       FT_FACT_UNDER_WAY = 512,  /* images of the next checkpoint are being taken */
       FT_FACT_HARMED = 1024,    /* there was a failure */
       FT_FACT_TOLD = 2048,      /* ROLLING, and survivors keep their memory (G5) */
       FT_FACT_REPAIRING = 4096, /* ... after it, until main comes to a safepoint of body */
};

#endif
