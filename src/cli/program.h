// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a command file needs to add itself to the program. Each file of cli/command/ defines
/// `void register_<stem>(Program&)`; the build finds it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace almanac::cli {

/// What a command is for: the headings under which --help lists commands, in this order.
enum class Purpose { understand, predict, schedule, simulate, run, jobs, program };

/// The heading of a purpose: "Understand a cluster".
const char* heading(Purpose purpose);
inline constexpr std::size_t kPurposes = 7;

/// The command line being built and, once parsed, the chosen action.
struct Program {
  CLI::App& app;
  /// Does the work and returns the exit status. Data goes to stdout, all else to stderr.
  std::function<Result<int>()> action{};
  std::vector<std::string> command_line{};
  std::string configuration{};      ///< The file of --config; "" = not given.
  bool reads_configuration = true;  ///< Whether almanac.toml changes defaults of the action.

  /// Adds the command `name`.
  CLI::App& command(Purpose purpose, const std::string& name, const std::string& description);
  /// The group of commands `name` ("trace", "policy"), made at first use.
  CLI::App& noun(Purpose purpose, const std::string& name, const std::string& description);
  /// Makes `run` the action of `command`. Without `reads` it is independent of almanac.toml.
  void on(CLI::App& command, std::function<Result<int>()> run, bool reads = true);
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

/// The exit status that goes with an error: kCannotWrite if a file or directory cannot be written.
Exit exit_status(const Error& error);
Exit exit_status(Code code);

/// Prints "almanac: note: ..." on stderr.
void note(const std::string& text);

/// The headings of examples and of exit statuses in a command's footer.
inline constexpr std::string_view kExamples = "Examples:";
inline constexpr std::string_view kExitStatus = "Exit status:";

/// Adds a command line to what --help and the manual page show as examples.
void add_example(CLI::App& command, const std::string& line);
/// Adds what an exit status of this command means; after all examples.
void add_exit_status(CLI::App& command, const std::string& status, const std::string& meaning);

/// Generated: calls every register_ function of cli/command/.
void register_command(Program& program);

}  // namespace almanac::cli
