/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may go wrong, and what operators and users may ask for, each a row with a beginning and maybe an
 * end. A run is a list of them with times and arguments drawn beforehand, so that one can be left out
 * and the others stay. */
#ifndef LBM_SIM_FAULTS_FAULTS_H
#define LBM_SIM_FAULTS_FAULTS_H

#include "sim/model/cluster.h"

/* X(id, name, weight, least and most milliseconds it lasts (0: an instant), what happens) */
#define FAULT_LIST(X)                                                                                        \
    X(DELAY, "delay", 3, 500, 5000, "messages are ten times slower for a while")                             \
    X(DISCONNECT, "disconnect", 4, 0, 0, "a connection breaks")                                              \
    X(REPEAT, "repeat", 2, 1000, 8000, "half of the soft messages come twice")                               \
    X(LOSE, "lose", 2, 1000, 8000, "half of the soft messages are lost")                                     \
    X(CUT_ONE_WAY, "cut-one-way", 3, 500, 9000, "one host does not reach another")                           \
    X(CUT, "cut", 3, 500, 9000, "two hosts do not reach each other")                                         \
    X(PARTITION, "partition", 2, 1000, 14000, "two groups of hosts do not reach each other")                 \
    X(BRIDGE, "bridge", 2, 1000, 12000, "two groups that reach each other through one host alone")           \
    X(LAG, "lag", 4, 500, 8000, "what a host says to another, or to all, arrives seconds late")              \
    X(HOLD, "hold", 2, 500, 12000, "from some message on, what a host says to another waits")                \
    X(FORGE, "forge", 2, 0, 0, "a host says a number out of reach, or offers what it does not own")          \
    X(LIE, "lie", 2, 1000, 15000, "a member lies about its loads, epochs, place, others, the log or sums")   \
    X(PASS, "pass", 1, 0, 0, "what waits comes through")                                                     \
    X(FLAP, "flap", 2, 0, 0, "a link goes and comes several times")                                          \
    X(CRASH_BEFORE, "crash-before-commit", 4, 300, 9000, "a host crashes, nothing in progress is stored")    \
    X(CRASH_INSIDE, "crash-inside-commits", 4, 300, 9000, "a host crashes, a part of it is stored")          \
    X(CRASH_AFTER, "crash-after-commit", 4, 300, 9000, "a host crashes, all of it is stored")                \
    X(DEATH, "death", 2, 0, 0, "a host and its disk are lost for good")                                      \
    X(EVICT_DEAD, "evict-dead", 2, 6000, 30000, "a host is down until it was evicted, or longer")            \
    X(EVICT_LIVE, "evict-live", 2, 6000, 25000, "a host is cut off until it was evicted, or longer")         \
    X(LEASH, "leash", 2, 4000, 25000, "a host reaches its backup alone")                                     \
    X(DEAF, "deaf", 2, 1000, 15000, "a host hears nothing of the control log")                               \
    X(EVICT, "evict", 2, 0, 0, "an operator evicts a host whatever it does")                                 \
    X(EVICT_UNHEARD, "evict-unheard", 1, 6000, 20000, "a host is evicted, and some do not hear of it")       \
    X(RETURN, "return", 1, 0, 0, "hosts that are down come back")                                            \
    X(DOUBLE, "double-crash", 2, 300, 12000, "a host crashes, and a second one while that is repaired")      \
    X(ROLL_BACK, "roll-back", 3, 1000, 6000, "a host's disk is an older one after a crash")                  \
    X(ROLL_BACK_TWO, "roll-back-two", 1, 1000, 6000, "the same for two hosts at once")                       \
    X(EMPTY, "empty", 2, 300, 9000, "a host crashes, and its disk is a new one afterwards")                  \
    X(CLOCK_RATE, "clock-rate", 2, 0, 0, "a clock is wrong by up to 1 %")                                    \
    X(SUSPEND, "suspend", 3, 500, 20000, "a machine sleeps, its clock goes on")                              \
    X(STOP, "stop", 3, 300, 15000, "a daemon is stopped, its applications go on")                            \
    X(SLOW_DISK, "slow-disk", 2, 1000, 10000, "syncs take twenty times as long")                             \
    X(STALLED_DISK, "stalled-disk", 2, 0, 0, "no sync ends for some seconds")                                \
    X(FULL_DISK, "full-disk", 2, 500, 6000, "a disk is full, daemons end")                                   \
    X(SYNC_ERROR, "sync-error", 2, 0, 0, "a sync fails, what it did is unknown")                             \
    X(MEMORY, "memory", 3, 0, 0, "an allocation fails")                                                      \
    X(SLOW_APPLICATION, "slow-application", 1, 2000, 15000, "applications take seconds to let go")           \
    X(DISOBEDIENT, "disobedient-application", 1, 2000, 20000, "applications mind the lease page alone")      \
    X(DEAD_APPLICATION, "dead-application", 2, 0, 0, "the applications of a host are killed")                \
    X(NEW_APPLICATION, "new-application", 2, 0, 0, "an application begins on a host")                        \
    X(KILL, "kill", 4, 300, 9000, "a daemon is killed, its applications go on")                              \
    X(LOG_AWAY, "log-unavailable", 2, 1000, 10000, "the external log does not answer")                       \
    X(LOG_LOSES, "log-reply-lost", 2, 1000, 10000, "half of the external log's answers are lost")            \
    X(JOIN, "join", 3, 0, 0, "a host that was never started, or drains, takes part")                         \
    X(DRAIN, "drain", 2, 0, 0, "a host is drained")                                                          \
    X(TO_AND_FRO, "to-and-fro", 3, 500, 6000, "a host is drained, and takes part again")                     \
    X(LEAVE, "leave", 1, 0, 0, "a host is asked to leave")                                                   \
    X(SET, "set", 5, 0, 0, "a host gets another capacity, or a job other gates")                             \
    X(SUBMIT, "submit", 2, 0, 0, "a job is submitted")                                                       \
    X(CANCEL, "cancel", 1, 0, 0, "a job is cancelled")                                                       \
    X(PROMOTE, "promote", 1, 0, 0, "another host is to order the control log")                               \
    X(ENSEMBLE_LOST, "ensemble-lost", 2, 0, 0, "most members of the ensemble lose what their etcd has")      \
    X(PROGRAM_KILLED, "program-killed", 4, 0, 0, "a program is killed, and begun again (with --programs)")   \
    X(PROGRAM_STILL, "program-still", 3, 300, 15000, "a program stands still (with --programs)")             \
    X(PROGRAM_CUT, "program-cut", 3, 0, 0, "a daemon cuts a program off (with --programs)")

