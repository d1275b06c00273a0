/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view: what the control log says, applied entry by entry by one deterministic function.
 *
 * Owns: members, jobs, and what follows from them (host graph, colours, diameter). Every daemon that
 * applied the same entries has the same view (protocol.md section 2).  Never: sends, stores or decides. */
#ifndef LBM_NODE_VIEW_VIEW_H
#define LBM_NODE_VIEW_VIEW_H

#include "balance/policy.h"
#include "balance/schedule.h"
#include "base/numbers.h"
#include "host/host.h"
#include "node/view/ensemble.h"
#include "wire/wire.h"

#define LBM_MEMBER_STATE_LIST(X)                                                                             \
    X(JOINING, 0, "JOINING")   /* known to the log, not in the host graph yet */                             \
    X(ACTIVE, 1, "ACTIVE")     /* owns a region */                                                           \
    X(DRAINING, 2, "DRAINING") /* gives everything away */                                                   \
    X(LEFT, 3, "LEFT")         /* owned nothing when it left */                                              \
    X(EVICTED, 4, "EVICTED")   /* its successor takes over */

enum lbm_member_state {
#define LBM_MEMBER_STATE_ENUM(id, number, name) LBM_MEMBER_##id = number,
    LBM_MEMBER_STATE_LIST(LBM_MEMBER_STATE_ENUM)
#undef LBM_MEMBER_STATE_ENUM
        LBM_MEMBER_STATE_COUNT = 0 LBM_MEMBER_STATE_LIST(LBM_ROW_COUNT)
};
LBM_NUMBERS_FIT(LBM_MEMBER_STATE_LIST, LBM_MEMBER_STATE_COUNT);

/* Returns the name of the state of a member; static. */
const char *lbm_member_state_name(enum lbm_member_state state);

/* A slot for a backup of a member; each has a replication log and a lease of its own. */
struct lbm_backup {
    uint32_t host; /* who keeps a replica, or LBM_NONE: nobody could */
    uint64_t view; /* index at which it was given that backup: epoch of the replication log to it */
    int insync;    /* nonzero: that backup holds a full copy; see lbm_view_in_sync() */
};

struct lbm_member {
    uint32_t host;
    enum lbm_member_state state;
    uint64_t incarnation;
    struct lbm_backup backups[LBM_COPIES_MAX]; /* no host twice; above the view's copies: LBM_NONE */
    uint64_t drained;                          /* DRAINING: index of the entry since which it is */
    uint64_t
        maintenance_us; /* it is away for a planned time, so long; 0: it is not, and what follows is void */
    uint64_t maintenance_view; /* index of the entry since which it is */
    int maintenance_moves;     /* its vertices are to go elsewhere meanwhile */
    char maintenance_reason[LBM_REASON_MAX + 1];
    uint64_t since;    /* index at which it first joined; 0: before a snapshot */
    uint32_t protocol; /* most that its program speaks */
    char name[LBM_NAME_MAX + 1];
    char address[LBM_ADDRESS_MAX + 1];
    char failure_domain[LBM_NAME_MAX + 1]; /* "": one of its own */
    double capacity;
    double site[LBM_DIMENSIONS_MAX]; /* unit box, once ACTIVE */
    struct lbm_link *links;          /* declared by this member: p is itself */
    size_t n_links;

    /* As last announced by the host itself; what SET changed lasts until the host announces another value. */
    char announced_address[LBM_ADDRESS_MAX + 1];
    double announced_capacity;
    struct lbm_link *announced_links;
    size_t n_announced_links;
};

/* Where a host id is found, and what is asked of all members at once, in little memory. */
struct lbm_host_place {
    uint32_t member;                 /* in members, or LBM_NONE: then the rest is void */
    uint32_t number;                 /* among the ACTIVE ones, or LBM_NONE */
    uint32_t backup[LBM_COPIES_MAX]; /* the member's */
    uint32_t n_primaries;            /* members whose backup it is */
    uint32_t name_hash;
    enum lbm_member_state state; /* the member's */
};

/* An incarnation of a host that will not come back: evicted, or left. */
struct lbm_departed {
    uint32_t host;
    uint64_t incarnation;
    uint64_t view;      /* index at which it went */
    int evicted;        /* 0: it left, and owned nothing */
    uint32_t successor; /* evicted: who takes over */
    uint64_t successor_incarnation;
    int taken_over; /* nonzero: the successor has taken over, the host cannot come back with what it had */
    enum lbm_member_state was; /* before it went */
    uint32_t reserve; /* its other backup, which is the successor if that one goes before it has taken over;
                         LBM_NONE: there is none */
    uint64_t reserve_incarnation;
    uint64_t passed; /* index of the entry by which that happened; 0: it did not */
};

