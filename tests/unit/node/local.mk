# tests/unit/node
unit_node_short_tests = tests/unit/node/test_admin tests/unit/node/test_blobs tests/unit/node/test_checkpoint \
	tests/unit/node/test_copies \
	tests/unit/node/test_cut \
	tests/unit/node/test_diffuse tests/unit/node/test_ensemble tests/unit/node/test_evictions \
	tests/unit/node/test_ghosts tests/unit/node/test_handoff tests/unit/node/test_history \
	tests/unit/node/test_ingest tests/unit/node/test_laps tests/unit/node/test_liar tests/unit/node/test_liar_log \
	tests/unit/node/test_liar_offers \
	tests/unit/node/test_log \
	tests/unit/node/test_node tests/unit/node/test_places tests/unit/node/test_programs \
	tests/unit/node/test_query tests/unit/node/test_record_packed tests/unit/node/test_rights \
	tests/unit/node/test_rounds tests/unit/node/test_shard tests/unit/node/test_summary \
	tests/unit/node/test_tree tests/unit/node/test_view tests/unit/node/test_view_cache \
	tests/unit/node/test_view_sites tests/unit/node/test_view_snapshot
# Minutes under sanitizers: scripts/nightly runs them there.
unit_node_long_tests = tests/unit/node/test_edges tests/unit/node/test_load tests/unit/node/test_load_policies \
	tests/unit/node/test_network tests/unit/node/test_node_swarm tests/unit/node/test_remap \
	tests/unit/node/test_starts tests/unit/node/test_throttle
unit_node_tests = $(unit_node_short_tests) $(unit_node_long_tests)
check_PROGRAMS += $(unit_node_tests)
TESTS += $(unit_node_tests)
tests_unit_node_test_view_SOURCES = tests/unit/node/test_view.c tests/unit/node/view_fixture.c \
	tests/unit/node/view_fixture.h
tests_unit_node_test_view_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_view_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_copies_SOURCES = tests/unit/node/test_copies.c tests/unit/node/view_fixture.c \
	tests/unit/node/view_fixture.h
tests_unit_node_test_copies_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_copies_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_view_sites_SOURCES = tests/unit/node/test_view_sites.c tests/unit/node/view_fixture.c \
	tests/unit/node/view_fixture.h
tests_unit_node_test_view_sites_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_view_sites_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_view_snapshot_SOURCES = tests/unit/node/test_view_snapshot.c
tests_unit_node_test_view_snapshot_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_view_snapshot_LDADD = $(tests_unit_node_test_node_LDADD)
liar_fixture = tests/unit/node/liar_fixture.c tests/unit/node/liar_fixture.h tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_liar_SOURCES = tests/unit/node/test_liar.c $(liar_fixture)
tests_unit_node_test_liar_log_SOURCES = tests/unit/node/test_liar_log.c $(liar_fixture)
tests_unit_node_test_liar_offers_SOURCES = tests/unit/node/test_liar_offers.c $(liar_fixture)
tests_unit_node_test_liar_offers_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_liar_offers_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_liar_log_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_liar_log_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_liar_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_liar_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_evictions_SOURCES = tests/unit/node/test_evictions.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_evictions_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_evictions_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_checkpoint_SOURCES = tests/unit/node/test_checkpoint.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_checkpoint_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_checkpoint_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_rights_SOURCES = tests/unit/node/test_rights.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_rights_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_rights_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_shard_SOURCES = tests/unit/node/test_shard.c
tests_unit_node_test_shard_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_shard_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_view_cache_SOURCES = tests/unit/node/test_view_cache.c
tests_unit_node_test_view_cache_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_view_cache_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_load_policies_SOURCES = tests/unit/node/test_load_policies.c \
	tests/unit/node/cluster_fixture.c tests/unit/node/cluster_fixture.h
tests_unit_node_test_load_policies_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_load_policies_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_history_SOURCES = tests/unit/node/test_history.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_history_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_history_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_record_packed_SOURCES = tests/unit/node/test_record_packed.c
tests_unit_node_test_record_packed_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_record_packed_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_cut_SOURCES = tests/unit/node/test_cut.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_cut_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_cut_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_query_SOURCES = tests/unit/node/test_query.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_query_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_query_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_summary_SOURCES = tests/unit/node/test_summary.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_summary_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_summary_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_ingest_SOURCES = tests/unit/node/test_ingest.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_ingest_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_ingest_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_edges_SOURCES = tests/unit/node/test_edges.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_edges_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_edges_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_starts_SOURCES = tests/unit/node/test_starts.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_starts_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_starts_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_diffuse_SOURCES = tests/unit/node/test_diffuse.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_diffuse_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_diffuse_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_tree_SOURCES = tests/unit/node/test_tree.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_tree_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_tree_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_network_SOURCES = tests/unit/node/test_network.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_network_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_network_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_throttle_SOURCES = tests/unit/node/test_throttle.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_throttle_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_throttle_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_load_SOURCES = tests/unit/node/test_load.c tests/unit/node/load_fixture.c \
	tests/unit/node/load_fixture.h tests/unit/node/cluster_fixture.c tests/unit/node/cluster_fixture.h
