/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap.h: a program asks the daemon of its host where the vertices of a job are, or works on them.
 *
 * One handle is one connection to the local lbmapd; it is about one job. Calls block until the daemon has
 * answered or the timeout is over. A handle may be used by one thread at a time; different handles are
 * independent. The library keeps no global state, prints nothing and reads no environment.
 *
 *     struct lbmap *map;
 *     struct lbmap_vertex *mine;
 *     size_t n;
 *     if (lbmap_open(NULL, &map) == LBMAP_OK) {
 *         if (lbmap_attach(map, "airfoil") == LBMAP_OK && lbmap_owned(map, &mine, &n) == LBMAP_OK) {
 *             ... vertices mine[0 .. n-1] belong to this host ...
 *             free(mine);
 *         }
 *         lbmap_close(map);
 *     }
 *
 * Vertices are 32-bit ids from 0, as in the graph that was submitted; programs may add others. Hosts are
 * 32-bit ids as in the daemons' configuration. A token is a number that grows whenever a vertex changes
 * hands: whoever stores results of a vertex can reject a writer with a lower token than it has seen, since
 * that one is no longer the owner. Ownership may change right after a call returned.
 *
 * To work on vertices, serve the job: the daemon then gives vertices to the program and asks for them back.
 *
 *     lbmap_serve(map, &callbacks);
 *     while (going_on) {
 *         if (lbmap_dispatch(map, 0) != LBMAP_OK)      // calls acquire, release, revoked
 *             break;
 *         for (each vertex that was acquired)
 *             if (lbmap_lease_valid(map) == LBMAP_WORK)
 *                 ... a step of at most 2 s ...
 *     }
 *
 * A program that checks before every step is the only one in the cluster that works on the vertex, through
 * crashes of daemons, machines and links, if clocks are right within 1 %. It goes on while its daemon is
 * restarted. After a loss somebody else goes on from the payload that was last checkpointed or released. */
#ifndef LBMAP_H
#define LBMAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors are values; LBMAP_OK is 0. Texts: lbmap_strerror, and lbmap_message for the particular case. */
enum lbmap_error {
    LBMAP_OK = 0,
    LBMAP_E_NOMEM = 1,        /* out of memory */
    LBMAP_E_RANGE = 2,        /* an argument is out of range: an unknown vertex, a path that is too long */
    LBMAP_E_SYNTAX = 3,       /* the daemon sent something that is no answer */
    LBMAP_E_LIMIT = 4,        /* a limit of the daemon is exceeded */
    LBMAP_E_IO = 5,           /* the connection failed */
    LBMAP_E_EXISTS = 6,       /* already exists */
    LBMAP_E_NOTFOUND = 7,     /* no such job */
    LBMAP_E_STATE = 8,        /* not possible now: no job is attached, or the connection is lost */
    LBMAP_E_CORRUPT = 9,      /* stored data is damaged */
    LBMAP_E_VERSION = 10,     /* the daemon speaks another version */
    LBMAP_E_DENIED = 11,      /* permission denied */
    LBMAP_E_UNSUPPORTED = 12, /* not supported */
    LBMAP_E_UNREACHABLE = 13, /* no daemon listens on the socket, or a host that is asked does not answer */
    LBMAP_E_TIMEOUT = 14,     /* no answer within the timeout */
    LBMAP_E_BUSY = 15         /* try again later */
};

struct lbmap; /* opaque */

/* A vertex that this host owns, and the token of this ownership. */
struct lbmap_vertex {
    uint32_t id;
    uint64_t token;
};

#define LBMAP_NOWHERE UINT32_MAX /* lbmap_locate: no host that answered owns the vertex at the moment */

/* Version of the library, "0.1.0". */
const char *lbmap_version(void);

/* What an error means in general. Never NULL. */
const char *lbmap_strerror(enum lbmap_error error);

