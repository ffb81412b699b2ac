// SPDX-License-Identifier: Apache-2.0
#include "serve/listener.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "serve/answers.h"
#include "serve/sockets.h"
#include "support/temporary_folder.h"

namespace almanac::serve {
namespace {

using process::Descriptor;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A client that says exactly what it is told to.
class Wire {
 public:
  explicit Wire(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
    is_connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  /// From any address of this machine.
  explicit Wire(int port, const char* from = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &own.sin_addr);
    ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  bool is_connected() const { return is_connected_; }
  Wire& say(std::string_view bytes) {
    send(bytes);
    return *this;
  }
  /// How many of them went.
  std::size_t send(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t gone =
          ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (gone <= 0) break;
      sent += static_cast<std::size_t>(gone);
    }
    return sent;
  }
  /// All that comes until `count` answers are there, or the connection ends; "" after 20 s.
  std::string hear(int count = 1) {
    std::string heard;
    while (answers(heard) < count) {
      pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20'000) != 1) return "nothing came";
      char bytes[4096];
      const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) break;
      heard.append(bytes, static_cast<std::size_t>(got));
    }
    return heard;
  }
  int number() const { return socket_.get(); }

 private:
  static int answers(std::string_view text) {
    int count = 0;
    for (;;) {
      const std::size_t end = text.find("\r\n\r\n");
      if (end == std::string_view::npos) return count;
      const std::size_t said = text.find("Content-Length: ");
      const std::size_t size = said < end ? std::stoul(std::string(text.substr(said + 16, 10))) : 0;
      if (text.size() < end + 4 + size) return count;
      text.remove_prefix(end + 4 + size);
      count += said < end ? 1 : 0;  // an interim one has no length
    }
  }

