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

/* Stages of a lap. A lap that is not the first begins with records that come to rest. */
static const enum stage_kind stages[] = {KIND_RECORDS, KIND_WAVES,   KIND_PLACES,  KIND_REGIONS,
                                         KIND_RECORDS, KIND_PLACES,  KIND_REGIONS, KIND_RECORDS,
                                         KIND_PLACES,  KIND_REGIONS, KIND_LABELS,  KIND_RECORDS,
                                         KIND_LABELS,  KIND_RECORDS, KIND_LABELS,  KIND_RECORDS};
enum {
    STAGE_REST = 0,
    STAGE_WAVES = 1,
    STAGE_FLAT = 2,    /* without levels */
    STAGE_AGAIN = 8,   /* of a lap that begins with coordinates */
    STAGE_LABELS = 10, /* the first */
    STAGE_MEND = 14,   /* of a lap that begins with records where labels have had them */
    STAGE_LAST = sizeof stages / sizeof *stages - 1,
    STAGE_OVER,
    LAST_LAP = LBM_STAGE_REMAP / LBM_STAGE_LAP - 1 /* has no stages but its end */
};
_Static_assert((int)STAGE_OVER < (int)LBM_STAGE_LAP, "a lap has numbers for all stages, and for its end");
enum {
    VERDICT_US = SUSPECT_US + CONFIRM_US + 2000000, /* a host that is silent is evicted by then, or stays */
};

/* Temperatures that labels are annealed from, in mean edges: one cycle after the other; again, by a host that
 * waits for nobody. */
static const double HOT[] = {2, 1, 0.5}, WARM = 0.5;
_Static_assert(STAGE_LABELS + 2 * (sizeof HOT / sizeof *HOT) == STAGE_LAST + 1, "each cycle has one");

/* The number of a stage within its lap. */
static uint32_t
place_of(uint32_t stage)
{
    return stage % LBM_STAGE_LAP;
}

static int
is_over(const struct diffuse *d)
{
    return place_of(d->stage) >= STAGE_OVER;
}

static enum stage_kind
kind_of(uint32_t stage)
{
    return stages[place_of(stage)];
}

static void
can_resume(struct diffuse *d, uint32_t place)
{
    d->resume = place > d->resume ? place : d->resume;
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
    lbm_mapping_flow_free(&d->flow);
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
    can_resume(&job->diffuse, STAGE_FLAT);
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
    if (place_of(d->stage) > STAGE_LABELS)
        can_resume(&job->diffuse, STAGE_MEND);
    lbm_local_queue_changed(job);
    lbm_local_ghosts_due(job, GHOSTS_ALL);
}

/* Nothing goes anywhere but what is on its way. */
static void
forget_destinations(struct job *job)
{
    for (size_t i = 0; i < job->shard.vertices.n; i++)
        if (job->shard.vertices.at[i].stage == LBM_STAGE_OWN)
            job->shard.vertices.at[i].destination = LBM_NONE;
    lbm_local_queue_changed(job);
}

/* Nonzero if a host that this one should hear has fallen silent, and may be evicted soon: what would go to it
 * waits. */
static int
awaits_verdict(const struct lbm_node *node)
{
    for (size_t i = 0; i < node->watched.n; i++)
        if (lbm_membership_is_unreachable(node, node->watched.at[i], UNREACHABLE_US) &&
            !lbm_membership_is_unreachable(node, node->watched.at[i], VERDICT_US))
            return 1;
    return 0;
}

/* Records go where labels have them, or come to rest. Returns nonzero once this host has told that none is on
 * its way, and whether it lacks coordinates. */
