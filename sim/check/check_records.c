/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/check/check.h"

void
check_violated(struct check *check, const char *invariant, const char *fmt, ...)
{
    if (check->invariant[0] != '\0')
        return;
    snprintf(check->invariant, sizeof check->invariant, "%s", invariant);
    va_list args;
    va_start(args, fmt);
    vsnprintf(check->text, sizeof check->text, fmt, args);
    va_end(args);
}

struct guest *
check_guest(const struct check *check, uint64_t job)
{
    for (size_t i = 0; i < check->guests.n; i++)
        if (check->guests.at[i].job == job)
            return &check->guests.at[i];
    return NULL;
}

uint64_t
check_job(const struct check *check, const char *name)
{
    uint64_t job = 0;
    for (size_t i = 0; i < check->created.n; i++)
        if (strcmp(check->created.at[i].name, name) == 0)
            job = check->created.at[i].job;
    return job;
}

static int
is_created(const struct check *check, uint64_t job)
{
    for (size_t i = 0; i < check->created.n; i++)
        if (check->created.at[i].job == job)
            return 1;
    return 0;
}

static int
is_deleted(const struct check *check, uint64_t job)
{
    for (size_t i = 0; i < check->deleted.n; i++)
        if (check->deleted.at[i] == job)
            return 1;
    return 0;
}

/* Numbers of `from` from the first one on; there may be none. */
static void
take(uint32_t *to, const uint32_t *from, uint64_t first, uint64_t n)
{
    if (n != 0)
        memcpy(to, &from[first], n * sizeof *to);
}

/* A guest that comes in parts: rows of which nothing is known yet are empty. */
static void
grow_guest(struct guest *guest, uint32_t first, const struct lbm_graph *g)
{
    uint64_t before = lbm_graph_directions(&guest->g), more = lbm_graph_directions(g),
             at = guest->g.offset[first];
    LBM_ASSERT(guest->g.offset[first + g->n] == at); /* ids of jobs are used once */
    uint32_t *target = lbm_alloc(before + more, sizeof *target),
             *weight = lbm_alloc(before + more, sizeof *weight);
    take(target, guest->g.target, 0, at);
    take(weight, guest->g.weight, 0, at);
    take(&target[at], g->target, 0, more);
    for (uint64_t e = 0; e < more; e++)
        weight[at + e] = lbm_graph_weight(g, e);
    take(&target[at + more], guest->g.target, at, before - at);
    take(&weight[at + more], guest->g.weight, at, before - at);
    free(guest->g.target);
    free(guest->g.weight);
    guest->g.target = target;
    guest->g.weight = weight;
    for (uint32_t v = 0; v < g->n; v++) {
        guest->g.offset[first + v] = at + g->offset[v];
        guest->g.work[first + v] = lbm_graph_work(g, v);
    }
    for (uint32_t v = first + g->n; v <= guest->g.n; v++)
        guest->g.offset[v] += more;
}

static void
learn_guest(struct check *check, uint64_t job, const struct lbm_graph *g, uint32_t first, uint32_t whole)
{
    struct guest *known = check_guest(check, job);
    LBM_ASSERT(known == NULL || whole != 0); /* ids of jobs are used once */
    if (known == NULL) {
        struct guest guest = {.job = job, .g = {.n = whole != 0 ? whole : g->n}};
        guest.n = guest.g.n;
        guest.g.offset = lbm_alloc((size_t)guest.g.n + 1, sizeof *g->offset);
        guest.g.target = lbm_alloc(0, sizeof *g->target);
        guest.g.weight = lbm_alloc(0, sizeof *g->weight);
        guest.g.work = lbm_alloc(guest.g.n, sizeof *g->work);
        guest.vertex = lbm_alloc(guest.g.n, sizeof *guest.vertex);
        for (uint32_t v = 0; v < guest.g.n; v++) {
            guest.vertex[v].token_host = LBM_NONE;
            guest.vertex[v].is_born = guest.vertex[v].is_promised = 1;
        }
        guest.logged = is_created(check, job);
        guest.deleted = is_deleted(check, job);
        LBM_ASSERT(lbm_vec_push(&check->guests, guest) == LBM_OK);
        known = &check->guests.at[check->guests.n - 1];
    }
    grow_guest(known, first, g);
}