/* Connect to the daemon of this host.
 * In:      socket_path of the daemon's control socket; NULL: the place where lbmap was configured to have it.
 * Out:     *map owned by the caller: lbmap_close.
 * Errors:  LBMAP_E_UNREACHABLE, LBMAP_E_DENIED, LBMAP_E_RANGE (path too long), LBMAP_E_TIMEOUT,
 *          LBMAP_E_SYNTAX, LBMAP_E_NOMEM; *map is untouched. */
enum lbmap_error lbmap_open(const char *socket_path, struct lbmap **map);

/* Close the connection and free the handle. NULL is allowed. */
void lbmap_close(struct lbmap *map);

/* What went wrong in the last call on this handle that failed, for people; "" if none has. Valid until the
 * next call. */
const char *lbmap_message(const struct lbmap *map);

/* How long a call may take, milliseconds, 1 or more; 30,000 at first. After LBMAP_E_TIMEOUT, and after any
 * other failure of the connection, all calls fail with LBMAP_E_STATE: close the handle and open another. Not
 * so while a job is served: lbmap_dispatch looks for the daemon, and until it is found other calls fail with
 * LBMAP_E_BUSY. */
enum lbmap_error lbmap_set_timeout(struct lbmap *map, unsigned timeout_ms);

/* Choose the job that the following calls are about; another one may be attached later.
 * Errors:  LBMAP_E_NOTFOUND no job of that name, LBMAP_E_RANGE no possible name, LBMAP_E_STATE a job is being
 *          served; the job attached before stays. */
enum lbmap_error lbmap_attach(struct lbmap *map, const char *job);

/* Id of the host whose daemon this is. */
uint32_t lbmap_host(const struct lbmap *map);

/* Number of vertices of the attached job as it was submitted, 0 if none is: their ids are 0 .. vertices - 1.
 * Those that were added later have higher ones. */
uint32_t lbmap_vertices(const struct lbmap *map);

/* The vertices that this host owns now, by id; no other host is asked. A vertex that is being handed over
 * belongs to neither host for a moment.
 * Out:     *vertices [*n], owned by the caller (free), not NULL even if *n is 0.
 * Errors:  LBMAP_E_STATE no job is attached, LBMAP_E_NOTFOUND it is gone by now; outputs untouched. */
enum lbmap_error lbmap_owned(struct lbmap *map, struct lbmap_vertex **vertices, size_t *n);

/* Where vertices are: host[i] is the owner of vertex[i], or LBMAP_NOWHERE.
 * In:      vertex [n] ids, in any order, repetitions allowed.
 * Out:     host [n]; token [n], or NULL if tokens are not wanted; 0 for LBMAP_NOWHERE.
 * Errors:  LBMAP_E_STATE no job is attached, LBMAP_E_RANGE a vertex is not of this job, LBMAP_E_NOTFOUND the
 *          job is gone by now; outputs untouched. */
enum lbmap_error lbmap_locate(struct lbmap *map, const uint32_t *vertex, size_t n, uint32_t *host,
                              uint64_t *token);

/* ---- working on vertices ------------------------------------------------------------------------------ */

#define LBMAP_PAYLOAD_MAX 67108864 /* bytes of a payload; LBMAP_MAIL_MAX less if the program has `deliver`   \
                                    */
#define LBMAP_CHANGE_PAYLOAD_MAX                                                                             \
    262144 /* of one in a change of the guest (lbmap_change): checkpoint longer ones */

/* What the program keeps of a vertex, for whoever works on it next. Any bytes. */
struct lbmap_payload {
    const void *bytes; /* NULL, of release: it stays as it was */
    size_t len;
};

/* An edge of a vertex, as its owner has it. */
struct lbmap_edge {
    uint32_t other;  /* the vertex at the other end */
    uint32_t weight; /* bandwidth, in the units of the graph's edge weights */
    uint32_t host;   /* that has the other end, as the daemon last heard: a hint; LBMAP_NOWHERE: not known */
};

