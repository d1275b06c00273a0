/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thinning: what is dark in an image becomes lines of one pixel (Zhang and Suen, Communications of the ACM
 * 27, 1984), a vertex a row of it. PNG in and out; on any number of hosts, through losses, the result is that
 * of one loop. Rows with more dark pixels cost more, and there are fewer of them after each step.
 *
 *     cc -O2 thinning.c $(pkg-config --cflags --libs lbmap libpng) -o thinning
 *     ./thinning sample 512 in.png                    # an image to begin with
 *     ./thinning graph in.png >image.graph            # a chain of rows; submit it as job "image"
 *     ./thinning run image in.png out.png [SOCKET [NS]]
 *     ./thinning alone in.png out.png                 # the same in one loop
 *
 * Every program reads in.png; the one at the host with the lowest number writes out.png. NS: every dark pixel
 * costs that many nanoseconds more, as it would on a slower machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <png.h>

#include <lbmap_steps.h>

enum { SIDE_MAX = 8192, DARK = 128 /* gray levels below it are dark */ };

/* A row is a byte a pixel, 1 if it is dark, and one more: nonzero if the last two steps have changed
 * something. */
struct image {
    uint32_t width, height;
    uint8_t *dark;  /* [width * height] as it is read */
    uint8_t *gray;  /* [width * height] the result */
    uint32_t *left; /* [height] dark pixels of each row when it was last computed here */
    const char *out;
    uint32_t nanoseconds;
    int unfinished; /* rows that the last two steps have changed */
};

static void
fail(const char *path, const char *why)
{
    fprintf(stderr, "thinning: %s: %s\n", path, why);
    exit(1);
}

static size_t
row_bytes(const struct image *image)
{
    return image->width + 1;
}

static void
begin(void *context, uint32_t row, void *state)
{
    const struct image *image = context;
    memcpy(state, image->dark + (size_t)row * image->width, image->width);
}

/* Whether a dark pixel goes. In: its neighbours, from the north clockwise; the second half of a round or the
 * first. */
static int
goes(const uint8_t around[8], int second)
{
    int dark = 0, turns = 0;
    for (int i = 0; i < 8; i++) {
        dark += around[i];
        turns += !around[i] && around[(i + 1) % 8];
    }
    int n = around[0], e = around[2], s = around[4], w = around[6];
    if (dark < 2 || dark > 6 || turns != 1)
        return 0;
    return second ? !(n && e && w) && !(n && s && w) : !(n && e && s) && !(e && s && w);
}

static int
at(const uint8_t *row, uint32_t column, uint32_t width) /* beyond the edge nothing is dark */
{
    return row != NULL && column < width ? row[column] : 0;
}

static void
thin(void *context, const struct lbmap_step *s, void *after)
{
    struct image *image = context;
    uint32_t width = image->width, left = 0;
    const uint8_t *own = s->state, *north = NULL, *south = NULL;
    uint8_t *next = after;
    int changed = 0;
    for (size_t i = 0; i < s->degree; i++)
        if (s->neighbour[i].vertex < s->vertex)
            north = s->neighbour[i].state;
        else
            south = s->neighbour[i].state;
    for (uint32_t j = 0; j < width; j++) {
        const uint8_t around[8] = {(uint8_t)at(north, j, width),   (uint8_t)at(north, j + 1, width),
                                   (uint8_t)at(own, j + 1, width), (uint8_t)at(south, j + 1, width),
                                   (uint8_t)at(south, j, width),   (uint8_t)at(south, j - 1, width),
                                   (uint8_t)at(own, j - 1, width), (uint8_t)at(north, j - 1, width)};
        next[j] = own[j] && !goes(around, s->step % 2);
        changed |= next[j] != own[j];
        left += next[j];
    }
    next[width] = (uint8_t)(changed | (own[width] & 1) << 1);
    image->left[s->vertex] = left;
    if (image->nanoseconds != 0) {
        const uint64_t pause = (uint64_t)left * image->nanoseconds;
        nanosleep(&(struct timespec){(time_t)(pause / 1000000000), (long)(pause % 1000000000)}, NULL);
    }
}

static double
cost(void *context, uint32_t row)
{
    return 1.0 + ((struct image *)context)->left[row];
}

