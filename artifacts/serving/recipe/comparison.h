// SPDX-License-Identifier: Apache-2.0

/// \file
/// Published figures beside ours.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace almanac::inference {

struct Figure {
  std::string what{};
  double published = 0;
  double ours = 0;
  std::string unit{};
};

class Comparison {
 public:
  void add(std::string what, double published, double ours, std::string unit = "");
  /// The mean of many figures, and how far the one that differs most is off (published 0).
  void add_column(const std::string& what, std::span<const double> published,
                  std::span<const double> ours, const std::string& unit);
  /// How many of a kind differ (published 0).
  void add_mismatches(std::string what, std::size_t differ);
  /// A file of the family cannot be read; the others still are.
  void fail(Error error) { errors_.push_back(std::move(error)); }
  const std::vector<Figure>& figures() const { return figures_; }
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::vector<Figure> figures_;
  std::vector<Error> errors_;
};

/// Where a recipe finds its inputs and what was published of them.
struct Shared {
  std::string data{};    ///< Folder of inputs.
  std::string golden{};  ///< Folder of published outputs.
};

using Compare = Result<Comparison> (*)(const Shared&);

/// The paths of the files in `folder` whose names begin and end so, in order of their names. Fails
/// with not_found where there are none.
Result<std::vector<std::string>> files(const std::string& folder, const std::string& begins,
                                       const std::string& ends);
/// Calls `work` for each file of `folder` whose name begins so and ends in `ends`, packed or not,
/// and tells `made` what goes wrong, that there is none too.
void each_file(const std::string& folder, const std::string& begins, const std::string& ends,
               Comparison& made, const std::function<Result<void>(const std::string& path)>& work);
/// The name of a file without folder, ".gz", ".csv" and ".jsonl".
std::string stem(const std::string& path);

}  // namespace almanac::inference
