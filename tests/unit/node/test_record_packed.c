/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of other hosts, packed and unpacked again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/rng.h"
#include "node/records/record_packed.h"

enum { JOB = 7 };

static void
assert_same(const struct lbm_row *a, const struct lbm_row *b)
{
    assert_int_equal(a->job, b->job);
    assert_int_equal(a->vertex, b->vertex);
    assert_int_equal(a->stage, b->stage);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->peer_incarnation, b->peer_incarnation);
    assert_int_equal(a->work, b->work);
    assert_int_equal(a->pin, b->pin);
    assert_int_equal(a->anchored, b->anchored);
    assert_memory_equal(a->position, b->position, sizeof a->position);
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->source_incarnation, b->source_incarnation);
    assert_int_equal(a->fin, b->fin);
    assert_int_equal(a->degree, b->degree);
    assert_int_equal(a->half != NULL, b->half != NULL);
    assert_memory_equal(a->half, b->half, a->degree * sizeof *a->half);
    assert_int_equal(a->n_news, b->n_news);
    assert_memory_equal(a->news, b->news, a->n_news * sizeof *a->news);
    assert_int_equal(a->payload_len, b->payload_len);
    assert_memory_equal(a->payload, b->payload, a->payload_len);
}

/* Returns the bytes it took. */
static size_t
expect_back(const struct lbm_row *row)
{
    struct lbm_buf scratch = {0};
    struct lbm_row back;
    uint8_t *kept = lbm_records_pack(row, &scratch);
    assert_non_null(kept);
    struct kept_head head = lbm_records_packed_head(kept);
    assert_int_equal(head.vertex, row->vertex);
    assert_int_equal(head.stage, row->stage);
    assert_int_equal(head.epoch, row->epoch);
    assert_int_equal(lbm_records_unpack(kept, row->job, &back), LBM_OK);
    assert_same(row, &back);
    size_t bytes = scratch.len;
    lbm_row_free(&back);
    lbm_buf_free(&scratch);
    free(kept);
    return bytes;
}

static void
rows_come_back(void **state)
{
    static const uint32_t number[] = {0, 1, 127, 128, 16383, 16384, 1U << 31, LBM_NONE - 1, LBM_NONE};
    static const uint64_t large[] = {0, 1, 127, 128, UINT32_MAX, 1ULL << 63, UINT64_MAX};
    static const double at[] = {0, -0.0, 0.5, -1e300, 1.0 / 3};
    struct lbm_rng rng;
    (void)state;
    lbm_rng_stream(&rng, 1, 0);
    for (int i = 0; i < 10000; i++) {
        struct lbm_half half[5], news[3];
        uint8_t payload[200];
#define ANY(list) (list)[lbm_rng_below(&rng, sizeof(list) / sizeof *(list))]
        for (size_t k = 0; k < sizeof payload; k++)
            payload[k] = (uint8_t)lbm_rng_next(&rng);
        for (int k = 0; k < 5; k++)
            half[k] = (struct lbm_half){ANY(number), ANY(number), ANY(number)};
        for (int k = 0; k < 3; k++)
            news[k] = (struct lbm_half){ANY(number), ANY(number), ANY(number)};
        struct lbm_row row = {.job = JOB,
                              .vertex = ANY(number),
                              .stage = (enum lbm_stage)lbm_rng_below(&rng, LBM_STAGE_COUNT),
                              .epoch = ANY(large),
                              .peer = ANY(number),
                              .work = ANY(number),
                              .peer_incarnation = ANY(large),
                              .pin = ANY(number),
                              .anchored = (int)lbm_rng_below(&rng, 2),
                              .position = {ANY(at), ANY(at), ANY(at)},
                              .seq = ANY(large),
                              .source_incarnation = ANY(large),
                              .source = ANY(number),
                              .fin = (int)lbm_rng_below(&rng, 2),
                              .degree = (uint32_t)lbm_rng_below(&rng, 6),
                              .payload_len = (uint32_t)lbm_rng_below(&rng, 201),
                              .half = half,
                              .payload = payload,
                              .news = news,
                              .n_news = (uint32_t)lbm_rng_below(&rng, 4)};
#undef ANY
        row.half = row.degree == 0 && lbm_rng_below(&rng, 2) != 0 ? NULL : half;
        expect_back(&row);
    }
}