/* The load policy of a job and its parameters, the same for all hosts. */
struct lbm_job_policy {
    uint32_t
        policy; /* enum lbm_job_policy_code, never the default or auto; or the number of a later version */
    uint32_t asked;
    enum lbm_schedule schedule; /* or the number of a later version: see lbm_job_policy_schedule */
    struct lbm_rule rule;       /* unless there is none */
    uint64_t topology;          /* of the host graph it was made for */
    uint64_t view;              /* index of the entry that brought it */
    char why[LBM_DIAG_TEXT_MAX];
};

/* Fill a message with a policy. Out: to, which borrows from `policy`. */
void lbm_job_policy_put(const struct lbm_job_policy *policy, Lbm__JobPolicy *to);
/* Whatever the numbers are: all hosts keep the same, also those that do not know them. */
void lbm_job_policy_take(const Lbm__JobPolicy *from, struct lbm_job_policy *out);
/* Nonzero if there is a policy and this program can carry it out; else the host runs exchange rounds alone.
 */
int lbm_job_policy_runs(const struct lbm_job_policy *policy);
/* The schedule, or pipelined for a number that this program does not know. */
enum lbm_schedule lbm_job_policy_schedule(const struct lbm_job_policy *policy);

/* What keeps the vertices of a job from moving too much; 0 everywhere: nothing does. */
struct lbm_gates {
    double cooldown_s;    /* a vertex that was exchanged stays so long, unless its host is over the limit */
    double payback_s;     /* a move that balance does not ask for pays for its bytes in so long */
    uint64_t bytes_per_s; /* that a host hands over, records as they are offered */
    uint32_t in_flight;   /* vertices of a host that are on their way, or asked for */
    uint64_t view;        /* index of the entry that brought them */
};

/* Fill a message with the throttle settings of a job. */
void lbm_gates_put(const struct lbm_gates *gates, Lbm__JobGates *to);
void lbm_gates_take(const Lbm__JobGates *from, struct lbm_gates *gates); /* those that are given */

/* The program that hosts run that have vertices of a job. */
struct lbm_job_run {
    uint64_t view;      /* index of the entry that brought it */
    uint32_t watcher;   /* host whose client asked for it */
    uint32_t arguments; /* strings of `words`: the program and its arguments; 0: nothing is run */
    uint32_t len;
    char words[LBM_RUN_BYTES_MAX]; /* [len] folder, program and arguments, environment; each ended by a 0 */
};

/* Fill a message with what is run. Out: to, which borrows from `run`. */
void lbm_job_run_put(const struct lbm_job_run *run, Lbm__JobRun *to);
/* Words that are none make a run of nothing, at every host alike. NULL: nothing is run. */
void lbm_job_run_take(const Lbm__JobRun *from, struct lbm_job_run *out);

/* A job as the log created it. */
struct lbm_job_entry {
    uint64_t job;
    char name[LBM_NAME_MAX + 1];
    uint32_t coordinator;
    uint32_t vertices; /* as submitted */
    uint32_t ids;      /* all that there are or have been are below */
    uint64_t edges;
    uint64_t work;      /* W, work units */
    uint64_t weight;    /* sum of edge weights, each once */
    uint32_t each_work; /* of every vertex as submitted, if all have the same; else 0 */
    uint32_t start;     /* enum lbm_start, or the number of a later version: see lbm_job_start */
    uint64_t seed;
    double imbalance;
    uint32_t owner;    /* uid */
    uint64_t loss;     /* index of the last entry that may have lost some of its vertices; 0: none has */
    uint64_t recovery; /* index of the entry by which a host may begin lost vertices again; 0: none may: */
    uint32_t recovery_host;
    uint64_t recovery_incarnation;
    struct lbm_job_policy policy;
    struct lbm_gates gates;
    struct lbm_job_run run;
};

/* enum lbm_start: the start, or plan for a number that this program does not know. */
uint32_t lbm_job_start(const struct lbm_job_entry *entry);

/* Certificates of a user that are void: those made up to then, seconds since 1970. */
struct lbm_revoked_user {
    char name[LBM_NAME_MAX + 1];
    uint64_t made_s;
};

/* A client's request that the log has: the same one again changes nothing. */
struct lbm_logged_request {
    uint64_t request, index;
    int is_refused;
};

