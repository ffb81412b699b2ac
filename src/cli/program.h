// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a command file needs to add itself to the program. Each file of cli/command/ defines
/// `void register_<stem>(Program&)`; the build finds it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace almanac::cli {

/// What a command is for: the headings under which --help lists them, in this order.
enum class Purpose { understand, predict, choose, run, jobs, shell };

/// The command line being built and, once parsed, the action that was chosen.
struct Program {
  CLI::App& app;
  /// Does the work and gives the exit status. Data goes to stdout, all else to stderr.
  std::function<Result<int>()> action{};
  std::vector<std::string> command_line{};

  /// Adds the command `name`.
  CLI::App& command(Purpose purpose, const std::string& name, const std::string& description);
  /// The command group `name` ("trace", "policy"), made at first use.
  CLI::App& noun(Purpose purpose, const std::string& name, const std::string& description);
  /// Makes `run` the action of `command`.
  void on(CLI::App& command, std::function<Result<int>()> run);
};

/// Exit statuses, those of sysexits(3) where it has one.
enum Exit : int {
  kDone = 0,
  kCheckFailed = 1,
  kUsage = 2,
  kBadData = 65,
  kNoInput = 66,
  kUnavailable = 69,
  kInternal = 70,
  kCannotWrite = 74,
  kInterrupted = 130,
};

/// What --threads takes at most.
inline constexpr int kMostThreads = 4096;

/// The exit status that goes with an error.
Exit exit_status(Code code);

/// Prints "almanac: note: ..." on stderr.
void note(const std::string& text);

/// Lists commands under the headings of what they are for.
class CommandList : public CLI::Formatter {
 public:
  CommandList() { column_width(36); }
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
};

/// Adds a command line to what --help and the manual page show as examples.
void add_example(CLI::App& command, const std::string& line);

/// Generated: calls every register_ function of cli/command/.
void register_command(Program& program);

}  // namespace almanac::cli