/* A program that serves the job at another host. */
struct lbmap_peer {
    uint32_t host;
    int finished;        /* nonzero: it, or its daemon, has said that the job is done (lbmap_finish) */
    const char *name;    /* of the host; "" if it is not known */
    const char *address; /* of the host's daemon, "host:port"; "" if it is not known */
    const void *note;    /* what it has published */
    size_t note_len;
};

/* Called by lbmap_dispatch alone. They must not call functions with this handle, but lbmap_lease_valid, and
 * lbmap_send in `deliver`. */
struct lbmap_callbacks {
    size_t size; /* sizeof(struct lbmap_callbacks): callbacks that the program does not know are not called */
    void *context; /* passed on */

    /* The program may work on the vertex from now on. payload: of whoever had it before, valid during the
     * call; len 0 if there is none. */
    void (*acquire)(void *context, uint32_t vertex, uint64_t token, const struct lbmap_payload *payload);

    /* The vertex moves to another host: stop working on it, and say in *payload what the next one shall have.
     * It comes with bytes NULL: that leaves what was checkpointed last. The bytes are the program's and must
     * stay until lbmap_dispatch returns. If the lease ends before the daemon has read them, because it stands
     * still, or it dies before it has kept them, or if they are more than LBMAP_PAYLOAD_MAX, the vertex goes
     * on with the payload of its last checkpoint. */
    void (*release)(void *context, uint32_t vertex, uint64_t token, struct lbmap_payload *payload);

    /* The vertex is lost: the lease was over, or the job is cancelled. What was done since the last
     * checkpoint will be done again by others. It may be acquired again, with the payload of that checkpoint.
     */
    void (*revoked)(void *context, uint32_t vertex, uint64_t token);

    /* These are the edges of a vertex that the program holds, all n of them, in any order, valid during the
     * call. Called right after acquire, and by a later lbmap_dispatch whenever they have changed: by the
     * program itself, by others that changed edges to their own vertices or took those away, or by
     * lbmap_follow_counts, here or there. Several changes may be told by one call, and a call may find
     * nothing new. What was told last holds, but others may change it again at any time. NULL: edges are not
     * told. */
    void (*edges)(void *context, uint32_t vertex, uint64_t token, const struct lbmap_edge *edges, size_t n);

    /* Another program serves the job at that host, or has published something else: valid during the call.
     * One that begins again within seconds of its end may not be told of by peer_down, and is told of here only
     * if its note is another one. Called only after lbmap_publish. May be NULL, as the next two. */
    void (*peer_up)(void *context, const struct lbmap_peer *peer);

    /* It has ended, or its host does not answer; or the daemon was away, and has not told of it since, for as
     * long as a call may take (lbmap_set_timeout). It may be up again at any time. */
    void (*peer_down)(void *context, uint32_t host);

    /* A program at that host has posted n bytes, valid during the call (lbmap_post). */
    void (*message)(void *context, uint32_t host, const void *bytes, size_t n);

    /* A message to a vertex that the program holds (lbmap_send), from another vertex or itself: bytes [n],
     * valid during the call, aligned for any type. What it changes belongs into the vertex's next payload.
     * Give it in all programs of a job, or in none. This callback may call lbmap_send. */
    void (*deliver)(void *context, uint32_t to, uint32_t from, uint32_t tag, const void *bytes, size_t n);

    /* Nonzero: a message is sent once a payload is kept that its sender had after it: see lbmap_send. */
    int send_kept;

    /* The vertex at the other end of an edge of a vertex that the program holds is at that host now; `edges`
     * told another one. Called soon after it has moved, as the daemon hears of it, or when it is next told of
     * edges. */
    void (*vertex_moved)(void *context, uint32_t vertex, uint32_t host);
};

/* Begin to serve the attached job, for as long as the handle lives. One program on a host serves a job.
 * Errors:  LBMAP_E_STATE no job is attached, or it is served already; LBMAP_E_RANGE acquire, release or
 *          revoked is missing, or `size` is none;
 *          LBMAP_E_DENIED the job is another user's;
 *          LBMAP_E_BUSY another program of this host serves it; LBMAP_E_NOTFOUND it is gone; LBMAP_E_IO the
 *          daemon's lease page cannot be read. */
