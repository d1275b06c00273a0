# tests/unit/papers
# What the papers print: how numbers are judged; every number, computed.
unit_papers_tests = tests/unit/papers/test_mutants tests/unit/papers/test_tables
check_PROGRAMS += $(unit_papers_tests)
TESTS += $(unit_papers_tests)
tests_unit_papers_test_tables_SOURCES = tests/unit/papers/test_tables.c
tests_unit_papers_test_tables_LDADD = papers/libpapers.a lib/cli/libcli.a lib/file/libfile.a $(node_libs) \
	$(ZLIB_LIBS) $(ARCHIVE_LIBS) $(CMOCKA_LIBS)
# Pure libraries and tables in which mistakes can be planted (lib/base/mutants.h). Not installed.
check_LIBRARIES += papers/libmutants.a
papers_libmutants_a_SOURCES = $(lib_balance_libbalance_a_SOURCES) $(lib_host_libhost_a_SOURCES) \
	$(lib_space_libspace_a_SOURCES) $(lib_embed_libembed_a_SOURCES) $(papers_libpapers_a_SOURCES)
papers_libmutants_a_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_MUTANTS
papers_libmutants_a_CFLAGS = $(lib_host_libhost_a_CFLAGS)
tests_unit_papers_test_mutants_SOURCES = tests/unit/papers/test_mutants.c
tests_unit_papers_test_mutants_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_MUTANTS
tests_unit_papers_test_mutants_LDADD = papers/libmutants.a lib/cli/libcli.a lib/file/libfile.a $(node_libs) \
	$(ZLIB_LIBS) $(ARCHIVE_LIBS)
