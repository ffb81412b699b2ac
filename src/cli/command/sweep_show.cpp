// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac sweep show: how the trials of a sweep stand.
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "cli/job_list.h"
#include "cli/leaderboard.h"
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
  std::string output;
  std::string out;
};

Result<int> show_sweep(const SweepShowOptions& options, const std::vector<std::string>& command) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  if (options.output == "json" && options.out.empty())
    return print_answer(*client, "/v1/sweeps/" + options.name);
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
  if (options.output == "csv") {
    print_leaderboard_csv(*sweep, wall_clock());
    return kDone;
  }
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  for (const std::string& line : leaderboard(*sweep, wall_clock(), kAll)) fmt::print("{}\n", line);
  return kDone;
}

}  // namespace

void register_sweep_show(Program& program) {
  const auto options = std::make_shared<SweepShowOptions>();
  CLI::App& command = *program.noun(Purpose::choose, "sweep", "")
                           .add_subcommand("show", "Show the trials of a sweep, the best first");
  command.add_option("NAME", options->name, "The sweep; of jobs their --group")->required();
  add_output(command, options->output, {"table", "json", "csv"});
  command.add_option("--out", options->out, "Write a report instead, an HTML file")
      ->type_name("FILE");
  options->service.add_to(command);
  command.footer("");  // not those of sweep
  add_example(command, "almanac sweep show mnist");
  add_example(command, "almanac sweep show mnist --out mnist.html");
  program.on(command, [options, &program] { return show_sweep(*options, program.command_line); });
}

}  // namespace almanac::cli
