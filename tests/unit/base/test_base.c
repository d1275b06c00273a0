/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/base: errors and diagnoses, memory, growable text, id maps, random streams, assertions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/rng.h"

/* ---- errors ------------------------------------------------------------------------------------------- */

static void
every_error_has_a_name_and_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < LBM_ERR_COUNT; a++) {
        assert_true(lbm_err_name((enum lbm_err)a)[0] != '\0');
        assert_true(lbm_err_text((enum lbm_err)a)[0] != '\0');
        for (int b = 0; b < a; b++) {
            assert_string_not_equal(lbm_err_name((enum lbm_err)a), lbm_err_name((enum lbm_err)b));
            assert_string_not_equal(lbm_err_text((enum lbm_err)a), lbm_err_text((enum lbm_err)b));
        }
    }
    assert_non_null(lbm_err_name(LBM_ERR_COUNT));
    assert_non_null(lbm_err_text((enum lbm_err)1000));
}

static void
a_diagnosis_says_where_and_what(void **state)
{
    (void)state;
    static const struct {
        const char *where;
        uint64_t line;
        const char *text;
    } rows[] = {{"guest.graph", 7, "guest.graph:7: weight 0 is not positive"},
                {"guest.graph", 0, "guest.graph: weight 0 is not positive"},
                {NULL, 0, "weight 0 is not positive"},
                {"", 0, "weight 0 is not positive"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lbm_diag diag;
        char text[128];
        assert_int_equal(
            lbm_diag_set(&diag, LBM_E_RANGE, rows[i].where, rows[i].line, "weight %d is not positive", 0),
            LBM_E_RANGE);
        assert_int_equal(diag.code, LBM_E_RANGE);
        lbm_diag_render(&diag, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
    assert_int_equal(lbm_diag_set(NULL, LBM_E_IO, "x", 1, "nobody reads this"), LBM_E_IO);
}

static void
a_long_diagnosis_is_cut_and_terminated(void **state)
{
    (void)state;
    char *endless = lbm_alloc(5000, 1), text[16];
    memset(endless, 'x', 4999);
    struct lbm_diag diag;
    assert_int_equal(lbm_diag_set(&diag, LBM_E_SYNTAX, endless, UINT64_MAX, "%s", endless), LBM_E_SYNTAX);
    assert_int_equal(strlen(diag.text), LBM_DIAG_TEXT_MAX - 1);
    assert_int_equal(strlen(diag.where), LBM_DIAG_WHERE_MAX - 1);
    lbm_diag_render(&diag, text, sizeof text);
    assert_int_equal(strlen(text), sizeof text - 1);
    lbm_diag_render(&diag, text, 1);
    assert_string_equal(text, "");
    free(endless);
}

/* ---- assertions --------------------------------------------------------------------------------------- */

static jmp_buf escape;
static const char *failed_expression;

static void
jump_out(const char *expression, const char *file, int line)
{
    (void)file;
    (void)line;
    failed_expression = expression;
    longjmp(escape, 1);
}

static void
a_failed_assertion_reports_its_expression(void **state)
{
    (void)state;
    lbm_assert_hook = jump_out;
    failed_expression = NULL;
    volatile int two = 2;
    LBM_ASSERT(two == 2);
    assert_null(failed_expression);
    if (setjmp(escape) == 0)
        LBM_ASSERT(two == 3);
    lbm_assert_hook = NULL;
    assert_string_equal(failed_expression, "two == 3");
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static void
allocation_is_zeroed_and_never_overflows(void **state)
{
    (void)state;
    unsigned char *bytes = lbm_alloc(1000, 3);
    assert_non_null(bytes);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
    void *nothing = lbm_alloc(0, 8);
    assert_non_null(nothing);
    free(nothing);
    assert_null(lbm_alloc(SIZE_MAX / 4, 8));
    assert_null(lbm_copy("", SIZE_MAX / 4, 8));
    void *empty = lbm_copy(NULL, 0, 8);
    assert_non_null(empty);
    free(empty);
}

static void
a_vector_grows_and_keeps_its_elements(void **state)
{
    (void)state;
    LBM_VEC(uint32_t) list = {0};
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(lbm_vec_push(&list, i * i), LBM_OK);
    assert_int_equal(list.n, 10000);
    assert_true(list.capacity >= 10000 && list.capacity < 40000);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(list.at[i], i * i);
    uint32_t *before = list.at;
    assert_int_equal(lbm_vec_reserve(&list, SIZE_MAX / 8), LBM_E_NOMEM);
    assert_ptr_equal(list.at, before);
    assert_int_equal(list.at[9999], 9999u * 9999u);
    assert_int_equal(lbm_vec_give_back(&list), 0); /* more than a quarter is used */
    list.n = 1000;
    assert_int_equal(lbm_vec_give_back(&list), 1);
    assert_true(list.capacity >= 1000 && list.capacity <= 2000);
    assert_int_equal(lbm_vec_give_back(&list), 0);
    for (uint32_t i = 1000; i < 3000; i++)
        assert_int_equal(lbm_vec_push(&list, i * i), LBM_OK);
    for (uint32_t i = 0; i < 3000; i++)
        assert_int_equal(list.at[i], i * i);
    list.n = 0;
    assert_int_equal(lbm_vec_give_back(&list), 1);
    assert_true(list.capacity <= 8);
    lbm_vec_free(&list);
    assert_null(list.at);
    assert_int_equal(list.n + list.capacity, 0);
}

static void
a_buffer_collects_bytes_text_and_numbers(void **state)
{
    (void)state;
    struct lbm_buf buf = {0};
    lbm_buf_put(&buf, "", 0);
    lbm_buf_put(&buf, "a\0b", 3);
    lbm_buf_printf(&buf, "<%d %s>", -5, "x");
    lbm_buf_u64(&buf, 0);
    lbm_buf_u64(&buf, UINT64_MAX);
    static const char expected[] = "a\0b<-5 x>018446744073709551615";
    assert_int_equal(buf.failed, 0);
    assert_int_equal(buf.len, sizeof expected - 1);
    assert_memory_equal(buf.at, expected, sizeof expected);
    lbm_buf_free(&buf);
    for (int i = 0; i < 5000; i++)
        lbm_buf_printf(&buf, "%d,", i % 10);
    assert_int_equal(buf.len, 10000);
    assert_string_equal(buf.at + 9990, "5,6,7,8,9,");
    lbm_buf_free(&buf);
}

static void
a_failed_buffer_stays_as_it_was(void **state)
{
    (void)state;
    struct lbm_buf buf = {0};
    lbm_buf_put(&buf, "kept", 4);
    buf.failed = 1;
    lbm_buf_put(&buf, "x", 1);
    lbm_buf_printf(&buf, "%s", "y");
    lbm_buf_u64(&buf, 3);
    assert_int_equal(buf.len, 4);
    assert_string_equal(buf.at, "kept");
    lbm_buf_free(&buf);
}

/* ---- id maps ------------------------------------------------------------------------------------------- */

static void
an_empty_map_holds_nothing(void **state)
{
    (void)state;
    struct lbm_idmap map = {0};
    assert_int_equal(lbm_idmap_get(&map, 0), LBM_NONE);
    lbm_idmap_remove(&map, 0);
    lbm_idmap_clear(&map);
    assert_int_equal(map.n, 0);
    lbm_idmap_free(&map);
}

/* Random puts, replacements and removals against an array. Ids lie close together, far apart, or a power
 * of two apart, so that the runs of cells collide, join and wrap around. */
static void
expect_like_model(uint32_t stride, uint64_t seed)
{
    enum { IDS = 700, STEPS = 20000 };
    uint32_t model[IDS];
    memset(model, 0xff, sizeof model);
    struct lbm_idmap map = {0};
    struct lbm_rng rng;
    lbm_rng_seed(&rng, seed);
    size_t n = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t k = lbm_rng_below(&rng, IDS), id = k * stride;
        if (lbm_rng_below(&rng, 5) < (step / 4000) % 2 + 2) {
            n += model[k] == LBM_NONE;
            assert_int_equal(lbm_idmap_put(&map, id, model[k] = step), LBM_OK);
        } else {
            n -= model[k] != LBM_NONE;
            model[k] = LBM_NONE;
            lbm_idmap_remove(&map, id);
        }
        assert_int_equal(map.n, n);
        if (step % 97 == 0)
            for (uint32_t i = 0; i < IDS; i++)
                assert_int_equal(lbm_idmap_get(&map, i * stride), model[i]);
    }
    lbm_idmap_clear(&map);
    assert_int_equal(map.n, 0);
    for (uint32_t i = 0; i < IDS; i++)
        assert_int_equal(lbm_idmap_get(&map, i * stride), LBM_NONE);
    assert_int_equal(lbm_idmap_put(&map, stride, 5), LBM_OK);
    assert_int_equal(lbm_idmap_get(&map, stride), 5);
    lbm_idmap_free(&map);
}

static void
a_map_agrees_with_an_array(void **state)
{
    (void)state;
    static const uint32_t strides[] = {1, 3, 1024, 65536, 2654435, 5592405};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        expect_like_model(strides[i], i);
}

static void
a_map_takes_the_largest_id_and_slot(void **state)
{
    (void)state;
    struct lbm_idmap map = {0};
    assert_int_equal(lbm_idmap_put(&map, LBM_NONE - 1, 0), LBM_OK);
    assert_int_equal(lbm_idmap_put(&map, 0, LBM_NONE - 1), LBM_OK);
    assert_int_equal(lbm_idmap_get(&map, LBM_NONE - 1), 0);
    assert_int_equal(lbm_idmap_get(&map, 0), LBM_NONE - 1);
    lbm_idmap_free(&map);
}

/* ---- random streams ------------------------------------------------------------------------------------ */

static void
a_bounded_number_is_below_its_bound_and_even(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 5);
    static const uint32_t bounds[] = {1, 2, 3, 10, 1u << 31, (1u << 31) + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (int k = 0; k < 1000; k++)
            assert_true(lbm_rng_below(&rng, bounds[i]) < bounds[i]);
    int count[7] = {0};
    for (int k = 0; k < 70000; k++)
        count[lbm_rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++) /* 10000 expected, standard deviation 93 */
        assert_in_range(count[i], 9500, 10500);
}

static void
a_unit_number_is_in_its_interval(void **state)
{
    (void)state;
    struct lbm_rng rng;
    lbm_rng_seed(&rng, 6);
    double sum = 0;
    for (int k = 0; k < 10000; k++) {
        double x = lbm_rng_unit(&rng);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    assert_true(sum > 4850 && sum < 5150); /* standard deviation 29 */
}

static void
a_shuffle_is_a_permutation_and_differs_by_seed(void **state)
{
    (void)state;
    uint32_t ids[2][100];
    for (int run = 0; run < 2; run++) {
        struct lbm_rng rng;
        lbm_rng_seed(&rng, (uint64_t)run);
        for (uint32_t i = 0; i < 100; i++)
            ids[run][i] = i;
        lbm_rng_shuffle(&rng, ids[run], 100);
        int seen[100] = {0};
        for (int i = 0; i < 100; i++)
            seen[ids[run][i]]++;
        for (int i = 0; i < 100; i++)
            assert_int_equal(seen[i], 1);
        lbm_rng_shuffle(&rng, NULL, 0);
        uint32_t one = 7;
        lbm_rng_shuffle(&rng, &one, 1);
        assert_int_equal(one, 7);
    }
    assert_memory_not_equal(ids[0], ids[1], sizeof ids[0]);
}

static void
streams_of_a_seed_repeat_and_differ(void **state)
{
    (void)state;
    uint64_t first[3][8];
    for (uint64_t index = 0; index < 3; index++) {
        struct lbm_rng a, b;
        lbm_rng_stream(&a, 9, index);
        lbm_rng_stream(&b, 9, index);
        for (int k = 0; k < 8; k++) {
            first[index][k] = lbm_rng_next(&a);
            assert_true(first[index][k] == lbm_rng_next(&b));
        }
    }
    for (int a = 0; a < 24; a++)
        for (int b = 0; b < a; b++)
            assert_true(first[a / 8][a % 8] != first[b / 8][b % 8]);
}

/* ---- SHA-256 ------------------------------------------------------------------------------------------- */

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_name_and_a_text_of_its_own),
        cmocka_unit_test(a_diagnosis_says_where_and_what),
        cmocka_unit_test(a_long_diagnosis_is_cut_and_terminated),
        cmocka_unit_test(a_failed_assertion_reports_its_expression),
        cmocka_unit_test(allocation_is_zeroed_and_never_overflows),
        cmocka_unit_test(a_vector_grows_and_keeps_its_elements),
        cmocka_unit_test(a_buffer_collects_bytes_text_and_numbers),
        cmocka_unit_test(a_failed_buffer_stays_as_it_was),
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(a_map_agrees_with_an_array),
        cmocka_unit_test(a_map_takes_the_largest_id_and_slot),
        cmocka_unit_test(a_bounded_number_is_below_its_bound_and_even),
        cmocka_unit_test(a_unit_number_is_in_its_interval),
        cmocka_unit_test(a_shuffle_is_a_permutation_and_differs_by_seed),
        cmocka_unit_test(streams_of_a_seed_repeat_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
