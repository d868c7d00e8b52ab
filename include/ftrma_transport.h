/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_transport.h - a message transport for programs that handle the loss of a process
 * themselves. A lost rank is carried on by a spare process, which starts the program from its
 * beginning. All other ranks go on where they are and keep their memory. Messages and
 * requests to the lost rank that are still outstanding go to the replacement by themselves, and
 * nothing else does.
 *
 * The model is DHARMA's transport (Wilke et al.). docs/TRANSPORT.md has the semantics as a table.
 *
 * Start the program by `ftrun --recovery program`. It may call MPI, but need not. If it does,
 * MPI_Init comes before FTT_Open. Linking needs nothing but -ldl: the library is found when the
 * program runs.
 *
 * WHAT HOLDS FOR ALL FUNCTIONS
 *  - They return FTT_OK or another enum FTT_Status. A call that fails has done nothing, and has set
 *    none of its results. No call fails because another process has died; the only exceptions are
 *    calls that name memory of a process (FTT_Buffer): FTT_ERR_DEAD if that process was replaced.
 *  - Blocking: only FTT_Open, FTT_Close, FTT_Poll, FTT_Fetch and FTT_Fetch_part wait for others,
 *    and FTT_Put and FTT_Get where the memory is on another node.
 *  - MPI: in those that wait, messages of MPI go on as in calls of MPI, if the thread that calls MPI is
 *    in them, and MPI_THREAD_SERIALIZED was not given.
 *  - Nodes: a program need not know which ranks are on which node. Only costs differ.
 *  - Ownership: what a call is given (messages, names) is the caller's again when it returns,
 *    unless its comment says otherwise.
 *  - Threads: any thread may call any function at any time, but for FTT_Open and FTT_Close ("any"
 *    below). The data of an event belongs to the library and is valid until the next FTT_Poll. So
 *    one thread polls at a time.
 *  - Deaths: ranks never change, and neither does their number. A rank's *incarnation* rises when a
 *    spare takes over. Each loss begins a new *generation*, on which all living processes agree.
 *    Each adopts it at its own time: in FTT_Poll, in a call that waits, or in the helper thread.
 *  - Order: messages between the same two incarnations are delivered in the order in which they
 *    were sent. There is no order between messages of different senders.
 */
#ifndef FTRMA_TRANSPORT_H
#define FTRMA_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum FTT_Status {
    FTT_OK = 0,
    FTT_TIMEOUT,        /* FTT_Poll: nothing came in time */
    FTT_KNOWN,          /* FTT_Ping: the process is known to be dead; its function was called */
    FTT_ERR_NO_LIBRARY, /* the program was not started by ftrun */
    FTT_ERR_LEVEL,      /* FTT_Open: the job was not started with --recovery program */
    FTT_ERR_IN_RUN,     /* FTT_Open: inside of FTRMA_Run */
    FTT_ERR_OPEN,       /* FTT_Open: it is open already, or was open */
    FTT_ERR_ARG,        /* an argument is impossible: a rank, a NULL pointer */
    FTT_ERR_NAME,       /* a name or label is empty, or longer than FTT_NAME_MAX */
    FTT_ERR_LONG,       /* a message is longer than FTT_MESSAGE_MAX */
    FTT_ERR_SIZE,       /* memory is too small, or what is fetched has another size */
    FTT_ERR_HANDLE,     /* no such buffer: it was never made, or was released */
    FTT_ERR_DEAD,       /* the buffer belonged to a process that was replaced */
    FTT_ERR_FULL,       /* too much is outstanding: poll, and call again */
    FTT_ERR_BUSY,       /* the vote before this one, or this label, is not decided yet */
    FTT_ERR_NO_MEMORY,  /* no room */
    FTT_ERR_NOT_FOUND,  /* nothing has this name, or this number */
    FTT_ERR_CLOSED,     /* FTT_EV_ANSWER: the rank that was asked is in FTT_Close */
    FTT_ERR_KERNEL      /* the kernel does not let processes access each other's private memory */
};

