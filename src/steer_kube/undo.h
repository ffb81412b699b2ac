// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes back all numbers that a service wrote to workloads, without a running service.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace almanac::steer_kube {

struct TakenBack {
  std::int64_t changes = 0;
  std::int64_t gone = 0;            ///< Their workloads are, or have the number of another.
  std::vector<std::string> left{};  ///< What the API server refuses, in words; it stays in the
                                    ///< journal.
};

/// Undoes what the journal of the folder `state` has in force. Fails with conflict if a service
/// uses the folder or the journal is of another cluster, with not_found if none ever wrote from it,
/// and like cluster_uid() and take_picture().
Result<TakenBack> undo(const std::string& state, kube::Client& client);

}  // namespace almanac::steer_kube
