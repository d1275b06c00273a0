/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/file: whole reads, compressed or not, atomic writes, and mappings. Works in a directory of its own. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "file/file.h"
#include "tests/unit/graph/graph_fixture.h"

static struct lbm_diag diag;
static char directory[] = "/tmp/lbmap-test-file-XXXXXX";

/* Enter a new directory; everything after is relative to it. */
static int
enter_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int
leave_directory(void **state)
{
    (void)state;
    static const char *const left[] = {"a",    "b",       "a.gz",       "b.gz",  "link",
                                       "fifo", "g.graph", "g.graph.gz", "map",   "caps",
                                       "p.gz", "p.bz2",   "p.xz",       "p.zst", "u"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        (void)!unlink(left[i]);
    return chdir("/") != 0 || rmdir(directory) != 0; /* also fails if a temporary file was left */
}

static void
put(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The bytes of a file as they are, owned by the caller. */
static char *
take(const char *path, size_t *len)
{
    enum { BYTES_MAX = 1 << 20 };
    char *bytes = malloc(BYTES_MAX);
    FILE *file = fopen(path, "rb");
    assert_true(bytes != NULL && file != NULL);
    *len = fread(bytes, 1, BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static void
assert_holds(const char *path, const char *expected, size_t expected_len)
{
    char *text;
    size_t len;
    if (lbm_file_read(path, &text, &len, &diag) != LBM_OK)
        fail_msg("%s: %s", path, diag.text);
    assert_int_equal(len, expected_len);
    assert_memory_equal(text, expected, len);
    assert_int_equal(text[len], '\0');
    free(text);
}

/* A text that compresses badly, longer than every buffer. */
static char *
long_text(size_t len)
{
    struct lbm_rng rng;
    char *text = malloc(len);
    assert_non_null(text);
    lbm_rng_seed(&rng, 1);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('0' + lbm_rng_below(&rng, 10));
    return text;
}

static void
texts_of_all_sizes_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 4095, 65535, 65536, 65537, 1000000};
    char *text = long_text(1000000);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(lbm_file_write("a", text, sizes[i], &diag), LBM_OK);
        assert_holds("a", text, sizes[i]);
        assert_int_equal(lbm_file_write("a.gz", text, sizes[i], &diag), LBM_OK);
        assert_holds("a.gz", text, sizes[i]);
    }
    struct stat info;
    assert_int_equal(stat("a.gz", &info), 0);
    assert_true(info.st_size < 600000);
    free(text);
}

static void
gzip_is_known_by_content_and_may_have_members(void **state)
{
    (void)state;
    char both[400];
    size_t len = 0;
    assert_int_equal(lbm_file_write("a.gz", "one ", 4, &diag), LBM_OK);
    assert_int_equal(lbm_file_write("b.gz", "two", 3, &diag), LBM_OK);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i == 0 ? "a.gz" : "b.gz", "rb");
        assert_non_null(file);
        len += fread(both + len, 1, sizeof both - len, file);
        fclose(file);
    }
    put("a", both, len);
    assert_holds("a", "one two", 7);
    put("b.gz", "plain\n", 6);
    assert_holds("b.gz", "plain\n", 6);
}

static void
damaged_gzip_is_refused(void **state)
{
    (void)state;
    char *text = long_text(10000), packed[10000];
    assert_int_equal(lbm_file_write("a.gz", text, 10000, &diag), LBM_OK);
    FILE *file = fopen("a.gz", "rb");
    assert_non_null(file);
    size_t len = fread(packed, 1, sizeof packed, file);
    fclose(file);
    char *out;
    for (size_t cut = 2; cut < len; cut = cut < 30 ? cut + 1 : cut + 501) {
        put("b.gz", packed, cut);
        assert_int_equal(lbm_file_read("b.gz", &out, &(size_t){0}, &diag), LBM_E_IO);
        assert_non_null(strstr(diag.text, "truncated"));
    }
    packed[len / 2] ^= 0x55;
    put("b.gz", packed, len);
    assert_int_equal(lbm_file_read("b.gz", &out, &(size_t){0}, &diag), LBM_E_IO);
    packed[len / 2] ^= 0x55;
    packed[len - 6] ^= 1; /* the checksum */
    put("b.gz", packed, len);
    assert_int_equal(lbm_file_read("b.gz", &out, &(size_t){0}, &diag), LBM_E_IO);
    assert_non_null(strstr(diag.text, "damaged"));
    packed[len - 6] ^= 1;
    memcpy(packed + len, "rubbish", 7);
    put("b.gz", packed, len + 7);
    assert_int_equal(lbm_file_read("b.gz", &out, &(size_t){0}, &diag), LBM_E_IO);
    free(text);
}

