/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Split "host:port" or "[host]:port". Out: host without brackets, port text inside `text`. */
static enum lbm_err
split(const char *text, char host[LBM_ADDRESS_MAX + 1], const char **port, int *in_brackets)
{
    const char *colon = strrchr(text, ':');
    size_t len = strlen(text);
    if (colon == NULL || colon == text || len > LBM_ADDRESS_MAX)
        return LBM_E_SYNTAX;
    const char *start = text;
    size_t host_len = (size_t)(colon - text);
    *in_brackets = text[0] == '[';
    if (*in_brackets) {
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

/* Value: nonzero if host is a numeric address or the word localhost. */
static int
is_numeric(const char *host, uint16_t port, struct lbm_address *out)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, numeric, &in4.sin_addr) == 1) {
        memcpy(&out->storage, &in4, sizeof in4);
        out->len = sizeof in4;
    } else if (inet_pton(AF_INET6, numeric, &in6.sin6_addr) == 1) {
        memcpy(&out->storage, &in6, sizeof in6);
        out->len = sizeof in6;
    }
    return out->len != 0;
}

/* A name of the domain name system. One of digits and dots alone is a wrong number, not a name. */
static int
is_name(const char *host)
{
    static const char digits[] = "0123456789.";
    return strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_0123456789.") ==
               strlen(host) &&
           host[0] != '.' && host[0] != '-' && strspn(host, digits) != strlen(host);
}

static enum lbm_err
parse(const char *text, const char *where, uint64_t line, struct lbm_address_text *out,
      struct lbm_address *address, struct lbm_diag *diag)
{
    struct lbm_address_text parts;
    const char *port_text;
    uint16_t port = 0;
    int in_brackets = 0;
    enum lbm_err err = split(text, parts.host, &port_text, &in_brackets);
    if (err == LBM_OK)
        err = parse_port(port_text, &port);
    if (err == LBM_E_RANGE)
        return lbm_diag_set(diag, err, where, line,
                            "port of \"%s\" is not in 1 .. 65535; other hosts must know it, so it cannot be "
                            "left to the system",
                            text);
    if (err == LBM_OK) {
        parts.is_numeric = is_numeric(parts.host, port, address);
        if (parts.is_numeric ? in_brackets != (address->storage.ss_family == AF_INET6)
                             : in_brackets || !is_name(parts.host))
            err = LBM_E_SYNTAX;
    }
    if (err != LBM_OK)
        return lbm_diag_set(diag, err, where, line,
                            "\"%s\" is not an address; write it as 10.0.3.7:7411, [fd00::7]:7411 or "
                            "name.example:7411",
                            text);
    snprintf(parts.port, sizeof parts.port, "%u", port);
    *out = parts;
    return LBM_OK;
}

enum lbm_err
lbm_address_split(const char *text, const char *where, uint64_t line, struct lbm_address_text *out,
                  struct lbm_diag *diag)
{
    struct lbm_address address;
    return parse(text, where, line, out, &address, diag);
}

enum lbm_err
lbm_address_parse(const char *text, const char *where, uint64_t line, struct lbm_address *out,
                  struct lbm_diag *diag)
{
    struct lbm_address_text parts;
    struct lbm_address address;
    enum lbm_err err = parse(text, where, line, &parts, &address, diag);
    if (err != LBM_OK)
        return err;
    if (!parts.is_numeric)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, where, line,
                            "\"%s\" is a name; a daemon listens at numbers, as 0.0.0.0:%s or [::]:%s", text,
                            parts.port, parts.port);
    *out = address;
    return LBM_OK;
}

size_t
lbm_address_count(const char *list)
{
    size_t n = 1;
    for (; *list != '\0'; list++)
        n += *list == ',';
    return n;
}

const char *
lbm_address_of_list(const char *list, size_t attempt, char text[LBM_ADDRESS_MAX + 1])
{
    for (size_t skip = attempt % lbm_address_count(list); skip != 0; skip--)
        list = strchr(list, ',') + 1;
    snprintf(text, LBM_ADDRESS_MAX + 1, "%.*s", (int)strcspn(list, ","), list);
    return text;
}

enum lbm_err
lbm_address_check_list(const char *list, const char *where, uint64_t line, struct lbm_diag *diag)
{
    char text[LBM_ADDRESS_MAX + 1];
    struct lbm_address_text parts;
    if (strlen(list) > LBM_ADDRESS_MAX)
        return lbm_diag_set(diag, LBM_E_SYNTAX, where, line,
                            "addresses have more than %d characters together", LBM_ADDRESS_MAX);
    size_t n = lbm_address_count(list);
    enum lbm_err err = LBM_OK;
    for (size_t i = 0; err == LBM_OK && i < n; i++)
        err = lbm_address_split(lbm_address_of_list(list, i, text), where, line, &parts, diag);
    return err;
}

int
lbm_address_is_any(const struct lbm_address *address)
{
    if (address->storage.ss_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&address->storage)->sin6_addr);
    return ((const struct sockaddr_in *)&address->storage)->sin_addr.s_addr == htonl(INADDR_ANY);
}

const char *
lbm_address_print(const struct sockaddr *address, char text[LBM_ADDRESS_MAX + 1])
{
    char host[INET6_ADDRSTRLEN] = "?";
    const struct sockaddr_in *in4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    int is6 = address->sa_family == AF_INET6, is_mapped = is6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);
    unsigned port = ntohs(is6 ? in6->sin6_port : in4->sin_port);
    if (is_mapped) /* an IPv4 address at a socket of both */
        inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host, sizeof host);
    else if (is6)
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
    else if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &in4->sin_addr, host, sizeof host);
    const char *open = is6 && !is_mapped && port != 0 ? "[" : "", *close = *open != '\0' ? "]" : "";
    if (port != 0)
        snprintf(text, LBM_ADDRESS_MAX + 1, "%s%s%s:%u", open, host, close, port);
    else
        snprintf(text, LBM_ADDRESS_MAX + 1, "%s", host);
    return text;
}
