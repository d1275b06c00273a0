/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lbctl enroll: enter a cluster. The other end proves first that it has a certificate of the authority that
 * the token names; only then the token and a request for a certificate are sent. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/dial.h"
#include "client/setup.h"
#include "wire/wire.h"

enum { WAIT_S = 30, REPLY_BYTES_MAX = 64 << 10, ASK_AGAIN_S = 2, APPROVAL_WAIT_S = 3600 };

enum { ENROLL_WAIT = LBM_SETUP_OPTIONS, ENROLL_OPTIONS };

static const struct lbm_option enroll_options[ENROLL_OPTIONS] = {
    LBM_SETUP_ROWS,
    [ENROLL_WAIT] =
        LBM_FLAG_OPTION("wait-approval", "send no secret: wait, at most an hour, until a person there "
                                         "lets this machine in (lbctl approve)"),
};

static const struct lbm_operand enroll_operands[] = {
    {.name = "ADDRESS:PORT",
     .text = "a host of the cluster, the one where the token was made",
     .longest = LBM_ADDRESS_MAX},
    {.name = "TOKEN",
     .text = "from lbctl init, or lbctl token create on that host; with --wait-approval its first part "
             "is enough, lbm1-..., which lbctl pki show shows there"},
};

/* A connection to a host of the cluster. */
struct door {
    const char *address;
    struct lbm_tls *tls;
    SSL *ssl;
    int fd;
    X509 *ca; /* that the token names */
};

