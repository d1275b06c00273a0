# lib/node
noinst_LIBRARIES += lib/node/libnode.a
# One list a room, from the top down (docs/architecture.md).
node_dispatch = lib/node/dispatch/events.c lib/node/dispatch/events.h lib/node/dispatch/node.c
node_client = lib/node/client/admin.c lib/node/client/alerts.c lib/node/client/client.h \
	lib/node/client/cut.c lib/node/client/explain.c lib/node/client/internal.h \
	lib/node/client/query.c lib/node/client/requests.c lib/node/client/recover.c lib/node/client/rights.c \
	lib/node/client/summary.c
node_job = lib/node/job/ingest.h lib/node/job/ingest_gather.c lib/node/job/ingest_slice.c lib/node/job/spread.c \
	lib/node/job/ingest_store.c lib/node/job/internal.h lib/node/job/job.h lib/node/job/jobs.c \
	lib/node/job/plan_task.c lib/node/job/planning.c \
	lib/node/job/state.h lib/node/job/submit.c lib/node/job/table.c
node_replication = lib/node/replication/internal.h lib/node/replication/replica_store.c \
	lib/node/replication/lease.c lib/node/replication/replication.h \
	lib/node/replication/replication_log.c lib/node/replication/takeover.c
node_application = lib/node/application/application.c lib/node/application/application.h \
	lib/node/application/change.c lib/node/application/edges.c lib/node/application/edges_heard.c \
	lib/node/application/guest.h lib/node/application/ids.c lib/node/application/neighbours.c \
	lib/node/application/places.c \
	lib/node/application/programs.c lib/node/application/program_watch.c \
	lib/node/application/payloads.c lib/node/application/unserved.c lib/node/client/run.c
node_mapping = lib/node/mapping/diffuse.c lib/node/mapping/diffuse.h lib/node/mapping/ghosts.c \
	lib/node/mapping/internal.h lib/node/mapping/label_choice.c lib/node/mapping/label_flow.c \
	lib/node/mapping/label_loads.c \
	lib/node/mapping/labels.c \
	lib/node/mapping/levels.c lib/node/mapping/mapping.c lib/node/mapping/mapping.h \
	lib/node/mapping/normalization.c lib/node/mapping/normalization.h lib/node/mapping/regions.c \
	lib/node/mapping/region_cuts.c \
	lib/node/mapping/remap.c lib/node/mapping/remap.h lib/node/mapping/sums.c \
	lib/node/mapping/sums_tree.c lib/node/mapping/waves.c
node_exchange = lib/node/exchange/band.c lib/node/exchange/decision.h lib/node/exchange/exchange.c \
	lib/node/exchange/exchange.h lib/node/exchange/flow.c lib/node/exchange/internal.h \
	lib/node/exchange/load.c lib/node/exchange/netting.c lib/node/exchange/pair.c lib/node/exchange/policy.c \
	lib/node/exchange/policy_names.c lib/node/exchange/round_state.c lib/node/exchange/rounds.c \
	lib/node/exchange/settled.c lib/node/exchange/state.h
node_migration = lib/node/migration/completion.c lib/node/migration/due.c lib/node/migration/handoff.c \
	lib/node/migration/history.c lib/node/migration/history.h lib/node/migration/internal.h \
	lib/node/migration/migration.h lib/node/migration/move_names.c lib/node/migration/offer_check.c \
	lib/node/migration/offer_claims.c lib/node/migration/offer_take.c lib/node/migration/pinned.c \
	lib/node/migration/queue.c lib/node/migration/scheduler.c lib/node/migration/throttle.c
node_log = lib/node/log/alone.c lib/node/log/confirm.c lib/node/log/control_log.c \
	lib/node/log/deferred.c lib/node/log/diverged.c \
	lib/node/log/ensemble.c lib/node/log/engine.c lib/node/log/external.c lib/node/log/forced.c lib/node/log/heard.c \
	lib/node/log/internal.h lib/node/log/local.c lib/node/log/log.h lib/node/log/log_copy.c lib/node/log/send_entries.c \
	lib/node/log/log_requests.c lib/node/log/log_snapshot.c lib/node/log/promote.c lib/node/log/proposals.c \
	lib/node/log/propose_right.c lib/node/log/terms.c
node_membership = lib/node/membership/capacity.c lib/node/membership/drain.c \
	lib/node/membership/eviction_cap.c \
	lib/node/membership/failure_detector.c lib/node/membership/internal.h lib/node/membership/maintenance.c \
	lib/node/membership/membership.c \
	lib/node/membership/membership.h lib/node/membership/network.c lib/node/membership/network.h \
	lib/node/membership/peers.c lib/node/membership/straggler.c lib/node/membership/topology_links.c
node_records = lib/node/records/record_batch.c lib/node/records/record_batch.h lib/node/records/record_packed.c \
	lib/node/records/record_packed.h lib/node/records/records.c lib/node/records/blobs.c \
	lib/node/records/blobs.h lib/node/records/records.h \
	lib/node/records/shard.c lib/node/records/shard.h
node_local = lib/node/local/job_table.c lib/node/local/local.h lib/node/local/reach.c lib/node/local/self.c
node_core = lib/node/core/core.h lib/node/core/effects.c lib/node/core/events.h lib/node/core/persist.c \
	lib/node/core/persist.h lib/node/core/state.h lib/node/core/timeouts.h lib/node/core/transitions.c \
	lib/node/core/transitions.h
node_view = lib/node/view/backups.c lib/node/view/ensemble.h lib/node/view/hosts.c lib/node/view/internal.h \
	lib/node/view/job_terms.c \
	lib/node/view/departures.c lib/node/view/log_place.c \
	lib/node/view/member_maintenance.c lib/node/view/members.c lib/node/view/view.c \
	lib/node/view/view.h lib/node/view/view_cache.c lib/node/view/view_commands.c \
	lib/node/view/view_requests.c lib/node/view/view_snapshot.c
lib_node_libnode_a_SOURCES = lib/node/mutants.h lib/node/node.h $(node_dispatch) $(node_client) $(node_job) \
	$(node_replication) $(node_application) $(node_mapping) $(node_exchange) $(node_migration) $(node_log) \
	$(node_membership) $(node_records) $(node_local) $(node_core) $(node_view)
lib_node_libnode_a_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(NETTLE_CFLAGS)
$(lib_node_libnode_a_OBJECTS): $(pb_headers)
