/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "sim/experiment/replay.h"

/* ---- text ---------------------------------------------------------------------------------------------- */

static void
print_seconds(double seconds)
{
    if (seconds < 0)
        printf(" %8s", "-");
    else
        printf(" %8.1f", seconds);
}

static void
print_phases(const struct replay_result *r)
{
    printf("\n%s\n%9s %9s %8s %8s %8s %12s %10s %10s %9s %9s %8s\n", r->policy, "at s", "before %", "mean %",
           "most %", "end %", "J", "over", "moved", "messages", "KiB", "settled");
    for (size_t i = 0; i < r->phases.n; i++) {
        const struct replay_phase *p = &r->phases.at[i];
        if (i == 0)
            printf("%9s", "start");
        else
            printf("%9.1f", p->at_s);
        printf(" %9.2f %8.2f %8.2f %8.2f %12.0f %10" PRIu64 " %10" PRIu64 " %9" PRIu64 " %9" PRIu64,
               100 * p->before, 100 * p->mean, 100 * p->most, 100 * p->after, p->hop_bytes, p->over, p->moved,
               p->messages, p->bytes / 1024);
        print_seconds(p->settled_s);
        printf("\n");
    }
}

static void
print_summary(const struct replay_result *r)
{
    const struct replay_phase *start = r->phases.n != 0 ? &r->phases.at[0] : NULL;
    printf("%-19s %8.2f %8.2f %8.2f %12.0f %12.0f %9.2f", r->policy, 100 * r->mean, 100 * r->most,
           100 * r->end, r->hop_bytes_mean, r->hop_bytes_end, 100 * r->moved_share);
    if (r->is_recorded)
        printf(" %9s %9s", "-", "-");
    else
        printf(" %9" PRIu64 " %9" PRIu64, r->messages, r->bytes / 1024);
    print_seconds(!r->is_recorded && start != NULL ? start->settled_s : -1);
    print_seconds(!r->is_recorded && r->n_settled != 0 ? r->settled_mean_s : -1);
    printf("\n");
}

static void
print_table(const struct replay_options *o, const struct lbm_trace *trace, const struct replay_place *place,
            const struct replay_result *results, size_t n)
{
    printf("%s: %" PRIu32 " vertices on %" PRIu32 " hosts, %.1f s, %" PRIu32 " changes\n\n", o->file,
           trace->g.n, place->h.n, (double)trace->end_us / 1e6, results[0].n_changes);
    printf("%-19s %26s %25s %9s %9s %9s %17s\n", "", "imbalance %", "J", "moved %", "messages", "KiB",
           "settled after s");
    printf("%-19s %8s %8s %8s %12s %12s %9s %9s %9s %8s %8s\n", "", "mean", "most", "end", "mean", "end",
           "of work", "", "", "start", "changes");
    for (size_t i = 0; i < n; i++)
        print_summary(&results[i]);
    for (size_t i = 0; i < n && o->phases; i++)
        print_phases(&results[i]);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void
json_seconds(const char *name, double seconds)
{
    if (seconds < 0)
        printf(", \"%s\": null", name);
    else
        printf(", \"%s\": %.3f", name, seconds);
}

static void
json_phase(const struct replay_phase *p)
{
    printf("{\"at_s\": %.6f, \"imbalance_before\": %.6f, \"imbalance_mean\": %.6f, \"imbalance_most\": %.6f, "
           "\"imbalance\": %.6f, \"hop_bytes\": %.0f, \"hop_bytes_mean\": %.1f, \"over_weight\": %" PRIu64
           ", \"moved_weight\": %" PRIu64 ", \"moved_vertices\": %" PRIu32 ", \"messages\": %" PRIu64
           ", \"bytes\": %" PRIu64,
           p->at_s, p->before, p->mean, p->most, p->after, p->hop_bytes, p->hop_bytes_mean, p->over, p->moved,
           p->moved_vertices, p->messages, p->bytes);
    json_seconds("settled_s", p->settled_s);
    printf("}");
}

static void
json_result(const struct replay_result *r)
{
    printf("{\"policy\": \"%s\", \"settled\": %s, \"why\": \"", r->policy, r->settled ? "true" : "false");
    for (const char *c = r->why; *c != '\0'; c++)
        putchar(*c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '\'' : *c);
    printf("\", \"imbalance_mean\": %.6f, \"imbalance_most\": %.6f, \"imbalance\": %.6f, "
           "\"hop_bytes_mean\": %.1f, \"hop_bytes\": %.0f, \"moved_weight\": %" PRIu64
           ", \"moved_share\": %.6f, \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"changes\": %" PRIu32
           ", \"changes_settled\": %" PRIu32,
           r->mean, r->most, r->end, r->hop_bytes_mean, r->hop_bytes_end, r->moved, r->moved_share,
           r->messages, r->bytes, r->n_changes, r->n_settled);
    json_seconds("settled_mean_s", r->n_settled != 0 ? r->settled_mean_s : -1);
    json_seconds("settled_most_s", r->n_settled != 0 ? r->settled_most_s : -1);
    if (!r->is_recorded)
        printf(", \"hash\": \"%016" PRIx64 "\"", r->hash);
    printf(",\n \"phases\": [");
    for (size_t i = 0; i < r->phases.n; i++) {
        printf(i != 0 ? ",\n  " : "\n  ");
        json_phase(&r->phases.at[i]);
    }
    printf("]}");
}

void
replay_print(const struct replay_options *o, const struct lbm_trace *trace, const struct replay_place *place,
             const struct replay_result *results, size_t n)
{
    if (o->json) {
        printf("{\"vertices\": %" PRIu32 ", \"edges\": %" PRIu64 ", \"hosts\": %" PRIu32
               ", \"seconds\": %.6f, "
               "\"cut\": %s, \"runs\": [\n",
               trace->g.n, lbm_graph_directions(&trace->g) / 2, place->h.n, (double)trace->end_us / 1e6,
               trace->cut ? "true" : "false");
        for (size_t i = 0; i < n; i++) {
            json_result(&results[i]);
            printf(i + 1 < n ? ",\n" : "\n");
        }
        printf("]}\n");
    } else if (!o->quiet) {
        print_table(o, trace, place, results, n);
    }
    for (size_t i = 0; i < n && !o->json; i++)
        if (results[i].why[0] != '\0')
            printf("%s: %s\n", results[i].policy, results[i].why);
}
