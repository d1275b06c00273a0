/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One seed: a cluster, a guest, applications, what goes wrong, and whether all comes to rest after it. */
#ifndef LBM_SIM_RUN_STORY_H
#define LBM_SIM_RUN_STORY_H

#include "graph/graph.h"
#include "sim/faults/faults.h"

enum { STORY_FAULTS_MAX = 64, STORY_JOBS_MAX = 3, STORY_TEXT_MAX = 400 };

struct story_options {
    uint64_t seed;
    uint32_t hosts_least, hosts_most;
    uint64_t kinds;                            /* bit per enum fault_kind: may happen */
    uint64_t left_out;                         /* bit per fault of the story: does not happen */
    void (*line)(void *arg, const char *line); /* of the trace; NULL: no trace */
    void *line_arg;
};

struct story_result {
    uint64_t seed, hash, steps;
    int64_t lasted_us; /* virtual */
    uint32_t n_faults; /* drawn, left out or not */
    uint32_t count[FAULT_COUNT];
    uint64_t met;      /* bit per enum lbm_bug: that mistake would have made a difference */
    char invariant[4]; /* "": all was well */
    char text[STORY_TEXT_MAX];
};

/* What faults need to know of the story they happen in. */
struct story {
    struct story_options options;
    struct story_result *result;
    struct lbm_rng rng;
    struct lbm_hosts h;
    struct cluster_options cluster_options;
    struct cluster *cluster;
    struct lbm_graph g[STORY_JOBS_MAX];
    uint32_t jobs;          /* submitted so far: names job0, job1 ... */
    uint8_t *dead;          /* [h.n] lost for good */
    uint8_t *down;          /* [h.n] how many faults keep it down */
    uint8_t *emptied;       /* [h.n] its disk is a new one, and it has not started since */
    uint64_t *lost;         /* [h.n] last incarnation that lost its disk; 0: none */
    int64_t loss_us;        /* of the last loss of a disk; 0: none */
    int disk_lost;          /* one was, or went back in time */
    int64_t quiet_until_us; /* no fault begins before: a loss has yet to be seen by all */
    int headless;           /* who ordered the control log is dead, or a promise is waited for of who is */
    int64_t asked_us;       /* when a host was told to order it for no such reason; 0: never */
    int64_t passed_over_us; /* when an operator last looked whether a leader waits for the dead */
    int64_t promoted_us;    /* when an operator last tried to */
    uint32_t promoted;      /* and with whom; LBM_NONE: nobody */
    uint32_t victim, victims_backup; /* of a drill */
    uint32_t other;                  /* somebody else; the same in all steps of a figure */
    const struct figure *figure;     /* its steps; NULL: none */
    uint32_t n_faults;
    struct fault fault[STORY_FAULTS_MAX];
    uint8_t happened[STORY_FAULTS_MAX];
};

/* A story is the same whenever its seed and options are. */
void story_run(const struct story_options *options, struct story_result *result);

/* For an assertion that fails while a story runs: what it is about. */
const struct story *story_running(void);

/* Begin applications that are missing: some, or everywhere. */
void story_run_applications(struct story *s, int everywhere);

/* All that is wrong ends; then I8 is judged. The verdict is in s->result. */
void story_come_to_rest(struct story *s);

/* ---- story_draw.c: all that is drawn beforehand -------------------------------------------------------- */

void story_draw(struct story *s);

/* ---- story_drill.c: a short story around one host ------------------------------------------------------ */

/* The figure comes first: it may ask for hosts. */
void drill_draw_figure(struct story *s);
void drill_draw_options(struct story *s);
void drill_draw_faults(struct story *s);
/* Who plays a part just now. */
uint32_t drill_host(struct story *s, enum role role, uint32_t drawn);

/* ---- story_view.c -------------------------------------------------------------------------------------- */

/* Every host that is up says that all that are up are ACTIVE. arg: the story. */
int story_all_active(struct cluster *cluster, void *arg);
/* And that all copies are whole, and nobody has anything to merge. */
int story_in_sync(struct cluster *cluster, void *arg);
/* A host as it sees itself: does it take part, and who is its backup (LBM_NONE: nobody, or it is down)? */
int story_is_active(struct story *s, uint32_t host);
uint32_t story_backup(struct story *s, uint32_t host);
/* If who ordered the control log is dead, do what an operator does: promote another one, until that is done.
 */
void story_find_head(struct story *s);
/* A disk was lost, now. */
void story_disk_lost(struct story *s);
/* A host may be lost to the others, but not its disk. */
void story_lost(struct story *s);
/* Nonzero if somebody takes a host that is lost for a member yet. */
int story_has_undead(struct story *s);
/* Nonzero if another disk may be lost: all members are up to date with their backups, nobody's replica waits
 * to be merged, and the last loss is some time ago. */
int story_may_lose(struct story *s);
/* Nonzero while a host with a new disk has not taken part again: the copies that it had are lost. */
int story_lacks_copies(struct story *s);
/* Incarnation of a running host as it has it; 0: it is no member yet. */
uint64_t story_incarnation(struct story *s, uint32_t host);
/* Nonzero if an operator may evict a host that is in sync: no disk was lost or went back in time so far. */
int story_may_evict(const struct story *s);
/* Who orders the control log, or founded the cluster, as a host sees it; LBM_NONE: it does not say. */
uint32_t story_founder(struct story *s, uint32_t host);
/* Nonzero if a host knows of promotions: it forbids one to a user. */
int story_can_promote(struct story *s, uint32_t host);
/* Ask a host to order the control log from now on. */
void story_promote(struct story *s, uint32_t host, int force);
/* Nonzero if that may still be going on without any host to say so: a loss now would keep it waiting. */
int story_may_be_promoting(const struct story *s);
void story_submit(struct story *s, uint32_t host, uint32_t shape);
void story_cancel(struct story *s, uint32_t host, uint32_t number); /* of the jobs, from 0 on */

#endif
