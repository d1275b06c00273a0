/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAPPING without a coordinator, stage by stage. Waves from pivots give first coordinates; they diffuse; the
 * regions of hosts are drawn in several rotations, of which the one with the least hop-bytes counts; records
 * follow. Then, as often as it helps: each host coarsens what it holds, coordinates diffuse from clusters
 * down to vertices, regions, records. A stage ends for a host when all have told what they add to its sum;
 * from the same numbers all draw the same regions. Nobody knows more of the guest than what it holds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/mapping/internal.h"
#include "node/mapping/mapping.h"
#include "node/membership/membership.h"
#include "node/migration/migration.h"
#include "node/records/records.h"

enum stage_kind { KIND_WAVES, KIND_PLACES, KIND_REGIONS, KIND_LABELS, KIND_RECORDS };

/* Stages, numbered from 1. */
static const enum stage_kind stages[] = {KIND_WAVES,   KIND_PLACES,  KIND_REGIONS, KIND_RECORDS,
                                         KIND_PLACES,  KIND_REGIONS, KIND_RECORDS, KIND_PLACES,
                                         KIND_REGIONS, KIND_LABELS,  KIND_RECORDS, KIND_LABELS,
                                         KIND_RECORDS, KIND_LABELS,  KIND_RECORDS};
enum {
    STAGE_WAVES = 1,
    STAGE_FLAT = 2,    /* without levels */
    STAGE_LABELS = 10, /* the first */
    STAGE_LAST = sizeof stages / sizeof *stages
};

/* Temperatures that labels are annealed from, in mean edges: one cycle after the other; again, by a host that
 * waits for nobody. */
static const double HOT[] = {2, 1, 0.5}, WARM = 0.5;
_Static_assert(STAGE_LABELS + 2 * (sizeof HOT / sizeof *HOT) == STAGE_LAST + 1, "each cycle has one");

static enum stage_kind
kind_of(uint32_t stage)
{
    return stages[stage - 1];
}

void
lbm_mapping_diffuse_free(struct job *job)
{
    struct diffuse *d = &job->diffuse;
    lbm_mapping_sums_free(d);
    lbm_cuts_free(&d->cuts);
    lbm_mapping_waves_free(&d->waves);
    lbm_mapping_levels_free(&d->levels);
    for (int k = 0; k < DIFFUSE_ROTATIONS; k++)
        free(d->weight[k]);
    free(d->label);
    free(d->halved);
    lbm_mapping_choice_forget(d);
    lbm_mapping_labels_free(&d->labels);
    *d = (struct diffuse){.is_halving = d->is_halving};
}

/* ---- waves --------------------------------------------------------------------------------------------- */

static void
tell_waves(struct lbm_node *node, struct job *job)
{
    double sums[LBM_PIVOT_SUMS] = {0};
    const struct lbm_patch *patch = &job->shard.patch;
    lbm_pivot_sums_add(patch->g.n, job->diffuse.waves.hops, patch->g.work, sums);
    lbm_mapping_sums_tell(node, job, LBM_PIVOT_SUMS, sums, 0, NULL, NULL);
}