enum lbmap_error lbmap_serve(struct lbmap *map, const struct lbmap_callbacks *callbacks);

/* Wait up to timeout_ms for what the daemon has to say (0: only take what is there), and call the callbacks.
 * While the daemon is away this is no error: it is looked for again whenever this is called.
 * Errors:  LBMAP_E_NOTFOUND the job is cancelled: everything was revoked, and nothing is served any more;
 *          LBMAP_E_RANGE a callback released a payload that is too long, which is not kept: dispatch on;
 *          LBMAP_E_LIMIT a vertex has messages of LBMAP_PARTNERS_MAX others, and that of yet another one
 * waits at its sender: dispatch on; LBMAP_E_VERSION, LBMAP_E_CORRUPT a payload of more than 256 KiB could not
 * be read, or kept: dispatch on; LBMAP_E_STATE nothing is served; LBMAP_E_NOMEM. */
enum lbmap_error lbmap_dispatch(struct lbmap *map, unsigned timeout_ms);

/* For event loops: dispatch when this descriptor has what lbmap_events says, and every 100 ms besides: a
 * lease may end, and a daemon come back, without a sign. The descriptor changes with the connection; -1:
 * none. */
int lbmap_fd(const struct lbmap *map);

#define LBMAP_READ 1  /* readable */
#define LBMAP_WRITE 2 /* writable */

/* LBMAP_READ; LBMAP_WRITE as well while a checkpoint of lbmap_checkpoint_start has something to send; 0
 * without a descriptor. */
int lbmap_events(const struct lbmap *map);

/* May the program work? Looks at a page of memory and a clock, every 20 ms at the connection too: some 10 ns,
 * and no system call as a rule, so it is cheap enough before every step. */
enum lbmap_lease {
    LBMAP_WORK = 0, /* yes, a step of at most 2 s */
    LBMAP_STOP = 1, /* start no step now; it may go on again soon */
    LBMAP_LOST = 2  /* no: what was acquired is lost; the next lbmap_dispatch revokes it */
};

enum lbmap_lease lbmap_lease_valid(struct lbmap *map);

/* What the program has of a vertex that it holds. */
struct lbmap_state {
    uint32_t vertex;
    uint64_t token;
    struct lbmap_payload payload;
};

/* Keep payloads: they survive the loss of this host once this has returned. Those of more than 256 KiB travel
 * in pieces, and this takes as long as that needs: up to 2 ms more than the usual time for each KiB. Errors:
 * LBMAP_E_STATE some of the vertices are not held any more, or nothing is served: which payloads are kept is
 * not known; LBMAP_E_TIMEOUT they are not kept yet, but may be later; LBMAP_E_BUSY the daemon is away, or
 * went away meanwhile: dispatch, and try again; or one of lbmap_checkpoint_start is in progress: it is to end
 * first; LBMAP_E_RANGE a payload is longer than LBMAP_PAYLOAD_MAX; LBMAP_E_IO, LBMAP_E_NOMEM. */
enum lbmap_error lbmap_checkpoint(struct lbmap *map, const struct lbmap_state *states, size_t n);

/* Begin to keep payloads, and return at once: the program goes on while they travel, and calls lbmap_dispatch
 * or lbmap_checkpoint_done again and again, at least every 30 s, until the latter says that it is over. Each
 * of these calls does a few milliseconds of work, and sends no more than the daemon takes at once: the more
 * often they are called the sooner it is over. lbmap_dispatch with a timeout uses that time for it.
 *
 * Payloads of up to 256 KiB are copied here. The bytes of longer ones must stay as they are until it is over,
 * whatever becomes of their vertices; so a program that goes on to work on them has two of each, and changes
 * the other one. What is kept is the vertex as of this call, with the messages that had been sent and
 * delivered. A vertex that is released, revoked or removed before its payload is sent, or gets another one by
 * lbmap_change, is not part of it any more: what it was released with, or changed to, is newer.
 *
 * A handle has one in progress. LBMAP_E_BUSY: there is one, or its end has not been asked for yet; or the
 * daemon is away: dispatch, and try again. Other errors: LBMAP_E_STATE a vertex is not held, or nothing is
 * served; LBMAP_E_RANGE; LBMAP_E_NOMEM. Nothing has begun then. */
