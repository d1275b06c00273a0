/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Most runs never come to the point where a given mistake makes a difference: with and without it they are
 * the same. So each run is carried out without a mistake first, which tells what rules it needed (LBM_BUG
 * notes it), and then with those mistakes alone that break one of these and were not found yet. What is found
 * is the same as if every mistake ran through all runs. */
#include "sim/run/mutation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/mutants.h"
#include "base/check.h"
#include "node/mutants.h"
#include "sim/run/runner.h"

static const struct {
    const char *name;
    int model;
    const char *text;
} bugs[] = {
#define BUG_ROW(id, model, text) {#id, model, text},
    LBM_BUG_LIST(BUG_ROW)
#undef BUG_ROW
#define BUG_ROW(id, text) {#id, 0, text},
        LBM_API_BUG_LIST(BUG_ROW)
#undef BUG_ROW
};

enum { N_BUGS = sizeof bugs / sizeof *bugs, BLOCK = 128 };

void
mutation_list(void)
{
    for (size_t i = 1; i < N_BUGS; i++)
        printf("%-28s %5d  %s%s\n", bugs[i].name, bugs[i].model, bugs[i].text,
               i >= LBM_BUG_COUNT ? " (with --programs)" : "");
}

const char *
mutation_name(int bug)
{
    return bugs[bug].name;
}

#ifdef LBM_BUGS
enum lbm_bug lbm_bug;         /* lib/node reads it */
enum lbm_api_bug lbm_api_bug; /* and lib/api this one */
uint64_t lbm_api_bugs_met;
uint64_t lbm_bugs_met[LBM_BUG_WORDS];

static const int can_plant = 1;

void
mutation_plant(int bug)
{
    int is_of_library = bug >= LBM_BUG_COUNT;
    lbm_bug = is_of_library ? LBM_BUG_NONE : (enum lbm_bug)bug;
    lbm_api_bug = is_of_library ? (enum lbm_api_bug)(bug - LBM_BUG_COUNT + 1) : LBM_API_BUG_NONE;
}
#else
static const int can_plant = 0;

void
mutation_plant(int bug)
{
    (void)bug;
}
#endif

enum lbm_err
mutation_read(const char *name, int *bug, struct lbm_diag *diag)
{
    if (!can_plant)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--bug", 0,
                            "nothing can be planted in this build; sim/lbsim-bugs of the source tree can");
    *bug = MUTATION_NONE;
    for (int i = 1; i < N_BUGS; i++)
        if (strcmp(bugs[i].name, name) == 0)
            *bug = i;
    if (*bug != MUTATION_NONE || strcmp(name, "all") == 0)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_NOTFOUND, "--bug", 0,
                        "'%.60s' is not known; lbsim cluster --bug list lists them", name);
}

struct trial {
    uint64_t first;
    uint64_t met[BLOCK][LBM_BUG_WORDS + 1]; /* by the run of first + i; 0: it fails anyway, or did not run */
    uint64_t list[BLOCK];
    struct run_result caught;
};

static int
take_met(void *arg, const struct run_result *result)
{
    struct trial *trial = arg;
    if (result->invariant[0] == '\0')
        memcpy(trial->met[result->seed - trial->first], result->met, sizeof result->met);
    return 0;
}

/* Runs begin in order, and those that run when one has failed run to their end: the first is known. */
static int
take_failure(void *arg, const struct run_result *result)
{
    struct trial *trial = arg;
    if (result->invariant[0] == '\0')
        return 0;
    if (trial->caught.invariant[0] == '\0' || result->seed < trial->caught.seed)
        trial->caught = *result;
    return 1;
}

static int
is_met(const uint64_t *met, int bug)
{
    return bug < LBM_BUG_COUNT ? (int)(met[bug / 64] >> bug % 64 & 1)
                               : (int)(met[LBM_BUG_WORDS] >> (bug - LBM_BUG_COUNT + 1) & 1);
}

/* All: those of the library in programs that use it, those of the node elsewhere. */
static int
is_wanted(const struct sim_options *o, int bug, int i)
{
    return bug == MUTATION_NONE ? (i >= LBM_BUG_COUNT) == (o->programs != CLUSTER_PROGRAMS_NONE) : bug == i;
}

/* Run those runs of the block that meet the mistake. Returns their number up to the one that fails. */
static uint64_t
try_bug(struct runner *runner, struct trial *trial, int bug)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < BLOCK; i++)
        if (is_met(trial->met[i], bug))
            trial->list[n++] = trial->first + i;
    trial->caught = (struct run_result){0};
    runner->list = trial->list;
    runner->seeds = n;
    runner->result = take_failure;
    mutation_plant(bug);
    if (n != 0)
        (void)run_seeds(runner);
    mutation_plant(0);
    if (trial->caught.invariant[0] == '\0')
        return n;
    uint64_t tried = 1;
    while (trial->list[tried - 1] != trial->caught.seed)
        tried++;
    return tried;
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void
print_end(const struct sim_options *o, uint64_t *taken, uint32_t found, uint32_t wanted, const uint64_t *met,
          int bug)
{
    for (int i = 1; i < N_BUGS; i++)
        if (is_wanted(o, bug, i) && taken[i] == 0)
            printf("%-28s %5d  not found in %" PRIu64 " seeds, of which %" PRIu64 " meet it\n", bugs[i].name,
                   bugs[i].model, o->seeds, met[i]);
    qsort(taken, N_BUGS, sizeof *taken, by_number);
    if (found != 0 && bug == MUTATION_NONE && !o->quiet)
        printf("%" PRIu32 " of %" PRIu32 " found; seeds until then: median %" PRIu64 ", most %" PRIu64 "\n",
               found, wanted, taken[N_BUGS - 1 - found / 2], taken[N_BUGS - 1]);
}

uint32_t
mutation(const struct sim_options *o, const struct run_options *run, int bug)
{
    uint64_t taken[N_BUGS] = {0}, met[N_BUGS] = {0}; /* seeds until it was found; runs that met it */
    uint32_t wanted = 0, found = 0;
    struct runner runner = {.options = *run, .jobs = o->jobs};
    struct trial *trial = lbm_alloc(1, sizeof *trial);
    runner.arg = trial;
    for (int i = 1; i < N_BUGS; i++)
        wanted += is_wanted(o, bug, i) != 0;
    if (!o->quiet)
        printf("%-28s %5s %6s %6s  found by\n", "mistake", "model", "seeds", "met");
    for (uint64_t done = 0; done < o->seeds && found < wanted; done += BLOCK) {
        memset(trial->met, 0, sizeof trial->met);
        trial->first = runner.first = o->first + done;
        runner.seeds = o->seeds - done < BLOCK ? o->seeds - done : BLOCK;
        runner.list = NULL;
        runner.result = take_met;
        (void)run_seeds(&runner);
        for (int i = 1; i < N_BUGS; i++) {
            if (taken[i] != 0 || !is_wanted(o, bug, i))
                continue;
            met[i] += try_bug(&runner, trial, i);
            if (trial->caught.invariant[0] == '\0')
                continue;
            taken[i] = trial->caught.seed - o->first + 1;
            found++;
            printf("%-28s %5d %6" PRIu64 " %6" PRIu64 "  %-3s %s\n", bugs[i].name, bugs[i].model, taken[i],
                   met[i], trial->caught.invariant, trial->caught.text);
            fflush(stdout);
        }
    }
    print_end(o, taken, found, wanted, met, bug);
    free(trial);
    return wanted - found;
}
