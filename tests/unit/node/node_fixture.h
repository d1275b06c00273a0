/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node alone, driven by hand: what it stores and sends, in order. The traces read as
 *     1000 ms  #4 own 7 e2            transaction 4 asked for: record of vertex 7
 *     1000 ms  ack 7 e2 to 1 >4       sent once transaction 4 is durable
 *     1000 ms  copy 7 e2 to 1 >4      the record goes to the backup
 *     1000 ms  edge 8 to 7 is known   the owner of vertex 8 hears that the record of vertex 7 says so, too
 * and have only what handoffs are about. Host 1 is the backup too. It answers at once, unless the test lets
 * it say nothing. What is not as expected fails the test. */
#ifndef LBM_TESTS_UNIT_NODE_NODE_FIXTURE_H
#define LBM_TESTS_UNIT_NODE_NODE_FIXTURE_H

#include "node/node.h"

enum { CLUSTER = 77, JOB = 9, SELF = 0, OTHER = 1, SECOND = 1000000 };

struct alone {
    struct lbm_node *node;
    struct lbm_recovered *disk; /* until started */
    int64_t now_us;
    struct lbm_buf trace;
    int backup_is_unreachable;
    uint64_t asked_us, repl_epoch, seq; /* what the backup was asked and sent, not answered yet; 0: nothing */
    uint64_t held;                      /* what it has answered */
    uint64_t check;                     /* question about an offer, to be answered; 0: none */
    uint64_t sweep;                     /* of the round with it that was last opened */
};

/* Host 0 of two, leader, with the log of both and of a job of ten vertices whose coordinator is host 1. */
void alone_prepare(struct alone *b);
void alone_keep_row(struct alone *b, uint32_t vertex, uint64_t epoch, enum lbm_stage stage, uint32_t peer);
void alone_start(struct alone *b, uint32_t vertices_max);
void alone_stop(struct alone *b);

void alone_pass(struct alone *b, int64_t us);
void alone_behind(struct alone *b,
                  int is_behind); /* much of what was sent to host 1 has not left, or it has */
void alone_expect(struct alone *b, const char *expected); /* since the last time */

/* What host 1 says, without a body yet. */
Lbm__Peer alone_envelope(void);
void alone_hear(struct alone *b, const Lbm__Peer *message);
void alone_hear_phase(struct alone *b, enum lbm_phase phase); /* of the job, there */
void alone_hear_offer(struct alone *b, uint32_t vertex, uint64_t epoch);
void alone_hear_offer_as(struct alone *b, Lbm__Peer message, uint64_t job, uint32_t vertex, uint64_t epoch);
/* The same with a payload that is said to describe a blob. */
void alone_hear_offer_of_blob(struct alone *b, uint32_t vertex, uint64_t epoch, const uint8_t *words,
                              uint32_t len);
void alone_hear_answer(struct alone *b, uint32_t vertex, uint64_t epoch, uint32_t refused);
/* As the backup: all changes up to that number are durable there. */
void alone_hear_acked(struct alone *b, uint64_t seq);
/* vertex, toward [n], n at most 4: each vertex of host 1 has an edge of bandwidth 1 to that one of host 0. */
void alone_hear_edges(struct alone *b, size_t n, uint32_t *vertex, uint32_t *toward);

#endif
