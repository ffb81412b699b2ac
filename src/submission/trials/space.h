// SPDX-License-Identifier: Apache-2.0

/// \file
/// The search space of a tuning run, from a TOML file (docs/guide/tuning.md): parameters with their
/// values, and the command to run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace almanac::trials {

/// One of several values; a fixed value is the only one.
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
  std::int64_t points = 0;  ///< For a grid: number of points, evenly spaced; 0 for all whole
                            ///< numbers.

  bool operator==(const Range&) const = default;
};

struct Parameter {
  std::string name{};  ///< As for a variable: letters, digits, _.
  std::variant<Choices, Range> values{};

  bool operator==(const Parameter&) const = default;
};

/// How the trials of a tuning run are chosen.
enum class Search : std::uint8_t {
  random,  ///< Each on its own.
  grid,    ///< All combinations.
  tpe,     ///< From the results of earlier trials (tpe.h).
};

struct Space {
  std::string name{};                  ///< "" if the file gives none.
  std::vector<std::string> command{};  ///< With {lr} for a parameter.
  std::vector<std::string> asked{};    ///< For each trial: "--gpus=1", options of
                                       ///< submission::own_options().
  std::int64_t steps = 0;              ///< Most steps of a trial.
  bool smaller_is_better = false;      ///< For the metric.
  Search search = Search::random;
  std::uint64_t seed = 0;               ///< Not for a grid.
  std::int64_t trials = 0;              ///< Likewise; of a grid 0.
  std::int64_t at_once = 0;             ///< Only tpe: most trials pending or running.
  std::vector<Parameter> parameters{};  ///< In the order of the file.

  bool operator==(const Space&) const = default;
};

/// Most trials of a tuning run.
inline constexpr std::int64_t kMostTrials = 10'000;

/// Fails with `invalid`, naming the line, or with `usage` if `[ask]` requests what no job can have.
Result<Space> parse_space(std::string_view text, const std::string& path);
/// Fails with not_found too.
Result<Space> read_space(const std::string& path);

/// Whether a tuning run may have this name: 1 to 48 letters, digits, dots, _ or -, no dot first.
bool is_tuning_name(std::string_view name);

}  // namespace almanac::trials
