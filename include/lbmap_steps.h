/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap_steps.h: compute on a graph whose vertices are spread over hosts, in steps.
 *
 * Each vertex has a state. Step s of a vertex makes its state after s + 1 steps from its own and its
 * neighbours' after s steps. A program says how a state begins and what a step does; lbmap_steps does the
 * rest: it finds the programs of other hosts, sends states to where neighbours are, follows vertices that
 * move, keeps checkpoints, and knows when all is done. There is no barrier: a vertex goes on as soon as its
 * neighbours have got as far as it has.
 *
 *     static void begin(void *context, uint32_t v, void *state) { *(double *)state = v == 0; }
 *
 *     static void mean(void *context, const struct lbmap_step *s, void *after)
 *     {
 *         double sum = *(const double *)s->state;
 *         for (size_t i = 0; i < s->degree; i++)
 *             sum += *(const double *)s->neighbour[i].state;
 *         *(double *)after = sum / (double)(s->degree + 1);
 *     }
 *
 *     const struct lbmap_steps program = {.size = sizeof program, .job = "airfoil", .steps = 1000,
 *                                         .state_size = sizeof(double), .init = begin, .step = mean,
 *                                         .result = print};
 *     enum lbmap_error error = lbmap_steps(&program, message, sizeof message);
 *
 * Run one program on every host that may have vertices, all with the same job, steps, sizes and functions, in
 * any order; each returns when the whole job is done. When one is killed, start it again. When a host is lost
 * its vertices go on elsewhere from where they were kept last, and neighbours send them again what they need.
 * `init` and `step` must depend on nothing but their arguments and `context`: then the result is the same,
 * bit for bit, as that of one loop over all vertices, whatever moves or fails meanwhile.
 *
 * The graph is that of the job. Edges and vertices must not change while it runs. */
#ifndef LBMAP_STEPS_H
#define LBMAP_STEPS_H

#include <lbmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A neighbour of a vertex, in a step. */
struct lbmap_neighbour {
    uint32_t vertex;
    uint32_t weight;   /* of the edge */
    const void *state; /* [size] its state after as many steps, or what it shares of it (`share`,
                          `share_with`); aligned for any type */
    size_t size;       /* bytes */
};

/* What a step is made from. Valid during the call. */
struct lbmap_step {
    uint32_t vertex;
    uint64_t step;                           /* 0 for the first one */
    const void *state;                       /* [size] own state */
    size_t size;                             /* bytes */
    const struct lbmap_neighbour *neighbour; /* [degree], by vertex */
    size_t degree;
    const void *value;   /* [value_size] of the whole job; NULL: there is none yet */
    uint64_t value_step; /* steps that every vertex had done when it was taken */
};

/* Bytes of what neighbours see of a state, at most, and of a value of the job: they go in one message. */
#define LBMAP_STEPS_BYTES_MAX 262144

/* A program. Functions are called by lbmap_steps alone, in the thread that called it; they must not call it,
 * and a step should take much less than 2 s. Members that are not named are 0. */
struct lbmap_steps {
    size_t size;             /* sizeof(struct lbmap_steps) */
    const char *job;         /* its name */
    const char *socket_path; /* of the daemon of this host; NULL: where lbmap was configured to have it */
    uint64_t steps;          /* how many each vertex does */
    size_t state_size;       /* bytes of a state, 1 or more; the most that one has, if `length` is given.
                                Of more than LBMAP_STEPS_BYTES_MAX `share` or `share_with` shows a part */
    uint32_t keep; /* steps from checkpoint to checkpoint of a vertex; 0: 32, or as many as fit 256 KiB, or 1.
                      After a loss that many are done again, and up to three times as many states are kept of
                      a vertex: (3 keep + 3) (state_size + 4) + 32 is LBMAP_PAYLOAD_MAX at most */
    void *context; /* passed on */

    /* State of a vertex before its first step. Out: state [state_size], all 0 before. */
    void (*init)(void *context, uint32_t vertex, void *state);

    /* One step. Out: after [state_size], all 0 before. */
    void (*step)(void *context, const struct lbmap_step *step, void *after);

    /* Bytes of a state that are used, up to state_size; the others are neither sent nor kept. NULL: all. */
    size_t (*length)(void *context, uint32_t vertex, const void *state);

    /* What a vertex costs, in the units of the graph's vertex weights: asked every second. NULL: not told. */
    double (*load)(void *context, uint32_t vertex);

