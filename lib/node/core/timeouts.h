/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a node waits, and how much it does at a time. Of those that are promises to others PROTOCOL
 * section 5 has the reasons. */
#ifndef LBM_NODE_CORE_TIMEOUTS_H
#define LBM_NODE_CORE_TIMEOUTS_H

#include "base/limits.h"

/* Periods and timeouts, microseconds. */
enum {
    PING_US = 500000,
    UNREACHABLE_US = 3 * PING_US + 100000, /* three pings missed: status calls the host unreachable */
    DEAF_US = 6 * PING_US,                 /* pings of a host without an echo: it does not hear this one */
    EXCLUDE_US = 3000000, /* an unreachable host is no longer waited for at the end of MAPPING */
    APPEND_RETRY_US = 1000000,
    REQUEST_US = 10000000, /* what a client asks of the log is void from then on, unless the client says */
    PROMOTE_US = 3000000,  /* for the answers of all to one question about the control log */
    LEAD_WAIT_US =
        10000000, /* a starting leader waits so long for the last host that may have more entries */
    LEAD_ALONE_US = 1500000, /* the same while it knows of no other host: they connect once a second */
    FETCH_RETRY_US = 500000,
    EXTERNAL_BEHIND_US = 1500000, /* others have newer entries: so long the ensemble has to bring them */
    ENSEMBLE_LOOK_US = 500000,    /* between looks at the ensemble of etcd */
    ENSEMBLE_REST_US = 2000000,   /* enough hosts could run it for so long: it is formed */
    ENSEMBLE_FORM_US = 30000000,  /* for the answers of all etcds that were started */
    ENSEMBLE_SICK_US = 60000000,  /* etcd on a host that is heard does not answer: it is replaced */
    OFFER_RETRY_US = 1000000,
    OFFER_ASK_US = 250000,       /* whose an offered vertex is, is asked again, */
    OFFER_ASK_SOON_US = 2000000, /* that often at first, */
    OFFER_ASK_LATE_US = 1000000, /* and less often then */
    BLOB_WAIT_US = 10000000,     /* a host that was asked for pieces sends none: it may be asked again, */
    BLOB_OTHER_US = 3000000,     /* or another host that has a record with that blob */
    BLOB_SWEEP_US = 5000000,     /* between looks at which large payloads are of no use */
    BLOB_REST_US = 60000000,     /* one that no record has had yet stays so long */
    MAPPING_TICK_US = 10000,
    PLACING_TICK_US = 5000,
    FOLLOW_US = 100000,           /* ownership follows regions this often */
    STATS_US = 300000,            /* moments to the job's coordinator, at the most often */
    STATS_AGAIN_US = 1000000,     /* so much later even if there is no frame of the last ones */
    READY_US = PING_US + 200000,  /* all ready for longer than a ping takes */
    REFUSED_US = 5000000,         /* before a refused vertex is offered again */
    DIFFUSE_TICK_US = 5000,       /* without a coordinator */
    TREE_TICK_US = 25000,         /* the same in a large cluster while a host waits for others */
    SUMS_AGAIN_US = 1000000,      /* what others may not have heard of a stage is told again */
    WAVES_SETTLE_US = 150000,     /* no distance to a pivot has fallen: they are told */
    GHOSTS_SOON_US = 5000,        /* changes within this time travel together */
    GHOSTS_ROW_US = 8,            /* for each row last told, or vertex of a large part whose owners change */
    GHOSTS_AGAIN_US = 2000000,    /* repeat unchanged ghosts: heals what a broken connection lost */
    GHOSTS_SETTLED_US = 10000000, /* the same once a job has settled */
    PAIR_WAIT_US = 700000,        /* for the partner of a colour, before asking again */
    PAIR_TIMEOUT_US = 10000000,   /* the same, if it is alive */
    PAIR_HANDOFF_US = 3000000,    /* for the handoffs of a round */
    FLOW_SOON_US = 20000,         /* so soon in the first FLOW_REPEAT_US of a flow computation */
    FLOW_REPEAT_US = 300000,      /* words of flow computation without answer are said again */
    FLOW_TIMEOUT_US = 10000000,   /* a partner that is alive, and unreachable on this */
    TRANSFER_TICK_US = 10000,
    TRANSFER_SOON_US = 2000,        /* after an answer */
    TRANSFER_TIMEOUT_US = 15000000, /* without anything moving */
    COMMAND_LATE_US = 5000000,      /* an operator's eviction that the log has not got by then is void */
    OVERLOAD_US = 1000000,          /* settled with too much: before it is tried again, at first */
    LITTLE_US = 10000000,           /* settled with a little too much in a large cluster: before it wakes */
    NOTICE_RETRY_US = 50000,        /* before asking a partner again that was not there yet */
    COLLECT_US = 1500000,           /* for the parts of a mapping */
    COLLECT_BUSY_US = 6000000,      /* the same, from hosts that are alive */
    COLLECT_AGAIN_US = 300000,      /* between looks at whether they are */
    CUT_US = 10000000,              /* a cut of a job ends when it is not asked for during that */
    CHECKPOINT_US = 5000000,        /* positions to disk while they change */
    LEASE_CLOCK_PARTS = 100,        /* clocks of two hosts differ by one part in that many at most */
    LEASE_US = LBM_LEASE_US,        /* protocol.md section 5; counted by the owner from asking */
    GRANT_US = LEASE_US + LEASE_US / LEASE_CLOCK_PARTS, /* counted by the grantor from granting */
    GRANT_PAST_US = LBM_LEASE_EVER_US + LBM_LEASE_EVER_US / LEASE_CLOCK_PARTS, /* the same, by lives before */
    REVOKE_US = LBM_LEASE_STOP_US, /* before its end an application gets nothing new */
    LEASE_RENEW_US = 1000000,
    LEASE_RETRY_US = 400000,   /* while there is none */
    REPL_RETRY_US = 400000,    /* before changes without acknowledgement are sent again */
    SUSPECT_US = 3500000,      /* of silence, times health */
    CONFIRM_US = 1500000,      /* two suspect for so long: evict */
    STARVED_US = 300000,       /* a step so much too late: this host was not running */
    APPEND_AGAIN_US = 3000000, /* before a proposal that changed nothing is repeated */
    SHORT_US =
        3000000, /* so long hosts may have fewer vertices than there are: they tell one after the other */
    ALERT_AGAIN_US = 60000000,   /* what stands still is told again after this */
    REJOIN_US = 20000000,        /* an evicted host waits so long to be taken over */
    RELEASE_US = 10000000,       /* for an application to let go; then the vertex stays */
    PROGRAM_GRACE_US = 30000000, /* where no program works vertices stay so long, unless it was told */
    PROGRAM_AGAIN_US =
        250000, /* a program that has died is started again after twice that, then twice as long */
    PROGRAM_QUICK_US = 10000000, /* it has died soon if it lived no longer */
    RUN_UNWATCHED_US = 10000000, /* for a client to come back that watches a run: then it is ended */
    RUN_OVER_US =
        2000000, /* where no program runs for so long all are over: hosts tell what they run every 2 s */
    PAIR_MOVING_US =
        RELEASE_US + PAIR_HANDOFF_US, /* while a partner that is alive waits for an application */
    FIN_RETRY_US = 5000000,
    HELD_UP_US =
        8000000, /* a host that may give nothing just now settles after that; FIN is asked for before */
    EDGES_REST_US = 1000000,  /* from a change of edges to a look at what may move for it */
    EDGES_AGAIN_US = 50000,   /* changed edges without an answer are told again, then after twice as long, */
    EDGES_RETRY_US = 1000000, /* and so on up to this */
    OVERDUE_US = 200000000,   /* of large clusters: those who are heard in turn */
    SLOW_LEAST_US = 100000,   /* there and back; whoever answers within that is not slow */
    VISIT_US = 1000000,       /* between visits of a host that has settled to those it has skipped */
    WHERE_EACH_US = 6000,     /* between questions to everybody, for each host that is asked, */
    WHERE_US = 1000000,       /* and no more than that */
    TOMBSTONE_US = 60000000,  /* a finished record still tells where the vertex went; unless configured */
    TOMBSTONE_LEAST_US = 3000000, /* the same if there are many: neighbours have heard of it by then */
    FORGET_AGAIN_US = 5000, /* between removals of FORGET_MAX of them: as quick as handoffs leave them */
};

