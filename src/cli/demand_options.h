// SPDX-License-Identifier: Apache-2.0

/// \file
/// The arguments that say what the demand for nodes was, the same in the commands that let nodes
/// sleep.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "energy/plan.h"

namespace almanac::cli {

/// A series of nodes in use and nodes that there are, or jobs.csv of a run.
struct DemandOptions {
  std::string path{};
  std::string column = "active";
  std::string total_column = "total";
  std::string start{};
  int nodes = 0;  ///< 0 = told by a column, or by the nodes that jobs ran on.

  void add_to(CLI::App& command);
  /// Reads it; its notes go to stderr. Where the meter was out, the value before holds.
  Result<energy::Demand> load() const;
};

}  // namespace almanac::cli
