/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/programs/held.h"

#include <stddef.h>

#include "api/service.h"

struct lbm_service *
held_service(struct lbm_page *page)
{
    return (struct lbm_service *)((char *)page - offsetof(struct lbm_service, page));
}

uint64_t
held_token(const struct lbm_service *service, uint32_t vertex)
{
    uint32_t at = lbm_idmap_get(&service->slot, vertex);
    return at != LBM_NONE ? service->held.at[at].token : 0;
}
