/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim list, lbsim table: which tables, computed how, printed how. */
#include "sim/tables/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/tables/plots.h"
#include "sim/tables/pool.h"
#include "sim/tables/report.h"

enum { TABLES_MAX = 128, JOBS_DEFAULT = 2 };

struct request {
    struct table_options options;
    uint64_t jobs, runs;
    int json, quiet, help;
    const struct table *table[TABLES_MAX];
    size_t n;
};

/* ---- arguments ----------------------------------------------------------------------------------------- */

static const struct option {
    const char *name, *argument, *text;
    size_t number; /* offset of the uint64_t it sets, if it has an argument */
    uint64_t least, most;
    size_t flag; /* offset of the int it sets, if not */
} options[] = {
#define NUMBER(name, field, least, most, text)                                                               \
    {                                                                                                        \
        name, "N", text, offsetof(struct request, field), least, most, 0                                     \
    }
#define FLAG(name, field, text)                                                                              \
    {                                                                                                        \
        name, NULL, text, 0, 0, 0, offsetof(struct request, field)                                           \
    }
    NUMBER("--runs", runs, 1, 1000000, "repetitions of random experiments instead of each table's own"),
    NUMBER("--seed", options.seed, 0, UINT64_MAX >> 1, "seed of all random numbers; default 1"),
    NUMBER("--jobs", jobs, 1, 64, "tables at a time; default 2"),
    FLAG("--full", options.full, "more repetitions, and what takes minutes"),
    FLAG("--json", json, "print the cells as a JSON array"),
    FLAG("--quiet", quiet, "print wrong cells alone"),
    FLAG("-q", quiet, "the same"),
    FLAG("--help", help, "print this and exit"),
    FLAG("-h", help, "the same"),
#undef NUMBER
#undef FLAG
};

enum { N_OPTIONS = sizeof options / sizeof *options };

static enum lbm_err
read_number(const struct option *option, const char *text, struct request *request, struct lbm_diag *diag)
{
    char *end;
    errno = 0;
    unsigned long long value = text != NULL ? strtoull(text, &end, 10) : 0;
    if (text == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, option->name, 0, "needs a number");
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-')
        return lbm_diag_set(diag, LBM_E_SYNTAX, option->name, 0, "%.60s is not a number", text);
    if (value < option->least || value > option->most)
        return lbm_diag_set(diag, LBM_E_RANGE, option->name, 0, "%.60s is not in %llu .. %llu", text,
                            (unsigned long long)option->least, (unsigned long long)option->most);
    memcpy((char *)request + option->number, &(uint64_t){value}, sizeof(uint64_t));
    return LBM_OK;
}

static void
add_table(struct request *request, const struct table *table)
{
    for (size_t i = 0; i < request->n; i++)
        if (request->table[i] == table)
            return;
    if (request->n < TABLES_MAX)
        request->table[request->n++] = table;
}

/* All tables, those of a paper ("xl95"), or one. */
static enum lbm_err
add_tables(struct request *request, const char *name, struct lbm_diag *diag)
{
    size_t len = strlen(name), before = request->n;
    int known = 0;
    for (const struct table *table = tables; table->name != NULL; table++) {
        int same =
            strncmp(table->name, name, len) == 0 && (table->name[len] == '\0' || table->name[len] == '-');
        if (same || strcmp(name, "all") == 0) {
            add_table(request, table);
            known = 1;
        }
    }
    if (!known && request->n == before)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, "lbsim table", 0,
                            "%.60s is no table; lbsim list lists them", name);
    return LBM_OK;
}

static enum lbm_err
read_arguments(int argc, char **argv, struct request *request, struct lbm_diag *diag)
{
    for (int i = 0; i < argc; i++) {
        const struct option *option = options;
        enum lbm_err err = LBM_OK;
        while (option < options + N_OPTIONS && strcmp(option->name, argv[i]) != 0)
            option++;
        if (option < options + N_OPTIONS && option->argument != NULL) {
            err = read_number(option, i + 1 < argc ? argv[i + 1] : NULL, request, diag);
            i++;
        } else if (option < options + N_OPTIONS) {
            memcpy((char *)request + option->flag, &(int){1}, sizeof(int));
        } else if (argv[i][0] == '-') {
            err = lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim table", 0, "%.60s is no option; --help lists them",
                               argv[i]);
        } else {
            err = add_tables(request, argv[i], diag);
        }
        if (err != LBM_OK)
            return err;
    }
    if (request->n == 0 && !request->help)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim table", 0,
                            "which table? all, a paper (xl95), or a name that lbsim list prints");
    request->options.runs = (uint32_t)request->runs;
    return LBM_OK;
}

static void
print_help(void)
{
    printf("usage: lbsim table NAME...|all [OPTION...]\n"
           "Compute tables and figures of the papers and compare each number; lbsim list lists them.\n"
           "exit status: 0 all are right, 1 a number is wrong, 2 wrong usage\n\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        printf("  %s%s%-*s %s\n", options[i].name, options[i].argument != NULL ? " N" : "",
               (int)(12 - strlen(options[i].name) - (options[i].argument != NULL ? 2 : 0)), "",
               options[i].text);
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static size_t wanted;

static void
show_begun(const struct table *table, size_t done)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%zu of %zu done, %s", done, wanted, table->name);
}

static void
show_end(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

static size_t
print_all(const struct request *request, const struct table_run *run)
{
    size_t cells = 0, wrong = 0;
    if (request->json)
        report_json(request->table, run, request->n);
    for (size_t i = 0; i < request->n; i++) {
        if (!request->json)
            report_table(request->table[i], &run[i], request->quiet);
        cells += run[i].cells.n;
        wrong += report_wrong(&run[i]);
    }
    if (!request->json)
        printf("%zu tables, %zu numbers, %zu wrong\n", request->n, cells, wrong);
    return wrong;
}

enum lbm_err
table_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    struct request request = {.options = {.seed = 1}, .jobs = JOBS_DEFAULT};
    enum lbm_err err = read_arguments(argc, argv, &request, diag);
    if (err != LBM_OK)
        return err;
    if (request.help) {
        print_help();
        *status = EXIT_SUCCESS;
        return LBM_OK;
    }
    struct table_run *run = lbm_alloc(request.n, sizeof *run);
    if (run == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    wanted = request.n;
    err = pool_run(request.table, request.n, &request.options, (uint32_t)request.jobs, show_begun, run, diag);
    show_end();
    if (err == LBM_OK)
        *status = print_all(&request, run) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    for (size_t i = 0; i < request.n; i++)
        lbm_vec_free(&run[i].cells);
    free(run);
    return err;
}

enum lbm_err
list_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    if (argc != 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "lbsim list", 0, "%.60s: no argument is wanted", argv[0]);
    for (const struct table *table = tables; table->name != NULL; table++)
        printf("table  %-20s %-28s %s\n", table->name, table->source, table->text);
    for (const struct plot *plot = plots; plot->name != NULL; plot++)
        printf("plot   %-20s %-28s %s\n", plot->name, plot->source, plot->text);
    *status = EXIT_SUCCESS;
    return LBM_OK;
}
