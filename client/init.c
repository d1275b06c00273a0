/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl init: found a cluster on this machine. lbctl token: who may enter it. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/setup.h"
#include "client/table.h"

#define LBM_ETCD_USUAL "/usr/bin/etcd" /* etcd_program of lbmapd.conf */

enum { TOKEN_LIFE_H = 1, TOKEN_LIFE_H_MAX = 24 * 365 };

/* ---- init -----------------------------------------------------------------------------------------------
 */

enum { INIT_COPIES = LBM_SETUP_OPTIONS };

static const struct lbm_option init_options[] = {
    LBM_SETUP_ROWS,
    [INIT_COPIES] = LBM_INTEGER_OPTION(
        "copies", "N", 1, LBM_COPIES_MAX,
        "other hosts that keep a copy of each record, in this cluster for good", .fallback = "1"),
};

static const struct lbm_operand init_operands[] = {
    {.name = "CLUSTER", .text = "name of the new cluster", .longest = LBM_NAME_MAX},
};

/* An address of this machine that others may reach: the first that is neither loopback nor of one link alone.
 */
static enum lbm_err
find_address(const char *port, char address[LBM_ADDRESS_MAX + 1], struct lbm_diag *diag)
{
    struct ifaddrs *all = NULL;
    char text[INET6_ADDRSTRLEN];
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (int family = AF_INET; address[0] == '\0'; family = AF_INET6) {
        for (const struct ifaddrs *at = all; at != NULL && address[0] == '\0'; at = at->ifa_next) {
            if (at->ifa_addr == NULL || at->ifa_addr->sa_family != family ||
                (at->ifa_flags & (IFF_UP | IFF_LOOPBACK)) != IFF_UP)
                continue;
            const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)at->ifa_addr;
            const struct sockaddr_in *in4 = (const struct sockaddr_in *)at->ifa_addr;
            if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
                continue;
            const void *number =
                family == AF_INET6 ? (const void *)&in6->sin6_addr : (const void *)&in4->sin_addr;
            if (inet_ntop(family, number, text, sizeof text) != NULL)
                snprintf(address, LBM_ADDRESS_MAX + 1, family == AF_INET6 ? "[%s]:%s" : "%s:%s", text, port);
        }
        if (family == AF_INET6)
            break;
    }
    freeifaddrs(all);
    if (address[0] != '\0')
        return LBM_OK;
    return lbm_diag_set(
        diag, LBM_E_NOTFOUND, "--address", 0,
        "this machine has no address that others could reach it at: connect it to a network, or "
        "give one");
}

