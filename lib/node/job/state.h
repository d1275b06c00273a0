/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node remembers of a job. */
#ifndef LBM_NODE_JOB_STATE_H
#define LBM_NODE_JOB_STATE_H

#include "embed/embed.h"
#include "node/core/transitions.h"
#include "node/exchange/state.h"
#include "node/job/ingest.h"
#include "node/mapping/diffuse.h"
#include "node/mapping/remap.h"
#include "node/node.h"
#include "node/records/shard.h"
#include "space/space.h"

/* What a host last said of a job. */
struct load_report {
    uint32_t host;
    int64_t heard_us;
    enum lbm_phase phase;
    int ready;
    uint64_t incarnation; /* of the host */
    uint32_t vertices;
    uint64_t load;
    uint64_t sweep;
    uint32_t counter;
    double largest;
    uint64_t normalization;
    uint64_t moved;
    uint64_t flow_sweeps, flow_words, flow, transfer_us;
    uint64_t whole;
};

/* What a host's own vertices contribute to a renormalization. */
struct host_moments {
    uint32_t host;
    uint64_t stamp;
    struct lbm_moments moments;
    int is_new; /* no normalization was made of it yet */
    uint32_t n_sample;
    double *sample;        /* [n_sample * m] raw positions of some of them, owned */
    uint32_t *sample_work; /* [n_sample], owned */
};

/* Vertices, and where each was in raw coordinates. */
struct points {
    LBM_VEC(uint32_t) vertex;
    LBM_VEC(double) x; /* [vertex.n * m] */
};

/* Vertices whose target is one host. */
struct destination_queue {
    uint32_t host, first, n;
    uint32_t at;        /* where the search for those that may go goes on */
    uint32_t in_flight; /* OUT, to that host */
    uint64_t bytes;     /* of their payloads, about */
};

struct migration_queue {
    LBM_VEC(struct destination_queue) lists; /* by host id */
    LBM_VEC(uint32_t) slots;                 /* of vertices; list i has n of them from first on */
    int are_listed;                          /* nobody has a target since that is on no list */
};

/* Took a vertex to be here that is on its way to another host, and is to hear of it. */
struct asker {
    uint32_t vertex, host;
};

/* What hosts of neighbours have yet to be told. */
enum ghosts_due { GHOSTS_NONE, GHOSTS_CHANGES, GHOSTS_ALL };

/* A job on this host. */
struct job {
    uint64_t id;
    enum lbm_phase phase;
    enum lbm_job_state stored; /* coordinator only: what the database says */
    struct lbm_shard shard;
    int64_t created_us;

    /* coordinator, before and during planning */
    struct lbm_graph *guest; /* whole guest; freed when the plan is stored */
    struct lbm_hosts plan_hosts;
    LBM_VEC(uint32_t) plan_ids; /* host ids by number in plan_hosts */
    int planning;
    struct part part; /* this host has read one, and the job is not in the log yet */
    uint8_t *pending; /* packed JOB_CREATE, until the backup has the guest and the log has it */
    size_t pending_len;
    uint64_t dropped_at;  /* given up, but it may be the entry of this index; 0: not */
    int64_t until_us;     /* it is given up if the log has not got it by then; 0: it is not */
    uint64_t guest_id;    /* transaction that stores the guest: it borrows the graph until it is durable */
    uint64_t pending_seq; /* of the guest's last vertex */
    int proposed;
    uint64_t client; /* waits for the log's word on its submit; 0: nobody */
    uint64_t client_request;

    /* regions and normalization */
    struct lbm_affine normalization; /* raw coordinates to Omega */
    uint64_t normalization_seq;      /* 0: none yet */
    int normalization_fixed;
    LBM_VEC(uint32_t) region_host;
    LBM_VEC(double) region_weight;
    LBM_VEC(struct host_moments) moments; /* coordinator: the newest of each host */
    struct points told;                   /* this host's own, when they were last told to the coordinator */
    uint64_t told_seq;                    /* of the normalization at that time */
    uint64_t followed_seq; /* of the normalization that ownership last followed, unless it is fixed */
    struct diffuse diffuse;
    struct remap remap;

    /* mapping */
    int64_t tick_us;
    uint64_t sweeps;
    double largest;     /* of the last sweep, Omega units */
    uint32_t converged; /* ticks in a row with nothing to do */
    int ready;
    int64_t ready_us;  /* since when all members are ready; 0: they are not */
    int64_t follow_us; /* when regions are looked at next */
    int64_t stats_us;

