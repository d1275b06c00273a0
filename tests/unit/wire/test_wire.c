/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/wire: what keeps the rules arrives unchanged, and no bytes do harm or cost more memory than their
 * number allows. test_wire_rules.c breaks the rules one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/wire.h"
#include "tests/unit/wire/wire_sample.h"

static struct lbm_diag diag;

static const struct lbm_wire_table *const roots[] = {&lbm_wire_peer_table, &lbm_wire_command_table,
                                                     &lbm_wire_request_table, &lbm_wire_response_table,
                                                     &lbm_wire_snapshot_table};
enum { ROOTS = 5 };

/* The functions of wire.h by root, so that tests go over all of them. */
static enum lbm_err
unpack(int root, const uint8_t *bytes, size_t len, ProtobufCMessage **out)
{
    switch (root) {
    case 0:
        return lbm_wire_unpack_peer(bytes, len, (Lbm__Peer **)out, &diag);
    case 1:
        return lbm_wire_unpack_command(bytes, len, (Lbm__Command **)out, &diag);
    case 2:
        return lbm_wire_unpack_request(bytes, len, (Lbm__Request **)out, &diag);
    case 3:
        return lbm_wire_unpack_response(bytes, len, (Lbm__Response **)out, &diag);
    default:
        return lbm_wire_unpack_snapshot(bytes, len, (Lbm__Snapshot **)out, &diag);
    }
}

static uint8_t *
pack(const ProtobufCMessage *message, size_t *len)
{
    *len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(*len + 1);
    assert_non_null(bytes);
    assert_int_equal(protobuf_c_message_pack(message, bytes), *len);
    return bytes;
}

