/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzz harnesses: one for each parser of bytes from outside. Each takes any bytes, asserts what the
 * parser promises, and returns nonzero if it accepted them.
 *
 * To add one: a file fuzz_NAME.c with its function, a row here, the file's name in Makefile.am, and a corpus
 * in tests/corpus/NAME of small files, by hand: what is called bad-* or hostile_* must be refused, the rest
 * accepted. tests/fuzz/test_corpus.c replays them with any compiler, tests/fuzz/fuzz.sh searches for more
 * with libFuzzer. */
#ifndef LBM_TESTS_FUZZ_HARNESSES_H
#define LBM_TESTS_FUZZ_HARNESSES_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_HARNESS_LIST(X)                                                                                 \
    X(enrol)                                                                                                 \
    X(frames)                                                                                                \
    X(hosts_capacities)                                                                                      \
    X(hosts_spec)                                                                                            \
    X(import_vt)                                                                                             \
    X(pki_certificate)                                                                                       \
    X(pki_lists)                                                                                             \
    X(pki_names)                                                                                             \
    X(pki_request)                                                                                           \
    X(read_csv)                                                                                              \
    X(read_dimacs)                                                                                           \
    X(read_edges)                                                                                            \
    X(read_gml)                                                                                              \
    X(read_gmsh)                                                                                             \
    X(read_graphml)                                                                                          \
    X(read_hosts)                                                                                            \
    X(read_matrix_market)                                                                                    \
    X(read_mesh)                                                                                             \
    X(read_metis)                                                                                            \
    X(read_pajek)                                                                                            \
    X(read_scotch)                                                                                           \
    X(read_trace)                                                                                            \
    X(settings)                                                                                              \
    X(wire_control)                                                                                          \
    X(wire_peer)

#define FUZZ_DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZ_HARNESS_LIST(FUZZ_DECLARE)
#undef FUZZ_DECLARE

#endif