    /* ghosts */
    enum ghosts_due ghosts_due;
    int64_t ghosts_us;            /* last sent */
    int64_t ghosts_all_us;        /* the same, all of them */
    uint32_t ghosts_rows;         /* that many were sent then */
    double ghosts_largest;        /* displacement not yet told */
    LBM_VEC(struct asker) askers; /* answered when ghosts are sent */
    int64_t where_us;             /* everybody may be asked again from then on */

    /* handoff */
    LBM_VEC(uint32_t) out; /* slots of vertices that are, or just were, OUT */
    struct migration_queue queue;
    int64_t offers_us;              /* next look at offers without answer; INT64_MAX: none out */
    LBM_VEC(uint32_t) unfinished;   /* slots of records whose source has not said FIN */
    int64_t finish_us;              /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) tombstones;   /* slots of MOV and REF */
    int64_t collect_us;             /* next look at them; INT64_MAX: there are none */
    LBM_VEC(uint32_t) news;         /* slots of records that others have yet to hear of changed edges of */
    int64_t news_us;                /* next look at them; INT64_MAX: there are none */
    struct lbm_idmap new_ids;       /* ids given to an application that has not used them */
    uint32_t id_next, id_end;       /* those that may be given to it */
    uint32_t spare_next, spare_end; /* the same after these */
    int64_t spare_us;               /* when more are asked for, unless there are */
    LBM_VEC(uint32_t) releasing;    /* slots of vertices that an application was asked to release */
    LBM_VEC(uint32_t) edges_due;    /* slots of vertices of whose edges the application has yet to hear */
    uint64_t moved;                 /* handed over so far */

    int drifts;          /* loads are reported, here or elsewhere */
    double scatter;      /* mean difference of a report from what was known, in parts of it; 0: not known */
    double lag;          /* what reports, smoothed, say this host has beyond what records do; work units */
    double noise;        /* standard error of what they say it has; work units */
    uint64_t whole;      /* what the loads of all hosts add up to then; 0: as submitted */
    uint32_t count;      /* the same of vertices; 0: as submitted */
    uint64_t count_seen; /* when last looked at, and so often in a row before that */
    uint32_t count_again;
    uint64_t sum; /* what they added up to when last looked at, and so often in a row before that */
    uint32_t sum_again;
    uint32_t n_sums;    /* the last that many counted every vertex once, */
    double sum_mean;    /* and have this mean */
    int64_t counted_us; /* when as many vertices as there are were counted last */
    int64_t load_us;    /* when they are added up next */

    int64_t drain_us;  /* DRAINING: when vertices without a target are looked for next */
    int was_settled;   /* in this life: what moves now follows a change */
    int64_t pinned_us; /* vertices that are pinned elsewhere go then; INT64_MAX: there are none */
    int64_t cool_us;   /* what was kept back may move then, or edges have changed; INT64_MAX: neither */
    uint64_t n_cooled;
    double budget_bytes; /* that may go now; < 0: gone beyond it */
    int64_t budget_us;   /* as of then; 0: nothing has gone */
    int was_short;       /* there was none when something might have gone */
    struct rounds rounds;
    struct flow_computation flow;
    uint64_t weighed_load, weighed_limit; /* SETTLED: when they were last compared */
    double weighed_seen;                  /* the load that reports say, then */
    int64_t overload_us;                  /* SETTLED with too much, though loads drift: tried again then */
    uint32_t n_overloads;                 /* so often in a row */
    LBM_VEC(struct load_report) load_reports;
    struct lbm_idmap load_report_at; /* host: its place in load reports */
    enum lbm_phase heard_phase;      /* most advanced one heard from anybody so far */
    int64_t checkpoint_us;           /* next, INT64_MAX: positions are stored */

    uint64_t cut;   /* payloads and owners are kept as they are, for that cut (client/cut.c); 0: they are not */
    int64_t cut_us; /* until then, unless it is asked for again */

    enum lbm_condition condition; /* as last looked at, */
    int64_t condition_us;         /* and since when */
    LBM_VEC(uint32_t) withdrawn;  /* hosts where no program works: they get no vertices */
    int64_t unserved_us; /* since when no program works here on vertices of it; 0: one does, or none is to */
    int64_t short_us;    /* since when the hosts that are heard have fewer vertices than there are; 0: no */
};

#endif
