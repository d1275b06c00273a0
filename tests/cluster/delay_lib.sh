# A link of two daemons that takes a while; sourced after cluster_lib.sh and field_lib.sh.
# shellcheck shell=bash disable=SC2154
delayer=
trap 'kill -KILL $delayer 2>/dev/null; finish' EXIT

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# The address of host $1.
address() {
    ask 0 hosts --json | tr -d ' \n' | grep -o "\"host\":$1,[^}]*\"address\":\"[^\"]*\"" |
        sed 's/.*"\([^"]*\)"$/\1/'
}
# slow_link MS A B: what hosts A and B say to one another takes so long, each way; $delayer makes it so.
slow_link() {
    local ports
    ports=("$(free_port)" "$(free_port)")
    : >"$scratch/delayer"
    python3 "$tests/delayer.py" "$1" "$dir" "$2:${ports[0]}:$(address "$2")" "$3:${ports[1]}:$(address "$3")" \
        >"$scratch/delayer" 2>&1 &
    delayer=$!
    disown
    until_true 10 "the link's delay is ready" grep -q listens "$scratch/delayer"
    expect "what host $3 says to host $2 takes $1 ms" ask 0 set "$2" --address "127.0.0.1:${ports[0]}"
    expect "and back" ask 0 set "$3" --address "127.0.0.1:${ports[1]}"
    until_true 10 "host $3 comes to host $2 by the slow link" grep -qx "host $3 connects, $1 ms" "$scratch/delayer"
    until_true 10 "and host $2 to host $3" grep -qx "host $2 connects, $1 ms" "$scratch/delayer"
}
