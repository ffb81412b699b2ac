// SPDX-License-Identifier: Apache-2.0

/// \file
/// The figures of a summary by name, once: files of any form are written and read by this list.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "experiment/summary.h"

namespace almanac::experiment {

struct SummaryField {
  using Number = double Summary::*;
  using Count = std::uint64_t Summary::*;

  const char* name;
  std::variant<Number, Count> member;
  enum class Where : std::uint8_t { everywhere, json, fairness } where = Where::everywhere;
};

/// In the order in which they are written, all but the policy's name, what is said of it
/// (Summary::bound, needs, complete) and the signature. Those of `fairness` are an object of their
/// own in JSON; `json` ones are no columns of CSV.
std::span<const SummaryField> summary_fields();

}  // namespace almanac::experiment