static int
work_on_records(struct lbm_node *node, struct job *job, int is_first)
{
    struct diffuse *d = &job->diffuse;
    int is_rest = place_of(d->stage) == STAGE_REST;
    if (is_first && d->moves && awaits_verdict(node)) {
        d->has_begun = 0;
        return 0;
    }
    if (is_first && d->moves)
        send_records(node, job);
    if (lbm_migration_queue_pump(node, job) != 0 || lbm_migration_waits(node, job) ||
        (is_rest && (job->shard.n_out != 0 || lbm_local_awaits_records(node, job->id))))
        return 0;
    double resume = job->shard.n_own == 0 ? STAGE_MEND : d->resume > STAGE_WAVES ? d->resume : STAGE_WAVES;
    lbm_mapping_sums_tell(node, job, is_rest, &resume, 0, NULL, NULL);
    return 1;
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
        if (is_first)
            lbm_mapping_choice_halve(node, job, entry);
        if (d->levels.graph == NULL || d->levels.level != 0 || d->levels.sweeps != 0) {
            (void)lbm_mapping_levels_tick(node, job, entry, place_of(d->stage) == STAGE_FLAT);
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
        if (is_first)
            lbm_mapping_choice_halve(node, job, entry); /* others than were asked for */
        if (d->is_halving) {
            d->has_begun = 0;
            return 0;
        }
        if ((is_first || d->levels.version != job->shard.built) &&
            lbm_mapping_choice_begin(node, job, entry) != LBM_OK) {
            lbm_core_fail(node, LBM_E_NOMEM);
            return 0;
        }
        if (!lbm_mapping_labels_tick(
                node, job, entry, d->tries % 2 != 0 ? WARM : HOT[(place_of(d->stage) - STAGE_LABELS) / 2]) ||
            lbm_mapping_choice_again(node, job, entry))
            return 0;
        lbm_mapping_choice_tell(node, job);
        return 1;
    case KIND_RECORDS:
        return work_on_records(node, job, is_first);
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
        if (place_of(job->diffuse.stage) > LBM_STAGE_GATHER)
            can_resume(&job->diffuse, STAGE_AGAIN);
        break;
    }
}

/* All have told the first host of a large cluster: what goes to all instead of their sum. */
static void
complete(struct lbm_node *node, struct job *job, struct sums_row *sum)
{
    const struct lbm_job_entry *entry = lbm_view_job(&node->view, job->id);
    enum lbm_err err = LBM_OK;
    LBM_ASSERT(place_of(job->diffuse.stage) >= STAGE_WAVES &&
               !is_over(&job->diffuse)); /* it has told of it */
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
    d->moves = d->moves && !is_over(d) && kind_of(stage) == KIND_RECORDS;
    lbm_mapping_levels_free(&d->levels);
    lbm_mapping_labels_free(&d->labels);
    lbm_mapping_sums_forget(d, stage - 1);
}

/* The stage after this one. What one host has annealed by itself gains little from more. */
static uint32_t
next_of(const struct diffuse *d)
{
    uint32_t place = place_of(d->stage), lap = d->stage - place;
    uint32_t next = STAGE_MEND;
    if (place == STAGE_LABELS + 1 && d->was_alone)
        return lap + STAGE_OVER;
    if (place != STAGE_REST)
        return d->stage + 1;
    for (size_t i = 0; i < d->rows.n; i++) {
        const struct sums_row *row = &d->rows.at[i];
        if (row->stage == d->stage && row->hosts == d->hosts && row->n == 1 && row->value[0] < next)
            next = row->value[0] > STAGE_WAVES ? (uint32_t)row->value[0] : STAGE_WAVES;
    }
    return lap + next;
}

/* The stage after this one, for which all others have gone on. What is told in another lap is of hosts that
 * this one has yet to hear of. */
