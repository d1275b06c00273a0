/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heat: heat spreads over a mesh. One runs on every host; hosts and programs may be lost, join and leave
 * meanwhile, and the temperatures are those of one computer, bit for bit. The program at the host with the
 * lowest number writes them to FILE, one a line, when all steps are done.
 *
 *     cc heat.c $(pkg-config --cflags --libs lbmap) -o heat
 *     ./heat airfoil 1000 temperatures [SOCKET]
 *     lbctl run airfoil -- ./heat airfoil 1000 temperatures      (on all hosts at once)
 */
#include <stdio.h>
#include <stdlib.h>

#include <lbmap_steps.h>

/* Every 64th vertex is hot, the others are cold. */
static void
begin(void *context, uint32_t vertex, void *state)
{
    (void)context;
    *(double *)state = vertex % 64 == 0 ? 1000.0 : 20.0;
}

/* A part of the difference to each neighbour flows along the edge to it. */
static void
flow(void *context, const struct lbmap_step *s, void *after)
{
    double own = *(const double *)s->state, in = 0;
    (void)context;
    for (size_t i = 0; i < s->degree; i++)
        in += s->neighbour[i].weight * (*(const double *)s->neighbour[i].state - own);
    *(double *)after = own + 0.05 * in;
}

static void
write_one(void *context, uint32_t vertex, const void *state, size_t size)
{
    FILE *file = size == sizeof(double) ? fopen(context, vertex == 0 ? "w" : "a") : NULL;
    if (file == NULL || fprintf(file, "%a\n", *(const double *)state) < 0 || fclose(file) != 0)
        perror(context);
}

int
main(int argc, char **argv)
{
    char message[256] = "usage: heat JOB STEPS FILE [SOCKET]";
    struct lbmap_steps heat = {.size = sizeof heat, .state_size = sizeof(double)};
    heat.init = begin, heat.step = flow, heat.result = write_one;
    if (argc >= 4 && argc <= 5) {
        heat.job = argv[1], heat.steps = strtoull(argv[2], NULL, 10), heat.context = argv[3];
        heat.socket_path = argc > 4 ? argv[4] : getenv("LBMAP_SOCKET"); /* lbctl run sets it */
        if (lbmap_steps(&heat, message, sizeof message) == LBMAP_OK)
            return 0;
    }
    fprintf(stderr, "heat: %s\n", message);
    return 1;
}
