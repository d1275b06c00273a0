/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/enrol.h"

#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "daemon/contacts.h"
#include "daemon/frames.h"
#include "daemon/log.h"

enum {
    CLIENTS_MAX = 32,         /* at once; the oldest that has asked for nothing gives way */
    REQUEST_BYTES_MAX = 8192, /* secret, request and name fit */
    QUEUE_BYTES_MAX = 64 << 10,
    ASK_WAIT_S = 5,     /* until something is asked */
    ANSWER_WAIT_S = 20, /* for the control log, and until the answer has been read */
};
_Static_assert(REQUEST_BYTES_MAX >= LBM_ENROL_BYTES_MAX + LBM_TOKEN_SECRET + LBM_NAME_MAX + 64,
               "a request fits");

struct applicant {
    struct lbm_enrol *enrol;
    struct applicant *next; /* newest first */
    uint64_t client;
    uint64_t request; /* id that it gave its request */
    struct lbm_frames frames;
    struct event *timer;
    char from[LBM_ADDRESS_MAX + 1];
    char name[LBM_NAME_MAX + 1]; /* that the host will have */
    uint8_t secret[LBM_TOKEN_SECRET];
    int is_approved; /* by a person; else the secret counts */
    EVP_PKEY *key;   /* to be certified; NULL: nothing has been asked for */
    int answered;    /* closed once that has been read */
};

struct lbm_enrol {
    struct event_base *base;
    const struct lbm_identity *identity;
    const char *dir;
    int64_t lasts_s;
    struct lbm_enrol_handler handler;
    struct applicant *applicants;
    unsigned n;
    uint64_t last_client;
    struct lbm_log_limit refusals;
};

static void
drop(struct applicant *applicant)
{
    struct lbm_enrol *enrol = applicant->enrol;
    struct applicant **link = &enrol->applicants;
    uint64_t client = applicant->client;
    int waits = applicant->key != NULL && !applicant->answered;
    while (*link != applicant)
        link = &(*link)->next;
    *link = applicant->next;
    enrol->n--;
    bufferevent_free(applicant->frames.bev);
    event_free(applicant->timer);
    EVP_PKEY_free(applicant->key);
    OPENSSL_cleanse(applicant->secret, sizeof applicant->secret);
    free(applicant);
    if (waits)
        enrol->handler.gone(enrol->handler.context, client);
}

/* ---- answers --------------------------------------------------------------------------------------------
 */

static void
answer(struct applicant *applicant, Lbm__Response *response)
{
    uint8_t *frame;
    size_t len;
    response->id = applicant->request;
    response->last = 1;
    applicant->answered = 1;
    bufferevent_disable(applicant->frames.bev, EV_READ);
    if (lbm_wire_pack_response(response, &frame, &len) != LBM_OK ||
        lbm_frames_put(applicant->frames.bev, frame, len, QUEUE_BYTES_MAX) != LBM_OK)
        lbm_log(LBM_NOTE_ERROR, "out of memory for a certificate");
}

static void
refuse(struct applicant *applicant, enum lbm_err code, const char *text)
{
    char copy[LBM_DIAG_TEXT_MAX];
    Lbm__Response response = LBM__RESPONSE__INIT;
    snprintf(copy, sizeof copy, "%s", text);
    response.code = code;
    response.text = copy;
    lbm_log_limited(&applicant->enrol->refusals, LBM_NOTE_WARNING, "no certificate for %s: %s",
                    applicant->from, copy);
    answer(applicant, &response);
}