#define FTT_NAME_MAX 95         /* bytes of a name or label, without its 0 */
#define FTT_MESSAGE_MAX 16000   /* bytes of a message */
#define FTT_COLLECTIVE_MAX 8000 /* bytes of a collective's result */

enum FTT_Kind {
    FTT_EV_MESSAGE = 1, /* from FTT_Send: rank, id, tag, data */
    FTT_EV_HEADER,      /* from FTT_Send_header: rank, id, tag, data; to be answered */
    FTT_EV_ACK,         /* FTT_Send, FTT_Send_header: delivered; data is the own message */
    FTT_EV_ANSWER,      /* the answer to the own header `id`: rank, data; its tag is the header's;
                         * status FTT_ERR_CLOSED: rank is in FTT_Close, and no longer answers */
    FTT_EV_ANSWERED,    /* FTT_Answer: the answer to header `id` of `rank` was delivered */
    FTT_EV_GONE,        /* FTT_Answer, FTT_Put: its target was lost before it was delivered */
    FTT_EV_PUT,         /* FTT_Put: complete, and the target has its notification */
    FTT_EV_PUT_HERE,    /* somebody's put into the own memory: rank, tag, bytes */
    FTT_EV_GET,         /* FTT_Get: complete */
    FTT_EV_GET_HERE,    /* somebody's get out of the own memory: rank, tag, bytes */
    FTT_EV_FETCHED,     /* FTT_Ifetch: status, bytes */
    FTT_EV_COLLECTIVE,  /* label: status; rank is -1; data is the result, if this rank gets it */
    FTT_EV_VOTED,       /* tag; data: ranks (int32_t) that failed since the vote before */
    FTT_EV_FAILURE      /* rank was replaced: its new incarnation, the new generation */
};

typedef struct FTT_Event {
    enum FTT_Kind kind;
    enum FTT_Status status; /* FTT_OK where nothing else is said */
    int rank;               /* the other rank */
    uint32_t incarnation;   /* of that rank, when the event was made */
    uint32_t generation;
    uint32_t tag;
    uint64_t id;       /* what the call that began it has returned */
    const void *data;  /* `bytes` bytes, aligned to 8, until the next FTT_Poll */
    size_t bytes;
    const char *label; /* COLLECTIVE, until the next FTT_Poll; otherwise NULL */
} FTT_Event;

/* Names memory of one process that others may access. Plain data: send it in messages. A program
 * reads rank, incarnation and bytes, and changes nothing. */
typedef struct FTT_Buffer {
    int32_t rank;
    uint32_t incarnation, index, serial;
    uint64_t bytes;
} FTT_Buffer;

/* A part of published memory: count items of `item` bytes each, the first at `offset`, `stride`
 * bytes from one to the next. */
typedef struct FTT_Part {
    uint64_t offset, item, count, stride;
} FTT_Part;

enum FTT_Flags { FTT_SEND_ACK = 1, FTT_RECEIVE_ACK = 2 };
enum FTT_Type { FTT_INT64 = 1, FTT_DOUBLE };
enum FTT_Op { FTT_SUM = 1, FTT_MIN, FTT_MAX };

/* Called by FTT_Poll, or by FTT_Ping itself. It may call all functions that do not wait. */
typedef void FTT_Death(void *arg, int rank, uint32_t incarnation);

typedef struct FTT_Transport FTT_Transport;