static void
an_ordinary_row_is_small(void **state)
{
    struct lbm_half half[4] = {{1000, 1, 3}, {2001, 1, 3}, {1999, 1, LBM_NONE}, {3000, 1, 15}};
    struct lbm_row row = {.job = JOB,
                          .vertex = 2000,
                          .stage = LBM_STAGE_OWN,
                          .epoch = 3,
                          .peer = LBM_NONE,
                          .work = 1,
                          .pin = LBM_NONE,
                          .position = {0.25, 0.75},
                          .seq = 100000,
                          .source = LBM_NONE,
                          .fin = 1,
                          .degree = 4,
                          .half = half};
    (void)state;
    assert_in_range(expect_back(&row), 1, 56); /* with the allocator's own 8 of 64 */
}

static int allocations_left;

static int
fails_then(void)
{
    return allocations_left-- <= 0;
}

static void
short_memory_is_told(void **state)
{
    struct lbm_half half = {1, 2, 3};
    uint8_t payload[3] = {1, 2, 3};
    struct lbm_row row = {.job = JOB,
                          .vertex = 5,
                          .stage = LBM_STAGE_OUT,
                          .epoch = 1,
                          .degree = 1,
                          .half = &half,
                          .n_news = 1,
                          .news = &half,
                          .payload_len = sizeof payload,
                          .payload = payload};
    struct lbm_row back = {.vertex = 99};
    struct lbm_buf scratch = {0};
    (void)state;
    uint8_t *kept = lbm_records_pack(&row, &scratch);
    assert_non_null(kept);
    lbm_alloc_fails = fails_then;
    for (int i = 0; i < 3; i++) {
        allocations_left = i;
        assert_int_equal(lbm_records_unpack(kept, JOB, &back), LBM_E_NOMEM);
        assert_int_equal(back.vertex, 99);
    }
    allocations_left = 0;
    assert_null(lbm_records_pack(&row, &scratch));
    lbm_alloc_fails = NULL;
    free(kept);
    lbm_buf_free(&scratch);
}

/* A sweep of large payloads drops what no record names: one that it could not read for want of memory too. */
static void
the_name_of_a_large_payload_is_read_without_memory(void **state)
{
    struct lbm_half half[2] = {{1, 2, 3}, {LBM_NONE, 1U << 31, LBM_NONE}};
    const struct lbm_blob_name name = {.job = JOB, .len = LBM_BLOB_BYTES_MAX, .digest = {1, 2, 255, 128}};
    uint8_t words[LBM_BLOB_WORDS];
    struct lbm_buf scratch = {0};
    (void)state;
    lbm_blob_write_name(&name, words);
    for (uint32_t i = 0; i < 36; i++) {
        struct lbm_blob_name read = {0};
        struct lbm_row row = {.job = JOB,
                              .vertex = 5,
                              .stage = LBM_STAGE_OUT,
                              .epoch = 300,
                              .position = {0.5, 1e300, i % 2},
                              .degree = i / 2 % 3,
                              .half = i < 18 || i / 2 % 3 != 0 ? half : NULL,
                              .n_news = i / 6 % 3,
                              .news = half,
                              .is_blob = 1,
                              .payload_len = sizeof words,
                              .payload = words};
        uint8_t *kept = lbm_records_pack(&row, &scratch);
        assert_non_null(kept);
        allocations_left = 0;
        lbm_alloc_fails = fails_then;
        int is_named = lbm_records_packed_blob(kept, JOB, &read);
        lbm_alloc_fails = NULL;
        assert_true(is_named);
        assert_int_equal(read.job, JOB);
        assert_int_equal(read.len, name.len);
        assert_memory_equal(read.digest, name.digest, sizeof name.digest);
        free(kept);
        row.is_blob = 0; /* the same bytes, and no name */
        kept = lbm_records_pack(&row, &scratch);
        assert_non_null(kept);
        assert_false(lbm_records_packed_blob(kept, JOB, &read));
        free(kept);
    }
    lbm_buf_free(&scratch);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(an_ordinary_row_is_small),
        cmocka_unit_test(short_memory_is_told),
        cmocka_unit_test(the_name_of_a_large_payload_is_read_without_memory),
    };
    return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