/* I4: work and adjacency are conserved; work, unless applications report what it is. */
static int
has_content(const struct check *check, const struct lbm_graph *g, const struct lbm_row *row)
{
    if (!check->loads_change && row->work != g->work[row->vertex])
        return 0;
    uint64_t begin = g->offset[row->vertex];
    if (row->degree != g->offset[row->vertex + 1] - begin)
        return 0;
    for (uint32_t k = 0; k < row->degree; k++)
        if (row->half[k].to != g->target[begin + k] || row->half[k].weight != g->weight[begin + k])
            return 0;
    return 1;
}

int
check_is_there(const struct truth *truth)
{
    return truth->is_promised && !truth->is_removed;
}

int
check_grow(const struct check *check, struct guest *guest, uint32_t vertex)
{
    const struct lbm_job_entry *entry = lbm_view_job(&check->view, guest->job);
    if (entry == NULL || vertex >= entry->ids)
        return 0;
    struct truth *grown = lbm_alloc(entry->ids, sizeof *grown);
    LBM_ASSERT(grown != NULL);
    memcpy(grown, guest->vertex, guest->n * sizeof *grown);
    free(guest->vertex);
    guest->vertex = grown;
    for (; guest->n < entry->ids; guest->n++)
        grown[guest->n].token_host = LBM_NONE;
    return 1;
}

/* I14: a vertex that somebody was told is gone does not come again. A successor that knows nothing of a
 * removal may have it again as long as nobody was told. A disk that was rolled back may show it once more,
 * but the vertex has ended: nobody has to keep it. */
static void
note_life(struct check *check, struct guest *guest, const struct disk *disk,
          const struct disk_replica *replica, const struct lbm_row *row)
{
    struct truth *truth = &guest->vertex[row->vertex];
    const struct lbm_member *self = lbm_view_member(&check->view, disk->place);
    truth->is_born = 1;
    if (replica != NULL && row->stage == LBM_STAGE_MOV && row->peer == LBM_NONE)
        truth->is_removed = 1; /* who inherits knows, whatever becomes of the owner */
    if (replica != NULL ||
        (self != NULL && (self->incarnation != disk->incarnation || !lbm_view_participates(self))))
        return; /* what a host does that has departed and does not know it, is nobody's concern */
    if (row->stage == LBM_STAGE_MOV && row->peer == LBM_NONE)
        truth->is_removed = 1;
    else if (row->stage == LBM_STAGE_OWN && truth->is_gone && !check->has_loss)
        check_violated(check, "I14", "host %" PRIu32 " owns vertex %" PRIu32 ", which was removed",
                       disk->place, row->vertex);
    else if (row->stage == LBM_STAGE_OWN && row->epoch > truth->moved && !truth->is_gone)
        truth->is_removed = 0;
}

static int
is_held(enum lbm_stage stage)
{
    return stage == LBM_STAGE_OWN || stage == LBM_STAGE_OUT;
}

static struct copy *
copy_of(struct truth *truth, uint32_t disk, uint32_t owner, uint64_t incarnation)
{
    for (size_t i = 0; i < truth->copies.n; i++) {
        struct copy *copy = &truth->copies.at[i];
        if (copy->disk == disk && copy->owner == owner && copy->incarnation == incarnation)
            return copy;
    }
    return NULL;
}

static void
keep_copy(struct truth *truth, struct copy copy)
{
    struct copy *known = copy_of(truth, copy.disk, copy.owner, copy.incarnation);
    if (known != NULL)
        *known = copy;
    else
        LBM_ASSERT(lbm_vec_push(&truth->copies, copy) == LBM_OK);
    if (copy.owner != LBM_NONE)
        check_replicated(truth, &copy);
    if (copy.epoch > truth->epoch)
        truth->epoch = copy.epoch;
    if (copy.owner == LBM_NONE && copy.stage == LBM_STAGE_MOV && !copy.is_removal &&
        copy.epoch > truth->moved)
        truth->moved = copy.epoch;
}