/* The table of the library's functions. Programs call the functions below, which use it. */
struct FTT_Calls {
    int (*close)(FTT_Transport *);
    int (*rank)(FTT_Transport *);
    int (*size)(FTT_Transport *);
    uint32_t (*incarnation)(FTT_Transport *, int);
    uint32_t (*generation)(FTT_Transport *);
    int (*progress)(FTT_Transport *, int);
    int (*send)(FTT_Transport *, int, uint32_t, const void *, size_t, int, uint64_t *);
    int (*send_header)(FTT_Transport *, int, uint32_t, const void *, size_t, int, uint64_t *);
    int (*answer)(FTT_Transport *, const FTT_Event *, const void *, size_t, int);
    int (*poll)(FTT_Transport *, FTT_Event *, int);
    int (*alloc)(FTT_Transport *, size_t, FTT_Buffer *, void **);
    int (*reg)(FTT_Transport *, void *, size_t, FTT_Buffer *);
    int (*release)(FTT_Transport *, const FTT_Buffer *);
    int (*put)(FTT_Transport *, const FTT_Buffer *, size_t, const void *, size_t, uint32_t, int,
               uint64_t *);
    int (*get)(FTT_Transport *, const FTT_Buffer *, size_t, void *, size_t, uint32_t, int,
               uint64_t *);
    int (*ping)(FTT_Transport *, int, uint32_t, FTT_Death *, void *, uint64_t *);
    int (*cancel)(FTT_Transport *, uint64_t);
    int (*vote)(FTT_Transport *, uint32_t);
    int (*collective)(FTT_Transport *, int, const char *, int, int, int, const void *, size_t);
    int (*publish)(FTT_Transport *, const char *, const void *, size_t);
    int (*unpublish)(FTT_Transport *, const char *);
    int (*fetch)(FTT_Transport *, int, const char *, const FTT_Part *, void *, size_t, int,
                 uint64_t *);
    void (*die)(FTT_Transport *);
};
struct FTT_Transport {
    const struct FTT_Calls *calls;
};

#ifdef FTRMA_BUILDING
int FTT_Open(FTT_Transport **out);
#else
#include <dlfcn.h>

/* Opens this process's one endpoint. Without MPI it is what MPI_Init is: all processes of the job
 * call it, and a process that carries no rank does not return from it (it ends when the job does),
 * until it replaces a lost one.
 * In a program that calls FTRMA_Run: before it or after it. In body it is refused, as a replacement
 * does not always enter body again.
 * Blocking: without MPI until all processes have come; a spare, until it is needed.
 * Ownership: *out is the library's, and stays valid until the process ends.
 * Threads: one, before any other function; with MPI, the thread that calls MPI.
 * Deaths: if a rank dies before or in FTT_Open, its replacement comes here instead. What was lost
 * before FTT_Open returned is no FTT_EV_FAILURE: FTT_Incarnation and FTT_Generation count it.
 * Returns FTT_OK or NO_LIBRARY, LEVEL, IN_RUN, OPEN, NO_MEMORY. */
static inline int FTT_Open(FTT_Transport **out)
{
    int (*fn)(FTT_Transport **);
    *(void **)(void *)&fn = dlsym((void *)0, "FTT_Open"); /* RTLD_DEFAULT */
    return fn ? fn(out) : (int)FTT_ERR_NO_LIBRARY;
}
#endif

/* Left by agreement: when all ranks are here, and nothing of this process is outstanding. Until
 * then this process answers others. Without MPI the job is then over, as after MPI_Finalize, and
 * losses are no longer repaired. With MPI, published memory is answered until MPI_Finalize.
 * A header that was polled must have been answered before: else its sender waits for ever.
 * Meanwhile headers for this process are answered with FTT_ERR_CLOSED: the replacement of a process
 * that is lost here repeats its work alone, from what the others publish. The helper thread works
 * from here on, whatever FTT_Progress has said.
 * Blocking: until all ranks have come. Drops events that were not polled.
 * Ownership: memory of FTT_Alloc and *t stay valid; events are the library's again.
 * Threads: one, while no other thread is in any function of this endpoint, nor calls one later.
 * Deaths: waits until the replacement has come here, too. Returns FTT_OK. */
static inline int FTT_Close(FTT_Transport *t) { return t->calls->close(t); }

/* The own rank, and the number of ranks. Blocking: no. Ownership: nothing. Threads: any. Deaths:
 * neither ever changes. */
static inline int FTT_Rank(FTT_Transport *t) { return t->calls->rank(t); }
static inline int FTT_Size(FTT_Transport *t) { return t->calls->size(t); }

/* How often rank r was replaced, and how many losses were agreed upon, as far as this process has
 * adopted it. 0xffffffff: there is no such rank. Blocking: no. Ownership: nothing. Threads: any.
 * Deaths: both rise, but a process's own incarnation never changes. */
