/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The control log in words, for operators. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/core/core.h"
#include "node/log/internal.h"
#include "node/log/log.h"

enum { LINES_USUAL = 20, LINE_BYTES = 200 };

static void
say_field(struct lbm_buf *text, const ProtobufCFieldDescriptor *field, const char *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_UINT32:
        lbm_buf_printf(text, " %s %" PRIu32, field->name, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        lbm_buf_printf(text, " %s %" PRIu64, field->name, *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        lbm_buf_printf(text, " %s %.6g", field->name, *(const double *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        lbm_buf_printf(text, " %s %s", field->name, *(char *const *)at);
        break;
    default:
        break;
    }
}

/* "evict host 3 incarnation 1 lost 0": the command's name, and its fields as the schema has them. */
static void
say_command(struct lbm_buf *text, const Lbm__Command *command)
{
    const ProtobufCFieldDescriptor *body =
        protobuf_c_message_descriptor_get_field(&lbm__command__descriptor, command->what_case);
    const char *message = *(char *const *)((const char *)command + body->offset);
    const ProtobufCMessageDescriptor *type = body->descriptor;
    lbm_buf_printf(text, "%s", body->name);
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].label != PROTOBUF_C_LABEL_REPEATED)
            say_field(text, &type->fields[i], message + type->fields[i].offset);
}

static char *
entry_text(const struct lbm_recovered_entry *entry)
{
    Lbm__Command *command = NULL;
    struct lbm_diag diag;
    struct lbm_buf text = {0};
    if (lbm_wire_unpack_command(entry->command, entry->len, &command, &diag) == LBM_OK) {
        say_command(&text, command);
        lbm__command__free_unpacked(command, NULL);
    } else {
        lbm_buf_printf(&text, "cannot be read");
    }
    if (text.failed) {
        lbm_buf_free(&text);
        return NULL;
    }
    if (text.len > LINE_BYTES)
        text.at[LINE_BYTES] = '\0';
    return text.at;
}

static void
fill_lines(struct lbm_node *node, uint64_t from, size_t n, Lbm__LogReply *log, Lbm__LogLine *line)
{
    for (size_t i = 0; i < n; i++) {
        lbm__log_line__init(&line[i]);
        line[i].index = from + i;
        line[i].text = entry_text(lbm_log_entry(node, from + i));
        log->lines[log->n_lines++] = &line[i];
        if (line[i].text == NULL)
            lbm_core_fail(node, LBM_E_NOMEM);
    }
}

/* Entries behind a snapshot are gone: the first that is there comes first. */
void
lbm_log_answer(struct lbm_node *node, const struct client *client, const Lbm__Request *request)
{
    uint64_t last = node->view.index, first = node->log_base < last ? node->log_base + 1 : last + 1;
    uint32_t count = request->log->count != 0 ? request->log->count : LINES_USUAL;
    uint64_t from = request->log->from != 0 ? request->log->from : last + 1 > count ? last + 1 - count : 1;
    from = from < first ? first : from;
    size_t n = from > last ? 0 : last + 1 - from < count ? (size_t)(last + 1 - from) : count;
    Lbm__LogReply log = LBM__LOG_REPLY__INIT;
    Lbm__LogLine *line = lbm_alloc(n, sizeof *line);
    log.lines = lbm_alloc(n, sizeof *log.lines);
    log.last = last;
    log.term = node->term;
    if (line != NULL && log.lines != NULL)
        fill_lines(node, from, n, &log, line);
    else
        lbm_core_fail(node, LBM_E_NOMEM);
    if (node->failed == LBM_OK) {
        Lbm__Response response = LBM__RESPONSE__INIT;
        response.what_case = LBM__RESPONSE__WHAT_LOG;
        response.log = &log;
        lbm_core_reply(node, client->id, client->request, 1, &response);
    }
    for (size_t i = 0; i < log.n_lines; i++)
        free(line[i].text);
    free(line);
    free(log.lines);
}
