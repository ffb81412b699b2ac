// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac slurm import: copies a site's accounting into a state folder, for history, study,
/// predict, simulate and advise.
#include <memory>

#include <fmt/format.h>

#include "accounting/import.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "cli/vc_option.h"
#include "cli/wall_clock.h"
#include "serve/client.h"
#include "slurm/connect.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

struct SlurmImportOptions {
  std::string way;
  std::string state = serve::default_state();
  std::string since = "365d";
  std::string vc = "partition";
};

Result<int> import(const SlurmImportOptions& options) {
  const auto since = parse_since("--since", options.since, wall_clock());
  if (!since) return tl::unexpected(since.error());
  const auto link = slurm::connect(options.way);
  if (!link) return tl::unexpected(link.error());
  auto store = store::Store::open(options.state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  accounting::Import work(*store, **link, *since, vc_from(options.vc));
  std::int64_t jobs = 0;
  std::int64_t unread = 0;
  while (!interrupted()) {
    const auto step = work.step(wall_clock());
    if (!step) return tl::unexpected(step.error());
    jobs += step->jobs;
    unread += step->unread;
    if (step->done) {
      note(fmt::format("{}; the store has all jobs that ended from {} to {}",
                       text::counted(static_cast<std::uint64_t>(jobs), "new job"),
                       text::moment(step->reach.from), text::moment(step->reach.until)));
      if (unread > 0)
        note(fmt::format("cannot read {} of accounting",
                         text::counted(static_cast<std::uint64_t>(unread), "row")));
      return kDone;
    }
    note(fmt::format("{} to {}: {}, {}", text::moment(step->reach.from),
                     text::moment(step->reach.until),
                     text::counted(static_cast<std::uint64_t>(step->rows), "row"),
                     text::counted(static_cast<std::uint64_t>(step->jobs), "new job")));
  }
  note("interrupted; run the same command to continue");
  return kInterrupted;
}

}  // namespace

void register_slurm_import(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::run, "slurm", "Advise and steer a Slurm cluster")
           .add_subcommand("import",
                           "Import past jobs from Slurm's accounting into a state directory");
  const auto options = std::make_shared<SlurmImportOptions>();
  command.add_option("--way", options->way, slurm::kWays)->type_name("WAY")->check(slurm_way());
  command.add_option("--state", options->state, "State directory, not in use by a service")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_option("--since", options->since, "How far back: 365d, 2024-01-01")
      ->type_name("TIME")
      ->capture_default_str();
  add_vc_option(command, options->vc);
  add_example(command, "almanac slurm import --state past --since 730d");
  program.on(command, [options] { return import(*options); });
}

}  // namespace almanac::cli
