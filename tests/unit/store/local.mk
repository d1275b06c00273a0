# tests/unit/store
unit_store_tests = tests/unit/store/test_store tests/unit/store/test_store_crash \
	tests/unit/store/test_store_boot tests/unit/store/test_store_damage tests/unit/store/test_store_power
check_PROGRAMS += $(unit_store_tests)
TESTS += $(unit_store_tests)
check_PROGRAMS += tests/unit/store/store_writer
check_LTLIBRARIES += tests/unit/store/failing_calls.la
store_test_libs = lib/store/libstore.a lib/node/libnode.a lib/base/libbase.a $(SQLITE_LIBS) \
	$(NETTLE_LIBS) $(ZLIB_LIBS) \
	$(CMOCKA_LIBS)
store_test_sources = tests/unit/store/store_fixture.c tests/unit/store/store_model.c \
	tests/unit/store/store_model.h
tests_unit_store_test_store_SOURCES = tests/unit/store/test_store.c $(store_test_sources)
tests_unit_store_test_store_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_store_test_store_LDADD = $(store_test_libs)
tests_unit_store_test_store_boot_SOURCES = tests/unit/store/test_store_boot.c tests/unit/store/power_vfs.c \
	tests/unit/store/power_vfs.h $(store_test_sources)
tests_unit_store_test_store_boot_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_store_test_store_boot_LDADD = $(store_test_libs)
tests_unit_store_test_store_crash_SOURCES = tests/unit/store/test_store_crash.c $(store_test_sources)
tests_unit_store_test_store_crash_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_store_test_store_crash_LDADD = $(store_test_libs)
tests_unit_store_test_store_damage_SOURCES = tests/unit/store/test_store_damage.c $(store_test_sources)
tests_unit_store_test_store_damage_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_store_test_store_damage_LDADD = $(store_test_libs)
tests_unit_store_test_store_power_SOURCES = tests/unit/store/test_store_power.c tests/unit/store/power_vfs.c \
	tests/unit/store/power_vfs.h $(store_test_sources)
tests_unit_store_test_store_power_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_store_test_store_power_LDADD = $(store_test_libs)
tests_unit_store_store_writer_SOURCES = tests/unit/store/store_writer.c
tests_unit_store_store_writer_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
tests_unit_store_store_writer_LDADD = $(store_test_libs)
# Loaded before the C library, never installed: the rpath makes it a shared module.
tests_unit_store_failing_calls_la_SOURCES = tests/unit/store/failing_calls.c
tests_unit_store_failing_calls_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
