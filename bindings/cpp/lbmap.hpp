/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* lbmap.hpp: liblbmap for C++17. Header only; link with -llbmap. Programs in steps: lbmap_steps.hpp.
 *
 * lbm::map is lbmap.h: one connection to the daemon of this host, closed by its destructor. What the calls do
 * is said in the C header; here they throw lbm::error. A callback that throws does not stop the others: the
 * first exception is thrown by map::dispatch when all have been called. */
#ifndef LBMAP_HPP
#define LBMAP_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lbmap.h>

namespace lbm
{

class error : public std::runtime_error
{
  public:
    error(lbmap_error code, const std::string &text) : std::runtime_error(text), code_(code)
    {
    }
    lbmap_error code() const noexcept
    {
        return code_;
    }

  private:
    lbmap_error code_;
};

inline std::string_view
version()
{
    return lbmap_version();
}

/* Bytes that somebody else owns, valid as long as it says. */
class bytes
{
  public:
    bytes() noexcept = default;
    bytes(const void *at, std::size_t size) noexcept : at_(at), size_(size)
    {
    }
    /* Of containers of bytes or characters: std::string, std::vector<std::byte>. */
    template <class Container, class = decltype(std::declval<const Container &>().data())>
    bytes(const Container &c) noexcept : at_(c.data()), size_(c.size() * sizeof *c.data())
    {
        static_assert(std::is_trivially_copyable_v<std::remove_pointer_t<decltype(c.data())>>,
                      "bytes of an object that is more than its bytes");
    }
    const void *data() const noexcept
    {
        return at_;
    }
    std::size_t size() const noexcept
    {
        return size_;
    }
    bool empty() const noexcept
    {
        return size_ == 0;
    }
    /* What these bytes are a copy of. Throws std::length_error if they are not as many. */
    template <class T> T as() const
    {
        static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
        if (size_ != sizeof(T))
            throw std::length_error("lbm::bytes: " + std::to_string(size_) + " bytes, not " +
                                    std::to_string(sizeof(T)));
        T value{};
        std::memcpy(&value, at_, sizeof value);
        return value;
    }
    std::string_view text() const noexcept
    {
        return {static_cast<const char *>(at_), size_};
    }

  private:
    const void *at_ = nullptr;
    std::size_t size_ = 0;
};

/* The bytes of one object. */
template <class T>
bytes
bytes_of(const T &value) noexcept
{
    static_assert(std::is_trivially_copyable_v<T>, "bytes of an object that is more than its bytes");
    return {&value, sizeof value};
}

namespace detail
{

/* Exceptions cannot pass through C: the first one is kept, and rethrown behind it. */
class keeper
{
  public:
    template <class F> void keep(F &&f) noexcept
    {
        try {
            f();
        } catch (...) {
            if (!first_)
                first_ = std::current_exception();
        }
    }
    bool any() const noexcept
    {
        return first_ != nullptr;
    }
    void rethrow()
    {
        if (first_)
            std::rethrow_exception(std::exchange(first_, nullptr));
    }

  private:
    std::exception_ptr first_;
};

} // namespace detail

/* ---- a connection to the daemon -------------------------------------------------------------------------
 */

/* What a program that serves a job is asked; acquire, release and revoked are needed. */
struct callbacks {
    std::function<void(std::uint32_t vertex, std::uint64_t token, bytes payload)> acquire;
    /* What the next one shall have; nothing: what was checkpointed last. */
    std::function<std::optional<std::vector<std::byte>>(std::uint32_t vertex, std::uint64_t token)> release;
    std::function<void(std::uint32_t vertex, std::uint64_t token)> revoked;
    std::function<void(std::uint32_t vertex, std::uint64_t token, const lbmap_edge *edges, std::size_t n)>
        edges;
    std::function<void(const lbmap_peer &)> peer_up;
    std::function<void(std::uint32_t host)> peer_down;
    std::function<void(std::uint32_t host, bytes)> message;
    /* It may call map::send. */
    std::function<void(std::uint32_t to, std::uint32_t from, std::uint32_t tag, bytes)> deliver;
    std::function<void(std::uint32_t vertex, std::uint32_t host)> vertex_moved;
    bool send_kept = false; /* messages wait for checkpoints */
};

/* The payload of a vertex, for a checkpoint or a change. */
inline lbmap_payload
payload(bytes b) noexcept
{
    return {b.data(), b.size()};
}

/* A handle. It may be moved; one thread at a time may use it. */
class map
{
  public:
    explicit map(const std::string &socket = "")
    {
        struct ::lbmap *opened = nullptr;
        const lbmap_error code = lbmap_open(socket.empty() ? nullptr : socket.c_str(), &opened);
        if (code != LBMAP_OK)
            throw error(code, lbmap_strerror(code));
        handle_.reset(opened);
    }