enum lbmap_error lbmap_checkpoint_start(struct lbmap *map, const struct lbmap_state *states, size_t n);

/* Is it over? This does not wait. As MPI_Test does, it says so once, and another one may be started then; if
 * none is in progress it says yes.
 * Out:     *done 0: not yet, and the call returns LBMAP_OK; 1: it is over: kept if the call returns LBMAP_OK.
 * Errors:  as lbmap_checkpoint, and *done is 1: some may be kept, and all should be started again. */
enum lbmap_error lbmap_checkpoint_done(struct lbmap *map, int *done);

/* What a vertex cost of late: any measure, in the units of the graph's vertex weights. */
struct lbmap_load {
    uint32_t vertex;
    uint64_t token;
    double load; /* not negative */
};

/* Tell what vertices cost. The daemon smooths reports (each counts a quarter), and when loads have become
 * uneven vertices move. Report what has changed, or all of it, every second or so. Vertices that are not held
 * any more are passed over. Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE a load is negative or not
 * finite: none is told; LBMAP_E_BUSY the daemon is away: dispatch, and try again; LBMAP_E_TIMEOUT,
 * LBMAP_E_IO, LBMAP_E_NOMEM: some may have been told. */
enum lbmap_error lbmap_report_load(struct lbmap *map, const struct lbmap_load *loads, size_t n);

/* The same for loads that are known, not measured, such as a number of particles: they are not smoothed but
 * hold at once. Do not set what is noisy: every change may move vertices. Errors: as above. */
enum lbmap_error lbmap_set_load(struct lbmap *map, const struct lbmap_load *loads, size_t n);

/* ---- other programs of the job ------------------------------------------------------------------------
 *
 * Programs that serve a job at several hosts find each other by what they publish, and may talk through the
 * daemons: over connections that are encrypted and authenticated already, without an address or a key. */

#define LBMAP_NOTE_MAX 256        /* bytes that a program publishes */
#define LBMAP_MESSAGE_MAX 1048576 /* bytes of a message */

/* Tell this note to every program that serves the job, now and in future, and hear of them by peer_up and
 * peer_down. It is told again after the connection to the daemon was lost, until the handle is closed.
 * Another call replaces it. Blocks until the daemon has it.
 * In:      note [n] any bytes; n may be 0.
 * Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE n is above LBMAP_NOTE_MAX;
 *          LBMAP_E_BUSY the daemon is away: told once it is back; LBMAP_E_TIMEOUT, LBMAP_E_IO,
 *          LBMAP_E_NOMEM. */
enum lbmap_error lbmap_publish(struct lbmap *map, const void *note, size_t n);

/* Send bytes to the program that serves the job at a host. Messages of one program to another arrive in
 * order, once or not at all: they are lost when a daemon or a connection ends, when nobody serves the job
 * there or has published, and when more is on its way than is read. Waits only while the daemon does not
 * read.
 * In:      bytes [n], 1 or more.
 * Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE n is 0 or above LBMAP_MESSAGE_MAX, or no such host
 *          can be, or the bytes begin as the library's own (with `deliver`);
 *          LBMAP_E_BUSY the daemon is away: dispatch, and try again; LBMAP_E_TIMEOUT, LBMAP_E_IO,
 *          LBMAP_E_NOMEM. */
enum lbmap_error lbmap_post(struct lbmap *map, uint32_t host, const void *bytes, size_t n);

/* Say that the job is done: every program that has published hears it by peer_up, also one that starts later,
 * as long as one daemon that has heard it lives. Nothing else follows from it; lbctl cancel ends the job.
 * Errors:  as lbmap_publish. */
