/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RJK03 Table 1: how unequal all multisets of small loads become, in exact integers.
 *
 * The multisets are written in nondecreasing order on P0 .. P(N-1). The dimensions but the last balance the
 * halves of the cube by themselves, and what they become takes few forms. So the multisets of one half are
 * enumerated (2,042,975 for N = 32 instead of 350,343,565), counted by form, and by their largest load as a
 * lower half and their least as an upper half; then the last dimension balances each pair of forms once. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "papers/cube.h"
#include "papers/papers.h"

enum { HALF_MAX = 16, VALUES_MAX = 18, DIFFERENCES = 5, BUCKETS = 1 << 16 };

/* A balanced half, and how many multisets become it. */
struct form {
    uint8_t load[HALF_MAX];
    uint64_t by_largest[VALUES_MAX]; /* of the multiset */
    uint64_t by_least[VALUES_MAX];   /* at least this least load */
    uint32_t next;                   /* in the bucket, or NONE */
};

enum { NONE = -1 };

struct forms {
    uint32_t half, values;
    LBM_VEC(struct form) at;
    uint32_t bucket[BUCKETS];
};

/* What two loads become, the host of the first being the one without the dimension's bit. */
struct pairs {
    uint8_t low[VALUES_MAX][VALUES_MAX], high[VALUES_MAX][VALUES_MAX];
};

/* Tabulate a policy of lib/balance on two hosts. Value: 0 if that failed, and so has the table. */
static int
tabulate(struct table_run *t, enum lbm_policy policy, struct pairs *pairs)
{
    struct cube two;
    enum lbm_err err = LBM_OK;
    if (!cube_open(t, 1, &two))
        return 0;
    for (uint32_t a = 0; a < VALUES_MAX; a++)
        for (uint32_t b = 0; b < VALUES_MAX && err == LBM_OK; b++) {
            two.load[0] = a;
            two.load[1] = b;
            err = cube_balance(&two, policy);
            pairs->low[a][b] = (uint8_t)two.load[0];
            pairs->high[a][b] = (uint8_t)two.load[1];
        }
    cube_close(&two);
    return err == LBM_OK || table_fail(t, err);
}

/* ---- the halves ---------------------------------------------------------------------------------------- */

static uint32_t
hash(const uint8_t *load)
{
    uint64_t low, high;
    memcpy(&low, load, 8);
    memcpy(&high, load + 8, 8);
    uint64_t mixed = (low ^ (high << 23 | high >> 41)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 48) % BUCKETS;
}

static struct form *
find_form(struct forms *forms, const uint8_t *load)
{
    uint32_t *bucket = &forms->bucket[hash(load)];
    for (uint32_t i = *bucket; i != (uint32_t)NONE; i = forms->at.at[i].next)
        if (memcmp(forms->at.at[i].load, load, HALF_MAX) == 0)
            return &forms->at.at[i];
    struct form form = {.next = *bucket};
    memcpy(form.load, load, HALF_MAX);
    if (lbm_vec_push(&forms->at, form) != LBM_OK)
        return NULL;
    *bucket = (uint32_t)forms->at.n - 1;
    return &forms->at.at[*bucket];
}

static enum lbm_err
count_multiset(struct forms *forms, const struct pairs *pairs, const uint8_t *value)
{
    uint8_t load[HALF_MAX] = {0};
    memcpy(load, value, forms->half);
    for (uint32_t bit = 1; bit < forms->half; bit *= 2)
        for (uint32_t p = 0; p < forms->half; p++)
            if ((p & bit) == 0) {
                uint8_t low = load[p], high = load[p | bit];
                load[p] = pairs->low[low][high];
                load[p | bit] = pairs->high[low][high];
            }
    struct form *form = find_form(forms, load);
    if (form == NULL)
        return LBM_E_NOMEM;
    form->by_largest[value[forms->half - 1]]++;
    form->by_least[value[0]]++;
    return LBM_OK;
}

/* The next multiset in lexicographic order; 0 if there is none. */
static int
next_multiset(uint8_t *value, uint32_t n, uint32_t values)
{
    uint32_t at = n;
    while (at != 0 && value[at - 1] + 1u == values)
        at--;
    if (at == 0)
        return 0;
    memset(&value[at - 1], value[at - 1] + 1, n - at + 1);
    return 1;
}

static enum lbm_err
count_halves(struct forms *forms, const struct pairs *pairs)
{
    uint8_t value[HALF_MAX] = {0};
    enum lbm_err err;
    memset(forms->bucket, 0xff, sizeof forms->bucket);
    do
        err = count_multiset(forms, pairs, value);
    while (err == LBM_OK && next_multiset(value, forms->half, forms->values));
    for (size_t i = 0; i < forms->at.n; i++)
        for (uint32_t v = forms->values - 1; v-- > 0;)
            forms->at.at[i].by_least[v] += forms->at.at[i].by_least[v + 1];
    return err;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static uint32_t
difference(const struct pairs *pairs, const struct form *lower, const struct form *upper, uint32_t half)
{
    uint8_t least = UINT8_MAX, largest = 0;
    for (uint32_t p = 0; p < half; p++) {
        uint8_t a = pairs->low[lower->load[p]][upper->load[p]],
                b = pairs->high[lower->load[p]][upper->load[p]];
        uint8_t less = a < b ? a : b, more = a < b ? b : a;
        least = less < least ? less : least;
        largest = more > largest ? more : largest;
    }
    return largest - least;
}

static uint64_t
multisets(const struct form *lower, const struct form *upper, uint32_t values)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; v < values; v++)
        sum += lower->by_largest[v] * upper->by_least[v];
    return sum;
}

