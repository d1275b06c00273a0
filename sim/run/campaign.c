/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim cluster: stories seed by seed, and what becomes of those that fail. */
#include "sim/run/campaign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/run/hunt.h"
#include "sim/run/report.h"
#include "sim/run/runner.h"
#include "sim/run/shrink.h"

struct campaign {
    const struct sim_options *options;
    const char *bug; /* planted, or NULL */
    struct story_options story;
    struct tally tally;
    FILE *hashes;
};

static void
print_line(void *arg, const char *line)
{
    fprintf(arg, "%s\n", line);
}

/* What is printed beside the one object of --json does not come between. */
static FILE *
told_to(const struct sim_options *o)
{
    return o->json ? stderr : stdout;
}

static struct story_options
story_options(const struct sim_options *o)
{
    return (struct story_options){.hosts_least = o->hosts_least,
                                  .hosts_most = o->hosts_most,
                                  .kinds = o->kinds,
                                  .left_out = o->left_out,
                                  .line = o->trace && o->one ? print_line : NULL,
                                  .line_arg = told_to(o)};
}

/* ---- seeds --------------------------------------------------------------------------------------------- */

static void
shrink_and_tell(struct campaign *campaign, const struct story_result *failed)
{
    struct story_options options = campaign->story;
    struct story_result result = *failed;
    options.seed = failed->seed;
    options.line = NULL;
    FILE *out = told_to(campaign->options);
    options.left_out = shrink_story(&options, &result);
    fprintf(out, "  the short story:\n");
    fflush(out);
    options.line = print_line;
    options.line_arg = out;
    run_story(&options, &result);
    fprintf(out, "  seed %" PRIu64 " violates %s: %s\n  to replay: ", result.seed, result.invariant,
            result.text);
    print_replay(out, campaign->options, &result, options.left_out, campaign->bug);
    fprintf(out, " --trace\n");
}

static int
take_result(void *arg, const struct story_result *result)
{
    struct campaign *campaign = arg;
    tally_add(&campaign->tally, result);
    if (campaign->hashes != NULL)
        fprintf(campaign->hashes, "%" PRIu64 " %016" PRIx64 "\n", result->seed, result->hash);
    if (result->invariant[0] == '\0')
        return 0;
    print_failure(told_to(campaign->options), campaign->options, result, campaign->bug);
    if (campaign->options->shrink)
        shrink_and_tell(campaign, result);
    return 0;
}

static void
run_campaign(struct campaign *campaign)
{
    const struct sim_options *o = campaign->options;
    struct runner runner = {.options = campaign->story,
                            .first = o->first,
                            .seeds = o->seeds,
                            .jobs = o->shrink || o->hashes != NULL ? 1 : o->jobs,
                            .time_limit_s = o->time_limit_s,
                            .result = take_result,
                            .arg = campaign};
    (void)run_stories(&runner);
}

static enum lbm_status
run_seeds(const struct lbm_cli *cli, const struct sim_options *o, const char *bug)
{
    struct campaign campaign = {.options = o, .bug = bug, .story = story_options(o)};
    struct lbm_diag diag;
    time_t began = time(NULL);
    if (o->hashes != NULL && (campaign.hashes = fopen(o->hashes, "w")) == NULL) {
        (void)lbm_diag_set(&diag, LBM_E_IO, o->hashes, 0, "%s", strerror(errno));
        return lbm_cli_refuse(cli, &diag);
    }
    run_campaign(&campaign);
    if (campaign.hashes != NULL && fclose(campaign.hashes) != 0) {
        (void)lbm_diag_set(&diag, LBM_E_IO, o->hashes, 0, "%s", strerror(errno));
        return lbm_cli_fail(cli, &diag);
    }
    print_tally(o, &campaign.tally, difftime(time(NULL), began));
    return campaign.tally.failed != 0 ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
}

/* ---- planted mistakes ---------------------------------------------------------------------------------- */

static enum lbm_status
run_bugs(const struct lbm_cli *cli, const struct sim_options *o)
{
    struct story_options story = story_options(o);
    struct lbm_diag diag;
    int bug = HUNT_NONE;
    if (strcmp(o->bug, "list") == 0) {
        hunt_list();
        return LBM_STATUS_DONE;
    }
    if (hunt_read(o->bug, &bug, &diag) != LBM_OK)
        return lbm_cli_refuse(cli, &diag);
    if (!o->one || bug == HUNT_NONE)
        return hunt(o, &story, bug) != 0 ? LBM_STATUS_FAILED : LBM_STATUS_DONE;
    hunt_plant(bug);
    return run_seeds(cli, o, hunt_name(bug));
}

enum lbm_status
campaign_run(const struct lbm_cli *cli, const struct sim_options *o)
{
    return o->bug != NULL ? run_bugs(cli, o) : run_seeds(cli, o, NULL);
}