static void
release(ProtobufCMessage *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

/* ---- what keeps the rules ------------------------------------------------------------------------ */

static void
assert_round_trip(int root, unsigned body, size_t rows)
{
    ProtobufCMessage *message = sample_new(roots[root], rows, body, 1), *back = NULL;
    size_t len, again_len;
    uint8_t *bytes = pack(message, &len);
    enum lbm_err err = unpack(root, bytes, len, &back);
    if (err != LBM_OK)
        fail_msg("%s: %s: %s", lbm_err_name(err), diag.where, diag.text);
    uint8_t *again = pack(back, &again_len);
    assert_int_equal(len, again_len);
    assert_memory_equal(bytes, again, len);
    release(message);
    release(back);
    free(bytes);
    free(again);
}

static void
every_kind_of_message_arrives_unchanged(void **state)
{
    (void)state;
    static const size_t rows[] = {0, 1, 2, 256, 5000};
    for (int root = 0; root < ROOTS; root++)
        for (unsigned body = 0; body < sample_bodies(roots[root]); body++)
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                assert_round_trip(root, body, rows[i]);
}

static void
frames_carry_their_length(void **state)
{
    (void)state;
    Lbm__Request status = LBM__REQUEST__INIT, *back = NULL;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    status.id = 7;
    status.what_case = LBM__REQUEST__WHAT_STATUS;
    status.status = &empty;
    uint8_t *frame = NULL;
    size_t len = 0;
    uint32_t length = 0;
    assert_int_equal(lbm_wire_pack_request(&status, &frame, &len), LBM_OK);
    assert_int_equal(lbm_frame_length(frame, &length), LBM_OK);
    assert_int_equal(length + LBM_FRAME_HEADER, len);
    assert_int_equal(lbm_wire_unpack_request(frame + LBM_FRAME_HEADER, length, &back, &diag), LBM_OK);
    assert_true(back->id == 7 && back->what_case == LBM__REQUEST__WHAT_STATUS);
    lbm__request__free_unpacked(back, NULL);
    free(frame);
}

static void
frame_lengths_are_bounded(void **state)
{
    (void)state;
    static const struct {
        uint8_t header[LBM_FRAME_HEADER];
        enum lbm_err err;
        uint32_t length;
    } cases[] = {
        {{0, 0, 0, 0}, LBM_E_LIMIT, 9},         {{1, 0, 0, 0}, LBM_OK, 1},
        {{0, 0, 0x40, 0}, LBM_OK, 4u << 20},    {{1, 0, 0x40, 0}, LBM_E_LIMIT, 9},
        {{255, 255, 255, 255}, LBM_E_LIMIT, 9}, {{0x04, 0x03, 0x02, 0}, LBM_OK, 0x020304},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t length = 9;
        assert_int_equal(lbm_frame_length(cases[i].header, &length), cases[i].err);
        assert_int_equal(length, cases[i].length);
    }
}

static void
message_larger_than_a_frame_is_not_packed(void **state)
{
    (void)state;
    Lbm__Peer peer = LBM__PEER__INIT;
    Lbm__LogAppend append = LBM__LOG_APPEND__INIT;
    uint8_t *frame = NULL;
    size_t len = 0;
    assert_int_equal(lbm_wire_pack_peer(&peer, &frame, &len), LBM_E_LIMIT); /* empty */
    peer.body_case = LBM__PEER__BODY_LOG_APPEND;
    peer.log_append = &append;
    append.command.len = LBM_FRAME_BYTES_MAX;
    append.command.data = lbm_alloc(append.command.len, 1);
    assert_non_null(append.command.data);
    assert_int_equal(lbm_wire_pack_peer(&peer, &frame, &len), LBM_E_LIMIT);
    assert_null(frame);
    append.command.len -= 10; /* its own two keys and lengths */
    assert_int_equal(lbm_wire_pack_peer(&peer, &frame, &len), LBM_OK);
    assert_int_equal(len, LBM_FRAME_HEADER + LBM_FRAME_BYTES_MAX);
    free(frame);
    free(append.command.data);
}

/* ---- what breaks them --------------------------------------------------------------------------- */

static void
refusal_names_the_path_of_the_field(void **state)
{
    (void)state;
    Lbm__Offer *offer = NULL;
    Lbm__Peer peer = LBM__PEER__INIT, *back = NULL;
    for (size_t i = 0; offer == NULL && i < lbm_wire_peer_table.n_rules; i++)
        if (lbm_wire_peer_table.rules[i].nested != NULL &&
            lbm_wire_peer_table.rules[i].nested->type == &lbm__offer__descriptor)
            offer = (Lbm__Offer *)sample_new(lbm_wire_peer_table.rules[i].nested, 3, 0, 1);
    assert_non_null(offer);
    peer.body_case = LBM__PEER__BODY_OFFER;
    peer.offer = offer;
    offer->records->weight[1] = 0;
    size_t len;
    uint8_t *bytes = pack(&peer.base, &len);
    assert_int_equal(lbm_wire_unpack_peer(bytes, len, &back, &diag), LBM_E_RANGE);
    assert_null(back);
    assert_string_equal(diag.where, "peer.offer.records.weight");
    assert_string_equal(diag.text, "element 1 is 0, outside 1 .. 2147483647");
    assert_int_equal(lbm_wire_unpack_peer(bytes, len, &back, NULL), LBM_E_RANGE);
    free(bytes);
    release(&offer->base);
}

/* ---- hostile bytes --------------------------------------------------------------------------------- */

/* Whatever the bytes, the answer is an error or a message that keeps the rules. */
static void
assert_safe(int root, const uint8_t *bytes, size_t len)
{
    ProtobufCMessage *message = NULL;
    enum lbm_err err = unpack(root, bytes, len, &message);
    if (err == LBM_OK) {
        assert_int_equal(lbm_wire_check(roots[root], "again", message, &diag), LBM_OK);
        release(message);
        return;
    }
    assert_null(message);
    assert_true(err == LBM_E_SYNTAX || err == LBM_E_RANGE || err == LBM_E_LIMIT);
}

static void
cut_and_garbled_messages_are_safe(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 3);
    for (int root = 0; root < ROOTS; root++)
        for (unsigned body = 0; body < sample_bodies(roots[root]); body++) {
            ProtobufCMessage *message = sample_new(roots[root], 3, body, 1);
            size_t len;
            uint8_t *bytes = pack(message, &len);
            for (size_t cut = 0; cut < len; cut++) {
                uint8_t *exact = lbm_copy(bytes, cut, 1); /* so that a sanitizer sees reads behind the end */
                assert_safe(root, exact, cut);
                free(exact);
            }
            for (int i = 0; i < 400; i++) {
                uint32_t at = lbm_rng_below(&rng, (uint32_t)len);
                uint8_t was = bytes[at];
                bytes[at] = (uint8_t)lbm_rng_next(&rng);
                assert_safe(root, bytes, len);
                bytes[at] = i % 4 == 0 ? bytes[at] : was; /* some changes stay */
            }
            free(bytes);
            release(message);
        }
}

static void
random_bytes_are_safe(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 4);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[64];
        size_t len = lbm_rng_below(&rng, sizeof bytes + 1);
        for (size_t k = 0; k < len; k++)
            bytes[k] = (uint8_t)lbm_rng_next(&rng);
        assert_safe(i % ROOTS, bytes, len);
    }
}

/* A frame of repeated bytes inside field `key` of a peer message, of the largest size. */
static enum lbm_err
unpack_repeated(uint32_t key, const uint8_t *unit, size_t unit_len)
{
    uint8_t *bytes = lbm_alloc(LBM_FRAME_BYTES_MAX, 1), *at = bytes;
    assert_non_null(bytes);
    size_t inner = (LBM_FRAME_BYTES_MAX - 16) / unit_len * unit_len;
    for (uint32_t v = key << 3 | 2; v != 0; v >>= 7) /* key and length as varints */
        *at++ = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    for (size_t v = inner; v != 0; v >>= 7)
        *at++ = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    for (size_t i = 0; i < inner; i += unit_len, at += unit_len)
        memcpy(at, unit, unit_len);
    Lbm__Peer *peer = NULL;
    enum lbm_err err = lbm_wire_unpack_peer(bytes, (size_t)(at - bytes), &peer, &diag);
    assert_null(peer);
    free(bytes);
    return err;
}