static void
what_is_no_text_is_refused(void **state)
{
    (void)state;
    char *text;
    size_t len;
    assert_int_equal(lbm_file_read("missing", &text, &len, &diag), LBM_E_NOTFOUND);
    assert_string_equal(diag.where, "missing");
    assert_int_equal(lbm_file_read(".", &text, &len, &diag), LBM_E_IO);
    assert_non_null(strstr(diag.text, "directory"));
    put("a", "text\0text", 9);
    assert_int_equal(lbm_file_read("a", &text, &len, &diag), LBM_E_SYNTAX);
    assert_non_null(strstr(diag.text, "byte 4"));
    put("a", "x", 1);
    assert_int_equal(chmod("a", 0), 0);
    if (geteuid() != 0)
        assert_int_equal(lbm_file_read("a", &text, &len, &diag), LBM_E_DENIED);
    assert_int_equal(chmod("a", 0600), 0);
}

static void
every_compression_comes_back(void **state)
{
    (void)state;
    static const char *const paths[] = {"p.gz", "p.bz2", "p.xz", "p.zst"};
    static char text[300000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(' ' + i * i % 90);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        static const size_t sizes[] = {0, 1, sizeof text};
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            char *back, *packed;
            size_t len, packed_len;
            assert_int_equal(lbm_file_write(paths[i], text, sizes[k], &diag), LBM_OK);
            if (lbm_file_read(paths[i], &back, &len, &diag) != LBM_OK)
                fail_msg("%s: %s", paths[i], diag.text);
            assert_int_equal(len, sizes[k]);
            assert_memory_equal(back, text, len);
            free(back);
            packed = take(paths[i], &packed_len);
            assert_true(sizes[k] < 1000 || packed_len < len / 2);
            /* One that was cut, or has a byte changed, is refused. */
            put(paths[i], packed, packed_len / 2 + 4);
            assert_int_equal(lbm_file_read(paths[i], &back, &len, &diag), LBM_E_IO);
            if (sizes[k] > 1000 && i + 1 < sizeof paths / sizeof paths[0]) { /* zstd has no checksum here */
                packed[packed_len / 2] ^= 0x55;
                put(paths[i], packed, packed_len);
                assert_int_equal(lbm_file_read(paths[i], &back, &len, &diag), LBM_E_IO);
            }
            free(packed);
        }
    }
}

static void
utf16_becomes_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *text; /* NULL: refused */
    } cases[] = {{"\xff\xfe"
                  "a\0\xe4\0\n\0",
                  8, "a\xc3\xa4\n"},
                 {"\xfe\xff\0a\x20\xac", 6, "a\xe2\x82\xac"},
                 {"\xff\xfe\x3d\xd8\x00\xde", 6, "\xf0\x9f\x98\x80"},
                 {"\xff\xfe", 2, ""},
                 {"\xff\xfe"
                  "a",
                  3, NULL},
                 {"\xff\xfe\x3d\xd8", 4, NULL},
                 {"\xff\xfe\x3d\xd8"
                  "a\0",
                  6, NULL},
                 {"\xff\xfe\x00\xde", 4, NULL},
                 {"\xff\xfe"
                  "a\0\0\0",
                  6, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text;
        size_t len;
        put("u", cases[i].bytes, cases[i].len);
        enum lbm_err err = lbm_file_read("u", &text, &len, &diag);
        assert_int_equal(err, cases[i].text != NULL ? LBM_OK : LBM_E_SYNTAX);
        if (err != LBM_OK)
            continue;
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void
pipes_are_read_to_their_end(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "2 1\n2\n1\n", 8), 8);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    struct lbm_graph g;
    enum lbm_err err = lbm_file_graph("-", LBM_FORMAT_COUNT, NULL, &g, &diag);
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(err, LBM_OK);
    assert_int_equal(g.n, 2);
    lbm_graph_free(&g);
}

/* ---- writing ------------------------------------------------------------------------------------- */

