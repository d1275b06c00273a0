/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files as bytes: whole reads with size limits, compression, standard input, atomic writes. The one place
 * below the programs that touches the file system for graphs and hosts. */
#ifndef LBM_FILE_FILE_H
#define LBM_FILE_FILE_H

#include <stddef.h>

#include "base/err.h"
#include "graph/graph.h"
#include "graph/read.h"
#include "host/host.h"

/* Read a whole text; "-" is standard input; gzip, bzip2, xz and zstd are recognised by content and unpacked,
 * UTF-16 by its byte order mark and turned into UTF-8.
 * Out: *text owned by the caller (free), terminated, *len without the terminator.
 * Errors: LBM_E_NOTFOUND, LBM_E_DENIED, LBM_E_IO (a directory, unreadable, truncated or damaged compression),
 *         LBM_E_SYNTAX (a byte 0: not a text), LBM_E_LIMIT (more than LBM_FILE_BYTES_MAX), LBM_E_NOMEM. */
enum lbm_err lbm_file_read(const char *path, char **text, size_t *len, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Write atomically: a temporary file next to it, fsync, rename; "-" is standard output; a path that ends
 * in .gz, .bz2, .xz or .zst is compressed. On error the old file is unchanged. Its mode is kept, a symbolic
 * link stays one; pipes and devices are written through.  Errors: LBM_E_DENIED, LBM_E_IO, LBM_E_NOMEM. */
enum lbm_err lbm_file_write(const char *path, const char *text, size_t len,
                            struct lbm_diag *diag) LBM_MUST_CHECK;

/* Whether a file could be written there, before the work whose result it is to have; changes nothing.
 * Errors: those of lbm_file_write that can be foreseen. */
enum lbm_err lbm_file_writable(const char *path, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a guest graph. format LBM_FORMAT_COUNT: by suffix, METIS from standard input.
 * In:      reading (graph/reading.h); NULL: no options, and remarks are lost.
 * Errors:  LBM_E_UNSUPPORTED if the suffix is that of no format; those of the file and of the format. */
enum lbm_err lbm_file_graph(const char *path, enum lbm_graph_format format, struct lbm_reading *reading,
                            struct lbm_graph *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* The format that a path asks for: that of its suffix, METIS for "-".
 * Errors: LBM_E_UNSUPPORTED with the names of all formats; option: what names one, for the message. */
enum lbm_err lbm_file_graph_format(const char *path, const char *option, enum lbm_graph_format *format,
                                   struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a part of one (lbm_graph_parse_part). */
enum lbm_err lbm_file_graph_part(const char *path, struct lbm_graph_part *part, struct lbm_graph *out,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

/* Host graph of any spec of docs/formats.md ("Host graphs"). Behind it may stand @cap=FILE and @names=FILE,
 * and behind file:PATH also @nodes=LIST, @topology=NAME and @island=COST (struct lbm_hosts_reading). */
enum lbm_err lbm_file_hosts(const char *spec, struct lbm_hosts *out, struct lbm_diag *diag) LBM_MUST_CHECK;

/* Give hosts the names of a file (lbm_hosts_parse_names). */
enum lbm_err lbm_file_host_names(const char *path, struct lbm_hosts *hosts,
                                 struct lbm_diag *diag) LBM_MUST_CHECK;

/* Read a mapping: one host id a line (part), perhaps with the name of the vertex behind it; or a Scotch .map,
 * recognised by its count line and pairs.
 * In: the guest, n_hosts. Out: part [n] owned by the caller. Every vertex exactly once. */
enum lbm_err lbm_file_map(const char *path, const struct lbm_graph *g, uint32_t n_hosts, uint32_t **part,
                          struct lbm_diag *diag) LBM_MUST_CHECK;

/* crc32 of bytes that follow others. In: before: of those; 0: none. */
uint32_t lbm_checksum(uint32_t before, const void *bytes, size_t len);

/* The same of a file. Errors: LBM_E_NOTFOUND, LBM_E_IO. */
enum lbm_err lbm_file_checksum(const char *path, uint32_t *out, struct lbm_diag *diag) LBM_MUST_CHECK;

#endif
