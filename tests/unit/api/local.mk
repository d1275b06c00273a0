# tests/unit/api
unit_api_tests = tests/unit/api/test_api tests/unit/api/test_lease_page tests/unit/api/test_serve \
	tests/unit/api/test_send tests/unit/api/test_letters tests/unit/api/test_sketch tests/unit/api/test_steps \
	tests/unit/api/test_steps_line tests/unit/api/test_steps_export tests/unit/api/test_steps_vertices \
	tests/unit/api/test_checkpoint tests/unit/api/test_steps_end
check_PROGRAMS += $(unit_api_tests)
TESTS += $(unit_api_tests)
tests_unit_api_test_api_SOURCES = tests/unit/api/test_api.c
tests_unit_api_test_api_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_api_test_api_LDADD = liblbmap.la lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a \
	$(PROTOBUF_LIBS) $(CMOCKA_LIBS)
unit_api_scene = tests/unit/api/scene.c tests/unit/api/scene.h tests/unit/api/fake_daemon.c \
	tests/unit/api/fake_daemon.h daemon/lease_page.c
tests_unit_api_test_serve_SOURCES = tests/unit/api/test_serve.c $(unit_api_scene)
tests_unit_api_test_serve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS) -pthread
tests_unit_api_test_serve_LDADD = $(tests_unit_api_test_api_LDADD)
tests_unit_api_test_lease_page_SOURCES = tests/unit/api/test_lease_page.c daemon/lease_page.c
tests_unit_api_test_lease_page_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_api_test_lease_page_LDADD = lib/wire/libwire.a lib/base/libbase.a $(CMOCKA_LIBS)
tests_unit_api_test_sketch_SOURCES = tests/unit/api/test_sketch.c lib/api/sketch.c lib/api/sketch.h
tests_unit_api_test_sketch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_api_test_sketch_LDADD = $(CMOCKA_LIBS) -lm
tests_unit_api_test_send_SOURCES = tests/unit/api/test_send.c $(unit_api_scene)
tests_unit_api_test_send_CFLAGS = $(tests_unit_api_test_serve_CFLAGS)
tests_unit_api_test_send_LDADD = $(tests_unit_api_test_api_LDADD)
tests_unit_api_test_checkpoint_SOURCES = tests/unit/api/test_checkpoint.c $(unit_api_scene)
tests_unit_api_test_checkpoint_CFLAGS = $(tests_unit_api_test_serve_CFLAGS)
tests_unit_api_test_checkpoint_LDADD = $(tests_unit_api_test_api_LDADD)
tests_unit_api_test_steps_end_SOURCES = tests/unit/api/test_steps_end.c $(unit_api_scene)
tests_unit_api_test_steps_end_CFLAGS = $(tests_unit_api_test_serve_CFLAGS)
tests_unit_api_test_steps_end_LDADD = $(tests_unit_api_test_api_LDADD)
tests_unit_api_test_steps_SOURCES = tests/unit/api/test_steps.c
tests_unit_api_test_steps_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_api_test_steps_LDADD = liblbmap.la $(CMOCKA_LIBS)
tests_unit_api_test_letters_SOURCES = tests/unit/api/test_letters.c lib/api/letters_desk.c lib/api/letters.h
tests_unit_api_test_letters_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_api_test_letters_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)
$(tests_unit_api_test_api_OBJECTS) $(tests_unit_api_test_serve_OBJECTS) \
	$(tests_unit_api_test_send_OBJECTS) $(tests_unit_api_test_checkpoint_OBJECTS) \
	$(tests_unit_api_test_steps_end_OBJECTS): $(pb_headers)
tests_unit_api_test_steps_line_SOURCES = tests/unit/api/test_steps_line.c lib/api/steps_line.c \
	lib/api/steps_seen.c lib/api/steps.h
tests_unit_api_test_steps_line_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_api_test_steps_line_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)
$(tests_unit_api_test_steps_line_OBJECTS): $(pb_headers)
tests_unit_api_test_steps_export_SOURCES = tests/unit/api/test_steps_export.c tests/unit/api/steps_elsewhere.c \
	lib/api/steps_export.c \
	lib/api/steps_line.c lib/api/steps_seen.c lib/api/steps.h
tests_unit_api_test_steps_export_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_api_test_steps_export_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)
$(tests_unit_api_test_steps_export_OBJECTS): $(pb_headers)
tests_unit_api_test_steps_vertices_SOURCES = tests/unit/api/test_steps_vertices.c \
	tests/unit/api/steps_elsewhere.c lib/api/steps_vertices.c \
	lib/api/steps_export.c lib/api/steps_line.c lib/api/steps_seen.c lib/api/steps.h
tests_unit_api_test_steps_vertices_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_api_test_steps_vertices_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)
$(tests_unit_api_test_steps_vertices_OBJECTS): $(pb_headers)
