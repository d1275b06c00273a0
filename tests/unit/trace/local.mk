# tests/unit/trace
# Graphs and files.
unit_trace_tests = tests/unit/trace/test_trace
check_PROGRAMS += $(unit_trace_tests)
TESTS += $(unit_trace_tests)
tests_unit_trace_test_trace_SOURCES = tests/unit/trace/test_trace.c
tests_unit_trace_test_trace_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_trace_test_trace_LDADD = lib/trace/libtrace.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) \
	$(CMOCKA_LIBS)