static uint32_t
passed_to(const struct diffuse *d)
{
    uint32_t stage = highest(d);
    if (stage / LBM_STAGE_LAP != d->stage / LBM_STAGE_LAP)
        return d->stage;
    return stage > d->stage ? stage : d->stage + 1;
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
        return !is_over(d);
    }
    if (!d->is_told && !work(node, job, entry))
        return 0;
    if (node->failed != LBM_OK)
        return 0;
    enum sums_state state = lbm_mapping_sums_state(node, job);
    if (state == SUMS_PASSED) {
        uint32_t next = passed_to(d);
        if (next == d->stage)
            return 0;
        go_to(node, job, next);
        return !is_over(d);
    }
    if (state == SUMS_COMPLETE) {
        conclude(node, job, entry);
        go_to(node, job, next_of(d));
        return !is_over(d);
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

/* Another lap begins: what goes by numbers of hosts is void. */
static void
begin_lap(struct lbm_node *node, struct job *job, uint32_t lap)
{
    struct diffuse *d = &job->diffuse;
    lbm_core_note(node, LBM_NOTE_DEBUG,
                  "job %016" PRIx64 ": other hosts than before in stage %" PRIu32 ", lap %" PRIu32 " begins",
                  job->id, d->stage, lap);
    d->n_weights = 0;
    free(d->label);
    d->label = NULL;
    forget_destinations(job);
    go_to(node, job, lap * LBM_STAGE_LAP + STAGE_REST);
}

/* Hosts came and went too often: nobody begins again, and rounds of pairs do what is left. Who comes is told.
 */
static void
give_up(struct lbm_node *node, struct job *job, int is_changed)
{
    struct diffuse *d = &job->diffuse;
    const uint32_t end = LAST_LAP * LBM_STAGE_LAP + STAGE_OVER;
    if (d->stage < end)
        go_to(node, job, end);
    else if (is_changed)
        d->is_told = 0;
}

/* In a large cluster, or one that was: if other hosts take part than before, the stage begins again. */
static void
look_at_tree(struct lbm_node *node, struct job *job)
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
    lbm_mapping_sums_forget(d, UINT32_MAX); /* what was told is of other hosts */
    d->is_tree = lbm_mapping_tree_is_large(node);
    d->complete = complete;
}

/* If other hosts take part than before, all begin again with those: whoever sees it first begins another lap,
 * and the others join in once they have seen it, too. */
static void
look_at_hosts(struct lbm_node *node, struct job *job)
{
    struct diffuse *d = &job->diffuse;
    if (d->is_tree || lbm_mapping_tree_is_large(node)) {
        look_at_tree(node, job);
        return;
    }
    uint64_t before = d->hosts;
    uint32_t own = d->stage / LBM_STAGE_LAP;
    d->hosts = lbm_mapping_hosts_hash(node);
    uint32_t lap = lbm_mapping_sums_lap(d, d->hosts), any = lbm_mapping_sums_lap(d, 0);
    if (before != 0 && before != d->hosts && d->stage != 0 && (lap <= own || lap < any))
        lap = (any > own ? any : own) + 1;
    if (d->stage == 0 || d->stage >= LBM_STAGE_REMAP)
        return;
    if (lap >= LAST_LAP || any >= LAST_LAP)
        give_up(node, job, before != d->hosts);
    else if (lap > own)
        begin_lap(node, job, lap);
}

void
lbm_mapping_diffuse_timer(struct lbm_node *node, struct job *job, const struct lbm_job_entry *entry)
{
    struct diffuse *d = &job->diffuse;
    job->tick_us = node->now_us + DIFFUSE_TICK_US;
    if (!lbm_membership_is_routable(node))
        return;
    look_at_hosts(node, job);
    if (job->heard_phase >= LBM_PHASE_BALANCING && !is_over(d)) /* the others have done without this host */
        go_to(node, job, d->stage - place_of(d->stage) + STAGE_OVER);
    if (d->stage == 0)
        go_to(node, job, highest(d) > STAGE_WAVES + 1 ? highest(d) : STAGE_WAVES);
    while (!is_over(d) && node->failed == LBM_OK && step(node, job, entry))
        ;
    if (d->is_tree)
        lbm_mapping_tree_timer(node, job);
    if (d->is_tree && d->is_told && !is_over(d) && kind_of(d->stage) != KIND_WAVES)
        job->tick_us = node->now_us + TREE_TICK_US; /* what comes from others wakes this host */
    if (!is_over(d))
        return;
    if (!d->is_told && !d->is_tree) /* for those that still wait, and may have missed something */
        lbm_mapping_sums_tell(node, job, 0, NULL, 0, NULL, NULL);
    uint32_t waiting = lbm_migration_queue_pump(node, job);
    int ready = waiting == 0 && !lbm_migration_waits(node, job) && !awaits_verdict(node);
    if (job->ready != ready)
        node->ping_us = node->now_us;
    job->ready = ready;
}
