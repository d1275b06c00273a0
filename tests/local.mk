# tests
# Every test is a cmocka program or a script; scripts say what they skip and why.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash
# Impossible sizes are asked for on purpose: the sanitizer's allocator, too, must answer with NULL.
AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	ASAN_OPTIONS="allocator_may_return_null=1:$$ASAN_OPTIONS"; export top_srcdir top_builddir ASAN_OPTIONS;

# The repository itself: arrows, packages, documents.
dist_check_SCRIPTS += tests/deps.sh tests/docs.sh tests/layering.sh tests/licence.sh tests/words.sh
TESTS += tests/deps.sh tests/docs.sh tests/layering.sh tests/licence.sh tests/words.sh

# The checked model of handoffs, and that code and model have the same transitions.
dist_check_SCRIPTS += tests/model.sh tests/model/run
TESTS += tests/model.sh
EXTRA_DIST += tests/model/handoff.pml

check_PROGRAMS += tests/test_api tests/test_serve tests/test_lease_page tests/worker tests/drifter tests/refiner \
	tests/linker tests/talker docs/examples/owned docs/examples/steps
TESTS += tests/test_api tests/test_serve tests/test_lease_page tests/api.sh tests/chaos.sh tests/members.sh \
	tests/explain.sh tests/leaver.sh tests/heavy.sh tests/gates.sh
dist_check_SCRIPTS += tests/api.sh tests/chaos.sh tests/history_check.sh tests/members.sh tests/explain.sh \
	tests/leaver.sh tests/heavy.sh tests/gates.sh
# Hosts taken away from real clusters, measured; how long is in the environment.
TESTS += tests/disk.sh tests/hog.sh tests/join.sh tests/kills.sh tests/links.sh tests/parallel.sh tests/policy.sh
dist_check_SCRIPTS += tests/disk.sh tests/field_lib.sh tests/hog.sh tests/join.sh tests/kills.sh tests/links.sh \
	tests/parallel.sh tests/policy.sh
tests_test_api_SOURCES = tests/test_api.c
tests_test_api_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_test_api_LDADD = liblbmap.la lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a $(PROTOBUF_LIBS) \
	$(CMOCKA_LIBS)
tests_test_serve_SOURCES = tests/test_serve.c tests/serve_daemon.c tests/serve_daemon.h daemon/lease_page.c
tests_test_serve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS) -pthread
tests_test_serve_LDADD = $(tests_test_api_LDADD)
tests_test_lease_page_SOURCES = tests/test_lease_page.c daemon/lease_page.c
tests_test_lease_page_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_lease_page_LDADD = lib/wire/libwire.a lib/base/libbase.a $(CMOCKA_LIBS)
$(tests_test_api_OBJECTS) $(tests_test_serve_OBJECTS): $(pb_headers)
tests_worker_SOURCES = tests/worker.c tests/serving.c tests/serving.h
tests_worker_LDADD = liblbmap.la
tests_drifter_SOURCES = tests/drifter.c tests/serving.c tests/serving.h
tests_drifter_LDADD = liblbmap.la
tests_refiner_SOURCES = tests/refiner.c tests/serving.c tests/serving.h
tests_refiner_LDADD = liblbmap.la
tests_linker_SOURCES = tests/linker.c tests/serving.c tests/serving.h
tests_linker_LDADD = liblbmap.la
tests_talker_SOURCES = tests/talker.c tests/serving.c tests/serving.h
tests_talker_LDADD = liblbmap.la
check_PROGRAMS += tests/test_sketch
TESTS += tests/test_sketch tests/talk.sh
dist_check_SCRIPTS += tests/talk.sh
tests_test_sketch_SOURCES = tests/test_sketch.c lib/api/sketch.c lib/api/sketch.h
tests_test_sketch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sketch_LDADD = $(CMOCKA_LIBS) -lm
docs_examples_owned_SOURCES = docs/examples/owned.c
docs_examples_owned_LDADD = liblbmap.la
docs_examples_steps_SOURCES = docs/examples/steps.c
docs_examples_steps_LDADD = liblbmap.la

store_test_libs = lib/store/libstore.a lib/node/libnode.a lib/base/libbase.a $(SQLITE_LIBS) $(ZLIB_LIBS) \
	$(CMOCKA_LIBS)
