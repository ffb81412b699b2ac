// SPDX-License-Identifier: Apache-2.0

/// \file
/// Takes back all numbers that services wrote to workloads, without a running service.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client.h"

namespace almanac::steer_kube {

struct UndoOptions {
  std::string state{};                  ///< State folder of the service; need not exist.
  std::string lease_space = "almanac";  ///< Namespace of the Lease.
  /// Also while a service holds the Lease, or if the Lease cannot be read.
  bool is_forced = false;
};

struct TakenBack {
  std::int64_t changes = 0;
  std::int64_t gone = 0;  ///< Claims whose workload is gone, or has the number of another.
  /// What could not be taken back, in words. It stays in the journal and on the workload.
  std::vector<std::string> left{};
  bool lacks_right = false;  ///< The server refused a change for a right that is missing.
  bool has_journal = true;   ///< Otherwise the marks of the workloads alone said what to undo.
  /// Why it is unknown whether a service runs: the Lease could not be read, or there is none
  /// although there was something to undo. "" if it is known.
  std::string lease{};
  /// StrictFIFO queues that waited for Almanac's order, and now have none.
  std::set<std::string> alone{};
};

/// Undoes what the journal of the state folder has in force, and what marks on the workloads say
/// that it has not, or has an older number of (kube/mark.h). Tries again for about half a minute if
/// the server is busy or a workload has just changed. Fails with conflict if a service uses the
/// folder, if one holds the Lease and it is not forced, or if the journal is of another cluster;
/// with `unavailable` if the folder cannot be read or the journal not be written; like read_lease()
/// if it is not forced, except that a missing right is no failure; and like cluster_uid() and
/// take_picture(). If a service has taken the Lease meanwhile, `left` says so.
Result<TakenBack> undo(const UndoOptions& options, kube::Client& client);

}  // namespace almanac::steer_kube
