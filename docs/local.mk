# docs
# Manual pages are written for scdoc: name.section.scd makes name.section. Each has a row in both lists.
man_sources = docs/man/lbctl.1.scd docs/man/lbmapd.8.scd docs/man/lbmapd.conf.5.scd docs/man/lbsim.1.scd \
	docs/man/lbpapers.1.scd docs/man/lbmap_checkpoint.3.scd docs/man/lbmap_send.3.scd \
	docs/man/lbmap_steps.3.scd
man_MANS = docs/man/lbctl.1 docs/man/lbmapd.8 docs/man/lbmapd.conf.5 docs/man/lbsim.1 docs/man/lbpapers.1 \
	docs/man/lbmap_checkpoint.3 docs/man/lbmap_send.3 docs/man/lbmap_steps.3
# Programs to begin with, for those who link liblbmap.
examplesdir = $(docdir)/examples
dist_examples_DATA = docs/examples/amr.c docs/examples/crowd.c docs/examples/gossip.py docs/examples/heat.c \
	docs/examples/heat.cpp \
	docs/examples/halo_mpi.c docs/examples/heat.f90 \
	docs/examples/owned.c docs/examples/particles.cpp docs/examples/steps.c docs/examples/thinning.c \
	docs/examples/wator.c
SUFFIXES = .scd
.scd:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SCDOC) <$< >$@.tmp && mv $@.tmp $@
CLEANFILES += $(man_MANS)
EXTRA_DIST += $(man_sources) README.md SECURITY.md CHANGELOG.md CONTRIBUTING.md COPYING COPYING.LESSER \
	.clang-format .ci/run \
	scripts/check scripts/demo scripts/constants scripts/cycles scripts/same scripts/deps scripts/nightly \
	docs/architecture.md docs/formats.md docs/howto-change.md docs/glossary.md docs/papers.md docs/policies.md \
	docs/protocol.md docs/quality.md docs/reliability.md docs/tuning.md docs/tutorial.md \
	docs/tutorial-application.md docs/roadmap.md \
	docs/adr docs/example.svg
# Drawn by bench/remap.sh -p; docs/quality.md shows it.
EXTRA_DIST += docs/figures/remap.svg docs/figures/best.svg docs/figures/adaptive.svg
# Drawn by bench/converge.sh; docs/papers.md shows it.
EXTRA_DIST += docs/figures/converge.svg docs/figures/sweeps.svg
# Drawn by lbpapers plot and lbpapers embed; docs/papers.md shows them.
EXTRA_DIST += docs/figures/hei97-fig-5-left.svg docs/figures/hei97-fig-5-right.svg \
	docs/figures/hei97-fig-6-0050.svg docs/figures/hei97-fig-6-0400.svg docs/figures/hei97-fig-7-0075.svg \
	docs/figures/hei97-fig-8-0000.svg docs/figures/hei97-fig-8-0250.svg docs/figures/rjk03-fig-12.svg \
	docs/figures/rjk03-fig-13.svg docs/figures/rjk03-fig-22.svg docs/figures/rjk03-fig-23.svg \
	docs/figures/rjk03-fig-7.svg docs/figures/rjk03-fig-8.svg docs/figures/rjk03-fig-9.svg \
	docs/figures/xl95-fig-6.svg
