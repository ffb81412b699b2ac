// SPDX-License-Identifier: Apache-2.0
#include "serve/listener.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/check.h"
#include "process/bell.h"
#include "serve/answers.h"
#include "serve/connection.h"
#include "serve/exchange.h"
#include "serve/rate.h"
#include "serve/sockets.h"
#include "serve/workers.h"

namespace almanac::serve {

using process::Descriptor;
using Clock = std::chrono::steady_clock;

namespace {

/// Refuses a connection: one of the service, which has no more of them, or of a client.
Answer too_many_connections(bool is_service_full) {
  Answer answer = is_service_full
                      ? problem(503, "the service has too many connections", "try again later")
                      : problem(429, "too many connections from one user or address", "close some");
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace

class Listener::Loop {
 public:
  Loop(std::vector<Descriptor> sockets, Descriptor poll, process::Bell bell, Handler handler,
       const Limits& limits, std::unique_ptr<Tls> tls)
      : limits_(limits),
        tls_(std::move(tls)),
        sockets_(std::move(sockets)),
        poll_(std::move(poll)),
        bell_(std::move(bell)),
        rate_(limits.requests_per_s, limits.burst),
        workers_(limits.workers, std::move(handler), [this] { bell_.ring(); }) {
    watch(bell_.get(), kBell, EPOLLIN, EPOLL_CTL_ADD);
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      watch(sockets_[i].get(), kFirstSocket + i, EPOLLIN, EPOLL_CTL_ADD);
    }
    next_ = kFirstSocket + sockets_.size();
    thread_ = std::thread([this] { run(); });
  }
  ~Loop() {
    ends_ = true;
    bell_.ring();
    thread_.join();
  }

 private:
  static constexpr std::uint64_t kBell = 0;
  static constexpr std::uint64_t kFirstSocket = 1;
  /// At the end, what clients have not read by then is dropped.
  static constexpr Duration kLastWords = 2s;

  void watch(int socket, std::uint64_t who, std::uint32_t events, int how) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = who;
    ALMANAC_CHECK(::epoll_ctl(poll_.get(), how, socket, &event) == 0, "{}", std::strerror(errno));
  }

