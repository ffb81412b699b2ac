// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference plan: which models are to share which GPUs.
#include <fmt/format.h>

#include "cli/inference_placed.h"
#include "cli/program.h"
#include "inference/placing.h"
#include "table/output_file.h"

namespace almanac::cli {

void register_inference_plan(Program& program);

namespace {

struct PlanningOptions {
  int total = 8;
  std::string out;
  double gpu_hour = 0;
};

Result<int> plan_models(const InferenceOptions& options, const PlanningOptions& asked) {
  if (options.first_token.empty() && options.per_token.empty()) {
    return fail(Code::usage, "without an objective every plan is as good as another", {},
                "give --ttft, --tpot or both");
  }
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  auto plan = inference::place_models(told->service, told->requests, told->objective, asked.total);
  if (!plan) return tl::unexpected(plan.error());
  if (auto written = table::write_file(asked.out, inference::to_csv(*plan)); !written) {
    return tl::unexpected(written.error());
  }
  for (std::size_t model = 0; model < plan->names.size(); ++model) {
    if (plan->replicas_of(model) > 0) continue;
    note(fmt::format("{} has no replica: none would serve more requests as asked",
                     plan->names[model]));
  }
  note(fmt::format("{} is for --plan of the other inference commands", asked.out));
  std::erase_if(told->requests.all,
                [&](const inference::Request& each) { return plan->replicas_of(each.model) == 0; });
  told->plan = *std::move(plan);
  return simulate_placed(*told, asked.gpu_hour, options.output);
}

}  // namespace

void register_inference_plan(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("plan", "Find which models are to share which GPUs");
  const auto options = add_inference_options(command);
  for (const char* const other :
       {"--model", "--gpus", "--profile", "--kv-blocks", "--prefill", "--link-gbps"}) {
    command.remove_option(command.get_option(other));
  }
  options->by_model = true;
  const auto asked = std::make_shared<PlanningOptions>();
  command.add_option("--total", asked->total, "GPUs that there are")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--out", asked->out, "File for the plan")->type_name("FILE")->required();
  command.add_option("--gpu-hour", asked->gpu_hour, "Price of a GPU for an hour")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_example(command, "almanac inference plan requests.csv --total 8 --ttft 500ms --out plan.csv");
  program.on(command, [options, asked] { return plan_models(*options, *asked); });
}

}  // namespace almanac::cli