    void set_timeout(unsigned ms)
    {
        check(lbmap_set_timeout(get(), ms));
    }
    void attach(const std::string &job)
    {
        check(lbmap_attach(get(), job.c_str()));
    }
    std::uint32_t host() const noexcept
    {
        return lbmap_host(get());
    }
    std::uint32_t vertices() const noexcept
    {
        return lbmap_vertices(get());
    }

    std::vector<lbmap_vertex> owned()
    {
        lbmap_vertex *list = nullptr;
        std::size_t n = 0;
        check(lbmap_owned(get(), &list, &n));
        const std::unique_ptr<lbmap_vertex, freeing> freed(list);
        return {list, list + n};
    }

    /* The host of each vertex, or LBMAP_NOWHERE. */
    std::vector<std::uint32_t> locate(const std::vector<std::uint32_t> &vertex)
    {
        std::vector<std::uint32_t> hosts(vertex.size());
        if (!vertex.empty())
            check(lbmap_locate(get(), vertex.data(), vertex.size(), hosts.data(), nullptr));
        return hosts;
    }

    void serve(callbacks with)
    {
        if (!with.acquire || !with.release || !with.revoked)
            throw error(LBMAP_E_RANGE, "lbm::map::serve: acquire, release and revoked are needed");
        auto next = std::make_unique<serving>();
        next->calls = std::move(with);
        lbmap_callbacks c = {};
        c.size = sizeof c;
        c.context = next.get();
        c.acquire = serving::on_acquire;
        c.release = serving::on_release;
        c.revoked = serving::on_revoked;
        c.edges = next->calls.edges ? serving::on_edges : nullptr;
        c.peer_up = next->calls.peer_up ? serving::on_peer_up : nullptr;
        c.peer_down = next->calls.peer_down ? serving::on_peer_down : nullptr;
        c.message = next->calls.message ? serving::on_message : nullptr;
        c.deliver = next->calls.deliver ? serving::on_deliver : nullptr;
        c.vertex_moved = next->calls.vertex_moved ? serving::on_vertex_moved : nullptr;
        c.send_kept = next->calls.send_kept;
        check(lbmap_serve(get(), &c));
        serving_ = std::move(next);
    }

    /* Wait up to timeout_ms and call the callbacks. Returns false once the job is cancelled. A callback that
     * throws does not keep the others from being called; the first exception is thrown from here. */
    bool dispatch(unsigned timeout_ms)
    {
        const lbmap_error code = lbmap_dispatch(get(), timeout_ms);
        if (serving_) {
            serving_->released.clear();
            serving_->thrown.rethrow();
        }
        if (code == LBMAP_E_NOTFOUND)
            return false;
        check(code);
        return true;
    }
    int fd() const noexcept
    {
        return lbmap_fd(get());
    }
    lbmap_lease lease() noexcept
    {
        return lbmap_lease_valid(get());
    }

    void checkpoint(const std::vector<lbmap_state> &states)
    {
        check(lbmap_checkpoint(get(), states.data(), states.size()));
    }
    /* Begin, and go on: what is longer than 256 KiB must stay as it is until checkpoint_done. */
    void checkpoint_start(const std::vector<lbmap_state> &states)
    {
        check(lbmap_checkpoint_start(get(), states.data(), states.size()));
    }
    /* False while it is not over. Throws if not all is kept; it is over then, too. */
    bool checkpoint_done()
    {
        int done = 0;
        check(lbmap_checkpoint_done(get(), &done));
        return done != 0;
    }
    void report_load(const std::vector<lbmap_load> &loads)
    {
        check(lbmap_report_load(get(), loads.data(), loads.size()));
    }
    void set_load(const std::vector<lbmap_load> &loads)
    {
        check(lbmap_set_load(get(), loads.data(), loads.size()));
    }