struct lbm_view {
    uint64_t index; /* of the last entry applied */
    uint64_t chain; /* hash of all entries up to it, kept by who applies them */
    uint64_t cluster;
    char cluster_name[LBM_NAME_MAX + 1];
    uint32_t leader;              /* engine local: who orders the log; else who began it */
    int external;                 /* nonzero: no daemon orders the log */
    struct lbm_ensemble ensemble; /* that daemons run: the log is in it, or it is being formed */
    uint32_t log_place;           /* enum lbm_log_place: where operators want the log */
    uint64_t log_term;            /* engine local: no term is below */
    uint64_t log_forced;          /* term in which a host last took the log from an ensemble by force */
    unsigned m;                   /* dimensions of Omega */
    uint32_t protocol;            /* that the cluster speaks: all members do */
    /* Links follow from round-trip times, which cost 1 for so long; 0: they are declared. */
    uint32_t hop_us;
    uint32_t copies;                       /* backups of a member */
    LBM_VEC(struct lbm_member) members;    /* by host id */
    LBM_VEC(struct lbm_job_entry) jobs;    /* in order of creation */
    LBM_VEC(uint32_t) active;              /* ids of the ACTIVE members, ascending */
    LBM_VEC(double) active_capacity;       /* of each of them */
    double active_whole;                   /* their sum */
    LBM_VEC(struct lbm_departed) departed; /* by host, then incarnation */
    LBM_VEC(struct lbm_host_place) place;  /* by host id */
    LBM_VEC(uint32_t) touched; /* ids of the members that the last entry changed; some more than once */
    uint32_t next_host;        /* ids of hosts below were given away */
    LBM_VEC(uint32_t) revoked; /* ids of hosts that are believed no more, ascending */
    LBM_VEC(struct lbm_revoked_user) revoked_users; /* by name */
    LBM_VEC(struct lbm_logged_request) requests;    /* the last LBM_REQUESTS_KEPT, the oldest first */
    uint64_t topology; /* index of the last entry that changed the host graph below */

    /* The ACTIVE members as a host graph; only if they are connected (routable != 0). Hosts in it are
     * numbered 0 .. hosts.n - 1 in order of their ids. All below is made when somebody asks for it:
     * lbm_view_graph. */
    int is_stale; /* nonzero: it is not that of `topology` yet */
    int routable;
    char unroutable[LBM_DIAG_TEXT_MAX]; /* why not */
    struct lbm_hosts hosts;
    uint32_t *colour; /* by link direction */
    uint32_t n_colours;
    uint32_t diameter; /* hops, at most LBM_VIEW_HORIZON */

    struct lbm_shared_view *shared; /* all arrays are of this one; NULL: they are this view's own */
};

/* Hosts further apart than this need not hear of one another for either to settle. */
enum { LBM_VIEW_HORIZON = 8 };

/* Up to that many hosts everybody pings everybody, and may take notice of every change. */
enum { LBM_VIEW_SMALL = 64 };

/* Bring the host graph and what follows from it up to date: most hosts need it seldom, but the log changes it
 * often. Errors: LBM_E_NOMEM. *routable as in the view. */
enum lbm_err lbm_view_graph(struct lbm_view *view, int *routable) LBM_MUST_CHECK;

/* Free a view, or give back one that is shared. */
void lbm_view_free(struct lbm_view *view);

/* Apply the command at index view->index + 1. A command that is invalid where it lands changes nothing
 * but the index; refusal then says why (else it is empty).
 * Errors: LBM_E_NOMEM; LBM_E_CORRUPT if the first entry founds no cluster. The view is then unusable. */
enum lbm_err lbm_view_apply(struct lbm_view *view, const Lbm__Command *command,
                            char refusal[LBM_DIAG_TEXT_MAX]) LBM_MUST_CHECK;

/* Views for the nodes of one process, which have equal ones if they applied the same entries: a simulation of
 * thousands has no room for a view each. Not for threads. Free it once nobody has a view of it. */
struct lbm_views;
struct lbm_views *lbm_views_new(void); /* NULL: memory is short */
/* Free the cache of views; NULL is allowed. */
void lbm_views_free(struct lbm_views *views);

/* lbm_view_apply; or if somebody has done it before, what came of it. chain: of all entries up to this one.
 * views NULL: the view is and stays the caller's own. Errors: as lbm_view_apply; the view is then usable. */
enum lbm_err lbm_views_apply(struct lbm_views *views, struct lbm_view *view, const Lbm__Command *command,
                             uint64_t chain, char refusal[LBM_DIAG_TEXT_MAX]) LBM_MUST_CHECK;
/* The same for a view from a snapshot. */
enum lbm_err lbm_views_share(struct lbm_views *views, struct lbm_view *view) LBM_MUST_CHECK;

/* The departure of that incarnation of a host, or NULL if it has not gone. */
const struct lbm_departed *lbm_view_departed(const struct lbm_view *view, uint32_t host,
                                             uint64_t incarnation);

/* Nonzero if a host is away for a planned time: it is given nothing. */
int lbm_view_is_in_maintenance(const struct lbm_view *view, uint32_t host);

/* Nonzero if a host that does not drain could be the member's backup. */
int lbm_view_has_other_backup(const struct lbm_view *view, const struct lbm_member *member);

