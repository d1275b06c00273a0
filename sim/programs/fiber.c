/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/programs/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/check.h"
#include "base/mem.h"

enum { STACK_BYTES = 512 << 10, GUARD_BYTES = 64 << 10 };

struct fiber {
    void (*main)(void *arg);
    void *arg;
    ucontext_t own, resumer;
    uint8_t *stack; /* its lowest part is the guard */
    int has_begun, has_ended;
    const void *resumer_stack; /* of the address sanitizer, which has to know of every switch */
    size_t resumer_stack_bytes;
};

#ifdef __SANITIZE_ADDRESS__
void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old, size_t *size_old);
#else
static void
__sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size)
{
    (void)fake_stack_save;
    (void)bottom;
    (void)size;
}

static void
__sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old, size_t *size_old)
{
    (void)fake_stack_save;
    (void)bottom_old;
    (void)size_old;
}
#endif

/* makecontext passes numbers alone. */
static struct fiber *beginning;

static void
begin(void)
{
    struct fiber *fiber = beginning;
    __sanitizer_finish_switch_fiber(NULL, &fiber->resumer_stack, &fiber->resumer_stack_bytes);
    fiber->main(fiber->arg);
    fiber->has_ended = 1;
    __sanitizer_start_switch_fiber(NULL, fiber->resumer_stack, fiber->resumer_stack_bytes);
    swapcontext(&fiber->own, &fiber->resumer); /* for good */
}

struct fiber *
fiber_new(void (*main)(void *arg), void *arg)
{
    struct fiber *fiber = lbm_alloc(1, sizeof *fiber);
    LBM_ASSERT(fiber != NULL);
    fiber->main = main;
    fiber->arg = arg;
    fiber->stack =
        mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LBM_ASSERT(fiber->stack != MAP_FAILED && mprotect(fiber->stack, GUARD_BYTES, PROT_NONE) == 0);
    LBM_ASSERT(getcontext(&fiber->own) == 0);
    fiber->own.uc_stack.ss_sp = fiber->stack + GUARD_BYTES;
    fiber->own.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber->own, begin, 0);
    return fiber;
}

int
fiber_resume(struct fiber *fiber)
{
    void *fake_stack = NULL;
    LBM_ASSERT(!fiber->has_ended);
    if (!fiber->has_begun)
        beginning = fiber;
    fiber->has_begun = 1;
    __sanitizer_start_switch_fiber(&fake_stack, fiber->stack + GUARD_BYTES, STACK_BYTES);
    LBM_ASSERT(swapcontext(&fiber->resumer, &fiber->own) == 0);
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
    return fiber->has_ended;
}

void
fiber_wait(struct fiber *fiber)
{
    void *fake_stack = NULL;
    __sanitizer_start_switch_fiber(&fake_stack, fiber->resumer_stack, fiber->resumer_stack_bytes);
    LBM_ASSERT(swapcontext(&fiber->own, &fiber->resumer) == 0);
    __sanitizer_finish_switch_fiber(fake_stack, &fiber->resumer_stack, &fiber->resumer_stack_bytes);
}

void
fiber_free(struct fiber *fiber)
{
    if (fiber == NULL)
        return;
    LBM_ASSERT(fiber->has_ended || !fiber->has_begun);
    munmap(fiber->stack, GUARD_BYTES + STACK_BYTES);
    free(fiber);
}
