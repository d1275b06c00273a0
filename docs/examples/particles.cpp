/* SPDX-License-Identifier: GPL-3.0-or-later */
/* particles: a cloud that a flow carries round a torus, in C++17. Vertices are boxes of a lattice, and their
 * states the particles in them. A neighbour sees of a box only those that leave for it: that is what is sent.
 * Boxes with more particles cost more, and the cloud travels: vertices move. Where a particle goes depends on
 * nothing but its number, its place and the step, so the picture is that of one loop on any hosts.
 *
 *     c++ -O2 -std=c++17 particles.cpp $(pkg-config --cflags --libs lbmap) -o particles
 *     ./particles graph 24 >boxes.graph             # 24 x 24 boxes; submit it as job "cloud"
 *     ./particles run cloud 24 400 cloud.ppm [SOCKET]
 *     ./particles alone 24 400 cloud.ppm            # the same in one loop
 */
#include <cmath>
#include <fstream>
#include <iostream>
#include <set>

#include <lbmap_steps.hpp>

namespace
{

struct particle {
    float x, y; /* in sides of a box */
    uint32_t id;
};

struct box {
    static constexpr uint32_t most = 400;
    uint32_t n;
    particle at[most];

    void add(const particle &p)
    {
        if (n == most)
            throw std::length_error("too many particles in a box");
        at[n++] = p;
    }
    std::size_t bytes() const
    {
        return offsetof(box, at) + n * sizeof(particle);
    }
};

constexpr uint32_t per_box = 60, seed = 5;
constexpr int pixels = 8; /* of the side of a box in the picture */

/* A square of boxes; its edges are joined. */
struct lattice {
    uint32_t side;

    uint32_t size() const
    {
        return side * side;
    }
    float wrap(float x) const
    {
        const auto whole = static_cast<float>(side);
        x = x < 0 ? x + whole : x;
        return x >= whole ? x - whole : x;
    }
    uint32_t box_of(const particle &p) const
    {
        return static_cast<uint32_t>(p.y) * side + static_cast<uint32_t>(p.x);
    }
    /* The eight around a box. */
    std::set<uint32_t> around(uint32_t v) const
    {
        std::set<uint32_t> boxes;
        for (uint32_t i = side - 1; i <= side + 1; i++)
            for (uint32_t j = side - 1; j <= side + 1; j++)
                boxes.insert((v / side + i) % side * side + (v % side + j) % side);
        boxes.erase(v);
        return boxes;
    }

    /* The cloud begins in a corner. */
    box first(uint32_t v) const
    {
        box b{};
        for (uint32_t k = 0; v % side < side / 3 && v / side < side / 3 && k < per_box; k++) {
            const auto r = lbmap_random(seed, v, 0, k);
            b.add({static_cast<float>(v % side) + static_cast<float>(r & 0xffff) / 65536,
                   static_cast<float>(v / side) + static_cast<float>(r >> 16 & 0xffff) / 65536,
                   v * per_box + k});
        }
        return b;
    }
    /* A flow without sources, and some noise: less than half a box a step. */
    particle moved(particle p, uint64_t step) const
    {
        const float turn = 6.2831853f / static_cast<float>(side);
        const auto r = lbmap_random(seed, p.id, step + 1, 0);
        const auto noise = [](uint64_t bits) { return static_cast<float>(bits & 0xffff) / 65536 - 0.5f; };
        const float dx = 0.25f + 0.15f * std::sin(turn * p.y) + 0.1f * noise(r);
        const float dy = 0.15f * std::sin(turn * p.x) + 0.1f * noise(r >> 16);
        return {wrap(p.x + dx), wrap(p.y + dy), p.id};
    }
};

/* Those of a box that are in another one, or in itself, a step later. */
template <class Add>
void
each_going(const lattice &l, const box &from, uint32_t to, uint64_t step, Add add)
{
    for (uint32_t k = 0; k < from.n; k++)
        if (const particle p = l.moved(from.at[k], step); l.box_of(p) == to)
            add(p);
}

/* Dark where nobody is; the more particles a pixel has, the lighter. */
class picture
{
  public:
    explicit picture(uint32_t side) : width_(side * pixels), count_(width_ * width_)
    {
    }
    void draw(const box &b)
    {
        for (uint32_t k = 0; k < b.n; k++)
            count_[static_cast<uint32_t>(b.at[k].y * pixels) * width_ +
                   static_cast<uint32_t>(b.at[k].x * pixels)]++;
    }
    void write(const std::string &path) const
    {
        std::ofstream file(path);
        file << "P6\n" << width_ << ' ' << width_ << "\n255\n";
        for (const auto n : count_)
            file << static_cast<char>(n == 0 ? 15 : 255 - 160 / n)
                 << static_cast<char>(n == 0 ? 20 : 160 - 90 / n) << static_cast<char>(n == 0 ? 45 : 60);
        if (!file.flush())
            throw std::runtime_error(path + " cannot be written");
    }

