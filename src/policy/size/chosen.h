// SPDX-License-Identifier: Apache-2.0

/// \file
/// A choice as a demand.
#pragma once

#include <cstdint>

#include "cluster/ledger.h"
#include "policy/size_choices.h"

namespace almanac::policy::size {

/// What a job asks with the cores and memory of `choice` for each GPU.
inline cluster::Demand chosen(cluster::Demand asked, const SizeChoice& choice) {
  asked.cpu_milli = static_cast<std::int32_t>(choice.cpu_milli);
  asked.memory_mb = static_cast<std::int32_t>(choice.memory_mb);
  return asked;
}

}  // namespace almanac::policy::size
