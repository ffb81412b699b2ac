// SPDX-License-Identifier: Apache-2.0
#include "replicas/front.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include "replicas/call.h"

namespace almanac::replicas {
namespace {

/// A request that replicas do not survive is not to take down all.
constexpr int kMostTries = 3;

constexpr const char* kRefused =
    R"({"error":{"type":"unavailable","code":503,"message":"no replica of the service )"
    R"(answered the request; it may be sent again"}})";
constexpr const char* kBroken =
    "data: {\"error\":{\"type\":\"broken\",\"code\":502,\"message\":\"the replica went away while "
    "it answered; the answer is not whole\"}}\n\n";

double seconds_between(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

/// An answer on its way: what its client was given so far.
class Passing {
 public:
  Passing(std::unique_ptr<Call> call, Pool& pool, ReplicaId replica, Tally& tally, Instant came,
          bool is_stream)
      : call_(std::move(call)),
        pool_(pool),
        replica_(replica),
        tally_(tally),
        came_(came),
        is_stream_(is_stream) {}
  ~Passing() { end(Fate::client_left); }

  bool pass(httplib::DataSink& sink) {
    const auto piece = call_->next();
    const Instant now = std::chrono::steady_clock::now();
    if (!piece) {
      if (call_->is_whole()) {
        const double rest = events_ > 1 ? seconds_between(first_, last_) / (events_ - 1) : 0;
        tally_.time(seconds_between(came_, first_), rest);
        end(Fate::answered);
        sink.done();
        return true;
      }
      if (is_stream_) sink.write(kBroken, std::char_traits<char>::length(kBroken));
      end(Fate::broken);
      return false;
    }
    if (events_ == 0) first_ = now;
    last_ = now;
    ++events_;
    if (sink.write(piece->data(), piece->size())) return true;
    end(Fate::client_left);
    return false;
  }

 private:
  void end(Fate fate) {
    if (std::exchange(over_, true)) return;
    tally_.end(fate);
    call_.reset();
    pool_.give_back(replica_, fate == Fate::broken);
  }

  std::unique_ptr<Call> call_;
  Pool& pool_;
  ReplicaId replica_;
  Tally& tally_;
  Instant came_, first_{}, last_{};
  int events_ = 0;
  bool is_stream_;
  bool over_ = false;
};

}  // namespace

class Front::Door {
 public:
  Door(Pool& pool, Tally& tally, std::function<std::string()> status, const Limits& limits)
      : pool_(pool), tally_(tally), status_(std::move(status)), limits_(limits) {
    http_.new_task_queue = [threads = limits.at_once] {
      return new httplib::ThreadPool(static_cast<std::size_t>(threads));
    };
    // The library would share the port with whoever else answers there.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.set_keep_alive_timeout(1);
    http_.set_read_timeout(limits.silence);
    http_.set_write_timeout(limits.silence);
    http_.Get("/almanac/status", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(status_(), "application/json");
    });
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      pass_on(request, response);
    };
    http_.Get(".*", answer);
    http_.Post(".*", answer);
    http_.Put(".*", answer);
    http_.Patch(".*", answer);
    http_.Delete(".*", answer);
    http_.Options(".*", answer);
  }
  ~Door() {
    // The library cuts off answers in pieces when it stops.
    closing_ = true;
    constexpr auto kLook = std::chrono::milliseconds(10);
    while (tally_.in_hand() > 0) std::this_thread::sleep_for(kLook);
    http_.stop();
    if (thread_.joinable()) thread_.join();
  }

  bool listen(int port) {
    port_ = port;
    if (port == 0) {
      port_ = http_.bind_to_any_port("127.0.0.1");
    } else if (!http_.bind_to_port("127.0.0.1", port)) {
      return false;
    }
    if (port_ <= 0) return false;
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }
  int port() const { return port_; }

 private:
  void pass_on(const httplib::Request& request, httplib::Response& response) {
    const Instant came = std::chrono::steady_clock::now();
    tally_.accept();
    Asked asked{.method = request.method, .target = request.target, .body = request.body};
    for (const auto& [name, value] : request.headers) asked.headers.emplace_back(name, value);
    for (int tries = 0; tries < kMostTries && !closing_; ++tries) {
      const auto lent = pool_.lend(came + limits_.patience);
      if (!lent) break;
      auto call = std::make_unique<Call>(asked, lent->port, limits_.silence);
      const auto head = call->begun();
      if (!head) {
        call.reset();
        pool_.give_back(lent->replica, true);
        tally_.try_again();
        continue;
      }
      response.status = head->status;
      std::string type = "application/octet-stream";
      for (const auto& [name, value] : head->headers) {
        if (::strcasecmp(name.c_str(), "Content-Type") == 0) {
          type = value;
        } else {
          response.headers.emplace(name, value);
        }
      }
      const bool is_stream = type.starts_with("text/event-stream");
      const auto passing =
          std::make_shared<Passing>(std::move(call), pool_, lent->replica, tally_, came, is_stream);
      response.set_chunked_content_provider(
          type, [passing](std::size_t, httplib::DataSink& sink) { return passing->pass(sink); });
      return;
    }
    tally_.end(Fate::refused);
    response.status = 503;
    response.set_header("Retry-After", "10");
    response.set_content(kRefused, "application/json");
  }

  Pool& pool_;
  Tally& tally_;
  std::function<std::string()> status_;
  Limits limits_;
  httplib::Server http_;
  std::atomic<bool> closing_ = false;
  int port_ = 0;
  std::thread thread_;
};

Result<std::unique_ptr<Front>> Front::start(int port, Pool& pool, Tally& tally,
                                            std::function<std::string()> status,
                                            const Limits& limits) {
  auto door = std::make_unique<Door>(pool, tally, std::move(status), limits);
  if (!door->listen(port)) {
    return fail(Code::unavailable, fmt::format("port {} of 127.0.0.1 is taken", port), {},
                "give another --port; 0 = any that is free");
  }
  return std::unique_ptr<Front>(new Front(std::move(door)));
}

Front::Front(std::unique_ptr<Door> door) : door_(std::move(door)) {}
Front::~Front() = default;
int Front::port() const { return door_->port(); }

}  // namespace almanac::replicas