store_test_sources = tests/store_make.c tests/store_model.c tests/store_model.h
check_PROGRAMS += tests/test_store tests/test_store_crash tests/test_store_damage
TESTS += tests/test_store tests/test_store_crash tests/test_store_damage
tests_test_store_SOURCES = tests/test_store.c $(store_test_sources)
tests_test_store_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_LDADD = $(store_test_libs)
tests_test_store_crash_SOURCES = tests/test_store_crash.c $(store_test_sources)
tests_test_store_crash_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_crash_LDADD = $(store_test_libs)
tests_test_store_damage_SOURCES = tests/test_store_damage.c $(store_test_sources)
tests_test_store_damage_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_damage_LDADD = $(store_test_libs)
# Power cuts; CUTS=20000 in the environment for the long run.
check_PROGRAMS += tests/test_store_power
TESTS += tests/test_store_power
tests_test_store_power_SOURCES = tests/test_store_power.c tests/power_vfs.c tests/power_vfs.h $(store_test_sources)
tests_test_store_power_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_power_LDADD = $(store_test_libs)
# Loaded before the C library, never installed: the rpath makes it a shared module.
check_LTLIBRARIES = tests/kth_shim.la
tests_kth_shim_la_SOURCES = tests/kth_shim.c
tests_kth_shim_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
check_PROGRAMS += tests/kth_store
tests_kth_store_SOURCES = tests/kth_store.c
tests_kth_store_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
tests_kth_store_LDADD = $(store_test_libs)
dist_check_SCRIPTS += tests/kth.sh tests/own_files.sh
TESTS += tests/kth.sh tests/own_files.sh
dist_check_SCRIPTS += tests/owners.sh tests/owners_check.sh
TESTS += tests/owners_check.sh

# The option parser; the programs that have commands, without a daemon.
check_PROGRAMS += tests/test_drawing tests/test_options
TESTS += tests/test_drawing tests/test_options
tests_test_drawing_SOURCES = tests/test_drawing.c
tests_test_drawing_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_drawing_LDADD = $(client_libs) $(CMOCKA_LIBS)
tests_test_options_SOURCES = tests/test_options.c
tests_test_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_options_LDADD = client/libclient.a lib/cli/libcli.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
dist_check_SCRIPTS += tests/man.sh tests/lbctl_offline.sh tests/launch.sh tests/odd_files.sh
TESTS += tests/man.sh tests/lbctl_offline.sh tests/launch.sh tests/odd_files.sh
tests/man.log: client/lbctl sim/lbsim papers/lbpapers

# The daemon: its parts in one process, then the whole.
check_PROGRAMS += tests/test_settings tests/test_spare tests/test_supervisor tests/test_transport \
	tests/test_control tests/test_store_worker tests/test_plan_worker tests/test_carry tests/test_etcd
TESTS += tests/test_settings tests/test_spare tests/test_supervisor tests/test_transport tests/test_control \
	tests/test_store_worker tests/test_plan_worker tests/test_carry tests/test_etcd tests/daemon.sh \
	tests/etcd.sh tests/promote.sh tests/leader.sh
dist_check_SCRIPTS += tests/daemon.sh tests/etcd.sh tests/promote.sh tests/leader.sh
EXTRA_DIST += tests/etcd_gate.py tests/delayer.py
daemon_test_cflags = $(daemon_cflags) $(CMOCKA_CFLAGS)
daemon_test_libs = daemon/libdaemon.a lib/file/libfile.a lib/threads/libthreads.a lib/store/libstore.a \
	lib/node/libnode.a lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a $(CURL_LIBS) $(JANSSON_LIBS) \
	$(SQLITE_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) $(EVENT_LIBS) $(CONFIG_LIBS) $(PROTOBUF_LIBS) \
	$(SYSTEMD_LIBS) $(CMOCKA_LIBS)
