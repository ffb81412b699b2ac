// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the program `almanac` as a user would and catches what it says.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>

#include "support/temporary_folder.h"

namespace almanac {

struct ProgramRun {
  int status = -1;  ///< Exit status; -1 when it did not exit by itself.
  std::string out;
  std::string err;
};

/// Runs $ALMANAC_PROGRAM with `arguments`, each passed as it is, and the file `in` as its input.
inline ProgramRun run_program(const std::vector<std::string>& arguments,
                              const std::string& in = "/dev/null") {
  const TemporaryFolder folder;
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  std::string command = program == nullptr ? "almanac" : program;
  for (const std::string& argument : arguments) {
    command += " '";
    for (const char c : argument) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += '\'';
  }
  command += " >'" + folder / "out" + "' 2>'" + folder / "err" + "' <'" + in + "'";
  const int status = std::system(command.c_str());
  const auto content = [&](const char* name) {
    std::ifstream file(folder / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content("out"), content("err")};
}

}  // namespace almanac
