/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests with an event loop: turn it until something is so; a test that waits in vain fails. */
#ifndef LBM_TESTS_UNIT_DAEMON_WAIT_BOUNDS_H
#define LBM_TESTS_UNIT_DAEMON_WAIT_BOUNDS_H

#include <event2/event.h>

enum { TIMEOUT_S = 60 }; /* for what takes milliseconds: other work may keep the machine busy */

static inline void
timeout_is_over(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
    fail_msg("nothing happened in %d s", TIMEOUT_S);
}

/* f: a fixture with the event_base `base`. */
#define UNTIL(f, condition)                                                                                  \
    do {                                                                                                     \
        const struct timeval timeout = {.tv_sec = TIMEOUT_S};                                                \
        struct event *limit = evtimer_new((f)->base, timeout_is_over, NULL);                                 \
        assert_non_null(limit);                                                                              \
        event_add(limit, &timeout);                                                                          \
        while (!(condition))                                                                                 \
            event_base_loop((f)->base, EVLOOP_ONCE);                                                         \
        event_free(limit);                                                                                   \
    } while (0)

#endif
