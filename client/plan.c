/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl plan: map a guest graph onto hosts. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command.h"
#include "client/formats.h"
#include "client/guest.h"
#include "client/interrupt.h"
#include "client/launch.h"
#include "client/pins.h"
#include "client/progress.h"
#include "client/remap.h"
#include "file/file.h"
#include "threads/parallel.h"

enum {
    PLAN_HOSTS,
    PLAN_IMBALANCE,
    PLAN_LEAST,
    PLAN_MOST,
    PLAN_CONNECTED,
    PLAN_SEED,
    PLAN_TIME_LIMIT,
    PLAN_METHOD,
    PLAN_EFFORT,
    PLAN_ORDER,
    PLAN_RULE,
    PLAN_PIN,
    PLAN_WITHOUT,
    PLAN_CURRENT,
    PLAN_MIGRATION_COST,
    PLAN_OUTPUT,
    PLAN_FORMAT,
    PLAN_DRAW,
    PLAN_VERTEX_NAMES,
    PLAN_GUEST,
    PLAN_LAUNCH = PLAN_GUEST + LBM_GUEST_OPTIONS,
    PLAN_OPTIONS = PLAN_LAUNCH + LBM_LAUNCH_OPTIONS
};

static const struct lbm_choice methods[] = {
#define METHOD_CHOICE(id, name, text) {name, text},
    LBM_METHOD_LIST(METHOD_CHOICE)
#undef METHOD_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice efforts[] = {
#define EFFORT_CHOICE(id, name, text) {name, text},
    LBM_EFFORT_LIST(EFFORT_CHOICE)
#undef EFFORT_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice orders[] = {
#define ORDER_CHOICE(id, name, text) [LBM_ORDER_##id] = {name, text},
    LBM_ORDER_LIST(ORDER_CHOICE)
#undef ORDER_CHOICE
        {NULL, NULL},
};

static const struct lbm_choice rules[] = {
#define RULE_CHOICE(id, name, text) [LBM_RULE_##id] = {name, text},
    LBM_RULE_LIST(RULE_CHOICE)
#undef RULE_CHOICE
        {NULL, NULL},
};

static const struct lbm_option options[] = {
    [PLAN_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC", "the hosts and their links", .required = 1,
                                   .choices = lbm_host_forms),
    [PLAN_IMBALANCE] =
        LBM_SHARE_OPTION("imbalance", "EPS", 0, 1, "how far a host's load may exceed its share: 0.03 or 3%",
                         .fallback = "0.03"),
    [PLAN_LEAST] =
        LBM_INTEGER_OPTION("least", "W", 1, LBM_OPTION_INTEGER_MAX, "smallest load of every host, in weight"),
    [PLAN_MOST] = LBM_INTEGER_OPTION("most", "W", 1, LBM_OPTION_INTEGER_MAX,
                                     "largest load of every host; the imbalance holds too"),
    [PLAN_CONNECTED] = LBM_FLAG_OPTION("connected", "each host's vertices are connected, where the guest is"),
    [PLAN_SEED] = LBM_INTEGER_OPTION("seed", "N", 0, LBM_OPTION_INTEGER_MAX,
                                     "start of the random numbers; the same seed gives the same mapping",
                                     .fallback = "1"),
    [PLAN_TIME_LIMIT] = LBM_NUMBER_OPTION("time-limit", "S", 0.001, 1e6,
                                          "stop then with the best mapping so far", .unit = "seconds"),
    [PLAN_METHOD] =
        LBM_CHOICE_OPTION("method", "METHOD", methods, "how the mapping is found", .fallback = "lbmap"),
    [PLAN_EFFORT] = LBM_CHOICE_OPTION("effort", "EFFORT", efforts, "time for quality, of the method lbmap",
                                      .fallback = "normal"),
    [PLAN_ORDER] =
        LBM_CHOICE_OPTION("order", "ORDER", orders, "which vertices a sweep updates, of the method heirich",
                          .fallback = "block"),
    [PLAN_RULE] =
        LBM_CHOICE_OPTION("rule", "RULE", rules, "where to, of the method heirich", .fallback = "mean"),
    [PLAN_PIN] = LBM_TEXT_OPTION("pin", "FILE", "vertices that must stay on a host: lines \"vertex host\""),
    [PLAN_WITHOUT] =
        LBM_TEXT_OPTION("without", "HOSTS", "hosts that are gone, with their links: ids or names, as in 3,5"),
    [PLAN_CURRENT] = LBM_TEXT_OPTION("current", "MAP", "start from this mapping and move little"),
    [PLAN_MIGRATION_COST] =
        LBM_NUMBER_OPTION("migration-cost", "X", 0, 1e12,
                          "with --current: hop-bytes that moving a unit of weight must save [by "
                          "the bandwidth of the guest]"),
    [PLAN_OUTPUT] =
        LBM_TEXT_OPTION("output", "FILE",
                        "write the mapping there, \"-\" for standard output; compressed if it ends in "
                        ".gz, .bz2, .xz, .zst",
                        .letter = 'o'),
    [PLAN_FORMAT] = LBM_CHOICE_OPTION("format", "FORMAT", lbm_map_formats, "how the mapping is written",
                                      .fallback = "part"),
    [PLAN_DRAW] = LBM_CHOICE_OPTION(
        "draw", "SPACE", lbm_draw_spaces,
        "where svg and png put the vertices [input if the graph has positions, else omega]"),
    [PLAN_VERTEX_NAMES] =
        LBM_FLAG_OPTION("vertex-names", "with --format part: a second column with the name of each vertex"),
    LBM_GUEST_OPTION_ROWS(PLAN_GUEST),
    LBM_LAUNCH_OPTION_ROWS(PLAN_LAUNCH),
};