  private:
    uint32_t width_;
    std::vector<unsigned> count_;
};

void
write_graph(const lattice &l)
{
    std::cout << l.size() << ' ' << 4 * l.size() << '\n';
    for (uint32_t v = 0; v < l.size(); v++) {
        for (const auto u : l.around(v))
            std::cout << u + 1 << ' ';
        std::cout << '\n';
    }
}

void
run_alone(const lattice &l, uint64_t steps, const std::string &path)
{
    std::vector<box> now(l.size()), next(l.size());
    for (uint32_t v = 0; v < l.size(); v++)
        now[v] = l.first(v);
    for (uint64_t s = 0; s < steps; s++, now.swap(next))
        for (uint32_t v = 0; v < l.size(); v++) {
            const auto add = [&](const particle &p) { next[v].add(p); };
            next[v].n = 0;
            each_going(l, now[v], v, s, add);
            for (const auto u : l.around(v))
                each_going(l, now[u], v, s, add);
        }
    picture all(l.side);
    for (const auto &b : now)
        all.draw(b);
    all.write(path);
}

/* A state is a box and its step, so that what leaves it is known. */
struct state {
    uint64_t step;
    box content;

    std::size_t bytes() const
    {
        return offsetof(state, content) + content.bytes();
    }
};

void
run_job(const lattice &l, const std::string &job, uint64_t steps, const std::string &path,
        const std::string &socket)
{
    lbm::steps<state> cloud(job, steps);
    picture all(l.side);
    std::vector<uint32_t> n(l.size());
    cloud.socket = socket;
    cloud.init = [&](uint32_t v) { return state{0, l.first(v)}; };
    cloud.length = [](uint32_t, const state &s) { return s.bytes(); };
    cloud.share_with = [&](uint32_t, uint32_t to, const state &s, state &leaving) {
        each_going(l, s.content, to, s.step, [&](const particle &p) { leaving.content.add(p); });
        return leaving.bytes();
    };
    cloud.step = [&](const lbm::step<state> &s) {
        state after{s.number() + 1, {}};
        each_going(l, s.state().content, s.vertex(), s.number(),
                   [&](const particle &p) { after.content.add(p); });
        for (auto from : s)
            for (uint32_t k = 0; k < from.state().content.n; k++)
                after.content.add(from.state().content.at[k]);
        n[s.vertex()] = after.content.n;
        return after;
    };
    cloud.load = [&](uint32_t v) { return 1.0 + n[v]; };
    cloud.result = [&](uint32_t v, const state &s) {
        all = v == 0 ? picture(l.side) : std::move(all);
        all.draw(s.content);
        if (v + 1 == l.size())
            all.write(path);
    };
    cloud.run();
}

} // namespace

int
main(int argc, char **argv)
try {
    const std::vector<std::string> args(argv + 1, argv + argc);
    const std::string mode = args.empty() ? "" : args[0];
    const auto side = [&](std::size_t i) {
        const auto n = std::stoul(args[i]);
        if (n < 3 || n > 1000)
            throw std::invalid_argument("a side has 3 to 1000 boxes");
        return lattice{static_cast<uint32_t>(n)};
    };
    if (mode == "graph" && args.size() == 2)
        write_graph(side(1));
    else if (mode == "alone" && args.size() == 4)
        run_alone(side(1), std::stoull(args[2]), args[3]);
    else if (mode == "run" && (args.size() == 5 || args.size() == 6))
        run_job(side(2), args[1], std::stoull(args[3]), args[4], args.size() == 6 ? args[5] : "");
    else
        throw std::invalid_argument(
            "usage: particles graph SIDE | run JOB SIDE STEPS FILE [SOCKET] | alone SIDE "
            "STEPS FILE");
} catch (const std::exception &failed) {
    std::cerr << "particles: " << failed.what() << '\n';
    return 1;
}
