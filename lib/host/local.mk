# lib/host
noinst_LIBRARIES += lib/host/libhost.a
lib_host_libhost_a_SOURCES = lib/host/host.h lib/host/internal.h lib/host/capacities.c lib/host/colour.c \
	lib/host/colour.h lib/host/colour_general.c lib/host/colouring.c lib/host/colouring.h \
	lib/host/convergence.c lib/host/coordinates.c lib/host/coordinates.h lib/host/fabric.c lib/host/names.c \
	lib/host/network.c lib/host/network.h lib/host/groups.c lib/host/hostlist.c lib/host/hostlist.h \
	lib/host/hosts.c lib/host/igraph.c lib/host/read.c lib/host/recognise.c lib/host/read_deco.c \
	lib/host/read_deco.h lib/host/read_hostfile.c lib/host/read_hwloc.c lib/host/read_scotch.c \
	lib/host/read_slurm.c lib/host/read_slurm_yaml.c lib/host/routing.c lib/host/selection.c \
	lib/host/selection.h lib/host/sites.c lib/host/slurm.h lib/host/slurm_block.c lib/host/slurm_hosts.c \
	lib/host/slurm_network.c lib/host/slurm_torus.c lib/host/slurm_tree.c lib/host/spectrum.c \
	lib/host/spectrum.h lib/host/spectrum_all.c lib/host/spectrum_sweep.c lib/host/stress.c \
	lib/host/subset.c lib/host/switched.c lib/host/topology.c
lib_host_libhost_a_CFLAGS = $(AM_CFLAGS) $(IGRAPH_CFLAGS) $(YAML_CFLAGS) $(EXPAT_CFLAGS)
# What links libhost.a links $(host_libs) after it.
host_libs = $(IGRAPH_LIBS) $(YAML_LIBS) $(EXPAT_LIBS)
