/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/balance/options.h"
#include "sim/experiment/drift.h"

static double
ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void
print_json(const struct drift_options *o, const struct drift_result *r)
{
    printf("{\"hosts\": ");
    balance_print_quoted(o->hosts);
    printf(", \"guest\": ");
    balance_print_quoted(o->guest);
    printf(", \"why\": ");
    balance_print_quoted(r->why);
    printf(
        ", \"n_hosts\": %" PRIu32 ", \"vertices\": %" PRIu32 ", \"seed\": %" PRIu64 ", \"late\": %" PRIu32
        ", \"least\": %.0f, \"flow\": %.0f, \"moved\": %.0f, \"handed\": %.0f, \"hop_bytes_ratio_most\": %.4f"
        ", \"hop_bytes_ratio_ever\": %.4f, \"hop_bytes_ratio_mean\": %.4f"
        ", \"hop_bytes_ratio_luckiest\": %.4f, \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
        ", \"still_handed\": %" PRIu64 ", \"noise_a_minute\": %.6f"
        ", \"hash\": \"%016" PRIx64 "\", \"steps\": [",
        r->n_hosts, r->vertices, o->seed, r->late, r->least, r->flow, r->moved, r->handed, r->worst,
        r->worst_ever, r->mean_ratio, r->luckiest, r->messages, r->bytes, r->still.handed, r->noisy.a_minute,
        r->hash);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct drift_step *s = &r->step[i];
        printf("%s\n {\"before\": %.4f, \"after\": %.4f, \"back_s\": %.1f, \"least\": %.0f, \"flow\": %.0f"
               ", \"moved\": %.0f, \"hop_bytes\": %" PRIu64 ", \"fresh\": %" PRIu64 ", \"luckiest\": %" PRIu64
               "}",
               i != 0 ? "," : "", s->before, s->after, s->back_s, s->least, s->flow, s->moved, s->hop_bytes,
               s->fresh, s->luckiest);
    }
    printf("]}\n");
}

static void
print_steps(const struct drift_options *o, const struct drift_result *r)
{
    printf("%" PRIu32 " hosts, %" PRIu32 " vertices\n%5s %5s %9s %9s %7s %9s %9s %9s %9s %7s %7s\n",
           r->n_hosts, r->vertices, "ramp", "step", "before %", "after %", "back s", "over", "flow", "moved",
           "J", "fresh", "most");
    for (uint32_t i = 0; i < r->n; i++) {
        const struct drift_step *s = &r->step[i];
        printf("%5" PRIu32 " %5" PRIu32 " %9.2f %9.2f %7.1f %9.0f %9.0f %9.0f %9" PRIu64, i / o->steps,
               i % o->steps + 1, 100 * s->before, 100 * s->after, s->back_s, s->least, s->flow, s->moved,
               s->hop_bytes);
        if (s->fresh != 0)
            printf(" %7.3f %7.3f", (double)s->hop_bytes / (double)s->fresh, s->most);
        printf("\n");
    }
}

static void
print_sums(const struct drift_options *o, const struct drift_result *r)
{
    printf("J of a fresh plan, the middle one of %" PRIu32 ": %.3f on the mean, %.3f at most after a step, "
           "%.3f at any moment; of the luckiest %.3f at most\n",
           o->fresh, r->mean_ratio, r->worst, r->worst_ever, r->luckiest);
    printf("moved %.0f: %.2f of the least flow over links, %.2f of what was over limits", r->moved,
           ratio(r->moved, r->flow), ratio(r->moved, r->least));
    if (o->remap) {
        printf("\n");
        return;
    }
    printf("; %.2f with all stops on the way\n", ratio(r->handed, r->flow));
    printf("%" PRIu32 " of %" PRIu32 " steps not within 5 %% in 5 s; the slowest took %.1f s\n", r->late,
           r->n, r->slowest_s);
    printf("constant loads: %" PRIu64 " vertices handed over in %.0f s; noise of %.0f %%: %" PRIu64
           " in %.0f s, %.4f %% a minute\n",
           r->still.handed, r->still.seconds, 100 * o->noise, r->noisy.handed, r->noisy.seconds,
           100 * r->noisy.a_minute);
    printf("%" PRIu64 " messages, %.1f MiB; hash %016" PRIx64 "\n", r->messages, (double)r->bytes / 1048576,
           r->hash);
}

void
drift_print(const struct drift_options *o, const struct drift_result *r)
{
    if (o->json) {
        print_json(o, r);
        return;
    }
    if (!o->quiet)
        print_steps(o, r);
    if (r->why[0] != '\0')
        printf("failed: %s\n", r->why);
    else
        print_sums(o, r);
}
