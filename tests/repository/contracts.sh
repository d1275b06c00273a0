#!/usr/bin/env bash
# Every function in a header of a room of lib/node has a contract: a comment of its own that says what it does; what comes
# back, if anything does; and its errors, if it returns an error. The check is tested on a header with planted lacks.
#
#   tests/repository/contracts.sh [--list] [HEADER...]
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# judge HEADER...: "FILE:LINE: FUNCTION: what is missing" for each prototype that lacks something; at the end
# "N prototypes, M lack something".
judge() {
    awk '
        function judge_one(text, comment, line,   name, kind) {
            if (text !~ /\(/ || text ~ /^(typedef|struct|enum|union|extern const|#)/ && text !~ /\(.*\);?$/)
                return
            if (text ~ /^ *(struct|enum|union)[^(]*\{/ || text ~ /^ *(_Static_assert|typedef|LBM_)/)
                return
            name = text
            sub(/\(.*/, "", name)
            kind = name
            sub(/.*[ *]/, "", name)
            sub(/[A-Za-z0-9_]+$/, "", kind)
            n++
            gsub(/[ \t*\/]+/, " ", comment)
            if (split(comment, word, " ") < 3)
                lacks(line, name, "no comment of its own")
            else if (kind ~ /enum lbm_err/ && comment !~ /LBM_E_|Errors?:|error/)
                lacks(line, name, "its errors are not said")
            else if (kind !~ /^(static inline )?void *$/ &&
                     comment !~ /[Rr]eturns|[Nn]onzero|NULL|LBM_NONE|INT64_MAX|[Nn]umber|Whether|[Hh]ow many|[0-9] if|The |A |An |Time|Errors?:/)
                lacks(line, name, "what it returns is not said")
        }
        function lacks(line, name, what) { printf "%s:%d: %s: %s\n", FILENAME, line, name, what; bad++ }
        FNR == 1 { text = comment = ""; open = 0; depth = 0 }
        {
            line = $0
            if (!open && line ~ /^[ \t]*$/) { if (text == "") comment = ""; next }
            # take comments out
            while (1) {
                if (open) {
                    at = index(line, "*/")
                    if (at == 0) { comment = comment " " line; line = ""; break }
                    comment = comment " " substr(line, 1, at - 1)
                    line = kept " " substr(line, at + 2)
                    kept = ""
                    open = 0
                }
                at = index(line, "/*")
                if (at == 0) break
                if (text == "" && substr(line, 1, at - 1) ~ /^[ \t]*$/) comment = ""
                kept = substr(line, 1, at - 1)
                line = substr(line, at + 2)
                open = 1
            }
            if (open && kept != "") { line = kept; kept = "" }
            if (line ~ /^[ \t]*$/) next
            if (line ~ /^[ \t]*#/ && text == "") { comment = ""; if (line ~ /\\$/) macro = 1; next }
            if (macro) { macro = line ~ /\\$/; next }
            if (text == "") start = FNR
            text = text " " line
            depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
            if (depth == 0 && line ~ /[;}][ \t]*$/) {
                sub(/^ +/, "", text)
                if (text !~ /\{/) judge_one(text, comment, start)
                else if (text ~ /^static inline/) { sub(/\{.*/, "", text); judge_one(text, comment, start) }
                text = comment = ""
            }
        }
        END { printf "%d prototypes, %d lack something\n", n, bad }' "$@"
}

cat >"$scratch/good.h" <<'END'
/* What a host is asked. Returns its answer. */
int lbm_a(int x);
void lbm_b(void); /* says nothing to anybody */
/* Read it. Errors: LBM_E_NOMEM. */
enum lbm_err lbm_c(const char *text);
struct thing {
    int (*call)(int x);
};
END
cat >"$scratch/bad.h" <<'END'
int lbm_a(int x);

/* Read it whole. */
enum lbm_err lbm_c(const char *text);
/* Look at something again. */
int lbm_d(int x,
          int y);
END
[ "$(judge "$scratch/good.h")" = '3 prototypes, 0 lack something' ] ||
    { echo 'self-test: good contracts are refused'; judge "$scratch/good.h"; exit 99; }
[ "$(judge "$scratch/bad.h" | tail -n 1)" = '3 prototypes, 3 lack something' ] ||
    { echo 'self-test: lacks are not found'; judge "$scratch/bad.h"; exit 99; }

[ $# -gt 0 ] || set -- "$top"/lib/node/*.h "$top"/lib/node/*/*.h
judge "$@" | sed "s|^$top/||"
judge "$@" | tail -n 1 | grep -q ', 0 lack something$'
