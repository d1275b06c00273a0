/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one program that libFuzzer drives: FUZZ_HARNESS=NAME chooses the harness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "harnesses.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int (*harness)(const uint8_t *data, size_t size);

static void
report(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, expression);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct {
        const char *name;
        int (*run)(const uint8_t *data, size_t size);
    } harnesses[] = {
#define FUZZ_ROW(name) {#name, fuzz_##name},
        FUZZ_HARNESS_LIST(FUZZ_ROW)
#undef FUZZ_ROW
    };
    const char *wanted = getenv("FUZZ_HARNESS");
    (void)argc, (void)argv;
    lbm_assert_hook = report;
    for (size_t i = 0; i < sizeof harnesses / sizeof harnesses[0]; i++)
        if (wanted != NULL && strcmp(wanted, harnesses[i].name) == 0)
            harness = harnesses[i].run;
    if (harness == NULL) {
        fprintf(stderr, "set FUZZ_HARNESS to one of the names in tests/fuzz/harnesses.h\n");
        exit(2);
    }
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    harness(data, size);
    return 0;
}
