/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Desks: what a vertex has sent and heard is in its payload, and comes out of it as it was. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/letters.h"
#include "base/limits.h"

static struct lbm_letters *
new_letters(void)
{
    struct lbm_letters *letters = lbm_alloc(1, sizeof *letters);
    assert_non_null(letters);
    letters->refused = LBMAP_NOWHERE;
    return letters;
}

/* A desk of vertex 7 with that payload. Out: *own. */
static struct lbm_desk *
open_desk(struct lbm_letters *letters, const void *bytes, size_t n, struct lbmap_payload *own)
{
    const struct lbmap_payload payload = {bytes, n};
    assert_int_equal(lbm_letters_open(letters, 7, 5, 1, &payload, own), LBM_OK);
    return lbm_letters_desk(letters, 7);
}

/* Vertex 7 has heard 3 messages of vertex 1, and sent two to 2 and one to 3, of which 2 has kept the first.
 */
static struct lbm_buf
a_payload(void)
{
    struct lbm_letters *letters = new_letters();
    struct lbmap_payload own;
    struct lbm_buf buf = {0};
    struct lbm_desk *desk = open_desk(letters, "", 0, &own);
    lbm_letters_heard(letters, desk, 1)->number = 3;
    assert_int_equal(lbm_letters_write(letters, desk, 2, 20, "first", 5), LBM_OK);
    assert_int_equal(lbm_letters_write(letters, desk, 3, 30, NULL, 0), LBM_OK);
    assert_int_equal(lbm_letters_write(letters, desk, 2, 21, "second", 6), LBM_OK);
    lbm_letters_sent(desk, 2)->kept = 1;
    desk->has_old = 1;
    lbm_letters_clear_old(desk);
    assert_int_equal(desk->letters.n, 2);
    lbm_letters_pack(desk, &buf);
    lbm_buf_put(&buf, "own", 3);
    assert_false(buf.failed);
    lbm_letters_free(letters);
    return buf;
}

static void
a_desk_is_in_its_payload(void **state)
{
    struct lbm_letters *letters = new_letters();
    struct lbm_buf buf = a_payload(), again = {0};
    struct lbmap_payload own;
    struct lbm_desk *desk = open_desk(letters, buf.at, buf.len, &own);
    (void)state;
    assert_int_equal(own.len, 3);
    assert_memory_equal(own.bytes, "own", 3);
    assert_int_equal(lbm_letters_heard(letters, desk, 1)->number, 3);
    assert_int_equal(lbm_letters_heard(letters, desk, 1)->kept, 3);
    assert_int_equal(lbm_letters_sent(desk, 2)->last, 2);
    assert_int_equal(lbm_letters_sent(desk, 2)->posted, 1);
    assert_int_equal(lbm_letters_sent(desk, 3)->last, 1);
    assert_int_equal(desk->letters.n, 2);
    assert_int_equal(desk->letters.at[0]->to, 3);
    assert_int_equal(desk->letters.at[1]->number, 2);
    assert_int_equal(desk->letters.at[1]->tag, 21);
    assert_memory_equal(desk->letters.at[1]->bytes, "second", 6);
    lbm_letters_pack(desk, &again);
    lbm_buf_put(&again, "own", 3);
    assert_int_equal(again.len, buf.len);
    assert_memory_equal(again.at, buf.at, buf.len);
    lbm_buf_free(&buf);
    lbm_buf_free(&again);
    lbm_letters_free(letters);
}

/* A job that begins with payloads of its own (lbctl submit --payloads) has them. */
static void
a_payload_without_a_desk_is_the_programs(void **state)
{
    struct lbm_letters *letters = new_letters();
    struct lbmap_payload own;
    struct lbm_desk *desk = open_desk(letters, "anything", 8, &own);
    (void)state;
    assert_int_equal(own.len, 8);
    assert_int_equal(desk->heard.n + desk->sent.n + desk->letters.n, 0);
    lbm_letters_free(letters);
}

/* What is cut short or damaged either makes sense, or is the program's as a whole: nothing is read beyond it.
 */