tests_test_settings_SOURCES = tests/test_settings.c
tests_test_settings_CFLAGS = $(daemon_test_cflags)
tests_test_settings_LDADD = $(daemon_test_libs)
tests_test_spare_SOURCES = tests/test_spare.c
tests_test_spare_CFLAGS = $(daemon_test_cflags)
tests_test_spare_LDADD = $(daemon_test_libs)
tests_test_supervisor_SOURCES = tests/test_supervisor.c
tests_test_supervisor_CFLAGS = $(daemon_test_cflags)
tests_test_supervisor_LDADD = $(daemon_test_libs)
tests_test_transport_SOURCES = tests/test_transport.c tests/patience.h
tests_test_transport_CFLAGS = $(daemon_test_cflags)
tests_test_transport_LDADD = $(daemon_test_libs)
tests_test_control_SOURCES = tests/test_control.c tests/patience.h
tests_test_control_CFLAGS = $(daemon_test_cflags)
tests_test_control_LDADD = $(daemon_test_libs)
tests_test_store_worker_SOURCES = tests/test_store_worker.c
tests_test_store_worker_CFLAGS = $(daemon_test_cflags)
tests_test_store_worker_LDADD = $(daemon_test_libs)
tests_test_plan_worker_SOURCES = tests/test_plan_worker.c
tests_test_plan_worker_CFLAGS = $(daemon_test_cflags)
tests_test_plan_worker_LDADD = $(daemon_test_libs)
tests_test_carry_SOURCES = tests/test_carry.c daemon/carry.c
tests_test_carry_CFLAGS = $(daemon_test_cflags)
tests_test_carry_LDADD = $(daemon_test_libs)
tests_test_etcd_SOURCES = tests/test_etcd.c tests/patience.h
tests_test_etcd_CFLAGS = $(daemon_test_cflags)
tests_test_etcd_LDADD = $(daemon_test_libs)
$(tests_test_settings_OBJECTS) $(tests_test_spare_OBJECTS) $(tests_test_supervisor_OBJECTS) \
	$(tests_test_transport_OBJECTS) $(tests_test_control_OBJECTS) $(tests_test_store_worker_OBJECTS) \
	$(tests_test_plan_worker_OBJECTS) $(tests_test_carry_OBJECTS) $(tests_test_etcd_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_wire tests/test_wire_rules
TESTS += tests/test_wire tests/test_wire_rules
tests_test_wire_SOURCES = tests/test_wire.c tests/wire_sample.c tests/wire_sample.h
tests_test_wire_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_wire_LDADD = lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a $(PROTOBUF_LIBS) $(CMOCKA_LIBS) -lm
tests_test_wire_rules_SOURCES = tests/test_wire_rules.c tests/wire_sample.c tests/wire_sample.h
tests_test_wire_rules_CFLAGS = $(tests_test_wire_CFLAGS)
tests_test_wire_rules_LDADD = $(tests_test_wire_LDADD)
$(tests_test_wire_OBJECTS) $(tests_test_wire_rules_OBJECTS): $(pb_headers)
# For scripts/same: samples of all messages as bytes.
check_PROGRAMS += tests/wire_bytes
tests_wire_bytes_SOURCES = tests/wire_bytes.c tests/wire_sample.c tests/wire_sample.h
tests_wire_bytes_CFLAGS = $(tests_test_wire_CFLAGS)
tests_wire_bytes_LDADD = $(tests_test_wire_LDADD)
$(tests_wire_bytes_OBJECTS): $(pb_headers)

# Mappings: their cost and sessions of a pair, the stages of a plan, whole plans.
check_PROGRAMS += tests/test_map tests/test_pair tests/test_pair_cut tests/test_map_stages tests/test_plan \
	tests/test_remap tests/test_tries tests/test_weights
TESTS += tests/test_map tests/test_pair tests/test_pair_cut tests/test_map_stages tests/test_plan \
	tests/test_remap tests/test_tries tests/test_weights
map_test_libs = $(map_libs) $(graph_libs) $(CMOCKA_LIBS)
tests_test_map_SOURCES = tests/test_map.c tests/map_make.c tests/map_make.h
tests_test_map_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_map_LDADD = $(map_test_libs)
pair_trial = tests/pair_trial.c tests/pair_trial.h tests/map_make.c tests/map_make.h
tests_test_pair_SOURCES = tests/test_pair.c $(pair_trial)
tests_test_pair_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_pair_LDADD = $(map_test_libs)
tests_test_pair_cut_SOURCES = tests/test_pair_cut.c $(pair_trial)
tests_test_pair_cut_CFLAGS = $(tests_test_pair_CFLAGS)
tests_test_pair_cut_LDADD = $(map_test_libs)
tests_test_map_stages_SOURCES = tests/test_map_stages.c tests/map_make.c tests/map_make.h
tests_test_map_stages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_map_stages_LDADD = $(map_test_libs)
tests_test_plan_SOURCES = tests/test_plan.c tests/map_make.c tests/map_make.h
tests_test_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_plan_LDADD = $(map_test_libs)
tests_test_weights_SOURCES = tests/test_weights.c tests/map_make.c tests/map_make.h
tests_test_weights_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_weights_LDADD = $(map_test_libs)
tests_test_remap_SOURCES = tests/test_remap.c tests/map_make.c tests/map_make.h
tests_test_remap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_remap_LDADD = $(map_test_libs)
tests_test_tries_SOURCES = tests/test_tries.c tests/map_make.c tests/map_make.h
tests_test_tries_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_tries_LDADD = lib/threads/libthreads.a $(map_test_libs)

# Errors, memory, id maps, random streams.
check_PROGRAMS += tests/test_base
TESTS += tests/test_base
tests_test_base_SOURCES = tests/test_base.c
tests_test_base_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_base_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)

