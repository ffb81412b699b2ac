// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of every list: which columns to print, and how.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/program.h"
#include "figure/rows.h"

namespace almanac::cli {

/// -o table|wide|json|csv, --no-header, --fields and --sort; --watch of commands given to on().
struct ListOptions {
  std::string output = "table";
  std::vector<std::string> fields{};
  std::string sort{};
  bool no_header = false;
  bool watch = false;

  /// `forms` are the choices of --output; the first is the default.
  void add_to(CLI::App& command, std::vector<std::string> forms = {"table", "wide", "json", "csv"});

  /// Whether to print a whole JSON document, and not the chosen or sorted rows alone.
  bool wants_document() const { return output == "json" && fields.empty() && sort.empty(); }
  /// Whether to print explanations with a table.
  bool explains() const {
    return (output == "table" || output == "wide") && fields.empty() && !no_header;
  }
  /// Fails with usage for an unknown field in --fields or --sort. Call it with the columns of the
  /// list before work that takes long.
  Result<void> check(figure::Listing columns) const;
  /// Prints the rows, and below a table `explanation`. Fails with usage for an unknown field.
  Result<int> print(figure::Listing rows, std::string_view explanation = "") const;

  /// Makes `list` the action of `command`, with --watch every two seconds on a cleared terminal.
  /// These options must outlive the program.
  void on(Program& program, CLI::App& command, std::function<Result<int>()> list);

 private:
  /// Sorts the rows and leaves the chosen columns.
  Result<void> arrange(figure::Listing& rows) const;
};

/// How tables are printed on standard output: as wide as the terminal (or $COLUMNS), in bold where
/// that is a terminal. Without a terminal no column is left out.
figure::TableForm table_form();

}  // namespace almanac::cli
