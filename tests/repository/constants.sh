#!/usr/bin/env bash
# Constants that must fit together: some changes alone do not compile, others change what is computed from them.
# scripts/constants tries all of them, and takes hours; here are its list, the tunables it finds, and the compiler's word on a few.
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-gcc} # may be two words: ccache gcc
command -v ${cc%% *} >/dev/null || { echo "skipped: no compiler $cc"; exit 77; }
status=0
fail() { echo "FAILED: $1"; status=1; }

bash "$top/scripts/constants" --list >"$scratch/list" || fail 'scripts/constants --list'
[ "$(wc -l <"$scratch/list")" -ge 200 ] || fail "only $(wc -l <"$scratch/list") tunables are found"
# Every row of the list of expected failures names a tunable, a change, and a reason.
sed '/^#/d; /^$/d' "$top/tests/repository/constants.txt" >"$scratch/expected"
while read -r name x times reason; do
    awk '{ print $2 }' "$scratch/list" | grep -qxF "$name" || fail "tests/repository/constants.txt: there is no tunable $name"
    [ "$x" = x ] && grep -qE '^(2|1/2):$' <<<"$times" && [ ${#reason} -ge 20 ] || fail "tests/repository/constants.txt: $name: no change, or no reason"
done <"$scratch/expected"
bash "$top/scripts/constants" NO_SUCH_NAME >/dev/null 2>&1
[ $? -eq 2 ] || fail 'a name that is no tunable is not refused'

# compiles SED [ASSERTION]: the headers of constants after that edit, and the assertion.
compiles() {
    rm -rf "$scratch/lib"
    mkdir -p "$scratch/lib/base" "$scratch/lib/node/core" || exit 99
    cp "$top/lib/base/limits.h" "$scratch/lib/base" && cp "$top/lib/node/core/timeouts.h" "$scratch/lib/node/core" || exit 99
    sed -i -E "$1" "$scratch/lib/base/limits.h" "$scratch/lib/node/core/timeouts.h"
    printf '#include "node/core/timeouts.h"\n%s\nint main(void) { return 0; }\n' "${2-}" >"$scratch/try.c"
    $cc -std=c11 -fsyntax-only -I"$scratch/lib" "$scratch/try.c" 2>"$scratch/errors"
}
compiles '' || fail "the constants do not fit: $(head -n 3 "$scratch/errors")"
compiles 's/LBM_LEASE_US 7000000/LBM_LEASE_US 12000000/' '_Static_assert(GRANT_US == 12120000, "follows the lease");' ||
    fail "a longer lease does not change what a grantor waits for: $(head -n 3 "$scratch/errors")"
compiles 's/LBM_LEASE_US 7000000/LBM_LEASE_US 6000000/' '_Static_assert(GRANT_PAST_US == 8080000, "of the life before");' ||
    fail "a host that starts does not wait for longer leases of another version: $(head -n 3 "$scratch/errors")"
while IFS='|' read -r edit why; do
    if compiles "$edit"; then fail "compiles after $edit"; fi
    grep -qF "$why" "$scratch/errors" || fail "after $edit the reason is not told: $(head -n 3 "$scratch/errors")"
done <<'END'
s/LBM_LEASE_US 7000000/LBM_LEASE_US 61000000/|the wire takes the leases
s/LBM_LEASE_US 7000000/LBM_LEASE_US 3000000/|half of its lease
s/GRANT_US = LEASE_US.*,/GRANT_US = 7000000,/|a grantor waits for longer
s/LEASE_RENEW_US = 1000000/LEASE_RENEW_US = 4000000/|one lost renewal
s/ PING_US = 500000/ PING_US = 1000000/|before it is unreachable
s/REJOIN_US = 20000000/REJOIN_US = 10000000/|the successor has taken over
s/LBM_PAYLOAD_MAX \(1u << 18\)/LBM_PAYLOAD_MAX (1u << 20)/|some payloads fit a batch
s/LBM_LINK_COST_MAX UINT32_C\(500000\)/LBM_LINK_COST_MAX UINT32_C(1000000)/|distances fit 32 bits
s/LBM_DEGREE_MAX 60000/LBM_DEGREE_MAX 120000/|fits a batch
END
[ "$status" -eq 0 ] && echo "$(wc -l <"$scratch/list") tunables, $(wc -l <"$scratch/expected") of them in tests/repository/constants.txt"
exit "$status"