/* A guest whose distances span no space begins at random places. */
static void
place_by_waves(struct lbm_node *node, struct job *job)
{
    const struct lbm_patch *patch = &job->shard.patch;
    const struct waves *w = &job->diffuse.waves;
    double sums[LBM_PIVOT_SUMS];
    struct lbm_pivot_map map;
    unsigned m = job->shard.m;
    lbm_mapping_sums_total(&job->diffuse, LBM_PIVOT_SUMS, sums);
    int is_placed = w->hops != NULL && w->version == job->shard.built && patch->valid &&
                    lbm_pivot_sums_solve(sums, m, &map) == LBM_OK;
    for (uint32_t v = 0; is_placed && v < w->n + w->n_ghosts; v++)
        lbm_pivot_place(&map, &w->hops[(size_t)v * LBM_PIVOTS], &patch->x[(size_t)v * m]);
    if (!is_placed)
        lbm_start_random(patch->g.n, m, NULL, patch->x, &node->rng);
    lbm_mapping_waves_free(&job->diffuse.waves);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

/* ---- records ------------------------------------------------------------------------------------------- */

static void
send_records(struct lbm_node *node, struct job *job)
{
    const struct diffuse *d = &job->diffuse;
    const struct lbm_patch *patch = &job->shard.patch;
    for (uint32_t row = 0; d->label != NULL && d->label_version == job->shard.built && row < patch->g.n;
         row++) {
        struct lbm_vertex *vertex = &job->shard.vertices.at[patch->vertex[row]];
        vertex->destination = d->label[row] != node->host ? d->label[row] : LBM_NONE;
    }
    lbm_local_queue_changed(job);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

/* ---- stages -------------------------------------------------------------------------------------------- */

/* Work on the stage. Returns nonzero once this host has told what it adds. */
static int
work(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    int is_first = !d->has_begun;
    d->has_begun = 1;
    switch (kind_of(d->stage)) {
    case KIND_WAVES:
        if (!lbm_mapping_waves_tick(node, job, entry))
            return 0;
        tell_waves(node, job);
        return 1;
    case KIND_PLACES:
        if (is_first)
            lbm_mapping_regions_renormalize(job);
        if (is_first && d->stage == STAGE_FLAT)
            lbm_mapping_choice_halve(node, job, entry);
        if (d->levels.graph == NULL || d->levels.level != 0 || d->levels.sweeps != 0) {
            (void)lbm_mapping_levels_tick(node, job, entry, d->stage == STAGE_FLAT);
            return 0;
        }
        if (job->ghosts_due != GHOSTS_NONE)
            return 0; /* what is told of hop-bytes counts on them */
        lbm_mapping_regions_tell_places(node, job, entry);
        return 1;
    case KIND_REGIONS:
        lbm_mapping_regions_tell(node, job);
        return 1;
    case KIND_LABELS:
        if (d->is_halving) {
            d->has_begun = 0;
            return 0;
        }
        if ((is_first || d->levels.version != job->shard.built) &&
            lbm_mapping_choice_begin(node, job, entry) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return 0;
        }
        if (!lbm_mapping_labels_tick(node, job, entry,
                                     d->tries % 2 != 0 ? WARM : HOT[(d->stage - STAGE_LABELS) / 2]) ||
            lbm_mapping_choice_again(node, job, entry))
            return 0;
        lbm_mapping_choice_tell(node, job);
        return 1;
    case KIND_RECORDS:
        if (is_first && d->moves)
            send_records(node, job);
        if (lbm_migration_queue_pump(node, job) != 0 || lbm_migration_waits(node, job))
            return 0;
        lbm_mapping_sums_tell(node, job, 0, NULL, 0, NULL, NULL);
        return 1;
    }
    return 0;
}

static void
conclude(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    switch (kind_of(job->diffuse.stage)) {
    case KIND_WAVES:
        place_by_waves(node, job);
        break;
    case KIND_PLACES:
        lbm_mapping_regions_draw(node, job, entry);
        break;
    case KIND_REGIONS:
        lbm_mapping_regions_choose(node, job, entry);
        break;
    case KIND_LABELS:
        lbm_mapping_choice_take(node, job, entry);
        break;
    case KIND_RECORDS:
        break;
    }
}

/* All have told the first host of a large cluster: what goes to all instead of their sum. */
static void
complete(struct lbm_node *node, struct job *job, struct sums_row *sum)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    enum lbm_err err = LBM_OK;
    LBM_ASSERT(job->diffuse.stage >= STAGE_WAVES && job->diffuse.stage <= STAGE_LAST); /* it has told of it */
    switch (kind_of(job->diffuse.stage)) {
    case KIND_PLACES:
        err = lbm_mapping_cuts_total(node, job, entry, sum);
        break;
    case KIND_REGIONS:
        err = lbm_mapping_regions_total(node, job, entry, sum);
        break;
    case KIND_LABELS:
        err = lbm_mapping_choice_total(node, entry, sum);
        break;
    case KIND_WAVES:
    case KIND_RECORDS:
        break;
    }
    if (err != LBM_OK)
        lbm_core_fail(node, err);
}

/* The highest stage that anybody has told of; of a sum of all, the one after it. */
static uint32_t
highest(const struct diffuse *d)
{
    uint32_t stage = d->is_tree && d->total.stage != 0 ? d->total.stage + 1 : 0;
    for (size_t i = 0; !d->is_tree && i < d->rows.n; i++)
        stage = d->rows.at[i].stage > stage ? d->rows.at[i].stage : stage;
    return stage;
}

static void
go_to(const struct lbm_node *node, struct job *job, uint32_t stage)
{
    struct diffuse *d = &job->diffuse;
    d->has_pushed = 0;
    d->since_us = node->now_us;
    d->tree_us = node->now_us + SUMS_AGAIN_US;
    lbm_mapping_choice_forget(d);
    d->stage = stage;
    d->has_begun = d->is_told = 0;
    d->moves = d->moves && stage <= STAGE_LAST && kind_of(stage) == KIND_RECORDS;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    lbm_mapping_sums_forget(d, stage - 1);
}

/* The stage after this one. What one host has annealed by itself gains little from more. */
static uint32_t
next_of(const struct diffuse *d)
{
    return d->stage == STAGE_LABELS + 1 && d->was_alone ? STAGE_LAST + 1 : d->stage + 1;
}

/* One step. Returns nonzero if another one can follow at once. */
static int
step(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    if (lbm_shard_patch(&job->shard) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return 0;
    }
    if (d->is_told && kind_of(d->stage) == KIND_WAVES && !lbm_mapping_waves_tick(node, job, entry)) {
        d->is_told = 0; /* something has become shorter since */
        if (d->is_tree)
            lbm_mapping_tree_withdraw(node, job);
    }
    if (d->is_told && d->is_tree && kind_of(d->stage) == KIND_LABELS)
        lbm_mapping_labels_answer(node, job);
    if (d->is_tree && !d->is_told && d->total.stage >= d->stage) { /* it was silent, and is skipped */
        go_to(node, job, highest(d));
        return d->stage <= STAGE_LAST;
    }
    if (!d->is_told && !work(node, job, entry))
        return 0;
    if (node->failed != LBM_OK)
        return 0;
    enum sums_state state = lbm_mapping_sums_state(node, job);
    if (state == SUMS_PASSED) {
        go_to(node, job, highest(d) > d->stage ? highest(d) : d->stage + 1);
        return d->stage <= STAGE_LAST;
    }
    if (state == SUMS_COMPLETE) {
        conclude(node, job, entry);
        go_to(node, job, next_of(d));
        return d->stage <= STAGE_LAST;
    }
    if (node->now_us >= d->told_us) {
        if (kind_of(d->stage) == KIND_WAVES)
            lbm_mapping_waves_tell_again(node, job);
        lbm_mapping_sums_tell_again(node, job);
    }
    return 0;
}

uint64_t
lbm_mapping_hosts_hash(const struct lbm_node *node)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t p = 0; p < node->view.hosts.n; p++)
        hash = (hash ^ lbm_view_host(&node->view, p)) * UINT64_C(1099511628211); /* FNV-1a */
    return hash;
}