static void
a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    assert_int_equal(lbm_file_writable("missing/a", &diag), LBM_E_NOTFOUND);
    assert_int_equal(lbm_file_writable(".", &diag), LBM_E_IO);
    assert_int_equal(lbm_file_writable("/dev/full", &diag), LBM_OK);
    assert_int_equal(lbm_file_write("missing/a", "new", 3, &diag), LBM_E_NOTFOUND);
    assert_int_equal(lbm_file_write(".", "new", 3, &diag), LBM_E_IO);
    assert_int_equal(lbm_file_write("/dev/full", "new", 3, &diag), LBM_E_IO);
    put("a", "old", 3);
    assert_int_equal(chmod(".", 0500), 0);
    enum lbm_err err = lbm_file_write("a", "new", 3, &diag);
    assert_int_equal(chmod(".", 0700), 0);
    assert_int_equal(err, geteuid() != 0 ? LBM_E_DENIED : LBM_OK);
    assert_holds("a", err == LBM_OK ? "new" : "old", 3);
}

static void
mode_and_symbolic_link_survive(void **state)
{
    (void)state;
    struct stat info;
    put("a", "old", 3);
    assert_int_equal(chmod("a", 0640), 0);
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(lbm_file_write("link", "new", 3, &diag), LBM_OK);
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat("a", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_holds("a", "new", 3);
}

static void
a_new_file_follows_the_umask(void **state)
{
    (void)state;
    struct stat info;
    mode_t old = umask(027);
    (void)!unlink("b");
    enum lbm_err err = lbm_file_write("b", "x", 1, &diag);
    umask(old);
    assert_int_equal(err, LBM_OK);
    assert_int_equal(stat("b", &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

static void
devices_and_pipes_are_written_through(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(lbm_file_write("/dev/null", "x", 1, &diag), LBM_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void
the_same_text_compresses_to_the_same_bytes(void **state)
{
    (void)state;
    char first[200], again[200];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lbm_file_write("a.gz", "2 1\n2\n1\n", 8, &diag), LBM_OK);
        FILE *file = fopen("a.gz", "rb");
        assert_non_null(file);
        size_t len = fread(i == 0 ? first : again, 1, 200, file);
        fclose(file);
        assert_true(len > 0);
        if (i == 1)
            assert_memory_equal(first, again, len);
    }
}

/* ---- graphs, hosts, mappings --------------------------------------------------------------------- */

static void
graphs_are_read_by_suffix_and_format(void **state)
{
    (void)state;
    struct lbm_graph g;
    assert_int_equal(lbm_file_write("g.graph.gz", "2 1\n2\n1\n", 8, &diag), LBM_OK);
    assert_int_equal(lbm_file_graph("g.graph.gz", LBM_FORMAT_COUNT, NULL, &g, &diag), LBM_OK);
    lbm_graph_free(&g);
    put("a", "0 1\n1 2\n", 8);
    assert_int_equal(lbm_file_graph("a", LBM_FORMAT_COUNT, NULL, &g, &diag), LBM_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "--from with one of metis, "));
    assert_int_equal(lbm_file_graph("a", LBM_FORMAT_EDGES, NULL, &g, &diag), LBM_OK);
    assert_int_equal(g.n, 3);
    lbm_graph_free(&g);
}

static void
hosts_come_from_specs_and_files_with_capacities(void **state)
{
    (void)state;
    struct lbm_hosts h;
    assert_int_equal(lbm_file_hosts("mesh:2x2", &h, &diag), LBM_OK);
    assert_int_equal(h.n, 4);
    lbm_hosts_free(&h);
    put("g.graph", "3 2\n2\n1 3\n2\n", 12);
    put("caps", "1 2 4.5\n", 8);
    assert_int_equal(lbm_file_hosts("file:g.graph@cap=caps", &h, &diag), LBM_OK);
    assert_int_equal(h.n, 3);
    assert_true(h.capacity[2] == 4.5);
    lbm_hosts_free(&h);
    assert_int_equal(lbm_file_hosts("file:missing", &h, &diag), LBM_E_NOTFOUND);
    assert_int_not_equal(lbm_file_hosts("mesh:2x2@cap=caps", &h, &diag), LBM_OK);
    assert_int_equal(lbm_file_hosts("live", &h, &diag), LBM_E_UNSUPPORTED);
    assert_int_not_equal(lbm_file_hosts("", &h, &diag), LBM_OK);
}

static void
assert_map(const char *text, uint32_t n, enum lbm_err err, uint64_t line)
{
    uint32_t *part = NULL;
    put("map", text, strlen(text));
    const struct lbm_graph g = {.n = n};
    enum lbm_err got = lbm_file_map("map", &g, 3, &part, &diag);
    if (got != err || (err != LBM_OK && diag.line != line))
        fail_msg("%s: %s, line %llu: %s", text, lbm_err_name(got), (unsigned long long)diag.line, diag.text);
    for (uint32_t v = 0; v < n && got == LBM_OK; v++)
        assert_int_equal(part[v], v % 3);
    free(part);
}

static void
mappings_are_read_as_part_and_as_scotch(void **state)
{
    (void)state;
    assert_map("0\n1\n2\n0\n", 4, LBM_OK, 0);
    assert_map("% c\r\n0\r\n\r\n1\r\n2\r\n0", 4, LBM_OK, 0);
    assert_map("4\n0\t0\n1\t1\n2\t2\n3\t0\n", 4, LBM_OK, 0);
    assert_map("4\n3 0\n0 0\n2 2\n1 1\n", 4, LBM_OK, 0);
    assert_map("4\n1 0\n2 1\n3 2\n4 0\n", 4, LBM_OK, 0); /* numbered from 1 */
    assert_map("", 0, LBM_OK, 0);
    assert_map("0\n", 0, LBM_OK, 0);
    assert_map("0\n", 1, LBM_OK, 0);
    assert_map("1\n0 0\n", 1, LBM_OK, 0);
}

static void
wrong_mappings_are_refused_with_their_line(void **state)
{
    (void)state;
    assert_map("0\n1\n2\n", 4, LBM_E_SYNTAX, 4);
    assert_map("0\n1\n2\n0\n1\n", 4, LBM_E_SYNTAX, 5);
    assert_map("0\n1\n3\n0\n", 4, LBM_E_RANGE, 3);
    assert_map("0\n-1\n", 2, LBM_E_RANGE, 2);
    assert_map("0\nx\n", 2, LBM_E_SYNTAX, 2);
    assert_map("0 1\n1\n", 2, LBM_E_SYNTAX, 1);
    assert_map("2\n0 0\n0 1\n", 2, LBM_E_SYNTAX, 3);
    assert_map("3\n0 0\n1 1\n3 2\n", 3, LBM_E_SYNTAX, 5);
    assert_map("2\n0 0\n1 3\n", 2, LBM_E_RANGE, 3);
    assert_map("2\n0 0\n", 2, LBM_E_SYNTAX, 3);
    assert_map("2\n0 0\n1 1\n1 1\n", 2, LBM_E_SYNTAX, 4);
    assert_map("1\n", 0, LBM_E_SYNTAX, 1);
}

/* The reference graphs stand next to the source tree; they are not part of it. */
static void
reference_graphs_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t n;
        uint64_t edges;
    } graphs[] = {
        {"3elt", 4720, 13722},
        {"4elt", 15606, 45878},
        {"add32", 4960, 9462},
        {"bcsstk33", 8738, 291583},
        {"cti", 16840, 48232},
        {"data", 2851, 15093},
        {"uk", 4824, 6837},
        {"whitaker3", 9800, 28989},
        {"wing_nodal", 10937, 75488},
        {"delaunay_n15", 32768, 98274},
        {"rgg_n_2_15_s0", 32768, 160240},
    };
    const char *top = getenv("top_srcdir");
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++) {
        char path[4096];
        struct lbm_graph g;
        snprintf(path, sizeof path, "%s/../shared/graphs/%s.graph.gz", top != NULL ? top : "",
                 graphs[i].name);
        if (top == NULL || access(path, R_OK) != 0) {
            print_message("skip: %s is not there\n", path);
            skip();
        }
        if (lbm_file_graph(path, LBM_FORMAT_COUNT, NULL, &g, &diag) != LBM_OK)
            fail_msg("%s:%llu: %s", path, (unsigned long long)diag.line, diag.text);
        assert_int_equal(g.n, graphs[i].n);
        assert_int_equal(lbm_graph_directions(&g), 2 * graphs[i].edges);
        lbm_graph_free(&g);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_sizes_come_back),
        cmocka_unit_test(gzip_is_known_by_content_and_may_have_members),
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(every_compression_comes_back),
        cmocka_unit_test(utf16_becomes_utf8),
        cmocka_unit_test(pipes_are_read_to_their_end),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(mode_and_symbolic_link_survive),
        cmocka_unit_test(a_new_file_follows_the_umask),
        cmocka_unit_test(devices_and_pipes_are_written_through),
        cmocka_unit_test(the_same_text_compresses_to_the_same_bytes),
        cmocka_unit_test(graphs_are_read_by_suffix_and_format),
        cmocka_unit_test(hosts_come_from_specs_and_files_with_capacities),
        cmocka_unit_test(mappings_are_read_as_part_and_as_scotch),
        cmocka_unit_test(wrong_mappings_are_refused_with_their_line),
        cmocka_unit_test(reference_graphs_are_read),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
