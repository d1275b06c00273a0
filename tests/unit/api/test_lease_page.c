/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The daemon's side of the lease page: what the life before promised, and to whom. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "daemon/lease_page.h"
#include "wire/lease_page.h"

enum { HOST = 3, NOW = 100000000, LATER = NOW + 5000000, GONE = 7, WORDS = 9 };

struct scene {
    char directory[64], control[96], path[112];
};

static int
set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    snprintf(scene->directory, sizeof scene->directory, "%s", "/tmp/lbmap-test-lease-XXXXXX");
    assert_non_null(mkdtemp(scene->directory));
    snprintf(scene->control, sizeof scene->control, "%s/socket", scene->directory);
    snprintf(scene->path, sizeof scene->path, "%s" LBM_LEASE_PAGE_SUFFIX, scene->control);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;
    unlink(scene->path);
    rmdir(scene->directory);
    free(scene);
    return 0;
}

static enum lbm_err
open_page(const struct scene *scene, uint64_t life, struct lbm_lease_file **file, struct lbm_lease_past *past)
{
    struct lbm_diag diag;
    return lbm_lease_file_open(scene->control, HOST, life, NOW, LBM_LEASE_US, file, past, &diag);
}

/* One life that ends with this in its page; then what the next one finds. */
static struct lbm_lease_past
past_of(const struct scene *scene, int64_t deadline_us, uint64_t term, uint32_t used)
{
    struct lbm_lease_file *file;
    struct lbm_lease_past past;
    assert_int_equal(open_page(scene, 1, &file, &past), LBM_OK);
    lbm_lease_file_write(file, deadline_us, term, used, GONE);
    lbm_lease_file_close(file);
    assert_int_equal(open_page(scene, 2, &file, &past), LBM_OK);
    lbm_lease_file_close(file);
    return past;
}

static void
read_words(const struct scene *scene, uint64_t word[WORDS])
{
    FILE *page = fopen(scene->path, "re");
    assert_non_null(page);
    assert_int_equal(fread(word, sizeof *word, WORDS, page), WORDS);
    fclose(page);
}

static void
write_word(const struct scene *scene, int at, uint64_t word)
{
    FILE *page = fopen(scene->path, "r+e");
    assert_non_null(page);
    assert_int_equal(fseek(page, 8L * at, SEEK_SET), 0);
    assert_int_equal(fwrite(&word, sizeof word, 1, page), 1);
    fclose(page);
}

static void
a_new_page_promises_nothing(void **state)
{
    struct scene *scene = *state;
    struct lbm_lease_file *file;
    struct lbm_lease_past past;
    struct stat stat_of;
    assert_int_equal(open_page(scene, 1, &file, &past), LBM_OK);
    assert_int_equal(past.deadline_us, 0);
    assert_int_equal(past.used, 0);
    assert_int_equal(stat(scene->path, &stat_of), 0);
    assert_int_equal(stat_of.st_size, LBM_LEASE_PAGE_BYTES);
    assert_int_equal(stat_of.st_mode & 0777, 0644);
    lbm_lease_file_close(file);
}

static void
a_promise_outlives_the_daemon(void **state)
{
    struct lbm_lease_past past = past_of(*state, LATER, 4, 2);
    assert_int_equal(past.deadline_us, LATER);
    assert_int_equal(past.term, 4);
    assert_int_equal(past.used, 2);
    assert_int_equal(past.gone, GONE);
    uint64_t word[WORDS];
    read_words(*state, word);
    assert_int_equal(word[3], 2); /* a new life */
    assert_int_equal(word[5], LATER);
    assert_int_equal(word[6], 4);
    assert_int_equal(word[8], GONE);
}

static void
a_promise_without_end_gets_one(void **state)
{
    struct lbm_lease_past past = past_of(*state, INT64_MAX, 1, 1);
    assert_int_equal(past.deadline_us, NOW + LBM_LEASE_US);
    uint64_t word[WORDS];
    read_words(*state, word);
    assert_int_equal(word[5], NOW + LBM_LEASE_US);
}

