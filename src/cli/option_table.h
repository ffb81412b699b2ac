// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands and their options as plain text, read from where they are declared. Help, manual
/// pages and shell completion are made from it, so they cannot disagree.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace almanac::cli {

/// An option or a positional argument.
struct Argument {
  std::vector<std::string> names;    ///< "-o", "--output"; of a positional argument "LOG".
  std::string value;                 ///< Placeholder of its value: "FILE", "N"; "" = a flag.
  std::string usage;                 ///< How the usage line spells a positional; "" = by its name.
  std::string group;                 ///< Heading in --help.
  std::vector<std::string> choices;  ///< All allowed values; empty = open.
  std::string preset;                ///< The default.
  std::string about;
  std::vector<std::string> rules;  ///< Rules in words, such as "not with --like".
  bool required = false;
  bool repeats = false;

  /// "FILE", "NAME..." of one that takes several values.
  std::string placeholder() const;
};

struct CommandTable {
  std::vector<std::string> path;  ///< "trace", "convert"; empty = the program.
  std::string group;              ///< Heading in the program's --help.
  std::string about;
  std::vector<std::string> examples;
  std::vector<std::string> exit_statuses;  ///< "1  a schedule differs": those of its own.
  bool needs_command = false;
  std::vector<Argument> options;
  std::vector<Argument> by_place;
  std::vector<CommandTable> commands;  ///< Sorted by name.

  /// "almanac trace convert".
  std::string spelled(const char* between = " ") const;
  /// "almanac trace convert LOG OUT [options]".
  std::string usage() const;
};

/// The default of an option as help shows it: its value, or the words after "(default" in its
/// description; "" = none.
std::string preset_of(const CLI::Option& option);

/// "a, b or c".
std::string either(const std::vector<std::string>& words);

/// The table of the program or of one of its commands. Leaves out hidden options and commands.
CommandTable option_table(const CLI::App& app);

/// All commands, each before those below it.
std::vector<const CommandTable*> all_commands(const CommandTable& table);

}  // namespace almanac::cli
