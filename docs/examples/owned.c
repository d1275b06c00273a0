/* SPDX-License-Identifier: GPL-3.0-or-later */
/* owned: print the vertices of a job that this host owns, one "vertex token" a line; on standard error,
 * how many they are and where vertex 0 is.
 *
 *     cc owned.c $(pkg-config --cflags --libs lbmap) -o owned
 *     ./owned airfoil [SOCKET]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <lbmap.h>

static int
failed(struct lbmap *map, const char *what, enum lbmap_error error)
{
    const char *why =
        map != NULL && lbmap_message(map)[0] != '\0' ? lbmap_message(map) : lbmap_strerror(error);
    fprintf(stderr, "owned: %s: %s\n", what, why);
    lbmap_close(map);
    return 1;
}

int
main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: owned JOB [SOCKET]\n");
        return 2;
    }
    struct lbmap *map = NULL;
    enum lbmap_error error = lbmap_open(argc == 3 ? argv[2] : NULL, &map);
    if (error != LBMAP_OK)
        return failed(NULL, "cannot reach the daemon", error);
    if ((error = lbmap_attach(map, argv[1])) != LBMAP_OK)
        return failed(map, argv[1], error);

    struct lbmap_vertex *mine;
    size_t n;
    if ((error = lbmap_owned(map, &mine, &n)) != LBMAP_OK)
        return failed(map, argv[1], error);

    const uint32_t first = 0;
    uint32_t host;
    if ((error = lbmap_locate(map, &first, 1, &host, NULL)) != LBMAP_OK) {
        free(mine);
        return failed(map, argv[1], error);
    }
    for (size_t i = 0; i < n; i++)
        printf("%" PRIu32 " %" PRIu64 "\n", mine[i].id, mine[i].token);
    fprintf(stderr, "host %" PRIu32 " owns %zu of %" PRIu32 " vertices\n", lbmap_host(map), n,
            lbmap_vertices(map));
    if (host == LBMAP_NOWHERE)
        fprintf(stderr, "vertex 0 is being handed over\n");
    else
        fprintf(stderr, "vertex 0 is on host %" PRIu32 "\n", host);
    free(mine);
    lbmap_close(map);
    return 0;
}