    /* The last state of a vertex. When all is done it is called for every vertex of the job, in their order,
     * at one host: the one with the lowest number that has a program then. Should that program be lost while
     * it is called, it is called again elsewhere. NULL in all programs, or in none. */
    void (*result)(void *context, uint32_t vertex, const void *state, size_t size);

    /* Every vertex of the job is kept at that step or a later one: nothing before it is ever done again.
     * Called when it has grown, about once a second, in all programs that have it. NULL: not told. Give it in
     * all, or in none. */
    void (*stable)(void *context, uint64_t step);

    /* Give up soon, with LBMAP_E_BUSY, if this is not NULL and not 0; what is kept stays. */
    const volatile int *stop;

    /* A value of the whole job, such as a sum or a maximum: taken after `every` steps, 2 every and so on, and
     * seen by the steps from a period later on: step s sees what was taken after (s / every - 1) every steps,
     * the same at every vertex. No step waits for what all do at the same time, and values are the same bit
     * for bit whatever moves or fails: contributions are combined in the order of vertices. Together, or
     * not at all; the same in all programs; `reduced` may be NULL. */
    uint64_t every;    /* 0: there is none */
    size_t value_size; /* bytes; 5 and (3 keep + 1) / every of them are kept of a vertex, 8 bytes more each */

    /* What a vertex contributes. In: state [size]. Out: value [value_size], all 0 before. */
    void (*contribute)(void *context, uint32_t vertex, const void *state, size_t size, void *value);

    /* Add a value to another: commutative and associative, but for rounding. In/out: into [value_size] */
    void (*combine)(void *context, void *into, const void *value);

    /* The value of the job after that many steps, in all programs, in growing order; some may be left out,
     * and after a loss some may come again in a program that was started again. The last one may not come. */
    void (*reduced)(void *context, uint64_t step, const void *value);

    /* What neighbours see of a state in their steps: less to send where a state is large, such as a block of
     * cells of which neighbours need the border. Together, or not at all; the same in all programs.
     * In: state [size]. Out: shared [share_size], all 0 before. Value: bytes that are used, up to share_size.
     */
    size_t share_size; /* 0: all of it */
    size_t (*share)(void *context, uint32_t vertex, const void *state, size_t size, void *shared);

    /* In place of `share`, for each neighbour its own: what `neighbour` sees of the state of `vertex`, such
     * as the side of a block that faces it, or what leaves the vertex towards it. Only that is sent to where
     * the neighbour is. It must depend on nothing but its arguments and `context`. With share_size, which is
     * 131072 at most then; the same in all programs.
     * In: state [size]. Out: shared [share_size], all 0 before. Value: bytes that are used, up to share_size.
     */
    size_t (*share_with)(void *context, uint32_t vertex, uint32_t neighbour, const void *state, size_t size,
                         void *shared);
};

/* A random number that depends on nothing but its arguments: 64 bits, each 0 or 1 as often. Steps that take
 * theirs from here, with whatever `n` tells them apart within a step, give the same result wherever and
 * however often they are done. In a step vertex and step are its own, or, of a number that two neighbours
 * must agree on, those of one of them. */
uint64_t lbmap_random(uint64_t seed, uint32_t vertex, uint64_t step, uint64_t n);

/* Work until every vertex of the job has done all steps; blocks until then. Prints nothing, and reads no
 * environment. While the daemon of this host is away it waits for it.
 * Out:     message [len] what went wrong, for people, or ""; NULL with len 0: not wanted.
 * Errors:  LBMAP_E_RANGE the program cannot be run, and the message says why;
 *          LBMAP_E_NOTFOUND there is no such job, or it is cancelled;
 *          LBMAP_E_UNREACHABLE no daemon listens on the socket; LBMAP_E_DENIED the job is another user's;
 *          LBMAP_E_BUSY another program of this host serves the job, for 5 s or more; or *stop was set;
 *          LBMAP_E_STATE this host has left the cluster, and has no vertices any more;
 *          LBMAP_E_CORRUPT what was kept of a vertex is not of this program;
 *          LBMAP_E_UNSUPPORTED edges of a vertex have changed; LBMAP_E_NOMEM. */
enum lbmap_error lbmap_steps(const struct lbmap_steps *program, char *message, size_t len);

#ifdef __cplusplus
}
#endif

#endif