/* CA, key and certificate of the first host, and that it founds. */
static enum lbm_err
make_identity(const struct lbm_setup *setup, const char *cluster, X509 **ca, struct lbm_diag *diag)
{
    struct lbm_pki_subject subject = {.kind = LBM_PKI_AUTHORITY};
    EVP_PKEY *ca_key = NULL, *key = NULL;
    X509 *certificate = NULL;
    if (getrandom(&subject.cluster, sizeof subject.cluster, 0) != sizeof subject.cluster)
        return lbm_diag_set(diag, LBM_E_IO, NULL, 0, "the system gives no random numbers");
    subject.cluster |= 1;
    enum lbm_err err = lbm_pki_key_new(&ca_key, diag);
    if (err == LBM_OK)
        err = lbm_pki_key_new(&key, diag);
    if (err == LBM_OK)
        err = lbm_pki_authority_new(ca_key, &subject, cluster, ca, diag);
    subject.kind = LBM_PKI_HOST; /* host 0 */
    if (err == LBM_OK)
        err = lbm_pki_sign(*ca, ca_key, key, &subject, LBM_PKI_CERTIFICATE_S, &certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(setup->identity, LBM_IDENTITY_CA_KEY, ca_key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(setup->identity, LBM_IDENTITY_KEY, key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(setup->identity, LBM_IDENTITY_CERT, certificate, diag);
    if (err == LBM_OK)
        err = lbm_identity_write(setup->identity, LBM_IDENTITY_FOUND, "", 0, diag);
    if (err == LBM_OK) /* last: with it the host has an identity */
        err = lbm_identity_write_certificate(setup->identity, LBM_IDENTITY_CA, *ca, diag);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    X509_free(certificate);
    return err;
}

static enum lbm_err
make_token(const char *identity, X509 *ca, double hours, uint32_t uses, char text[LBM_TOKEN_TEXT + 1],
           struct lbm_diag *diag)
{
    struct lbm_token token;
    int64_t now_s = time(NULL);
    enum lbm_err err = lbm_token_new(ca, &token, diag);
    if (err == LBM_OK)
        err = lbm_tokens_add(identity, &token, now_s, now_s + (int64_t)(hours * 3600), uses, diag);
    if (err == LBM_OK)
        lbm_token_print(&token, text);
    return err;
}

static enum lbm_status
run_init(const struct lbm_cli *client)
{
    const char *cluster = client->operand[0];
    char token[LBM_TOKEN_TEXT + 1];
    struct lbm_setup setup;
    struct lbm_diag diag;
    X509 *ca = NULL;
    if (!lbm_pki_name_valid(cluster)) {
        lbm_diag_set(&diag, LBM_E_RANGE, "CLUSTER", 0, "a name is 1 to %d letters, digits, '.', '_' or '-'",
                     LBM_NAME_MAX);
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_err err = lbm_setup_begin(client, &setup, &diag);
    setup.copies = client->value[INIT_COPIES].given ? (uint32_t)client->value[INIT_COPIES].integer : 0;
    if (err == LBM_OK && setup.address[0] == '\0')
        err = find_address(lbm_setup_port(setup.listen), setup.address, &diag);
    if (err == LBM_OK)
        err = make_identity(&setup, cluster, &ca, &diag);
    if (err == LBM_OK)
        err = make_token(setup.identity, ca, TOKEN_LIFE_H, LBM_TOKEN_USES_MAX, token, &diag);
    if (err == LBM_OK)
        err = lbm_setup_configure(&setup, cluster, 1, &diag);
    X509_free(ca);
    if (err != LBM_OK)
        return err == LBM_E_IO || err == LBM_E_NOMEM ? lbm_cli_fail(client, &diag)
                                                     : lbm_cli_refuse(client, &diag);
    enum lbm_status status = lbm_setup_start(client, &setup);
    if (status == LBM_STATUS_DONE) {
        lbm_cli_remark(client,
                       "cluster %s is founded; within %d h run on every other host, as root:", cluster,
                       TOKEN_LIFE_H);
        printf("lbctl enroll %s %s\n", setup.address, token);
        lbm_cli_remark(client,
                       access(LBM_ETCD_USUAL, X_OK) == 0
                           ? "from three hosts on that can run etcd the control log moves there by itself"
                           : "install etcd-server on three hosts: then no single one stops the control log");
    }
    return status;
}

const struct lbm_command lbm_command_init = {
    .name = "init",
    .text = "found a cluster, with this machine as its first host",
    .help =
        "Makes the cluster's authority, this host's certificate and configuration, starts the daemon, and "
        "prints the command that every other host runs. The file ca.key in the identity's folder signs who "
        "belongs to the cluster: keep a copy of it where nobody else reads it.",
    .options = init_options,
    .n_options = sizeof init_options / sizeof *init_options,
    .operands = init_operands,
    .n_operands = 1,
    .run = run_init,
};

/* ---- token ----------------------------------------------------------------------------------------------
 */

enum { TOKEN_DIR, TOKEN_HOURS, TOKEN_USES, TOKEN_OPTIONS };

static const struct lbm_option token_options[TOKEN_OPTIONS] = {
    [TOKEN_DIR] =
        LBM_TEXT_OPTION("dir", "DIR", "the folder that lbctl init was given, if it was", .letter = 'd'),
    [TOKEN_HOURS] = LBM_NUMBER_OPTION("hours", "HOURS", 0.001, TOKEN_LIFE_H_MAX,
                                      "create: it ends so long from now", .fallback = "1", .unit = "h"),
    [TOKEN_USES] = LBM_INTEGER_OPTION("uses", "N", 1, LBM_TOKEN_USES_MAX,
                                      "create: number of hosts that may use it", .fallback = "1"),
};

static const struct lbm_choice token_actions[] = {
    {"create", "make a token and print it; it is shown only once"},
    {"list", "show the tokens that may still be used"},
    {"revoke", "make a token void"},
    {NULL, NULL},
};

static const struct lbm_operand token_operands[] = {
    {.name = "ACTION", .choices = token_actions, .text = "what to do:"},
    {.name = "NAME", .optional = 1, .text = "revoke: name of the token, as list shows it"},
};

static enum lbm_status
token_create(const struct lbm_cli *client, const char *identity)
{
    char path[PATH_MAX], text[LBM_TOKEN_TEXT + 1];
    struct lbm_diag diag;
    X509 *ca = NULL;
    EVP_PKEY *key = NULL;
    enum lbm_err err =
        lbm_identity_read_certificate(lbm_identity_path(identity, LBM_IDENTITY_CA, path), &ca, &diag);
    if (err == LBM_OK)
        err =
            lbm_identity_read_key(lbm_identity_path(identity, LBM_IDENTITY_CA_KEY, path), NULL, &key, &diag);
    if (err == LBM_E_NOTFOUND)
        lbm_diag_set(&diag, err, path, 0,
                     "tokens are made on a host that has the key of the cluster's authority");
    if (err == LBM_OK)
        err = make_token(identity, ca, client->value[TOKEN_HOURS].number,
                         (uint32_t)client->value[TOKEN_USES].integer, text, &diag);
    X509_free(ca);
    EVP_PKEY_free(key);
    if (err != LBM_OK)
        return lbm_cli_fail(client, &diag);
    printf("%s\n", text);
    return LBM_STATUS_DONE;
}

static const struct lbm_column token_columns[] = {
    {"token", "token", LBM_COLUMN_TEXT, 0},
    {"uses", "uses left", LBM_COLUMN_COUNT, 0},
    {"seconds", "ends in s", LBM_COLUMN_COUNT, 0},
};

static enum lbm_status
token_list(const struct lbm_cli *client, const char *identity)
{
    struct lbm_tokens *tokens = lbm_alloc(1, sizeof *tokens);
    struct lbm_diag diag;
    int64_t now_s = time(NULL);
    lbm_diag_set(&diag, LBM_E_NOMEM, identity, 0, "out of memory");
    if (tokens == NULL || lbm_tokens_read(identity, now_s, tokens, &diag) != LBM_OK) {
        free(tokens);
        return lbm_cli_fail(client, &diag);
    }
    json_t *rows = json_array();
    for (size_t i = 0; i < tokens->n; i++)
        json_array_append_new(rows, json_pack("{s:s, s:I, s:I}", "token", tokens->row[i].name, "uses",
                                              (json_int_t)tokens->row[i].uses, "seconds",
                                              (json_int_t)(tokens->row[i].until_s - now_s)));
    enum lbm_err err = lbm_table_print(stdout, token_columns, sizeof token_columns / sizeof *token_columns,
                                       rows, client->global[LBM_GLOBAL_JSON].given);
    json_decref(rows);
    free(tokens);
    return err == LBM_OK ? LBM_STATUS_DONE : LBM_STATUS_FAILED;
}

static enum lbm_status
token_revoke(const struct lbm_cli *client, const char *identity)
{
    struct lbm_diag diag;
    if (client->n_operands < 2) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "NAME", 0, "which token? lbctl token list names them");
        return lbm_cli_refuse(client, &diag);
    }
    if (lbm_tokens_revoke(identity, client->operand[1], time(NULL), &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    return LBM_STATUS_DONE;
}

static enum lbm_status
run_token(const struct lbm_cli *client)
{
    static const struct {
        const char *name;
        enum lbm_status (*run)(const struct lbm_cli *client, const char *identity);
    } runs[] = {{"create", token_create}, {"list", token_list}, {"revoke", token_revoke}};
    char identity[PATH_MAX];
    struct lbm_diag diag;
    lbm_setup_identity(&client->value[TOKEN_DIR], identity);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(client->operand[0], runs[i].name) == 0)
            return runs[i].run(client, identity);
    lbm_diag_set(&diag, LBM_E_SYNTAX, client->operand[0], 0, "is not create, list or revoke");
    return lbm_cli_refuse(client, &diag);
}

const struct lbm_command lbm_command_token = {
    .name = "token",
    .text = "make, list and revoke tokens, by which hosts enter the cluster",
    .help = "Tokens are kept, as hashes, in the folder of this host's identity; only who may read that may "
            "use this "
            "command. A token names the cluster's authority, so a host that uses it speaks to that cluster "
            "alone.",
    .options = token_options,
    .n_options = TOKEN_OPTIONS,
    .operands = token_operands,
    .n_operands = sizeof token_operands / sizeof *token_operands,
    .run = run_token,
};
