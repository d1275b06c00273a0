/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enrolment, both ways: what a stranger asks, as the daemon takes it apart, and what a stranger answers, as
 * lbctl does. Accepted: a request with a key that could be certified, an answer with a certificate. */
#include <string.h>

#include "base/check.h"
#include "harnesses.h"
#include "pki/pki.h"
#include "wire/wire.h"

static int
take_request(const uint8_t *data, size_t size)
{
    Lbm__Request *request = NULL;
    struct lbm_diag diag = {0};
    EVP_PKEY *key = NULL;
    if (lbm_wire_unpack_request(data, size, &request, &diag) != LBM_OK)
        return 0;
    int taken = 0;
    if (request->what_case == LBM__REQUEST__WHAT_ENROL) {
        const Lbm__EnrolRequest *enrol = request->enrol;
        LBM_ASSERT(enrol->request.len <= LBM_ENROL_BYTES_MAX && enrol->secret.len <= LBM_ENROL_BYTES_MAX);
        LBM_ASSERT(strlen(enrol->name) <= LBM_NAME_MAX && enrol->wait <= 1);
        taken = lbm_pki_request_read(enrol->request.data, enrol->request.len, &key, &diag) == LBM_OK &&
                (enrol->name[0] == '\0' || lbm_pki_name_valid(enrol->name));
    }
    EVP_PKEY_free(key);
    lbm__request__free_unpacked(request, NULL);
    return taken;
}

static int
take_reply(const uint8_t *data, size_t size)
{
    Lbm__Response *response = NULL;
    struct lbm_diag diag = {0};
    struct lbm_pki_subject subject;
    X509 *certificate = NULL;
    if (size == 0 || lbm_wire_unpack_response(data, size, &response, &diag) != LBM_OK)
        return 0;
    int taken = 0;
    if (response->what_case == LBM__RESPONSE__WHAT_ENROL) {
        const Lbm__EnrolReply *reply = response->enrol;
        LBM_ASSERT(reply->n_contact_host == reply->n_contact_address);
        for (size_t i = 0; i < reply->n_contact_host; i++)
            LBM_ASSERT(reply->contact_host[i] < LBM_HOSTS_MAX &&
                       strlen(reply->contact_address[i]) <= LBM_ADDRESS_MAX);
        taken = lbm_pki_certificate_read(reply->certificate.data, reply->certificate.len, &certificate,
                                         &diag) == LBM_OK &&
                lbm_pki_subject_of(certificate, &subject) == LBM_OK;
    }
    X509_free(certificate);
    lbm__response__free_unpacked(response, NULL);
    return taken;
}

int
fuzz_enrol(const uint8_t *data, size_t size)
{
    int is_request = take_request(data, size);
    return take_reply(data, size) || is_request;
}