  void run() {
    // OpenSSL writes as write(2) does: of a client that is gone this thread is told by an error.
    sigset_t pipe;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    while (!ends_ || is_busy()) {
      std::array<epoll_event, 64> events;
      const int count =
          ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), patience());
      ALMANAC_CHECK(count >= 0 || errno == EINTR, "{}", std::strerror(errno));
      for (int i = 0; i < count; ++i) hear(events[static_cast<std::size_t>(i)]);
      end_late();
      if (ends_) take_leave();
    }
  }

  /// Milliseconds until the next deadline; -1 = there is none.
  int patience() const {
    Clock::time_point next = Clock::time_point::max();
    for (const auto& [who, each] : connections_) next = std::min(next, each.deadline());
    if (leave_by_) next = std::min(next, *leave_by_);
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void hear(const epoll_event& event) {
    const std::uint64_t who = event.data.u64;
    if (who == kBell) {
      bell_.hush();
      for (Workers::Done& done : workers_.collect()) finish(std::move(done));
    } else if (who < kFirstSocket + sockets_.size()) {
      accept(sockets_[who - kFirstSocket]);
    } else if (const auto found = connections_.find(who); found != connections_.end()) {
      Connection& connection = found->second;
      const Clock::time_point now = Clock::now();
      switch (connection.phase()) {
        case Connection::Phase::answering:  // nothing is asked for then but this: it hung up
          connection.drop();
          break;
        case Connection::Phase::sending:
          connection.send(now);
          break;
        default:
          connection.receive(now);
      }
      go_on(who, connection);
    }
  }

  void accept(const Descriptor& socket) {
    for (;;) {
      if (is_full()) return listen(false);
      Descriptor accepted(::accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!accepted) {
        // Without descriptors left the connection stays in the kernel's queue; look again later.
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
          std::this_thread::sleep_for(10ms);
        }
        return;
      }
      Peer peer = peer_of(accepted);
      peer.is_tls = tls_ && !peer.is_local;
      std::unique_ptr<TlsSession> session = peer.is_tls ? tls_->begin(accepted.get()) : nullptr;
      if (peer.is_tls && !session) continue;
      std::size_t& of_one = held_[peer.client];
      const bool is_service_full = connections_.size() >= limits_.connections;
      const bool is_too_many = of_one >= limits_.connections_of_one;
      const std::uint64_t who = next_++;
      const int number = accepted.get();
      ++of_one;
      Connection& made = connections_
                             .try_emplace(who, std::move(accepted), peer, limits_, Clock::now(),
                                          std::move(session))
                             .first->second;
      watch(number, who, EPOLLIN, EPOLL_CTL_ADD);
      if (is_service_full || is_too_many) {
        made.answer(Exchange::refusal(too_many_connections(is_service_full), true), true,
                    Clock::now());
        go_on(who, made);
      }
    }
  }

  /// Also those that are told that there are too many take a descriptor each. Beyond, clients stay
  /// in the kernel's queue: what the service itself opens must find one.
  bool is_full() const { return connections_.size() >= limits_.connections + limits_.refused; }
  void listen(bool on) {
    listens_ = on;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      watch(sockets_[i].get(), kFirstSocket + i, on ? std::uint32_t{EPOLLIN} : 0, EPOLL_CTL_MOD);
    }
  }

  /// Hands on what has come of a connection, and listens for what comes next.
  void go_on(std::uint64_t who, Connection& connection) {
    while (connection.has_request()) hand_on(who, connection);
    switch (connection.phase()) {
      case Connection::Phase::closed: {
        const auto held = held_.find(connection.peer().client);
        if (--held->second == 0) held_.erase(held);
        connections_.erase(who);  // closes the socket, which leaves the poll by that
        if (!listens_ && !is_full()) listen(true);
        return;
      }
      case Connection::Phase::answering:
        return watch(connection.socket(), who, 0, EPOLL_CTL_MOD);
      default:
        return watch(connection.socket(), who, connection.wants_to_write() ? EPOLLOUT : EPOLLIN,
                     EPOLL_CTL_MOD);
    }
  }

  void hand_on(std::uint64_t who, Connection& connection) {
    Workers::Task task{.connection = who, .peer = connection.peer(), .is_last = ends_};
    task.request = connection.take_request(task.head_size);
    const Clock::time_point now = Clock::now();
    if (const int wait_s = rate_.take(connection.peer().client, now); wait_s > 0) {
      Answer answer = problem(429, "too many requests", fmt::format("wait {} s", wait_s));
      answer.headers.emplace_back("Retry-After", std::to_string(wait_s));
      return connection.answer(Exchange::refusal(answer, false), false, now);
    }
    ++answering_;
    workers_.give(std::move(task));
  }

  void finish(Workers::Done done) {
    --answering_;
    const auto found = connections_.find(done.connection);
    if (found == connections_.end()) return;
    found->second.answer(std::move(done.reply), done.closes, Clock::now());
    go_on(done.connection, found->second);
  }

  void end_late() {
    const Clock::time_point now = Clock::now();
    std::vector<std::uint64_t> late;
    for (const auto& [who, each] : connections_) {
      if (each.deadline() <= now) late.push_back(who);
    }
    for (const std::uint64_t who : late) {
      Connection& connection = connections_.at(who);
      connection.give_up(now);
      go_on(who, connection);
    }
  }

  bool is_busy() const {
    return answering_ > 0 || (leave_by_ && Clock::now() < *leave_by_ && is_sending());
  }
  bool is_sending() const {
    return std::any_of(connections_.begin(), connections_.end(), [](const auto& each) {
      return each.second.phase() == Connection::Phase::sending;
    });
  }
  void take_leave() {
    if (leave_by_) return;
    leave_by_ = Clock::now() + kLastWords;
    sockets_.clear();
  }

  Limits limits_;
  std::unique_ptr<Tls> tls_;
  std::vector<Descriptor> sockets_;
  Descriptor poll_;
  process::Bell bell_;
  Rate rate_;
  std::map<std::uint64_t, Connection> connections_;
  std::map<std::uint64_t, std::size_t> held_;  // connections of each client
  std::uint64_t next_ = 0;
  bool listens_ = true;
  int answering_ = 0;
  std::optional<Clock::time_point> leave_by_;
  std::atomic<bool> ends_ = false;
  Workers workers_;
  std::thread thread_;
};

Listener::Listener(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::start(std::vector<Descriptor> sockets, Handler handler,
                                                  const Limits& limits, std::unique_ptr<Tls> tls) {
  Descriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  process::Bell bell;
  if (!poll || !bell) {
    return fail(Code::unavailable, fmt::format("cannot listen: {}", std::strerror(errno)));
  }
  return std::unique_ptr<Listener>(
      new Listener(std::make_unique<Loop>(std::move(sockets), std::move(poll), std::move(bell),
                                          std::move(handler), limits, std::move(tls))));
}

}  // namespace almanac::serve
