/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Every bound on what comes from outside, in one place, each with its reason. */
#ifndef LBM_BASE_LIMITS_H
#define LBM_BASE_LIMITS_H

#include <stdint.h>

/* Guest. Vertex ids are 32-bit and the top value means "none". */
#define LBM_NONE UINT32_MAX
#define LBM_VERTICES_MAX UINT32_C(1000000000) /* 10^9: two orders above what one host's memory holds */
#define LBM_EDGE_DIRECTIONS_MAX UINT64_C(16000000000)
#define LBM_WEIGHT_MAX                                                                                       \
    UINT32_C(2147483647) /* vertex and edge weights: fits METIS's and Scotch's 32-bit idx */

/* Text of a file, unpacked: METIS text of the largest guest whose rows fit 64 GiB; a gzip bomb ends here. */
#define LBM_FILE_BYTES_MAX (UINT64_C(16) << 30)

/* Host graph. The distance matrix is dense: 4 bytes per pair, 256 MiB at the limit. */
#define LBM_COPIES_MAX 2 /* backups of a host: a record is on that many other hosts */
#define LBM_HOSTS_MAX 8192
#define LBM_LINK_COST_MAX UINT32_C(500000) /* a routing distance of 8191 hops then fits 32 bits */
#define LBM_CAPACITY_MIN 1e-9              /* of a host in a host graph: sums and ratios are finite */
#define LBM_CAPACITY_MAX 1e12
#define LBM_DAEMON_CAPACITY_MIN 1e-6 /* of a daemon's host (lbmapd.conf) */
#define LBM_DAEMON_CAPACITY_MAX 1e6
#define LBM_CAPACITY_RATIO_MAX                                                                               \
    16 /* that a host announces, to the median of the others: machines of ten years' differ so */
#define LBM_LOAD_MAX                                                                                         \
    (UINT64_C(1) << 50)           /* of a host, as others hear it: those of LBM_HOSTS_MAX add up in 64 bits */
#define LBM_CAPACITY_OTHERS_MIN 3 /* fewer others have no median that one of them could not choose */
#define LBM_OPERATORS_MAX 64      /* hosts at which operators are listened to, if not all */
#define LBM_ENSEMBLE_MAX 7        /* members of an ensemble of etcd: more make each entry slower */
#define LBM_LINKS_MAX 2097152     /* all of complete:2048; 32 MiB of rows, colours in seconds */
#define LBM_NETWORK_MAX 65536     /* hosts and switches of a host graph: a search from each host */
#define LBM_DIMENSIONS_MAX 3      /* of Omega (HEI97 section 3: 2, or 3 for richer topologies) */

/* Wire. One frame carries at most a batch; a peer that announces more is cut off before allocation. */
#define LBM_FRAME_BYTES_MAX (4u << 20)
#define LBM_UNKNOWN_JOBS_MAX 16                       /* that one lease names */
#define LBM_BATCH_VERTICES_MAX 256                    /* protocol.md section 1 */
#define LBM_BATCH_BYTES_MAX (1u << 20)                /* protocol.md section 1 */
#define LBM_REASON_MAX 127                            /* bytes that say why a host is in maintenance */
#define LBM_MAINTENANCE_US_MAX UINT64_C(604800000000) /* a week */
#define LBM_NAME_MAX 63                               /* host and job names: a DNS label */
#define LBM_ADDRESS_MAX 255                           /* host:port, a DNS name */
#define LBM_PAYLOAD_MAX (1u << 18) /* of an application, in a record: some still fit one batch */
#define LBM_BLOB_BYTES_MAX                                                                                   \
    (64u << 20)             /* of a payload that is kept in pieces: a program's state of a whole mesh */
#define LBM_SHA256_BYTES 32 /* FIPS 180-4: the name of a blob */
#define LBM_BLOB_PIECE_MAX (1u << 18) /* bytes of a piece: a few of them fit a frame, and a loop's turn */
#define LBM_BLOB_PIECES_ASKED_MAX 8   /* at a time */
#define LBM_LEASE_US 7000000          /* what a backup grants at a time (protocol.md section 5) */
/* The longest lease that any version of lbmap has granted: a daemon may start after one of another version.
 */
