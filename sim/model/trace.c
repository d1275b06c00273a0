/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as text that operators read, and as one number. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/model/hash.h"
#include "sim/model/internal.h"

void
trace(struct cluster *c, uint32_t host, const char *fmt, ...)
{
    char line[512];
    if (!c->tracing)
        return;
    int at = snprintf(line, sizeof line, "%10.3f ms  host %" PRIu32 "  ", (double)c->now_us / 1000, host);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + at, sizeof line - (size_t)at, fmt, args);
    va_end(args);
    if (c->options.line != NULL)
        c->options.line(c->options.line_arg, line);
    else
        lbm_buf_printf(&c->trace, "%s\n", line);
}

/* The numbers of a message, by name. */
static void
print_numbers(struct lbm_buf *out, const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const void *at = (const uint8_t *)message + field->offset;
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            continue;
        if (field->type == PROTOBUF_C_TYPE_UINT32)
            lbm_buf_printf(out, " %s %" PRIu32, field->name, *(const uint32_t *)at);
        else if (field->type == PROTOBUF_C_TYPE_UINT64)
            lbm_buf_printf(out, " %s %" PRIu64, field->name, *(const uint64_t *)at);
    }
}

static void
trace_entry(struct cluster *c, uint32_t host, uint64_t id, const struct lbm_persist_op *op)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    struct lbm_buf text = {0};
    if (lbm_wire_unpack_command(op->as.log.command, op->as.log.len, &command, &diag) != LBM_OK)
        return;
    const ProtobufCFieldDescriptor *what =
        protobuf_c_message_descriptor_get_field(&lbm__command__descriptor, (unsigned)command->what_case);
    /* Whatever it is, it is a pointer to a message in the same place. */
    print_numbers(&text, (const ProtobufCMessage *)command->join);
    trace(c, host, "disk #%" PRIu64 " log entry %" PRIu64 ": %s%s", id, op->as.log.index, what->name,
          text.at);
    lbm_buf_free(&text);
    lbm__command__free_unpacked(command, NULL);
}

/* Of a guest that changes: neighbours, and what is to be told of them (! before it). */
static void
trace_edges(struct cluster *c, uint32_t host, const struct lbm_row *row)
{
    struct lbm_buf text = {0};
    for (uint32_t i = 0; i < row->degree; i++)
        lbm_buf_printf(&text, " %" PRIu32 ":%" PRIu32, row->half[i].to, row->half[i].weight);
    for (uint32_t i = 0; i < row->n_news; i++)
        lbm_buf_printf(&text, " !%" PRIu32 ":%" PRIu32, row->news[i].to, row->news[i].weight);
    lbm_buf_put(&text, "", 1);
    trace(c, host, "vertex %" PRIu32 " has edges%s", row->vertex, text.failed ? "" : text.at);
    lbm_buf_free(&text);
}

void
trace_ops(struct cluster *c, uint32_t host, const struct lbm_persist *persist)
{
    static const char *const names[] = {
#define OP_NAME(id, text) #id,
        LBM_PERSIST_LIST(OP_NAME)
#undef OP_NAME
    };
    for (size_t i = 0; c->tracing && i < persist->ops.n; i++) {
        const struct lbm_persist_op *op = &persist->ops.at[i];
        if (op->kind == LBM_PERSIST_ROW)
            trace(
                c, host,
                "disk #%" PRIu64 " vertex %" PRIu32 " of %04x %s e%" PRIu64 " peer %" PRId32 " seq %" PRIu64,
                persist->id, op->as.row.vertex, (unsigned)(op->job & 0xffff),
                lbm_stage_name(op->as.row.stage), op->as.row.epoch, (int32_t)op->as.row.peer, op->as.row.seq);
        if (op->kind == LBM_PERSIST_ROW && c->options.changes)
            trace_edges(c, host, &op->as.row);
        if (op->kind == LBM_PERSIST_ROW)
            continue;
        if (op->kind == LBM_PERSIST_REPLICA)
            trace(c, host,
                  "disk #%" PRIu64 " replica of %" PRIu32 ".%" PRIu64 " epoch %" PRIu64 " seq %" PRIu64
                  ": %zu records, %zu gone%s",
                  persist->id, op->as.replica.owner, op->as.replica.incarnation, op->as.replica.repl_epoch,
                  op->as.replica.seq, op->as.replica.n, op->as.replica.n_gone,
                  op->as.replica.fresh ? ", fresh" : "");
        else if (op->kind == LBM_PERSIST_ROW_DELETE)
            trace(c, host, "disk #%" PRIu64 " vertex %" PRIu32 " deleted", persist->id, op->as.gone.vertex);
        else if (op->kind == LBM_PERSIST_LOG)
            trace_entry(c, host, persist->id, op);
        else
            trace(c, host, "disk #%" PRIu64 " %s", persist->id, names[op->kind]);
    }
}

void
trace_message(struct cluster *c, uint32_t host, uint32_t from, const Lbm__Peer *message)
{
    if (!c->tracing || message->body_case == LBM__PEER__BODY_PING)
        return;
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(&lbm__peer__descriptor, (unsigned)message->body_case);
    if (message->body_case == LBM__PEER__BODY_OFFER)
        trace(c, host, "gets offer from %" PRIu32 ": vertex %" PRIu32 " e%" PRIu64 " of %zu%s", from,
              message->offer->records->vertex[0], message->offer->records->epoch[0],
              message->offer->records->n_vertex, message->offer->retargeted ? ", retargeted" : "");
    else if (message->body_case == LBM__PEER__BODY_ANSWER)
        trace(c, host, "gets answer from %" PRIu32 ": vertex %" PRIu32 " e%" PRIu64 " %s of %zu", from,
              message->answer->vertex[0], message->answer->epoch[0],
              message->answer->refused[0] ? "refused" : "taken", message->answer->n_vertex);
    else if (message->body_case == LBM__PEER__BODY_FIN)
        trace(c, host, "gets fin from %" PRIu32 ": vertex %" PRIu32 " e%" PRIu64 " of %zu", from,
              message->fin->vertex[0], message->fin->epoch[0], message->fin->n_vertex);
    else
        trace(c, host, "gets %s from %" PRIu32, field->name, from);
}

void
note_happening(struct cluster *c, uint32_t kind, uint32_t host, const uint8_t *bytes, size_t len)
{
    c->steps++;
    c->hash = hash_number(c->hash, (uint64_t)c->now_us);
    c->hash = hash_number(c->hash, (uint64_t)kind << 32 | host);
    if (len != 0)
        c->hash = hash_bytes(c->hash, bytes, len);
}

void
judge(struct cluster *c)
{
    if (c->check.invariant[0] != '\0' && !c->options.judged)
        lbm_assert_failed(c->check.text, c->check.invariant, 0);
}

void
cluster_trace(struct cluster *c, int on)
{
    c->tracing = on;
}

const char *
cluster_trace_text(const struct cluster *c)
{
    return c->trace.at != NULL ? c->trace.at : "";
}

uint64_t
cluster_hash(const struct cluster *c)
{
    return c->hash;
}

uint64_t
cluster_steps(const struct cluster *c)
{
    return c->steps;
}

const char *
cluster_violation(const struct cluster *c, const char **text)
{
    *text = c->check.text;
    return c->check.invariant[0] != '\0' ? c->check.invariant : NULL;
}
