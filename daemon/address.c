/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

/* Split "host:port" or "[host]:port". Out: host without brackets, port text inside `text`. */
static enum lbm_err
split(const char *text, char host[LBM_ADDRESS_MAX + 1], const char **port)
{
    const char *colon = strrchr(text, ':');
    size_t len = strlen(text);
    if (colon == NULL || colon == text || len > LBM_ADDRESS_MAX)
        return LBM_E_SYNTAX;
    const char *start = text;
    size_t host_len = (size_t)(colon - text);
    if (text[0] == '[') {
        if (host_len < 3 || colon[-1] != ']')
            return LBM_E_SYNTAX;
        start++;
        host_len -= 2;
    } else if (memchr(text, ':', host_len) != NULL) {
        return LBM_E_SYNTAX; /* an IPv6 address without brackets: where the port begins is a guess */
    }
    memcpy(host, start, host_len);
    host[host_len] = '\0';
    *port = colon + 1;
    return LBM_OK;
}

static enum lbm_err
parse_port(const char *text, uint16_t *port)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0')
        return LBM_E_SYNTAX;
    unsigned long value = strtoul(text, NULL, 10);
    if (value == 0 || value > UINT16_MAX)
        return LBM_E_RANGE;
    *port = (uint16_t)value;
    return LBM_OK;
}

/* Value: nonzero if host is a numeric loopback address or the word localhost. */
static int
loopback(const char *host, uint16_t port, struct lbm_address *out)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, numeric, &in4.sin_addr) == 1) {
        memcpy(&out->storage, &in4, sizeof in4);
        out->len = sizeof in4;
        return ntohl(in4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (inet_pton(AF_INET6, numeric, &in6.sin6_addr) == 1) {
        memcpy(&out->storage, &in6, sizeof in6);
        out->len = sizeof in6;
        return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
    }
    return 0;
}

enum lbm_err
lbm_address_parse(const char *text, const char *where, uint64_t line, struct lbm_address *out,
                  struct lbm_diag *diag)
{
    char host[LBM_ADDRESS_MAX + 1];
    const char *port_text;
    uint16_t port = 0;
    enum lbm_err err = split(text, host, &port_text);
    if (err == LBM_OK)
        err = parse_port(port_text, &port);
    if (err == LBM_E_RANGE)
        return lbm_diag_set(diag, err, where, line,
                            "port of \"%s\" is not in 1 .. 65535; other hosts must know it, so it cannot be "
                            "left to the system",
                            text);
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, where, line,
                            "\"%s\" is not an address; write it as 127.0.0.1:7000 or [::1]:7000", text);
    struct lbm_address address;
    if (!loopback(host, port, &address))
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, where, line,
                            "\"%s\" is not a loopback address; encryption between hosts is not there yet, so "
                            "lbmapd speaks over 127.0.0.0/8 and ::1 only",
                            text);
    *out = address;
    return LBM_OK;
}
