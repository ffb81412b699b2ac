// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference explain: how one request was served, and why.
#include <algorithm>

#include <fmt/format.h>

#include "cli/figure_rows.h"
#include "cli/inference_fleet.h"
#include "cli/program.h"
#include "inference/loss.h"

namespace almanac::cli {

void register_inference_explain(Program& program);

namespace {

using inference::RequestId;

struct RequestExplained {
  FleetOptions fleet{};
  std::uint32_t request = 0;
};

/// How many requests of its replica had come before it and were not answered when it came.
std::size_t ahead_of(RequestId asked, const InferenceCase& told, const inference::Scaled& played) {
  const auto& mine = played.outcomes[asked];
  const double came = told.requests[asked].arrival;
  std::size_t count = 0;
  for (RequestId id = 0; id < asked; ++id) {
    const auto& other = played.outcomes[id];
    count += mine.replica >= 0 && other.replica == mine.replica && other.finish > came;
  }
  return count;
}

Result<int> explain_request(const InferenceOptions& options, const RequestExplained& asked) {
  const auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  if (asked.request < 1 || asked.request > told->requests.size()) {
    return fail(Code::usage, fmt::format("--request: unknown request {}", asked.request), {},
                fmt::format("{} has requests 1 to {}, in order of arrival", options.requests,
                            told->requests.size()));
  }
  const auto plan = plan_fleet(asked.fleet, *told, "");
  if (!plan) return tl::unexpected(plan.error());
  const auto fleet = play_fleet(*plan, *told);
  if (!fleet) return tl::unexpected(fleet.error());
  const RequestId id = asked.request - 1;
  const inference::Request& request = told->requests[id];
  const inference::Outcome& outcome = fleet->played.outcomes[id];
  const inference::Loss loss = inference::loss_of(request, outcome, told->objective);
  const bool has_objective = told->objective.first_token != inference::kNever ||
                             told->objective.per_token != inference::kNever ||
                             told->objective.end_to_end != inference::kNever;
  const std::string slo = loss != inference::Loss::none
                              ? fmt::format("missed: {}", inference::to_string(loss))
                              : std::string(has_objective ? "met" : "none given");
  const auto in_ms = [](double from, double to) {
    if (from == inference::kNever || to == inference::kNever) return figure::Cell();
    const double ms = (to - from) / 1e3;
    return figure::Cell(ms, figure::Decimals{3}(ms));
  };
  const double per_token = outcome.finish != inference::kNever && request.output > 1
                               ? (outcome.finish - outcome.first_token) / (request.output - 1)
                               : inference::kNever;
  return show_answer(
      options.list,
      {{"request", asked.request},
       {"arrival_s", request.arrival / 1e6},
       {"prompt_tokens", request.prompt},
       {"output_tokens", request.output},
       {"replica", outcome.replica < 0 ? figure::Cell() : figure::Cell(outcome.replica)},
       {"unfinished_before", ahead_of(id, *told, fleet->played)},
       {"waited_ms", in_ms(request.arrival, outcome.start)},
       {"prefill_ms", in_ms(outcome.start, outcome.first_token)},
       {"prompt_tokens_found", outcome.hit_tokens},
       {"ttft_ms", in_ms(request.arrival, outcome.first_token)},
       {"tpot_ms", in_ms(0, per_token)},
       {"longest_gap_ms",
        in_ms(0, per_token == inference::kNever ? inference::kNever : outcome.longest_gap)},
       {"e2e_ms", in_ms(request.arrival, outcome.finish)},
       {"preemptions", outcome.preemptions},
       {"slo", slo}});
}

}  // namespace

void register_inference_explain(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("explain", "Explain the latency of one request");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<RequestExplained>();
  asked->fleet.add_to(command);
  command
      .add_option("--request", asked->request,
                  "Number of the request, counted from 1 in order of arrival")
      ->type_name("N")
      ->required();
  add_example(command,
              "almanac inference explain requests.csv --model llama-3.1-8b --replicas 2 --ttft "
              "500ms --request 17");
  program.on(command, [options, asked] { return explain_request(*options, *asked); });
}

}  // namespace almanac::cli
