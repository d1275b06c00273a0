/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold in a cluster (reliability.md), by definition and apart from the code that keeps it.
 *
 * Owns: for each vertex of each guest, where its copies are, who works on it, which tokens and payloads
 * there have been; for each index of the control log, what it is. It hears of every change of a record
 * on any disk, of what applications do and of what messages claim. Each change costs a few steps.
 * The first violation is kept, with the number of the invariant. */
#ifndef LBM_SIM_CHECK_CHECK_H
#define LBM_SIM_CHECK_CHECK_H

#include "node/node.h"
#include "node/view/view.h"
#include "sim/model/disk.h"
#include "wire/wire.h"

/* A record of a vertex on a disk: the host's own, or one that it keeps for another. */
struct copy {
    uint32_t disk;
    uint32_t owner; /* LBM_NONE: the host's own */
    uint64_t incarnation;
    uint64_t repl_epoch; /* of a replica */
    uint64_t epoch;
    enum lbm_stage stage;
    int is_removal; /* MOV to no host: nobody has taken it for it */
};

/* The highest rank at which a host's record of a vertex was ever on another disk. */
struct replicated {
    uint32_t owner;
    uint64_t incarnation, epoch;
    enum lbm_stage stage;
};

struct truth {
    LBM_VEC(struct copy) copies;
    LBM_VEC(struct replicated) replicated;
    LBM_VEC(uint32_t) workers; /* applications that hold it, by number */
    uint64_t epoch;            /* highest on any disk so far */
    uint64_t moved;            /* highest at which somebody has let go for good */
    uint64_t token;            /* highest an application worked with */
    uint32_t token_host;
    uint64_t payload;            /* newest written */
    uint64_t payload_kept;       /* newest whose keeping was promised */
    uint64_t payload_replicated; /* newest that was on two disks */
    int64_t idle_us;             /* since when nobody may work on it, as looked at; 0: somebody may */
    uint8_t touched;
    uint8_t is_born;     /* some disk has had a record of it */
    uint8_t is_promised; /* whoever added it knows that it is there */
    uint8_t is_removed;  /* some disk has a record that says so, and no newer one */
    uint8_t is_gone;     /* whoever removed it knows that it is */
};

struct guest {
    uint64_t job;
    struct lbm_graph g;   /* a copy, as submitted */
    uint32_t n;           /* vertices, those included that were added or removed */
    int changes;          /* applications change it */
    int logged;           /* the control log has it */
    int deleted;          /* the control log, or its coordinator, has deleted it */
    struct truth *vertex; /* [n] */
    int64_t *well_us; /* [n_hosts] since when each says that the job is well, as looked at; 0: it does not */
    int was_whole;    /* all its vertices have been with hosts that may work on them */
};

/* What an operator has asked for. */
struct check_request {
    uint64_t key;
    int64_t until_us;
    int is_void; /* the client was told that nothing will be changed */
    int is_logged;
};

/* A job that the control log has created. */
struct logged_job {
    uint64_t job;
    char name[LBM_NAME_MAX + 1];
};

struct touched {
    uint64_t job;
    uint32_t vertex;
};

struct check {
    uint32_t n_hosts;
    LBM_VEC(struct guest) guests;
    LBM_VEC(struct touched) touched; /* by the transaction at hand */
    LBM_VEC(uint64_t) log;           /* hash of the entry of each index from 1 */
    struct lbm_view view;            /* of these: some entries change nothing */
    LBM_VEC(uint64_t) deleted;       /* jobs that the log deleted */
    LBM_VEC(struct logged_job) created;
    LBM_VEC(struct check_request) requests;
    int64_t lag_us;                                /* the most that messages have been late, in this run */
    int external;                                  /* no daemon orders the log */
    uint32_t parted;                               /* 1 + a host whose log is not judged; 0: none */
    int view_changed;                              /* by the transaction at hand */
    LBM_VEC(struct lbm_recovered_takeover) merged; /* successors have what these had */
    uint64_t was_alone;                            /* bit per host: it had no backup once */
    int loads_change;                              /* applications report loads: work is what they say */
    int has_loss;      /* a disk was lost or went back in time: until all is repaired, another loss is one */
    char invariant[4]; /* "": nothing was violated */
    char text[320];
};

