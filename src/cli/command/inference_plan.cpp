// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference plan: which models should share which GPUs.
#include <fmt/format.h>

#include "cli/elapsed.h"
#include "cli/inference_placed.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "inference/placing.h"
#include "table/output_file.h"
#include "text/number.h"

namespace almanac::cli {

void register_inference_plan(Program& program);

namespace {

struct PlanningOptions {
  int total = 8;
  std::string out;
  double gpu_hour = 0;
  std::vector<std::string> pools;
  double share = 0;
};

/// "h100=4@2.5": four H100 at 2.5 an hour each.
Result<inference::GpuPool> pool_of(const std::string& told) {
  const std::size_t equals = told.find('='), at = std::min(told.find('@'), told.size());
  const auto wrong = [&](const char* what) {
    return fail(Code::usage, fmt::format("--pool \"{}\" {}", told, what), {},
                "expected h100=4@2.5: GPU type, number and price of one for an hour");
  };
  if (equals == std::string::npos || equals > at) return wrong("has no number of GPUs");
  const auto board = inference::load_board(told.substr(0, equals));
  if (!board) return tl::unexpected(board.error());
  const auto gpus = text::parse_whole(told.substr(equals + 1, at - equals - 1));
  constexpr int kMost = 1024;
  if (!gpus || *gpus < 1 || *gpus > kMost) return wrong("must have 1 to 1024 GPUs");
  inference::GpuPool made{.board = *board, .gpus = static_cast<int>(*gpus)};
  if (at == told.size()) return made;
  const auto price = text::parse_decimal(told.substr(at + 1));
  if (!price || *price < 0) return wrong("has no price after @");
  made.gpu_hour = *price;
  return made;
}

Result<int> plan_models(const InferenceOptions& options, const PlanningOptions& asked) {
  if (options.first_token.empty() && options.per_token.empty() && options.end_to_end.empty()) {
    return fail(Code::usage, "a plan needs an objective", {}, "add --ttft, --tpot or --e2e");
  }
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  inference::PlacingQuestion question{.objective = told->objective, .share = asked.share};
  for (const std::string& each : asked.pools) {
    const auto pool = pool_of(each);
    if (!pool) return tl::unexpected(pool.error());
    question.pools.push_back(*pool);
  }
  if (question.pools.empty()) {
    question.pools.push_back(
        {.board = told->service.board, .gpus = asked.total, .gpu_hour = asked.gpu_hour});
  }
  auto plan = while_showing("planning", [&](ProgressBar&) {
    return inference::place_models(told->service, told->requests, question);
  });
  if (!plan) return tl::unexpected(plan.error());
  if (auto written = table::write_file(asked.out, inference::to_csv(*plan)); !written) {
    return tl::unexpected(written.error());
  }
  for (std::size_t model = 0; model < plan->names.size(); ++model) {
    if (plan->replicas_of(model) > 0) continue;
    note(fmt::format("{} gets no replica, because none would let more requests meet the objective",
                     plan->names[model]));
  }
  note(fmt::format("{} can be used with --plan of the other inference commands", asked.out));
  std::erase_if(told->requests.all,
                [&](const inference::Request& each) { return plan->replicas_of(each.model) == 0; });
  told->plan = *std::move(plan);
  return simulate_placed(*told, asked.gpu_hour, options.list);
}

}  // namespace

void register_inference_plan(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("plan", "Find which models should share which GPUs");
  const auto options = add_inference_options(command);
  for (const char* const other :
       {"--model", "--gpus", "--stages", "--profile", "--kv-blocks", "--prefill", "--link-gbps"}) {
    command.remove_option(command.get_option(other));
  }
  options->by_model = true;
  const auto asked = std::make_shared<PlanningOptions>();
  CLI::Option* const total =
      command.add_option("--total", asked->total, "Number of GPUs")->group(heading(Group::model));
  total->check(whole_number(1, 1024))->capture_default_str();
  command.add_option("--out", asked->out, "File for the plan")
      ->type_name("FILE")
      ->required()
      ->group(heading(Group::output));
  CLI::Option* const price =
      command.add_option("--gpu-hour", asked->gpu_hour, "Price of a GPU-hour")
          ->group(heading(Group::model));
  price->check(number(0))->capture_default_str();
  command
      .add_option("--pool", asked->pools,
                  "GPUs of several types with their hourly prices, instead of --total, --board and "
                  "--gpu-hour")
      ->type_name("BOARD=GPUS@PRICE,...")
      ->delimiter(',')
      ->excludes(total)
      ->excludes(price)
      ->excludes(command.get_option("--board"))
      ->group(heading(Group::model));
  command
      .add_option("--share", asked->share,
                  "Share of the requests that must meet the objective, at the lowest price "
                  "(default 0: as many as possible)")
      ->check(number(0.0, 1.0))
      ->capture_default_str()
      ->group(heading(Group::objective));
  add_example(command, "almanac inference plan requests.csv --total 8 --ttft 500ms --out plan.csv");
  add_example(command,
              "almanac inference plan requests.csv --pool h100=4@2.5,l40s=8@0.8 --share 0.9 --ttft "
              "500ms --out plan.csv");
  program.on(command, [options, asked] { return plan_models(*options, *asked); });
}

}  // namespace almanac::cli
