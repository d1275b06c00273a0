/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/renew.h"

#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "daemon/frames.h"
#include "daemon/log.h"
#include "wire/wire.h"

enum {
    LOOK_S = 5,     /* between looks at the clock */
    ATTEMPT_S = 20, /* that one attempt may take */
    PAUSES = 2000,  /* attempts that fit the time of a certificate: about one an hour */
    REPLY_BYTES_MAX = 64 << 10,
    QUEUE_BYTES_MAX = 64 << 10,
};

struct lbm_renew {
    struct event_base *base;
    struct lbm_identity *identity;
    struct lbm_tls *tls;
    struct lbm_resolver *resolver;
    const char *dir;
    int64_t lasts_s;
    struct lbm_renew_handler handler;
    struct event *look, *limit;
    time_t again;             /* no attempt before */
    size_t turn;              /* of the members that are asked */
    uint32_t asked;           /* the host */
    int is_looking_up;        /* its name */
    struct lbm_frames frames; /* bev NULL: nobody is asked just now */
};

/* ---- a new certificate ----------------------------------------------------------------------------------
 */

/* Takes the certificate. */
static enum lbm_err
take(struct lbm_renew *renew, X509 *certificate, struct lbm_diag *diag)
{
    struct lbm_identity *identity = renew->identity;
    struct lbm_pki_subject subject;
    enum lbm_err err = lbm_pki_check(certificate, identity->ca, time(NULL), &subject, diag);
    if (err == LBM_OK && (subject.kind != LBM_PKI_HOST || subject.host != identity->subject.host ||
                          X509_check_private_key(certificate, identity->key) != 1))
        err = lbm_pki_fail(diag, LBM_E_DENIED, NULL, "the new certificate is not this host's");
    if (err == LBM_OK)
        err = lbm_identity_write_certificate(renew->dir, LBM_IDENTITY_CERT, certificate, diag);
    if (err == LBM_OK)
        err = lbm_tls_renew(renew->tls, certificate, identity->key, diag);
    if (err != LBM_OK) {
        X509_free(certificate);
        return err;
    }
    X509_free(identity->certificate);
    identity->certificate = certificate;
    lbm_log(LBM_NOTE_INFO, "the certificate is renewed: %" PRId64 " h from now on",
            (int64_t)(lbm_pki_ends(certificate) - time(NULL)) / 3600);
    return LBM_OK;
}

static void
sign_own(struct lbm_renew *renew)
{
    struct lbm_identity *identity = renew->identity;
    struct lbm_diag diag = {0};
    X509 *certificate;
    enum lbm_err err = lbm_pki_sign(identity->ca, identity->ca_key, identity->key, &identity->subject,
                                    renew->lasts_s, &certificate, &diag);
    if (err == LBM_OK)
        err = take(renew, certificate, &diag);
    if (err != LBM_OK)
        lbm_log(LBM_NOTE_WARNING, "the certificate cannot be renewed: %s", diag.text);
}

/* ---- asking another host --------------------------------------------------------------------------------
 */

static void
end_attempt(struct lbm_renew *renew)
{
    if (renew->frames.bev != NULL)
        bufferevent_free(renew->frames.bev);
    renew->frames.bev = NULL;
    if (renew->is_looking_up)
        lbm_resolver_forget(renew->resolver, renew);
    renew->is_looking_up = 0;
    event_del(renew->limit);
}

static enum lbm_err
on_frame(void *context, const uint8_t *bytes, size_t len)
{
    struct lbm_renew *renew = context;
    Lbm__Response *response;
    struct lbm_diag diag = {0};
    X509 *certificate;
    enum lbm_err err = lbm_wire_unpack_response(bytes, len, &response, &diag);
    if (err != LBM_OK)
        return err;
    if (response->what_case == LBM__RESPONSE__WHAT_ENROL)
        err = lbm_pki_certificate_read(response->enrol->certificate.data, response->enrol->certificate.len,
                                       &certificate, &diag);
    else
        err = lbm_diag_set(&diag, response->code != 0 ? (enum lbm_err)response->code : LBM_E_STATE, NULL, 0,
                           "%.200s", response->text);
    if (err == LBM_OK)
        err = take(renew, certificate, &diag);
    /* Most members have not the authority's key, and say so. */
    if (err != LBM_OK)
        lbm_log(err == LBM_E_UNSUPPORTED ? LBM_NOTE_DEBUG : LBM_NOTE_WARNING,
                "host %" PRIu32 " does not renew the certificate: %s", renew->asked, diag.text);
    lbm__response__free_unpacked(response, NULL);
    return LBM_E_STATE; /* one answer: this ends the attempt */
}

static void
on_read(struct bufferevent *bev, void *context)
{
    struct lbm_renew *renew = context;
    (void)bev;
    if (lbm_frames_take(&renew->frames) != LBM_OK)
        end_attempt(renew);
}

static enum lbm_err
send_request(struct lbm_renew *renew)
{
    uint8_t *der, *frame;
    size_t len, frame_len;
    Lbm__EnrolRequest enrol = LBM__ENROL_REQUEST__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    enum lbm_err err = lbm_pki_request(renew->identity->key, &der, &len, NULL);
    if (err != LBM_OK)
        return err;
    enrol.request = (ProtobufCBinaryData){len, der};
    request.what_case = LBM__REQUEST__WHAT_ENROL;
    request.enrol = &enrol;
    err = lbm_wire_pack_request(&request, &frame, &frame_len);
    free(der);
    return err == LBM_OK ? lbm_frames_put(renew->frames.bev, frame, frame_len, QUEUE_BYTES_MAX) : err;
}

