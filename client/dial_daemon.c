/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A handle of the application library whose bytes go through TLS. Blocking only in the handshake. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/dial.h"
#include "pki/pki.h"

struct line {
    struct lbm_api_stream stream;
    struct lbm_identity identity;
    struct lbm_tls *tls;
    BIO_METHOD *method;
    SSL *ssl;
    char why[LBM_DIAG_TEXT_MAX]; /* it failed */
};

/* ---- a socket that raises no signal when the other end has closed it ----------------------------------- */

static int
write_quietly(BIO *bio, const char *bytes, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t n = send((int)BIO_get_fd(bio, NULL), bytes, (size_t)len, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)n;
}

static BIO_METHOD *
quiet_socket(void)
{
    const BIO_METHOD *of = BIO_s_socket();
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOCKET, "socket without signals");
    if (method != NULL && BIO_meth_set_write(method, write_quietly) &&
        BIO_meth_set_read(method, BIO_meth_get_read(of)) &&
        BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(of)) &&
        BIO_meth_set_create(method, BIO_meth_get_create(of)) &&
        BIO_meth_set_destroy(method, BIO_meth_get_destroy(of)))
        return method;
    BIO_meth_free(method);
    return NULL;
}

/* ---- what the handle calls ----------------------------------------------------------------------------- */

/* Note why, and set errno as a socket does. */
static ssize_t
fail(struct line *line, int result)
{
    int saved = errno;
    int error = SSL_get_error(line->ssl, result);
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    if (error == SSL_ERROR_SSL && line->why[0] == '\0') {
        char reason[LBM_DIAG_TEXT_MAX];
        lbm_tls_reason(line->ssl, ERR_get_error(), reason);
        snprintf(line->why, sizeof line->why,
                 "the daemon refuses this certificate, or this end refuses the daemon's: %.150s", reason);
    }
    ERR_clear_error();
    if (error == SSL_ERROR_SYSCALL && saved == 0)
        return 0;
    errno = error == SSL_ERROR_SYSCALL ? saved : EPROTO;
    return -1;
}

static ssize_t
line_send(void *context, const uint8_t *bytes, size_t len)
{
    struct line *line = context;
    errno = 0;
    int n = SSL_write(line->ssl, bytes, len < INT32_MAX ? (int)len : INT32_MAX);
    if (n > 0)
        return n;
    ssize_t result = fail(line, n);
    if (result == 0 || (errno != EAGAIN && errno != EINTR)) {
        errno = EPIPE; /* what it said before it closed is there to be read */
        return -1;
    }
    return result;
}

static ssize_t
line_receive(void *context, uint8_t *bytes, size_t len)
{
    struct line *line = context;
    errno = 0;
    int n = SSL_read(line->ssl, bytes, len < INT32_MAX ? (int)len : INT32_MAX);
    return n > 0 ? n : fail(line, n);
}

static int
line_pending(void *context)
{
    return SSL_pending(((struct line *)context)->ssl) > 0;
}

static const char *
line_why(void *context)
{
    return ((struct line *)context)->why;
}

static void
line_close(void *context)
{
    struct line *line = context;
    if (line->ssl != NULL && SSL_is_init_finished(line->ssl))
        (void)SSL_shutdown(line->ssl);
    ERR_clear_error();
    SSL_free(line->ssl);
    BIO_meth_free(line->method);
    lbm_tls_free(line->tls);
    lbm_identity_free(&line->identity);
    free(line);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static enum lbm_err
shake_hands(struct line *line, int fd, const char *address, int64_t deadline_ms, struct lbm_diag *diag)
{
    char why[LBM_DIAG_TEXT_MAX];
    for (int result; (result = SSL_connect(line->ssl)) != 1;) {
        int error = SSL_get_error(line->ssl, result);
        int64_t left_ms = deadline_ms - lbm_api_now_ms();
        struct pollfd poller = {.fd = fd, .events = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN};
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
            unsigned long first = ERR_get_error();
            int judged = SSL_get_verify_result(line->ssl) != X509_V_OK;
            lbm_tls_reason(line->ssl, first, why);
            return judged ? lbm_diag_set(diag, LBM_E_DENIED, address, 0,
                                         "is no host of the cluster of this certificate: %.150s", why)
                          : lbm_diag_set(diag, LBM_E_UNREACHABLE, address, 0,
                                         "no lbmapd of the cluster answers there: %.150s", why);
        }
        if (left_ms <= 0)
            return lbm_diag_set(diag, LBM_E_UNREACHABLE, address, 0, "no lbmapd answers there in time");
        (void)poll(&poller, 1, (int)left_ms);
    }
    if (lbm_tls_use_of(line->ssl) != LBM_TLS_CONTROL)
        return lbm_diag_set(diag, LBM_E_VERSION, address, 0, "answers no operators");
    return LBM_OK;
}

static enum lbm_err
open_line(struct line *line, int fd, struct lbm_diag *diag)
{
    const int on = 1;
    enum lbm_err err = lbm_tls_new(&line->identity, &line->tls, diag);
    if (err != LBM_OK)
        return err;
    line->ssl = lbm_tls_connect(line->tls, LBM_TLS_CONTROL, LBM_NONE);
    line->method = quiet_socket();
    BIO *bio = line->ssl != NULL && line->method != NULL ? BIO_new(line->method) : NULL;
    if (bio == NULL || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
        BIO_free(bio);
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "out of memory");
    }
    BIO_set_fd(bio, fd, BIO_NOCLOSE);
    SSL_set_bio(line->ssl, bio, bio);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return LBM_OK;
}

enum lbm_err
lbm_dial_daemon(const char *address, const char *identity, struct lbmap *handle, struct lbm_diag *diag)
{
    const int64_t deadline_ms = lbm_api_now_ms() + handle->timeout_ms;
    struct line *line = lbm_alloc(1, sizeof *line);
    int fd = -1;
    if (line == NULL)
        return lbm_diag_set(diag, LBM_E_NOMEM, address, 0, "out of memory");
    enum lbm_err err = lbm_identity_read_user(identity, &line->identity, diag);
    if (err == LBM_OK)
        err = lbm_dial(address, handle->timeout_ms, &fd, diag);
    if (err == LBM_OK)
        err = open_line(line, fd, diag);
    if (err == LBM_OK)
        err = shake_hands(line, fd, address, deadline_ms, diag);
    if (err != LBM_OK) {
        line_close(line);
        if (fd >= 0)
            close(fd);
        return err;
    }
    line->stream = (struct lbm_api_stream){.context = line,
                                           .send = line_send,
                                           .receive = line_receive,
                                           .pending = line_pending,
                                           .why = line_why,
                                           .close = line_close};
    handle->fd = fd;
    handle->ended_here = 0;
    handle->stream = &line->stream;
    return LBM_OK;
}