static inline uint32_t FTT_Incarnation(FTT_Transport *t, int r)
{
    return t->calls->incarnation(t, r);
}
static inline uint32_t FTT_Generation(FTT_Transport *t) { return t->calls->generation(t); }

/* Whether the helper thread works while no thread is in a call that waits (1 at first). It answers
 * fetches, takes part in votes and collectives that this rank has begun, and keeps arrived messages
 * for FTT_Poll. Without it a process that computes holds up all who wait for it. FTT_Close switches
 * it on.
 * Blocking: no. Ownership: nothing. Threads: any; it is of the endpoint, not of the thread.
 * Deaths: with it this process adopts a new generation also while it computes. Returns FTT_OK. */
static inline int FTT_Progress(FTT_Transport *t, int on) { return t->calls->progress(t, on); }

/* Sends a message. tag: any number. ack: FTT_EV_ACK tells when it was delivered, with the message
 * as its data. *id: a number for it, unique in this process; may be NULL.
 * Blocking: no. Ownership: msg is the caller's again on return. Threads: any.
 * Deaths: a message that dst had not acknowledged goes to its replacement, with the same id: dst
 * may have polled it. After the acknowledgement it is never sent again. One that dst's process has
 * taken, but its program has not polled, is lost with it.
 * Returns FTT_OK or ARG, LONG, FULL. */
static inline int FTT_Send(FTT_Transport *t, int dst, uint32_t tag, const void *msg, size_t bytes,
                           int ack, uint64_t *id)
{
    return t->calls->send(t, dst, tag, msg, bytes, ack, id);
}

/* The same for a message that asks for an answer. It is outstanding until FTT_EV_ANSWER.
 * Blocking: no. Ownership: msg is the caller's again on return; the library keeps a copy until the
 * answer. Threads: any.
 * Deaths: goes to each replacement of dst by itself, acknowledged or not, until it is answered. It
 * is acknowledged once, and answered once.
 * Returns FTT_OK or ARG, LONG, FULL. */
static inline int FTT_Send_header(FTT_Transport *t, int dst, uint32_t tag, const void *msg,
                                  size_t bytes, int ack, uint64_t *id)
{
    return t->calls->send_header(t, dst, tag, msg, bytes, ack, id);
}

/* Answers an FTT_EV_HEADER, once; only rank, incarnation and id of *header are looked at, so it may
 * be a copy, and the answer may come at any later time. ack: FTT_EV_ANSWERED or FTT_EV_GONE is told.
 * Blocking: no. Ownership: header and data are the caller's again on return. Threads: any.
 * Deaths: if the asker was lost, the answer goes nowhere: its replacement asks again.
 * Returns FTT_OK or ARG, LONG, FULL, DEAD (the asker was replaced). */
static inline int FTT_Answer(FTT_Transport *t, const FTT_Event *header, const void *data,
                             size_t bytes, int ack)
{
    return t->calls->answer(t, header, data, bytes, ack);
}

/* The next event. timeout: milliseconds; 0: only looks; negative: for ever. Calls functions of
 * FTT_Ping that are due.
 * Blocking: at most for `timeout`. Ownership: event->data and label are the library's, and valid
 * until the next FTT_Poll. Threads: one at a time.
 * Deaths: FTT_EV_FAILURE for each rank that was replaced, before any
 * event of the replacement.
 * Returns FTT_OK, FTT_TIMEOUT or FTT_ERR_ARG. */
static inline int FTT_Poll(FTT_Transport *t, FTT_Event *event, int timeout)
{
    return t->calls->poll(t, event, timeout);
}

/* Makes new public memory: others of this node can access it, at no cost. *buffer is its handle,
 * *addr its address, aligned to 64.
 * Blocking: no. Ownership: it is the caller's until FTT_Release. Threads: any.
 * Deaths: it is lost with this process, and handles to it are refused from then on.
 * Returns FTT_OK or ARG, NO_MEMORY. */
