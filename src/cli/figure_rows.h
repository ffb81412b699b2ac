// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of a name and numbers, and answers that are one such row, as the inference commands print.
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

/// Numbers by the names that table, CSV and JSON have.
using Figures = std::vector<std::pair<std::string, double>>;

struct NamedFigures {
  std::string name{};
  Figures figures{};
};

/// A column called `what` of the names, then one for each figure of the first row, empty where a
/// row lacks it.
figure::Listing figure_rows(const std::string& what, const std::vector<NamedFigures>& all);

/// One thing, as figures of any type by name.
using Answer = std::vector<std::pair<std::string, figure::Cell>>;

/// A row for each figure: "figure" and "value".
figure::Listing answer_rows(const Answer& answer);
/// Prints an answer: JSON is an object, a table has no header.
Result<int> show_answer(const ListOptions& list, const Answer& answer);

/// A list of several that belong together.
struct Section {
  std::string name{};
  figure::Listing rows;
};

/// Prints sections that are not empty: JSON is `document` with an array for each; tables follow
/// each other between `introduction` and `explanation`. CSV, --fields and --sort are of the first.
Result<int> show_sections(const ListOptions& list, nlohmann::ordered_json document,
                          const std::vector<Section>& sections, std::string_view introduction = "",
                          std::string_view explanation = "");

}  // namespace almanac::cli
