/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protocol mistakes that can be planted on purpose, to measure whether the simulator finds them.
 *
 * LBM_BUG(id) stands where the rule is that the mistake breaks, and is looked at last: when nothing else
 * decides. In every ordinary build it is 0 and costs nothing; with -DLBM_BUGS it is nonzero if lbm_bug names
 * this row. `model` is the number of the mutation of tests/model that removes the same rule, 0 if the model
 * has none. */
#ifndef LBM_NODE_MUTANTS_H
#define LBM_NODE_MUTANTS_H

#include <stdint.h>

#define LBM_BUG_LIST(X)                                                                                      \
    X(NONE, 0, "none")                                                                                       \
    X(SUCCESSOR_DOES_NOT_WAIT, 1, "the successor takes over while the lease may still run")                  \
    X(RETARGETED_TOO_EARLY, 2, "a retargeted offer is accepted before takeover")                             \
    X(ACK_UNACKED, 3, "an offer is answered before the record is with the backup")                           \
    X(REPLICATE_FOR_EVICTED, 4, "a backup replicates for an owner it knows evicted")                         \
    X(WORK_UNACKED, 5, "an application works on a record that the backup has not got")                       \
    X(MOVE_WITHOUT_RELEASE, 6, "a vertex goes out while its application works on it")                        \
    X(OFFER_UNACKED, 7, "a vertex is offered before the backup knows that it is out")                        \
    X(TAKE_OVER_SAME_EPOCH, 8, "takeover keeps the epoch")                                                   \
    X(REPLICA_REFUSED_ME, 9, "the replica says refused, the own record is out to that host: not seen")       \
    X(SUCCESSOR_REFUSED_FORGOTTEN, 10, "the successor had refused the sender it inherits from: not seen")    \
    X(INSYNC_TOO_EARLY, 11, "in sync before the full copy")                                                  \
    X(KEEP_LEASE, 12, "the new backup counts its first lease as the old one's")                              \
    X(KEEP_ACKS, 13, "acknowledgements of the old backup count for the new one")                             \
    X(SUCCESSOR_STAYS_INSYNC, 14, "a successor stays in sync although it inherits")                          \
    X(SUCCESSOR_OF_SUCCESSOR_FORGOTTEN, 15, "an offer goes to a successor that is itself evicted")           \
    X(ANY_DESTINATION_INCARNATION, 16, "a returned host takes what was meant for its former self")           \
    X(INSYNC_BEFORE_TAKEOVER, 0, "in sync although something is still to be merged")                         \
    X(INSYNC_OF_OLD_BACKUP, 0, "the log takes in-sync of a former backup")                                   \
    X(LEASE_FROM_RECEIPT, 0, "a lease is counted from when the answer came")                                 \
    X(WORK_WITHOUT_LEASE, 0, "vertices are given to applications without a lease")                           \
    X(FORGET_GRANTS, 0, "a restarted grantor forgets the leases it granted")                                 \
    X(FORGET_OLD_APPLICATION, 0, "a restarted daemon forgets that an application may still work")            \
    X(EVICT_WITHOUT_INSYNC, 0, "a host is evicted although its backup has no full copy")                     \
    X(TAKEOVER_IN_TWO, 0, "takeover is two transactions")                                                    \
    X(TAKE_OVER_WITHOUT_LOG, 29, "the successor merges without the log's word")                              \
    X(REJOIN_AFTER_TAKE_OVER, 18, "an evicted host comes back although it is taken over")                    \
    X(IGNORE_ROLLED_BACK, 0, "a host goes on although its disk went back in time")                           \
    X(ACK_BEFORE_DURABLE, 0, "changes are acknowledged before they are durable")                             \
    X(FIN_TOO_EARLY, 20, "FIN is said before the end is with the backup")                                    \
    X(FIN_BEFORE_TAKEOVER, 33, "FIN is said by a successor that may yet inherit an offer")                   \
    X(COLLECT_UNFINISHED, 22, "a tombstone goes before its source has finished")                             \
    X(LEAVE_WITH_INHERITANCE, 25, "a host leaves with something to merge")                                   \
    X(JOB_BEFORE_COPY, 0, "a job is in the log before its guest is with the backup")                         \
    X(MOVE_UNFINISHED, 19, "a vertex moves on before its source has finished")                               \
    X(FORGET_REFUSAL, 31, "a newer offer makes an unfinished refusal forgotten")                             \
    X(FIN_OF_NEWER_VIEW, 32, "FIN counts although its sender knows more of the members")                     \
    X(STALE_WORD_OF_SUCCESSOR, 0, "in sync or leaving as said before the host inherited")                    \
    X(FIN_OF_OLDER_HANDOFF, 21, "FIN of an older handoff finishes a newer one")                              \
    X(TAKE_WHILE_LEAVING, 26, "a host takes something while its leaving is on its way")                      \
    X(INSYNC_BEFORE_MERGED, 0, "in sync before the backup has what was inherited")                           \
    X(CHECKPOINT_UNACKED, 0, "a checkpoint is confirmed before the backup has it")                           \
    X(LAPSED_GO_ON, 0, "an application whose lease has lapsed goes on when there is a new one")              \
    X(RELEASE_FORCED, 0, "a vertex that an application does not release goes out all the same")              \
    X(INHERIT_BEFORE_MERGE, 0, "an offer to whom a host inherits from is taken back before the merge")       \
    X(SUCCESSOR_SPEAKS_EARLY, 17, "a successor is taken for who it inherits from before the log says so")    \
    X(CHECKPOINT_OVERTAKEN, 0, "a checkpoint is confirmed without the changes that have overtaken it")       \
    X(LEAVE_OF_EARLIER_DRAIN, 0, "a host leaves by what it said before it was drained again")                \
    X(COMPARE_STORED, 0, "a disk that went back is compared with the stored copy alone")                     \
    X(CHANGE_UNACKED, 36, "a change of the guest is confirmed before the backup has it")                     \
    X(EDGES_TOLD_ONCE, 0, "a changed edge is told once, whether that arrives or not")                        \
    X(EDGES_TOLD_UNACKED, 0, "a changed edge is told before the backup has it")                              \
    X(EDGES_HEARD_UNACKED, 0, "whoever hears of a changed edge says so before the backup has it")            \
    X(EDGES_NOT_INHERITED, 0, "a successor does not tell the changed edges that it inherits")                \
    X(EDGES_OF_OLDER_CHANGE, 0, "the answer to an older change of an edge counts for the last one")          \
    X(EDGES_BOTH_RIGHT, 0, "of two ends that change an edge each stays with what it says")                   \
    X(EDGES_GIVEN_UP, 0, "an edge is given up before everybody was asked for its other end")                 \
    X(IDS_OF_EARLIER_LIFE, 0, "a restarted host gives ids of its life before")                               \
    X(LEAD_UNASKED, 0, "a leader that starts orders the log without asking the others")                      \
    X(DRAINED_IS_ACTIVE, 0, "a host that was drained, and evicted meanwhile, is active when it returns")     \
    X(LATE_IS_TAKEN, 0, "the leader takes what arrives after its end")                                       \
    X(SETTLED_WITHOUT_ALL, 0, "a job is called settled though hosts or vertices are missing")                \
    X(SETTLED_WITHOUT_LEASE, 0, "a host without a lease does not say so")                                    \
    X(ONE_COPY_COUNTS, 37, "a record counts when one of two backups has it")                                 \
    X(LEASE_OF_ONE, 38, "a lease of one of two backups suffices")                                            \
    X(SUCCESSOR_WITHOUT_INSYNC, 39, "a backup takes over that is not in sync, though the other one is")      \
    X(RESERVE_AFTER_TAKE_OVER, 40, "the other backup takes over after the first one has")                    \
    X(RESERVE_WITHOUT_INSYNC, 41, "the other backup is a reserve though it is not in sync")                  \
    X(REPLICA_WITHOUT_BLOB, 0, "a backup acknowledges a record whose large payload it has not got")          \
    X(TAKE_WITHOUT_BLOB, 0, "an offered vertex is taken without its large payload")                          \
    X(ONE_SAYS_IT, 0, "an entry of the log counts that one host alone has")

enum lbm_bug {
#define LBM_BUG_ENUM(id, model, text) LBM_BUG_##id,
    LBM_BUG_LIST(LBM_BUG_ENUM)
#undef LBM_BUG_ENUM
        LBM_BUG_COUNT
};
enum { LBM_BUG_WORDS = (LBM_BUG_COUNT + 63) / 64 };

#ifdef LBM_BUGS
extern enum lbm_bug lbm_bug;                 /* planted in all nodes of this process */
extern uint64_t lbm_bugs_met[LBM_BUG_WORDS]; /* bit per mistake: the rule that it breaks was needed */
#define LBM_BUG(id)                                                                                          \
    (lbm_bugs_met[LBM_BUG_##id / 64] |= UINT64_C(1) << LBM_BUG_##id % 64, lbm_bug == LBM_BUG_##id)
#define LBM_BUGS_MET(word) lbm_bugs_met[word]
#else
#define LBM_BUG(id) 0
#define LBM_BUGS_MET(word) 0
#endif

#endif
