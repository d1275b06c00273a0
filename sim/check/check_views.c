/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/check.h"
#include "sim/check/check.h"
#include "sim/model/hash.h"

/* I5: what hosts apply at an index is the same everywhere. */
void
check_entry(struct check *check, uint32_t host, uint64_t index, const uint8_t *command, size_t len)
{
    uint64_t hash = hash_bytes(0, command, len);
    if (index == check->log.n + 1)
        LBM_ASSERT(lbm_vec_push(&check->log, hash) == LBM_OK);
    else if (index > check->log.n)
        check_violated(check, "I5",
                       "host %" PRIu32 " has entry %" PRIu64 " of the control log before anybody", host,
                       index);
    else if (check->log.at[index - 1] != hash)
        check_violated(check, "I5", "host %" PRIu32 " has another entry %" PRIu64 " of the control log", host,
                       index);
}

void
check_log_ends(struct check *check, uint64_t index)
{
    if (check->log.n <= index)
        return;
    check->log.n = index;
    if (check->view.external && check->view.ensemble.id != 0 && check->view.ensemble.moved > index) {
        check->view.external = check->external = 0;
        check->view.ensemble.moved = 0;
    }
}

static void
check_epochs(struct check *check, uint32_t from, uint64_t job, size_t n, const uint32_t *vertex,
             const uint64_t *epoch)
{
    const struct guest *guest = check_guest(check, job);
    for (size_t i = 0; i < n && guest != NULL; i++)
        if (vertex[i] >= guest->n || epoch[i] > guest->vertex[vertex[i]].epoch)
            check_violated(check, "I6",
                           "host %" PRIu32 " knows vertex %" PRIu32 " of an epoch %" PRIu64
                           " that no disk has",
                           from, vertex[i], epoch[i]);
}

/* I6: nobody hears of a newer epoch of a vertex than there is. */
void
check_message(struct check *check, uint32_t from, const Lbm__Peer *message)
{
    if (message->body_case == LBM__PEER__BODY_GHOSTS)
        check_epochs(check, from, message->ghosts->job, message->ghosts->n_vertex, message->ghosts->vertex,
                     message->ghosts->epoch);
    else if (message->body_case == LBM__PEER__BODY_MOVED)
        check_epochs(check, from, message->moved->job, message->moved->n_vertex, message->moved->vertex,
                     message->moved->epoch);
    else
        check_words(check, message);
}
