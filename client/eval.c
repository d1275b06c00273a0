/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl eval: judge a mapping, whoever made it. */
#include <stdlib.h>

#include "client/guest.h"
#include "client/progress.h"
#include "client/report.h"
#include "file/file.h"

enum { EVAL_HOSTS, EVAL_GUEST, EVAL_OPTIONS = EVAL_GUEST + LBM_GUEST_OPTIONS };

static const struct lbm_option options[] = {
    [EVAL_HOSTS] = LBM_TEXT_OPTION("hosts", "SPEC", "the hosts and their links", .required = 1,
                                   .choices = lbm_host_forms),
    LBM_GUEST_OPTION_ROWS(EVAL_GUEST),
};

enum { EVAL_GRAPH, EVAL_MAP };

static const struct lbm_operand operands[] = {
    [EVAL_GRAPH] = {.name = "GRAPH", .text = "guest graph, as for plan"},
    [EVAL_MAP] = {.name = "MAP",
                  .text = "mapping: one host id a line, or Scotch's .map; \"-\" is standard input"},
};

static const char help[] = "Prints the imbalance, the hop-bytes J (the sum over edges of weight times "
                           "distance of the hosts), the cut, the dilation (distance of the hosts of an "
                           "edge) and the communication volume (for each vertex, the other hosts among its "
                           "neighbours') of a mapping.";

/* Inputs of an evaluation. */
struct eval_run {
    struct lbm_graph g;
    struct lbm_hosts h;
    uint32_t *part;
    struct lbm_report report;
    struct lbm_buf remarks; /* of the reader of the guest */
};

static enum lbm_err
evaluate(const struct lbm_cli *client, struct eval_run *run, struct lbm_diag *diag)
{
    int64_t start_ms = lbm_progress_now_ms();
    enum lbm_err err = lbm_file_hosts(client->value[EVAL_HOSTS].text, &run->h, diag);
    if (err == LBM_OK)
        err = lbm_guest_read(client, EVAL_GUEST, client->operand[EVAL_GRAPH], &run->remarks, &run->g, diag);
    if (err == LBM_OK)
        err = lbm_file_map(client->operand[EVAL_MAP], &run->g, run->h.n, &run->part, diag);
    if (err == LBM_OK)
        err = lbm_report_fill(&run->g, &run->h, run->part, &run->report, diag);
    run->report.time_s = (double)(lbm_progress_now_ms() - start_ms) / 1000.0;
    return err;
}

static enum lbm_status
run_eval(const struct lbm_cli *client)
{
    struct eval_run run = {0};
    struct lbm_diag diag;
    enum lbm_status status = LBM_STATUS_DONE;
    if (evaluate(client, &run, &diag) != LBM_OK)
        status = lbm_cli_refuse(client, &diag);
    else if (lbm_output_record(stdout, lbm_report_fields, LBM_REPORT_EVAL_FIELDS, &run.report,
                               client->global[LBM_GLOBAL_JSON].given) != LBM_OK) {
        (void)lbm_diag_set(&diag, LBM_E_NOMEM, "", 0, "no memory for the report");
        status = lbm_cli_fail(client, &diag);
    } else {
        lbm_guest_remark(client, client->operand[EVAL_GRAPH], &run.remarks);
    }
    lbm_buf_free(&run.remarks);
    free(run.part);
    lbm_hosts_free(&run.h);
    lbm_graph_free(&run.g);
    return status;
}

const struct lbm_command lbm_command_eval = {
    .name = "eval",
    .text = "judge a mapping",
    .help = help,
    .options = options,
    .n_options = EVAL_OPTIONS,
    .operands = operands,
    .n_operands = sizeof operands / sizeof operands[0],
    .run = run_eval,
};
