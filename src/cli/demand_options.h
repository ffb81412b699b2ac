// SPDX-License-Identifier: Apache-2.0

/// \file
/// The arguments for the past demand for nodes, shared by the commands that plan node power-down.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "energy/plan.h"

namespace almanac::cli {

/// A series of nodes in use and total nodes, or jobs.csv of a run.
struct DemandOptions {
  std::string path{};
  std::string column = "active";
  std::string total_column = "total";
  std::string start{};
  int nodes = 0;  ///< 0 = told by a column, or by the nodes that jobs ran on.

  void add_to(CLI::App& command);
  /// Reads the series and prints its notes on stderr. A gap in the measurements keeps the value
  /// before it.
  Result<energy::Demand> load() const;
};

}  // namespace almanac::cli
