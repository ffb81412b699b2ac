// SPDX-License-Identifier: Apache-2.0

/// \file
/// The agent of a node: reports on Slurm's jobs there to the daemon, and limits their cores as
/// ordered.
///
/// It connects to the daemon, and reconnects after a failure. Each order has a time limit. When the
/// daemon is silent for longer, and when the agent ends, everything returns to Slurm's settings.
///
/// Why so    docs/decisions/0011-agents-dial-the-daemon.md
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/job_groups.h"
#include "agent/limits.h"
#include "agent/line_socket.h"
#include "agent/look.h"
#include "agent/seal.h"
#include "agent/wire.h"
#include "base/result.h"
#include "process/bell.h"

namespace almanac::agent {

class Agent {
 public:
  struct Config {
    std::string daemon;  ///< "HOST:PORT"
    std::string node;    ///< Slurm's name of the node.
    Secret secret;
    std::string memory;  ///< Path, see limits.h.
    Mounts mounts{};
    Places places{};
    Duration every = kEvery;
  };
  /// Logs one line.
  using Say = std::function<void(const std::string&)>;

  /// Undoes the changes of an earlier agent. Fails as Limits::open().
  static Result<std::unique_ptr<Agent>> open(Config config, Say say);

  /// Runs until `stop` is set and wake() called, and then undoes everything. Calls `alive` at each
  /// step.
  void run(const std::atomic<bool>& stop, const std::function<void()>& alive);
  /// Safe in a signal handler.
  void wake();

 private:
  Agent(Config config, Limits limits, Say say);
  void dial_daemon();
  void hang_up(const std::string& why);
  void wait();
  void hear();
  /// Returns false if the line is not from the daemon.
  bool take(std::string_view line);
  void hold();
  void report();
  void forget_orders();

  Config config_;
  Say say_;
  Limits limits_;
  Look look_;
  process::Bell bell_;
  std::optional<LineSocket> line_;
  std::optional<Seal> towards_daemon_;  // empty until the daemon has greeted
  std::optional<Seal> towards_agent_;
  bool is_known_ = false;  // whether the daemon has proved its identity
  Time next_dial_{};
  Time next_report_{};
  Orders orders_;
  Time heard_{};
  std::map<manager::JobNumber, std::string> troubles_;
  std::string said_;  // last, of the line
};

}  // namespace almanac::agent