static enum lbm_err
open_socket(struct door *door, struct lbm_diag *diag)
{
    const struct timeval wait = {.tv_sec = WAIT_S};
    enum lbm_err err = lbm_dial(door->address, WAIT_S * 1000, &door->fd, diag);
    if (err == LBM_OK && (setsockopt(door->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0 ||
                          setsockopt(door->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0))
        err = lbm_diag_set(diag, LBM_E_IO, door->address, 0, "%s", strerror(errno));
    return err;
}

/* The other end has shown its certificate: is it signed by the authority that the token names? */
static enum lbm_err
check_chain(struct door *door, const struct lbm_token *token, struct lbm_diag *diag)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(door->ssl);
    uint8_t hash[LBM_PKI_HASH];
    struct lbm_pki_subject subject;
    struct lbm_diag why;
    int n = chain != NULL ? sk_X509_num(chain) : 0;
    for (int i = 1; i < n && door->ca == NULL; i++)
        if (lbm_pki_key_hash(sk_X509_value(chain, i), hash) == LBM_OK &&
            CRYPTO_memcmp(hash, token->authority, sizeof hash) == 0)
            door->ca = X509_dup(sk_X509_value(chain, i));
    if (door->ca == NULL)
        return lbm_diag_set(diag, LBM_E_DENIED, door->address, 0,
                            "is not a host of the cluster that made this token; nothing was sent to it");
    if (lbm_pki_check(sk_X509_value(chain, 0), door->ca, time(NULL), &subject, &why) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_DENIED, door->address, 0, "%s; nothing was sent to it", why.text);
    if (subject.kind != LBM_PKI_HOST)
        return lbm_diag_set(diag, LBM_E_DENIED, door->address, 0, "is no host; nothing was sent to it");
    return LBM_OK;
}

static enum lbm_err
open_door(struct door *door, const struct lbm_token *token, struct lbm_diag *diag)
{
    enum lbm_err err = open_socket(door, diag);
    if (err == LBM_OK)
        err = lbm_tls_new(NULL, &door->tls, diag);
    if (err != LBM_OK)
        return err;
    door->ssl = lbm_tls_connect(door->tls, LBM_TLS_ENROL, LBM_NONE);
    if (door->ssl == NULL || !SSL_set_fd(door->ssl, door->fd))
        return lbm_diag_set(diag, LBM_E_NOMEM, door->address, 0, "out of memory");
    if (SSL_connect(door->ssl) != 1) {
        char why[LBM_DIAG_TEXT_MAX];
        lbm_tls_reason(door->ssl, ERR_get_error(), why);
        return lbm_diag_set(diag, LBM_E_UNREACHABLE, door->address, 0, "no lbmapd answers there: %.200s",
                            why);
    }
    if (lbm_tls_use_of(door->ssl) != LBM_TLS_ENROL)
        return lbm_diag_set(diag, LBM_E_VERSION, door->address, 0, "does not enrol hosts");
    return check_chain(door, token, diag);
}

static void
close_door(struct door *door)
{
    SSL_free(door->ssl);
    lbm_tls_free(door->tls);
    X509_free(door->ca);
    if (door->fd >= 0)
        close(door->fd);
}

/* ---- asking ---------------------------------------------------------------------------------------------
 */

static enum lbm_err
read_exactly(struct door *door, uint8_t *bytes, size_t len, struct lbm_diag *diag)
{
    for (size_t got = 0; got < len;) {
        int n = SSL_read(door->ssl, bytes + got, (int)(len - got));
        if (n <= 0) {
            ERR_clear_error();
            return lbm_diag_set(diag, LBM_E_IO, door->address, 0,
                                "the connection ended before an answer came");
        }
        got += (size_t)n;
    }
    return LBM_OK;
}

static enum lbm_err
read_answer(struct door *door, Lbm__Response **response, struct lbm_diag *diag)
{
    uint8_t header[LBM_FRAME_HEADER];
    uint32_t len = 0;
    enum lbm_err err = read_exactly(door, header, sizeof header, diag);
    if (err == LBM_OK && (lbm_frame_length(header, &len) != LBM_OK || len > REPLY_BYTES_MAX))
        err = lbm_diag_set(diag, LBM_E_LIMIT, door->address, 0, "its answer has an impossible length");
    uint8_t *bytes = err == LBM_OK ? lbm_alloc(len, 1) : NULL;
    if (err == LBM_OK)
        err = bytes != NULL ? read_exactly(door, bytes, len, diag) : LBM_E_NOMEM;
    if (err == LBM_OK)
        err = lbm_wire_unpack_response(bytes, len, response, diag);
    free(bytes);
    return err;
}

/* token NULL: ask for approval. Errors: LBM_E_BUSY nobody has decided yet. */
static enum lbm_err
ask(struct door *door, const struct lbm_token *token, EVP_PKEY *key, const char *name,
    Lbm__Response **response, struct lbm_diag *diag)
{
    char copy[LBM_NAME_MAX + 1];
    uint8_t *der = NULL, *frame = NULL, secret[LBM_TOKEN_SECRET];
    size_t len, frame_len;
    enum lbm_err err = lbm_pki_request(key, &der, &len, diag);
    if (err != LBM_OK)
        return err;
    snprintf(copy, sizeof copy, "%s", name);
    Lbm__EnrolRequest enrol = LBM__ENROL_REQUEST__INIT;
    if (token != NULL) {
        memcpy(secret, token->secret, sizeof secret);
        enrol.secret = (ProtobufCBinaryData){sizeof secret, secret};
    }
    enrol.wait = token == NULL;
    enrol.request = (ProtobufCBinaryData){len, der};
    enrol.name = copy;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_ENROL;
    request.enrol = &enrol;
    err = lbm_wire_pack_request(&request, &frame, &frame_len);
    if (err == LBM_OK && SSL_write(door->ssl, frame, (int)frame_len) != (int)frame_len)
        err =
            lbm_diag_set(diag, LBM_E_IO, door->address, 0, "the connection ended while the request was sent");
    free(frame);
    free(der);
    if (err == LBM_OK)
        err = read_answer(door, response, diag);
    if (err == LBM_OK && (*response)->code != LBM_OK)
        err = lbm_diag_set(diag, (enum lbm_err)(*response)->code, door->address, 0, "%s", (*response)->text);
    if (err == LBM_OK && (*response)->what_case != LBM__RESPONSE__WHAT_ENROL)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, door->address, 0, "did not answer with a certificate");
    return err;
}

