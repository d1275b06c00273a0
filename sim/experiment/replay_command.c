/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim replay: the trace is read, the policies are run. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "map/map.h"
#include "sim/experiment/replay.h"

static enum lbm_err
read_trace(const char *path, struct lbm_trace *trace, struct lbm_diag *diag)
{
    char *text;
    size_t len;
    enum lbm_err err = lbm_file_read(path, &text, &len, diag);
    if (err != LBM_OK)
        return err;
    err = lbm_trace_read(path, text, len, trace, diag);
    free(text);
    return err;
}

/* What was recorded, unless something else was told. */
static enum lbm_err
choose_policies(const struct lbm_trace *trace, struct replay_options *o, struct lbm_diag *diag)
{
    if (o->n_policies != 0)
        return LBM_OK;
    o->policy[0] = lbm_job_policy_by_name(trace->policy);
    o->n_policies = 1;
    if (o->policy[0] == LBM_JOB_POLICY_DEFAULT)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, o->file, 0,
                            "the job had the policy %s, which is not known here; choose one with --policy",
                            trace->policy);
    return LBM_OK;
}

/* Errors: LBM_E_NOMEM, LBM_E_LIMIT. Out: *settled, nonzero if every job settled in the end. */
static enum lbm_err
run_all(const struct lbm_trace *trace, const struct replay_place *place, const struct replay_options *o,
        int *settled, struct lbm_diag *diag)
{
    struct replay_result result[REPLAY_POLICIES_MAX + 1];
    memset(result, 0, sizeof result);
    enum lbm_err err = lbm_map_check_sums(&trace->g, &place->h, diag);
    if (err != LBM_OK)
        return err;
    err = replay_recorded(trace, place, o, &result[0]);
    *settled = 1;
    for (uint32_t i = 0; err == LBM_OK && i < o->n_policies; i++) {
        err = replay_run(trace, place, o, o->policy[i], &result[i + 1]);
        *settled = *settled && result[i + 1].settled;
    }
    if (err == LBM_OK)
        replay_print(o, trace, place, result, o->n_policies + 1);
    else
        (void)lbm_diag_set(diag, err, o->file, 0, "no memory to replay it");
    for (uint32_t i = 0; i <= o->n_policies; i++)
        replay_result_free(&result[i]);
    return err;
}

enum lbm_status
replay_command(const struct lbm_cli *cli, struct replay_options *o)
{
    struct replay_place place;
    struct lbm_trace trace;
    struct lbm_diag diag;
    int settled = 0;
    enum lbm_err err = read_trace(o->file, &trace, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    if (trace.cut)
        lbm_cli_remark(cli, "%s: the trace was cut: it is used up to its last whole line", o->file);
    err = choose_policies(&trace, o, &diag);
    if (err == LBM_OK)
        err = replay_place_make(&trace, o->file, &place, &diag);
    if (err == LBM_OK) {
        err = run_all(&trace, &place, o, &settled, &diag);
        replay_place_free(&place);
    }
    lbm_trace_free(&trace);
    if (err != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    return settled ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}
