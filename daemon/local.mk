# daemon
# Everything but the loop is a library, so that each part is tested on its own.
noinst_LIBRARIES += daemon/libdaemon.a
daemon_libdaemon_a_SOURCES = daemon/accept_rate.c daemon/accept_rate.h daemon/access.c daemon/access.h \
	daemon/address.c daemon/address.h daemon/contacts.c daemon/contacts.h daemon/control.c daemon/control.h \
	daemon/control_socket.c daemon/control_socket.h daemon/enrol.c daemon/enrol.h daemon/ensemble.c \
	daemon/ensemble.h daemon/ensemble_internal.h daemon/ensemble_member.c daemon/etcd.c daemon/etcd.h \
	daemon/etcd_message.c \
	daemon/etcd_message.h daemon/frames.c daemon/frames.h daemon/http.c daemon/http.h daemon/inbound.c \
	daemon/inbound.h daemon/keeper.c daemon/keeper.h daemon/program_start.c \
	daemon/program_start.h daemon/programs.c daemon/programs.h daemon/lease_page.c daemon/lease_page.h \
	daemon/listener.c \
	daemon/listener.h \
	daemon/log.c daemon/log.h daemon/outgoing.c daemon/outgoing.h daemon/plan_worker.c daemon/plan_worker.h \
	daemon/renew.c daemon/renew.h daemon/resolver.c daemon/resolver.h daemon/sandbox.c daemon/sandbox.h \
	daemon/settings.c daemon/settings.h daemon/settings_value.c daemon/settings_value.h daemon/spare.c \
	daemon/spare.h daemon/store_worker.c daemon/store_worker.h daemon/supervisor.c daemon/supervisor.h \
	daemon/tunnel.c daemon/tunnel.h \
	daemon/worker.c daemon/worker.h
daemon_cflags = $(AM_CFLAGS) $(EVENT_CFLAGS) $(EVENT_SSL_CFLAGS) $(OPENSSL_CFLAGS) $(CONFIG_CFLAGS) \
	$(CURL_CFLAGS) $(JANSSON_CFLAGS) $(PROTOBUF_CFLAGS) $(SYSTEMD_CFLAGS) $(SECCOMP_CFLAGS) -pthread
daemon_libdaemon_a_CFLAGS = $(daemon_cflags)
$(daemon_libdaemon_a_OBJECTS) $(daemon_lbmapd_OBJECTS): $(pb_headers)
sbin_PROGRAMS += daemon/lbmapd
daemon_lbmapd_SOURCES = daemon/carry.c daemon/program_reports.c daemon/loop.c daemon/loop.h \
	daemon/loop_internal.h daemon/main.c \
	daemon/parts.c
daemon_lbmapd_CFLAGS = $(daemon_cflags)
daemon_lbmapd_LDADD = daemon/libdaemon.a lib/file/libfile.a lib/threads/libthreads.a lib/store/libstore.a \
	lib/pki/libpki.a \
	lib/node/libnode.a lib/map/libmap.a lib/embed/libembed.a lib/balance/libbalance.a lib/space/libspace.a \
	lib/host/libhost.a lib/graph/libgraph.a lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a \
	$(CURL_LIBS) $(JANSSON_LIBS) $(EVENT_SSL_LIBS) $(EVENT_LIBS) $(OPENSSL_LIBS) $(CONFIG_LIBS) $(SQLITE_LIBS) \
	$(NETTLE_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) \
	$(PROTOBUF_LIBS) $(host_libs) $(QHULL_LIBS) $(EXPAT_LIBS) $(PLANARITY_LIBS) $(SYSTEMD_LIBS) $(SECCOMP_LIBS) -lm
# The example never replaces a configuration: it is installed next to it.
lbmapconfdir = $(sysconfdir)/lbmap
lbmapconf_DATA = conf/lbmapd.conf.example
conf/lbmapd.conf.example: conf/lbmapd.conf
	$(AM_V_GEN)$(MKDIR_P) conf && cp $(srcdir)/conf/lbmapd.conf $@
# The unit waits for the notification that the daemon is ready, which takes libsystemd.
if HAVE_SYSTEMD
systemdsystemunit_DATA = conf/lbmapd.service
sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = conf/sysusers.d/lbmap.conf
endif
conf/lbmapd.service: conf/lbmapd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		$(srcdir)/conf/lbmapd.service.in >$@.tmp && mv $@.tmp $@
CLEANFILES += conf/lbmapd.conf.example conf/lbmapd.service
EXTRA_DIST += conf/lbmapd.conf conf/lbmapd.service.in conf/sysusers.d/lbmap.conf
