# papers
# What the papers print, computed again.
noinst_LIBRARIES += papers/libpapers.a
papers_libpapers_a_SOURCES = papers/chart.c papers/chart.h papers/command.c papers/cube.c papers/cube.h \
	papers/cyb89.c papers/cyb89_arrivals.c papers/embed_command.c papers/embed_draw.c papers/embed_draw.h \
	papers/exchange.c papers/exchange.h papers/field_times.c papers/field_times.h papers/hei97.c \
	papers/hei97_omega.c papers/hei97_planar.c papers/hei97_proof.c papers/hei97_remap.c papers/hei97_variants.c papers/lattice.c \
	papers/lattice.h papers/net.c papers/net.h papers/papers.h papers/plot_command.c papers/plots.c \
	papers/plots.h papers/policies.c papers/pool.c papers/pool.h papers/queue.c papers/queue.h papers/registry.c \
	papers/report.c papers/report.h papers/rjk03.c papers/rjk03_hybrid.c papers/rjk03_queue.c \
	papers/rjk03_table_1.c papers/san.c papers/san_random.c papers/save.c papers/save.h papers/strips.c \
	papers/strips.h papers/table.c papers/table.h papers/thinning.c papers/wator.c papers/xl95_improvement.c \
	papers/xl95_sweeps.c papers/xl95_theory.c papers/command.h
bin_PROGRAMS += papers/lbpapers
papers_lbpapers_SOURCES = papers/main.c
papers_lbpapers_LDADD = papers/libpapers.a lib/cli/libcli.a lib/file/libfile.a lib/map/libmap.a lib/embed/libembed.a \
	lib/balance/libbalance.a lib/space/libspace.a lib/host/libhost.a lib/graph/libgraph.a lib/base/libbase.a \
	$(host_libs) $(QHULL_LIBS) $(EXPAT_LIBS) $(PLANARITY_LIBS) $(ZLIB_LIBS) $(ARCHIVE_LIBS) -lm
