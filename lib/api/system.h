/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the library asks of the operating system: a socket, clocks, sleep. The lease page is in page.h.
 *
 * One program is linked with one implementation: system.c and page.c for real ones, sim/programs/system.c in
 * the simulator, where time is virtual. There is no table of functions, so a call costs no more than a call.
 */
#ifndef LBM_API_SYSTEM_H
#define LBM_API_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Connect to the Unix socket at path, which fits an address. Returns a descriptor, or -1 and errno. */
int lbm_system_connect(const char *path);
void lbm_system_close(int fd);

enum { LBM_SYSTEM_READ = 1, LBM_SYSTEM_WRITE = 2 };

/* As poll of one descriptor: wait until it is ready for some of `events`, or the time is over. Returns what
 * it is ready for (LBM_SYSTEM_READ also at an end or an error), 0 when the time is over, -1 and errno. */
int lbm_system_wait(int fd, int events, int timeout_ms);

/* Nonzero if the other side has closed the connection, or is gone. */
int lbm_system_has_hung_up(int fd);

/* Neither waits. As send and recv with MSG_DONTWAIT; a connection that the other side has closed is EPIPE. */
ssize_t lbm_system_send(int fd, const uint8_t *bytes, size_t len);
ssize_t lbm_system_receive(int fd, uint8_t *bytes, size_t len);

void lbm_system_sleep(int64_t ms);
int64_t lbm_system_now_ms(void); /* CLOCK_MONOTONIC */

#endif