#define LBM_LEASE_EVER_US (LBM_LEASE_US > 8000000 ? LBM_LEASE_US : 8000000)
#define LBM_LEASE_STOP_US 2000000       /* so long before its end an application starts nothing new */
#define LBM_LEASE_US_MAX 60000000       /* no lease is longer: a peer cannot keep an application going */
#define LBM_DEGREE_MAX 60000            /* of a vertex in a job: its record must fit one batch */
#define LBM_CHANGE_RECORDS_MAX 4096     /* that one change of a guest touches: sent to a backup together */
#define LBM_CHANGE_BYTES_MAX (2u << 20) /* of these: fits a frame */
#define LBM_IDS_MAX 1048576             /* ids of vertices that are allotted, or asked for, at a time */
#define LBM_REQUESTS_KEPT 256           /* last requests of clients whose repetition is known */
#define LBM_ALERTS_MAX 16               /* kinds of troubles that a daemon announces */
#define LBM_JOBS_MAX 64                 /* live jobs in a cluster */
#define LBM_LOG_LINES_MAX 4096          /* of the control log in one answer: fits a frame */
#define LBM_EVENTS_MAX 1024             /* kept by a daemon for `lbctl events` */
#define LBM_MOVES_MAX 16384             /* kept by a daemon for `lbctl explain`, at most: 2 MiB */
#define LBM_MOVES_LEAST 1024            /* the same, of a daemon with few vertices */
#define LBM_MOVES_TOLD_MAX 256          /* of one vertex by one host, the last of them */
#define LBM_MOVES_ALL_MAX 4096          /* the same, by all hosts: fits a frame */
#define LBM_SUMS_MAX 49408            /* numbers in a sum over all hosts: six loads of each, and some more */
#define LBM_SUMS_SAMPLE_MAX 65536     /* positions that hosts tell together, along a tree */
#define LBM_SUMS_STAGE_MAX 2147483647 /* stages of a mapping, and of those that follow while a job runs */
#define LBM_STAGE_STEP 16777216       /* stages that another host may be ahead */
#define LBM_SAMPLE_MAX 4096           /* positions that a host tells its job's coordinator at a time */
#define LBM_SPREAD_VERTICES 200000    /* a guest that diffuses is spread as it is read: 50 MiB of records */
#define LBM_GATE_SECONDS_MAX 1e6      /* of a cool-down, of a payback: 12 days */
#define LBM_GATE_BYTES_MAX 1000000000000 /* a second: more than any network has */
#define LBM_PEER_BEHIND                                                                                      \
    (1u << 20)                /* bytes to a host that have not left: nothing large is repeated meanwhile */
#define LBM_APPLICANTS_MAX 16 /* hosts that ask to join and cannot be reached: those of one mistake */
#define LBM_CONTACTS_MAX 16   /* members a host asks when it knows nobody: 16 of them do not all go at once */
#define LBM_ENROL_BYTES_MAX 4096 /* of a request for a certificate, of a certificate: ours have some 500 */
#define LBM_REVOKED_USERS_MAX                                                                                \
    1024                       /* names of operators whose certificates are void: people leave, hundreds */
#define LBM_NOTE_BYTES_MAX 256 /* that an application publishes: an address and a key fit */
#define LBM_POST_BYTES_MAX                                                                                   \
    (1u << 20)                     /* from application to application at a time: a payload fits, and more */
#define LBM_CLIENTS_MAX 64         /* control connections of one daemon */
#define LBM_RUN_BYTES_MAX 8192     /* of a program's folder, arguments and environment: an entry of the log */
#define LBM_PROGRAM_WHY_MAX 192    /* bytes that say why a program does not run, its 0 included */
#define LBM_RUN_WORDS_MAX 1024     /* strings in these */
#define LBM_OUTPUT_BYTES_MAX 16384 /* of a program's output at a time */

/* ---- what must fit together: a constant that is changed alone compiles only if these still hold ----------
 */

/* How far above what a host knows a number of another may be: more than can happen while the two do not hear
 * each other, and so little that nobody gets to the end of 64 bits by such steps. */
#define LBM_TERM_STEP UINT64_C(0x100000)          /* promotions, by operators */
#define LBM_INDEX_STEP UINT64_C(0x100000000)      /* entries of the control log */
#define LBM_EPOCH_STEP UINT64_C(0x1000000)        /* handoffs of one vertex, between two pings */
#define LBM_INCARNATION_STEP UINT64_C(0x100000)   /* evictions of one host */
#define LBM_POSITION_STEP UINT64_C(0x10000000000) /* changes of one host's records */
#define LBM_SWEEP_STEP UINT64_C(0x100000000)      /* sweeps, frames */

