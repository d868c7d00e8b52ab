/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_cfg.h - configuration, states and facts of a carrier (carrier.h).
 */
#ifndef FT_PROTO_CARRIER_CFG_H
#define FT_PROTO_CARRIER_CFG_H

#include "base/base.h"
#include "proto/broken.h"

/* The same in all processes. It never changes. */
struct ft_carrier_cfg {
    int nranks;
    int parity;      /* number of checksum processes in a group */
    int checkpoints; /* there are checksum processes, and checkpoints are taken */
    int logs;        /* what happens in the run is logged */
    int every;   /* mains stop at each safepoint whose number it divides; 0: the clock decides */
    double mtbf; /* in seconds; the clock uses it */
    int demand, stream;
    int snapshot; /* enum ft_snap_alg; FT_SNAP_VANILLA: snapshots are off */
    int told;     /* the program handles losses itself, and survivors keep their memory */
    int restart;  /* the job restarts from files: all go back to the first checkpoint */
    int broken;   /* enum ft_broken: what the simulator breaks in this carrier */
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

enum {                           /* the bits of `facts` */
       FT_FACT_RUN_OVER = 1,     /* the checkpoint of FTRMA_Run's exit is committed */
       FT_FACT_REFUSED = 2,      /* FTRMA_Run returns without running body; `why` says why */
       FT_FACT_UNPROTECTED = 4,  /* FTRMA_Run is left without a checkpoint at its exit */
       FT_FACT_DONE = 8,         /* MPI_Finalize may return */
       FT_FACT_NO_REPLAY = 16,   /* body was entered without checkpoint and without logs */
       FT_FACT_ENTERED = 32,     /* without checkpoints: all have come to the entry */
       FT_FACT_LEFT = 64,        /* without checkpoints: all have come to body's end */
       FT_FACT_ROLLING = 128,    /* from the decision to roll back until RESUME is carried out */
       FT_FACT_RESTARTING = 256, /* with cfg.restart, until RESUME is carried out */
       FT_FACT_UNDER_WAY = 512,  /* images of the next checkpoint are being taken */
       FT_FACT_HARMED = 1024,    /* there was a failure in this job */
       FT_FACT_TOLD = 2048,      /* ROLLING, where survivors keep their memory (G5) */
       FT_FACT_REPAIRING =
           4096, /* after such a rollback, until main comes to a safepoint of body */
};

#endif
