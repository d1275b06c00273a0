/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heat: heat.c in C++17, by lbmap_steps.hpp.
 *
 *     c++ -std=c++17 heat.cpp $(pkg-config --cflags --libs lbmap) -o heat
 *     ./heat airfoil 1000 temperatures [SOCKET]
 */
#include <cstdio>
#include <fstream>
#include <iostream>

#include <lbmap_steps.hpp>

int
main(int argc, char **argv)
try {
    if (argc < 4 || argc > 5)
        throw std::invalid_argument("usage: heat JOB STEPS FILE [SOCKET]");
    lbm::steps<double> heat(argv[1], std::stoull(argv[2]));
    heat.socket = argc == 5 ? argv[4] : "";
    /* Every 64th vertex is hot, the others are cold. */
    heat.init = [](uint32_t vertex) { return vertex % 64 == 0 ? 1000.0 : 20.0; };
    /* A part of the difference to each neighbour flows along the edge to it. */
    heat.step = [](const lbm::step<double> &s) {
        double in = 0;
        for (auto n : s)
            in += n.weight() * (n.state() - s.state());
        return s.state() + 0.05 * in;
    };
    std::ofstream file;
    heat.result = [&](uint32_t vertex, double state) {
        if (vertex == 0)
            file.open(argv[3]);
        if (!(file << std::hexfloat << state << '\n' << std::flush))
            throw std::runtime_error(std::string(argv[3]) + " cannot be written");
    };
    heat.run();
} catch (const std::exception &failed) {
    std::cerr << "heat: " << failed.what() << '\n';
    return 1;
}
