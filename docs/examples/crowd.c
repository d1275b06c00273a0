/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowd: people stand at the vertices of a mesh and wander to neighbours at random. Where more than half as
 * many stand as at the fullest vertex of the whole mesh they wander twice as fast. Nobody appears or is lost,
 * whatever hosts and programs are lost, join and leave meanwhile: every ten steps all are counted.
 *
 *     cc crowd.c $(pkg-config --cflags --libs lbmap) -o crowd
 *     lbctl run airfoil -- ./crowd airfoil 1000 places
 */
#include <stdio.h>
#include <stdlib.h>

#include <lbmap_steps.h>

struct place {
    struct view { /* what neighbours see */
        int64_t people;
        uint32_t ways; /* neighbours; 0 before the first step */
    } view;
    int64_t came; /* so far */
};

struct census {
    int64_t people, fullest;
};

enum { SEED = 7 };

static void
gather(void *context, uint32_t vertex, void *state)
{
    (void)context;
    ((struct place *)state)->view.people = vertex % 16 == 0 ? 1600 : 0;
}

/* How many go from a vertex to another in a step: both ends work it out. */
static int64_t
going(uint32_t from, uint32_t to, uint64_t step, const struct view *place, const struct census *all)
{
    if (place->ways == 0)
        return 0;
    int64_t haste = all != NULL && place->people > all->fullest / 2 ? 1 : 2;
    uint64_t most = (uint64_t)(place->people / (haste * place->ways));
    return (int64_t)(lbmap_random(SEED, from, step, to) % (most + 1));
}

static void
wander(void *context, const struct lbmap_step *s, void *after)
{
    const struct place *own = s->state;
    struct place *next = after;
    (void)context;
    *next = (struct place){{own->view.people, (uint32_t)s->degree}, own->came};
    for (size_t i = 0; i < s->degree; i++) {
        int64_t in = going(s->neighbour[i].vertex, s->vertex, s->step, s->neighbour[i].state, s->value);
        next->view.people += in - going(s->vertex, s->neighbour[i].vertex, s->step, &own->view, s->value);
        next->came += in;
    }
}

static size_t
show(void *context, uint32_t vertex, const void *state, size_t size, void *shared)
{
    (void)context, (void)vertex, (void)size;
    *(struct view *)shared = ((const struct place *)state)->view;
    return sizeof(struct view);
}

static void
count(void *context, uint32_t vertex, const void *state, size_t size, void *value)
{
    struct census *census = value;
    (void)context, (void)vertex, (void)size;
    census->people = census->fullest = ((const struct place *)state)->view.people;
}

static void
add(void *context, void *into, const void *value)
{
    struct census *all = into;
    const struct census *one = value;
    (void)context;
    all->people += one->people;
    all->fullest = one->fullest > all->fullest ? one->fullest : all->fullest;
}

static void
tell(void *context, uint64_t step, const void *value)
{
    const struct census *all = value;
    (void)context;
    printf("%llu steps: %lld people, %lld at the fullest place\n", (unsigned long long)step,
           (long long)all->people, (long long)all->fullest);
    fflush(stdout);
}

static void
write_one(void *context, uint32_t vertex, const void *state, size_t size)
{
    const struct place *place = state;
    FILE *file = size == sizeof *place ? fopen(context, vertex == 0 ? "w" : "a") : NULL;
    if (file == NULL ||
        fprintf(file, "%lld %lld\n", (long long)place->view.people, (long long)place->came) < 0 ||
        fclose(file) != 0)
        perror(context);
}

int
main(int argc, char **argv)
{
    char message[256] = "usage: crowd JOB STEPS FILE [SOCKET]";
    struct lbmap_steps crowd = {.size = sizeof crowd, .state_size = sizeof(struct place)};
    crowd.init = gather, crowd.step = wander, crowd.result = write_one;
    crowd.every = 10, crowd.value_size = sizeof(struct census);
    crowd.share_size = sizeof(struct view), crowd.share = show;
    crowd.contribute = count, crowd.combine = add, crowd.reduced = tell;
    if (argc >= 4 && argc <= 5) {
        crowd.job = argv[1], crowd.steps = strtoull(argv[2], NULL, 10), crowd.context = argv[3];
        crowd.socket_path = argc > 4 ? argv[4] : getenv("LBMAP_SOCKET"); /* lbctl run sets it */
        if (lbmap_steps(&crowd, message, sizeof message) == LBMAP_OK)
            return 0;
    }
    fprintf(stderr, "crowd: %s\n", message);
    return 1;
}
