# lib/map
noinst_LIBRARIES += lib/map/libmap.a
lib_map_libmap_a_SOURCES = lib/map/refine/anneal.c lib/map/initial/bisection_cut.c \
	lib/map/initial/bisection_cut.h lib/map/refine/border.c lib/map/refine/connect.c \
	lib/map/initial/portfolio.c lib/map/remap/edge_remap.c lib/map/refine/memetic.c lib/map/finish.c \
	lib/map/flow/flow.c lib/map/refine/gain_queue.c lib/map/refine/gain_queue.h lib/map/geometry.c \
	lib/map/initial/halve.c lib/map/initial/harmonic.c lib/map/initial/heirich.c lib/map/initial/host_tree.c \
	lib/map/initial/host_tree.h lib/map/internal.h lib/map/map.h lib/map/objective.c \
	lib/map/remap/migration.c lib/map/coarsen/multilevel.c lib/map/flow/flow_network.c \
	lib/map/flow/flow_network.h lib/map/remap/orphans.c lib/map/packing.c lib/map/packing.h \
	lib/map/packing_bound.c lib/map/refine/pair.c lib/map/refine/pair_cut.c lib/map/plan.c \
	lib/map/plan_options.c lib/map/initial/plane.c lib/map/pool.c lib/map/flow/potential.c lib/map/problem.c \
	lib/map/problem.h lib/map/quality.c lib/map/quotient.c lib/map/refine/refine.c lib/map/remap/remap.c \
	lib/map/remap/remap.h lib/map/remap/remap_ways.c lib/map/flow/repair.c lib/map/coarsen/residents.c \
	lib/map/initial/rotation.c lib/map/run.h lib/map/sharing.c lib/map/initial/start_drawing.c \
	lib/map/initial/start_face.c lib/map/initial/bisection.c lib/map/initial/start_regions.c \
	lib/map/refine/swap.c lib/map/coarsen/projection.c lib/map/flow/transport.c lib/map/multistart.c \
	lib/map/units.c lib/map/coarsen/vcycle.c
map_libs = lib/map/libmap.a lib/embed/libembed.a lib/balance/libbalance.a lib/space/libspace.a \
	lib/host/libhost.a lib/graph/libgraph.a lib/base/libbase.a $(host_libs) $(QHULL_LIBS) $(PLANARITY_LIBS) \
	-lm
