// SPDX-License-Identifier: Apache-2.0

/// \file
/// The headings under which --help lists options: the same ones in the same order in every command.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace almanac::cli {

/// In the order of --help.
enum class Group {
  options,  ///< What only this command has.
  input,
  job,
  resources,
  time,
  dependencies,
  cluster,
  slurm,
  policies,
  model,
  engine,  ///< Batching and routing.
  objective,
  replicas,  ///< Of an inference service.
  simulation,
  limits,
  output,
  connection,
  general,
};

/// The heading of a group: "Input".
const char* heading(Group group);
/// The place of a heading among all of them.
std::size_t group_order(const std::string& heading);

/// Puts the options added to `command` from now on under this heading.
void begin_group(CLI::App& command, Group group);

/// begin_group() until the end of a block, for options that several commands share.
class InGroup {
 public:
  InGroup(CLI::App& command, Group group);
  ~InGroup();
  InGroup(const InGroup&) = delete;
  InGroup& operator=(const InGroup&) = delete;

 private:
  CLI::App& command_;
  std::string before_;
};

}  // namespace almanac::cli
