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
  const char* formerly = nullptr;  ///< Name in the release before, which is still read.
};

/// Returns the fields in output order, without the policy's name, its properties (Summary::bound,
/// needs, complete) and the signature. Those of `fairness` are a separate object in JSON; `json`
/// fields are not CSV columns.
std::span<const SummaryField> summary_fields();

}  // namespace almanac::experiment
