/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heat_paced JOB STEPS FILE SOCKET HURRY: docs/examples/heat.c, but a step of vertex 0 takes 40 ms until the
 * file HURRY is there: all others wait for it, so that a test has the time to take hosts away, however fast
 * it is. */
int heat_main(int argc, char **argv); /* the main of the example */
#define main heat_main
#include "docs/examples/heat.c"
#undef main

#include <time.h>
#include <unistd.h>

static const char *hurry;

static void
paced_flow(void *context, const struct lbmap_step *s, void *after)
{
    const struct timespec pace = {0, 40000000};
    if (s->vertex == 0 && access(hurry, F_OK) != 0)
        nanosleep(&pace, NULL);
    flow(context, s, after);
}

/* On standard error, a line each. */
static void
say_stable(void *context, uint64_t step)
{
    (void)context;
    fprintf(stderr, "stable %llu\n", (unsigned long long)step);
}

int
main(int argc, char **argv)
{
    char message[256] = "usage: heat_paced JOB STEPS FILE SOCKET HURRY";
    if (argc == 6) {
        const struct lbmap_steps heat = {.size = sizeof heat,
                                         .job = argv[1],
                                         .steps = strtoull(argv[2], NULL, 10),
                                         .socket_path = argv[4],
                                         .context = argv[3],
                                         .state_size = sizeof(double),
                                         .init = begin,
                                         .step = paced_flow,
                                         .result = write_one,
                                         .stable = say_stable};
        hurry = argv[5];
        if (lbmap_steps(&heat, message, sizeof message) == LBMAP_OK)
            return 0;
    }
    fprintf(stderr, "heat_paced: %s\n", message);
    return 1;
}