_Static_assert(LBM_VERTICES_MAX < LBM_NONE, "the top value means none");
_Static_assert(LBM_LOAD_MAX <= UINT64_MAX / LBM_HOSTS_MAX, "all loads add up");
_Static_assert(LBM_HOSTS_MAX < LBM_NONE, "the top value means none");
_Static_assert(LBM_WEIGHT_MAX <= INT32_MAX, "weights fit the 32-bit integers of METIS and Scotch");
_Static_assert((uint64_t)LBM_LINK_COST_MAX *(LBM_HOSTS_MAX - 1) < UINT32_MAX, "distances fit 32 bits");
_Static_assert((uint64_t)LBM_HOSTS_MAX *LBM_HOSTS_MAX * 4 <= UINT64_C(1) << 28,
               "a distance matrix fits 256 MiB");
_Static_assert(LBM_LINKS_MAX >= UINT64_C(2048) * 2047 / 2, "complete:2048 fits");
_Static_assert(
    (int64_t)LBM_DAEMON_CAPACITY_MAX <= (int64_t)LBM_CAPACITY_MAX,
    "a daemon's capacity is one that a host graph takes; for the least tests/unit/base/test_numbers.c");
_Static_assert(LBM_LEASE_STOP_US * 2 <= LBM_LEASE_US, "an application works for half of its lease at least");
_Static_assert(LBM_LEASE_EVER_US <= LBM_LEASE_US_MAX, "the wire takes the leases that are granted");
_Static_assert(LBM_BATCH_BYTES_MAX * 2 <= LBM_FRAME_BYTES_MAX, "a batch and its columns fit a frame");
_Static_assert(LBM_PAYLOAD_MAX * 2 <= LBM_BATCH_BYTES_MAX, "some payloads fit a batch");
_Static_assert(LBM_BLOB_PIECE_MAX * 2 <= LBM_BATCH_BYTES_MAX, "a piece is no larger than a batch");
_Static_assert(LBM_DEGREE_MAX * 16 <= LBM_BATCH_BYTES_MAX,
               "a vertex of most neighbours fits a batch, 16 bytes each");
_Static_assert(LBM_CHANGE_BYTES_MAX + LBM_BATCH_BYTES_MAX <= LBM_FRAME_BYTES_MAX,
               "what changes together fits a frame");
_Static_assert(LBM_CHANGE_BYTES_MAX / LBM_CHANGE_RECORDS_MAX >= 256, "many small records change together");
_Static_assert(LBM_CHANGE_RECORDS_MAX <= LBM_IDS_MAX, "ids for one change are given at a time");
_Static_assert(LBM_POST_BYTES_MAX >= 4 * LBM_PAYLOAD_MAX && LBM_POST_BYTES_MAX * 2 <= LBM_FRAME_BYTES_MAX,
               "some payloads fit a post, and posts fit a frame");
_Static_assert(LBM_OUTPUT_BYTES_MAX <= LBM_POST_BYTES_MAX, "output is no larger than a post");
_Static_assert(LBM_LOG_LINES_MAX * 512u <= LBM_FRAME_BYTES_MAX,
               "lines of the log fit a frame, 512 bytes each");
_Static_assert(LBM_EVENTS_MAX * 512u <= LBM_FRAME_BYTES_MAX, "events fit a frame, 512 bytes each");
_Static_assert(LBM_MOVES_ALL_MAX * 256u <= LBM_FRAME_BYTES_MAX,
               "moves of a vertex fit a frame, 256 bytes each");
_Static_assert(LBM_MOVES_TOLD_MAX <= LBM_MOVES_ALL_MAX && LBM_MOVES_LEAST <= LBM_MOVES_MAX,
               "what one host tells, or keeps at least, is part of the whole");
_Static_assert(LBM_SAMPLE_MAX * 32u <= LBM_FRAME_BYTES_MAX,
               "a sample of positions fits a frame, 32 bytes each");
_Static_assert(LBM_SUMS_MAX >= 6 * LBM_HOSTS_MAX + 64, "six loads of each host are added up at a time");
_Static_assert(LBM_SUMS_SAMPLE_MAX * 32u + LBM_SUMS_MAX * 8u <= LBM_FRAME_BYTES_MAX, "a sum fits a frame");
_Static_assert(LBM_PEER_BEHIND >= LBM_BATCH_BYTES_MAX, "one batch on its way is nothing unusual");
_Static_assert(LBM_NAME_MAX <= LBM_ADDRESS_MAX, "a name and a port are an address");

#endif
