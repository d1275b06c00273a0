/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbsim: clusters under everything that may go wrong, seed by seed. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/balance/command.h"
#include "sim/change/change.h"
#include "sim/hunt.h"
#include "sim/import/command.h"
#include "sim/replay/command.h"
#include "sim/report.h"
#include "sim/runner.h"
#include "sim/scale.h"
#include "sim/scenario.h"
#include "sim/shrink.h"
#include "sim/tables/command.h"

enum { EXIT_VIOLATED = 1, EXIT_USAGE = 2 };

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
    (void)arg;
    puts(line);
}

static struct story_options
story_options(const struct sim_options *o)
{
    return (struct story_options){.hosts_least = o->hosts_least,
                                  .hosts_most = o->hosts_most,
                                  .kinds = o->kinds,
                                  .left_out = o->left_out,
                                  .line = o->trace && o->one ? print_line : NULL};
}

/* ---- seeds --------------------------------------------------------------------------------------------- */

static void
shrink_and_tell(struct campaign *campaign, const struct story_result *failed)
{
    struct story_options options = campaign->story;
    struct story_result result = *failed;
    options.seed = failed->seed;
    options.line = NULL;
    options.left_out = shrink_story(&options, &result);
    printf("  the short story:\n");
    fflush(stdout);
    options.line = print_line;
    run_story(&options, &result);
    printf("  seed %" PRIu64 " violates %s: %s\n  to replay: ", result.seed, result.invariant, result.text);
    print_replay(stdout, campaign->options, &result, options.left_out, campaign->bug);
    printf(" --trace\n");
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
    print_failure(campaign->options, result, campaign->bug);
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

static int
run_seeds(const struct sim_options *o, const char *bug)
{
    struct campaign campaign = {.options = o, .bug = bug, .story = story_options(o)};
    time_t began = time(NULL);
    if (o->hashes != NULL && (campaign.hashes = fopen(o->hashes, "w")) == NULL) {
        fprintf(stderr, "lbsim: %s: %s\n", o->hashes, strerror(errno));
        return EXIT_USAGE;
    }
    run_campaign(&campaign);
    if (campaign.hashes != NULL && fclose(campaign.hashes) != 0) {
        fprintf(stderr, "lbsim: %s: %s\n", o->hashes, strerror(errno));
        return EXIT_VIOLATED;
    }
    print_tally(o, &campaign.tally, difftime(time(NULL), began));
    return campaign.tally.failed != 0 ? EXIT_VIOLATED : EXIT_SUCCESS;
}

/* ---- planted mistakes ---------------------------------------------------------------------------------- */

static int
run_bugs(const struct sim_options *o)
{
    struct story_options story = story_options(o);
    int bug = hunt_number(o->bug);
    if (strcmp(o->bug, "list") == 0) {
        hunt_list();
        return EXIT_SUCCESS;
    }
    if (!hunt_can_plant()) {
        fprintf(
            stderr,
            "lbsim: --bug: nothing can be planted in this build; sim/lbsim-bugs of the source tree can\n");
        return EXIT_USAGE;
    }
    if (bug == HUNT_NONE && strcmp(o->bug, "all") != 0) {
        fprintf(stderr, "lbsim: --bug: %s is not known; --bug list lists them\n", o->bug);
        return EXIT_USAGE;
    }
    if (!o->one || bug == HUNT_NONE)
        return hunt(o, &story, bug) != 0 ? EXIT_VIOLATED : EXIT_SUCCESS;
    hunt_plant(bug);
    return run_seeds(o, hunt_name(bug));
}

/* ---- the program --------------------------------------------------------------------------------------- */

static int
refused(const struct lbm_diag *diag)
{
    char text[LBM_DIAG_TEXT_MAX];
    lbm_diag_render(diag, text, sizeof text);
    fprintf(stderr, "lbsim: %s\n", text);
    return EXIT_USAGE;
}

static int
run_scale(int argc, char **argv)
{
    struct scale_options o;
    struct scale_result result;
    struct lbm_diag diag;
    if (scale_options_read(argc, argv, &o, &diag) != LBM_OK)
        return refused(&diag);
    if (o.help) {
        scale_options_help();
        return EXIT_SUCCESS;
    }
    if (scale_run(&o, &result, &diag) != LBM_OK)
        return refused(&diag);
    scale_print(&o, &result);
    return result.settled && result.imbalance <= 0.05 ? EXIT_SUCCESS : EXIT_VIOLATED;
}

/* Commands besides cluster and scale; each gets the arguments after its name. */
static const struct {
    const char *name;
    enum lbm_err (*run)(int argc, char **argv, int *status, struct lbm_diag *diag);
    const char *text;
} commands[] = {
    {"scenario", scenario_command, "one story, told step by step in a file"},
    {"change", change_command, "one change in a large cluster, and whom it concerns"},
    {"replay", replay_command, "the balancer over a trace of a real cluster"},
    {"import", import_command, "what other programs recorded, as a trace"},
    {"balance", balance_command, "a load policy on any hosts"},
    {"advise", advise_command, "which load policy is the fastest on these hosts, and why"},
    {"table", table_command, "numbers of the papers, compared with ours"},
    {"plot", plot_command, "curves of the papers, from our data"},
    {"embed", embed_command, "a guest that diffuses, frame by frame"},
    {"list", list_command, "the tables and plots"},
};

static void
print_commands(void)
{
    printf("usage: lbsim COMMAND [ARGUMENT...]; lbsim COMMAND --help says more\n\n"
           "  cluster   clusters under everything that may go wrong; below\n"
           "  scale     one large cluster, measured\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].text);
    printf("\n");
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            struct lbm_diag why;
            int status = EXIT_SUCCESS;
            return commands[i].run(argc - 2, argv + 2, &status, &why) == LBM_OK ? status : refused(&why);
        }
    if (argc > 1 && strcmp(argv[1], "scale") == 0)
        return run_scale(argc - 2, argv + 2);
    struct sim_options o;
    struct lbm_diag diag;
    int has_command = argc > 1 && strcmp(argv[1], "cluster") == 0;
    if (sim_options_read(argc - 1 - has_command, argv + 1 + has_command, &o, &diag) != LBM_OK)
        return refused(&diag);
    if (o.help) {
        if (!has_command)
            print_commands();
        sim_options_help();
        return EXIT_SUCCESS;
    }
    if (o.version) {
        printf("lbsim %s\n", PACKAGE_VERSION);
        return EXIT_SUCCESS;
    }
    if (!has_command) {
        fprintf(stderr, "lbsim: the command is missing: lbsim cluster, scenario, scale, change, replay, "
                        "import, balance, advise, "
                        "table, plot, embed or list; --help says more\n");
        return EXIT_USAGE;
    }
    if (o.list_faults) {
        print_faults();
        return EXIT_SUCCESS;
    }
    return o.bug != NULL ? run_bugs(&o) : run_seeds(&o, NULL);
}