enum {
    EDGES_ASKED_MAX = 30, /* all hosts are there, none knows the other end of an edge: it went long ago */
    SLOW_TIMES = 4,       /* a slow host takes that many times as long to answer as most others */
    PACES = 4,            /* of the last that many pings the quickest counts */
    TOMBSTONES_FEW = 64,  /* finished records are not many, nor a quarter of what a host owns */
    FORGET_MAX = 256,     /* of them go at a time */
    HANDOFF_BATCHES = 2,  /* in flight to one host */
    SOFT_HELD_MAX = 256,  /* lossy messages that wait for the disk: no more while it stalls */
    REPL_BATCHES = 8,     /* in flight to the backup */
    CHANGES_OVER = 256,   /* acknowledged changes leave the queue once they are more, and more than others */
    HEALTH_MAX = 8,       /* largest local health multiplier (Lifeguard) */
    ROTATING_PINGS = 4,   /* in a large cluster, besides neighbours and backups that many in turn */
    FOLLOW_VERTICES = 1024, /* in flight for a plan of a job that runs: applications let go of each */
    PIPELINE_BATCHES =
        REPL_BATCHES,   /* in flight over all links that still give: the backup could not follow more */
    MAPPING_SWEEPS = 2, /* a tick */
    DIFFUSE_SWEEPS = 2, /* the same without a coordinator */
    MAPPING_SWEEPS_MAX = 4000,   /* then it goes on with what there is */
    MAPPING_SWEEPS_LARGE = 1000, /* the same for a guest that would not come to rest before that: what is
                                  * near has come together, and the coarse graph is for the rest */
    MAPPING_SWEEPS_FREE = 250,   /* the same without anchors */
    MAPPING_REST_VERTICES = 8192,
    PLAN_SWEEPS = 4,          /* smoothing of planned coordinates */
    BAND_VERTICES_MAX = 4096, /* of one PAIR_ACCEPT */
    BAND_HALVES_MAX = 65536,
    GHOSTS_ROWS_FAST = 8192, /* a part that is not large */
    BAND_LAYERS = 8,         /* behind a boundary, that refinement has to choose from */
    BAND_LAYERS_AGAIN = 4,   /* the same once a job had settled */
    DRAIN_LOOK_US = 100000,  /* between looks at all vertices of a host that drains */
    SWEEP_PAUSE_US = 200000, /* between sweeps in which nobody answered */
    GIVE_ON_AT_ONCE = 16,    /* least vertices that are too much are not halved on their way to room; */
    GIVE_ON_SPARING = 4,     /* the same where each vertex counts (lbm_exchange_spares) */
    MARGIN_QUARTERS = 3,     /* rounds leave a host so much of its slack, above which it wakes; */
    MARGIN_SPARING = 1,      /* the same where each vertex counts */
    LITTLE_PARTS = 3,        /* that part of the slack is little, */
    NOISE_ERRORS = 3,     /* and that many standard errors of a load that is measured, up to as much again */
    NETTING_SWEEPS = 16,  /* what was netted, and is the same for that many, is given */
    UNDELIVERED_MOST = 2, /* and if so often nothing of it could be, no more is netted */
    RESIDUAL_HOPS_MAX = 10000, /* "no host with room is known": more than any two hosts are apart */
    PROPOSALS_MAX = 4,         /* waiting for the log before this host proposes nothing more by itself */
    OVERLOADS_MAX = 6,         /* so often, after twice the time each */
    REACH_AGAIN = 2,           /* links around a woken host that must be stable before it settles again */
    UNMOVED_TIMES = 2,         /* nothing moved so often (once settled: once): not tried again as it is */
    PATIENT_SHARES = 200,      /* after that many sweeps a share moves only what makes the excess less */
    MOVES_PER_EDGE = 4,        /* that many vertices may move to have one edge of mean weight less */
    ESCALATIONS = 25,          /* after that many rounds balance may cost anything */
    ENSEMBLE_SMALL = 3,        /* members of an ensemble of etcd: one may be lost */
    ENSEMBLE_LARGE = 5,        /* the same in a larger cluster: two may be */
    ENSEMBLE_LARGE_HOSTS = 9,  /* active hosts that make it larger */
    ESCALATION_RESTARTS = 4,   /* so often that begins again before something changes from outside */
    CUT_STALL_ROUNDS = 50,     /* moves without gain from a corner of a cut */
    PATIENT_SWEEPS = 20,       /* after that many sweeps a round must gain more and more */
};