static void
send_certificate(struct applicant *applicant, X509 *certificate)
{
    struct lbm_enrol *enrol = applicant->enrol;
    struct lbm_node_contact contacts[LBM_CONTACTS_MAX];
    uint32_t host[LBM_CONTACTS_MAX];
    char *address[LBM_CONTACTS_MAX];
    char name[LBM_NAME_MAX + 1];
    struct lbm_diag diag = {0};
    uint8_t *der;
    size_t len, n = enrol->handler.contacts(enrol->handler.context, contacts, LBM_CONTACTS_MAX);
    if (lbm_pki_certificate_write(certificate, &der, &len, &diag) != LBM_OK) {
        refuse(applicant, diag.code, diag.text);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        host[i] = contacts[i].host;
        address[i] = contacts[i].address;
    }
    snprintf(name, sizeof name, "%s", enrol->handler.cluster_name(enrol->handler.context));
    Lbm__EnrolReply reply = LBM__ENROL_REPLY__INIT;
    reply.certificate = (ProtobufCBinaryData){len, der};
    reply.cluster_name = name;
    reply.n_contact_host = reply.n_contact_address = n;
    reply.contact_host = host;
    reply.contact_address = address;
    Lbm__Response response = LBM__RESPONSE__INIT;
    response.what_case = LBM__RESPONSE__WHAT_ENROL;
    response.enrol = &reply;
    answer(applicant, &response);
    free(der);
}

static void
certify(struct applicant *applicant, uint32_t host)
{
    const struct lbm_identity *identity = applicant->enrol->identity;
    struct lbm_pki_subject subject = identity->subject;
    struct lbm_diag diag = {0};
    X509 *certificate;
    subject.host = host;
    if (lbm_pki_sign(identity->ca, identity->ca_key, applicant->key, &subject, applicant->enrol->lasts_s,
                     &certificate, &diag) != LBM_OK) {
        refuse(applicant, diag.code, diag.text);
        return;
    }
    send_certificate(applicant, certificate);
    X509_free(certificate);
}

/* The log has given an id: now the token or the approval is used. If it cannot be any more the id is
 * nobody's. */
static void
admit(struct applicant *applicant, uint32_t host)
{
    char token[LBM_TOKEN_NAME + 1] = "";
    uint8_t hash[LBM_PKI_HASH];
    struct lbm_diag diag = {0};
    enum lbm_err err = !applicant->is_approved ? lbm_tokens_use(applicant->enrol->dir, applicant->secret,
                                                                time(NULL), token, &diag)
                       : lbm_pki_hash_key(applicant->key, hash) == LBM_OK
                           ? lbm_approvals_use(applicant->enrol->dir, hash, time(NULL), &diag)
                           : LBM_E_NOMEM;
    if (err != LBM_OK) {
        refuse(applicant, err, diag.text);
        return;
    }
    lbm_log(LBM_NOTE_INFO, "host %" PRIu32 " (%s) enrols from %s %s%s", host, applicant->name,
            applicant->from, applicant->is_approved ? "by approval" : "with token ", token);
    certify(applicant, host);
}

void
lbm_enrol_reply(struct lbm_enrol *enrol, uint64_t client, uint8_t *frame, size_t len)
{
    struct applicant *applicant = enrol->applicants;
    Lbm__Response *response = NULL;
    struct lbm_diag diag = {0};
    while (applicant != NULL && applicant->client != client)
        applicant = applicant->next;
    if (applicant != NULL && !applicant->answered) {
        if (lbm_wire_unpack_response(frame + LBM_FRAME_HEADER, len - LBM_FRAME_HEADER, &response, &diag) !=
            LBM_OK)
            refuse(applicant, diag.code, diag.text);
        else if (response->what_case == LBM__RESPONSE__WHAT_ADMIT)
            admit(applicant, response->admit->host);
        else
            refuse(applicant, response->code != 0 ? (enum lbm_err)response->code : LBM_E_STATE,
                   response->text);
    }
    if (response != NULL)
        lbm__response__free_unpacked(response, NULL);
    free(frame);
}

/* ---- requests -------------------------------------------------------------------------------------------
 */

/* A host that has a certificate gets the next one, for the key that it asks for. */
static void
renew(struct applicant *applicant)
{
    struct lbm_pki_subject subject;
    if (!lbm_tls_peer(bufferevent_openssl_get_ssl(applicant->frames.bev), &subject) ||
        subject.kind != LBM_PKI_HOST) {
        refuse(applicant, LBM_E_DENIED, "neither a token nor a certificate of a host was shown");
        return;
    }
    lbm_log(LBM_NOTE_INFO, "host %" PRIu32 " renews its certificate", subject.host);
    certify(applicant, subject.host);
}

