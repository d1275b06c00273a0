# tests/unit/embed
# Embedding: the kernel; orders, renormalization, starts; pins; levels and pivots.
unit_embed_tests = tests/unit/embed/test_embed tests/unit/embed/test_multilevel tests/unit/embed/test_pins \
	tests/unit/embed/test_renormalize tests/unit/embed/test_rules
check_PROGRAMS += $(unit_embed_tests)
TESTS += $(unit_embed_tests)
embed_make = tests/unit/embed/embed_fixture.c tests/unit/embed/embed_fixture.h tests/unit/graph/graph_fixture.c \
	tests/unit/graph/graph_fixture.h
embed_test_libs = lib/embed/libembed.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(PLANARITY_LIBS) \
	$(CMOCKA_LIBS)
tests_unit_embed_test_embed_SOURCES = tests/unit/embed/test_embed.c $(embed_make)
tests_unit_embed_test_embed_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_embed_test_embed_LDADD = $(embed_test_libs)
tests_unit_embed_test_renormalize_SOURCES = tests/unit/embed/test_renormalize.c $(embed_make)
tests_unit_embed_test_renormalize_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_embed_test_renormalize_LDADD = $(embed_test_libs)
tests_unit_embed_test_pins_SOURCES = tests/unit/embed/test_pins.c tests/unit/embed/embed_fixture.c \
	tests/unit/embed/embed_fixture.h
tests_unit_embed_test_pins_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_embed_test_pins_LDADD = $(embed_test_libs)
tests_unit_embed_test_multilevel_SOURCES = tests/unit/embed/test_multilevel.c $(embed_make)
tests_unit_embed_test_multilevel_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_embed_test_multilevel_LDADD = $(embed_test_libs)
tests_unit_embed_test_rules_SOURCES = tests/unit/embed/test_rules.c $(embed_make)
tests_unit_embed_test_rules_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_embed_test_rules_LDADD = $(embed_test_libs)