/* ---- what must fit together: a constant that is changed alone compiles only if these still hold ----------
 */

#define LBM_FITS(a, why) _Static_assert(a, why)

/* Leases: at most one application works on a vertex (I1, I2). */
LBM_FITS((int64_t)GRANT_US *LEASE_CLOCK_PARTS >= (int64_t)LEASE_US * (LEASE_CLOCK_PARTS + 1),
         "a grantor waits for longer than the owner may count, whatever their clocks say");
LBM_FITS(GRANT_PAST_US >= GRANT_US, "a host that starts waits for what the life before granted");
LBM_FITS(LEASE_US <= LBM_LEASE_US_MAX, "the wire takes the leases that are granted");
LBM_FITS(REVOKE_US == LBM_LEASE_STOP_US, "node and library stop work at the same time");
LBM_FITS(LEASE_US - REVOKE_US >= 2 * LEASE_RENEW_US, "one lost renewal stops no application");
LBM_FITS(LEASE_RETRY_US < LEASE_RENEW_US,
         "a lease that is missing is asked for more often than one that is there");
LBM_FITS(REJOIN_US > GRANT_PAST_US + SUSPECT_US,
         "the successor has taken over, if it is there, before the host goes on");

/* Silence: slow to suspect, slower to evict (I8; no host that is alive is lost). */
LBM_FITS(UNREACHABLE_US >= 3 * PING_US, "three pings are missed before a host is called unreachable");
LBM_FITS(UNREACHABLE_US < DEAF_US, "who is not heard any more is not called deaf");
LBM_FITS(UNREACHABLE_US < EXCLUDE_US, "nobody is excluded before it is unreachable");
LBM_FITS(UNREACHABLE_US < SUSPECT_US, "nobody is suspected before it is unreachable");
LBM_FITS(CONFIRM_US >= 2 * PING_US, "a suspicion has been heard, and taken back, before it is confirmed");
LBM_FITS(STARVED_US < PING_US, "a host that was not running knows it before it misses its own ping");
LBM_FITS(READY_US > PING_US, "what a ping says is heard before all are called ready");
LBM_FITS(SHORT_US >= 6 * PING_US, "both ends of a move have told of it before vertices are called idle");
LBM_FITS(STATS_US < STATS_AGAIN_US, "moments are told at once, then seldom");
LBM_FITS(OVERDUE_US > SUSPECT_US,
         "a host that is heard in turn is not unreachable sooner than one that is heard always");