static const struct lbm_operand operands[] = {
    {.name = "GRAPH", .text = "guest graph, also compressed; \"-\" is standard input"},
};

static const char help[] =
    "Finds a mapping in which every host has its share of the work, within the imbalance, and vertices "
    "that talk much are few links apart.\n"
    "The mapping goes to standard output and the report to standard error; with -o FILE the mapping goes "
    "to the file and the report to standard output, as JSON with --json. With --json alone only the report "
    "is printed. The first Ctrl-C stops with the best mapping so far, the second quits.";

/* ---- the run ------------------------------------------------------------------------------------- */

/* Inputs, the plan, and what stops it. */
struct plan_run {
    const struct lbm_cli *client;
    struct lbm_graph g;
    struct lbm_buf remarks; /* of the reader of g */
    struct lbm_hosts h;     /* those that are left */
    struct lbm_launch launch;
    struct lbm_remap remap;
    struct lbm_plan plan;
    struct lbm_report report;
    struct lbm_progress progress;
    int64_t start_ms, limit_ms; /* limit 0: none */
    atomic_int stopped;         /* nonzero: the plan was asked to stop, and by what */
};

enum { STOPPED_BY_LIMIT = 1, STOPPED_BY_INTERRUPT };

static int
should_stop(void *arg)
{
    struct plan_run *run = arg;
    if (lbm_interrupt_seen())
        run->stopped = STOPPED_BY_INTERRUPT;
    else if (run->limit_ms > 0 && lbm_progress_now_ms() - run->start_ms >= run->limit_ms)
        run->stopped = STOPPED_BY_LIMIT;
    return run->stopped;
}

static void
show_progress(void *arg, const char *stage, double done)
{
    lbm_progress_show(&((struct plan_run *)arg)->progress, stage, done);
}

/* The hosts that are gone, and the present mapping. */
static enum lbm_err
read_present(struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = run->client->value;
    enum lbm_err err = LBM_OK;
    if (value[PLAN_VERTEX_NAMES].given && value[PLAN_FORMAT].integer != LBM_MAP_FORMAT_PART)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--vertex-names", 0,
                            "only the format part has such a column; json and graphml have the names anyway");
    if (value[PLAN_MIGRATION_COST].given && !value[PLAN_CURRENT].given)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--migration-cost", 0,
                            "it is a matter of a present mapping; give --current MAP too");
    if (value[PLAN_MIGRATION_COST].given && value[PLAN_METHOD].integer != LBM_METHOD_LBMAP)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--migration-cost", 0,
                            "only the method lbmap weighs what moves against what it saves");
    if (value[PLAN_WITHOUT].given)
        err = lbm_remap_without(&run->remap, value[PLAN_WITHOUT].text, &run->h, diag);
    if (err == LBM_OK)
        err = lbm_remap_pins(&run->remap, &run->g, diag);
    if (err == LBM_OK && value[PLAN_CURRENT].given)
        err = lbm_remap_read(&run->remap, value[PLAN_CURRENT].text, &run->g, &run->h, diag);
    return err;
}

/* What only the paper's own method has. */
static enum lbm_err
check_variants(const struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = run->client->value;
    if (value[PLAN_METHOD].integer != LBM_METHOD_HEIRICH &&
        (value[PLAN_ORDER].given || value[PLAN_RULE].given))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, value[PLAN_ORDER].given ? "--order" : "--rule", 0,
                            "it is a matter of the paper's method; give --method heirich too");
    if (value[PLAN_RULE].integer == LBM_RULE_ANGLES && run->h.m != 2)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--rule", 0,
                            "angles are averaged in the plane alone, and these hosts have sites in space");
    return LBM_OK;
}

