// SPDX-License-Identifier: Apache-2.0

/// \file
/// Why a job of a run waited, in words and as JSON.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "experiment/kept_waits.h"
#include "policy/contract/reason.h"

namespace almanac::cli {

void say_kept(const experiment::KeptJob& job);
nlohmann::ordered_json to_json(const experiment::KeptJob& job);

/// "01:00:00 for jobs ahead in the queue, 00:30:00 for GPUs that others held", the longest first.
std::string in_all(const std::map<policy::ReasonKind, Duration>& totals);

/// Prints that a job held its GPUs for longer than its log says, if it did: a job that fails and
/// starts again at once never waits.
void say_longer_run(Duration ran, Duration work);

}  // namespace almanac::cli