/* ---- images
 * ------------------------------------------------------------------------------------------------- */

static void
read_image(const char *path, struct image *image)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    const png_color white = {255, 255, 255};
    if (!png_image_begin_read_from_file(&png, path))
        fail(path, png.message);
    if (png.width > SIDE_MAX || png.height > SIDE_MAX || png.height < 2)
        fail(path, "an image of 1 x 2 to 8192 x 8192 pixels is wanted");
    png.format = PNG_FORMAT_GRAY;
    image->width = png.width;
    image->height = png.height;
    size_t n = (size_t)png.width * png.height;
    image->dark = malloc(n);
    image->gray = malloc(n);
    image->left = calloc(png.height, sizeof *image->left);
    if (image->dark == NULL || image->gray == NULL || image->left == NULL)
        fail(path, "no memory for the image");
    if (!png_image_finish_read(&png, &white, image->dark, 0, NULL))
        fail(path, png.message);
    for (size_t i = 0; i < n; i++)
        image->dark[i] = image->dark[i] < DARK;
}

static void
write_image(const char *path, uint32_t width, uint32_t height, const uint8_t *gray)
{
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_GRAY};
    if (!png_image_write_to_file(&png, path, 0, gray, 0, NULL))
        fail(path, png.message);
}

/* Called for all rows, in order. */
static void
take_row(void *context, uint32_t row, const void *state, size_t size)
{
    struct image *image = context;
    const uint8_t *pixels = state;
    (void)size;
    if (row == 0)
        image->unfinished = 0;
    for (uint32_t j = 0; j < image->width; j++)
        image->gray[(size_t)row * image->width + j] = pixels[j] ? 0 : 255;
    image->unfinished += (pixels[image->width] & 3) != 0;
    if (row + 1 == image->height)
        write_image(image->out, image->width, image->height, image->gray);
}

/* Rings and bars, thick ones in the upper half and thin ones below. */
static void
draw_sample(uint32_t side, const char *path)
{
    uint8_t *gray = malloc((size_t)side * side);
    if (gray == NULL)
        fail(path, "no memory for the image");
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            double x = (double)j / side, y = (double)i / side, thick = y < 0.5 ? 0.05 : 0.008;
            double dx = x - 0.5, dy = y - (y < 0.5 ? 0.25 : 0.75), square = dx * dx + dy * dy;
            int ring = square < (0.18 + thick) * (0.18 + thick) && square > (0.18 - thick) * (0.18 - thick);
            int bar = (x > 0.1 - thick && x < 0.1 + thick) || (dy > -thick && dy < thick);
            gray[(size_t)i * side + j] = ring || bar ? 30 : 240;
        }
    write_image(path, side, side, gray);
    free(gray);
}

/* ---- the ways to run
 * ---------------------------------------------------------------------------------------- */

/* How far the innermost dark pixel is from what is not dark, in steps of a chess king. */
static uint32_t
deepest(const struct image *image)
{
    uint32_t w = image->width, h = image->height, most = 0;
    uint32_t *depth = calloc((size_t)w * h, sizeof *depth);
    if (depth == NULL)
        fail(image->out, "no memory for the image");
    for (uint32_t pass = 0; pass < 2; pass++) /* from the north-west, then from the south-east */
        for (uint32_t k = 0; k < w * h; k++) {
            uint32_t at_k = pass == 0 ? k : w * h - 1 - k, i = at_k / w, j = at_k % w, least = UINT32_MAX;
            if (!image->dark[at_k])
                continue;
            if (i == 0 || j == 0 || i + 1 == h || j + 1 == w) {
                depth[at_k] = 1;
                continue;
            }
            const uint32_t before[4] = {at_k - w - 1, at_k - w, at_k - w + 1, at_k - 1};
            const uint32_t behind[4] = {at_k + w + 1, at_k + w, at_k + w - 1, at_k + 1};
            for (int d = 0; d < 4; d++) {
                uint32_t other = depth[pass == 0 ? before[d] : behind[d]];
                least = other < least ? other : least;
            }
            if (pass == 0 || least + 1 < depth[at_k])
                depth[at_k] = least + 1;
        }
    for (uint32_t k = 0; k < w * h; k++)
        most = depth[k] > most ? depth[k] : most;
    free(depth);
    return most;
}

