# bench
# Reading a graph: bench/read GRAPH, and bench/read.sh to compare with gpmetis.
noinst_PROGRAMS += bench/read
bench_read_SOURCES = bench/read.c
bench_read_LDADD = lib/file/libfile.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) $(ZLIB_LIBS) \
	$(ARCHIVE_LIBS)
EXTRA_DIST += bench/read.sh

# Planning: bench/plan GRAPH HOSTS [SEED [METHOD|EFFORT]].
noinst_PROGRAMS += bench/plan
bench_plan_SOURCES = bench/plan.c
bench_plan_LDADD = lib/file/libfile.a $(map_libs) $(graph_libs) $(ZLIB_LIBS) $(ARCHIVE_LIBS)
# bench/quality.sh compares plans with the peers'; bench/peers.sh times them side by side;
# bench/plan_scale.sh grows them.
EXTRA_DIST += bench/lib.sh bench/quality.sh bench/peers.sh bench/plan_scale.sh bench/weighted.sh

# Sweeps of diffusion by delay and loss, and the figure of them: bench/converge.sh FILE.svg.
EXTRA_DIST += bench/converge.sh
# The same by the size of the guest and the number of hosts: bench/sweeps.sh [-m MOST] FILE.svg.
EXTRA_DIST += bench/sweeps.sh

# Mappings of hosts that are not alike: bench/uneven.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/uneven.sh

# Remapping when a host joins or leaves, when a load doubles: bench/remap.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/remap.sh bench/remap.py

# Vertices a second between two daemons, next to SQLite alone: bench/handoff.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/handoff.sh
# What a second copy of each record costs: bench/copies.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/copies.sh

# What a cluster makes of a guest from every start, next to a plan: bench/submit.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/submit.sh bench/submit.py bench/cluster.py bench/measure.py
# Memory of daemons that read a guest in parts: bench/memory.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/memory.sh bench/memory.py

# Loads that drift, under real daemons and applications: bench/drift.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/drift.sh bench/drift.py
# Load steps next to a slow link and a stopped host, between real daemons: bench/delay.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/delay.sh
# What balancing saves two programs: bench/gain.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/gain.sh
# A step of lbmap_steps next to one by hand with MPI: bench/halo.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/halo.sh bench/halo.c
# Guests that change: bench/adaptive.sh [OPTIONS] [BUILD_DIRECTORY].
# Step times of an MPI program by placement, in network namespaces: bench/mpi.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/mpi.sh
EXTRA_DIST += bench/adaptive.sh bench/adaptive.py bench/adaptive_guest.py bench/adaptive_peers.py \
	bench/adaptive_report.py

# Schedules of transfers between real daemons: bench/transfer.sh [OPTIONS] [BUILD_DIRECTORY].
EXTRA_DIST += bench/transfer.sh bench/slow_sync.c

# Large clusters: bench/scale.sh [BUILD_DIRECTORY [VERTICES_A_HOST [MINUTES [CHURN_PERCENT [SIDES]]]]]
EXTRA_DIST += bench/scale.sh
# What one change costs in clusters of different sizes: bench/change.sh [BUILD_DIRECTORY [SIDES [CHANGES ...]]]
EXTRA_DIST += bench/change.sh

# Diffusing: bench/kernel [--json] [--side N] [--updates N].
noinst_PROGRAMS += bench/kernel
bench_kernel_SOURCES = bench/kernel.c
bench_kernel_LDADD = lib/embed/libembed.a lib/graph/libgraph.a lib/base/libbase.a $(graph_libs) \
	$(PLANARITY_LIBS) -lm

# Storing: bench/store FILE.
noinst_PROGRAMS += bench/store
bench_store_SOURCES = bench/store.c
bench_store_LDADD = lib/store/libstore.a lib/node/libnode.a lib/graph/libgraph.a lib/base/libbase.a \
	$(graph_libs) $(SQLITE_LIBS) $(NETTLE_LIBS) $(ZLIB_LIBS)

# Checkpoints of 100 MB, and what they cost a program that goes on: bench/checkpoint.sh [OPTIONS] [BUILD_DIRECTORY].
noinst_PROGRAMS += bench/checkpoint
bench_checkpoint_SOURCES = bench/checkpoint.c
bench_checkpoint_CFLAGS = $(AM_CFLAGS) $(NETTLE_CFLAGS)
bench_checkpoint_LDADD = liblbmap.la $(NETTLE_LIBS)
EXTRA_DIST += bench/checkpoint.sh