static inline int FTT_Alloc(FTT_Transport *t, size_t bytes, FTT_Buffer *buffer, void **addr)
{
    return t->calls->alloc(t, bytes, buffer, addr);
}

/* Makes the program's own memory public. Each access of others enters the kernel, but for memory of
 * FTT_Alloc, of which a part may have a handle of its own.
 * Blocking: no. Ownership: it stays the program's, and must not be freed before FTT_Release.
 * Threads: any.
 * Deaths: as FTT_Alloc. Returns FTT_OK or ARG, NO_MEMORY, KERNEL. */
static inline int FTT_Register(FTT_Transport *t, void *addr, size_t bytes, FTT_Buffer *buffer)
{
    return t->calls->reg(t, addr, bytes, buffer);
}

/* Takes back FTT_Alloc or FTT_Register of this process. The program has made sure that nobody
 * accesses it any more, and that no fetch into it is outstanding.
 * Blocking: no. Ownership: memory of FTT_Alloc is the library's again, that of FTT_Register the
 * program's. Threads: any.
 * Deaths: a handle of a process that was lost is not this process's. Returns FTT_OK or HANDLE. */
static inline int FTT_Release(FTT_Transport *t, const FTT_Buffer *buffer)
{
    return t->calls->release(t, buffer);
}

/* Copies `bytes` bytes to others' public memory, or from it. The copy is complete on return.
 * Blocking: if the memory is on another node, until its owner has copied (its helper thread does).
 * Ownership: `from` and `to` of the own memory are the caller's again on return. Threads: any; two
 * copies of the same bytes at once leave some of each.
 * flags:
 * FTT_SEND_ACK: FTT_EV_PUT or FTT_EV_GET here; FTT_RECEIVE_ACK: FTT_EV_PUT_HERE or FTT_EV_GET_HERE
 * at the owner, with tag. *id: of the send acknowledgement; may be NULL.
 * Deaths: if the owner is lost before it was notified, there is no FTT_EV_PUT: FTT_EV_GONE tells
 * it, when its replacement is known. If this process is lost inside, the owner may have a part of
 * the data, and no notification. FTT_ERR_DEAD: the owner was lost, also meanwhile.
 * Returns FTT_OK or ARG, SIZE (it does not fit), HANDLE, DEAD, FULL, KERNEL. */
static inline int FTT_Put(FTT_Transport *t, const FTT_Buffer *to, size_t offset, const void *from,
                          size_t bytes, uint32_t tag, int flags, uint64_t *id)
{
    return t->calls->put(t, to, offset, from, bytes, tag, flags, id);
}
static inline int FTT_Get(FTT_Transport *t, const FTT_Buffer *from, size_t offset, void *to,
                          size_t bytes, uint32_t tag, int flags, uint64_t *id)
{
    return t->calls->get(t, from, offset, to, bytes, tag, flags, id);
}

/* Calls fn(arg, rank, incarnation) once, from FTT_Poll, when it is known that this incarnation of
 * rank is dead: when its death was detected, which may be before FTT_EV_FAILURE. If that is known
 * already, calls it at once and returns FTT_KNOWN. *ping is for FTT_Cancel; may be NULL.
 * Blocking: no. Ownership: arg is fn's, until fn was called or the ping is canceled. Threads: any;
 * fn runs in the thread that polls, or, at once, in this one.
 * Deaths: fn is never called for a living process. Returns FTT_OK, FTT_KNOWN or ARG. */
static inline int FTT_Ping(FTT_Transport *t, int rank, uint32_t incarnation, FTT_Death *fn,
                           void *arg, uint64_t *ping)
{
    return t->calls->ping(t, rank, incarnation, fn, arg, ping);
}
/* fn of this ping will not be called. Blocking: no. Ownership: arg is the caller's again. Threads:
 * any. Deaths: a ping that is canceled is told nothing. Returns FTT_OK, or NOT_FOUND: it was called,
 * or is being called, or was canceled. */
static inline int FTT_Cancel(FTT_Transport *t, uint64_t ping) { return t->calls->cancel(t, ping); }

