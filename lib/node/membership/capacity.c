/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What others leave of this machine's processors, as the shell measures it, becomes the capacity of this
 * host: by the control log, as an operator's word does. What goes up and down changes nothing; what lasts
 * does. */
#include <math.h>

#include "node/core/core.h"
#include "node/local/local.h"
#include "node/membership/internal.h"
#include "node/membership/membership.h"

enum {
    LASTS_US = 2000000, /* so long it must differ */
    APART_US = 3000000, /* changes of this host by itself */
    MEAN_OF = 2         /* a measurement counts one part in that many */
};
_Static_assert(LASTS_US < APART_US, "a change that lasts is not held up by the one before");

/* Parts: a difference that matters; as good as all. */
static const double noticeable = 0.1, whole = 0.95;

static void
propose(struct lbm_node *node, double capacity)
{
    Lbm__Set set = LBM__SET__INIT;
    Lbm__Command command = LBM__COMMAND__INIT;
    set.host = node->host;
    set.incarnation = node->incarnation;
    set.capacity = capacity;
    command.what_case = LBM__COMMAND__WHAT_SET;
    command.set = &set;
    node->raise->log_append(node, &command);
}

void
lbm_membership_on_capacity(struct lbm_node *node, double left)
{
    struct measured *m = &node->measured;
    const struct lbm_member *self = lbm_view_member(&node->view, node->host);
    m->left = m->left > 0 ? m->left + (left - m->left) / MEAN_OF : left;
    if (!lbm_local_is_alive(node) || self == NULL || self->incarnation != node->incarnation ||
        self->state != LBM_MEMBER_ACTIVE)
        return;
    double most;
    if (lbm_view_capacity_most(&node->view, node->host, &most) != LBM_OK) {
        lbm_core_fail(node, LBM_E_NOMEM);
        return;
    }
    double capacity = fmin(node->capacity, most) * (m->left >= whole ? 1 : m->left);
    if (fabs(capacity - self->capacity) <= noticeable * self->capacity) {
        m->since_us = 0;
        return;
    }
    if (m->since_us == 0)
        m->since_us = node->now_us;
    if (node->now_us - m->since_us < LASTS_US || node->now_us < m->next_us ||
        node->appends.n >= PROPOSALS_MAX)
        return;
    m->next_us = node->now_us + APART_US;
    lbm_core_note(node, LBM_NOTE_INFO, "capacity %g instead of %g: others leave %.0f %% of the processors",
                  capacity, self->capacity, 100 * m->left);
    propose(node, capacity);
}
