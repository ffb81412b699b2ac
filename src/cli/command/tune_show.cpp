// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac tune show: shows the trials of a tuning run.
#include <memory>

#include <fmt/format.h>

#include "cli/job_list.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "report/page.h"
#include "report/trials_document.h"
#include "serve/leaderboard.h"
#include "table/output_file.h"

namespace almanac::cli {
namespace {

struct TuneShowOptions {
  ServiceOptions service;
  std::string name;
  ListOptions list;
  std::string out;
};

Result<int> show_tuning(const TuneShowOptions& options, const std::vector<std::string>& command) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.list.wants_document() && options.out.empty())
    return relay_answer(*client, "/v1/sweeps/" + options.name);
  const auto tuning = serve::look_at_tuning(*client, options.name);
  if (!tuning) return tl::unexpected(tuning.error());
  if (!options.out.empty()) {
    if (!report::has_page()) return fail(Code::unsupported, std::string(report::kNoPage));
    const figure::Document document =
        report::trials_document(serve::trials_input(*tuning, wall_clock()), command);
    if (const auto written =
            table::write_file(options.out, report::page(figure::to_json(document)));
        !written) {
      return tl::unexpected(written.error());
    }
    note(fmt::format("wrote the report {}", options.out));
    return kDone;
  }
  const Time now = wall_clock();
  if (options.list.explains()) fmt::print("{}\n", serve::summary_of(*tuning, now));
  return options.list.print(serve::trial_rows(*tuning, now));
}

}  // namespace

void register_tune_show(Program& program) {
  const auto options = std::make_shared<TuneShowOptions>();
  CLI::App& command =
      *program.noun(Purpose::jobs, "tune", "Search for hyperparameters with jobs of the service")
           .add_subcommand("show", "Show the trials of a tuning run, the best first");
  command
      .add_option("NAME", options->name, "Name of the tuning run, which is the --group of its jobs")
      ->required();
  options->list.add_to(command);
  command.add_option("--out", options->out, "HTML report to write instead")->type_name("FILE");
  options->service.add_to(command);
  add_example(command, "almanac tune show mnist");
  add_example(command, "almanac tune show mnist --out mnist.html");
  options->list.on(program, command,
                   [options, &program] { return show_tuning(*options, program.command_line); });
}

}  // namespace almanac::cli
