// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rows of a name and numbers, and answers that are one such row, as the inference commands print.
#pragma once

#include <string>
#include <utility>
#include <vector>

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

}  // namespace almanac::cli
