/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of hosts: "10.0.3.7:7411", "[fd00::7]:7411", "ws3.dept.example:7411". */
#ifndef LBM_DAEMON_ADDRESS_H
#define LBM_DAEMON_ADDRESS_H

#include <sys/socket.h>

#include "base/err.h"
#include "base/limits.h"

struct lbm_address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* The parts of an address as text. */
struct lbm_address_text {
    char host[LBM_ADDRESS_MAX + 1]; /* without brackets */
    char port[6];
    int is_numeric; /* no name has to be looked up */
};

/* Take an address apart. Names are not looked up, so this never waits.
 * In:      text; where and line say where it was written, for the message
 * Out:     *out, untouched on error
 * Errors:  LBM_E_SYNTAX not host:port; LBM_E_RANGE port not in 1 .. 65535. */
enum lbm_err lbm_address_split(const char *text, const char *where, uint64_t line,
                               struct lbm_address_text *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read an address that is a number ("localhost" is 127.0.0.1), as one to listen at.
 * Errors:  as lbm_address_split; LBM_E_UNSUPPORTED it is a name. */
enum lbm_err lbm_address_parse(const char *text, const char *where, uint64_t line, struct lbm_address *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Whether a text is one or several addresses with commas between, all of one host:
 * "10.0.3.7:7411,[fd00::7]:7411". Errors:  as lbm_address_split, of the first that is none. */
enum lbm_err lbm_address_check_list(const char *list, const char *where, uint64_t line,
                                    struct lbm_diag *diag) LBM_MUST_CHECK;

/* The address of such a list that is tried next: each in turn, from the first on, by the number of the
 * attempt. Value: text. */
const char *lbm_address_of_list(const char *list, size_t attempt, char text[LBM_ADDRESS_MAX + 1]);

/* How many addresses such a list has, 1 or more. */
size_t lbm_address_count(const char *list);

/* Nonzero if it is no address of one host: all of this machine's, as in "[::]:7411". */
int lbm_address_is_any(const struct lbm_address *address);

/* Write an address as text, without its port if that is 0. Value: text. */
const char *lbm_address_print(const struct sockaddr *address, char text[LBM_ADDRESS_MAX + 1]);

#endif
