# tests
# Every test is a cmocka program or a script; scripts say what they skip and why.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = bash
# Impossible sizes are asked for on purpose: the sanitizer's allocator, too, must answer with NULL.
AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	ASAN_OPTIONS="allocator_may_return_null=1:$$ASAN_OPTIONS"; export top_srcdir top_builddir ASAN_OPTIONS;
include $(top_srcdir)/tests/cluster/local.mk
include $(top_srcdir)/tests/fuzz/local.mk
include $(top_srcdir)/tests/model/local.mk
include $(top_srcdir)/tests/papers/local.mk
include $(top_srcdir)/tests/repository/local.mk
include $(top_srcdir)/tests/sim/local.mk
include $(top_srcdir)/tests/tools/local.mk
include $(top_srcdir)/tests/unit/api/local.mk
include $(top_srcdir)/tests/unit/balance/local.mk
include $(top_srcdir)/tests/unit/base/local.mk
include $(top_srcdir)/tests/unit/client/local.mk
include $(top_srcdir)/tests/unit/daemon/local.mk
include $(top_srcdir)/tests/unit/embed/local.mk
include $(top_srcdir)/tests/unit/file/local.mk
include $(top_srcdir)/tests/unit/graph/local.mk
include $(top_srcdir)/tests/unit/host/local.mk
include $(top_srcdir)/tests/unit/map/local.mk
include $(top_srcdir)/tests/unit/node/local.mk
include $(top_srcdir)/tests/unit/pki/local.mk
include $(top_srcdir)/tests/unit/papers/local.mk
include $(top_srcdir)/tests/unit/sim/local.mk
include $(top_srcdir)/tests/unit/space/local.mk
include $(top_srcdir)/tests/unit/store/local.mk
include $(top_srcdir)/tests/unit/trace/local.mk
include $(top_srcdir)/tests/unit/wire/local.mk
