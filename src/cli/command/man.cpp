// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac man: the sources of the manual pages. Hidden: the build calls it.
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/manual.h"
#include "cli/program.h"
#include "table/output_file.h"

namespace almanac::cli {
namespace {

Result<int> write_pages(const CLI::App& app, const std::string& folder) {
  const CommandTable program = option_table(app);
  for (const CommandTable* const command : all_commands(program)) {
    const std::string path = fmt::format("{}/{}.1.scd", folder, command->spelled("-"));
    const auto written = table::write_file(path, manual_page(program, *command));
    if (!written) return tl::unexpected(written.error());
  }
  return kDone;
}

}  // namespace

void register_man(Program& program) {
  CLI::App& command =
      program.command(Purpose::program, "man", "Write the sources of the manual pages");
  command.group("");
  const auto folder = std::make_shared<std::string>();
  command.add_option("DIR", *folder, "Directory for one scdoc(1) file per command")->required();
  program.on(
      command, [folder, &program] { return write_pages(program.app, *folder); }, false);
}

}  // namespace almanac::cli