    void publish(bytes note)
    {
        check(lbmap_publish(get(), note.data(), note.size()));
    }
    void post(std::uint32_t to, bytes b)
    {
        check(lbmap_post(get(), to, b.data(), b.size()));
    }
    /* To a vertex, from one that is held. Returns false when too much of it has not arrived yet: dispatch and
     * checkpoint, and try again. */
    bool send(std::uint32_t from, std::uint32_t to, std::uint32_t tag, bytes b)
    {
        const lbmap_error code = lbmap_send(get(), from, to, tag, b.data(), b.size());
        if (code != LBMAP_E_BUSY)
            check(code);
        return code == LBMAP_OK;
    }
    void finish()
    {
        check(lbmap_finish(get()));
    }

    std::vector<std::uint32_t> new_vertices(std::size_t n)
    {
        std::vector<std::uint32_t> ids(n);
        check(lbmap_new_vertices(get(), ids.data(), n));
        return ids;
    }
    void change(const std::vector<lbmap_vertex_change> &of, const std::vector<lbmap_edge_change> &edges)
    {
        check(lbmap_change(get(), of.data(), of.size(), edges.data(), edges.size()));
    }
    void count(std::uint32_t vertex, std::uint32_t other, double amount)
    {
        check(lbmap_count(get(), vertex, other, amount));
    }
    void follow_counts(double unit)
    {
        check(lbmap_follow_counts(get(), unit));
    }

    /* For calls that this header does not have. */
    struct ::lbmap *get() const noexcept
    {
        return handle_.get();
    }

  private:
    struct freeing {
        void operator()(void *p) const noexcept
        {
            std::free(p);
        }
    };
    struct closing {
        void operator()(struct ::lbmap *p) const noexcept
        {
            lbmap_close(p);
        }
    };
    struct serving {
        callbacks calls;
        detail::keeper thrown;
        std::list<std::vector<std::byte>> released; /* stay until dispatch returns */

        template <class F> static void call(void *context, F &&f) noexcept
        {
            auto &s = *static_cast<serving *>(context);
            s.thrown.keep([&] { f(s); });
        }
        static void on_acquire(void *context, std::uint32_t v, std::uint64_t token, const lbmap_payload *p)
        {
            call(context, [&](serving &s) { s.calls.acquire(v, token, {p->bytes, p->len}); });
        }
        static void on_release(void *context, std::uint32_t v, std::uint64_t token, lbmap_payload *p)
        {
            call(context, [&](serving &s) {
                static const std::byte nothing{};
                auto state = s.calls.release(v, token);
                if (!state)
                    return;
                s.released.push_back(std::move(*state));
                const auto &kept = s.released.back();
                *p = {kept.empty() ? &nothing : kept.data(), kept.size()};
            });
        }
        static void on_revoked(void *context, std::uint32_t v, std::uint64_t token)
        {
            call(context, [&](serving &s) { s.calls.revoked(v, token); });
        }
        static void on_edges(void *context, std::uint32_t v, std::uint64_t token, const lbmap_edge *e,
                             std::size_t n)
        {
            call(context, [&](serving &s) { s.calls.edges(v, token, e, n); });
        }
        static void on_peer_up(void *context, const lbmap_peer *peer)
        {
            call(context, [&](serving &s) { s.calls.peer_up(*peer); });
        }
        static void on_peer_down(void *context, std::uint32_t host)
        {
            call(context, [&](serving &s) { s.calls.peer_down(host); });
        }
        static void on_message(void *context, std::uint32_t host, const void *b, std::size_t n)
        {
            call(context, [&](serving &s) { s.calls.message(host, {b, n}); });
        }
        static void on_deliver(void *context, std::uint32_t to, std::uint32_t from, std::uint32_t tag,
                               const void *b, std::size_t n)
        {
            call(context, [&](serving &s) { s.calls.deliver(to, from, tag, {b, n}); });
        }
        static void on_vertex_moved(void *context, std::uint32_t v, std::uint32_t host)
        {
            call(context, [&](serving &s) { s.calls.vertex_moved(v, host); });
        }
    };

    void check(lbmap_error code) const
    {
        if (code == LBMAP_OK)
            return;
        const char *why = lbmap_message(get());
        throw error(code, why[0] != '\0' ? why : lbmap_strerror(code));
    }

    /* In this order: the handle is closed before what its callbacks use is gone. */
    std::unique_ptr<serving> serving_;
    std::unique_ptr<struct ::lbmap, closing> handle_;
};

} // namespace lbm

#endif
