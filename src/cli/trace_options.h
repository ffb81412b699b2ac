// SPDX-License-Identifier: Apache-2.0

/// \file
/// The arguments that select a job log and how to read it, the same in every command.
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "trace/read.h"

namespace almanac::cli {

/// A job log on the command line: LOG --format --columns --time-zone --lenient; a command that
/// takes two logs names each and gives the options of each a suffix.
struct TraceOptions {
  std::string path{};
  trace::ReadOptions read{};
  std::string suffix{};  ///< Of the options.

  void add_to(CLI::App& command, const std::string& name = "LOG",
              const std::string& option_suffix = "");
  /// Adds only the options, for a command that takes the log in another way.
  void add_reading_to(CLI::App& command, const std::string& name = "LOG",
                      const std::string& option_suffix = "");
  /// Reads the log and prints its notes on stderr.
  Result<trace::Trace> load() const;
};

/// Adds `-o table|json`.
void add_output_option(CLI::App& command, std::string& format);

/// A point in time on the command line: "2020-05-27", "2020-05-27 23:58:26", or seconds.
Result<Time> parse_time_option(std::string_view option, const std::string& text);

}  // namespace almanac::cli
