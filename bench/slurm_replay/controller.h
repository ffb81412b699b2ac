// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// What a replay asks of a slurmctld, by libslurm: allocations without a process in them, so that
/// thousands of jobs run on one machine.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::replay {

struct Asked {
  std::uint32_t uid = 0;
  std::string name{};
  std::string partition{};
  std::string account{};  ///< "" = the user's own.
  std::string qos{};      ///< "" = the user's own.
  int gpus = 0;
  int limit_min = 0;
  std::size_t mark = 0;  ///< By which it is known again.
};

enum class Stage : std::uint8_t { waits, boots, runs, ends, ended };

struct Seen {
  std::uint32_t number = 0;
  std::size_t mark = 0;
  Stage stage = Stage::waits;
  bool held = false;
  int restarts = 0;
};

/// Any thread may submit while another does all else. Calls wait out a controller that is away as
/// long as libslurm does; then they fail with unavailable, and whether it was done is not known.
class Controller {
 public:
  /// Of the cluster that SLURM_CONF names. libslurm ends the process if there is none.
  Controller();
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Fails with invalid when Slurm will never take it.
  Result<std::uint32_t> submit(const Asked& asked);
  /// Every job of ours that the controller knows; nothing = as it was.
  Result<std::optional<std::vector<Seen>>> look();
  /// True = it had ended already.
  Result<bool> end(std::uint32_t number);

 private:
  std::time_t as_of_ = 0;
};

}  // namespace almanac::replay
