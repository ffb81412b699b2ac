// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a cluster that another manager runs: whether the manager answers, what Almanac
/// changes there, and how the canary does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace almanac::service {

/// `dry`: computes and shows changes, and makes none.
enum class Switch : std::uint8_t { off, dry, on };
/// "off", "dry", "on".
std::string_view to_string(Switch how);

/// One lever.
struct LeverView {
  std::string name{};
  Switch how = Switch::dry;
  std::string rests{};              ///< Why it does nothing although it is on; "" if it works.
  std::int64_t wanted = 0;          ///< Actions, at the last look.
  std::vector<std::string> next{};  ///< The first wanted actions, in words.
  std::uint64_t done = 0, failed = 0, refused = 0;  ///< Since the service started.
};

/// The canary, a part of the cluster that levers are tried on: observed and expected figures.
struct CanaryView {
  std::vector<std::string> partitions{};
  std::string rests{};                ///< Why there is no baseline yet; "" if there is one.
  std::string retreat{};              ///< Why all changes were undone; "" if they were not.
  std::int64_t waits = 0, ended = 0;  ///< Jobs within the window.
  Duration window{};
  double wait_s = 0, failed = 0;  ///< Mean; share of the ended jobs.
  std::optional<double> most_wait_s{}, most_failed{};
};

/// The last report of the agent of a node.
struct AgentView {
  std::string node{};
  double load = 0;
  std::optional<double> cpu_pressure{}, memory_pressure{}, io_pressure{};  ///< Shares of time.
  std::optional<double> bandwidth_gbs{};
  std::int64_t jobs = 0, held = 0;  ///< Of them, to fewer cores than it gave.
};

struct Manager {
  std::string name{};  ///< "slurm".
  std::string cluster{}, version{};
  std::string way{};          ///< Connection to the manager.
  std::string trouble{};      ///< Why it does not answer; "" if it does.
  std::int64_t excluded = 0;  ///< Waiting jobs that the policy does not see.
  double round_s = 0;         ///< Duration of the last decision.
  double news_s = 0;          ///< Duration of its last answer.
  double changes_per_s = 0;   ///< The current limit.
  std::vector<LeverView> levers{};
  std::optional<CanaryView> canary{};
  std::vector<AgentView> agents{};
};

}  // namespace almanac::service
