/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/worker.h"

struct question {
    struct question *next;
    struct lbm_address_text name;
    lbm_resolved answer;
    void *context; /* NULL: nobody waits for it any more */
    struct lbm_address at[LBM_RESOLVED_MAX];
    size_t n;
    const char *why; /* static */
};

/* Of the loop and the thread; whoever is the last to leave frees it. */
struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    struct question *first, *last; /* to be answered; the first is in work */
    struct question *answered;
    int bell; /* eventfd */
    int ends;
};

struct lbm_resolver {
    struct shared *shared;
    struct event *rung;
    int runs; /* the thread does */
};

static void
free_questions(struct question *question)
{
    while (question != NULL) {
        struct question *next = question->next;
        free(question);
        question = next;
    }
}

static void
free_shared(struct shared *shared)
{
    free_questions(shared->first);
    free_questions(shared->answered);
    close(shared->bell);
    pthread_cond_destroy(&shared->asked);
    pthread_mutex_destroy(&shared->mutex);
    free(shared);
}

static void
look_up(struct question *question)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failed = getaddrinfo(question->name.host, question->name.port, &hints, &found);
    question->why = failed ? gai_strerror(failed) : "it has no address";
    for (struct addrinfo *at = found; at != NULL && question->n < LBM_RESOLVED_MAX; at = at->ai_next) {
        struct lbm_address *address = &question->at[question->n];
        if (at->ai_addrlen > sizeof address->storage)
            continue;
        memcpy(&address->storage, at->ai_addr, at->ai_addrlen);
        address->len = at->ai_addrlen;
        question->n++;
    }
    if (found != NULL)
        freeaddrinfo(found);
}

static void *
answer_questions(void *context)
{
    struct shared *shared = context;
    pthread_mutex_lock(&shared->mutex);
    while (!shared->ends) {
        struct question *question = shared->first;
        if (question == NULL) {
            pthread_cond_wait(&shared->asked, &shared->mutex);
            continue;
        }
        pthread_mutex_unlock(&shared->mutex);
        look_up(question);
        pthread_mutex_lock(&shared->mutex);
        shared->first = question->next;
        if (shared->first == NULL)
            shared->last = NULL;
        question->next = shared->answered;
        shared->answered = question;
        if (!shared->ends)
            lbm_worker_ring(shared->bell);
    }
    pthread_mutex_unlock(&shared->mutex);
    free_shared(shared);
    return NULL;
}

static void
on_rung(evutil_socket_t fd, short what, void *context)
{
    struct shared *shared = ((struct lbm_resolver *)context)->shared;
    (void)what;
    lbm_worker_silence(fd);
    pthread_mutex_lock(&shared->mutex);
    struct question *answered = shared->answered;
    shared->answered = NULL;
    pthread_mutex_unlock(&shared->mutex);
    for (struct question *q = answered; q != NULL; q = q->next)
        if (q->context != NULL)
            q->answer(q->context, q->at, q->n, q->why);
    free_questions(answered);
}

enum lbm_err
lbm_resolver_new(struct event_base *base, struct lbm_resolver **out, struct lbm_diag *diag)
{
    struct lbm_resolver *resolver = lbm_alloc(1, sizeof *resolver);
    struct shared *shared = lbm_alloc(1, sizeof *shared);
    int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct event *rung =
        resolver != NULL && bell >= 0 ? event_new(base, bell, EV_READ | EV_PERSIST, on_rung, resolver) : NULL;
    if (shared == NULL || rung == NULL || event_add(rung, NULL) != 0) {
        if (rung != NULL)
            event_free(rung);
        if (bell >= 0)
            close(bell);
        free(shared);
        free(resolver);
        return lbm_diag_set(diag, LBM_E_NOMEM, NULL, 0, "no memory for looking up names");
    }
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_cond_init(&shared->asked, NULL);
    shared->bell = bell;
    resolver->shared = shared;
    resolver->rung = rung;
    *out = resolver;
    return LBM_OK;
}

enum lbm_err
lbm_resolver_ask(struct lbm_resolver *resolver, const struct lbm_address_text *name, lbm_resolved answer,
                 void *context)
{
    struct shared *shared = resolver->shared;
    struct question *question = lbm_alloc(1, sizeof *question);
    pthread_t thread;
    if (question == NULL)
        return LBM_E_NOMEM;
    *question = (struct question){.name = *name, .answer = answer, .context = context};
    if (!resolver->runs) {
        if (lbm_worker_start(&thread, "lbmapd-names", answer_questions, shared) != LBM_OK) {
            free(question);
            return LBM_E_LIMIT;
        }
        pthread_detach(thread);
        resolver->runs = 1;
    }
    pthread_mutex_lock(&shared->mutex);
    if (shared->last != NULL)
        shared->last->next = question;
    else
        shared->first = question;
    shared->last = question;
    pthread_cond_signal(&shared->asked);
    pthread_mutex_unlock(&shared->mutex);
    return LBM_OK;
}

void
lbm_resolver_forget(struct lbm_resolver *resolver, const void *context)
{
    struct shared *shared = resolver->shared;
    pthread_mutex_lock(&shared->mutex);
    for (struct question *q = shared->first; q != NULL; q = q->next)
        if (q->context == context)
            q->context = NULL;
    for (struct question *q = shared->answered; q != NULL; q = q->next)
        if (q->context == context)
            q->context = NULL;
    pthread_mutex_unlock(&shared->mutex);
}

void
lbm_resolver_free(struct lbm_resolver *resolver)
{
    if (resolver == NULL)
        return;
    struct shared *shared = resolver->shared;
    event_free(resolver->rung);
    pthread_mutex_lock(&shared->mutex);
    shared->ends = 1;
    pthread_cond_signal(&shared->asked);
    pthread_mutex_unlock(&shared->mutex);
    if (!resolver->runs)
        free_shared(shared);
    free(resolver);
}
