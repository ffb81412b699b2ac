// SPDX-License-Identifier: Apache-2.0

/// \file
/// What `almanac help TOPIC` explains: lists and rules that many commands share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/program.h"

namespace almanac::cli {

struct Topic {
  std::string name;
  std::string summary;
  std::function<std::string(std::size_t width)> page;
};

const std::vector<Topic>& topics();

struct Meaning {
  Exit status;
  const char* words;
};
/// What exit statuses mean, of every command.
const std::vector<Meaning>& exit_statuses();

struct Variable {
  const char* name;
  const char* words;
};
/// Environment variables that the program reads.
const std::vector<Variable>& variables();

}  // namespace almanac::cli