/* Votes on who has failed since the vote before. All ranks vote with the same tag, and tags rise.
 * FTT_EV_VOTED comes when all have voted that were alive at the vote before and are alive still, or
 * all ranks if none of those is; all get the same set.
 * Blocking: no. Ownership: nothing. Threads: any, one vote at a time.
 * Deaths: a rank that dies before the vote is decided belongs to its set, and is not waited for; one
 * that dies later belongs to the set of the next vote. A replacement is a member from the next vote
 * on; if it votes with a tag that is decided already, it is told the newest result (look at the
 * event's tag). While a loss is new, a vote may wait until the replacement has come to FTT_Open.
 * Returns FTT_OK, ARG (tag is 0) or BUSY (the own vote before is not decided). */
static inline int FTT_Vote(FTT_Transport *t, uint32_t tag) { return t->calls->vote(t, tag); }

/* Collectives of all ranks, on small data. Each has a label that names it: all ranks call it with
 * the same label, which is used for nothing else. FTT_EV_COLLECTIVE tells the end, with the label.
 * The result is computed in the order of ranks in a fixed tree: the same bits each time.
 * Blocking: no. Ownership: label and data are the caller's again on return. Threads: any.
 * Deaths: if a rank is lost before it is complete, it ends with status FTT_ERR_DEAD for all who
 * have called it, unless anybody alive has the result: then all get that. After FTT_ERR_DEAD the
 * same label may be called again. A replacement that calls one of the last 64 labels that the others
 * have completed is told its result.
 * Return FTT_OK or ARG, NAME, LONG, BUSY (this label is under way), FULL (16 are under way here, the
 * vote included). */
static inline int FTT_Barrier(FTT_Transport *t, const char *label)
{
    return t->calls->collective(t, 0, label, 0, 0, 0, NULL, 0);
}
/* All get root's data. Blocking, ownership, threads and deaths: as FTT_Barrier. */
static inline int FTT_Broadcast(FTT_Transport *t, const char *label, int root, const void *data,
                                size_t bytes)
{
    return t->calls->collective(t, 1, label, root, 0, 0, data, bytes);
}
/* count numbers of each rank; root alone gets the result, or all.
 * Blocking, ownership, threads and deaths: as FTT_Barrier. */
static inline int FTT_Reduce(FTT_Transport *t, const char *label, int root, enum FTT_Op op,
                             enum FTT_Type type, const void *data, size_t count)
{
    return t->calls->collective(t, 2, label, root, (int)op, (int)type, data, count * 8);
}
static inline int FTT_Allreduce(FTT_Transport *t, const char *label, enum FTT_Op op,
                                enum FTT_Type type, const void *data, size_t count)
{
    return t->calls->collective(t, 3, label, 0, (int)op, (int)type, data, count * 8);
}
/* root gets the data of all ranks one after the other; all give the same number of bytes.
 * Blocking, ownership, threads and deaths: as FTT_Barrier. */
static inline int FTT_Gather(FTT_Transport *t, const char *label, int root, const void *data,
                             size_t bytes)
{
    return t->calls->collective(t, 4, label, root, 0, 0, data, bytes);
}

/* Puts memory into this rank's table of names. Any memory; it need not be public. A name that is
 * there is replaced. Fetches that wait for it are answered now.
 * Blocking: no. Ownership: the memory is the program's, and must stay as it is until FTT_Unpublish:
 * a fetch copies it at any time. The name is the caller's again on return. Threads: any.
 * Deaths: the table is lost with this process; the
 * replacement publishes by itself. Returns FTT_OK or ARG, NAME, NO_MEMORY. */
static inline int FTT_Publish(FTT_Transport *t, const char *name, const void *addr, size_t bytes)
{
    return t->calls->publish(t, name, addr, bytes);
}
/* When it returns no fetch that copies the memory counts any more. Later fetches wait until the name
 * is published again.
 * Blocking: no. Ownership: the memory may change or be freed. Threads: any.
 * Deaths: whoever copies when this process dies has the old data, or asks the replacement.
 * Returns FTT_OK or NAME, NOT_FOUND. */