/* What is asked again is asked again before its timeout. */
LBM_FITS(APPEND_RETRY_US < APPEND_AGAIN_US, "a proposal is repeated before it is made again");
LBM_FITS(APPEND_RETRY_US < COMMAND_LATE_US, "an operator's command is repeated before it is void");
LBM_FITS(OFFER_RETRY_US < PAIR_HANDOFF_US, "an offer is repeated before its round gives up");
LBM_FITS(NOTICE_RETRY_US < PAIR_WAIT_US, "a partner is asked again before it is taken to be late");
LBM_FITS(PAIR_WAIT_US < PAIR_HANDOFF_US && PAIR_WAIT_US < PAIR_TIMEOUT_US,
         "a partner that is alive gets more time");
LBM_FITS(FLOW_SOON_US < FLOW_REPEAT_US && FLOW_REPEAT_US < FLOW_TIMEOUT_US,
         "words of flow computation are repeated before the partner is given up");
LBM_FITS(TRANSFER_TIMEOUT_US > RELEASE_US, "transfers wait for an application that lets go");
LBM_FITS(16 * PROGRAM_AGAIN_US < PROGRAM_QUICK_US, "pauses are shorter than the life that ends them");
LBM_FITS(TRANSFER_SOON_US <= TRANSFER_TICK_US, "soon is not later than usual");
LBM_FITS(FIN_RETRY_US < HELD_UP_US, "FIN has been asked for again before a held-up host settles");
LBM_FITS(COLLECT_AGAIN_US < COLLECT_US && COLLECT_US < COLLECT_BUSY_US, "hosts that are alive get more time");
LBM_FITS(EDGES_AGAIN_US < EDGES_RETRY_US, "edges are told again at growing intervals");
LBM_FITS(GHOSTS_SOON_US < GHOSTS_AGAIN_US && GHOSTS_AGAIN_US <= GHOSTS_SETTLED_US,
         "ghosts are repeated ever less");
