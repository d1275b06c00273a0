/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap_steps.hpp: lbmap_steps.h for C++17, with lambdas and a State of the program's own. Header only.
 *
 *     lbm::steps<double> heat("airfoil", 1000);
 *     heat.init = [](uint32_t v) { return v == 0 ? 1.0 : 0.0; };
 *     heat.step = [](const lbm::step<double> &s) {
 *         double in = 0;
 *         for (auto n : s)
 *             in += n.state() - s.state();
 *         return s.state() + 0.1 * in;
 *     };
 *     heat.result = [](uint32_t v, const double &state) { std::printf("%u %g\n", v, state); };
 *     heat.run();
 *
 * A function that throws ends run(), which throws the same. */
#ifndef LBMAP_STEPS_HPP
#define LBMAP_STEPS_HPP

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <lbmap.hpp>

/* A function and a struct of C have the same name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <lbmap_steps.h>
#pragma GCC diagnostic pop

namespace lbm
{

/* ---- steps ----------------------------------------------------------------------------------------------
 */

/* A neighbour of a vertex in a step. */
template <class State> class neighbour
{
  public:
    explicit neighbour(const lbmap_neighbour &n) noexcept : n_(&n)
    {
    }
    std::uint32_t vertex() const noexcept
    {
        return n_->vertex;
    }
    std::uint32_t weight() const noexcept
    {
        return n_->weight;
    }
    const State &state() const noexcept
    {
        return *static_cast<const State *>(n_->state);
    }
    std::size_t size() const noexcept
    {
        return n_->size;
    } /* bytes of the state that are used */

  private:
    const lbmap_neighbour *n_;
};

/* What a step is made from: own state, and a range of neighbours in the order of their numbers. */
template <class State> class step
{
  public:
    class iterator
    {
      public:
        explicit iterator(const lbmap_neighbour *at) noexcept : at_(at)
        {
        }
        neighbour<State> operator*() const noexcept
        {
            return neighbour<State>(*at_);
        }
        iterator &operator++() noexcept
        {
            ++at_;
            return *this;
        }
        bool operator!=(const iterator &other) const noexcept
        {
            return at_ != other.at_;
        }
        bool operator==(const iterator &other) const noexcept
        {
            return at_ == other.at_;
        }

      private:
        const lbmap_neighbour *at_;
    };

    explicit step(const lbmap_step &s) noexcept : s_(&s)
    {
    }
    std::uint32_t vertex() const noexcept
    {
        return s_->vertex;
    }
    std::uint64_t number() const noexcept
    {
        return s_->step;
    }
    const State &state() const noexcept
    {
        return *static_cast<const State *>(s_->state);
    }
    std::size_t size() const noexcept
    {
        return s_->size;
    }
    std::size_t degree() const noexcept
    {
        return s_->degree;
    }
    neighbour<State> operator[](std::size_t i) const noexcept
    {
        return neighbour<State>(s_->neighbour[i]);
    }
    iterator begin() const noexcept
    {
        return iterator(s_->neighbour);
    }
    iterator end() const noexcept
    {
        return iterator(s_->neighbour + s_->degree);
    }

  private:
    const lbmap_step *s_;
};

/* A program in steps (lbmap_steps.h). State is copied byte by byte: no pointers. With `length` a state may be
 * shorter: then only so many bytes of it, from its begin on, are sent and kept, and the others are 0 or
 * unspecified. */