static void
bytes_that_unpack_to_much_more_are_refused(void **state)
{
    (void)state;
    const uint8_t empty_load_report[] = {0x12, 0x00};               /* Ping.jobs, 170 bytes each in memory */
    const uint8_t unknown[] = {0xf8, 0x07, 0x00};             /* field 127 of nobody */
    const uint8_t empty_command[] = {0x12, 0x00};             /* LogEntries.command */
    const uint8_t records[] = {0x12, 0x03, 0x0a, 0x01, 0x05}; /* Offer.records, joined again and again */
    assert_int_equal(unpack_repeated(11, empty_load_report, sizeof empty_load_report), LBM_E_LIMIT);
    assert_int_equal(unpack_repeated(11, unknown, sizeof unknown), LBM_E_LIMIT);
    assert_int_equal(unpack_repeated(13, empty_command, sizeof empty_command), LBM_E_LIMIT);
    assert_int_equal(unpack_repeated(22, records, sizeof records), LBM_E_LIMIT);
    assert_int_equal(unpack_repeated(127, unknown, sizeof unknown), LBM_E_SYNTAX); /* no body */
}

static void
lengths_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16];
        size_t len;
    } cases[] = {
        {{0xa2, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f}, 7},                    /* Ghosts of 4 GiB */
        {{0xa2, 0x01, 0x06, 0x1a, 0xff, 0xff, 0xff, 0xff, 0x0f}, 9},        /* its column of 4 GiB */
        {{0xa2, 0x01, 0x04, 0x3a, 0x02, 0x00, 0x00}, 7},                    /* doubles of 2 bytes */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 10}, /* an endless key */
        {{0x0b}, 1},                                                        /* a group */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Lbm__Peer *peer = NULL;
        assert_int_equal(lbm_wire_unpack_peer(cases[i].bytes, cases[i].len, &peer, &diag), LBM_E_SYNTAX);
        assert_null(peer);
    }
    Lbm__Peer *peer = NULL;
    uint8_t *large = lbm_alloc(LBM_FRAME_BYTES_MAX + 1, 1);
    assert_non_null(large);
    assert_int_equal(lbm_wire_unpack_peer(large, LBM_FRAME_BYTES_MAX + 1, &peer, &diag), LBM_E_LIMIT);
    free(large);
}

static void
unknown_fields_are_dropped(void **state)
{
    (void)state;
    /* Request 7: locate in "j", with field 100 inside and outside. */
    const uint8_t bytes[] = {0x08, 0x07, 0x8a, 0x01, 0x06, 0x0a, 0x01,
                             'j',  0xa0, 0x06, 0x01, 0xa0, 0x06, 0x01};
    Lbm__Request *request = NULL;
    assert_int_equal(lbm_wire_unpack_request(bytes, sizeof bytes, &request, &diag), LBM_OK);
    assert_int_equal(request->what_case, LBM__REQUEST__WHAT_LOCATE);
    assert_string_equal(request->locate->job, "j");
    assert_int_equal(request->base.n_unknown_fields, 0);
    assert_int_equal(request->locate->base.n_unknown_fields, 0);
    lbm__request__free_unpacked(request, NULL);
}

/* The densest honest messages must not meet the memory budget. */
static void
largest_honest_messages_are_accepted(void **state)
{
    (void)state;
    for (int root = 0; root < ROOTS; root++)
        for (unsigned body = 0; body < sample_bodies(roots[root]); body++)
            for (size_t rows = 64; rows <= LBM_ROWS_MAX; rows *= 4) {
                ProtobufCMessage *message = sample_new(roots[root], rows, body, 1);
                if (protobuf_c_message_get_packed_size(message) <= LBM_FRAME_BYTES_MAX)
                    assert_round_trip(root, body, rows);
                release(message);
            }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_message_arrives_unchanged),
        cmocka_unit_test(frames_carry_their_length),
        cmocka_unit_test(frame_lengths_are_bounded),
        cmocka_unit_test(message_larger_than_a_frame_is_not_packed),
        cmocka_unit_test(refusal_names_the_path_of_the_field),
        cmocka_unit_test(cut_and_garbled_messages_are_safe),
        cmocka_unit_test(random_bytes_are_safe),
        cmocka_unit_test(bytes_that_unpack_to_much_more_are_refused),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(unknown_fields_are_dropped),
        cmocka_unit_test(largest_honest_messages_are_accepted),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