static enum lbm_err
read_inputs(struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = run->client->value;
    enum lbm_err err = lbm_file_hosts(value[PLAN_HOSTS].text, &run->h, diag);
    if (err == LBM_OK)
        err = check_variants(run, diag);
    if (err == LBM_OK)
        err = lbm_launch_read(run->client, PLAN_LAUNCH, (enum lbm_map_format)value[PLAN_FORMAT].integer,
                              &run->h, &run->launch, diag);
    if (err == LBM_OK)
        err = lbm_guest_read(run->client, PLAN_GUEST, run->client->operand[0], &run->remarks, &run->g, diag);
    if (err == LBM_OK && value[PLAN_PIN].given)
        err = lbm_pins_read(value[PLAN_PIN].text, &run->h, NULL, &run->g, diag);
    if (err == LBM_OK)
        err = read_present(run, diag);
    if (err == LBM_OK && value[PLAN_DRAW].given && value[PLAN_DRAW].integer == LBM_DRAW_INPUT &&
        run->g.position == NULL)
        err =
            lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--draw", 0,
                         "%s has no positions of vertices; give --draw omega, or a GraphML file with x and y",
                         run->client->operand[0]);
    return err;
}

static enum lbm_err
make_plan(struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = run->client->value;
    struct lbm_plan_options how;
    lbm_plan_defaults(&how);
    how.method = (enum lbm_method)value[PLAN_METHOD].integer;
    how.effort = (enum lbm_effort)value[PLAN_EFFORT].integer;
    how.order = (enum lbm_order)value[PLAN_ORDER].integer;
    how.rule = (enum lbm_diffusion_rule)value[PLAN_RULE].integer;
    how.imbalance = value[PLAN_IMBALANCE].number;
    how.load_least = value[PLAN_LEAST].given ? value[PLAN_LEAST].integer : 0;
    how.load_most = value[PLAN_MOST].given ? value[PLAN_MOST].integer : 0;
    how.connected = value[PLAN_CONNECTED].given;
    how.seed = value[PLAN_SEED].integer;
    how.current = run->remap.current;
    how.migration_cost = value[PLAN_MIGRATION_COST].given ? value[PLAN_MIGRATION_COST].number
                                                          : lbm_map_migration_cost(&run->g, run->h.n);
    how.stop = should_stop;
    how.progress = show_progress;
    how.parallel = lbm_parallel_run;
    how.arg = run;
    run->limit_ms = (int64_t)(value[PLAN_TIME_LIMIT].number * 1000.0);
    run->start_ms = lbm_progress_now_ms();
    lbm_interrupt_catch();
    lbm_progress_begin(&run->progress, lbm_cli_is_quiet(run->client));
    enum lbm_err err = lbm_plan_make(&run->g, &run->h, &how, &run->plan, diag);
    lbm_progress_end(&run->progress);
    lbm_interrupt_release();
    run->report.seed = how.seed;
    run->report.imbalance_asked = how.imbalance;
    run->report.migration_cost = how.migration_cost;
    run->report.time_s = (double)(lbm_progress_now_ms() - run->start_ms) / 1000.0;
    return err;
}

