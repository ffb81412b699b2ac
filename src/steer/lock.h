// SPDX-License-Identifier: Apache-2.0

/// \file
/// One Almanac at a time: on a state folder, and on a Slurm of this host.
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::steer {

/// Held until it is destroyed, or its process is dead however it died.
class Lock {
 public:
  /// `what` is what it says who finds it taken: "the folder /var/lib/almanac". Fails with conflict,
  /// and with unavailable where the file cannot be made.
  static Result<Lock> take(const std::string& path, const std::string& what);

 private:
  explicit Lock(process::Descriptor file) : file_(std::move(file)) {}
  process::Descriptor file_;
};

/// Where the lock of a Slurm lies: the same for all who are on this host and mean this cluster.
std::string lock_of_cluster(const std::string& cluster, const std::string& controller);

}  // namespace almanac::steer