/* Ask the control log for an id. */
static void
ask_for_id(struct applicant *applicant)
{
    struct lbm_enrol *enrol = applicant->enrol;
    Lbm__Request request = LBM__REQUEST__INIT;
    Lbm__AdmitRequest admit_request = LBM__ADMIT_REQUEST__INIT;
    admit_request.name = applicant->name;
    request.what_case = LBM__REQUEST__WHAT_ADMIT;
    request.admit = &admit_request;
    enrol->handler.request(enrol->handler.context, applicant->client, &request);
}

/* Nonzero if that may be the name of a host; else the other end has been told. */
static int
takes_name(struct applicant *applicant, const char *name)
{
    snprintf(applicant->name, sizeof applicant->name, "%s", name);
    if (lbm_pki_name_valid(applicant->name))
        return 1;
    refuse(applicant, LBM_E_RANGE, "the name of the host must be letters, digits, '.', '_' or '-'");
    return 0;
}

/* Without a token: a person decides (lbctl approve). The other end asks again and again until then. */
static void
knock(struct applicant *applicant, const Lbm__EnrolRequest *asked)
{
    const char *dir = applicant->enrol->dir;
    uint8_t hash[LBM_PKI_HASH];
    char from[LBM_ADDRESS_MAX + 1], text[] = "nobody has decided yet";
    struct lbm_approval row;
    struct lbm_diag diag = {0};
    Lbm__Response response = LBM__RESPONSE__INIT;
    int is_new;
    if (!takes_name(applicant, asked->name))
        return;
    snprintf(from, sizeof from, "%s", applicant->from);
    if (strrchr(from, ':') != NULL)
        *strrchr(from, ':') = '\0'; /* the port is another one each time */
    if (lbm_pki_hash_key(applicant->key, hash) != LBM_OK ||
        lbm_approvals_ask(dir, hash, applicant->name, from, time(NULL), &row, &is_new, &diag) != LBM_OK) {
        refuse(applicant, diag.code != LBM_OK ? diag.code : LBM_E_NOMEM, diag.text);
        return;
    }
    if (is_new)
        lbm_log(LBM_NOTE_INFO, "%s at %s asks to be let in; lbctl approve %s says yes", row.name, row.from,
                row.fingerprint);
    if (row.state == LBM_APPROVAL_APPROVED) {
        applicant->is_approved = 1;
        ask_for_id(applicant);
    } else if (row.state == LBM_APPROVAL_DENIED) {
        refuse(applicant, LBM_E_DENIED, "an operator of the cluster has denied it");
    } else {
        response.code = LBM_E_BUSY;
        response.text = text;
        answer(applicant, &response);
    }
}

static void
enter(struct applicant *applicant, const Lbm__EnrolRequest *asked)
{
    struct lbm_enrol *enrol = applicant->enrol;
    struct lbm_diag diag = {0};
    if (asked->secret.len != LBM_TOKEN_SECRET) {
        refuse(applicant, LBM_E_SYNTAX, "this is no token");
        return;
    }
    memcpy(applicant->secret, asked->secret.data, LBM_TOKEN_SECRET);
    if (!takes_name(applicant, asked->name))
        return;
    if (lbm_tokens_find(enrol->dir, applicant->secret, time(NULL), &diag) != LBM_OK) {
        refuse(applicant, diag.code, diag.text);
        return;
    }
    ask_for_id(applicant);
}

