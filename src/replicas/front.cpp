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
#include "replicas/client.h"

namespace almanac::replicas {
namespace {

/// A request that replicas do not survive is not to take down all.
constexpr int kMostTries = 3;

constexpr const char* kRefused =
    R"({"error":{"type":"unavailable","code":503,"message":"no replica of the service )"
    R"(answered the request; it may be sent again"}})";
constexpr const char* kLate =
    R"({"error":{"type":"timeout","code":504,"message":"the replica gave no first byte in time; )"
    R"(--first-byte-timeout of the service sets the limit"}})";
constexpr const char* kTooLarge =
    R"({"error":{"type":"too_large","code":413,"message":"the request is too large"}})";
constexpr const char* kNoRoom =
    R"({"error":{"type":"unavailable","code":503,"message":"too many bytes of requests are in )"
    R"(memory; the request may be sent again"}})";
constexpr const char* kTwoMeanings =
    R"({"error":{"type":"bad_request","code":400,"message":"Content-Length or Host occurs twice, )"
    R"(or Content-Length together with Transfer-Encoding"}})";
constexpr const char* kBroken =
    "data: {\"error\":{\"type\":\"broken\",\"code\":502,\"message\":\"the replica stopped while it "
    "was answering; the answer is incomplete\"}}\n\n";

