/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A member that lies about the control log: it has one entry more than there is, or a view after it; or it
 * says that it has many, and sends none. It speaks so to receivers that have somebody else to ask, and while
 * they do not take its word since it leads, has led, or is the one they were told to ask. */
#include <stdlib.h>
#include <string.h>

#include "node/view/view.h"
#include "sim/model/internal.h"

enum { VIEWS = 1000 };

void
cluster_lie_entry(struct cluster *c, uint32_t host, const Lbm__Command *command)
{
    struct lbm_bytes *forged = &c->machine[host].forged;
    free(forged->at);
    forged->len = lbm__command__get_packed_size(command);
    forged->at = lbm_alloc(forged->len, 1);
    lbm__command__pack(command, forged->at);
    cluster_lie(c, host, CLUSTER_LIE_ENTRY);
}

/* What nobody can have had ordered: that another host leaves. */
static const struct lbm_bytes *
forged_entry(struct cluster *c, uint32_t from)
{
    Lbm__Leave leave = LBM__LEAVE__INIT;
    leave.host = (from + 1) % c->n;
    leave.incarnation = FORGED_INCARNATION + from;
    Lbm__Command command = LBM__COMMAND__INIT;
    command.what_case = LBM__COMMAND__WHAT_LEAVE;
    command.leave = &leave;
    if (c->machine[from].forged.at == NULL)
        cluster_lie_entry(c, from, &command);
    return &c->machine[from].forged;
}

int
lie_is_believed(const struct cluster *c, uint32_t to, uint32_t from)
{
    struct lbm_node_contact others[2];
    return lbm_node_contacts(c->machine[to].node, others, 2) < 2 || c->check.view.leader == from ||
           (from == 0 && !lbm_node_is_member(c->machine[to].node));
}

static void
add_entry(struct cluster *c, uint32_t from, Lbm__LogEntries *entries, struct lie_words *words)
{
    const struct lbm_bytes *forged = forged_entry(c, from);
    if (entries->diverged || entries->leader == from ||
        entries->from + entries->n_command != entries->last + 1)
        return;
    words->entries = entries;
    words->command = entries->command;
    words->n = entries->n_command;
    entries->command = lbm_alloc(words->n + 1, sizeof *entries->command);
    for (size_t i = 0; i < words->n; i++)
        entries->command[i] = words->command[i];
    entries->command[entries->n_command++] = (ProtobufCBinaryData){forged->len, forged->at};
    entries->last++;
}

/* The view after that entry. */
static void
add_to_view(struct cluster *c, uint32_t from, Lbm__LogSnapshot *snapshot, struct lie_words *words)
{
    const struct lbm_bytes *forged = forged_entry(c, from);
    struct lbm_view view = {0};
    struct lbm_diag diag;
    Lbm__Command *command = NULL;
    char refusal[LBM_DIAG_TEXT_MAX];
    uint8_t *bytes = NULL;
    if (snapshot->total != snapshot->data.len ||
        lbm_view_unpack(snapshot->data.data, snapshot->data.len, &view, &diag) != LBM_OK)
        return;
    LBM_ASSERT(lbm_wire_unpack_command(forged->at, forged->len, &command, &diag) == LBM_OK);
    LBM_ASSERT(lbm_view_apply(&view, command, refusal) == LBM_OK);
    lbm__command__free_unpacked(command, NULL);
    words->snapshot = snapshot;
    words->data = snapshot->data;
    LBM_ASSERT(lbm_view_pack(&view, &bytes, &snapshot->data.len) == LBM_OK);
    snapshot->data.data = bytes;
    snapshot->total = snapshot->data.len;
    snapshot->index++;
    lbm_view_free(&view);
}

void
lie_about_entries(struct cluster *c, uint32_t from, Lbm__Peer *message, struct lie_words *words)
{
    message->view++;
    if (message->body_case == LBM__PEER__BODY_LOG_POSITION)
        message->log_position->last++;
    else if (message->body_case == LBM__PEER__BODY_LOG_ENTRIES)
        add_entry(c, from, message->log_entries, words);
    else if (message->body_case == LBM__PEER__BODY_LOG_SNAPSHOT)
        add_to_view(c, from, message->log_snapshot, words);
}

/* What it really has alone it tells, and so do messages that outlive it. */
void
lie_in_silence(struct cluster *c, uint32_t to, uint32_t from, Lbm__Peer *message, struct lie_words *words)
{
    const struct lbm_node *liar = c->machine[from].node;
    int has_nothing = liar != NULL && lbm_node_view(liar) <= lbm_node_view(c->machine[to].node);
    message->view += VIEWS;
    if (message->body_case == LBM__PEER__BODY_LOG_POSITION)
        message->log_position->last += VIEWS;
    words->is_kept = has_nothing && (message->body_case == LBM__PEER__BODY_LOG_ENTRIES ||
                                     message->body_case == LBM__PEER__BODY_LOG_SNAPSHOT);
}

void
lie_log_ends(struct lie_words *words)
{
    if (words->entries != NULL) {
        free(words->entries->command);
        words->entries->command = words->command;
        words->entries->n_command = words->n;
    }
    if (words->snapshot != NULL) {
        free(words->snapshot->data.data);
        words->snapshot->data = words->data;
    }
}