/* Number of multisets by the difference of loads that they end with; the last place holds all larger ones. */
static enum lbm_err
count_differences(const struct pairs *pairs, uint32_t n, uint32_t values, uint64_t count[DIFFERENCES])
{
    struct forms *forms = lbm_alloc(1, sizeof *forms);
    if (forms == NULL)
        return LBM_E_NOMEM;
    LBM_ASSERT(n / 2 <= HALF_MAX && values <= VALUES_MAX);
    forms->half = n / 2;
    forms->values = values;
    memset(count, 0, DIFFERENCES * sizeof *count);
    enum lbm_err err = count_halves(forms, pairs);
    for (size_t i = 0; i < forms->at.n && err == LBM_OK; i++)
        for (size_t k = 0; k < forms->at.n; k++) {
            uint64_t ways = multisets(&forms->at.at[i], &forms->at.at[k], values);
            if (ways == 0)
                continue;
            uint32_t d = difference(pairs, &forms->at.at[i], &forms->at.at[k], n / 2);
            count[d < DIFFERENCES ? d : DIFFERENCES - 1] += ways;
        }
    lbm_vec_free(&forms->at);
    free(forms);
    return err;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* Columns of the table as printed. Where the paper errs it shares a right sum between two rows in another
 * way: right has what the plain enumeration of all multisets gives. */
static const struct column {
    enum lbm_policy policy;
    uint32_t n, values;
    double paper[DIFFERENCES], right[DIFFERENCES]; /* difference 0, 1, 2, 3, more */
} columns[] = {
    {LBM_POLICY_DEM_TABLE, 8, 18, {50438, 819747, 211170, 220, 0}, {50438, 819747, 211170, 220, 0}},
    {LBM_POLICY_OEM, 8, 18, {87034, 925739, 68802, 0, 0}, {87034, 925739, 68802, 0, 0}},
    {LBM_POLICY_DEM_TABLE,
     16,
     13,
     {148226, 17593176, 12502375, 100973, 77005},
     {148226, 17593176, 12502375, 177974, 4}},
    {LBM_POLICY_OEM, 16, 13, {476485, 24949040, 4996230, 0, 0}, {476485, 24949040, 4996230, 0, 0}},
    {LBM_POLICY_DEM_TABLE,
     32,
     10,
     {55412, 117986702, 220341830, 10254632, 1704989},
     {55412, 117986702, 220341830, 11959621, 0}},
    {LBM_POLICY_OEM, 32, 10, {889092, 273339227, 63571635, 12543611, 0}, {889092, 273339227, 76115246, 0, 0}},
};

enum { N_COLUMNS = sizeof columns / sizeof *columns, N_SLOW = 32 };

static void
judge_column(struct table_run *t, const struct column *column, const uint64_t count[DIFFERENCES])
{
    const char *name = column->policy == LBM_POLICY_OEM ? "OEM" : "DEM";
    double ours = 0.0, paper = 0.0;
    for (uint32_t d = 0; d < DIFFERENCES; d++) {
        struct cell *cell = table_cell(t, (double)count[d], "%s, %u processors, difference %s%u", name,
                                       column->n, d + 1 < DIFFERENCES ? "" : "at least ", d);
        cell_paper(cell, column->paper[d], 0.0);
        cell_computed(cell, column->right[d], 0.0);
        if (d >= 2 && column->paper[d] != column->right[d])
            cell_paper_errs(cell, "the sum of the rows that differ is right, its division is not");
        ours += d >= 2 ? (double)count[d] : 0.0;
        paper += d >= 2 ? column->paper[d] : 0.0;
    }
    cell_paper(table_cell(t, ours, "%s, %u processors, difference at least 2", name, column->n), paper, 0.0);
}

/* 32 processors take a quarter of a minute: in full alone. */
void
rjk03_table_1(struct table_run *t)
{
    for (size_t i = 0; i < N_COLUMNS; i++) {
        uint64_t count[DIFFERENCES];
        if (columns[i].n == N_SLOW && !t->options->full)
            continue;
        struct pairs pairs;
        if (!tabulate(t, columns[i].policy, &pairs))
            return;
        enum lbm_err err = count_differences(&pairs, columns[i].n, columns[i].values, count);
        if (err != LBM_OK) {
            table_fail(t, err);
            return;
        }
        judge_column(t, &columns[i], count);
    }
}
