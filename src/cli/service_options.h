// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options that select a service and the output format.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "serve/client.h"

namespace almanac::cli {

struct ServiceOptions {
  serve::Place place{};

  void add_to(CLI::App& command);
  /// Returns a client of the service that the options, the environment or almanac.toml name.
  Result<serve::Client> client() const;
};

/// Adds -o, --output with these choices; the first is the default.
void add_output(CLI::App& command, std::string& output, std::vector<std::string> choices);

}  // namespace almanac::cli