/* A round of two steps takes a pixel off all sides of what is dark. Some more, in which nothing should
 * change. */
static uint64_t
steps_of(const struct image *image)
{
    uint32_t depth = deepest(image);
    return 2 * (depth + depth / 4 + 4);
}

/* The steps of lbmap_steps over all rows, in one loop. */
static void
run_alone(struct image *image)
{
    size_t bytes = row_bytes(image);
    uint32_t h = image->height;
    uint8_t *now = calloc(h, bytes), *next = calloc(h, bytes);
    if (now == NULL || next == NULL)
        fail(image->out, "no memory for the rows");
    for (uint32_t r = 0; r < h; r++)
        begin(image, r, now + r * bytes);
    for (uint64_t s = 0, steps = steps_of(image); s < steps; s++) {
        for (uint32_t r = 0; r < h; r++) {
            struct lbmap_neighbour around[2];
            size_t n = 0;
            if (r > 0)
                around[n++] = (struct lbmap_neighbour){r - 1, 1, now + (r - 1) * bytes, bytes};
            if (r + 1 < h)
                around[n++] = (struct lbmap_neighbour){r + 1, 1, now + (r + 1) * bytes, bytes};
            thin(image,
                 &(struct lbmap_step){.vertex = r,
                                      .step = s,
                                      .state = now + r * bytes,
                                      .size = bytes,
                                      .neighbour = around,
                                      .degree = n},
                 next + r * bytes);
        }
        uint8_t *swap = now;
        now = next;
        next = swap;
    }
    for (uint32_t r = 0; r < h; r++)
        take_row(image, r, now + r * bytes, bytes);
    free(now);
    free(next);
}

static void
run_job(struct image *image, const char *job, const char *socket)
{
    char message[256];
    const struct lbmap_steps program = {.size = sizeof program,
                                        .job = job,
                                        .socket_path = socket,
                                        .steps = steps_of(image),
                                        .state_size = row_bytes(image),
                                        .context = image,
                                        .init = begin,
                                        .step = thin,
                                        .load = cost,
                                        .result = take_row};
    if (lbmap_steps(&program, message, sizeof message) != LBMAP_OK)
        fail(job, message);
}

/* A chain of rows, as METIS has it. */
static void
print_graph(uint32_t height)
{
    printf("%u %u\n", height, height - 1);
    for (uint32_t r = 1; r <= height; r++)
        if (r == 1 || r == height)
            printf("%u\n", r == 1 ? 2 : height - 1);
        else
            printf("%u %u\n", r - 1, r + 1);
}

int
main(int argc, char **argv)
{
    struct image image = {0};
    const char *how = argc > 1 ? argv[1] : "";
    if (argc == 4 && strcmp(how, "sample") == 0 && atoi(argv[2]) >= 16 && atoi(argv[2]) <= SIDE_MAX) {
        draw_sample((uint32_t)atoi(argv[2]), argv[3]);
    } else if (argc == 3 && strcmp(how, "graph") == 0) {
        read_image(argv[2], &image);
        print_graph(image.height);
    } else if (argc == 4 && strcmp(how, "alone") == 0) {
        read_image(argv[2], &image);
        image.out = argv[3];
        run_alone(&image);
    } else if (argc >= 5 && argc <= 7 && strcmp(how, "run") == 0) {
        read_image(argv[3], &image);
        image.out = argv[4];
        image.nanoseconds = argc == 7 ? (uint32_t)strtoul(argv[6], NULL, 10) : 0;
        run_job(&image, argv[2], argc >= 6 ? argv[5] : NULL);
    } else {
        fprintf(stderr, "usage: thinning sample SIDE OUT\n"
                        "       thinning graph IN\n"
                        "       thinning alone IN OUT\n"
                        "       thinning run JOB IN OUT [SOCKET [NS]]\n");
        return 2;
    }
    if (image.unfinished != 0)
        fprintf(stderr, "thinning: %d rows would change further\n", image.unfinished);
    free(image.dark);
    free(image.gray);
    free(image.left);
    return image.unfinished != 0;
}
