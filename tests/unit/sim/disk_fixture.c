/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/generate.h"
#include "tests/unit/sim/disk_fixture.h"

const char *
disks_apply(struct disks *s, uint32_t host, const struct lbm_persist_op *op)
{
    check_op(&s->check, &s->disk[host], op);
    const char *wrong = disk_apply(&s->disk[host], op);
    check_transaction(&s->check);
    return wrong;
}

void
disks_log(struct disks *s, uint32_t host, uint64_t index, const Lbm__Command *command)
{
    uint8_t bytes[256];
    struct lbm_persist_op op = {.kind = LBM_PERSIST_LOG};
    op.as.log.index = index;
    op.as.log.command = bytes;
    op.as.log.len = lbm__command__pack(command, bytes);
    assert_null(disks_apply(s, host, &op));
}

/* A cluster that host 0 founds; it is active. */
static void
log_founding(struct disks *s)
{
    char name[] = "h0", cluster_name[] = "test", address[] = "127.0.0.1:7000";
    double site[2] = {0.5, 0.5};
    Lbm__Command command = LBM__COMMAND__INIT;
    Lbm__Found found = LBM__FOUND__INIT;
    found.cluster = 1;
    found.name = cluster_name;
    found.dimensions = 2;
    command.what_case = LBM__COMMAND__WHAT_FOUND;
    command.found = &found;
    disks_log(s, 0, 1, &command);
    Lbm__Join join = LBM__JOIN__INIT;
    join.incarnation = 1;
    join.name = name;
    join.address = address;
    join.capacity = 1;
    command.what_case = LBM__COMMAND__WHAT_JOIN;
    command.join = &join;
    disks_log(s, 0, 2, &command);
    Lbm__Activate activate = LBM__ACTIVATE__INIT;
    activate.incarnation = 1;
    activate.n_site = 2;
    activate.site = site;
    command.what_case = LBM__COMMAND__WHAT_ACTIVATE;
    command.activate = &activate;
    disks_log(s, 0, 3, &command);
}

/* Two disks; the first has a guest of six vertices, and the log its job. */
void
disks_begin(struct disks *s)
{
    struct lbm_diag diag;
    *s = (struct disks){.check = {.n_hosts = 2}};
    assert_int_equal(lbm_graph_generate("lattice:3x2", 1, &s->g, &diag), LBM_OK);
    for (uint32_t p = 0; p < 2; p++)
        s->disk[p] = (struct disk){
            .place = p, .known = 1, .incarnation = 1, .watcher = check_record, .watcher_arg = &s->check};
    struct lbm_persist_op guest = {.kind = LBM_PERSIST_GUEST, .job = DISKS_JOB};
    guest.as.guest.graph = &s->g;
    guest.as.guest.seq = 1;
    assert_null(disks_apply(s, 0, &guest));
    log_founding(s);
    char name[] = "job";
    Lbm__JobCreate create = LBM__JOB_CREATE__INIT;
    create.job = DISKS_JOB;
    create.name = name;
    create.vertices = 6;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_JOB_CREATE;
    command.job_create = &create;
    disks_log(s, 0, DISKS_FOUNDING + 1, &command);
    assert_string_equal(s->check.invariant, "");
}

void
disks_end(struct disks *s)
{
    disk_free(&s->disk[0]);
    disk_free(&s->disk[1]);
    check_free(&s->check);
    lbm_graph_free(&s->g);
}

/* The row of a vertex as host 0 has it, at another rank. */
struct lbm_row
disks_row_at(const struct disks *s, uint32_t vertex, uint64_t epoch, enum lbm_stage stage)
{
    struct lbm_row row = *rows_get(&s->disk[0].rows, DISKS_JOB, vertex);
    row.epoch = epoch;
    row.stage = stage;
    row.peer = stage == LBM_STAGE_MOV ? 1 : row.peer;
    return row;
}

const char *
disks_put_row(struct disks *s, uint32_t host, struct lbm_row row)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_ROW, .job = DISKS_JOB};
    op.as.row = row;
    return disks_apply(s, host, &op);
}

const char *
disks_put_replica(struct disks *s, uint32_t host, uint32_t owner, struct lbm_row *row, int fresh)
{
    struct lbm_persist_op op = {.kind = LBM_PERSIST_REPLICA, .job = DISKS_JOB};
    op.as.replica.owner = owner;
    op.as.replica.incarnation = 1;
    op.as.replica.repl_epoch = 4;
    op.as.replica.seq = 9;
    op.as.replica.fresh = fresh;
    op.as.replica.row = row;
    op.as.replica.n = row != NULL;
    return disks_apply(s, host, &op);
}