tests_unit_node_test_load_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_load_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_remap_SOURCES = tests/unit/node/test_remap.c tests/unit/node/load_fixture.c \
	tests/unit/node/load_fixture.h tests/unit/node/cluster_fixture.c tests/unit/node/cluster_fixture.h
tests_unit_node_test_remap_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_remap_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_admin_SOURCES = tests/unit/node/test_admin.c
tests_unit_node_test_admin_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_admin_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_node_SOURCES = tests/unit/node/test_node.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_ensemble_SOURCES = tests/unit/node/test_ensemble.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_ensemble_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_ensemble_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_log_SOURCES = tests/unit/node/test_log.c tests/unit/node/cluster_fixture.c \
	tests/unit/node/cluster_fixture.h
tests_unit_node_test_log_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_log_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_node_swarm_SOURCES = tests/unit/node/test_node_swarm.c
tests_unit_node_test_node_swarm_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_node_swarm_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_handoff_SOURCES = tests/unit/node/test_handoff.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_handoff_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_handoff_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_blobs_SOURCES = tests/unit/node/test_blobs.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_blobs_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_blobs_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_places_SOURCES = tests/unit/node/test_places.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_places_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_places_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_programs_SOURCES = tests/unit/node/test_programs.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_programs_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_programs_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_rounds_SOURCES = tests/unit/node/test_rounds.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_rounds_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_rounds_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_laps_SOURCES = tests/unit/node/test_laps.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_laps_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_laps_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_ghosts_SOURCES = tests/unit/node/test_ghosts.c tests/unit/node/node_fixture.c \
	tests/unit/node/node_fixture.h
tests_unit_node_test_ghosts_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_node_test_ghosts_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_node_test_node_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_node_test_node_LDADD = sim/libsim.a sim/libapi.a $(node_libs) $(CMOCKA_LIBS)
$(tests_unit_node_test_view_OBJECTS) $(tests_unit_node_test_view_sites_OBJECTS) \
	$(tests_unit_node_test_view_snapshot_OBJECTS) $(tests_unit_node_test_shard_OBJECTS) \
	$(tests_unit_node_test_node_swarm_OBJECTS) $(tests_unit_node_test_handoff_OBJECTS) \
	$(tests_unit_node_test_liar_OBJECTS) $(tests_unit_node_test_liar_offers_OBJECTS) \
	$(tests_unit_node_test_liar_log_OBJECTS) $(tests_unit_node_test_rights_OBJECTS) \
	$(tests_unit_node_test_checkpoint_OBJECTS) \
	$(tests_unit_node_test_evictions_OBJECTS) $(tests_unit_node_test_places_OBJECTS) \
	$(tests_unit_node_test_programs_OBJECTS) \
	$(tests_unit_node_test_rounds_OBJECTS) $(tests_unit_node_test_ghosts_OBJECTS) \
	$(tests_unit_node_test_laps_OBJECTS) \
	$(tests_unit_node_test_view_cache_OBJECTS) $(tests_unit_node_test_load_policies_OBJECTS) \
	$(tests_unit_node_test_history_OBJECTS) $(tests_unit_node_test_record_packed_OBJECTS) \
	$(tests_unit_node_test_cut_OBJECTS) $(tests_unit_node_test_query_OBJECTS) \
	$(tests_unit_node_test_ingest_OBJECTS) \
	$(tests_unit_node_test_edges_OBJECTS) $(tests_unit_node_test_starts_OBJECTS) \
	$(tests_unit_node_test_diffuse_OBJECTS) $(tests_unit_node_test_tree_OBJECTS) \
	$(tests_unit_node_test_network_OBJECTS) $(tests_unit_node_test_summary_OBJECTS) \
	$(tests_unit_node_test_throttle_OBJECTS) $(tests_unit_node_test_load_OBJECTS) \
	$(tests_unit_node_test_remap_OBJECTS) $(tests_unit_node_test_admin_OBJECTS) \
	$(tests_unit_node_test_ensemble_OBJECTS) $(tests_unit_node_test_log_OBJECTS) \
	$(tests_unit_node_test_node_OBJECTS): $(pb_headers)