double seconds_between(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The connection that this thread serves, and when its request came. The library hands a handler
/// neither.
thread_local Client* client = nullptr;
thread_local Instant request_came{};

/// Counts the time that a connection waits for a thread as part of its request's.
class Threads final : public httplib::ThreadPool {
 public:
  using httplib::ThreadPool::ThreadPool;
  void enqueue(std::function<void()> serve) override {
    httplib::ThreadPool::enqueue(
        [serve = std::move(serve), came = std::chrono::steady_clock::now()] {
          request_came = came;
          serve();
        });
  }
};

/// A client's connection as the library reads and writes it.
class ClientStream final : public httplib::Stream {
 public:
  explicit ClientStream(Client& client) : client_(client) {}
  bool is_readable() const override { return client_.is_readable(); }
  bool is_writable() const override { return client_.is_writable(); }
  ssize_t read(char* to, std::size_t size) override { return client_.read(to, size); }
  ssize_t write(const char* from, std::size_t size) override { return client_.write(from, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { get(ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { get(ip, port); }
  socket_t socket() const override { return client_.socket(); }

 private:
  /// All clients are on this machine, and their ports are not used here.
  static void get(std::string& ip, int& port) {
    ip = "127.0.0.1";
    port = 0;
  }
  Client& client_;
};

/// The library's server, over connections of ours: the library has no bound for bodies in chunks,
/// reads what it has refused to the end, and cannot tell whether a client is still there.
class Server final : public httplib::Server {
 public:
  explicit Server(const Front::Limits& limits)
      : held_(limits.held_bytes),
        client_limits_{.read = limits.reading,
                       .request = limits.request,
                       .write = limits.silence,
                       .request_bytes = limits.request_bytes} {}

  /// The library asks the kernel to keep five connections that it has not accepted yet.
  void lengthen_backlog() const { ::listen(svr_sock_, SOMAXCONN); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    // A bound, so that no client keeps a thread forever.
    constexpr int kMostRequests = 1000;
    constexpr Duration kIdle = 1s;
    Client connection(socket, held_, client_limits_);
    client = &connection;
    bool is_served = true;
    for (int left = kMostRequests; left > 0 && svr_sock_ != INVALID_SOCKET; --left) {
      if (!connection.await(kIdle)) break;
      if (left < kMostRequests) request_came = std::chrono::steady_clock::now();
      connection.begin_request();
      ClientStream stream(connection);
      bool is_over = false;
      is_served = process_request(stream, left == 1, is_over, [](httplib::Request&) {});
      if (!is_served || is_over || connection.is_refused()) break;
    }
    client = nullptr;
    return is_served;
  }

  Held held_;
  const Client::Limits client_limits_;
};

/// An answer on its way: what its client was given so far.
class Passing {
 public:
  Passing(std::unique_ptr<Call> call, Pool& pool, ReplicaId replica, Tally& tally, Instant came,
          bool is_stream)
      : call_(std::move(call)),
        client_(*client),
        pool_(pool),
        replica_(replica),
        tally_(tally),
        came_(came),
        is_stream_(is_stream) {}
  ~Passing() { end(Fate::client_left); }

  bool pass(httplib::DataSink& sink) {
    const auto piece = call_->next([this] { return client_.has_left(); });
    const Instant now = std::chrono::steady_clock::now();
    if (!piece) {
      if (call_->is_whole()) {
        const double rest = events_ > 1 ? seconds_between(first_, last_) / (events_ - 1) : 0;
        tally_.time(seconds_between(came_, first_), rest);
        end(Fate::answered);
        sink.done();
        return true;
      }
      if (client_.has_left()) {
        end(Fate::client_left);
        return false;
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
  const Client& client_;
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
      : pool_(pool), tally_(tally), status_(std::move(status)), limits_(limits), http_(limits) {
    http_.new_task_queue = [threads = limits.at_once] {
      return new Threads(static_cast<std::size_t>(threads));
    };
    // By default the library would share the port with another program that listens there.
    http_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return refuse(request, response) ? httplib::Server::HandlerResponse::Handled
                                           : httplib::Server::HandlerResponse::Unhandled;
        });
    http_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (client->refusal() == Client::Refusal::none) return;
      const bool is_too_large = client->refusal() == Client::Refusal::too_large;
      response.status = is_too_large ? 413 : 503;
      response.set_content(is_too_large ? kTooLarge : kNoRoom, "application/json");
    });
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
    http_.lengthen_backlog();
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }
  int port() const { return port_; }

 private:
  /// Answers what is not to be passed on, before its body is read.
  bool refuse(const httplib::Request& request, httplib::Response& response) const {
    const std::size_t lengths = request.get_header_value_count("Content-Length");
    const bool has_two_meanings = lengths > 1 ||
                                  (lengths == 1 && request.has_header("Transfer-Encoding")) ||
                                  request.get_header_value_count("Transfer-Encoding") > 1 ||
                                  request.get_header_value_count("Host") > 1;
    const bool is_too_large = lengths == 1 && request.get_header_value<std::uint64_t>(
                                                  "Content-Length") > limits_.request_bytes;
    if (!has_two_meanings && !is_too_large) return false;
    client->refuse();
    response.status = has_two_meanings ? 400 : 413;
    response.set_header("Connection", "close");
    response.set_content(has_two_meanings ? kTwoMeanings : kTooLarge, "application/json");
    return true;
  }

  void pass_on(const httplib::Request& request, httplib::Response& response) {
    const Instant came = request_came;
    const Client& asker = *client;
    const auto has_left = [&] { return asker.has_left(); };
    tally_.accept();
    auto asked = std::make_shared<Asked>(
        Asked{.method = request.method, .target = request.target, .body = request.body});
    for (const auto& [name, value] : request.headers) asked->headers.emplace_back(name, value);
    for (int tries = 0; tries < kMostTries && !closing_; ++tries) {
      const auto lent = pool_.lend(came + limits_.patience, has_left);
      if (!lent) break;
      auto call = std::make_unique<Call>(asked, lent->port, limits_.silence);
      const auto begin =
          call->begin(std::chrono::steady_clock::now() + limits_.first_byte, has_left);
      if (begin == Call::Begin::answered) {
        answer(std::move(call), lent->replica, came, response);
        return;
      }
      call.reset();
      pool_.give_back(lent->replica, begin == Call::Begin::failed);
      if (begin == Call::Begin::client_left) break;
      if (begin == Call::Begin::late) {
        // Another replica would be as late: what is late is the request, or all of them.
        tally_.end(Fate::refused);
        response.status = 504;
        response.set_content(kLate, "application/json");
        return;
      }
      tally_.try_again();
    }
    tally_.end(asker.has_left() ? Fate::client_left : Fate::refused);
    response.status = 503;
    response.set_header("Retry-After", "10");
    response.set_content(kRefused, "application/json");
  }

  void answer(std::unique_ptr<Call> call, ReplicaId replica, Instant came,
              httplib::Response& response) {
    const Call::Head& head = call->head();
    response.status = head.status;
    std::string type = "application/octet-stream";
    for (const auto& [name, value] : head.headers) {
      if (::strcasecmp(name.c_str(), "Content-Type") == 0) {
        type = value;
      } else {
        response.headers.emplace(name, value);
      }
    }
    const bool is_stream = type.starts_with("text/event-stream");
    const auto passing =
        std::make_shared<Passing>(std::move(call), pool_, replica, tally_, came, is_stream);
    response.set_chunked_content_provider(
        type, [passing](std::size_t, httplib::DataSink& sink) { return passing->pass(sink); });
  }

  Pool& pool_;
  Tally& tally_;
  std::function<std::string()> status_;
  Limits limits_;
  Server http_;
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
