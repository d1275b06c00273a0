/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Disks at work: how long a sync takes, what it may do instead, what a crash leaves. */
#include "sim/model/internal.h"

void
persist_effect(struct cluster *c, uint32_t host, struct lbm_effect *effect)
{
    struct machine *m = &c->machine[host];
    requests_ordered(c, host, effect->as.persist);
    int64_t start = m->sync_free_us > c->now_us ? m->sync_free_us : c->now_us;
    int64_t takes = 1 + (int64_t)(lbm_rng_unit(&c->rng) * (double)c->options.sync_us) * m->slow;
    m->sync_free_us = start + takes;
    struct happen happen = {.at_us = m->sync_free_us,
                            .kind = HAPPEN_SYNCED,
                            .host = host,
                            .life = m->life,
                            .persist = effect->as.persist};
    effect->as.persist = NULL;
    happen_push(c, happen);
}

/* Behind the transactions that were asked for before. */
void
blob_read_effect(struct cluster *c, uint32_t host, const struct lbm_effect *effect)
{
    const struct machine *m = &c->machine[host];
    int64_t start = m->sync_free_us > c->now_us ? m->sync_free_us : c->now_us;
    struct happen happen = {.at_us = start + 50,
                            .kind = HAPPEN_BLOB_READ,
                            .host = host,
                            .life = m->life,
                            .read = effect->as.blob_read};
    happen_push(c, happen);
}

void
happen_blob_read(struct cluster *c, const struct happen *happen)
{
    const struct lbm_buf *piece = disk_piece(&c->disk[happen->host], &happen->read.name, happen->read.piece);
    struct lbm_event event = {.kind = LBM_EVENT_BLOB_READ};
    struct lbm_buf copy = {0};
    event.as.blob_read.read = happen->read;
    event.as.blob_read.err = piece != NULL ? LBM_OK : LBM_E_NOTFOUND;
    if (piece != NULL)
        lbm_buf_put(&copy, piece->at, piece->len);
    event.as.blob_read.bytes = (const uint8_t *)copy.at;
    event.as.blob_read.len = copy.len;
    step(c, happen->host, &event);
    lbm_buf_free(&copy);
}

/* Nonzero if the operation changes the stage of a record. */
static int
hands_over(const struct disk *disk, const struct lbm_persist_op *op)
{
    if (op->kind != LBM_PERSIST_ROW)
        return 0;
    const struct lbm_row *row = rows_get(&disk->rows, op->job, op->as.row.vertex);
    return row == NULL || row->stage != op->as.row.stage;
}

/* The control log has another entry. */
static void
entry_comes(struct cluster *c, const struct lbm_persist_op *op)
{
    static const enum trigger triggers[] = {[LBM__COMMAND__WHAT_ACTIVATE] = TRIGGER_ACTIVATE,
                                            [LBM__COMMAND__WHAT_IN_SYNC] = TRIGGER_IN_SYNC,
                                            [LBM__COMMAND__WHAT_EVICT] = TRIGGER_EVICT,
                                            [LBM__COMMAND__WHAT_TAKE_OVER] = TRIGGER_TAKE_OVER,
                                            [LBM__COMMAND__WHAT_LEAVE] = TRIGGER_LEAVE};
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    trigger_comes(c, TRIGGER_ENTRY, LBM_NONE);
    if (c->awaited <= TRIGGER_ENTRY ||
        lbm_wire_unpack_command(op->as.log.command, op->as.log.len, &command, &diag) != LBM_OK)
        return;
    if (command->what_case < sizeof triggers / sizeof *triggers)
        trigger_comes(c, triggers[command->what_case], LBM_NONE);
    lbm__command__free_unpacked(command, NULL);
}

/* A transaction reaches the disk. */
static void
commit(struct cluster *c, uint32_t host, const struct lbm_persist *persist)
{
    struct machine *m = &c->machine[host];
    if (persist->id != m->durable + 1)
        check_violated(&c->check, "I0", "host %" PRIu32 " asks for transaction %" PRIu64 " after %" PRIu64,
                       host, persist->id, m->durable);
    m->durable = persist->id;
    m->meter.transactions++;
    trace_ops(c, host, persist);
    for (size_t i = 0; i < persist->ops.n; i++) {
        if (c->awaited == TRIGGER_STAGE && hands_over(&c->disk[host], &persist->ops.at[i]))
            trigger_comes(c, TRIGGER_STAGE, host);
        uint64_t entries = c->check.log.n;
        if (!c->options.unwatched)
            check_op(&c->check, &c->disk[host], &persist->ops.at[i]);
        else if (persist->ops.at[i].kind == LBM_PERSIST_LOG)
            check_entry(&c->check, host, persist->ops.at[i].as.log.index, persist->ops.at[i].as.log.command,
                        persist->ops.at[i].as.log.len);
        if (persist->ops.at[i].kind == LBM_PERSIST_TAKEN_OVER)
            work_inherited(c, host, persist->ops.at[i].as.drop.owner, persist->ops.at[i].as.drop.incarnation);
        if (c->check.log.n > entries)
            entry_comes(c, &persist->ops.at[i]);
        if (persist->ops.at[i].kind == LBM_PERSIST_TAKEN_OVER)
            trigger_comes(c, TRIGGER_MERGE, host);
        const char *wrong = disk_apply(&c->disk[host], &persist->ops.at[i]);
        if (wrong != NULL)
            check_violated(&c->check, "I9", "host %" PRIu32 ", transaction %" PRIu64 ": %s", host,
                           persist->id, wrong);
    }
    check_transaction(&c->check);
    judge(c);
}

