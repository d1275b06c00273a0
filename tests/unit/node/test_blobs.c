/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large payloads at the receiver of an offer (docs/protocol.md section 20): what is asked for, stored and
 * said, in order; and on the way to its backup. */
#include <nettle/sha2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/node/node_fixture.h"

enum { BYTES = LBM_BLOB_PIECE_MAX + 1000 }; /* two pieces */

static uint8_t bytes[BYTES], words[LBM_BLOB_WORDS];
static struct lbm_blob_name name;

static int
make_blob(void **state)
{
    struct sha256_ctx sha;
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 7);
    name = (struct lbm_blob_name){.job = JOB, .len = BYTES};
    sha256_init(&sha);
    sha256_update(&sha, BYTES, bytes);
    sha256_digest(&sha, LBM_SHA256_BYTES, name.digest);
    lbm_blob_write_name(&name, words);
    return 0;
}

/* Host 1 sends a piece; len 0: it has none. */
static void
hear_piece(struct alone *b, uint32_t piece, size_t len)
{
    Lbm__Peer message = alone_envelope();
    Lbm__BlobPiece body = LBM__BLOB_PIECE__INIT;
    body.job = JOB;
    body.digest = (ProtobufCBinaryData){sizeof name.digest, name.digest};
    body.length = name.len;
    body.piece = piece;
    body.data = (ProtobufCBinaryData){len, bytes + (size_t)piece * LBM_BLOB_PIECE_MAX};
    message.body_case = LBM__PEER__BODY_BLOB_PIECE;
    message.blob_piece = &body;
    alone_hear(b, &message);
}

static void
hear_get(struct alone *b, uint32_t first, uint32_t count)
{
    Lbm__Peer message = alone_envelope();
    Lbm__BlobGet body = LBM__BLOB_GET__INIT;
    body.job = JOB;
    body.digest = (ProtobufCBinaryData){sizeof name.digest, name.digest};
    body.length = name.len;
    body.first = first;
    body.count = count;
    message.body_case = LBM__PEER__BODY_BLOB_GET;
    message.blob_get = &body;
    alone_hear(b, &message);
}

static void
a_vertex_is_taken_once_its_payload_is_here(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n");
    hear_piece(&b, 1, 1000); /* not the next one */
    hear_piece(&b, 0, LBM_BLOB_PIECE_MAX);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    hear_piece(&b, 0, LBM_BLOB_PIECE_MAX);
    hear_piece(&b, 1, 999); /* not so long */
    alone_expect(&b, "1000 ms  #1 piece 0\n");
    hear_piece(&b, 1, 1000);
    alone_expect(&b, "1000 ms  #2 piece 1\n"
                     "1000 ms  have to 1 >2\n");
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    alone_expect(&b, "1000 ms  #3 own 7 e2\n"
                     "1000 ms  copy 7 e2 to 1 >3\n"
                     "1000 ms  ack 7 e2 to 1 >3\n");
    alone_stop(&b);
}

static void
other_bytes_are_dropped(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    hear_piece(&b, 0, LBM_BLOB_PIECE_MAX);
    bytes[BYTES - 1] ^= 1;
    hear_piece(&b, 1, 1000);
    bytes[BYTES - 1] ^= 1;
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n"
                     "1000 ms  #1 piece 0\n"
                     "1000 ms  #2 piece 1\n"
                     "1000 ms  #2 no piece\n");
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n");
    alone_stop(&b);
}

static void
what_describes_no_payload_is_refused_as_a_whole(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words - 1);
    uint8_t empty[LBM_BLOB_WORDS] = {0}, endless[LBM_BLOB_WORDS];
    memset(endless, 255, sizeof endless);
    alone_hear_offer_of_blob(&b, 7, 2, empty, sizeof empty);
    alone_hear_offer_of_blob(&b, 7, 2, endless, sizeof endless);
    alone_expect(&b, "");
    alone_stop(&b);
}

static void
a_host_that_has_it_no_more_is_asked_again_by_the_next_offer(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    hear_piece(&b, 0, 0);
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n");
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n");
    alone_stop(&b);
}

static void
a_payload_that_no_record_has_goes_after_a_minute(void **state)
{
    (void)state;
    struct alone b;
    alone_prepare(&b);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    hear_piece(&b, 0, LBM_BLOB_PIECE_MAX);
    hear_piece(&b, 1, 1000);
    alone_expect(&b, "1000 ms  get 2 pieces from 0 of 1\n"
                     "1000 ms  #1 piece 0\n"
                     "1000 ms  #2 piece 1\n"
                     "1000 ms  have to 1 >2\n");
    alone_pass(&b, 60 * (int64_t)SECOND);
    alone_expect(&b, "");
    hear_get(&b, 0, 1); /* of use to somebody: it stays */
    alone_pass(&b, 59 * (int64_t)SECOND);
    alone_expect(&b, "");
    alone_pass(&b, 10 * (int64_t)SECOND);
    assert_non_null(strstr(b.trace.at, "no piece"));
    lbm_buf_free(&b.trace);
    hear_get(&b, 0, 1);
    assert_non_null(strstr(b.trace.at, "piece 0 of 0 bytes to 1"));
    alone_stop(&b);
}

/* Each large payload ends a message to the backup. So it gets the first change of vertex 4, which is
 * overtaken, by number alone, with vertex 7, and what vertex 4 is with the next message. */
static void
an_edge_is_known_when_the_backup_has_the_record_as_it_is(void **state)
{
    (void)state;
    struct alone b;
    uint32_t vertex[] = {8, 8, 9}, toward[] = {7, 4, 4};
    alone_prepare(&b);
    alone_keep_row(&b, 4, 1, LBM_STAGE_OWN, LBM_NONE);
    alone_start(&b, 0);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    hear_piece(&b, 0, LBM_BLOB_PIECE_MAX);
    hear_piece(&b, 1, 1000);
    alone_hear_offer_of_blob(&b, 7, 2, words, sizeof words);
    lbm_buf_free(&b.trace);
    b.backup_is_unreachable = 1;
    alone_hear_edges(&b, 3, vertex, toward);
    alone_expect(&b, "1000 ms  #4 own 7 e2\n"
                     "1000 ms  #4 own 4 e1\n"
                     "1000 ms  #4 own 4 e1\n"
                     "1000 ms  copy 7 e2 to 1 >4\n"
                     "1000 ms  copy 4 e1 to 1 >4\n");
    uint64_t seq = b.seq;
    alone_hear_acked(&b, seq - 1);
    alone_expect(&b, "1000 ms  edge 8 to 7 is known >4\n");
    alone_hear_acked(&b, seq);
    alone_expect(&b, "1000 ms  edge 8 to 4 is known >4\n"
                     "1000 ms  edge 9 to 4 is known >4\n");
    alone_stop(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vertex_is_taken_once_its_payload_is_here),
        cmocka_unit_test(other_bytes_are_dropped),
        cmocka_unit_test(what_describes_no_payload_is_refused_as_a_whole),
        cmocka_unit_test(a_host_that_has_it_no_more_is_asked_again_by_the_next_offer),
        cmocka_unit_test(a_payload_that_no_record_has_goes_after_a_minute),
        cmocka_unit_test(an_edge_is_known_when_the_backup_has_the_record_as_it_is),
    };
    return cmocka_run_group_tests_name("blobs", tests, make_blob, NULL);
}