static inline int FTT_Unpublish(FTT_Transport *t, const char *name)
{
    return t->calls->unpublish(t, name);
}

/* Copies what rank has published under this name into buf. What is published in memory of FTT_Alloc
 * is copied by this process alone, at the cost of a memcpy, and the publisher need not do anything.
 * Other memory is copied by the publisher: directly if buf is memory of FTT_Alloc, else twice. From
 * another node the publisher sends all in messages.
 * Blocking: until it is published and here. FTT_Ifetch does not wait: FTT_EV_FETCHED tells the end.
 * Ownership: buf belongs to the library until then, or until return. *id may be NULL. Threads: any.
 * Deaths: if the publisher is lost, the request goes to its replacement and waits there.
 * Return FTT_OK or ARG, NAME, FULL, NO_MEMORY; SIZE (FTT_Ifetch: in the event): what is published
 * has another size, or the part is not within it; buf is undefined then, and the event has its
 * size. */
static inline int FTT_Fetch(FTT_Transport *t, int rank, const char *name, void *buf, size_t bytes)
{
    return t->calls->fetch(t, rank, name, NULL, buf, bytes, 1, NULL);
}
static inline int FTT_Ifetch(FTT_Transport *t, int rank, const char *name, void *buf, size_t bytes,
                             uint64_t *id)
{
    return t->calls->fetch(t, rank, name, NULL, buf, bytes, 0, id);
}
/* The same for a part of it: buf gets part->count * part->item bytes, without gaps.
 * Blocking, ownership, threads and deaths: as FTT_Fetch. */
static inline int FTT_Fetch_part(FTT_Transport *t, int rank, const char *name, const FTT_Part *part,
                                 void *buf, size_t bytes)
{
    return t->calls->fetch(t, rank, name, part, buf, bytes, 1, NULL);
}
static inline int FTT_Ifetch_part(FTT_Transport *t, int rank, const char *name,
                                  const FTT_Part *part, void *buf, size_t bytes, uint64_t *id)
{
    return t->calls->fetch(t, rank, name, part, buf, bytes, 0, id);
}

/* This process ends as if it were killed (SIGKILL). For tests. Blocking: it does not return.
 * Ownership: its memory is lost. Threads: any; all of them end. Deaths: it is replaced. */
static inline void FTT_Die(FTT_Transport *t) { t->calls->die(t); }

/* A status in words. Blocking: no. Ownership: a constant string. Threads: any. Deaths: nothing. */
static inline const char *FTT_Status_text(int status)
{
    switch (status) {
    case FTT_OK: return "success";
    case FTT_TIMEOUT: return "nothing came in time";
    case FTT_KNOWN: return "the process is known to be dead";
    case FTT_ERR_NO_LIBRARY: return "the program was not started by ftrun";
    case FTT_ERR_LEVEL: return "the job was not started by ftrun --recovery program";
    case FTT_ERR_IN_RUN: return "a transport is opened before FTRMA_Run, not in its body";
    case FTT_ERR_OPEN: return "the transport is open already, or MPI was finalized";
    case FTT_ERR_ARG: return "an argument is impossible";
    case FTT_ERR_NAME: return "a name is empty or too long";
    case FTT_ERR_LONG: return "a message is too long";
    case FTT_ERR_SIZE: return "the sizes differ";
    case FTT_ERR_HANDLE: return "there is no such buffer";
    case FTT_ERR_DEAD: return "the process was replaced";
    case FTT_ERR_FULL: return "too much is outstanding";
    case FTT_ERR_BUSY: return "it is under way already";
    case FTT_ERR_NO_MEMORY: return "there is no room";
    case FTT_ERR_NOT_FOUND: return "there is nothing of this name";
    case FTT_ERR_CLOSED: return "the other process is in FTT_Close";
    case FTT_ERR_KERNEL: return "the kernel does not allow access to other processes' memory";
    default: return "an unknown status";
    }
}

#ifdef __cplusplus
}
#endif
#endif /* FTRMA_TRANSPORT_H */