LBM_FITS(WHERE_EACH_US <= WHERE_US, "the interval for one host is the least");
LBM_FITS(OVERLOAD_US <= LITTLE_US, "a little too much waits for longer than too much");
LBM_FITS(REPL_RETRY_US < HELD_UP_US, "changes are sent to the backup again before its host is held up");
LBM_FITS(TOMBSTONE_LEAST_US <= TOMBSTONE_US, "many finished records stay no longer than few");
LBM_FITS(TOMBSTONE_LEAST_US > GHOSTS_AGAIN_US, "neighbours have heard of a move before its record goes");
LBM_FITS(MAPPING_TICK_US < FOLLOW_US, "coordinates diffuse between two looks at ownership");

LBM_FITS(EXTERNAL_BEHIND_US > PING_US + FETCH_RETRY_US, "the ensemble is quicker than other hosts are asked");
LBM_FITS(ENSEMBLE_FORM_US < ENSEMBLE_SICK_US, "a member that has begun gets more time than a new one");

/* Amounts. */
LBM_FITS(ENSEMBLE_LARGE <= LBM_ENSEMBLE_MAX && ENSEMBLE_LARGE < ENSEMBLE_LARGE_HOSTS,
         "there is a host to replace a member");
LBM_FITS(RESIDUAL_HOPS_MAX >= LBM_HOSTS_MAX, "no distance is taken for \"no host with room is known\"");
LBM_FITS(ROTATING_PINGS > 0 && HANDOFF_BATCHES > 0 && REPL_BATCHES > 0, "something is in flight");
LBM_FITS(FORGET_MAX <= LBM_CHANGE_RECORDS_MAX, "removals of one time go to the backup together");
LBM_FITS(MAPPING_SWEEPS <= MAPPING_SWEEPS_FREE && MAPPING_SWEEPS_FREE <= MAPPING_SWEEPS_LARGE &&
             MAPPING_SWEEPS_LARGE <= MAPPING_SWEEPS_MAX,
         "what comes to rest later gets more sweeps");
LBM_FITS(MARGIN_QUARTERS < 4 && MARGIN_SPARING < 4, "a round leaves less than all of the slack");
LBM_FITS(BAND_LAYERS_AGAIN <= BAND_LAYERS && GIVE_ON_SPARING <= GIVE_ON_AT_ONCE,
         "sparing is less than usual");

#endif
