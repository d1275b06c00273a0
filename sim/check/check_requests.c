/* SPDX-License-Identifier: GPL-3.0-or-later */
/* I18: what an operator asks for has an end. No request is put into the control log after it, and none of
 * which its client was told that nothing will be changed is ever in the log. */
#include <inttypes.h>

#include "base/check.h"
#include "sim/check/check.h"

enum { LATE_US = 500000 }; /* clocks differ by one part in a hundred, and an end is ten seconds away */

static struct check_request *
request_of(struct check *check, uint64_t key)
{
    for (size_t i = check->requests.n; i-- > 0;)
        if (check->requests.at[i].key == key)
            return &check->requests.at[i];
    return NULL;
}

void
check_request_begins(struct check *check, uint64_t key, int64_t until_us)
{
    struct check_request request = {.key = key, .until_us = until_us};
    LBM_ASSERT(lbm_vec_push(&check->requests, request) == LBM_OK);
}

void
check_request_is_void(struct check *check, uint64_t key)
{
    struct check_request *request = request_of(check, key);
    if (request != NULL)
        request->is_void = 1;
    if (request != NULL && request->is_logged)
        check_violated(check, "I18",
                       "a client is told that its request is not carried out, but it is in the log");
}

void
check_request_ordered(struct check *check, uint64_t key, uint32_t host, int64_t now_us)
{
    struct check_request *request = request_of(check, key);
    if (request == NULL || request->is_logged)
        return;
    request->is_logged = 1;
    if (request->is_void)
        check_violated(check, "I18",
                       "host %" PRIu32
                       " carries out a request of which its client was told that it never will be",
                       host);
    else if (!check->external && now_us > request->until_us + LATE_US)
        check_violated(check, "I18", "host %" PRIu32 " carries out a request %" PRId64 " ms after its end",
                       host, (now_us - request->until_us) / 1000);
}