static void
what_nobody_used_or_is_over_promises_nothing_but_keeps_the_term(void **state)
{
    struct lbm_lease_past unused = past_of(*state, LATER, 4, 0), over = past_of(*state, NOW, 5, 1);
    assert_int_equal(unused.deadline_us, 0);
    assert_int_equal(unused.term, 4);
    assert_int_equal(unused.gone, GONE);
    assert_int_equal(over.deadline_us, 0);
    assert_int_equal(over.term, 5);
}

static void
another_boot_of_the_machine_forgets(void **state)
{
    struct lbm_lease_file *file;
    struct lbm_lease_past past;
    uint64_t word[WORDS];
    past_of(*state, LATER, 4, 1);
    read_words(*state, word);
    if (word[4] == 0)
        skip(); /* this system does not tell one boot from another */
    write_word(*state, 4, word[4] + 1);
    assert_int_equal(open_page(*state, 3, &file, &past), LBM_OK);
    assert_int_equal(past.deadline_us, 0);
    assert_int_equal(past.term, 4);
    lbm_lease_file_close(file);
}

static void
a_half_written_page_may_have_promised_a_full_lease(void **state)
{
    struct lbm_lease_file *file;
    struct lbm_lease_past past;
    uint64_t word[WORDS];
    past_of(*state, 0, 4, 0);
    read_words(*state, word);
    write_word(*state, 2, word[2] | 1);
    assert_int_equal(open_page(*state, 3, &file, &past), LBM_OK);
    assert_int_equal(past.deadline_us, NOW + LBM_LEASE_US);
    assert_true(past.used > 0);
    assert_int_equal(past.term, 5); /* who worked in term 4 must not take it for a new promise */
    lbm_lease_file_close(file);
    read_words(*state, word);
    assert_int_equal(word[2] % 2, 0); /* whole again */
    assert_int_equal(word[6], 5);
}

static void
a_page_has_one_daemon(void **state)
{
    struct lbm_lease_file *file, *second = NULL;
    struct lbm_lease_past past;
    assert_int_equal(open_page(*state, 1, &file, &past), LBM_OK);
    assert_int_equal(open_page(*state, 2, &second, &past), LBM_E_BUSY);
    assert_null(second);
    lbm_lease_file_close(file);
}

static void
what_is_no_page_is_made_one(void **state)
{
    struct scene *scene = *state;
    struct lbm_lease_file *file;
    struct lbm_lease_past past;
    FILE *other = fopen(scene->path, "we");
    for (int i = 0; i < 9000; i++)
        fputc('x', other);
    fclose(other);
    assert_int_equal(truncate(scene->path, 24 + 7), 0); /* sequence 0x78..: even */
    assert_int_equal(open_page(scene, 1, &file, &past), LBM_OK);
    assert_int_equal(past.deadline_us, 0);
    lbm_lease_file_close(file);
    past = past_of(scene, LATER, 1, 1);
    assert_int_equal(past.deadline_us, LATER);
}

static void
a_link_or_a_folder_is_not_followed(void **state)
{
    struct scene *scene = *state;
    struct lbm_lease_file *file = NULL;
    struct lbm_lease_past past;
    assert_int_equal(symlink("/dev/null", scene->path), 0);
    assert_int_equal(open_page(scene, 1, &file, &past), LBM_E_IO);
    unlink(scene->path);
    assert_int_equal(mkdir(scene->path, 0700), 0);
    assert_int_equal(open_page(scene, 1, &file, &past), LBM_E_IO);
    rmdir(scene->path);
    assert_null(file);
}

int
main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(a_new_page_promises_nothing),
        WITH_FOLDER(a_promise_outlives_the_daemon),
        WITH_FOLDER(a_promise_without_end_gets_one),
        WITH_FOLDER(what_nobody_used_or_is_over_promises_nothing_but_keeps_the_term),
        WITH_FOLDER(another_boot_of_the_machine_forgets),
        WITH_FOLDER(a_half_written_page_may_have_promised_a_full_lease),
        WITH_FOLDER(a_page_has_one_daemon),
        WITH_FOLDER(what_is_no_page_is_made_one),
        WITH_FOLDER(a_link_or_a_folder_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
