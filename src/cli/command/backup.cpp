// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac backup: makes a copy of the service's store while the service runs.
#include "store/backup.h"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "serve/client.h"

namespace almanac::cli {
namespace {

struct BackupOptions {
  std::string state = serve::default_state();
  std::string file;
};

Result<int> backup(const BackupOptions& options) {
  const auto done = store::back_up(options.state + "/almanac.db", options.file);
  if (!done) return tl::unexpected(done.error());
  std::error_code ignored;
  const auto size = std::filesystem::file_size(options.file, ignored);
  fmt::print("copied {} to {}: {:.1f} MB\n", options.state, options.file,
             static_cast<double>(size) / 1e6);
  return kDone;
}

}  // namespace

void register_backup(Program& program) {
  CLI::App& command = program.command(Purpose::run, "backup",
                                      "Back up the service's database while the service runs");
  const auto options = std::make_shared<BackupOptions>();
  command.add_option("FILE", options->file, "File to write or replace")->required();
  command.add_option("--state", options->state, "State directory of the service")
      ->type_name("DIR")
      ->capture_default_str();
  add_example(command, "almanac backup /backup/almanac-$(date +%F).db");
  program.on(command, [options] { return backup(*options); });
}

}  // namespace almanac::cli