static void
make_remarks(const struct plan_run *run)
{
    const struct lbm_cli *client = run->client;
    lbm_guest_remark(client, client->operand[0], &run->remarks);
    if (run->stopped == STOPPED_BY_INTERRUPT)
        lbm_cli_remark(client, "interrupted; this is the best mapping so far");
    if (run->stopped == STOPPED_BY_LIMIT)
        lbm_cli_remark(client, "the time limit is reached; this is the best mapping so far");
    if (run->h.n > run->g.n)
        lbm_cli_remark(client, "more hosts (%u) than vertices (%u): %u hosts stay empty", run->h.n, run->g.n,
                       run->report.quality.empty_hosts);
    if (run->h.n <= run->g.n)
        lbm_report_remark(client, &run->report, client->value[PLAN_IMBALANCE].number);
    if (client->value[PLAN_CONNECTED].given && run->report.extra_pieces != 0)
        lbm_cli_remark(client,
                       "%u pieces of the guest are apart from the rest on their host: pins hold them there",
                       run->report.extra_pieces);
    lbm_launch_remark(client, (enum lbm_map_format)client->value[PLAN_FORMAT].integer, &run->h, &run->launch);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* What follows the last slash. */
static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void
make_title(const char *graph, const char *hosts, char *title, size_t title_size)
{
    int is_file = strncmp(hosts, "file:", 5) == 0;
    snprintf(title, title_size, "%s on %s", strcmp(graph, "-") == 0 ? "standard input" : base_name(graph),
             is_file ? base_name(hosts + 5) : hosts);
}

static size_t
figures_of(const struct plan_run *run)
{
    return run->remap.current != NULL ? LBM_REPORT_REMAP_FIELDS : LBM_REPORT_PLAN_FIELDS;
}

static enum lbm_err
write_mapping(const struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = run->client->value;
    char title[LBM_DIAG_TEXT_MAX];
    make_title(run->client->operand[0], value[PLAN_HOSTS].text, title, sizeof title);
    struct lbm_mapping mapping = {.title = title,
                                  .g = &run->g,
                                  .h = run->remap.all.n != 0 ? &run->remap.all : &run->h,
                                  .plan = &run->plan,
                                  .report = &run->report,
                                  .n_figures = figures_of(run),
                                  .space = run->g.position != NULL ? LBM_DRAW_INPUT : LBM_DRAW_OMEGA};
    mapping.launch = run->launch;
    mapping.names_column = value[PLAN_VERTEX_NAMES].given;
    if (value[PLAN_DRAW].given)
        mapping.space = (enum lbm_draw_space)value[PLAN_DRAW].integer;
    struct lbm_buf text = {0};
    enum lbm_err err =
        lbm_mapping_write((enum lbm_map_format)value[PLAN_FORMAT].integer, &mapping, &text, diag);
    if (err == LBM_OK)
        err =
            lbm_file_write(value[PLAN_OUTPUT].given ? value[PLAN_OUTPUT].text : "-", text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* The mapping and the report, each where the help says. */
static enum lbm_err
write_results(const struct plan_run *run, struct lbm_diag *diag)
{
    const struct lbm_cli *client = run->client;
    const struct lbm_option_value *output = &client->value[PLAN_OUTPUT];
    int json = client->global[LBM_GLOBAL_JSON].given;
    int to_stdout = !output->given || strcmp(output->text, "-") == 0;
    enum lbm_err err = LBM_OK;
    if (output->given || !json)
        err = write_mapping(run, diag);
    if (err != LBM_OK || (lbm_cli_is_quiet(client) && !json))
        return err;
    FILE *to = to_stdout && (output->given || !json) ? stderr : stdout;
    err = lbm_output_record(to, lbm_report_fields, figures_of(run), &run->report, json);
    return err == LBM_OK ? err : lbm_diag_set(diag, err, "", 0, "no memory for the report");
}

/* What the plan costs and moves; then it is in ids. */
static enum lbm_err
judge(struct plan_run *run, struct lbm_diag *diag)
{
    enum lbm_err err = lbm_report_fill(&run->g, &run->h, run->plan.part, &run->report, diag);
    uint64_t *limit = lbm_alloc(run->h.n, sizeof *limit);
    if (err == LBM_OK && limit == NULL)
        err = LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_map_limits(&run->g, &run->h, run->client->value[PLAN_IMBALANCE].number, limit);
    if (err == LBM_OK && run->remap.current != NULL)
        err = lbm_map_migration(&run->g, run->h.n, limit, run->remap.current, run->plan.part,
                                &run->report.migration);
    free(limit);
    if (err == LBM_OK)
        err = lbm_remap_finish(&run->remap, &run->plan);
    return err == LBM_E_NOMEM ? lbm_diag_set(diag, err, "", 0, "no memory for the report") : err;
}

static enum lbm_status
plan(struct plan_run *run)
{
    const struct lbm_option_value *output = &run->client->value[PLAN_OUTPUT];
    struct lbm_diag diag;
    if (read_inputs(run, &diag) != LBM_OK)
        return lbm_cli_refuse(run->client, &diag);
    if (output->given && lbm_file_writable(output->text, &diag) != LBM_OK) /* a plan may take long */
        return lbm_cli_fail(run->client, &diag);
    if (make_plan(run, &diag) != LBM_OK || judge(run, &diag) != LBM_OK)
        return lbm_cli_refuse(run->client, &diag);
    make_remarks(run);
    if (write_results(run, &diag) != LBM_OK)
        return lbm_cli_fail(run->client, &diag);
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_plan(const struct lbm_cli *client)
{
    struct plan_run run = {.client = client};
    enum lbm_status status = plan(&run);
    lbm_plan_free(&run.plan);
    lbm_remap_free(&run.remap);
    lbm_hosts_free(&run.h);
    lbm_graph_free(&run.g);
    lbm_buf_free(&run.remarks);
    return status;
}

const struct lbm_command lbm_command_plan = {
    .name = "plan",
    .text = "map a guest graph onto hosts",
    .help = help,
    .options = options,
    .n_options = PLAN_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_plan,
};
