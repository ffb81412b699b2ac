// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a tuning run tries, as a TOML file says it (docs/guide/tuning.md): parameters and what they
/// may be, and the command that is run with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace almanac::trials {

/// One of these; a fixed value is the only one.
struct Choices {
  std::vector<std::string> values{};

  bool operator==(const Choices&) const = default;
};

/// Any number from `from` to `to`, both included.
struct Range {
  double from = 0;
  double to = 0;
  bool is_whole = false;
  bool is_log = false;      ///< Equal ratios are equally likely, instead of equal differences.
  std::int64_t points = 0;  ///< Of a grid: so many, evenly apart; 0 = all whole numbers.

  bool operator==(const Range&) const = default;
};

struct Parameter {
  std::string name{};  ///< As of a variable: letters, digits, _.
  std::variant<Choices, Range> values{};

  bool operator==(const Parameter&) const = default;
};

struct Space {
  std::string name{};                  ///< "" = the file does not say.
  std::vector<std::string> command{};  ///< With {lr} for a parameter.
  std::vector<std::string> asked{};    ///< Of each trial: "--gpus=1", of submission::own_options().
  std::int64_t steps = 0;              ///< That a trial makes at most.
  bool smaller_is_better = false;      ///< Of the metric.
  bool is_grid = false;                ///< All combinations, instead of random ones.
  std::uint64_t seed = 0;              ///< Of random ones.
  std::int64_t trials = 0;             ///< Likewise; of a grid 0.
  std::vector<Parameter> parameters{};  ///< In the order of the file.

  bool operator==(const Space&) const = default;
};

/// Most trials of a tuning run.
inline constexpr std::int64_t kMostTrials = 10'000;

/// Fails with invalid, at the line, or with usage where `[ask]` asks what no job can have.
Result<Space> parse_space(std::string_view text, const std::string& path);
/// Fails with not_found too.
Result<Space> read_space(const std::string& path);

/// Whether a tuning run may have this name: 1 to 48 letters, digits, dots, _ or -, no dot first.
bool is_tuning_name(std::string_view name);

}  // namespace almanac::trials