static void
on_event(struct bufferevent *bev, short what, void *context)
{
    struct lbm_renew *renew = context;
    if ((what & BEV_EVENT_CONNECTED) == 0 ||
        lbm_tls_use_of(bufferevent_openssl_get_ssl(bev)) != LBM_TLS_ENROL || send_request(renew) != LBM_OK)
        end_attempt(renew);
}

static void
connect_to(struct lbm_renew *renew, const struct lbm_address *address)
{
    SSL *ssl = lbm_tls_connect(renew->tls, LBM_TLS_ENROL, renew->asked);
    struct bufferevent *bev =
        ssl != NULL ? bufferevent_openssl_socket_new(renew->base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                                     BEV_OPT_CLOSE_ON_FREE)
                    : NULL;
    if (bev == NULL) {
        SSL_free(ssl);
        end_attempt(renew);
        return;
    }
    renew->frames =
        (struct lbm_frames){.bev = bev, .bytes_max = REPLY_BYTES_MAX, .frame = on_frame, .context = renew};
    lbm_frames_tune(bev);
    bufferevent_setcb(bev, on_read, NULL, on_event, renew);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    (void)bufferevent_socket_connect(bev, (const struct sockaddr *)&address->storage, (int)address->len);
}

static void
on_resolved(void *context, const struct lbm_address *at, size_t n, const char *why)
{
    struct lbm_renew *renew = context;
    (void)why;
    if (!renew->is_looking_up)
        return;
    renew->is_looking_up = 0;
    if (n != 0)
        connect_to(renew, at);
    else
        end_attempt(renew);
}

static void
ask_next(struct lbm_renew *renew)
{
    const struct timeval limit = {.tv_sec = ATTEMPT_S};
    struct lbm_node_contact contacts[LBM_CONTACTS_MAX];
    struct lbm_address_text name;
    struct lbm_address address;
    size_t n = renew->handler.contacts(renew->handler.context, contacts, LBM_CONTACTS_MAX);
    if (n == 0)
        return;
    char text[LBM_ADDRESS_MAX + 1];
    const struct lbm_node_contact *contact = &contacts[renew->turn % n];
    lbm_address_of_list(contact->address, renew->turn++ / n, text);
    renew->asked = contact->host;
    event_add(renew->limit, &limit);
    if (lbm_address_parse(text, NULL, 0, &address, NULL) == LBM_OK) {
        connect_to(renew, &address);
        return;
    }
    renew->is_looking_up = 1;
    if (lbm_address_split(text, NULL, 0, &name, NULL) != LBM_OK ||
        lbm_resolver_ask(renew->resolver, &name, on_resolved, renew) != LBM_OK)
        end_attempt(renew);
}

static void
on_limit(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    end_attempt(context);
}

/* ---- when -----------------------------------------------------------------------------------------------
 */

static void
on_look(evutil_socket_t fd, short what, void *context)
{
    struct lbm_renew *renew = context;
    const X509 *certificate = renew->identity->certificate;
    time_t now = time(NULL), ends = lbm_pki_ends(certificate);
    time_t lasts = ends - lbm_pki_begins(certificate) - LBM_PKI_BACKDATED_S;
    (void)fd;
    (void)what;
    if (now < ends - lasts / 3 || now < renew->again || renew->frames.bev != NULL || renew->is_looking_up)
        return;
    renew->again = now + lasts / PAUSES;
    if (now >= ends)
        lbm_log(LBM_NOTE_ERROR, "the certificate has expired: no host believes this one any more");
    if (renew->identity->ca_key != NULL)
        sign_own(renew);
    else
        ask_next(renew);
}

enum lbm_err
lbm_renew_new(struct event_base *base, struct lbm_identity *identity, struct lbm_tls *tls,
              struct lbm_resolver *resolver, const char *dir, int64_t lasts_s,
              const struct lbm_renew_handler *handler, struct lbm_renew **out, struct lbm_diag *diag)
{
    const struct timeval period = {.tv_sec = LOOK_S};
    struct lbm_renew *renew = lbm_alloc(1, sizeof *renew);
    if (renew == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    *renew = (struct lbm_renew){.base = base,
                                .identity = identity,
                                .tls = tls,
                                .resolver = resolver,
                                .dir = dir,
                                .lasts_s = lasts_s,
                                .handler = *handler};
    renew->look = event_new(base, -1, EV_PERSIST, on_look, renew);
    renew->limit = evtimer_new(base, on_limit, renew);
    if (renew->look == NULL || renew->limit == NULL || event_add(renew->look, &period) != 0) {
        lbm_renew_free(renew);
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    }
    *out = renew;
    return LBM_OK;
}

void
lbm_renew_free(struct lbm_renew *renew)
{
    if (renew == NULL)
        return;
    if (renew->limit != NULL) {
        end_attempt(renew);
        event_free(renew->limit);
    }
    if (renew->look != NULL)
        event_free(renew->look);
    free(renew);
}