static enum lbm_err
on_frame(void *context, const uint8_t *bytes, size_t len)
{
    const struct timeval wait = {.tv_sec = ANSWER_WAIT_S};
    struct applicant *applicant = context;
    Lbm__Request *request;
    struct lbm_diag diag = {0};
    if (applicant->key != NULL || applicant->answered)
        return LBM_E_STATE; /* one question a connection */
    enum lbm_err err = lbm_wire_unpack_request(bytes, len, &request, &diag);
    if (err != LBM_OK)
        return err;
    applicant->request = request->id;
    event_add(applicant->timer, &wait);
    if (request->what_case != LBM__REQUEST__WHAT_ENROL)
        refuse(applicant, LBM_E_UNSUPPORTED, "this connection is for certificates alone");
    else if (applicant->enrol->identity->ca_key == NULL)
        refuse(applicant, LBM_E_UNSUPPORTED,
               "this host has not the key of the cluster's authority; ask the one where the token was made");
    else if (lbm_pki_request_read(request->enrol->request.data, request->enrol->request.len, &applicant->key,
                                  &diag) != LBM_OK)
        refuse(applicant, diag.code, diag.text);
    else if (request->enrol->secret.len == 0 && request->enrol->wait)
        knock(applicant, request->enrol);
    else if (request->enrol->secret.len == 0)
        renew(applicant);
    else
        enter(applicant, request->enrol);
    if (request->what_case == LBM__REQUEST__WHAT_ENROL && request->enrol->secret.len != 0)
        OPENSSL_cleanse(request->enrol->secret.data, request->enrol->secret.len);
    lbm__request__free_unpacked(request, NULL);
    return LBM_OK;
}

static void
on_read(struct bufferevent *bev, void *context)
{
    struct applicant *applicant = context;
    (void)bev;
    enum lbm_err err = lbm_frames_take(&applicant->frames);
    if (err == LBM_OK)
        return;
    lbm_log_limited(&applicant->enrol->refusals, LBM_NOTE_WARNING,
                    "closing the connection from %s, which asks for no certificate: %s", applicant->from,
                    lbm_err_text(err));
    drop(applicant);
}

static void
on_written(struct bufferevent *bev, void *context)
{
    struct applicant *applicant = context;
    (void)bev;
    if (applicant->answered)
        drop(applicant);
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    (void)bev;
    (void)what;
    drop(context);
}

static void
on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    drop(context);
}

/* Make room for one more. */
static void
limit(struct lbm_enrol *enrol)
{
    struct applicant *oldest = NULL;
    for (struct applicant *a = enrol->applicants; a != NULL; a = a->next)
        if (a->key == NULL || oldest == NULL)
            oldest = a;
    if (enrol->n >= CLIENTS_MAX)
        drop(oldest);
}

void
lbm_enrol_accept(struct lbm_enrol *enrol, struct bufferevent *bev, const char *from)
{
    const struct timeval wait = {.tv_sec = ASK_WAIT_S};
    limit(enrol);
    struct applicant *applicant = lbm_alloc(1, sizeof *applicant);
    struct event *timer = applicant != NULL ? evtimer_new(enrol->base, on_timer, applicant) : NULL;
    if (timer == NULL) {
        free(applicant);
        bufferevent_free(bev);
        return;
    }
    applicant->enrol = enrol;
    applicant->timer = timer;
    applicant->client = LBM_ENROL_CLIENT | ++enrol->last_client;
    applicant->frames = (struct lbm_frames){
        .bev = bev, .bytes_max = REQUEST_BYTES_MAX, .frame = on_frame, .context = applicant};
    snprintf(applicant->from, sizeof applicant->from, "%s", from);
    applicant->next = enrol->applicants;
    enrol->applicants = applicant;
    enrol->n++;
    event_add(timer, &wait);
    lbm_frames_tune(bev);
    bufferevent_setcb(bev, on_read, on_written, on_event, applicant);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    bufferevent_trigger(bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS); /* what came with the handshake */
}

enum lbm_err
lbm_enrol_new(struct event_base *base, const struct lbm_identity *identity, const char *dir, int64_t lasts_s,
              const struct lbm_enrol_handler *handler, struct lbm_enrol **out, struct lbm_diag *diag)
{
    struct lbm_enrol *enrol = lbm_alloc(1, sizeof *enrol);
    if (enrol == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    enrol->base = base;
    enrol->identity = identity;
    enrol->dir = dir;
    enrol->lasts_s = lasts_s;
    enrol->handler = *handler;
    *out = enrol;
    return LBM_OK;
}

void
lbm_enrol_free(struct lbm_enrol *enrol)
{
    if (enrol == NULL)
        return;
    while (enrol->applicants != NULL) {
        struct applicant *applicant = enrol->applicants;
        applicant->answered = 1; /* the node is about to end, too */
        drop(applicant);
    }
    free(enrol);
}
