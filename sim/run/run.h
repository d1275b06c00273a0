/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One seed: a cluster, a guest, applications, what goes wrong, and whether all comes to rest after it. */
#ifndef LBM_SIM_RUN_SEED_H
#define LBM_SIM_RUN_SEED_H

#include "graph/graph.h"
#include "node/mutants.h"
#include "sim/faults/faults.h"

enum { RUN_FAULTS_MAX = 64, RUN_JOBS_MAX = 3, RUN_TEXT_MAX = 400 };

struct run_options {
    uint64_t seed;
    uint32_t hosts_least, hosts_most;
    uint32_t copies;                           /* of each record; 0: as drawn */
    enum cluster_programs programs;            /* in place of models of applications */
    uint64_t kinds;                            /* bit per enum fault_kind: may happen */
    uint64_t left_out;                         /* bit per fault of the run: does not happen */
    void (*line)(void *arg, const char *line); /* of the trace; NULL: no trace */
    void *line_arg;
};

struct run_result {
    uint64_t seed, hash, steps;
    int64_t lasted_us; /* virtual */
    uint32_t n_faults; /* drawn, left out or not */
    uint32_t count[FAULT_COUNT];
    uint64_t met[LBM_BUG_WORDS + 1]; /* bit per enum lbm_bug: that mistake would have made a difference; */
                                     /* the last word: bit per enum lbm_api_bug */
    char invariant[4];               /* "": all was well */
    char text[RUN_TEXT_MAX];
};

/* What faults need to know of the run they happen in. */
struct run {
    struct run_options options;
    struct run_result *result;
    struct lbm_rng rng;
    struct lbm_hosts h;
    struct cluster_options cluster_options;
    struct cluster *cluster;
    struct lbm_graph g[RUN_JOBS_MAX];
    uint32_t jobs;             /* submitted so far: names job0, job1 ... */
    uint8_t *dead;             /* [h.n] lost for good */
    uint8_t *down;             /* [h.n] how many faults keep it down */
    uint8_t *emptied;          /* [h.n] its disk is a new one, and it has not started since */
    uint64_t *lost;            /* [h.n] last incarnation that lost its disk; 0: none */
    int64_t loss_us;           /* of the last loss of a disk; 0: none */
    int disk_lost;             /* one was, or went back in time */
    int64_t no_fault_until_us; /* no fault begins before: a loss has yet to be seen by all */
    int has_etcd;              /* every host can run a member of an ensemble */
    int headless;              /* who ordered the control log is dead, or a promise is waited for of who is */
    int64_t over_us, looked_us; /* when faults were over; when programs were last looked at */
    int64_t asked_us;           /* when a host was told to order it for no such reason; 0: never */
    int64_t believed_us;        /* when an operator last looked whether one waits for entries of another */
    int64_t passed_over_us;     /* when an operator last looked whether a leader waits for the dead */
    int64_t promoted_us;        /* when an operator last tried to */
    int64_t taken_us;           /* when an operator last had a host take the log from a lost ensemble */
    uint32_t taker;             /* that host; LBM_NONE: none */
    uint32_t promoted;          /* and with whom; LBM_NONE: nobody */
    uint32_t victim, victims_backup; /* of a directed run */
    uint32_t other;                  /* somebody else; the same in all steps of a directed scenario */
    const struct directed_scenario *directed_scenario; /* its steps; NULL: none */
    uint32_t n_faults;
    struct fault fault[RUN_FAULTS_MAX];
    uint8_t happened[RUN_FAULTS_MAX];
};

/* A run is the same whenever its seed and options are. */
void run_run(const struct run_options *options, struct run_result *result);

/* For an assertion that fails during a run: what it is about. */
const struct run *run_running(void);

/* Begin applications that are missing: some, or everywhere. */
void run_run_applications(struct run *s, int everywhere);

/* All that is wrong ends; then I8 is judged. The verdict is in s->result. */
void run_come_to_rest(struct run *s);

/* ---- run_draw.c: all that is drawn beforehand -------------------------------------------------------- */

void run_draw(struct run *s);

/* ---- run_directed.c: a short run around one host ------------------------------------------------------ */

/* The directed scenario comes first: it may ask for hosts. */
void directed_draw_scenario(struct run *s);
void directed_draw_options(struct run *s);
void directed_draw_faults(struct run *s);
/* Who plays a part just now. */
uint32_t directed_host(struct run *s, enum role role, uint32_t drawn);

/* ---- run_view.c -------------------------------------------------------------------------------------- */

/* Every host that is up says that all that are up are ACTIVE. arg: the run. */
int run_all_active(struct cluster *cluster, void *arg);
/* And that all copies are whole, and nobody has anything to merge. */
int run_in_sync(struct cluster *cluster, void *arg);
/* A host as it sees itself: does it take part, and who is its backup (LBM_NONE: nobody, or it is down)? */
int run_is_active(struct run *s, uint32_t host);
uint32_t run_backup(struct run *s, uint32_t host);
uint32_t run_second_backup(struct run *s, uint32_t host); /* the same of the other slot */
/* If who ordered the control log is dead, do what an operator does: promote another one, until that is done.
 */
void run_find_head(struct run *s);
/* A disk was lost, now. */
void run_disk_lost(struct run *s);
/* A host may be lost to the others, but not its disk. */
void run_lost(struct run *s);
/* Nonzero if somebody takes a host that is lost for a member yet. */
int run_has_undead(struct run *s);
/* Nonzero if another disk may be lost: all members are up to date with their backups, nobody's replica waits
 * to be merged, and the last loss is some time ago. */
int run_may_lose(struct run *s);
/* The same for two at once, of which one may be the other's backup. */
int run_may_lose_two(struct run *s);
/* Nonzero while a host with a new disk has not taken part again: the copies that it had are lost. */
int run_lacks_copies(struct run *s);
/* Incarnation of a running host as it has it; 0: it is no member yet. */
uint64_t run_incarnation(struct run *s, uint32_t host);
/* Nonzero if an operator may evict a host that is in sync: no disk was lost or went back in time so far. */
int run_may_evict(const struct run *s);
/* Who orders the control log, or founded the cluster, as a host sees it; LBM_NONE: it does not say. */
uint32_t run_leader(struct run *s, uint32_t host);
/* Nonzero if a host knows of promotions: it forbids one to a user. */
int run_can_promote(struct run *s, uint32_t host);
/* Ask a host to order the control log from now on. */
void run_promote(struct run *s, uint32_t host, int force);
/* An operator moves the control log into an ensemble that daemons run, or to that host. */
void run_move_log(struct run *s, uint32_t host, int to_etcd);
/* Nonzero if that may still be going on without any host to say so: a loss now would keep it waiting. */
int run_may_be_promoting(const struct run *s);
void run_submit(struct run *s, uint32_t host, uint32_t shape);
void run_cancel(struct run *s, uint32_t host, uint32_t number); /* of the jobs, from 0 on */

#endif
