/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bindings_all JOB SOCKET...: what docs/examples/heat.cpp does not use of lbmap.hpp and lbmap_steps.hpp, on a
 * job that nobody serves, with one handle at each socket. Prints what is wrong. */
#include <cstdio>
#include <map>

#include <lbmap_steps.hpp>

static int failed = 0;

static void
expect(bool holds, const char *what)
{
    if (!holds) {
        std::printf("wrong: %s\n", what);
        failed = 1;
    }
}

/* The code of the lbm::error that f throws; LBMAP_OK if it throws none. */
template <class F>
static lbmap_error
code_of(F &&f)
{
    try {
        f();
    } catch (const lbm::error &e) {
        expect(e.what()[0] != '\0', "an error has a text");
        return e.code();
    }
    return LBMAP_OK;
}

struct program {
    lbm::map map;
    std::map<uint32_t, uint64_t> held;
    std::map<uint32_t, size_t> degree;
    std::map<uint32_t, std::string> heard;     /* from the host */
    std::map<uint32_t, std::string> delivered; /* to the vertex */
    std::map<uint32_t, std::string> peers;
    std::map<uint32_t, uint32_t> resumed; /* payloads of vertices */
    bool throws = false;

    program(const std::string &socket, const std::string &job) : map(socket)
    {
        map.attach(job);
    }

    void serve()
    {
        lbm::callbacks calls;
        calls.acquire = [this](uint32_t v, uint64_t token, lbm::bytes payload) {
            held[v] = token;
            if (!payload.empty())
                resumed[v] = payload.as<uint32_t>();
            if (std::exchange(throws, false))
                throw std::domain_error("acquire");
        };
        calls.release = [this](uint32_t v, uint64_t) -> std::optional<std::vector<std::byte>> {
            held.erase(v);
            return std::nullopt;
        };
        calls.revoked = [this](uint32_t v, uint64_t) { held.erase(v); };
        calls.edges = [this](uint32_t v, uint64_t, const lbmap_edge *, size_t n) { degree[v] = n; };
        calls.peer_up = [this](const lbmap_peer &peer) {
            peers[peer.host] = lbm::bytes(peer.note, peer.note_len).text();
        };
        calls.message = [this](uint32_t from, lbm::bytes text) { heard[from] = text.text(); };
        calls.deliver = [this](uint32_t to, uint32_t from, uint32_t tag, lbm::bytes text) {
            if (delivered[to].empty() && tag == 3)
                map.send(to, from, tag + 1, text);
            delivered[to] = text.text();
        };
        calls.vertex_moved = [](uint32_t, uint32_t) {};
        map.serve(std::move(calls));
    }
};

static void
dispatch_all(std::vector<program> &all, const std::function<bool()> &until)
{
    for (int i = 0; i < 600 && !until(); i++)
        for (auto &p : all)
            expect(p.map.dispatch(10), "the job goes on");
}