enum { FORGED_INCARNATION = 1000000 }; /* and above: of a host that left, as an entry says that is forged */

/* The first violation stays. */
void check_violated(struct check *check, const char *invariant, const char *fmt, ...) LBM_PRINTF(3, 4);

/* ---- records (check_records.c) ---------------------------------------------------------------------- */

/* The watcher of all disks. */
void check_record(void *arg, const struct disk *disk, const struct disk_replica *replica,
                  const struct lbm_row *before, const struct lbm_row *after);
/* Before each operation is carried out, and after the last one of a transaction. */
void check_op(struct check *check, const struct disk *disk, const struct lbm_persist_op *op);
void check_transaction(struct check *check);

/* Room for the truth of a vertex that the control log allows; 0: it does not. */
int check_grow(const struct check *check, struct guest *guest, uint32_t vertex);
/* Nonzero if the vertex must be somewhere. */
int check_is_there(const struct truth *truth);
struct guest *check_guest(const struct check *check, uint64_t job); /* NULL: unknown */
uint64_t check_job(const struct check *check,
                   const char *name); /* the last of that name in the log; 0: none */
void check_free(struct check *check);

/* ---- losses that have not happened (check_losses.c) --------------------------------------------------- */

void check_losses(struct check *check, const struct guest *guest, uint32_t vertex);
void check_owners(struct check *check, const struct guest *guest, uint32_t vertex);
void check_all_losses(struct check *check);
/* Nonzero if the successor of that incarnation has what it had. */
int check_is_merged(const struct check *check, uint32_t host, uint64_t incarnation);
/* Nonzero if what that disk keeps of a host that is gone may yet be taken over. */
int check_takes_over(const struct lbm_departed *gone, uint32_t disk);
/* Nonzero if a copy is that of a member's present backup. */
int check_is_backup(const struct lbm_member *member, const struct copy *copy);

/* ---- ends of handoffs (check_ends.c) ------------------------------------------------------------------- */

/* A host's own record is about to be removed, or given on. */
void check_end(struct check *check, const struct disk *disk, const struct guest *guest,
               const struct lbm_row *row);

/* ---- views and messages (check_views.c) ---------------------------------------------------------------- */

void check_entry(struct check *check, uint32_t host, uint64_t index, const uint8_t *command, size_t len);
/* Nobody has entries after that one any more: others may stand in their place. */
void check_log_ends(struct check *check, uint64_t index);
void check_message(struct check *check, uint32_t from, const Lbm__Peer *message);

/* ---- what is said of jobs (check_summary.c) -------------------------------------------------------------
 */

/* A host says that of the job of that guest; summary NULL: it says nothing. */
void check_summary(struct check *check, uint32_t host, struct guest *guest,
                   const struct lbm_job_summary *summary, int64_t now_us);

/* ---- requests and their ends (check_requests.c) -----------------------------------------------------------
 */

/* An operator asks for a change, void from then on. */
void check_request_begins(struct check *check, uint64_t key, int64_t until_us);
/* It is told that the change is not made and will not be. */
void check_request_is_void(struct check *check, uint64_t key);
/* The log has it, for the first time. */
void check_request_ordered(struct check *check, uint64_t key, uint32_t host, int64_t now_us);

/* ---- what is said of records (check_words.c) ----------------------------------------------------------- */

/* A replica of a record is on a disk. */
void check_replicated(struct truth *truth, const struct copy *copy);
/* A host says, or lets an application know, that its record of a vertex has that rank. */
void check_word(struct check *check, uint32_t host, uint64_t incarnation, uint64_t job, uint32_t vertex,
                uint64_t epoch, enum lbm_stage stage);
void check_words(struct check *check, const Lbm__Peer *message);
/* A host promises to keep a payload of that number. */
void check_promise(struct check *check, uint32_t host, const struct truth *truth, uint32_t vertex,
                   uint64_t payload);
/* The log has changed: who has no backup? */
void check_alone(struct check *check);

#endif