# Constants that must fit together.
TESTS += tests/constants.sh
dist_check_SCRIPTS += tests/constants.sh
EXTRA_DIST += tests/constants.txt

# Numbers that leave the program do not change.
check_PROGRAMS += tests/test_numbers
TESTS += tests/test_numbers tests/wire_fields.sh
dist_check_SCRIPTS += tests/wire_fields.sh
EXTRA_DIST += tests/wire_fields.txt
tests_test_numbers_SOURCES = tests/test_numbers.c
tests_test_numbers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_test_numbers_LDADD = $(CMOCKA_LIBS)
$(tests_test_numbers_OBJECTS): $(pb_headers)

# Parts of the node: the view, a host's part of a guest.
check_PROGRAMS += tests/test_view tests/test_view_sites tests/test_view_snapshot tests/test_shard
TESTS += tests/test_view tests/test_view_sites tests/test_view_snapshot tests/test_shard
tests_test_view_SOURCES = tests/test_view.c tests/view_make.c tests/view_make.h
tests_test_view_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_view_LDADD = $(tests_test_node_LDADD)
tests_test_view_sites_SOURCES = tests/test_view_sites.c tests/view_make.c tests/view_make.h
tests_test_view_sites_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_view_sites_LDADD = $(tests_test_node_LDADD)
tests_test_view_snapshot_SOURCES = tests/test_view_snapshot.c
tests_test_view_snapshot_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_view_snapshot_LDADD = $(tests_test_node_LDADD)
tests_test_shard_SOURCES = tests/test_shard.c
tests_test_shard_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_shard_LDADD = $(tests_test_node_LDADD)
$(tests_test_view_OBJECTS) $(tests_test_view_sites_OBJECTS) $(tests_test_view_snapshot_OBJECTS) \
	$(tests_test_shard_OBJECTS) $(tests_test_node_swarm_OBJECTS) $(tests_test_handoff_OBJECTS) \
	$(tests_test_session_OBJECTS) $(tests_test_ghosts_OBJECTS): $(pb_headers)

# One view for many nodes.
check_PROGRAMS += tests/test_view_shared
TESTS += tests/test_view_shared
tests_test_view_shared_SOURCES = tests/test_view_shared.c
tests_test_view_shared_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_view_shared_LDADD = $(tests_test_node_LDADD)
$(tests_test_view_shared_OBJECTS): $(pb_headers)

