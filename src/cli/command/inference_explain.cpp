// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference explain: what became of one request, and why.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/inference_fleet.h"
#include "cli/program.h"
#include "inference/loss.h"

namespace almanac::cli {

void register_inference_explain(Program& program);

namespace {

using inference::kNever;
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
    return fail(Code::usage, fmt::format("--request: there is no request {}", asked.request), {},
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
  const auto verdict = inference::to_string(inference::loss_of(request, outcome, told->objective));
  const auto in_ms = [](double from, double to) {
    return from == kNever || to == kNever ? std::string()
                                          : fmt::format("{:.3f}", (to - from) / 1e3);
  };
  const double per_token = outcome.finish != kNever && request.output > 1
                               ? (outcome.finish - outcome.first_token) / (request.output - 1)
                               : kNever;
  const std::vector<std::pair<std::string, std::string>> figures{
      {"request", std::to_string(asked.request)},
      {"arrival_s", fmt::format("{:.6f}", request.arrival / 1e6)},
      {"prompt_tokens", std::to_string(request.prompt)},
      {"output_tokens", std::to_string(request.output)},
      {"replica", outcome.replica < 0 ? "" : std::to_string(outcome.replica)},
      {"requests_ahead", std::to_string(ahead_of(id, *told, fleet->played))},
      {"waited_ms", in_ms(request.arrival, outcome.start)},
      {"prefill_ms", in_ms(outcome.start, outcome.first_token)},
      {"prompt_tokens_found", std::to_string(outcome.hit_tokens)},
      {"ttft_ms", in_ms(request.arrival, outcome.first_token)},
      {"tpot_ms", in_ms(0, per_token)},
      {"longest_gap_ms", in_ms(0, per_token == kNever ? kNever : outcome.longest_gap)},
      {"e2e_ms", in_ms(request.arrival, outcome.finish)},
      {"preemptions", std::to_string(outcome.preemptions)},
      {"verdict", std::string(verdict)}};
  if (options.output == "json") {
    nlohmann::ordered_json made;
    for (const auto& [name, value] : figures) {
      made[name] = name == "verdict" ? nlohmann::ordered_json(value)
                   : value.empty()   ? nlohmann::ordered_json()
                                     : nlohmann::ordered_json::parse(value);
    }
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  if (options.output == "csv") {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : figures) rows.push_back({name, value});
    print_csv({"figure", "value"}, rows);
    return kDone;
  }
  for (const auto& [name, value] : figures) {
    fmt::print("{:20} {}\n", name, value.empty() ? "-" : value);
  }
  return kDone;
}

}  // namespace

void register_inference_explain(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("explain", "Say what became of one request, and why");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<RequestExplained>();
  asked->fleet.add_to(command);
  command.add_option("--request", asked->request, "Which, from 1 on, in order of arrival")
      ->type_name("N")
      ->required();
  add_example(command,
              "almanac inference explain requests.csv --model llama-3.1-8b --replicas 2 --ttft "
              "500ms --request 17");
  program.on(command, [options, asked] { return explain_request(*options, *asked); });
}

}  // namespace almanac::cli
