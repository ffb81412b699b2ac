// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of a name and numbers, and single such rows, as the inference commands print them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/list_options.h"
#include "figure/rows.h"

namespace almanac::cli {

/// Numbers by their names in tables, CSV and JSON.
using Figures = std::vector<std::pair<std::string, double>>;

/// Returns a cost as a figure: NaN for 0, which means that no price was given.
double cost_figure(double cost);
/// Six digits; "-" for NaN.
std::string figure_text(double value);

struct NamedFigures {
  std::string name{};
  Figures figures{};
};

/// Makes a column `what` of the names, and one for each figure of the first row; a row without that
/// figure has an empty cell.
figure::Listing figure_rows(const std::string& what, const std::vector<NamedFigures>& all);

/// A single result: figures of any type by name.
using Answer = std::vector<std::pair<std::string, figure::Cell>>;

/// Makes a row for each figure: "figure" and "value".
figure::Listing answer_rows(const Answer& answer);
/// Prints a single result: JSON as an object, a table without a header.
Result<int> show_answer(const ListOptions& list, const Answer& answer);

/// One of several lists printed together.
struct Section {
  std::string name{};
  figure::Listing rows;
};

/// Prints the sections that are not empty: JSON as `document` with an array for each, tables one
/// after the other between `introduction` and `explanation`. CSV, --fields and --sort apply to the
/// first.
Result<int> show_sections(const ListOptions& list, nlohmann::ordered_json document,
                          const std::vector<Section>& sections, std::string_view introduction = "",
                          std::string_view explanation = "");

}  // namespace almanac::cli
