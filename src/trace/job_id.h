// SPDX-License-Identifier: Apache-2.0

/// \file
/// Ids of jobs as their source spells them.
#pragma once

#include <string>
#include <string_view>

#include "base/names.h"
#include "trace/job.h"

namespace almanac::trace {

/// Returns the id that `key` stands for in a trace with these names: "17", "51_3".
std::string id_of(JobKey key, const Names& names);
/// Returns the key of an id. Digits without a leading zero become a number.
JobKey key_of(std::string_view id, Names& names);

}  // namespace almanac::trace