/* Applications number what they write: the first eight bytes, the lowest first. */
static uint64_t
payload_number(const struct disk *disk, const struct lbm_row *row)
{
    struct lbm_blob_name name;
    uint64_t number = 0;
    const uint8_t *bytes = row->payload;
    size_t len = row->payload_len;
    if (row->is_blob) { /* it begins its first piece */
        const struct lbm_buf *piece =
            lbm_blob_read_name(row->job, bytes, len, &name) ? disk_piece(disk, &name, 0) : NULL;
        bytes = piece != NULL ? (const uint8_t *)piece->at : NULL;
        len = piece != NULL ? piece->len : 0;
    }
    for (size_t i = 0; i < 8 && i < len; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

/* Nonzero if a host has nothing more to do with what was offered up to that row. */
static int
ends(const struct lbm_row *before, const struct lbm_row *after)
{
    if (before == NULL)
        return 0;
    return after != NULL ? before->stage == LBM_STAGE_OWN && after->stage == LBM_STAGE_OUT
                         : before->stage == LBM_STAGE_REF || before->stage == LBM_STAGE_MOV;
}

void
check_record(void *arg, const struct disk *disk, const struct disk_replica *replica,
             const struct lbm_row *before, const struct lbm_row *after)
{
    struct check *check = arg;
    const struct lbm_row *row = after != NULL ? after : before;
    struct guest *guest = check_guest(check, row->job);
    if (guest == NULL || (row->vertex >= guest->n && !check_grow(check, guest, row->vertex))) {
        check_violated(check, "I4", "host %" PRIu32 " stores vertex %" PRIu32 " of no guest", disk->place,
                       row->vertex);
        return;
    }
    struct truth *truth = &guest->vertex[row->vertex];
    struct copy copy = {.disk = disk->place,
                        .owner = replica != NULL ? replica->owner : LBM_NONE,
                        .incarnation = replica != NULL ? replica->incarnation : disk->incarnation,
                        .repl_epoch = replica != NULL ? replica->repl_epoch : 0,
                        .epoch = row->epoch,
                        .stage = row->stage,
                        .is_removal = row->stage == LBM_STAGE_MOV && row->peer == LBM_NONE};
    if (replica == NULL && ends(before, after))
        check_end(check, disk, guest, before);
    if (after != NULL) {
        keep_copy(truth, copy);
        uint64_t payload = payload_number(disk, after);
        if (replica != NULL && payload > truth->payload_replicated)
            truth->payload_replicated = payload;
        note_life(check, guest, disk, replica, after);
        if (is_held(after->stage) && !guest->changes && !has_content(check, &guest->g, after))
            check_violated(check, "I4",
                           "host %" PRIu32 " stores vertex %" PRIu32 " with another work or adjacency",
                           disk->place, after->vertex);
    } else {
        struct copy *known = copy_of(truth, copy.disk, copy.owner, copy.incarnation);
        if (known != NULL)
            *known = truth->copies.at[--truth->copies.n];
    }
    if (!truth->touched) {
        struct touched touched = {row->job, row->vertex};
        truth->touched = 1;
        LBM_ASSERT(lbm_vec_push(&check->touched, touched) == LBM_OK);
    }
}

static void
read_entry(struct check *check, const struct lbm_persist_op *op)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    if (lbm_wire_unpack_command(op->as.log.command, op->as.log.len, &command, &diag) != LBM_OK) {
        check_violated(check, "I5", "entry %" PRIu64 " of the control log is damaged", op->as.log.index);
        return;
    }
    struct guest *guest = NULL;
    char refusal[LBM_DIAG_TEXT_MAX];
    LBM_ASSERT(lbm_view_apply(&check->view, command, refusal) == LBM_OK);
    if (command->what_case == LBM__COMMAND__WHAT_JOB_CREATE && refusal[0] == '\0') {
        struct logged_job created = {.job = command->job_create->job};
        snprintf(created.name, sizeof created.name, "%s", command->job_create->name);
        LBM_ASSERT(lbm_vec_push(&check->created, created) == LBM_OK);
        if ((guest = check_guest(check, command->job_create->job)) != NULL)
            guest->logged = 1;
    } else if (command->what_case == LBM__COMMAND__WHAT_JOB_DELETE) {
        LBM_ASSERT(lbm_vec_push(&check->deleted, command->job_delete->job) == LBM_OK);
        if ((guest = check_guest(check, command->job_delete->job)) != NULL)
            guest->deleted = 1;
    }
    if (command->what_case == LBM__COMMAND__WHAT_LEAVE && command->leave->incarnation >= FORGED_INCARNATION)
        check_violated(check, "I5", "entry %" PRIu64 " of the control log is forged", op->as.log.index);
    check->external = check->view.external;
    lbm__command__free_unpacked(command, NULL);
}

void
check_op(struct check *check, const struct disk *disk, const struct lbm_persist_op *op)
{
    struct guest *guest;
    switch (op->kind) {
    case LBM_PERSIST_GUEST:
        learn_guest(check, op->job, op->as.guest.graph, op->as.guest.first, op->as.guest.whole);
        break;
    case LBM_PERSIST_LOG:
        if (check->parted == disk->place + 1)
            break;
        if (op->as.log.index > check->log.n) {
            read_entry(check, op);
            check->view_changed = 1;
        }
        check_entry(check, disk->place, op->as.log.index, op->as.log.command, op->as.log.len);
        break;
    case LBM_PERSIST_RESET:
        if (op->as.reset.has_no_log && check->parted == disk->place + 1)
            check->parted = 0;
        break;
    case LBM_PERSIST_JOB_DELETE:
        if ((guest = check_guest(check, op->job)) != NULL)
            guest->deleted = 1;
        break;
    case LBM_PERSIST_TAKEN_OVER: {
        struct lbm_recovered_takeover merged = {op->as.drop.owner, op->as.drop.incarnation};
        LBM_ASSERT(lbm_vec_push(&check->merged, merged) == LBM_OK);
        break;
    }
    default: /* what else there is, the disk tells of record by record */
        break;
    }
}

/* The vertex is held by that record, or its end is: a removal counts for a member, and for whoever is to
 * inherit it. */
static int
tells_of_it(const struct check *check, const struct copy *copy)
{
    const struct lbm_member *self = lbm_view_member(&check->view, copy->disk);
    if (!copy->is_removal)
        return is_held(copy->stage);
    return copy->owner != LBM_NONE ||
           (self != NULL && self->incarnation == copy->incarnation && lbm_view_participates(self));
}

/* I3: somewhere there is a record of the vertex that is held, and newer than any that was let go of. */
static void
check_exists(struct check *check, const struct guest *guest, uint32_t vertex)
{
    const struct truth *truth = &guest->vertex[vertex];
    if (!check_is_there(truth))
        return;
    for (size_t i = 0; i < truth->copies.n; i++)
        if (truth->copies.at[i].epoch > truth->moved && tells_of_it(check, &truth->copies.at[i]))
            return;
    check_violated(check, "I3",
                   "no disk holds vertex %" PRIu32 " of epoch %" PRIu64 " or more, nor a replica of it",
                   vertex, truth->moved + 1);
}

void
check_transaction(struct check *check)
{
    for (size_t i = 0; i < check->touched.n; i++) {
        struct guest *guest = check_guest(check, check->touched.at[i].job);
        guest->vertex[check->touched.at[i].vertex].touched = 0;
        if (!guest->logged || guest->deleted)
            continue;
        check_exists(check, guest, check->touched.at[i].vertex);
        check_losses(check, guest, check->touched.at[i].vertex);
        check_owners(check, guest, check->touched.at[i].vertex);
    }
    check->touched.n = 0;
    if (!check->view_changed)
        return;
    check->view_changed = 0;
    check_alone(check);
    check_all_losses(check);
}

void
check_free(struct check *check)
{
    for (size_t i = 0; i < check->guests.n; i++) {
        struct guest *guest = &check->guests.at[i];
        for (uint32_t v = 0; v < guest->n; v++) {
            lbm_vec_free(&guest->vertex[v].copies);
            lbm_vec_free(&guest->vertex[v].replicated);
            lbm_vec_free(&guest->vertex[v].workers);
        }
        free(guest->vertex);
        free(guest->well_us);
        lbm_graph_free(&guest->g);
    }
    lbm_vec_free(&check->guests);
    lbm_vec_free(&check->touched);
    lbm_vec_free(&check->log);
    lbm_vec_free(&check->deleted);
    lbm_vec_free(&check->created);
    lbm_vec_free(&check->merged);
    lbm_vec_free(&check->requests);
    lbm_view_free(&check->view);
}
