/* SPDX-License-Identifier: GPL-3.0-or-later */
/* broad alone GRAPH STEPS BYTES, broad run JOB STEPS BYTES FILE [SOCKET]: lbmap_steps with states of many
 * bytes, of which neighbours see eight; one loop over all vertices does the same. A line for each vertex: the
 * sum of its last state. */
#include <unistd.h>

#include "lbmap_steps.h"

#include "tests/cluster/alone.h"

struct broad {
    size_t words; /* of a state */
    FILE *out;
};

static uint64_t
mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

static void
fill(const struct broad *broad, uint64_t seed, uint64_t *state)
{
    for (size_t i = 0; i < broad->words; i++)
        state[i] = seed = mix(seed, i);
}

static void
begin(void *context, uint32_t vertex, void *state)
{
    fill(context, vertex + 1, state);
}

static void
step(void *context, const struct lbmap_step *s, void *after)
{
    const struct broad *broad = context;
    const uint64_t *state = s->state;
    uint64_t seed = s->step;
    for (size_t i = 0; i < broad->words; i++)
        seed = mix(seed, state[i]);
    for (size_t i = 0; i < s->degree; i++)
        seed = mix(seed, *(const uint64_t *)s->neighbour[i].state);
    fill(broad, seed, after);
    usleep(20000);
}

static size_t
share(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    const struct broad *broad = context;
    (void)vertex, (void)size;
    memcpy(shared, (const uint64_t *)state + broad->words - 1, sizeof(uint64_t));
    return sizeof(uint64_t);
}

static void
print(void *context, uint32_t vertex, const void *state, size_t size)
{
    const struct broad *broad = context;
    uint64_t sum = size;
    if (vertex == 0)
        rewind(broad->out);
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        sum = mix(sum, ((const uint64_t *)state)[i]);
    fprintf(broad->out, "%u %016llx\n", (unsigned)vertex, (unsigned long long)sum);
}

static int
run_alone(struct broad *broad, const char *path, uint64_t steps)
{
    static struct lbmap_neighbour neighbours[DEGREE_MAX];
    struct mesh mesh = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL || !read_mesh(file, &mesh))
        return 2;
    uint64_t *before = calloc(mesh.n * broad->words, sizeof *before),
             *after = calloc(mesh.n * broad->words, sizeof *after);
    for (uint32_t v = 0; v < mesh.n; v++)
        begin(broad, v, before + v * broad->words);
    for (uint64_t s = 0; s < steps; s++) {
        for (uint32_t v = 0; v < mesh.n; v++) {
            size_t degree = mesh.first[v + 1] - mesh.first[v], size = broad->words * sizeof(uint64_t);
            for (size_t i = 0; i < degree; i++) {
                uint32_t u = mesh.neighbour[mesh.first[v] + i];
                neighbours[i] = (struct lbmap_neighbour){u, 1, before + (u + 1) * broad->words - 1, 8};
            }
            step(broad,
                 &(struct lbmap_step){v, s, before + v * broad->words, size, neighbours, degree, NULL, 0},
                 after + v * broad->words);
        }
        uint64_t *swap = before;
        before = after;
        after = swap;
    }
    for (uint32_t v = 0; v < mesh.n; v++)
        print(broad, v, before + v * broad->words, broad->words * sizeof(uint64_t));
    return 0;
}

int
main(int argc, char **argv)
{
    char message[256];
    if (argc < 5)
        return 2;
    struct broad broad = {strtoull(argv[4], NULL, 10) / sizeof(uint64_t), stdout};
    uint64_t steps = strtoull(argv[3], NULL, 10);
    if (strcmp(argv[1], "alone") == 0)
        return run_alone(&broad, argv[2], steps);
    broad.out = argc > 5 ? fopen(argv[5], "w") : NULL;
    if (broad.out == NULL)
        return 2;
    const struct lbmap_steps program = {.size = sizeof program,
                                        .job = argv[2],
                                        .socket_path = argc > 6 ? argv[6] : NULL,
                                        .steps = steps,
                                        .state_size = broad.words * sizeof(uint64_t),
                                        .context = &broad,
                                        .init = begin,
                                        .step = step,
                                        .result = print,
                                        .share_size = sizeof(uint64_t),
                                        .share = share};
    enum lbmap_error error = lbmap_steps(&program, message, sizeof message);
    if (error != LBMAP_OK)
        fprintf(stderr, "broad: %s\n", message);
    return fclose(broad.out) != 0 || error != LBMAP_OK;
}