void
happen_synced(struct cluster *c, struct happen *happen)
{
    struct machine *m = &c->machine[happen->host];
    if (m->full) {
        machine_ends(c, happen->host, "the disk is full");
        return;
    }
    if (m->fail_sync) {
        m->fail_sync = 0;
        if (lbm_rng_below(&c->rng, 2) != 0)
            commit(c, happen->host, happen->persist);
        machine_ends(c, happen->host, "a sync failed");
        return;
    }
    note_happening(c, 100, happen->host, NULL, 0);
    commit(c, happen->host, happen->persist);
    struct lbm_event event = {.kind = LBM_EVENT_PERSISTED};
    event.as.persisted = m->durable;
    release(c, happen->host);
    step(c, happen->host, &event);
}

/* The transaction that is next for the disk of a host, or NULL. */
static const struct lbm_persist *
next_transaction(const struct cluster *c, uint32_t host)
{
    const struct machine *m = &c->machine[host];
    for (size_t i = 0; i < c->queue.n + m->held.n; i++) {
        const struct happen *happen = i < c->queue.n ? &c->queue.at[i] : &m->held.at[i - c->queue.n];
        if (happen->kind == HAPPEN_SYNCED && happen->host == host && happen->life == m->life &&
            happen->persist->id == m->durable + 1)
            return happen->persist;
    }
    return NULL;
}

void
sync_some(struct cluster *c, uint32_t host, enum crash crash)
{
    if (crash == CRASH_NONE || c->machine[host].full)
        return;
    while (crash == CRASH_ALL || lbm_rng_below(&c->rng, 2) != 0) {
        const struct lbm_persist *next = next_transaction(c, host);
        if (next == NULL)
            return;
        commit(c, host, next);
    }
}

void
cluster_slow_disk(struct cluster *c, uint32_t host, uint32_t factor)
{
    trace(c, host, "a sync takes %" PRIu32 " times as long", factor);
    c->machine[host].slow = factor;
}

void
cluster_stall_disk(struct cluster *c, uint32_t host, int64_t us)
{
    struct machine *m = &c->machine[host];
    trace(c, host, "the disk stalls for %" PRId64 " ms", us / 1000);
    if (m->sync_free_us < c->now_us + us) /* stalls that overlap do not add up */
        m->sync_free_us = c->now_us + us;
}

void
cluster_fill_disk(struct cluster *c, uint32_t host, int full)
{
    trace(c, host, full ? "the disk is full" : "the disk has room again");
    c->machine[host].full = full;
}

void
cluster_fail_sync(struct cluster *c, uint32_t host)
{
    c->machine[host].fail_sync = 1;
}

void
cluster_image_disk(struct cluster *c, uint32_t host)
{
    trace(c, host, "an image of the disk is made");
    disk_free(&c->image[host]);
    disk_copy(&c->disk[host], &c->image[host]);
}

/* The disk now is another one: the checks forget the records of the one before. */
static void
replace_disk(struct cluster *c, uint32_t host, const struct disk *by)
{
    c->check.has_loss = 1;
    disk_vanish(&c->disk[host]);
    disk_free(&c->disk[host]);
    disk_copy(by, &c->disk[host]);
    disk_appear(&c->disk[host]);
    check_transaction(&c->check);
    judge(c);
}

/* A leader stores an entry before it tells of it. If its disk goes back then, nobody has the entry, and the
 * next leader puts another in its place. */
static void
forget_entries(struct cluster *c)
{
    uint64_t last = 0;
    int is_in_ensemble = cluster_log_is_managed(c) && c->log.first != 0;
    if (is_in_ensemble || (cluster_log_is_external(c) && !cluster_log_is_managed(c)))
        return;
    for (uint32_t p = 0; p < c->n; p++) {
        uint64_t stored = c->disk[p].known ? c->disk[p].snapshot_index + c->disk[p].log.n : 0;
        uint64_t heard = cluster_is_up(c, p) ? lbm_node_view(c->machine[p].node) : 0;
        last = stored > last ? stored : last;
        last = heard > last ? heard : last;
    }
    check_log_ends(&c->check, last);
}

int
cluster_roll_back_disk(struct cluster *c, uint32_t host)
{
    LBM_ASSERT(!cluster_is_up(c, host));
    if (!c->image[host].known)
        return 0;
    trace(c, host, "the disk is rolled back");
    replace_disk(c, host, &c->image[host]);
    forget_entries(c);
    return 1;
}

void
cluster_lose_disk(struct cluster *c, uint32_t host)
{
    LBM_ASSERT(!cluster_is_up(c, host));
    trace(c, host, "the disk is lost");
    struct disk empty = {
        .place = host, .watcher = c->disk[host].watcher, .watcher_arg = c->disk[host].watcher_arg};
    replace_disk(c, host, &empty);
    forget_entries(c);
}
