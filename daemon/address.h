/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of hosts: "127.0.0.1:7005", "[::1]:7005", "localhost:7005". */
#ifndef LBM_DAEMON_ADDRESS_H
#define LBM_DAEMON_ADDRESS_H

#include <sys/socket.h>

#include "base/err.h"

struct lbm_address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* Read a loopback address with a port. Names are not looked up ("localhost" is 127.0.0.1), so this never
 * waits for a name server.
 * In:      text; where and line say where it was written, for the message
 * Out:     *out, untouched on error
 * Errors:  LBM_E_SYNTAX not host:port; LBM_E_RANGE port not in 1 .. 65535; LBM_E_UNSUPPORTED not loopback:
 *          what peers say is not encrypted yet, so it must not leave the machine. */
enum lbm_err lbm_address_parse(const char *text, const char *where, uint64_t line, struct lbm_address *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
