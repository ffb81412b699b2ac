// SPDX-License-Identifier: Apache-2.0

/// \file
/// The commands and their options as plain text, read from where they are declared: what manual
/// pages and shell completion are made of. So neither can say something else than --help.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace almanac::cli {

/// An option, or what is given by its place.
struct Argument {
  std::vector<std::string> names;  ///< "-o", "--output"; by place: "TRACE".
  std::string value;               ///< What stands for its value: "FILE", "N"; "" = none is taken.
  std::vector<std::string> choices;  ///< All there are; empty = open.
  std::string preset;                ///< Used if it is not given.
  std::string about;                 ///< May have several lines.
  std::vector<std::string> rules;    ///< "not with --like", in words.
  bool required = false;
  bool repeats = false;
};

struct CommandTable {
  std::vector<std::string> path;  ///< "trace", "convert"; empty = the program.
  std::string about;
  std::string more;  ///< Below the options in --help: examples.
  bool needs_command = false;
  std::vector<Argument> options;
  std::vector<Argument> by_place;
  std::vector<CommandTable> commands;  ///< Sorted by name.

  /// "almanac trace convert".
  std::string spelled(const char* between = " ") const;
};

/// Hidden options and commands are left out.
CommandTable option_table(const CLI::App& program);

/// All commands, each before those below it.
std::vector<const CommandTable*> all_commands(const CommandTable& table);

}  // namespace almanac::cli
