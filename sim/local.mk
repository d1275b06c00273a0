# sim
# A cluster of nodes in virtual time, with models of all that a daemon meets, and the checks that look on.
noinst_LIBRARIES += sim/libsim.a
sim_libsim_a_SOURCES = sim/check/check.h sim/check/check_ends.c sim/check/check_losses.c \
	sim/check/check_records.c sim/check/check_requests.c sim/check/check_summary.c \
	sim/check/check_views.c sim/check/check_words.c sim/model/application.c \
	sim/model/applications.c sim/model/clients.c sim/model/clock.c sim/model/clock.h sim/model/cluster.c \
	sim/model/cluster.h sim/model/disk.c sim/model/disk.h sim/model/disk_image.c sim/model/ensemble.c \
	sim/model/forge.c \
	sim/model/hash.h sim/model/interceptors.c sim/model/lie.c sim/model/lie_log.c sim/model/internal.h sim/model/log.c \
	sim/model/machine.c \
	sim/model/network.c sim/model/payloads.c sim/model/positions.c sim/model/positions.h sim/model/queue.c \
	sim/model/refine.c sim/model/rest.c \
	sim/model/rollout.c \
	sim/model/rows.c sim/model/script.c sim/model/script.h sim/model/storage.c sim/model/summaries.c \
	sim/model/timers.c \
	sim/model/timers.h sim/model/trace.c sim/model/work.c sim/programs/fiber.c sim/programs/fiber.h \
	sim/programs/programs.c sim/programs/programs.h sim/programs/send_program.c sim/programs/socket.c \
	sim/programs/steps_program.c
# The application library, with the simulator in place of the system.
noinst_LIBRARIES += sim/libapi.a
sim_libapi_a_SOURCES = lib/api/call.c lib/api/change.c lib/api/checkpoint.c lib/api/lbmap.c lib/api/lease.c \
	lib/api/letters_desk.c lib/api/letters_rows.c lib/api/letters_turn.c lib/api/load.c lib/api/payloads.c lib/api/peers.c \
	lib/api/returns.c lib/api/send.c lib/api/serve.c lib/api/sketch.c lib/api/steps.c lib/api/steps_end.c \
	lib/api/steps_export.c lib/api/steps_line.c lib/api/steps_seen.c lib/api/steps_mail.c \
	lib/api/steps_pieces.c lib/api/steps_others.c lib/api/steps_reduce.c lib/api/steps_vertices.c \
	lib/api/talk.c sim/programs/held.c sim/programs/held.h sim/programs/system.c
sim_libapi_a_CFLAGS = $(sim_cflags)
sim_cflags = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(NETTLE_CFLAGS)
sim_libsim_a_CFLAGS = $(sim_cflags)
node_libs = lib/node/libnode.a lib/map/libmap.a lib/embed/libembed.a lib/balance/libbalance.a \
	lib/space/libspace.a lib/host/libhost.a lib/graph/libgraph.a lib/wire/libwire.a lib/wire/libpb.a \
	lib/base/libbase.a $(PROTOBUF_LIBS) $(NETTLE_LIBS) $(host_libs) $(QHULL_LIBS) $(EXPAT_LIBS) \
	$(PLANARITY_LIBS) -lm
# Load policies from the command line (lbsim balance, lbsim advise).
noinst_LIBRARIES += sim/libbalancing.a
sim_libbalancing_a_SOURCES = sim/balance/advise.c sim/balance/balance.c sim/balance/links.c \
	sim/balance/loads.c sim/balance/loads.h sim/balance/options.c sim/balance/options.h
# Measurements in virtual time (lbsim scale, change, drift, replay), and traces made of others' records (lbsim import).
noinst_LIBRARIES += sim/libexperiment.a
sim_libexperiment_a_SOURCES = sim/experiment/change.c sim/experiment/change.h sim/experiment/change_options.c \
	sim/experiment/change_report.c sim/experiment/change_reporter.c sim/experiment/converge.c \
	sim/experiment/converge.h sim/experiment/converge_command.c \
	sim/experiment/disturb.c sim/experiment/disturb.h sim/experiment/disturb_command.c sim/experiment/drift.c \
	sim/experiment/drift.h \
	sim/experiment/drift_command.c sim/experiment/drift_flow.c sim/experiment/drift_report.c \
	sim/scenario/directed.c sim/scenario/directed.h sim/experiment/replay.h sim/experiment/replay_command.c \
	sim/experiment/replay_run.c sim/experiment/replay_guest.c sim/experiment/replay_measure.c \
	sim/experiment/replay_options.c sim/experiment/replay_place.c sim/experiment/replay_recorded.c \
	sim/experiment/replay_report.c sim/experiment/scale.c sim/experiment/scale.h sim/experiment/scale_options.c \
	sim/experiment/scale_report.c sim/import/command.c
sim_libexperiment_a_CFLAGS = $(sim_cflags) $(JANSSON_CFLAGS)
bin_PROGRAMS += sim/lbsim
sim_lbsim_SOURCES = sim/main.c sim/command.h sim/faults/fault_actions.h sim/faults/faults.c \
	sim/faults/faults.h sim/faults/faults_hosts.c sim/faults/faults_network.c sim/faults/faults_operators.c \
	sim/run/seed_sweep.c sim/run/seed_sweep.h sim/run/mutation.c sim/run/mutation.h sim/run/options.c \
	sim/run/options.h \
	sim/run/report.c sim/run/report.h sim/run/runner.c sim/run/runner.h sim/run/shrink.c sim/run/shrink.h \
	sim/run/run.c sim/run/run.h sim/run/run_draw.c sim/run/run_directed.c sim/run/run_view.c \
	sim/scenario/scenario.c sim/scenario/scenario_internal.h sim/scenario/scenario_read.c \
	sim/scenario/scenario_words.c
sim_lbsim_CFLAGS = $(sim_cflags)
sim_program_libs = sim/libbalancing.a lib/cli/libcli.a lib/import/libimport.a \
	lib/trace/libtrace.a lib/file/libfile.a $(node_libs) \
	$(JANSSON_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS)
sim_lbsim_LDADD = sim/libexperiment.a sim/libsim.a sim/libapi.a $(sim_program_libs)
# The same with a node in which mistakes can be planted (lib/node/mutants.h). Not installed.
check_LIBRARIES += sim/libnode-bugs.a
sim_libnode_bugs_a_SOURCES = $(lib_node_libnode_a_SOURCES)
sim_libnode_bugs_a_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_BUGS
sim_libnode_bugs_a_CFLAGS = $(sim_cflags)
check_LIBRARIES += sim/libapi-bugs.a
sim_libapi_bugs_a_SOURCES = $(sim_libapi_a_SOURCES)
sim_libapi_bugs_a_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_BUGS
sim_libapi_bugs_a_CFLAGS = $(sim_cflags)
check_PROGRAMS += sim/lbsim-bugs
sim_lbsim_bugs_SOURCES = $(sim_lbsim_SOURCES)
sim_lbsim_bugs_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_BUGS
sim_lbsim_bugs_CFLAGS = $(sim_cflags)
sim_lbsim_bugs_LDADD = sim/libexperiment.a sim/libsim.a sim/libapi-bugs.a sim/libnode-bugs.a $(sim_program_libs)
$(sim_libexperiment_a_OBJECTS) $(sim_libsim_a_OBJECTS) $(sim_lbsim_OBJECTS) $(sim_libnode_bugs_a_OBJECTS) \
	$(sim_libapi_a_OBJECTS) $(sim_libapi_bugs_a_OBJECTS) \
	$(sim_lbsim_bugs_OBJECTS): $(pb_headers)
