/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/run/report.h"

#include <inttypes.h>

void
tally_add(struct tally *tally, const struct run_result *result)
{
    tally->runs++;
    tally->failed += result->invariant[0] != '\0';
    tally->steps += result->steps;
    tally->lasted_us += result->lasted_us;
    for (size_t k = 0; k < FAULT_COUNT; k++)
        tally->count[k] += result->count[k];
}

static void
print_list(FILE *out, const char *option, uint64_t bits)
{
    for (uint32_t i = 0, some = 0; i < 64; i++)
        if ((bits >> i & 1) != 0) {
            fprintf(out, "%s%" PRIu32, some ? "," : option, i);
            some = 1;
        }
}

/* Those that may happen, or those that may not if these are fewer. */
static void
print_kinds(FILE *out, uint64_t kinds)
{
    uint32_t n = 0, some = 0;
    for (uint32_t k = 0; k < FAULT_COUNT; k++)
        n += (kinds >> k & 1) != 0;
    int not = n > FAULT_COUNT / 2;
    for (uint32_t k = 0; k < FAULT_COUNT; k++)
        if (((kinds >> k & 1) != 0) != not )
            fprintf(out, "%s%s%s", some++ ? "," : " --faults=", not ? "-" : "", fault_rows[k].name);
}

void
print_replay(FILE *out, const struct sim_options *options, const struct run_result *result, uint64_t left_out,
             const char *bug)
{
    fprintf(out, "%s cluster --seed %" PRIu64, bug != NULL ? "lbsim-bugs" : "lbsim", result->seed);
    if (bug != NULL)
        fprintf(out, " --bug %s", bug);
    fprintf(out, " --hosts %" PRIu32 "..%" PRIu32, options->hosts_least, options->hosts_most);
    if (options->copies != 0)
        fprintf(out, " --copies %" PRIu32, options->copies);
    if (options->programs != CLUSTER_PROGRAMS_NONE)
        fprintf(out, " --programs %s", options->programs == CLUSTER_PROGRAMS_STEPS ? "steps" : "send");
    if (options->kinds != UINT64_MAX)
        print_kinds(out, options->kinds);
    print_list(out, " --without ", left_out);
}

void
print_failure(FILE *out, const struct sim_options *options, const struct run_result *result, const char *bug)
{
    fprintf(out, "seed %" PRIu64 " violates %s after %.3f s: %s\n  to replay: ", result->seed,
            result->invariant, (double)result->lasted_us / 1e6, result->text);
    print_replay(out, options, result, options->left_out, bug);
    fprintf(out, " --trace\n");
    fflush(out);
}

static void
print_json(const struct tally *tally, double seconds)
{
    printf("{\"seeds\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"steps\": %" PRIu64
           ", \"virtual_s\": %.0f, \"seconds\": %.1f, \"faults\": {",
           tally->runs, tally->failed, tally->steps, (double)tally->lasted_us / 1e6, seconds);
    for (size_t k = 0; k < FAULT_COUNT; k++)
        printf("%s\"%s\": %" PRIu64, k != 0 ? ", " : "", fault_rows[k].name, tally->count[k]);
    printf("}}\n");
}

void
print_tally(const struct sim_options *options, const struct tally *tally, double seconds)
{
    if (options->json) {
        print_json(tally, seconds);
        return;
    }
    if (options->quiet)
        return;
    printf("%" PRIu64 " seeds, %" PRIu64 " failed; %" PRIu64 " steps, %.0f virtual seconds in %.0f s\n",
           tally->runs, tally->failed, tally->steps, (double)tally->lasted_us / 1e6, seconds);
    for (size_t k = 0; k < FAULT_COUNT; k++)
        printf("%-24s%9" PRIu64 "%s", fault_rows[k].name, tally->count[k], k % 3 == 2 ? "\n" : "   ");
    printf("\n");
}

void
print_faults(void)
{
    for (size_t k = 0; k < FAULT_COUNT; k++)
        printf("%-24s %s\n", fault_rows[k].name, fault_rows[k].text);
}
