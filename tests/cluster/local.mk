# tests/cluster
# Real daemons on this machine: sixteen at most. How long a script measures is in its environment.
check_PROGRAMS += docs/examples/amr docs/examples/crowd docs/examples/heat docs/examples/owned docs/examples/steps \
	docs/examples/wator tests/cluster/drifter \
	tests/cluster/broad tests/cluster/crowd_alone tests/cluster/heat_alone tests/cluster/heat_paced tests/cluster/linker \
	tests/cluster/poster tests/cluster/refiner tests/cluster/sender tests/cluster/talker tests/cluster/worker
cluster_scripts = tests/cluster/adapt.sh tests/cluster/amr.sh tests/cluster/api.sh tests/cluster/approve.sh \
	tests/cluster/authority.sh tests/cluster/backup.sh tests/cluster/bindings.sh tests/cluster/blob_files.sh \
	tests/cluster/broad.sh tests/cluster/chaos.sh \
	tests/cluster/cluster.sh tests/cluster/copies.sh tests/cluster/crash.sh tests/cluster/crowd.sh \
	tests/cluster/daemon.sh tests/cluster/diffuse.sh tests/cluster/disk.sh tests/cluster/durability.sh \
	tests/cluster/enroll.sh \
	tests/cluster/ensemble.sh tests/cluster/etcd.sh tests/cluster/explain.sh tests/cluster/heat.sh \
	tests/cluster/kth.sh tests/cluster/leader.sh tests/cluster/leaver.sh tests/cluster/links.sh \
	tests/cluster/load.sh tests/cluster/maintain.sh tests/cluster/members.sh tests/cluster/mpirun.sh \
	tests/cluster/own_files.sh tests/cluster/owners_check.sh tests/cluster/parallel.sh \
	tests/cluster/particles.sh tests/cluster/places.sh tests/cluster/promote.sh \
	tests/cluster/python.sh tests/cluster/reach.sh \
	tests/cluster/remote.sh tests/cluster/renew.sh tests/cluster/rights.sh tests/cluster/rogue.sh \
	tests/cluster/rtt.sh tests/cluster/run.sh tests/cluster/run_users.sh tests/cluster/send.sh \
	tests/cluster/talk.sh tests/cluster/thinning.sh tests/cluster/throttle.sh tests/cluster/tls.sh \
	tests/cluster/tls_refused.sh tests/cluster/tokens.sh tests/cluster/trace.sh tests/cluster/truth.sh \
	tests/cluster/wator.sh
# A minute or more each: scripts/nightly runs them.
long_cluster_scripts = tests/cluster/blob.sh tests/cluster/delay.sh tests/cluster/drift.sh \
	tests/cluster/ensemble_lost.sh tests/cluster/flood.sh \
	tests/cluster/heavy.sh tests/cluster/hog.sh tests/cluster/join.sh tests/cluster/kills.sh \
	tests/cluster/losses.sh tests/cluster/policy.sh tests/cluster/slow.sh tests/cluster/upgrade.sh
dist_check_SCRIPTS += $(long_cluster_scripts)
dist_check_SCRIPTS += $(cluster_scripts)
TESTS += $(cluster_scripts)
dist_check_SCRIPTS += tests/cluster/diffuse_faults.sh tests/cluster/field_lib.sh \
	tests/cluster/history_check.sh tests/cluster/owners.sh
EXTRA_DIST += tests/cluster/cable_lib.sh tests/cluster/cluster_lib.sh tests/cluster/delay_lib.sh \
	tests/cluster/heat_python.py tests/cluster/bindings_all.cpp tests/cluster/bindings_sizes.c \
	tests/cluster/bindings_sizes.f90 tests/cluster/mpi_places.c \
	tests/cluster/delayer.py tests/cluster/flood.py tests/cluster/etcd_gate.py \
	tests/cluster/slow_cable.py tests/cluster/recorder.py tests/cluster/tls_cases.py \
	tests/cluster/truth.py
tests_cluster_worker_SOURCES = tests/cluster/worker.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_worker_LDADD = liblbmap.la
tests_cluster_drifter_SOURCES = tests/cluster/drifter.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_drifter_LDADD = liblbmap.la
tests_cluster_refiner_SOURCES = tests/cluster/refiner.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_refiner_LDADD = liblbmap.la
tests_cluster_linker_SOURCES = tests/cluster/linker.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_linker_LDADD = liblbmap.la
tests_cluster_talker_SOURCES = tests/cluster/talker.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_talker_LDADD = liblbmap.la
docs_examples_amr_SOURCES = docs/examples/amr.c
docs_examples_amr_LDADD = liblbmap.la
docs_examples_crowd_SOURCES = docs/examples/crowd.c
docs_examples_crowd_LDADD = liblbmap.la
tests_cluster_broad_SOURCES = tests/cluster/broad.c tests/cluster/alone.h
tests_cluster_broad_LDADD = liblbmap.la
tests_cluster_crowd_alone_SOURCES = tests/cluster/crowd_alone.c tests/cluster/alone.h
tests_cluster_crowd_alone_LDADD = liblbmap.la
docs_examples_heat_SOURCES = docs/examples/heat.c
docs_examples_heat_LDADD = liblbmap.la
tests_cluster_heat_alone_SOURCES = tests/cluster/heat_alone.c tests/cluster/alone.h
tests_cluster_heat_alone_LDADD = liblbmap.la
tests_cluster_heat_paced_SOURCES = tests/cluster/heat_paced.c
tests_cluster_heat_paced_LDADD = liblbmap.la
tests_cluster_poster_SOURCES = tests/cluster/poster.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_poster_LDADD = liblbmap.la
tests_cluster_sender_SOURCES = tests/cluster/sender.c tests/cluster/serving.c tests/cluster/serving.h
tests_cluster_sender_LDADD = liblbmap.la
docs_examples_owned_SOURCES = docs/examples/owned.c
docs_examples_owned_LDADD = liblbmap.la
docs_examples_wator_SOURCES = docs/examples/wator.c
docs_examples_wator_LDADD = liblbmap.la
docs_examples_steps_SOURCES = docs/examples/steps.c
docs_examples_steps_LDADD = liblbmap.la
tests/cluster/trace.log: sim/lbsim
tests/cluster/cluster.log tests/cluster/crash.log tests/cluster/etcd.log tests/cluster/promote.log: \
	client/lbctl daemon/lbmapd
