/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "wire/lease_page.h"

#include <string.h>

enum { WORD_MAGIC, WORD_HEADER, WORD_SEQUENCE, WORD_LIFE, WORD_BOOT };
enum { WORD_DEADLINE = 5, WORD_TERM, WORD_USED, WORD_GONE };
enum { VERSION = 1, TRIES = 1000 };

static uint64_t
magic(void)
{
    uint64_t word;
    memcpy(&word, "LBMLEASE", sizeof word);
    return word;
}

static uint64_t
load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void
store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* A sequence lock: readers that see an odd or a changed sequence try again. */
void
lbm_lease_page_put(void *page, const struct lbm_lease_page *lease)
{
    uint64_t *word = page, sequence = load(&word[WORD_SEQUENCE]) | 1; /* odd already: its writer died */
    store(&word[WORD_SEQUENCE], sequence);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    store(&word[WORD_HEADER], (uint64_t)lease->host << 32 | VERSION);
    store(&word[WORD_LIFE], lease->life);
    store(&word[WORD_BOOT], lease->boot);
    store(&word[WORD_DEADLINE], (uint64_t)lease->deadline_us);
    store(&word[WORD_TERM], lease->term);
    store(&word[WORD_USED], lease->used);
    store(&word[WORD_GONE], lease->gone);
    store(&word[WORD_MAGIC], magic());
    __atomic_store_n(&word[WORD_SEQUENCE], sequence + 1, __ATOMIC_RELEASE);
}

enum lbm_err
lbm_lease_page_get(const void *page, struct lbm_lease_page *lease)
{
    const uint64_t *word = page;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = __atomic_load_n(&word[WORD_SEQUENCE], __ATOMIC_ACQUIRE);
        uint64_t kind = load(&word[WORD_MAGIC]), header = load(&word[WORD_HEADER]);
        *lease = (struct lbm_lease_page){.host = (uint32_t)(header >> 32),
                                         .life = load(&word[WORD_LIFE]),
                                         .boot = load(&word[WORD_BOOT]),
                                         .deadline_us = (int64_t)load(&word[WORD_DEADLINE]),
                                         .term = load(&word[WORD_TERM]),
                                         .used = (uint32_t)load(&word[WORD_USED]),
                                         .gone = (uint32_t)load(&word[WORD_GONE])};
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 != 0 || load(&word[WORD_SEQUENCE]) != before)
            continue;
        if (kind != magic())
            return LBM_E_SYNTAX;
        return (uint32_t)header == VERSION ? LBM_OK : LBM_E_VERSION;
    }
    return LBM_E_BUSY;
}
