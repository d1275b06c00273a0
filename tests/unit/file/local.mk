# tests/unit/file
unit_file_tests = tests/unit/file/test_file
check_PROGRAMS += $(unit_file_tests)
TESTS += $(unit_file_tests)
tests_unit_file_test_file_SOURCES = tests/unit/file/test_file.c tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
tests_unit_file_test_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(ZLIB_CFLAGS)
tests_unit_file_test_file_LDADD = lib/file/libfile.a lib/host/libhost.a $(graph_test_libs) $(host_libs) \
	$(ZLIB_LIBS) $(ARCHIVE_LIBS)
