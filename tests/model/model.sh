#!/usr/bin/env bash
# The checked model (tests/model) and the code have the same transitions of a record, every one of them is
# used, and records change in no other way; the mistakes to plant name mutations of the model; then the model is
# checked (skipped without Spin). The comparison itself is tested on copies that disagree.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# "NAME FROM TO BASE PLUS" of every row of LBM_TRANSITION_LIST.
of_code() {
    sed -nE 's/^ *X\((\w+), (\w+), (\w+), (\w+), ([0-9]+), ".*/\1 \2 \3 \4 \5/p' "$1/lib/node/core/transitions.h" | sort
}

# The same of every T_ macro of the model.
of_model() {
    sed -nE 's/^#define T_(\w+)\([^)]*\) TRANSITION\(h, v, (\w+), (\w+), (\w+), ([0-9]+), .*/\1 \2 \3 \4 \5/p' \
        "$1/tests/model/handoff.pml" | sort
}

# "NAME members" of every set of stages: FROM_A (FROM_B | ...).
sets_of_code() {
    sed -nE 's/^#define LBM_FROM_(\w+) \((LBM_FROM_.*)\)$/\1 \2/p' "$1/lib/node/core/transitions.h" | sed 's/LBM_//g' | sort
}
sets_of_model() {
    sed -nE 's/^#define FROM_(\w+) \((FROM_.*)\)$/\1 \2/p' "$1/tests/model/handoff.pml" | sort
}

# Print every disagreement of the tree at $1.
compare() {
    local name
    [ "$(of_code "$1" | wc -l)" -ge 10 ] || echo 'lib/node/core/transitions.h cannot be read'
    diff <(of_code "$1") <(of_model "$1") | sed -n 's/^< /only in the code: /p; s/^> /only in the model: /p'
    diff <(sets_of_code "$1") <(sets_of_model "$1") | sed -n 's/^< /set of the code: /p; s/^> /set of the model: /p'
    for name in $(of_code "$1" | cut -d' ' -f1); do
        grep -qE "\bLBM_TRANSITION_$name\b" "$1"/lib/node/*/*.c || echo "the code never uses $name"
        grep -qE "^ .*\bT_$name\(" "$1/tests/model/handoff.pml" || echo "the model never uses $name"
    done
    # A record changes in TRANSITION, and goes with all others when its host is reset.
    [ "$(grep -cE '^ *(R\(|rec\[)[^=]*[^=!<>]=[^=]' "$1/tests/model/handoff.pml")" -eq 2 ] ||
        echo 'the model changes records next to its transitions'
    # The mistakes that can be planted in the code name mutations that there are.
    for name in $(sed -nE 's/^ *X\(\w+, ([1-9][0-9]*), ".*/\1/p' "$1/lib/node/mutants.h"); do
        grep -qE "^ ?$name [a-z]+ +ME=" "$1/tests/model/run" || echo "no mutation has the number $name of lib/node/mutants.h"
    done
    # In the code the stage of a stored vertex is written in lib/node/records/shard.c alone.
    grep -nE '(vertex|own|c)->stage = ' "$1"/lib/node/*/*.c | grep -v '/shard\.c:' |
        sed 's/^/a stage is changed next to the transitions: /'
}

# Succeeds if a copy of the tree with file $1 edited by sed $2 is found to disagree.
planted() {
    mkdir -p "$scratch/lib" "$scratch/tests/model"
    cp -r "$top/lib/node" "$scratch/lib"
    cp "$top/tests/model/handoff.pml" "$top/tests/model/run" "$scratch/tests/model"
    sed -i "$2" "$scratch/$1"
    [ -n "$(compare "$scratch")" ] || { echo "self-test: $1 edited by $2 was not found"; exit 99; }
}

planted lib/node/core/transitions.h 's/X(RETURN, OUT, OWN, SELF, 2,/X(RETURN, OUT, OWN, SELF, 1,/'
planted lib/node/core/transitions.h '/X(INHERIT,/d'
planted lib/node/core/transitions.h 's/(LBM_FROM_REF | LBM_FROM_MOV)/(LBM_FROM_REF | LBM_FROM_OUT)/'
planted tests/model/handoff.pml '/^#define T_COLLECT/d'
planted tests/model/handoff.pml 's/^    T_MOVE(h, v)/    R(h, v) = MAKE_MOV(EPOCH(R(h, v)), 0)/'
planted tests/model/handoff.pml 's/^    T_INHERIT(h, v)/    T_TAKE_BACK(h, v)/'
planted lib/node/mutants.h 's/^    X(KEEP_ACKS, 13,/    X(KEEP_ACKS, 99,/'
planted lib/node/migration/handoff.c 's/LBM_TRANSITION_RETURN/LBM_TRANSITION_MOVE/'

disagreements=$(compare "$top")
if [ -n "$disagreements" ]; then
    printf '%s\n' "$disagreements"
    exit 1
fi
echo "$(of_code "$top" | wc -l) transitions agree"
if ! command -v spin >/dev/null; then
    echo 'the model itself is not checked: there is no spin'
    exit 0
fi
bash "$top/tests/model/run" quick
