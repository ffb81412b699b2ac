// SPDX-License-Identifier: Apache-2.0

/// \file
/// The text of --help, laid out from the table of a command.
#pragma once

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/option_table.h"

namespace almanac::cli {

/// The help of `command`, or of the program, in lines of at most `width` columns; only words that
/// are longer stand out.
std::string help_page(const CommandTable& command, std::size_t width);

/// The width of help: the terminal's, between 60 and 100 columns, or 80 if there is none.
std::size_t help_width();

/// "  NAME   Description", the description wrapped and starting at `column`.
std::string help_entry(const std::string& name, const std::string& description, std::size_t column,
                       std::size_t width);

/// "  almanac ...", continued with backslashes where it is too long.
std::string help_example(const std::string& line, std::size_t width);

/// Makes CLI11 print help_page().
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace almanac::cli
