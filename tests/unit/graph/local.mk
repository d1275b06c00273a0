# tests/unit/graph
unit_graph_tests = tests/unit/graph/test_formats tests/unit/graph/test_generate tests/unit/graph/test_graph \
	tests/unit/graph/test_read
check_PROGRAMS += $(unit_graph_tests)
TESTS += $(unit_graph_tests)
graph_test_libs = lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(CMOCKA_LIBS)
tests_unit_graph_test_graph_SOURCES = tests/unit/graph/test_graph.c tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
tests_unit_graph_test_graph_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_graph_test_graph_LDADD = $(graph_test_libs)
tests_unit_graph_test_generate_SOURCES = tests/unit/graph/test_generate.c tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
tests_unit_graph_test_generate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_graph_test_generate_LDADD = $(graph_test_libs)
tests_unit_graph_test_formats_SOURCES = tests/unit/graph/test_formats.c tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
tests_unit_graph_test_formats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_graph_test_formats_LDADD = $(graph_test_libs) -lm
tests_unit_graph_test_read_SOURCES = tests/unit/graph/test_read.c tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
tests_unit_graph_test_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_graph_test_read_LDADD = $(graph_test_libs)