  Descriptor socket_;
  bool is_connected_ = false;
};

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}
std::string post(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

/// Says which peer asks, and what.
Answer echo(const Ask& ask) {
  const std::string* const claimed = ask.header("remote_addr");
  return {.body = ask.method + " " + ask.path + " by " +
                  (ask.peer.is_local ? std::to_string(ask.peer.uid) : "no user") + " of process " +
                  std::to_string(ask.peer.process) + " with " + std::to_string(ask.body.size()) +
                  (claimed == nullptr ? "" : " claims " + *claimed)};
}

class ListenerTest : public testing::Test {
 protected:
  void start(const Limits& limits = {}, Handler handler = echo) {
    listener_.reset();
    auto local = listen_unix(path_);
    auto tcp = listen_tcp({});
    ASSERT_TRUE(local && tcp);
    port_ = port_of(*tcp);
    std::vector<Descriptor> sockets;
    sockets.push_back(std::move(*local));
    sockets.push_back(std::move(*tcp));
    auto started = Listener::start(std::move(sockets), std::move(handler), limits);
    ASSERT_TRUE(started);
    listener_ = std::move(*started);
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "socket";
  int port_ = 0;
  std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, TellsWhoAsksByTheKernelsWord) {
  start();
  const std::string me =
      " by " + std::to_string(::getuid()) + " of process " + std::to_string(::getpid()) + " with 0";
  EXPECT_THAT(Wire(path_).say(get("/a")).hear(), HasSubstr("GET /a" + me));
  EXPECT_THAT(Wire(port_).say(get("/a")).hear(), HasSubstr("GET /a by no user of process 0"));
  // Headers of that name change nothing.
  EXPECT_THAT(Wire(port_)
                  .say("GET /a HTTP/1.1\r\nREMOTE_ADDR: uid 0\r\nX-Uid: 0\r\nHost: a\r\n\r\n")
                  .hear(),
              HasSubstr("GET /a by no user of process 0"));
}

TEST_F(ListenerTest, KeepsAConnectionForManyRequests) {
  start();
  Wire wire(path_);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(wire.say(get("/" + std::to_string(i))).hear(),
                HasSubstr("GET /" + std::to_string(i) + " by"));
  }
  const std::string heard = wire.say(get("/x") + post("/y", "abc") + get("/z")).hear(3);
  EXPECT_THAT(heard, HasSubstr("GET /x"));
  EXPECT_THAT(heard, HasSubstr("POST /y"));
  EXPECT_THAT(heard, HasSubstr("with 3"));
  EXPECT_THAT(heard, HasSubstr("GET /z"));
}

TEST_F(ListenerTest, ReadsABodyInPieces) {
  start();
  const std::string request = post("/", std::string(1'000'000, 'x'));
  Wire wire(path_);
  for (std::size_t at = 0; at < request.size(); at += 100'000)
    wire.say(request.substr(at, 100'000));
  EXPECT_THAT(wire.hear(), HasSubstr("with 1000000"));
}

TEST_F(ListenerTest, TellsAClientThatWaitsToSendItsBody) {
  start();
  Wire wire(path_);
  wire.say("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  char interim[64] = {};
  ASSERT_GT(::recv(wire.number(), interim, sizeof interim - 1, 0), 0);
  EXPECT_STREQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(wire.say("ab").hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ListenerTest, AnswersOthersWhileManySendSlowly) {
  start({.request_in = 60s, .workers = 1});
  std::vector<Wire> slow;
  for (int i = 0; i < 100; ++i) slow.emplace_back(path_).say("GET / HTT");
  std::vector<Wire> bodies;
  for (int i = 0; i < 20; ++i) {
    bodies.emplace_back(port_).say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
  }
  EXPECT_THAT(Wire(path_).say(get("/a")).hear(), HasSubstr("GET /a"));
  // And they are answered when they come to an end.
  EXPECT_THAT(slow[0].say("P/1.1\r\nHost: a\r\n\r\n").hear(), HasSubstr("GET / by"));
}

TEST_F(ListenerTest, AnswersOthersWhileOneDoesNotRead) {
  start({.workers = 1}, [](const Ask& ask) {
    return Answer{.body = std::string(ask.path == "/much" ? 20'000'000 : 10, 'x')};
  });
  Wire deaf(path_);
  deaf.say(get("/much"));
  EXPECT_THAT(Wire(path_).say(get("/little")).hear(), HasSubstr("xxxxxxxxxx"));
  EXPECT_GT(deaf.hear().size(), 20'000'000U);
}

TEST_F(ListenerTest, TellsUsersOfThisMachineApartThatComeByTcp) {
  start({}, [](const Ask& ask) { return Answer{.body = std::to_string(ask.peer.client) + "."}; });
  const std::string me = "\n" + std::to_string(::getuid()) + ".";
  EXPECT_THAT(Wire(path_).say(get("/")).hear(), HasSubstr(me));
  EXPECT_THAT(Wire(port_).say(get("/")).hear(), HasSubstr(me));
  // As from another machine: no process here owns the connection.
  EXPECT_THAT(Wire(port_, "127.0.0.2").say(get("/")).hear(), Not(HasSubstr(me)));
}

TEST_F(ListenerTest, LetsNobodyKeepAllWorkers) {
  std::promise<void> go_on;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  start({.workers = 4}, [may_go_on](const Ask& ask) {
    if (ask.path == "/slow") may_go_on.wait();
    return Answer{.body = ask.path};
  });
  std::vector<Wire> slow;
  for (int i = 0; i < 20; ++i) slow.emplace_back(path_).say(get("/slow"));
  // The other client may be refused at first. It is served once the slow one has its most workers.
  std::string other = "/other";
  for (int time = 0; time < 20 && other.find("/other") != std::string::npos; ++time) {
    other = Wire(port_, "127.0.0.2").say(get("/other")).hear();
  }
  EXPECT_THAT(other, HasSubstr("/other"));
  go_on.set_value();
  for (Wire& each : slow) EXPECT_THAT(each.hear(), HasSubstr("/slow"));
}

TEST_F(ListenerTest, DrainsWhomItRefusesOnlySoFar) {
  start();
  const std::string much(64 << 20, 'x');
  EXPECT_LT(Wire(path_).say("nonsense\r\n\r\n").send(much), much.size());
}

TEST_F(ListenerTest, EndsARequestThatTakesTooLong) {
  start({.request_in = 50ms});
  Wire wire(path_);
  wire.say("GET / HTTP/1.1\r\n");
  const std::string heard = wire.hear();
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(heard, HasSubstr("too_slow"));
  EXPECT_EQ(wire.hear(), "");  // and the connection with it
}

TEST_F(ListenerTest, EndsAConnectionThatIsIdle) {
  start({.idle = 50ms});
  EXPECT_EQ(Wire(path_).hear(), "");
}

TEST_F(ListenerTest, RefusesWhatIsTooLargeOrMalformed) {
  start();
  EXPECT_THAT(Wire(path_).say("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n").hear(),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Wire(path_).say("GET /" + std::string(5000, 'a')).hear(), StartsWith("HTTP/1.1 414"));
  EXPECT_THAT(Wire(path_).say("\x16\x03\x01\x02\r\n\r\n").hear(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Wire(path_).say("HELLO\r\n\r\n").hear(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Wire(path_).say("FROB / HTTP/1.1\r\n\r\n").hear(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Wire(path_).say("GET / HTTP/9.9\r\n\r\n").hear(), StartsWith("HTTP/1.1 400"));
  // A client that keeps sending gets the answer all the same.
  Wire long_winded(path_);
  long_winded.say("POST / HTTP/1.1\r\nContent-Length: 5000000\r\n\r\n" +
                  std::string(5'000'000, 'x'));
  EXPECT_THAT(long_winded.hear(), StartsWith("HTTP/1.1 413"));
}

TEST_F(ListenerTest, HoldsAClientToItsRate) {
  start({.requests_per_s = 0.001, .burst = 3});
  Wire wire(path_);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(wire.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  const std::string heard = wire.say(get("/")).hear();
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(heard, HasSubstr("Retry-After: "));
  // Another connection of the same user does not help, nor does TCP; other machines have their own.
  EXPECT_THAT(Wire(path_).say(get("/")).hear(), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(Wire(port_).say(get("/")).hear(), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(Wire(port_, "127.0.0.2").say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ListenerTest, HoldsAClientToItsConnections) {
  start({.connections_of_one = 2});
  Wire first(path_);
  Wire second(path_);
  EXPECT_THAT(first.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(second.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  const std::string heard = Wire(path_).hear();
  EXPECT_THAT(heard, StartsWith("HTTP/1.1 429")) << "the client's fault, not the service's";
  EXPECT_THAT(heard, HasSubstr("Retry-After: 1"));
  EXPECT_THAT(Wire(port_, "127.0.0.2").say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ListenerTest, LeavesDescriptorsToOthersHoweverManyCome) {
  start({.connections = 1, .refused = 1});
  const auto open_files = []() -> std::int64_t {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const std::int64_t before = open_files();
  Wire first(path_);
  EXPECT_THAT(first.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  auto refused = std::make_unique<Wire>(path_);
  EXPECT_THAT(refused->hear(), StartsWith("HTTP/1.1 503"));
  refused = std::make_unique<Wire>(path_);
  std::vector<std::unique_ptr<Wire>> others;
  for (int i = 0; i < 10; ++i) others.push_back(std::make_unique<Wire>(path_));
  // Twice: what came before the second was looked at.
  for (int i = 0; i < 2; ++i) EXPECT_THAT(first.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  EXPECT_LE(open_files() - before, 12 + 2) << "12 are the clients' own";
  refused.reset();
  others.clear();
  EXPECT_THAT(first.say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  Wire last(port_);
  EXPECT_THAT(last.say(get("/")).hear(), StartsWith("HTTP/1.1 503"));
}

TEST_F(ListenerTest, OutlivesClientsThatGoAway) {
  std::promise<void> go;
  std::shared_future<void> may_go = go.get_future().share();
  start({}, [may_go](const Ask& ask) {
    if (ask.path == "/wait") may_go.wait();
    return echo(ask);
  });
  for (int i = 0; i < 4; ++i) Wire(path_).say(get("/wait"));
  Wire(path_).say("GET / HT");
  go.set_value();
  EXPECT_THAT(Wire(path_).say(get("/a")).hear(), HasSubstr("GET /a"));
}

TEST_F(ListenerTest, AnswersWhatIsInHandWhenItEnds) {
  std::promise<void> asked;
  std::promise<void> go;
  start({}, [&](const Ask& ask) {
    asked.set_value();
    go.get_future().wait();
    return echo(ask);
  });
  Wire wire(path_);
  wire.say(get("/last"));
  asked.get_future().wait();
  std::thread ending([this] { listener_.reset(); });
  go.set_value();
  EXPECT_THAT(wire.hear(), HasSubstr("GET /last"));
  ending.join();
}

TEST_F(ListenerTest, TakesThePlaceOfADeadServiceOnly) {
  start();
  EXPECT_EQ(listen_unix(path_).error().code, Code::conflict);
  EXPECT_THAT(Wire(path_).say(get("/")).hear(), StartsWith("HTTP/1.1 200"));
  listener_.reset();
  EXPECT_FALSE(Wire(path_).is_connected());
  EXPECT_TRUE(listen_unix(path_));
  EXPECT_EQ(listen_unix(folder_.write("file", "text")).error().code, Code::conflict);
  EXPECT_EQ(listen_unix(folder_ / std::string(200, 'a')).error().code, Code::usage);
}

}  // namespace
}  // namespace almanac::serve