/* ---- what comes of it -----------------------------------------------------------------------------------
 */

/* This host's address as the other end has it: that of the connection, with the port that is listened at. */
static enum lbm_err
own_address(const struct door *door, struct lbm_setup *setup, struct lbm_diag *diag)
{
    struct sockaddr_storage storage = {0};
    socklen_t len = sizeof storage;
    char text[INET6_ADDRSTRLEN];
    if (setup->address[0] != '\0')
        return LBM_OK;
    if (getsockname(door->fd, (struct sockaddr *)&storage, &len) != 0)
        return lbm_diag_set(diag, LBM_E_IO, "--address", 0, "%s", strerror(errno));
    int is6 = storage.ss_family == AF_INET6;
    const void *number = is6 ? (const void *)&((const struct sockaddr_in6 *)&storage)->sin6_addr
                             : (const void *)&((const struct sockaddr_in *)&storage)->sin_addr;
    inet_ntop(storage.ss_family, number, text, sizeof text);
    snprintf(setup->address, sizeof setup->address, is6 ? "[%s]:%s" : "%s:%s", text,
             lbm_setup_port(setup->listen));
    return LBM_OK;
}

static enum lbm_err
write_contacts(const struct lbm_setup *setup, const Lbm__EnrolReply *reply, uint32_t self,
               struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    for (size_t i = 0; i < reply->n_contact_host; i++)
        if (reply->contact_host[i] != self)
            lbm_buf_printf(&text, "%" PRIu32 " %s\n", reply->contact_host[i], reply->contact_address[i]);
    enum lbm_err err =
        text.failed || text.len == 0
            ? lbm_diag_set(diag, LBM_E_SYNTAX, NULL, 0, "the answer names no member")
            : lbm_identity_write(setup->identity, LBM_IDENTITY_CONTACTS, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

static enum lbm_err
settle_in(const struct door *door, const struct lbm_setup *setup, EVP_PKEY *key, const Lbm__EnrolReply *reply,
          uint32_t *host, struct lbm_diag *diag)
{
    struct lbm_pki_subject subject = {0};
    X509 *certificate = NULL;
    enum lbm_err err =
        lbm_pki_certificate_read(reply->certificate.data, reply->certificate.len, &certificate, diag);
    if (err == LBM_OK)
        err = lbm_pki_check(certificate, door->ca, time(NULL), &subject, diag);
    if (err == LBM_OK && (subject.kind != LBM_PKI_HOST || X509_check_private_key(certificate, key) != 1))
        err = lbm_pki_fail(diag, LBM_E_DENIED, door->address, "sent a certificate that is not this host's");
    if (err == LBM_OK)
        err = write_contacts(setup, reply, subject.host, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_key(setup->identity, LBM_IDENTITY_KEY, key, diag);
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(setup->identity, LBM_IDENTITY_CERT, certificate, diag);
    if (err == LBM_OK)
        err = lbm_setup_configure(setup, reply->cluster_name, 0, diag);
    if (err == LBM_OK) /* last: with it the host has an identity */
        err = lbm_identity_write_certificate(setup->identity, LBM_IDENTITY_CA, door->ca, diag);
    X509_free(certificate);
    *host = subject.host;
    return err;
}

/* Say what the person has to compare, and ask until there is a decision. Out: *door open, with the answer. */
static enum lbm_err
wait_approval(const struct lbm_cli *client, struct door *door, const struct lbm_token *authority,
              EVP_PKEY *key, const char *name, Lbm__Response **response, struct lbm_diag *diag)
{
    uint8_t hash[LBM_PKI_HASH];
    char fingerprint[LBM_APPROVAL_DIGITS + 1];
    const int64_t end_ms = lbm_api_now_ms() + APPROVAL_WAIT_S * 1000;
    if (lbm_pki_hash_key(key, hash) != LBM_OK)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    for (int i = 0; i < LBM_APPROVAL_DIGITS / 2; i++)
        snprintf(fingerprint + 2 * i, 3, "%02x", hash[i]);
    lbm_cli_remark(client, "waiting for approval of %s: on %s, as root: lbctl approve %s", name,
                   door->address, fingerprint);
    for (;;) {
        enum lbm_err err = ask(door, NULL, key, name, response, diag);
        if (err != LBM_E_BUSY)
            return err;
        lbm__response__free_unpacked(*response, NULL);
        *response = NULL;
        if (lbm_api_now_ms() >= end_ms)
            return lbm_diag_set(diag, LBM_E_TIMEOUT, door->address, 0, "nobody has decided within an hour");
        sleep(ASK_AGAIN_S);
        const char *address = door->address;
        close_door(door);
        *door = (struct door){.address = address, .fd = -1};
        err = open_door(door, authority, diag);
        if (err != LBM_OK)
            return err;
    }
}

static enum lbm_status
run_enroll(const struct lbm_cli *client)
{
    struct door door = {.address = client->operand[0], .fd = -1};
    struct lbm_setup setup;
    struct lbm_token token;
    struct lbm_diag diag;
    EVP_PKEY *key = NULL;
    Lbm__Response *response = NULL;
    uint32_t host = LBM_NONE;
    int waits = client->value[ENROLL_WAIT].given;
    if ((waits ? lbm_token_parse_authority(client->operand[1], token.authority)
               : lbm_token_parse(client->operand[1], &token)) != LBM_OK) {
        lbm_diag_set(&diag, LBM_E_SYNTAX, "TOKEN", 0,
                     waits ? "is no token, nor its part before the secret: lbm1- and 52 characters"
                           : "is no token: lbm1-, 52 characters, a dash and 32 more");
        return lbm_cli_refuse(client, &diag);
    }
    enum lbm_err err = lbm_setup_begin(client, &setup, &diag);
    if (err != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    err = open_door(&door, &token, &diag);
    if (err == LBM_OK)
        err = own_address(&door, &setup, &diag);
    if (err == LBM_OK)
        err = lbm_pki_key_new(&key, &diag);
    if (err == LBM_OK)
        err = waits ? wait_approval(client, &door, &token, key, setup.name, &response, &diag)
                    : ask(&door, &token, key, setup.name, &response, &diag);
    if (err == LBM_OK)
        err = settle_in(&door, &setup, key, response->enrol, &host, &diag);
    close_door(&door);
    EVP_PKEY_free(key);
    OPENSSL_cleanse(&token, sizeof token);
    enum lbm_status status = LBM_STATUS_DONE;
    if (err != LBM_OK) {
        status = lbm_cli_fail(client, &diag);
        status = err == LBM_E_UNREACHABLE ? LBM_STATUS_UNREACHABLE : status;
    } else {
        status = lbm_setup_start(client, &setup);
    }
    if (status == LBM_STATUS_DONE && !lbm_cli_is_quiet(client))
        printf("host %" PRIu32 " (%s) of cluster %s at %s\n", host, setup.name, response->enrol->cluster_name,
               setup.address);
    if (response != NULL)
        lbm__response__free_unpacked(response, NULL);
    return status;
}

const struct lbm_command lbm_command_enroll = {
    .name = "enroll",
    .text = "make this machine a host of a cluster",
    .help =
        "Asks a host of the cluster for a certificate, writes this host's configuration and starts its "
        "daemon. "
        "The token is sent only to a host that has proved that it belongs to the cluster that made it. The "
        "cluster gives the number of the host; its links are measured.",
    .options = enroll_options,
    .n_options = ENROLL_OPTIONS,
    .operands = enroll_operands,
    .n_operands = sizeof enroll_operands / sizeof *enroll_operands,
    .run = run_enroll,
};
