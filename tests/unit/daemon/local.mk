# tests/unit/daemon
# The daemon: its parts in one process, then the whole.
unit_daemon_tests = tests/unit/daemon/test_control tests/unit/daemon/test_effects tests/unit/daemon/test_etcd \
	tests/unit/daemon/test_etcd_real \
	tests/unit/daemon/test_plan_worker tests/unit/daemon/test_processor_share tests/unit/daemon/test_remote \
	tests/unit/daemon/test_programs tests/unit/daemon/test_sandbox tests/unit/daemon/test_settings \
	tests/unit/daemon/test_store_worker \
	tests/unit/daemon/test_supervisor \
	tests/unit/daemon/test_transport
check_PROGRAMS += $(unit_daemon_tests)
TESTS += $(unit_daemon_tests)
daemon_test_cflags = $(daemon_cflags) $(CMOCKA_CFLAGS)
daemon_test_libs = daemon/libdaemon.a lib/file/libfile.a lib/threads/libthreads.a lib/store/libstore.a \
	lib/pki/libpki.a \
	lib/node/libnode.a lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a $(CURL_LIBS) $(JANSSON_LIBS) \
	$(SQLITE_LIBS) $(NETTLE_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) $(EVENT_SSL_LIBS) $(EVENT_LIBS) \
	$(OPENSSL_LIBS) $(CONFIG_LIBS) \
	$(PROTOBUF_LIBS) \
	$(SYSTEMD_LIBS) $(SECCOMP_LIBS) $(CMOCKA_LIBS)
tests_unit_daemon_test_programs_SOURCES = tests/unit/daemon/test_programs.c
tests_unit_daemon_test_programs_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_programs_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_sandbox_SOURCES = tests/unit/daemon/test_sandbox.c
tests_unit_daemon_test_sandbox_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_sandbox_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_remote_SOURCES = tests/unit/daemon/test_remote.c tests/unit/daemon/identities.h
tests_unit_daemon_test_remote_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_remote_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_settings_SOURCES = tests/unit/daemon/test_settings.c
tests_unit_daemon_test_settings_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_settings_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_processor_share_SOURCES = tests/unit/daemon/test_processor_share.c
tests_unit_daemon_test_processor_share_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_processor_share_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_supervisor_SOURCES = tests/unit/daemon/test_supervisor.c
tests_unit_daemon_test_supervisor_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_supervisor_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_transport_SOURCES = tests/unit/daemon/test_transport.c tests/unit/daemon/identities.h \
	tests/unit/daemon/wait_bounds.h
tests_unit_daemon_test_transport_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_transport_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_control_SOURCES = tests/unit/daemon/test_control.c tests/unit/daemon/wait_bounds.h
tests_unit_daemon_test_control_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_control_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_store_worker_SOURCES = tests/unit/daemon/test_store_worker.c
tests_unit_daemon_test_store_worker_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_store_worker_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_plan_worker_SOURCES = tests/unit/daemon/test_plan_worker.c
tests_unit_daemon_test_plan_worker_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_plan_worker_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_effects_SOURCES = tests/unit/daemon/test_effects.c daemon/carry.c
tests_unit_daemon_test_effects_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_effects_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_etcd_SOURCES = tests/unit/daemon/test_etcd.c tests/unit/daemon/wait_bounds.h
tests_unit_daemon_test_etcd_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_etcd_LDADD = $(daemon_test_libs)
tests_unit_daemon_test_etcd_real_SOURCES = tests/unit/daemon/test_etcd_real.c
tests_unit_daemon_test_etcd_real_CFLAGS = $(daemon_test_cflags)
tests_unit_daemon_test_etcd_real_LDADD = $(daemon_test_libs)
$(tests_unit_daemon_test_settings_OBJECTS) $(tests_unit_daemon_test_remote_OBJECTS) \
	$(tests_unit_daemon_test_programs_OBJECTS) \
	$(tests_unit_daemon_test_sandbox_OBJECTS) $(tests_unit_daemon_test_processor_share_OBJECTS) \
	$(tests_unit_daemon_test_supervisor_OBJECTS) $(tests_unit_daemon_test_transport_OBJECTS) \
	$(tests_unit_daemon_test_control_OBJECTS) $(tests_unit_daemon_test_store_worker_OBJECTS) \
	$(tests_unit_daemon_test_plan_worker_OBJECTS) $(tests_unit_daemon_test_effects_OBJECTS) \
	$(tests_unit_daemon_test_etcd_OBJECTS) $(tests_unit_daemon_test_etcd_real_OBJECTS): $(pb_headers)