/* Numbers of hosts mean other hosts than before: what goes by them is void, and the stage begins again. */
static void
hosts_changed(const struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    if (d->topology == node->view.topology && d->hosts != 0)
        return;
    uint64_t hash = lbm_mapping_hosts_hash(node);
    d->topology = node->view.topology;
    if (hash == d->hosts)
        return;
    d->hosts = hash;
    d->n_weights = 0;
    free(d->label);
    d->label = NULL;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    d->has_begun = d->is_told = d->has_pushed = 0;
    d->since_us = node->now_us;
    lbm_cuts_free(&d->cuts);
    if (d->is_tree || lbm_mapping_tree_is_large(node)) /* what was told is of other hosts */
        lbm_mapping_sums_forget(d, UINT32_MAX);
    d->is_tree = lbm_mapping_tree_is_large(node);
    d->complete = complete;
}

void
lbm_mapping_diffuse_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    job->tick_us = node->now_us + DIFFUSE_TICK_US;
    if (!lbm_membership_is_routable(node))
        return;
    hosts_changed(node, job);
    if (job->heard_phase >= LBM_PHASE_BALANCING && d->stage <= STAGE_LAST)
        go_to(node, job, STAGE_LAST + 1); /* the others have done without this host */
    if (d->stage == 0)
        go_to(node, job, highest(d) > STAGE_WAVES + 1 ? highest(d) : STAGE_WAVES);
    while (d->stage <= STAGE_LAST && node->failed == LBM_OK && step(node, job, entry))
        ;
    if (d->is_tree)
        lbm_mapping_tree_timer(node, job);
    if (d->is_tree && d->is_told && d->stage <= STAGE_LAST && kind_of(d->stage) != KIND_WAVES)
        job->tick_us = node->now_us + TREE_TICK_US; /* what comes from others wakes this host */
    if (d->stage <= STAGE_LAST)
        return;
    if (!d->is_told && !d->is_tree) /* for those that still wait, and may have missed something */
        lbm_mapping_sums_tell(node, job, 0, NULL, 0, NULL, NULL);
    uint32_t waiting = lbm_migration_queue_pump(node, job);
    int ready = waiting == 0 && !lbm_migration_waits(node, job);
    if (job->ready != ready)
        node->ping_us = node->now_us;
    job->ready = ready;
}
