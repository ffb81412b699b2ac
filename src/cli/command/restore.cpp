// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac restore: replaces the store by a copy, while no service uses it.
#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "serve/client.h"
#include "store/backup.h"

namespace almanac::cli {
namespace {

struct RestoreOptions {
  std::string state = serve::default_state();
  std::string file;
};

Result<int> restore(const RestoreOptions& options) {
  const std::string store = options.state + "/almanac.db";
  const auto done = store::restore(options.file, store);
  if (!done) return tl::unexpected(done.error());
  fmt::print("restored {} from {}; the previous store was {}.replaced\n", store, options.file,
             store);
  return kDone;
}

}  // namespace

void register_restore(Program& program) {
  CLI::App& command = program.command(Purpose::run, "restore",
                                      "Restore a backup of the database; stop the service first");
  const auto options = std::make_shared<RestoreOptions>();
  command.add_option("FILE", options->file, "File made by almanac backup")->required();
  command.add_option("--state", options->state, "State directory of the service")
      ->type_name("DIR")
      ->capture_default_str();
  add_example(command, "almanac restore /backup/almanac-2026-11-01.db");
  program.on(command, [options] { return restore(*options); });
}

}  // namespace almanac::cli