enum lbmap_error lbmap_finish(struct lbmap *map);

/* ---- messages to vertices ------------------------------------------------------------------------------
 *
 * lbmap_send sends bytes to a vertex, wherever it is. The library finds it, follows it when it moves, and
 * numbers what each vertex sends to each other one. These numbers, and messages that have not arrived for
 * good, are part of what is kept of a vertex: a program that has the callback `deliver` has payloads that
 * begin with up to LBMAP_MAIL_MAX bytes of the library's, which it does not see, and that others see who read
 * payloads otherwise (lbctl payloads).
 *
 * What is promised. Messages of one vertex to another are delivered in the order in which they were sent, and
 * each once, as of the states of both: a vertex whose payload was kept after a message was delivered never
 * gets that one again, and one that begins again from a payload that was kept before gets it again, after
 * whatever was lost: programs, daemons, hosts. For that the sender has it until the receiver has made a
 * checkpoint, or has moved with a payload. So: a payload has all that was delivered to the vertex, and all
 * that it has sent, when it is made; and a program that is sent messages makes checkpoints every second or
 * so.
 *
 * A vertex that begins again sends again what it sent since its payload. These messages get the numbers they
 * had, and a receiver that has one of that number does not get it twice: right if the vertex sends the same
 * again, which it does if what it sends depends on nothing but its payload and, of each sender, the order of
 * its messages. If it depends on more, such as which of two senders comes first, or time, then set
 * `send_kept`: no message is sent before a payload is kept that its sender had after it. Nothing that was
 * delivered is ever undone then, and every message takes as long as a checkpoint.
 *
 * What is not promised: any order between messages of several vertices, or in relation to lbmap_post; a time
 * of arrival; and arrival at a vertex that is removed: its messages are dropped when the program that removed
 * it says so, and stay with their senders if that has ended. A vertex that goes on from what was submitted
 * (lbctl recover) has lost its numbers, too: then messages are lost or come twice. A released payload with
 * bytes NULL leaves the checkpoint, and the vertex goes on from there as after a loss. */

#define LBMAP_SEND_MAX 65536    /* bytes of a message to a vertex */
#define LBMAP_MAIL_MAX 131072   /* bytes of a payload that are the library's, at most */
#define LBMAP_PARTNERS_MAX 2048 /* vertices that one sends to, and as many that it hears from, in its life   \
                                 */

/* Send a message from a vertex that the program holds to any vertex of the job, also itself. It is on its way
 * with the next lbmap_dispatch, and this does not wait. From the beginning of lbmap_serve on programs with
 * `deliver` are known to each other, as by lbmap_publish with an empty note.
 * In:      tag: any number, for the program; bytes [n], n may be 0.
 * Errors:  LBMAP_E_STATE nothing is served, `deliver` is missing, or `from` is not held; LBMAP_E_RANGE n is
 *          above LBMAP_SEND_MAX; LBMAP_E_LIMIT `from` has sent to LBMAP_PARTNERS_MAX others;
 *          LBMAP_E_BUSY some 80,000 bytes that `from` has sent have not arrived for good: dispatch until the
 *          receivers have made checkpoints, and try again; LBMAP_E_NOMEM. Nothing is sent then. */
enum lbmap_error lbmap_send(struct lbmap *map, uint32_t from, uint32_t to, uint32_t tag, const void *bytes,
                            size_t n);

/* ---- a guest that changes -----------------------------------------------------------------------------
 *
 * A program changes the guest where it works on it: a vertex that it holds splits into several, or goes;
 * edges appear and disappear. Whoever owns a vertex adds others next to it, and they move from there as all
 * vertices do. Where the other end of an edge is does not matter: its owner hears of the change by itself,
 * and the program that works there by its callback `edges`. */

