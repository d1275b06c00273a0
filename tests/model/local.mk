# tests/model
# The checked model of handoffs, and that code and model have the same transitions.
model_scripts = tests/model/model.sh
dist_check_SCRIPTS += $(model_scripts)
TESTS += $(model_scripts)
dist_check_SCRIPTS += tests/model/run
EXTRA_DIST += tests/model/handoff.pml
