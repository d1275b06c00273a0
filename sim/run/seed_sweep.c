/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim cluster: runs seed by seed, and what becomes of those that fail. */
#include "sim/run/seed_sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/run/mutation.h"
#include "sim/run/report.h"
#include "sim/run/runner.h"
#include "sim/run/shrink.h"

struct seed_sweep {
    const struct sim_options *options;
    const char *bug; /* planted, or NULL */
    struct run_options run;
    struct tally tally;
    FILE *hashes;
};

static void
print_line(void *arg, const char *line)
{
    fprintf(arg, "%s\n", line);
}

/* What is printed next to the one object of --json does not come between. */
static FILE *
told_to(const struct sim_options *o)
{
    return o->json ? stderr : stdout;
}

static struct run_options
run_options(const struct sim_options *o)
{
    return (struct run_options){.hosts_least = o->hosts_least,
                                .hosts_most = o->hosts_most,
                                .copies = o->copies,
                                .programs = (enum cluster_programs)o->programs,
                                .kinds = o->kinds,
                                .left_out = o->left_out,
                                .line = o->trace && o->one ? print_line : NULL,
                                .line_arg = told_to(o)};
}

/* ---- seeds --------------------------------------------------------------------------------------------- */

static void
shrink_and_tell(struct seed_sweep *seed_sweep, const struct run_result *failed)
{
    struct run_options options = seed_sweep->run;
    struct run_result result = *failed;
    options.seed = failed->seed;
    options.line = NULL;
    FILE *out = told_to(seed_sweep->options);
    options.left_out = shrink_run(&options, &result);
    fprintf(out, "  the short run:\n");
    fflush(out);
    options.line = print_line;
    options.line_arg = out;
    run_seed(&options, &result);
    fprintf(out, "  seed %" PRIu64 " violates %s: %s\n  to replay: ", result.seed, result.invariant,
            result.text);
    print_replay(out, seed_sweep->options, &result, options.left_out, seed_sweep->bug);
    fprintf(out, " --trace\n");
}

static int
take_result(void *arg, const struct run_result *result)
{
    struct seed_sweep *seed_sweep = arg;
    tally_add(&seed_sweep->tally, result);
    if (seed_sweep->hashes != NULL)
        fprintf(seed_sweep->hashes, "%" PRIu64 " %016" PRIx64 "\n", result->seed, result->hash);
    if (result->invariant[0] == '\0')
        return 0;
    print_failure(told_to(seed_sweep->options), seed_sweep->options, result, seed_sweep->bug);
    if (seed_sweep->options->shrink)
        shrink_and_tell(seed_sweep, result);
    return 0;
}

static void
run_seed_sweep(struct seed_sweep *seed_sweep)
{
    const struct sim_options *o = seed_sweep->options;
    struct runner runner = {.options = seed_sweep->run,
                            .first = o->first,
                            .seeds = o->seeds,
                            .jobs = o->shrink || o->hashes != NULL ? 1 : o->jobs,
                            .time_limit_s = o->time_limit_s,
                            .result = take_result,
                            .arg = seed_sweep};
    (void)run_seeds(&runner);
}

static enum lbm_status
sweep_seeds(const struct lbm_cli *cli, const struct sim_options *o, const char *bug)
{
    struct seed_sweep seed_sweep = {.options = o, .bug = bug, .run = run_options(o)};
    struct lbm_diag diag;
    time_t began = time(NULL);
    if (o->hashes != NULL && (seed_sweep.hashes = fopen(o->hashes, "w")) == NULL) {
        (void)lbm_diag_set(&diag, LBM_E_IO, o->hashes, 0, "%s", strerror(errno));
        return lbm_cli_refuse(cli, &diag);
    }
    run_seed_sweep(&seed_sweep);
    if (seed_sweep.hashes != NULL && fclose(seed_sweep.hashes) != 0) {
        (void)lbm_diag_set(&diag, LBM_E_IO, o->hashes, 0, "%s", strerror(errno));
        return lbm_cli_fail(cli, &diag);
    }
    print_tally(o, &seed_sweep.tally, difftime(time(NULL), began));
    return seed_sweep.tally.failed != 0 ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
}

/* ---- planted mistakes ---------------------------------------------------------------------------------- */

static enum lbm_status
run_bugs(const struct lbm_cli *cli, const struct sim_options *o)
{
    struct run_options run = run_options(o);
    struct lbm_diag diag;
    int bug = MUTATION_NONE;
    if (strcmp(o->bug, "list") == 0) {
        mutation_list();
        return LBM_STATUS_DONE;
    }
    if (mutation_read(o->bug, &bug, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    if (!o->one || bug == MUTATION_NONE)
        return mutation(o, &run, bug) != 0 ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
    mutation_plant(bug);
    return sweep_seeds(cli, o, mutation_name(bug));
}

enum lbm_status
seed_sweep_run(const struct lbm_cli *cli, const struct sim_options *o)
{
    return o->bug != NULL ? run_bugs(cli, o) : sweep_seeds(cli, o, NULL);
}
