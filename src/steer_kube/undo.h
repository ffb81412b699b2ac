// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes back all numbers that services wrote to workloads, without a running service.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace almanac::steer_kube {

struct TakenBack {
  std::int64_t changes = 0;
  std::int64_t gone = 0;  ///< Claims whose workload is gone, or has the number of another.
  /// What could not be taken back, in words. It stays in the journal and on the workload.
  std::vector<std::string> left{};
  bool lacks_right = false;  ///< The server refused a change for a right that is missing.
  bool has_journal = true;   ///< Otherwise the marks of the workloads alone said what to undo.
};

/// Undoes what the journal of the folder `state` has in force, and what marks on the workloads say
/// that it has not, or has an older number of (mark.h). Tries again for about half a minute if the
/// server is busy or a workload has just changed. Fails with conflict if a service uses the folder
/// or the journal is of another cluster, with `unavailable` if the folder cannot be read or the
/// journal not be written, and like cluster_uid() and take_picture().
Result<TakenBack> undo(const std::string& state, kube::Client& client);

}  // namespace almanac::steer_kube