template <class State> class steps
{
    static_assert(std::is_trivially_copyable_v<State>, "a State is sent as its bytes");
    static_assert(std::is_default_constructible_v<State>);
    static_assert(alignof(State) <= alignof(std::max_align_t));

  public:
    std::string job;
    std::uint64_t count = 0; /* how many steps each vertex does */
    std::string socket;      /* of the daemon of this host; empty: the usual one */
    std::uint32_t keep = 0;  /* steps from checkpoint to checkpoint; 0: as lbmap_steps.h says */
    std::function<State(std::uint32_t vertex)> init;
    std::function<State(const lbm::step<State> &)> step;
    std::function<std::size_t(std::uint32_t vertex, const State &)> length; /* may be empty, as those below */
    std::function<double(std::uint32_t vertex)> load;
    std::function<void(std::uint32_t vertex, const State &)> result;
    /* What one neighbour sees of a state: a State of which so many bytes are used. */
    std::function<std::size_t(std::uint32_t vertex, std::uint32_t neighbour, const State &, State &seen)>
        share_with;
    std::function<void(std::uint64_t step)> stable;

    explicit steps(std::string job_name = "", std::uint64_t how_many = 0)
        : job(std::move(job_name)), count(how_many)
    {
    }

    /* Work until every vertex of the job has done all steps. Throws lbm::error, or what a function threw. */
    void run()
    {
        char message[512] = "";
        running now{this, {}, 0};
        struct ::lbmap_steps c = {};
        c.size = sizeof c;
        c.job = job.c_str();
        c.socket_path = socket.empty() ? nullptr : socket.c_str();
        c.steps = count;
        c.state_size = sizeof(State);
        c.keep = keep;
        c.context = &now;
        c.init = init ? running::on_init : nullptr;
        c.step = step ? running::on_step : nullptr;
        c.length = length ? running::on_length : nullptr;
        c.load = load ? running::on_load : nullptr;
        c.result = result ? running::on_result : nullptr;
        c.share_size = share_with ? sizeof(State) : 0;
        c.share_with = share_with ? running::on_share_with : nullptr;
        c.stable = stable ? running::on_stable : nullptr;
        c.stop = &now.stop;
        const lbmap_error code = ::lbmap_steps(&c, message, sizeof message);
        now.thrown.rethrow();
        if (code != LBMAP_OK)
            throw error(code, message[0] != '\0' ? message : lbmap_strerror(code));
    }

  private:
    struct running {
        steps *program;
        detail::keeper thrown;
        volatile int stop;

        /* Call f, unless something was thrown already: then the run is about to end. */
        template <class F> static void call(void *context, F &&f) noexcept
        {
            auto &now = *static_cast<running *>(context);
            if (!now.thrown.any())
                now.thrown.keep([&] { f(*now.program); });
            if (now.thrown.any())
                now.stop = 1;
        }
        static void put(void *to, const State &state) noexcept
        {
            std::memcpy(to, &state, sizeof state);
        }

        static void on_init(void *context, std::uint32_t vertex, void *state)
        {
            call(context, [&](steps &p) { put(state, p.init(vertex)); });
        }
        static void on_step(void *context, const lbmap_step *s, void *after)
        {
            call(context, [&](steps &p) { put(after, p.step(lbm::step<State>(*s))); });
        }
        static std::size_t on_length(void *context, std::uint32_t vertex, const void *state)
        {
            std::size_t n = sizeof(State);
            call(context, [&](steps &p) {
                n = p.length(vertex, *static_cast<const State *>(state));
                if (n > sizeof(State))
                    throw std::length_error("lbm::steps: a state is longer than its type");
            });
            return std::min(n, sizeof(State));
        }
        static std::size_t on_share_with(void *context, std::uint32_t vertex, std::uint32_t other,
                                         const void *state, std::size_t, void *seen)
        {
            std::size_t n = 0;
            call(context, [&](steps &p) {
                n = p.share_with(vertex, other, *static_cast<const State *>(state),
                                 *static_cast<State *>(seen));
            });
            return std::min(n, sizeof(State));
        }
        static double on_load(void *context, std::uint32_t vertex)
        {
            double cost = 0;
            call(context, [&](steps &p) { cost = p.load(vertex); });
            return cost;
        }
        static void on_result(void *context, std::uint32_t vertex, const void *state, std::size_t size)
        {
            call(context, [&](steps &p) {
                State last{};
                std::memcpy(&last, state, std::min(size, sizeof last));
                p.result(vertex, last);
            });
        }
        static void on_stable(void *context, std::uint64_t number)
        {
            call(context, [&](steps &p) { p.stable(number); });
        }
    };
};

} // namespace lbm

#endif