enum fault_kind {
#define FAULT_ENUM(id, name, weight, least, most, text) FAULT_##id,
    FAULT_LIST(FAULT_ENUM)
#undef FAULT_ENUM
        FAULT_COUNT
};

enum { FAULT_OF_PROGRAMS = FAULT_PROGRAM_KILLED }; /* this one and all after it */

/* In a directed run several things happen to one host and those that have to do with it. */
enum role {
    ROLE_ANY, /* as drawn */
    ROLE_VICTIM,
    ROLE_BACKUP, /* who keeps the victim's replica now, or did when it was last heard of */
    ROLE_ORDERS, /* who orders the control log */
    ROLE_OTHER,  /* none of these, if there is one */
};

/* What is held back, from the first message of that kind on. */
#define HELD_LIST(X)                                                                                         \
    X(ANY, "")                                                                                               \
    X(OFFER, "offer")                                                                                        \
    X(ANSWER, "answer")                                                                                      \
    X(FIN, "fin")                                                                                            \
    X(REPL, "repl")                                                                                          \
    X(REPL_ACK, "repl_ack")                                                                                  \
    X(LEASE_REQ, "lease_req")                                                                                \
    X(LOG_APPEND, "log_append")

enum held {
#define HELD_ENUM(id, name) HELD_##id,
    HELD_LIST(HELD_ENUM)
#undef HELD_ENUM
        HELD_COUNT
};

struct fault {
    enum fault_kind kind;
    int64_t at_us;
    int64_t lasts_us;
    uint32_t step; /* of a directed scenario, from 1 on: due gap_us after the step before has happened; 0: of
                      none */
    int64_t gap_us;
    enum trigger trigger; /* it waits a while for that */
    int64_t then_us;      /* and so much longer */
    enum held held;       /* ANY: as drawn */
    enum role at;         /* where: ROLE_ANY: at host a */
    int anyone;           /* nonzero: at any host */
    enum role role;       /* which host a is */
    enum role role_b;     /* and b */
    uint32_t a, b, c;     /* drawn; taken modulo what there is */
};

enum { LAG_LEAST_US = 200000 };

struct fault_row {
    const char *name;
    uint32_t weight;
    uint32_t least_ms, most_ms;
    const char *text;
};

extern const struct fault_row fault_rows[FAULT_COUNT];

struct run;

/* Returns 0 if it cannot happen now. */
int fault_begins(struct run *s, const struct fault *fault);
void fault_ends(struct run *s, const struct fault *fault);

#endif
