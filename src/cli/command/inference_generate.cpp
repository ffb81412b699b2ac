// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference generate: makes a log of requests, from parameters or like another log.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cli/inference_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "inference/request_log.h"
#include "inference/workload/workload.h"
#include "table/output_file.h"
#include "text/human.h"

namespace almanac::cli {

void register_inference_generate(Program& program);

namespace {

struct MadeRequests {
  std::string like, from = "0s", until, column_map;
  std::string workload;
  std::optional<double> hours;
  std::optional<std::int64_t> requests;
  std::uint64_t seed = 1;
  std::string out = "-";
  std::string save_workload;
};

Result<inference::Workload> asked_workload(const MadeRequests& asked) {
  if (!asked.workload.empty()) return inference::load_workload(asked.workload);
  if (asked.like.empty()) return inference::plain_workload();
  const auto part = log_part(asked.from, asked.until);
  if (!part) return tl::unexpected(part.error());
  const auto log = load_requests(asked.like, *part, asked.column_map, true);
  if (!log) return tl::unexpected(log.error());
  auto learnt = inference::fit_workload(*log);
  if (!learnt) learnt.error().where = {.file = asked.like};
  return learnt;
}

Result<int> generate_requests(const MadeRequests& asked) {
  auto workload = asked_workload(asked);
  if (!workload) return tl::unexpected(workload.error());
  if (asked.hours) {
    // At the rate that it had, unless that is told too.
    const double rate = static_cast<double>(workload->requests) / workload->hours;
    workload->hours = *asked.hours;
    workload->requests = std::max(1LL, std::llround(rate * *asked.hours));
  }
  if (asked.requests) workload->requests = *asked.requests;
  if (!asked.save_workload.empty()) {
    if (auto saved = table::write_file(asked.save_workload, inference::to_toml(*workload));
        !saved) {
      return tl::unexpected(saved.error());
    }
  }
  const inference::Requests made = inference::generate(*workload, asked.seed);
  if (auto saved = inference::save_requests(made, asked.out); !saved) {
    return tl::unexpected(saved.error());
  }
  note(fmt::format("{} in {}, {:.4g} per second", text::counted(made.size(), "request"),
                   text::human_time(3600 * workload->hours),
                   static_cast<double>(made.size()) / workload->hours / 3600));
  return kDone;
}

}  // namespace

void register_inference_generate(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("generate",
                           "Generate a request log, from parameters or like another log");
  const auto asked = std::make_shared<MadeRequests>();
  CLI::Option* const like =
      command.add_option("--like", asked->like, "Request log to learn the parameters from")
          ->type_name("REQUESTS")
          ->group(heading(Group::input));
  like->type_name("REQUESTS");
  add_log_part(command, asked->from, asked->until);
  add_log_columns(command, asked->column_map);
  command.add_option("--workload", asked->workload, "TOML file of parameters")
      ->type_name("FILE")
      ->excludes(like)
      ->group(heading(Group::input));
  command.add_option("--hours", asked->hours, "Length in hours")->check(number(1e-3, 1e6));
  command.add_option("--requests", asked->requests, "Number of requests within that length")
      ->check(whole_number(1, 1'000'000'000));
  command.add_option("--seed", asked->seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str();
  command
      .add_option("--out,OUT", asked->out,
                  "File to write (.gz and .zst are compressed); - is standard output")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(heading(Group::output));
  command
      .add_option("--save-workload", asked->save_workload, "TOML file to write the parameters to")
      ->type_name("FILE")
      ->group(heading(Group::output));
  add_example(command, "almanac inference generate --like requests.csv --seed 2 --out alike.csv");
  add_example(command,
              "almanac inference generate --hours 24 --requests 100000 --save-workload mine.toml "
              "--out day.csv.gz");
  program.on(command, [asked] { return generate_requests(*asked); });
}

}  // namespace almanac::cli
