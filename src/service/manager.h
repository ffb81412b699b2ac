// SPDX-License-Identifier: Apache-2.0

/// \file
/// The other manager whose cluster is steered, as those see it who look after both: how it does,
/// what is done to it, and whether that does it good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace almanac::service {

/// Dry = what would be done is worked out and said, and not done.
enum class Switch : std::uint8_t { off, dry, on };
/// "off", "dry", "on".
std::string_view to_string(Switch how);

/// One kind of thing that may be done to it.
struct LeverView {
  std::string name{};
  Switch how = Switch::dry;
  std::string rests{};              ///< Why it does nothing although it is on; "" = it does.
  std::int64_t wanted = 0;          ///< Actions, at last look.
  std::vector<std::string> next{};  ///< The first of what is wanted, in words.
  std::uint64_t done = 0, failed = 0, refused = 0;  ///< Since the service started.
};

/// The part of it that levers are tried on: what is seen there beside the most that is expected.
struct CanaryView {
  std::vector<std::string> partitions{};
  std::string rests{};                ///< Why there is nothing to compare with yet; "" = there is.
  std::string retreat{};              ///< Why all was taken back; "" = it was not.
  std::int64_t waits = 0, ended = 0;  ///< So many jobs, within the window.
  Duration window{};
  double wait_s = 0, failed = 0;  ///< Mean; share of those that ended.
  std::optional<double> most_wait_s{}, most_failed{};
};

/// What the agent of a node says.
struct AgentView {
  std::string node{};
  double load = 0;
  std::optional<double> cpu_pressure{}, memory_pressure{}, io_pressure{};  ///< Shares of the time.
  std::optional<double> bandwidth_gbs{};
  std::int64_t jobs = 0, held = 0;  ///< Of them, to fewer cores than it gave.
};

struct Manager {
  std::string name{};  ///< "slurm".
  std::string cluster{}, version{};
  std::string way{};         ///< By which it is talked to.
  std::string trouble{};     ///< Why it does not answer; "" = it does.
  std::int64_t aside = 0;    ///< Waiting jobs that no policy sees.
  double round_s = 0;        ///< The last decision.
  double news_s = 0;         ///< Its last answer.
  double changes_per_s = 0;  ///< That it is asked at most now.
  std::vector<LeverView> levers{};
  std::optional<CanaryView> canary{};
  std::vector<AgentView> agents{};
};

}  // namespace almanac::service