static void
damaged_payloads_do_no_harm(void **state)
{
    struct lbm_buf buf = a_payload();
    (void)state;
    for (size_t at = 0; at < 8 * buf.len; at++) {
        struct lbm_letters *letters = new_letters();
        size_t len = at < buf.len ? at : buf.len;
        uint8_t *copy = lbm_copy(buf.at, len + 1, 1);
        struct lbmap_payload own;
        assert_non_null(copy);
        copy[at / 8 % (len + 1)] ^= (uint8_t)(1u << at % 8);
        uint8_t *exact = lbm_copy(copy, len, 1); /* for the sanitizers */
        open_desk(letters, exact, len, &own);
        assert_true(own.len <= len);
        free(copy);
        free(exact);
        lbm_letters_free(letters);
    }
    lbm_buf_free(&buf);
}

static void
a_desk_has_bounds(void **state)
{
    static uint8_t bytes[LBMAP_SEND_MAX];
    struct lbm_letters *letters = new_letters();
    struct lbm_buf buf = {0};
    struct lbmap_payload own;
    struct lbm_desk *desk = open_desk(letters, "", 0, &own);
    (void)state;
    for (uint32_t v = 0; v < LBMAP_PARTNERS_MAX; v++) {
        assert_non_null(lbm_letters_heard(letters, desk, v));
        if (v != 0)
            assert_int_equal(lbm_letters_write(letters, desk, v, 0, NULL, 0), LBM_OK);
        else
            assert_int_equal(lbm_letters_write(letters, desk, v, 0, bytes, 30000), LBM_OK);
    }
    assert_null(lbm_letters_heard(letters, desk, LBMAP_PARTNERS_MAX));
    assert_int_equal(letters->refused, 7);
    assert_int_equal(lbm_letters_write(letters, desk, LBMAP_PARTNERS_MAX, 0, NULL, 0), LBM_E_LIMIT);
    assert_int_equal(lbm_letters_write(letters, desk, 1, 0, bytes, sizeof bytes), LBM_E_BUSY);
    while (lbm_letters_write(letters, desk, 1, 0, bytes, 100) == LBM_OK)
        continue;
    lbm_letters_pack(desk, &buf);
    assert_true(buf.len <= LBMAP_MAIL_MAX);
    assert_true(buf.len > LBMAP_MAIL_MAX - 200);
    lbm_buf_free(&buf);
    lbm_letters_free(letters);
}

static void
desks_come_and_go(void **state)
{
    struct lbm_letters *letters = new_letters();
    const struct lbmap_payload none = {"", 0};
    struct lbmap_payload own;
    (void)state;
    for (uint32_t v = 0; v < 100; v++)
        assert_int_equal(lbm_letters_open(letters, v, 1, 1, &none, &own), LBM_OK);
    for (uint32_t v = 0; v < 100; v += 2) {
        assert_int_equal(lbm_letters_write(letters, lbm_letters_desk(letters, v), 1, 0, NULL, 0), LBM_OK);
        lbm_letters_close(letters, lbm_letters_desk(letters, v));
    }
    lbm_letters_close(letters, lbm_letters_desk(letters, 0));
    for (uint32_t v = 0; v < 100; v++) {
        struct lbm_desk *desk = lbm_letters_desk(letters, v);
        assert_true((desk != NULL) == (v % 2 == 1));
        assert_true(desk == NULL || desk->vertex == v);
    }
    assert_int_equal(letters->active.n, 0);
    lbm_letters_free(letters);
}

static unsigned allowed;

static int
fails_later(void)
{
    return allowed == 0 || allowed-- == 0;
}

static void
shortage_of_memory_is_an_error(void **state)
{
    struct lbm_buf buf = a_payload();
    const struct lbmap_payload payload = {buf.at, buf.len};
    enum lbm_err err = LBM_E_NOMEM;
    (void)state;
    for (unsigned n = 0; err != LBM_OK; n++) {
        struct lbm_letters *letters = new_letters();
        struct lbmap_payload own = {NULL, 0};
        allowed = n;
        lbm_alloc_fails = fails_later;
        err = lbm_letters_open(letters, 7, 5, 1, &payload, &own);
        lbm_alloc_fails = NULL;
        assert_true(err == LBM_OK || (err == LBM_E_NOMEM && own.bytes == NULL));
        lbm_letters_free(letters);
    }
    lbm_buf_free(&buf);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_desk_is_in_its_payload),
        cmocka_unit_test(a_payload_without_a_desk_is_the_programs),
        cmocka_unit_test(damaged_payloads_do_no_harm),
        cmocka_unit_test(a_desk_has_bounds),
        cmocka_unit_test(desks_come_and_go),
        cmocka_unit_test(shortage_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
