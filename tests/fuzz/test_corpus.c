/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays every corpus through its fuzz harness, with any compiler. What is called bad-* or hostile_* must be
 * refused, the rest accepted; the harness asserts what else holds. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "tests/fuzz/harnesses.h"

enum { INPUT_BYTES_MAX = 1 << 20, PATH_BYTES = 4096 };

struct corpus {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
};

/* The file in use: an assertion in a harness is about it. */
static char path[PATH_BYTES];

static void
report(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s\n%s:%d: %s does not hold\n", path, file, line, expression);
}

static size_t
read_input(uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be opened", path);
    size_t size = fread(data, 1, INPUT_BYTES_MAX, file);
    assert_true(feof(file) && !ferror(file));
    fclose(file);
    return size;
}

static void
files_are_accepted_or_refused_as_named(void **state)
{
    const struct corpus *corpus = *state;
    const char *top = getenv("top_srcdir");
    char directory[PATH_BYTES / 2];
    snprintf(directory, sizeof directory, "%s/tests/corpus/%s", top != NULL ? top : ".", corpus->name);
    DIR *dir = opendir(directory);
    if (dir == NULL)
        fail_msg("%s: no corpus", directory);
    uint8_t *data = malloc(INPUT_BYTES_MAX);
    assert_non_null(data);
    int files = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        int hostile = strncmp(entry->d_name, "bad-", 4) == 0 || strncmp(entry->d_name, "hostile_", 8) == 0;
        int accepted = corpus->run(data, read_input(data));
        if (accepted == hostile)
            fail_msg("%s: was %s", path, accepted ? "accepted" : "refused");
        files++;
    }
    free(data);
    closedir(dir);
    assert_true(files > 0);
}

int
main(void)
{
    static struct corpus corpora[] = {
#define CORPUS_ROW(name) {#name, fuzz_##name},
        FUZZ_HARNESS_LIST(CORPUS_ROW)
#undef CORPUS_ROW
    };
    enum { CORPORA = sizeof corpora / sizeof corpora[0] };
    struct CMUnitTest tests[CORPORA];
    lbm_assert_hook = report;
    for (int i = 0; i < CORPORA; i++)
        tests[i] = (struct CMUnitTest){.name = corpora[i].name,
                                       .test_func = files_are_accepted_or_refused_as_named,
                                       .initial_state = &corpora[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
