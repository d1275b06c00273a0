# sim
# A cluster of nodes in virtual time, with all that may go wrong, and the checks that look on.
noinst_LIBRARIES += sim/libsim.a
sim_libsim_a_SOURCES = sim/application.c sim/refine.c sim/script.c sim/script.h sim/applications.c sim/check.h \
	sim/check_ends.c sim/check_losses.c sim/check_records.c sim/check_views.c sim/check_words.c \
	sim/clients.c sim/clock.c sim/clock.h sim/cluster.c sim/cluster.h sim/disk.c sim/disk.h sim/disk_image.c \
	sim/hash.h sim/holds.c sim/internal.h sim/log.c sim/machine.c sim/forge.c sim/network.c sim/queue.c \
	sim/rest.c sim/rollout.c sim/rows.c sim/storage.c sim/timers.c sim/timers.h sim/trace.c sim/work.c
sim_cflags = $(AM_CFLAGS) $(PROTOBUF_CFLAGS)
sim_libsim_a_CFLAGS = $(sim_cflags)
node_libs = lib/node/libnode.a lib/map/libmap.a lib/embed/libembed.a lib/balance/libbalance.a \
	lib/space/libspace.a lib/host/libhost.a lib/graph/libgraph.a lib/wire/libwire.a lib/wire/libpb.a \
	lib/base/libbase.a $(PROTOBUF_LIBS) $(host_libs) $(QHULL_LIBS) $(EXPAT_LIBS) $(PLANARITY_LIBS) -lm
# What the papers print, computed again (lbsim table).
noinst_LIBRARIES += sim/libtables.a
sim_libtables_a_SOURCES = sim/tables/chart.c sim/tables/chart.h sim/tables/command.c sim/tables/cube.c \
	sim/tables/cube.h sim/tables/cyb89.c sim/tables/cyb89_arrivals.c sim/tables/embed_command.c \
	sim/tables/embed_draw.c sim/tables/embed_draw.h sim/tables/exchange.c sim/tables/exchange.h \
	sim/tables/hei97.c sim/tables/hei97_omega.c sim/tables/hei97_planar.c sim/tables/hei97_proof.c \
	sim/tables/hei97_remap.c sim/tables/lattice.c sim/tables/lattice.h sim/tables/net.c sim/tables/net.h \
	sim/tables/papers.h sim/tables/plot_command.c sim/tables/plots.c sim/tables/plots.h \
	sim/tables/policies.c sim/tables/pool.c sim/tables/pool.h sim/tables/queue.c sim/tables/queue.h \
	sim/tables/registry.c sim/tables/report.c sim/tables/report.h sim/tables/rjk03.c \
	sim/tables/rjk03_hybrid.c sim/tables/rjk03_queue.c sim/tables/rjk03_table_1.c sim/tables/field_times.c \
	sim/tables/field_times.h sim/tables/san.c sim/tables/san_random.c sim/tables/save.c sim/tables/save.h \
	sim/tables/strips.c sim/tables/strips.h sim/tables/table.c sim/tables/table.h sim/tables/thinning.c \
	sim/tables/wator.c sim/tables/xl95_improvement.c sim/tables/xl95_sweeps.c sim/tables/xl95_theory.c
# Load policies from the command line (lbsim balance, lbsim advise).
noinst_LIBRARIES += sim/libbalancing.a
sim_libbalancing_a_SOURCES = sim/balance/advise.c sim/balance/balance.c sim/balance/links.c sim/balance/loads.c \
	sim/balance/loads.h sim/balance/options.c sim/balance/options.h
# The balancer over a trace (lbsim replay), and traces made of others' records (lbsim import).
noinst_LIBRARIES += sim/libreplay.a
sim_libreplay_a_SOURCES = sim/change/change.c sim/change/change.h sim/change/options.c sim/change/report.c \
	sim/change/reporter.c sim/drift/command.c sim/drift/drift.c sim/drift/drift.h sim/drift/flow.c \
	sim/drift/report.c sim/import/command.c sim/import/vt.c sim/import/vt.h sim/import/vt_read.c \
	sim/replay/command.c sim/replay/course.c sim/replay/guest.c sim/replay/measure.c sim/replay/options.c \
	sim/replay/place.c sim/replay/recorded.c sim/replay/replay.h sim/replay/report.c
sim_libreplay_a_CFLAGS = $(sim_cflags) $(JANSSON_CFLAGS)
bin_PROGRAMS += sim/lbsim
sim_lbsim_SOURCES = sim/campaign.c sim/campaign.h sim/command.h sim/fault_actions.h sim/faults.c sim/faults.h \
	sim/faults_hosts.c sim/faults_network.c sim/faults_people.c sim/hunt.c sim/hunt.h sim/main.c \
	sim/options.c sim/options.h sim/report.c sim/report.h sim/runner.c sim/runner.h sim/scenario.c \
	sim/scenario_internal.h sim/scenario_read.c sim/scenario_words.c sim/scale.c sim/scale.h \
	sim/scale_options.c sim/scale_report.c sim/figures.c sim/figures.h sim/shrink.c sim/shrink.h sim/story.c \
	sim/story.h sim/story_draw.c sim/story_drill.c sim/story_view.c
sim_lbsim_CFLAGS = $(sim_cflags)
sim_lbsim_LDADD = sim/libreplay.a sim/libsim.a sim/libtables.a sim/libbalancing.a lib/cli/libcli.a \
	lib/trace/libtrace.a lib/file/libfile.a $(node_libs) $(JANSSON_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS)
# The same with a node in which mistakes can be planted (lib/node/mutants.h). Not installed.
check_LIBRARIES += sim/libnode-bugs.a
sim_libnode_bugs_a_SOURCES = $(lib_node_libnode_a_SOURCES)
sim_libnode_bugs_a_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_BUGS
sim_libnode_bugs_a_CFLAGS = $(sim_cflags)
check_PROGRAMS += sim/lbsim-bugs
sim_lbsim_bugs_SOURCES = $(sim_lbsim_SOURCES)
sim_lbsim_bugs_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_BUGS
sim_lbsim_bugs_CFLAGS = $(sim_cflags)
sim_lbsim_bugs_LDADD = sim/libreplay.a sim/libsim.a sim/libtables.a sim/libbalancing.a lib/cli/libcli.a \
	sim/libnode-bugs.a lib/trace/libtrace.a lib/file/libfile.a $(node_libs) $(JANSSON_LIBS) $(ZLIB_LIBS) \
	$(ARCHIVE_LIBS)
$(sim_libreplay_a_OBJECTS) $(sim_libsim_a_OBJECTS) $(sim_lbsim_OBJECTS) $(sim_libnode_bugs_a_OBJECTS) \
	$(sim_lbsim_bugs_OBJECTS): $(pb_headers)
