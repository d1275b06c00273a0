/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applications that are real: liblbmap itself, in programs that use it, against the nodes of a simulated
 * cluster.
 *
 * A program is a fiber. What the library asks of the system (api/system.h, api/page.h) is answered in virtual
 * time by system.c. A program that is killed in the middle of a call finds that nothing works any more, and
 * its clock runs away, so that the library comes to its end and frees what it has; what it does meanwhile is
 * void.
 *
 * A place is a host and a job: a program there that ends is begun again a little later, as `lbctl run` does,
 * until the job is done or cancelled. That it is done daemons know that have heard it, as long as they run:
 * where one begins again so does the program. */
#ifndef LBM_SIM_PROGRAMS_PROGRAMS_H
#define LBM_SIM_PROGRAMS_PROGRAMS_H

#include "lbmap.h"
#include "sim/model/hash.h"
#include "sim/model/internal.h"
#include "sim/programs/fiber.h"
#include "sim/programs/held.h"

struct program;

/* What all programs of a job are, and what is known of what they do. */
struct program_job {
    struct cluster *cluster;
    uint64_t job;
    char name[LBM_NAME_MAX + 1];
    uint32_t n;         /* vertices */
    struct lbm_graph g; /* as submitted; its arrays are borrowed */
    const struct program_kind *kind;
    struct lbm_rng rng;
    int is_done;             /* everything that it was to come to is there, and right */
    uint64_t *token;         /* [n] the highest by which a program has worked on each vertex, */
    uint32_t *host;          /* [n] and where */
    struct program **worker; /* [n] that is in the middle of work on it, or NULL */
    void *truth;             /* of the kind */
};

struct program_kind {
    const char *name;
    void (*begin)(struct program_job *of); /* draw what its programs do */
    void (*end)(struct program_job *of);   /* free truth */
    /* The program: returns how it ends. Out: message [len] for people. */
    enum lbmap_error (*main)(struct program *p, char *message, size_t len);
    /* What is missing yet, for people. */
    void (*tell)(const struct program_job *of, char *text, size_t len);
};

extern const struct program_kind program_steps, program_send;

struct program {
    struct program_job *of;
    uint32_t number, host;
    struct fiber *fiber; /* NULL: none runs now */
    int is_dead;         /* what it does is void */
    int is_over;         /* none will run here again */
    int is_stopped;      /* it stands still */
    int has_missed;      /* it would have gone on meanwhile, or while its machine slept */
    uint64_t wake;       /* number of the event with which it goes on */
    int waits_for_input;
    int64_t skipped_us; /* its clock is ahead by that, once it is dead */
    volatile int stop;  /* it is to give up */

    int is_connected;
    uint64_t client;             /* number of its connection, also of the last one */
    int has_hung_up;             /* the daemon has ended it, or is gone */
    int is_at_end;               /* and all that it had said has come */
    struct lbm_buf in, out;      /* bytes that have come, and of a frame that is not complete */
    size_t read;                 /* bytes since its daemon last heard that it had read all */
    size_t taken;                /* of `in` */
    int64_t asked_us;            /* when the last that it has said arrives */
    int64_t told_us;             /* when the last that it is told arrives */
    struct lbm_service *service; /* of its library, or NULL */

    uint32_t vertex;    /* that it is working on; LBM_NONE: on none */
    int is_interrupted; /* while it did that it did not run for a while */
    uint64_t lives;     /* number of programs that have begun here */
};

struct programs {
    const struct program_kind *kind;
    LBM_VEC(struct program *) list;
    LBM_VEC(struct program_job *) jobs;
    LBM_VEC(uint64_t) cut; /* connections that daemons have ended */
    uint64_t *page;        /* [n * words of a lease page] */
};

/* ---- programs.c: for programs ---- */

/* The one that runs. */
struct program *program_running(void);
/* It goes on so much later, or as soon as something has come, if it waits for that. */
void program_waits(struct program *p, int64_t us, int for_input);
/* It computes for so long, with a vertex that it holds. Returns 0 if it was killed meanwhile: what it does is
 * void. */
int program_works(struct program *p, uint32_t vertex, int64_t us);
uint32_t program_draw(struct program *p, uint32_t bound);
/* A violation of what is promised to programs. */
void program_violates(struct program *p, const char *invariant, const char *fmt, ...) LBM_PRINTF(3, 4);

void program_goes_on(struct program *p, int64_t at_us);
/* The lease page of its host. */
void *programs_page(struct cluster *c, uint32_t host);

/* ---- socket.c: its connection ---- */

void program_cut(struct cluster *c, uint32_t program);
void programs_told(struct cluster *c, const struct happen *happen);
/* Neither waits; they take and give a part, or all. */
size_t socket_send(struct program *p, const uint8_t *bytes, size_t len);
size_t socket_receive(struct program *p, uint8_t *bytes, size_t len);

int socket_connect(struct program *p);
void socket_close(struct program *p); /* by the program */
/* The daemon is no more, or has cut it off. */
void socket_ends(struct program *p);
int socket_has_input(const struct program *p);

#endif
