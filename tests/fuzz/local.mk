# tests/fuzz
# Harnesses for readers of outside bytes, and their corpora. A harness is a word here and what
# tests/fuzz/harnesses.h says.
fuzz_tests = tests/fuzz/test_corpus
check_PROGRAMS += $(fuzz_tests)
TESTS += $(fuzz_tests)
EXTRA_DIST += tests/corpus tests/fuzz/fuzz.sh
fuzz_harnesses = tests/fuzz/harnesses.h tests/fuzz/read.h tests/fuzz/fuzz_enrol.c tests/fuzz/fuzz_frames.c \
	tests/fuzz/fuzz_pki_certificate.c tests/fuzz/fuzz_pki_lists.c tests/fuzz/fuzz_pki_names.c \
	tests/fuzz/fuzz_pki_request.c tests/fuzz/fuzz_settings.c tests/fuzz/fuzz_hosts_capacities.c \
	tests/fuzz/fuzz_hosts_spec.c tests/fuzz/fuzz_read_csv.c tests/fuzz/fuzz_read_dimacs.c \
	tests/fuzz/fuzz_read_gml.c tests/fuzz/fuzz_read_gmsh.c tests/fuzz/fuzz_read_mesh.c \
	tests/fuzz/fuzz_read_pajek.c tests/fuzz/fuzz_import_vt.c tests/fuzz/fuzz_read_edges.c \
	tests/fuzz/fuzz_read_graphml.c tests/fuzz/fuzz_read_hosts.c tests/fuzz/fuzz_read_matrix_market.c \
	tests/fuzz/fuzz_read_metis.c tests/fuzz/fuzz_read_scotch.c tests/fuzz/fuzz_read_trace.c \
	tests/fuzz/fuzz_wire_control.c tests/fuzz/fuzz_wire_peer.c
fuzz_libs = sim/libexperiment.a lib/import/libimport.a lib/trace/libtrace.a daemon/libdaemon.a \
	lib/pki/libpki.a lib/node/libnode.a \
	lib/wire/libwire.a lib/wire/libpb.a lib/file/libfile.a lib/host/libhost.a \
	lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(host_libs) $(NETTLE_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) \
	$(PROTOBUF_LIBS) $(JANSSON_LIBS) \
	$(EVENT_LIBS) $(OPENSSL_LIBS) $(CONFIG_LIBS) $(SYSTEMD_LIBS)
tests_fuzz_test_corpus_SOURCES = tests/fuzz/test_corpus.c $(fuzz_harnesses)
tests_fuzz_test_corpus_CFLAGS = $(daemon_cflags) $(CMOCKA_CFLAGS)
tests_fuzz_test_corpus_LDADD = $(fuzz_libs) $(CMOCKA_LIBS)
if FUZZERS
check_PROGRAMS += tests/fuzz/fuzzer
tests_fuzz_fuzzer_SOURCES = tests/fuzz/main.c $(fuzz_harnesses)
tests_fuzz_fuzzer_CFLAGS = $(daemon_cflags)
tests_fuzz_fuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzzer_LDADD = $(fuzz_libs)
endif
$(tests_fuzz_test_corpus_OBJECTS) $(tests_fuzz_fuzzer_OBJECTS): $(pb_headers)