# The simulator itself: its disks, clocks and checks; a few seeds, replayed.
check_PROGRAMS += tests/test_replay
TESTS += tests/test_replay
tests_test_replay_SOURCES = tests/test_replay.c
tests_test_replay_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_replay_LDADD = sim/libexperiment.a lib/trace/libtrace.a $(tests_test_node_LDADD)
$(tests_test_replay_OBJECTS): $(pb_headers)
check_PROGRAMS += tests/test_sim tests/test_sim_checks
TESTS += tests/test_sim tests/test_sim_checks
tests_test_sim_SOURCES = tests/test_sim.c tests/disks_make.c tests/disks_make.h
tests_test_sim_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_sim_LDADD = $(tests_test_node_LDADD)
tests_test_sim_checks_SOURCES = tests/test_sim_checks.c tests/disks_make.c tests/disks_make.h
tests_test_sim_checks_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_sim_checks_LDADD = $(tests_test_node_LDADD)
$(tests_test_sim_OBJECTS) $(tests_test_sim_checks_OBJECTS): $(pb_headers)
dist_check_SCRIPTS += tests/delay.sh tests/load.sh tests/rtt.sh tests/slow.sh tests/trace.sh
TESTS += tests/delay.sh tests/load.sh tests/rtt.sh tests/slow.sh tests/trace.sh
tests/trace.log: sim/lbsim
dist_check_SCRIPTS += tests/sim.sh tests/scale.sh tests/balance.sh tests/change.sh tests/drift_sim.sh tests/vt.sh
TESTS += tests/sim.sh tests/scale.sh tests/balance.sh tests/change.sh tests/drift_sim.sh tests/vt.sh
tests/change.log tests/scale.log tests/vt.log: sim/lbsim
EXTRA_DIST += tests/lbsim_lib.sh
EXTRA_DIST += tests/vt/ring.0.json tests/vt/ring.1.json tests/vt/ring.2.json tests/vt/ring.3.json
tests/sim.log: sim/lbsim sim/lbsim-bugs
tests/balance.log: sim/lbsim
# What the papers print: how numbers are judged; every number, computed.
check_PROGRAMS += tests/test_tables
TESTS += tests/test_tables
tests_test_tables_SOURCES = tests/test_tables.c
tests_test_tables_LDADD = papers/libpapers.a lib/cli/libcli.a lib/file/libfile.a $(node_libs) $(ZLIB_LIBS) \
	$(ARCHIVE_LIBS) $(CMOCKA_LIBS)
# Pure libraries and tables in which mistakes can be planted (lib/base/mutants.h). Not installed.
check_LIBRARIES += papers/libmutants.a
papers_libmutants_a_SOURCES = $(lib_balance_libbalance_a_SOURCES) $(lib_host_libhost_a_SOURCES) \
	$(lib_space_libspace_a_SOURCES) $(lib_embed_libembed_a_SOURCES) $(papers_libpapers_a_SOURCES)
papers_libmutants_a_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_MUTANTS
papers_libmutants_a_CFLAGS = $(lib_host_libhost_a_CFLAGS)
check_PROGRAMS += tests/test_mutants
TESTS += tests/test_mutants
tests_test_mutants_SOURCES = tests/test_mutants.c
tests_test_mutants_CPPFLAGS = $(AM_CPPFLAGS) -DLBM_MUTANTS
tests_test_mutants_LDADD = papers/libmutants.a lib/cli/libcli.a lib/file/libfile.a $(node_libs) $(ZLIB_LIBS) \
	$(ARCHIVE_LIBS)
dist_check_SCRIPTS += tests/tables.sh
TESTS += tests/tables.sh
tests/tables.log: sim/lbsim papers/lbpapers
# Each race of the protocol, told step by step.
dist_check_SCRIPTS += tests/races.sh
EXTRA_DIST += tests/races
TESTS += tests/races.sh
tests/races.log: sim/lbsim sim/lbsim-bugs

