# client
# Everything but main is a library, so that its parts are tested on their own.
noinst_LIBRARIES += client/libclient.a
client_libclient_a_SOURCES = lib/api/call.c lib/api/call.h lib/api/system.c lib/api/system.h lib/api/payloads.c \
	lib/api/payloads.h client/approve.c client/backup.c client/backup_format.c client/backup_format.h \
	client/cluster.c client/cluster_dir.c client/cluster_dir.h client/cluster_pki.c client/cluster_pki.h \
	client/command.h client/convert.c client/cut.c client/cut.h client/daemon.c client/daemon.h client/dial.c \
	client/dial.h client/dial_daemon.c client/enroll.c client/eval.c client/events.c client/explain.c \
	client/format_data.c client/format_drawing.c client/format_launch.c client/format_text.c client/formats.c \
	client/formats.h client/gen.c client/graph_file.c client/graph_file.h client/graph_from.c client/guest.c \
	client/guest.h client/init.c client/interrupt.c client/interrupt.h client/job_state.c client/job_state.h \
	client/jobs.c client/launch.c client/launch.h client/links.c client/links.h client/log.c client/maintain.c \
	client/map.c client/members.c client/members.h client/mpirun.c client/network.c client/omega_links.c \
	client/omega_links.h client/output.c client/output.h client/pins.c client/pins.h client/pki.c \
	client/pki_key.c client/pki_key.h client/plan.c client/policy.c client/policy.h client/process.c \
	client/process.h client/progress.c client/progress.h client/recover.c client/remap.c client/remap.h \
	client/report.c client/report.h client/restore.c client/run.c client/setup.c client/setup.h client/specs.c \
	client/status.c client/submit.c client/table.c client/table.h client/trace.c client/trace_gather.c \
	client/trace_gather.h client/trace_guest.c client/trace_guest.h client/upload.c client/upload.h \
	client/wait.c
client_cflags = $(AM_CFLAGS) $(OPENSSL_CFLAGS) $(JANSSON_CFLAGS) $(PROTOBUF_CFLAGS)
client_libclient_a_CFLAGS = $(client_cflags)
$(client_libclient_a_OBJECTS): $(pb_headers)
client_libs = client/libclient.a lib/draw/libdraw.a lib/threads/libthreads.a lib/cli/libcli.a \
	lib/import/libimport.a lib/trace/libtrace.a \
	lib/node/libnode.a lib/pki/libpki.a lib/wire/libwire.a lib/wire/libpb.a lib/file/libfile.a lib/map/libmap.a \
	lib/embed/libembed.a lib/balance/libbalance.a lib/space/libspace.a lib/host/libhost.a \
	lib/graph/libgraph.a lib/base/libbase.a $(CAIRO_LIBS) $(OPENSSL_LIBS) $(JANSSON_LIBS) $(host_libs) \
	$(QHULL_LIBS) \
	$(EXPAT_LIBS) $(PLANARITY_LIBS) $(NETTLE_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) $(PROTOBUF_LIBS) -lm
bin_PROGRAMS += client/lbctl
client_lbctl_SOURCES = client/main.c
client_lbctl_CFLAGS = $(client_cflags)
client_lbctl_LDADD = $(client_libs)
