# lib/graph
# What links libgraph.a links $(graph_libs) after it.
graph_libs = $(QHULL_LIBS) $(EXPAT_LIBS) -lm
noinst_LIBRARIES += lib/graph/libgraph.a
lib_graph_libgraph_a_SOURCES = lib/graph/build.c lib/graph/check.c lib/graph/collect.c lib/graph/edge_lines.h \
	lib/graph/edge_list.c lib/graph/fault.h lib/graph/generate.c lib/graph/generate.h \
	lib/graph/generate_airfoil.c lib/graph/generate_points.c lib/graph/generate_rgg.c \
	lib/graph/generate_tri.c lib/graph/generators.h lib/graph/graph.c lib/graph/graph.h lib/graph/graphml.h \
	lib/graph/graphml_build.c lib/graph/graphml_data.c lib/graph/items.c lib/graph/items.h lib/graph/mesh.c \
	lib/graph/mesh.h lib/graph/names.c lib/graph/names.h lib/graph/read_csv.c lib/graph/read_dimacs.c \
	lib/graph/read_gml.c lib/graph/read_gmsh.c lib/graph/read_mesh.c lib/graph/read_pajek.c \
	lib/graph/write_lists.c lib/graph/read.c lib/graph/read.h lib/graph/read_edges.c \
	lib/graph/read_edges_words.c lib/graph/read_graphml.c lib/graph/reading.c lib/graph/reading.h \
	lib/graph/read_matrix_market.c lib/graph/read_metis.c lib/graph/read_scotch.c lib/graph/readers.h \
	lib/graph/rows.c lib/graph/rows.h lib/graph/scan.c lib/graph/scan.h lib/graph/write.c lib/graph/write.h \
	lib/graph/write_edges.c lib/graph/write_graphml.c lib/graph/writers.h
lib_graph_libgraph_a_CFLAGS = $(AM_CFLAGS) $(QHULL_CFLAGS) $(EXPAT_CFLAGS)