# Load policies between nodes, and loads that change.
check_PROGRAMS += tests/test_levelling tests/test_load tests/test_replan
TESTS += tests/test_levelling tests/test_load tests/test_replan
tests_test_levelling_SOURCES = tests/test_levelling.c tests/scene.c tests/scene.h
tests_test_levelling_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_levelling_LDADD = $(tests_test_node_LDADD)
$(tests_test_levelling_OBJECTS): $(pb_headers)
check_PROGRAMS += tests/test_moves
TESTS += tests/test_moves
tests_test_moves_SOURCES = tests/test_moves.c tests/scene.c tests/scene.h
tests_test_moves_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_moves_LDADD = $(tests_test_node_LDADD)
$(tests_test_moves_OBJECTS): $(pb_headers)
check_PROGRAMS += tests/test_kept
TESTS += tests/test_kept
tests_test_kept_SOURCES = tests/test_kept.c
tests_test_kept_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_kept_LDADD = $(tests_test_node_LDADD)
$(tests_test_kept_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_collect
TESTS += tests/test_collect
tests_test_collect_SOURCES = tests/test_collect.c tests/scene.c tests/scene.h
tests_test_collect_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_collect_LDADD = $(tests_test_node_LDADD)
$(tests_test_collect_OBJECTS): $(pb_headers)
check_PROGRAMS += tests/test_parts
TESTS += tests/test_parts
tests_test_parts_SOURCES = tests/test_parts.c tests/scene.c tests/scene.h
tests_test_parts_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_parts_LDADD = $(tests_test_node_LDADD)
$(tests_test_parts_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_edges
TESTS += tests/test_edges
tests_test_edges_SOURCES = tests/test_edges.c tests/scene.c tests/scene.h
tests_test_edges_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_edges_LDADD = $(tests_test_node_LDADD)
$(tests_test_edges_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_plan_again
TESTS += tests/test_plan_again
tests_test_plan_again_SOURCES = tests/test_plan_again.c
tests_test_plan_again_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_plan_again_LDADD = $(tests_test_node_LDADD)
$(tests_test_plan_again_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_outline
TESTS += tests/test_outline
tests_test_outline_SOURCES = tests/test_outline.c tests/scene.c tests/scene.h
tests_test_outline_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_outline_LDADD = $(tests_test_node_LDADD)
$(tests_test_outline_OBJECTS): $(pb_headers)

check_PROGRAMS += tests/test_gates tests/test_network
TESTS += tests/test_gates tests/test_network
tests_test_network_SOURCES = tests/test_network.c tests/scene.c tests/scene.h
tests_test_network_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_network_LDADD = $(tests_test_node_LDADD)
$(tests_test_network_OBJECTS): $(pb_headers)
tests_test_gates_SOURCES = tests/test_gates.c tests/scene.c tests/scene.h
tests_test_gates_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_gates_LDADD = $(tests_test_node_LDADD)
$(tests_test_gates_OBJECTS): $(pb_headers)
tests_test_load_SOURCES = tests/test_load.c tests/loads.c tests/loads.h tests/scene.c tests/scene.h
tests_test_load_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_load_LDADD = $(tests_test_node_LDADD)
$(tests_test_load_OBJECTS): $(pb_headers)
tests_test_replan_SOURCES = tests/test_replan.c tests/loads.c tests/loads.h tests/scene.c tests/scene.h
tests_test_replan_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_replan_LDADD = $(tests_test_node_LDADD)
$(tests_test_replan_OBJECTS): $(pb_headers)

# What operators do.
check_PROGRAMS += tests/test_operate
TESTS += tests/test_operate
tests_test_operate_SOURCES = tests/test_operate.c
tests_test_operate_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_operate_LDADD = $(tests_test_node_LDADD)
$(tests_test_operate_OBJECTS): $(pb_headers)

# The node core in virtual time.
check_PROGRAMS += tests/test_node
TESTS += tests/test_node
tests_test_node_SOURCES = tests/test_node.c tests/scene.c tests/scene.h
check_PROGRAMS += tests/test_node_swarm tests/test_handoff tests/test_session tests/test_ghosts tests/test_log
TESTS += tests/test_node_swarm tests/test_handoff tests/test_session tests/test_ghosts tests/test_log
tests_test_log_SOURCES = tests/test_log.c tests/scene.c tests/scene.h
tests_test_log_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_log_LDADD = $(tests_test_node_LDADD)
$(tests_test_log_OBJECTS): $(pb_headers)
tests_test_node_swarm_SOURCES = tests/test_node_swarm.c
tests_test_node_swarm_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_node_swarm_LDADD = $(tests_test_node_LDADD)
tests_test_handoff_SOURCES = tests/test_handoff.c tests/alone.c tests/alone.h
tests_test_handoff_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_handoff_LDADD = $(tests_test_node_LDADD)
tests_test_session_SOURCES = tests/test_session.c tests/alone.c tests/alone.h
tests_test_session_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_session_LDADD = $(tests_test_node_LDADD)
tests_test_ghosts_SOURCES = tests/test_ghosts.c tests/alone.c tests/alone.h
tests_test_ghosts_CFLAGS = $(tests_test_node_CFLAGS)
tests_test_ghosts_LDADD = $(tests_test_node_LDADD)
tests_test_node_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_test_node_LDADD = sim/libsim.a $(node_libs) $(CMOCKA_LIBS)
$(tests_test_node_OBJECTS): $(pb_headers)

# Hosts, regions, exchange.
check_PROGRAMS += tests/test_host tests/test_coordinates tests/test_sites tests/test_colour tests/test_host_read \
	tests/test_host_networks tests/test_host_files tests/test_space tests/test_balance
TESTS += tests/test_host tests/test_coordinates tests/test_sites tests/test_colour tests/test_host_read \
	tests/test_host_networks tests/test_host_files tests/test_space tests/test_balance
host_test_libs = lib/host/libhost.a lib/graph/libgraph.a lib/base/libbase.a $(host_libs) $(graph_libs) \
	$(CMOCKA_LIBS)
tests_test_host_SOURCES = tests/test_host.c tests/hosts_make.c tests/hosts_make.h
tests_test_host_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_host_LDADD = $(host_test_libs)
tests_test_coordinates_SOURCES = tests/test_coordinates.c
tests_test_coordinates_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_coordinates_LDADD = $(host_test_libs)
tests_test_sites_SOURCES = tests/test_sites.c tests/hosts_make.c tests/hosts_make.h
tests_test_sites_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sites_LDADD = $(host_test_libs)
tests_test_colour_SOURCES = tests/test_colour.c tests/hosts_make.c tests/hosts_make.h
tests_test_colour_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_colour_LDADD = $(host_test_libs)
tests_test_host_read_SOURCES = tests/test_host_read.c
tests_test_host_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_host_read_LDADD = $(host_test_libs)
tests_test_host_files_SOURCES = tests/test_host_files.c tests/hosts_judge.c tests/hosts_judge.h
tests_test_host_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_host_files_LDADD = $(host_test_libs)
tests_test_host_networks_SOURCES = tests/test_host_networks.c tests/hosts_judge.c tests/hosts_judge.h
tests_test_host_networks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_host_networks_LDADD = $(host_test_libs)
tests_test_space_SOURCES = tests/test_space.c
tests_test_space_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_space_LDADD = lib/space/libspace.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
tests_test_balance_SOURCES = tests/test_balance.c
tests_test_balance_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_balance_LDADD = lib/balance/libbalance.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/test_flow tests/test_spectrum tests/test_policy tests/test_policy_auto tests/test_level
TESTS += tests/test_flow tests/test_spectrum tests/test_policy tests/test_policy_auto tests/test_level
tests_test_flow_SOURCES = tests/test_flow.c $(field_make)
tests_test_flow_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_flow_LDADD = lib/balance/libbalance.a $(host_test_libs)
tests_test_level_SOURCES = tests/test_level.c tests/hosts_make.c tests/hosts_make.h
tests_test_level_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_level_LDADD = lib/balance/libbalance.a $(host_test_libs)
tests_test_spectrum_SOURCES = tests/test_spectrum.c tests/hosts_make.c tests/hosts_make.h
tests_test_spectrum_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_spectrum_LDADD = $(host_test_libs)
field_make = tests/field_make.c tests/field_make.h tests/hosts_make.c tests/hosts_make.h
tests_test_policy_SOURCES = tests/test_policy.c $(field_make)
tests_test_policy_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_policy_LDADD = lib/balance/libbalance.a $(host_test_libs)
tests_test_policy_auto_SOURCES = tests/test_policy_auto.c $(field_make)
tests_test_policy_auto_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_policy_auto_LDADD = lib/balance/libbalance.a $(host_test_libs)

# Graphs and files.
check_PROGRAMS += tests/test_trace
TESTS += tests/test_trace
tests_test_trace_SOURCES = tests/test_trace.c
tests_test_trace_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_trace_LDADD = lib/trace/libtrace.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(CMOCKA_LIBS)
check_PROGRAMS += tests/test_graph tests/test_generate tests/test_read tests/test_file
TESTS += tests/test_graph tests/test_generate tests/test_read tests/test_file
graph_test_libs = lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(CMOCKA_LIBS)
tests_test_graph_SOURCES = tests/test_graph.c tests/graph_make.c tests/graph_make.h
tests_test_graph_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_graph_LDADD = $(graph_test_libs)
tests_test_generate_SOURCES = tests/test_generate.c tests/graph_make.c tests/graph_make.h
tests_test_generate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_generate_LDADD = $(graph_test_libs)
check_PROGRAMS += tests/test_formats
TESTS += tests/test_formats
tests_test_formats_SOURCES = tests/test_formats.c tests/graph_make.c tests/graph_make.h
tests_test_formats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_formats_LDADD = $(graph_test_libs) -lm
tests_test_read_SOURCES = tests/test_read.c tests/graph_make.c tests/graph_make.h
tests_test_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_read_LDADD = $(graph_test_libs)
tests_test_file_SOURCES = tests/test_file.c tests/graph_make.c tests/graph_make.h
tests_test_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(ZLIB_CFLAGS)
tests_test_file_LDADD = lib/file/libfile.a lib/host/libhost.a $(graph_test_libs) $(host_libs) $(ZLIB_LIBS) \
	$(ARCHIVE_LIBS)

# The corpora of the fuzz harnesses. A harness is a word here and what tests/fuzz/harnesses.h says.
fuzz_harnesses = tests/fuzz/harnesses.h tests/fuzz/read.h tests/fuzz/fuzz_hosts_capacities.c \
	tests/fuzz/fuzz_hosts_spec.c tests/fuzz/fuzz_read_csv.c tests/fuzz/fuzz_read_dimacs.c \
	tests/fuzz/fuzz_read_gml.c tests/fuzz/fuzz_read_gmsh.c tests/fuzz/fuzz_read_mesh.c \
	tests/fuzz/fuzz_read_pajek.c tests/fuzz/fuzz_import_vt.c tests/fuzz/fuzz_read_edges.c \
	tests/fuzz/fuzz_read_graphml.c tests/fuzz/fuzz_read_hosts.c tests/fuzz/fuzz_read_matrix_market.c \
	tests/fuzz/fuzz_read_metis.c tests/fuzz/fuzz_read_scotch.c tests/fuzz/fuzz_read_trace.c \
	tests/fuzz/fuzz_wire_control.c tests/fuzz/fuzz_wire_peer.c
fuzz_libs = sim/libexperiment.a lib/trace/libtrace.a lib/wire/libwire.a lib/wire/libpb.a lib/host/libhost.a \
	lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(host_libs) $(PROTOBUF_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += tests/test_corpus
TESTS += tests/test_corpus
tests_test_corpus_SOURCES = tests/test_corpus.c $(fuzz_harnesses)
tests_test_corpus_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_corpus_LDADD = $(fuzz_libs) $(CMOCKA_LIBS)
$(tests_test_corpus_OBJECTS): $(pb_headers)
EXTRA_DIST += tests/corpus tests/fuzz.sh
if FUZZERS
check_PROGRAMS += tests/fuzz/fuzzer
tests_fuzz_fuzzer_SOURCES = tests/fuzz/main.c $(fuzz_harnesses)
tests_fuzz_fuzzer_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS)
tests_fuzz_fuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzzer_LDADD = $(fuzz_libs)
$(tests_fuzz_fuzzer_OBJECTS): $(pb_headers)
endif

# Real clusters of sixteen daemons.
dist_check_SCRIPTS += tests/cluster.sh tests/crash.sh
TESTS += tests/cluster.sh tests/crash.sh
EXTRA_DIST += tests/cable_lib.sh tests/cluster_lib.sh tests/slow_cable.py
tests/cluster.log tests/crash.log tests/etcd.log tests/promote.log: client/lbctl daemon/lbmapd

# Embedding: the kernel; orders, renormalization, starts; pins; levels and pivots.
check_PROGRAMS += tests/test_embed tests/test_renormalize tests/test_pins tests/test_levels
TESTS += tests/test_embed tests/test_renormalize tests/test_pins tests/test_levels
embed_make = tests/embed_make.c tests/embed_make.h tests/graph_make.c tests/graph_make.h
embed_test_libs = lib/embed/libembed.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(PLANARITY_LIBS) \
	$(CMOCKA_LIBS)
tests_test_embed_SOURCES = tests/test_embed.c $(embed_make)
tests_test_embed_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_embed_LDADD = $(embed_test_libs)
tests_test_renormalize_SOURCES = tests/test_renormalize.c $(embed_make)
tests_test_renormalize_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_renormalize_LDADD = $(embed_test_libs)
tests_test_pins_SOURCES = tests/test_pins.c tests/embed_make.c tests/embed_make.h
tests_test_pins_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_pins_LDADD = $(embed_test_libs)
tests_test_levels_SOURCES = tests/test_levels.c $(embed_make)
tests_test_levels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_levels_LDADD = $(embed_test_libs)
