// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac reproduce: starts almanac-reproduce, a separate program, if it is installed.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/program.h"
#include "process/own_program.h"

namespace almanac::cli {

void register_reproduce(Program& program);

namespace {

constexpr const char* kProgram = "almanac-reproduce";

/// Becomes that program; returns only if it cannot.
Result<int> become(const std::vector<std::string>& words) {
  const std::filesystem::path sibling = process::own_program().parent_path() / kProgram;
  const std::string file = std::filesystem::exists(sibling) ? sibling.string() : kProgram;
  std::vector<char*> arguments{const_cast<char*>(kProgram)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(file.c_str(), arguments.data());
  if (errno == ENOENT) {
    return fail(Code::unavailable, fmt::format("{} is not installed", kProgram), {},
                "build it from the source: docs/evidence/reproduce.md");
  }
  return fail(Code::unavailable, fmt::format("cannot start {}: {}", file, std::strerror(errno)));
}

}  // namespace

void register_reproduce(Program& program) {
  CLI::App& command = program.command(Purpose::understand, "reproduce",
                                      "Reproduce published tables and figures (almanac-reproduce)");
  command.prefix_command();
  add_example(command, "almanac reproduce list");
  add_example(command, "almanac-reproduce --help");
  program.on(command, [&command] { return become(command.remaining()); });
}

}  // namespace almanac::cli
