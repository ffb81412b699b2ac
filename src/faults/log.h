// SPDX-License-Identifier: Apache-2.0

/// \file
/// What failures did in a simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace almanac::faults {

/// A job that stopped because something failed.
struct Interruption {
  Time at{};
  JobId job{};
  NodeId node = kNoNode;    ///< kNoNode if the job failed by itself.
  std::uint16_t cause = 0;  ///< Position in Model::causes.
  std::int32_t gpus = 0;
  Duration lost{0};        ///< Work since the last checkpoint, which it repeats.
  Duration restart{0};     ///< Time on its GPUs until training continues.
  Time resumed = kNoTime;  ///< When it runs again; kNoTime if it does not.
  bool gave_up = false;    ///< It failed too often without a new checkpoint.
};

/// A failed node, until it returns.
struct Outage {
  Time at{};
  Time until{};
  NodeId node{};
  std::uint16_t cause = 0;
  std::int32_t gpus = 0;
  bool found_lemon = false;  ///< The test named it a lemon, and it is replaced.
  bool is_lemon = false;     ///< It is one.
};

/// What checkpoints and failures did to one job, as time on its GPUs.
struct JobToll {
  JobId job{};
  std::int32_t gpus = 0;
  Duration useful{0};   ///< Work of the log that it did, without what it repeated.
  Duration written{0};  ///< Time in which it wrote checkpoints, of that work.
  Duration span{0};     ///< From its first start to its end.
  Duration held{0};     ///< Part of it in which it held its GPUs.
  std::uint32_t interruptions = 0;
};

struct Log {
  std::vector<Interruption> interruptions{};  ///< In order of time.
  std::vector<Outage> outages{};              ///< In order of time.
  std::vector<JobToll> jobs{};                ///< Of jobs that ran, in order of submission.
  std::uint32_t lemons = 0;                   ///< Lemons among the nodes at the beginning.
};

}  // namespace almanac::faults