/* Ids for vertices that are going to be added: at most 4096 at a time. Nobody else ever gets them; those that
 * are not used when the handle is closed, or when the daemon ends, are never used.
 * Out:     vertex [n].
 * Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE n is 0 or too many; LBMAP_E_LIMIT there are no
 *          more, or too many that are not used; LBMAP_E_TIMEOUT the daemon that orders the control log is
 *          away; LBMAP_E_BUSY the daemon of this host is: dispatch, and try again; LBMAP_E_IO,
 *          LBMAP_E_NOMEM. */
enum lbmap_error lbmap_new_vertices(struct lbmap *map, uint32_t *vertex, size_t n);

/* What becomes of a vertex. */
struct lbmap_vertex_change {
    uint32_t vertex;
    uint64_t token; /* of a vertex that the program holds; 0: it is new, and its id from lbmap_new_vertices */
    uint32_t near;  /* of a new one: a vertex that the program holds, next to which it begins */
    uint32_t work;  /* 0: as it is; a new one needs 1 or more */
    int removed;    /* nonzero: it goes, and its edges with it */
    struct lbmap_payload payload; /* bytes NULL: it stays as it is, or a new one has none */
};

/* What becomes of an edge. Of two hosts that change it at once the one that takes it away is right. */
struct lbmap_edge_change {
    uint32_t vertex; /* one of those above */
    uint32_t other;  /* any other vertex of the job */
    uint32_t weight; /* bandwidth; 0: there is no such edge any more */
};

/* Change vertices and edges at once: all of it, or nothing. A vertex of which only edges change is named too,
 * with work 0 and no payload. Once this has returned it survives the loss of this host. New vertices are
 * acquired by the next lbmap_dispatch; those that are removed are not held any more, without release or
 * revoked. Edges to a vertex that somebody else removes at the same time are not there afterwards.
 * Errors:  LBMAP_E_BUSY one of the vertices is on its way to another host, or came or changed a moment ago,
 *          or one that goes has sent messages that have not arrived for good, or the daemon is away:
 *          dispatch, and try again; LBMAP_E_STATE one of them is not held any more, or nothing is served;
 *          LBMAP_E_RANGE it cannot be, and lbmap_message says why; LBMAP_E_LIMIT it touches more than 4096
 *          vertices of this host, or 2 MiB: change less at a time. Nothing is changed then. LBMAP_E_TIMEOUT,
 *          LBMAP_E_IO, LBMAP_E_SYNTAX: it is not known whether it is changed: the next lbmap_dispatch
 *          revokes all, and what is acquired again tells.
 *          LBMAP_E_NOMEM: as these, or nothing is changed. */
enum lbmap_error lbmap_change(struct lbmap *map, const struct lbmap_vertex_change *vertices, size_t n,
                              const struct lbmap_edge_change *edges, size_t m);

/* ---- measured communication --------------------------------------------------------------------------- */

/* Count what a vertex that the program holds says to another one, or hears from it: bytes, messages, any
 * measure. Of an edge only the end with the lower number counts, so count all that is sent and all that is
 * received, and each is counted once. Cheap, and nothing is sent. 8192 pairs are counted, those that talk
 * most; what others say is lost.
 * Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE the amount is negative or not finite;
 *          LBMAP_E_NOMEM. */
enum lbmap_error lbmap_count(struct lbmap *map, uint32_t vertex, uint32_t other, double amount);

/* Make weights of edges of what has been counted: an edge weighs 1 for each `unit` a second. Call it every
 * few seconds. What is counted is smoothed (each call counts a quarter), and an edge is changed when its
 * weight is wrong by more than a quarter. Pairs that have no edge get one; an edge of a counted pair that
 * falls silent goes, less than a tenth of a unit is silence. Edges of pairs that were never counted stay as
 * they are. Vertices that move just now are told of by the next call.
 * Errors:  LBMAP_E_STATE nothing is served; LBMAP_E_RANGE the unit is not more than 0; others as of
 *          lbmap_change. */
enum lbmap_error lbmap_follow_counts(struct lbmap *map, double unit);

#ifdef __cplusplus
}
#endif

#endif
