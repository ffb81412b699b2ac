// SPDX-License-Identifier: Apache-2.0

/// \file
/// The daemon's side of the connection to node agents (agent/agent.h): accepts agents, collects
/// their reports, and sends each its limits on the cores of jobs.
///
/// Works in its own thread. It rejects a peer that does not prove within five seconds that it has
/// the secret. An agent that is silent for 30 s counts as gone; the agent itself then lifts its
/// limits.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/keys.h"
#include "agent/line_socket.h"
#include "agent/seal.h"
#include "agent/wire.h"
#include "base/result.h"
#include "base/time.h"
#include "process/bell.h"
#include "process/descriptor.h"
#include "service/clock.h"

namespace almanac::steer {

/// Agents lift their limits if the daemon is silent for this long.
inline constexpr Duration kAgentPatience = 60s;

class Agents {
 public:
  struct Told {
    std::string node{};
    agent::Report report{};
  };
  /// By node. Jobs without an entry keep what the manager allocated.
  using Orders = std::map<std::string, std::vector<agent::Limit>>;

  /// Listens at "HOST:PORT"; port 0 means any. Agents lift their limits if the daemon is silent for
  /// `patience`. `clock` must outlive it. Fails with unavailable.
  static Result<std::unique_ptr<Agents>> listen(
      const std::string& address, agent::Keys keys, Duration patience = kAgentPatience,
      const service::Clock& clock = service::machine_clock());
  ~Agents();
  Agents(const Agents&) = delete;
  Agents& operator=(const Agents&) = delete;

  int port() const { return port_; }
  /// Returns the reports since the last call, in order.
  std::vector<Told> take_reports();
  /// Nodes with an agent that reports.
  std::set<std::string> present() const;
  /// Sends these orders to agents: at once if they are new, and regularly as long as this is
  /// called. If it is not called for `patience`, agents get no orders any more.
  void order(const Orders& orders);
  /// Why the last peer was rejected; "" if none was within the last hour.
  std::string refusal() const;

 private:
  using Descriptor = process::Descriptor;
  using Instant = service::Clock::Instant;
  /// A peer that has connected.
  struct Guest {
    agent::LineSocket line;
    std::string nonce;      // ours
    std::uint64_t key = 0;  // which of its node's
    std::string from;       // address
    Instant heard{};
    std::string node{};  // "" = it has not proved which it is
    bool is_replaced = false;
    std::optional<agent::Seal> towards_agent{};
    std::optional<agent::Seal> towards_daemon{};
    Instant told{};
    std::vector<agent::Limit> orders{};  // as told last
  };

  Agents(Descriptor socket, agent::Keys keys, Duration patience, const service::Clock& clock);
  void work();
  void welcome();
  /// False if the connection must be closed.
  bool listen_to(Guest& guest);
  bool take(Guest& guest, std::string_view line);
  bool take_hello(Guest& guest, std::string_view line);
  bool tell(Guest& guest);
  /// Notes why a peer is rejected, and returns false.
  bool refuse(const Guest& guest, const std::string& why);
  void forget_silent();

  agent::Keys keys_;  // of its thread
  Duration patience_;
  const service::Clock& clock_;
  Descriptor socket_;
  process::Bell bell_;
  int port_ = 0;
  std::vector<std::unique_ptr<Guest>> guests_;  // of the thread
  Instant next_warning_{};                      // of the thread

  mutable std::mutex mutex_;
  std::vector<Told> reports_;
  std::set<std::string> present_;
  Orders orders_;
  Instant ordered_{};
  std::string refusal_;
  Instant refused_{};
  bool stop_ = false;
  std::thread thread_;  // the last: all else is there when it begins
};

}  // namespace almanac::steer
