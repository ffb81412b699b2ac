// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac sweep show: how the trials of a sweep stand.
#include <memory>

#include <fmt/format.h>

#include "cli/job_list.h"
#include "cli/leaderboard.h"
#include "cli/list_options.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "report/page.h"
#include "report/trials_document.h"
#include "table/output_file.h"

namespace almanac::cli {
namespace {

struct SweepShowOptions {
  ServiceOptions service;
  std::string name;
  ListOptions list;
  std::string out;
};

Result<int> show_sweep(const SweepShowOptions& options, const std::vector<std::string>& command) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.list.wants_document() && options.out.empty())
    return relay_answer(*client, "/v1/sweeps/" + options.name);
  const auto sweep = look_at_sweep(*client, options.name);
  if (!sweep) return tl::unexpected(sweep.error());
  if (!options.out.empty()) {
    if (!report::has_page()) return fail(Code::unsupported, std::string(report::kNoPage));
    const figure::Document document =
        report::trials_document(trials_input(*sweep, wall_clock()), command);
    if (const auto written =
            table::write_file(options.out, report::page(figure::to_json(document)));
        !written) {
      return tl::unexpected(written.error());
    }
    note(fmt::format("the report is {}", options.out));
    return kDone;
  }
  const Time now = wall_clock();
  if (options.list.explains()) fmt::print("{}\n", summary_of(*sweep, now));
  return options.list.print(trial_rows(*sweep, now));
}

}  // namespace

void register_sweep_show(Program& program) {
  const auto options = std::make_shared<SweepShowOptions>();
  CLI::App& command = *program.noun(Purpose::choose, "sweep", "")
                           .add_subcommand("show", "Show the trials of a sweep, the best first");
  command.add_option("NAME", options->name, "The sweep; of jobs their --group")->required();
  options->list.add_to(command);
  command.add_option("--out", options->out, "Write a report instead, an HTML file")
      ->type_name("FILE");
  options->service.add_to(command);
  command.footer("");  // not those of sweep
  add_example(command, "almanac sweep show mnist");
  add_example(command, "almanac sweep show mnist --out mnist.html");
  options->list.on(program, command,
                   [options, &program] { return show_sweep(*options, program.command_line); });
}

}  // namespace almanac::cli
