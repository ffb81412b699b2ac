// SPDX-License-Identifier: Apache-2.0

/// \file
/// Changes jobs one by one, for links that cannot change several at once.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Returns what change_one() gives for each change. Once `silent`, the controller no longer
/// answers: the others would wait as long, each, so they fail as the last one did.
template <class ChangeOne>
std::vector<Result<void>> change_each(std::span<const JobChange> changes, const bool& silent,
                                      ChangeOne&& change_one) {
  std::vector<Result<void>> made;
  made.reserve(changes.size());
  for (const JobChange& each : changes) {
    made.push_back(change_one(each));
    if (silent) break;
  }
  if (made.size() < changes.size()) made.resize(changes.size(), Result<void>(made.back()));
  return made;
}

}  // namespace almanac::slurm