/* Who speaks for an incarnation that may have departed: itself, else the successor that took over, or that
 * one's successor. *successor is LBM_NONE if the last of them left, which it did with nothing open. Returns 0
 * if nobody has taken over yet: the evicted host may still come back. */
int lbm_view_successor(const struct lbm_view *view, uint32_t host, uint64_t incarnation, uint32_t *successor,
                       uint64_t *successor_incarnation);

/* Nonzero if nobody depends on that member any more: it has left, or another host has taken over. Its name is
 * free. */
int lbm_view_has_gone(const struct lbm_view *view, const struct lbm_member *member);

/* Nonzero if that host, of the incarnation the view knows, is a member that takes part: JOINING, ACTIVE or
 * DRAINING. */
int lbm_view_participates(const struct lbm_member *member);

/* Nonzero if a backup of that member holds all that it answers for: a full copy of the member, which has no
 * evicted host to take over that no other host could. Only then it can be evicted without a loss. */
int lbm_view_in_sync(const struct lbm_view *view, const struct lbm_member *member);
/* The same of the backup in one slot. */
int lbm_view_slot_in_sync(const struct lbm_view *view, const struct lbm_member *member, unsigned slot);
/* Nonzero if there is a backup, and all that there are are in sync. */
int lbm_view_all_in_sync(const struct lbm_view *view, const struct lbm_member *member);
/* Who would take over from that member: the first backup in sync, else the first there is; or LBM_NONE. */
uint32_t lbm_view_successor_of(const struct lbm_view *view, const struct lbm_member *member);
/* The slot of a member in which that host is its backup, or NULL. */
const struct lbm_backup *lbm_view_backup_slot(const struct lbm_member *member, uint32_t host);
/* Nonzero if nobody is the member's backup. */
int lbm_view_is_alone(const struct lbm_member *member);

/* The most capacity that a host gets by its own word: LBM_CAPACITY_RATIO_MAX times the median of the other
 * members that take part, or no limit with fewer than LBM_CAPACITY_OTHERS_MIN of these. An operator's word
 * has none. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_view_capacity_most(const struct lbm_view *view, uint32_t host, double *most) LBM_MUST_CHECK;

/* The view as bytes, and back: a snapshot stands for all entries up to view->index. Views that are equal
 * give equal bytes.  Errors: LBM_E_NOMEM; LBM_E_CORRUPT, LBM_E_VERSION (unpack). *out owned by the caller. */
enum lbm_err lbm_view_pack(struct lbm_view *view, uint8_t **out, size_t *len) LBM_MUST_CHECK;
enum lbm_err lbm_view_unpack(const uint8_t *bytes, size_t len, struct lbm_view *out,
                             struct lbm_diag *diag) LBM_MUST_CHECK;

/* The id that the next host to enrol gets: above all that have been given or are in use; LBM_HOSTS_MAX: none
 * is left. */
uint32_t lbm_view_next_host(const struct lbm_view *view);
/* Nonzero if the certificate of that host is believed no more. */
int lbm_view_revoked(const struct lbm_view *view, uint32_t host);
/* Nonzero if certificates of that user that were made then, in seconds since 1970, are believed no more. */
int lbm_view_revoked_user(const struct lbm_view *view, const char *name, uint64_t made_s);

/* The request of that identity, if the log has it and it is one of the last; else NULL. */
const struct lbm_logged_request *lbm_view_request(const struct lbm_view *view, uint64_t request);

/* The member with that id, or NULL. */
const struct lbm_member *lbm_view_member(const struct lbm_view *view, uint32_t host);
/* The entry of a job, or NULL. */
const struct lbm_job_entry *lbm_view_job(const struct lbm_view *view, uint64_t job);
/* The entry of the job of that name, or NULL. */
const struct lbm_job_entry *lbm_view_job_named(const struct lbm_view *view, const char *name);

/* Number of an ACTIVE host in view->hosts, or LBM_NONE; and back. */
uint32_t lbm_view_number(const struct lbm_view *view, uint32_t host);
/* The host with that number among the active ones, or LBM_NONE. */
uint32_t lbm_view_host(const struct lbm_view *view, uint32_t number);

/* A host graph of the ACTIVE members of its own, for a computation that outlives this view.
 * Errors: LBM_E_STATE (not routable, diag says why), LBM_E_NOMEM. */
enum lbm_err lbm_view_build_hosts(struct lbm_view *view, struct lbm_hosts *out,
                                  struct lbm_diag *diag) LBM_MUST_CHECK;

/* A site for a host that joins without one: the mean of the sites of its ACTIVE neighbours, moved aside
 * by half the least distance of sites so that no two coincide; the centre if it has none. */
void lbm_view_site_near(const struct lbm_view *view, uint32_t host, double site[LBM_DIMENSIONS_MAX]);

#endif
