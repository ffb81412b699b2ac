// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac simulate LOG --with REQUESTS`: training jobs next to an inference service.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/list_options.h"
#include "experiment/experiment.h"

namespace almanac::cli {

struct WithRequests {
  std::string requests;    ///< A log of requests; "" = none.
  std::string column_map;  ///< Which columns of that log mean what; "" = a known format.
  std::string service;     ///< key=value,... of the service that answers them.

  void add_to(CLI::App& command);
};

/// Runs every policy of `prepared` twice, alone and with the service, and prints both side by side.
Result<int> simulate_with_requests(const WithRequests& with, const experiment::Prepared& prepared,
                                   const ListOptions& list);

}  // namespace almanac::cli