static void
test_handles(const std::string &job, const std::vector<std::string> &sockets)
{
    std::vector<program> all;
    all.reserve(sockets.size()); /* callbacks point to the programs */
    size_t owned = 0;
    for (const auto &socket : sockets) {
        all.emplace_back(socket, job);
        for (auto v : all.back().map.owned())
            expect(all.back().map.locate({v.id}).at(0) == all.back().map.host(), "owned and locate agree");
        owned += all.back().map.owned().size();
    }
    const uint32_t n = all[0].map.vertices();
    expect(owned == n, "every vertex is owned by one");
    expect(code_of([&] { all[0].map.attach(""); }) == LBMAP_E_RANGE, "no name of a job");
    expect(code_of([&] { all[0].map.attach("nothing"); }) == LBMAP_E_NOTFOUND, "no job of that name");
    expect(code_of([&] { all[0].map.serve({}); }) == LBMAP_E_RANGE, "callbacks are needed");
    expect(code_of([] { lbm::map("/nonexistent/socket"); }) == LBMAP_E_UNREACHABLE, "no daemon");

    for (auto &p : all) {
        p.throws = &p == &all[0];
        p.serve();
        p.map.publish(std::string("here is ") + std::to_string(p.map.host()));
    }
    bool thrown = false;
    for (int i = 0; i < 600 && !thrown; i++)
        try {
            all[0].map.dispatch(10);
        } catch (const std::domain_error &) {
            thrown = true;
        }
    expect(thrown, "what a callback throws is thrown by dispatch");
    const auto held = [&] {
        size_t sum = 0;
        for (auto &p : all)
            sum += p.held.size();
        return sum;
    };
    dispatch_all(all, [&] { return held() == n && all[0].degree.size() == all[0].held.size(); });
    expect(held() == n, "all vertices are acquired");
    expect(all[0].map.lease() == LBMAP_WORK, "it may work");

    dispatch_all(all, [&] { return all[0].peers.size() + 1 == all.size(); });
    for (size_t i = 1; i < all.size(); i++)
        expect(all[0].peers[all[i].map.host()] == "here is " + std::to_string(all[i].map.host()), "a note");
    all[1].map.post(all[0].map.host(), std::string("hello"));
    dispatch_all(all, [&] { return !all[0].heard.empty(); });
    expect(all[0].heard[all[1].map.host()] == "hello", "a message");

    const uint32_t from = all[1].held.begin()->first, to = all[0].held.begin()->first;
    expect(all[1].map.send(from, to, 3, std::string("there and back")), "a message to a vertex is sent");
    dispatch_all(all, [&] { return !all[1].delivered[from].empty(); });
    expect(all[0].delivered[to] == "there and back", "it is there");
    expect(all[1].delivered[from] == "there and back", "and back");
    expect(code_of([&] { all[1].map.send(to, from, 3, std::string("x")); }) == LBMAP_E_STATE,
           "not its vertex");

    std::vector<uint32_t> numbers; /* payloads */
    std::vector<lbmap_state> states;
    std::vector<lbmap_load> loads;
    numbers.reserve(all[0].held.size());
    for (auto [v, token] : all[0].held) {
        numbers.push_back(1000 + v);
        states.push_back({v, token, lbm::payload(lbm::bytes_of(numbers.back()))});
        loads.push_back({v, token, 1.0});
    }
    all[0].map.checkpoint(states);
    all[0].map.checkpoint_start(states);
    while (!all[0].map.checkpoint_done())
        all[0].map.dispatch(10);
    all[0].map.set_load(loads);
    all[0].map.report_load(loads);
    loads[0].load = -1;
    expect(code_of([&] { all[0].map.set_load(loads); }) == LBMAP_E_RANGE, "a load is not negative");

    lbm::map moved = std::move(all[0].map);
    expect(moved.dispatch(0), "a handle that was moved works");
}

static void
test_steps(const std::string &job, const std::string &socket)
{
    lbm::steps<double> program("nothing", 3);
    program.socket = socket;
    program.init = [](uint32_t) { return 1.0; };
    expect(code_of([&] { program.run(); }) == LBMAP_E_RANGE, "a step is needed");
    program.step = [](const lbm::step<double> &s) -> double {
        throw std::out_of_range("step " + std::to_string(s.number()));
    };
    expect(code_of([&] { program.run(); }) == LBMAP_E_NOTFOUND, "there is no such job");
    program.job = job;
    try {
        program.run();
        expect(false, "what a step throws is thrown by run");
    } catch (const std::out_of_range &e) {
        expect(std::string(e.what()) == "step 0", "it is the same");
    }
    expect(lbm::bytes(std::string("abc")).size() == 3, "bytes of a text");
    bool refused = false;
    try {
        lbm::bytes(std::string("abc")).as<uint32_t>();
    } catch (const std::length_error &) {
        refused = true;
    }
    expect(refused, "three bytes are no number of four");
}

int
main(int argc, char **argv)
try {
    if (argc < 5)
        throw std::invalid_argument("usage: bindings_all JOB OTHER SOCKET SOCKET...");
    test_handles(argv[1], {argv + 3, argv + argc});
    test_steps(argv[2], argv[3]);
    return failed;
} catch (const std::exception &e) {
    std::printf("thrown: %s\n", e.what());
    return 1;
}
