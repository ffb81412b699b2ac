// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_options.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "inference/request_log.h"
#include "text/duration.h"

namespace almanac::cli {
namespace {

Result<inference::Micros> bound(const std::string& flag, const std::string& told) {
  if (told.empty()) return inference::kNever;
  const auto duration = text::parse_duration(told);
  if (duration && *duration > Duration{0} && *duration != text::kUnlimited) {
    return static_cast<double>(duration->count()) * 1e3;
  }
  return fail(Code::usage, fmt::format("{}: \"{}\" is no length of time", flag, told), {},
              "as \"500ms\" or \"2s\"");
}

using Shown = std::pair<const char*, const inference::Spread*>;

std::array<Shown, 4> shown(const inference::Seen& seen) {
  return {Shown{"ttft", &seen.first_token}, Shown{"tpot", &seen.per_token},
          Shown{"longest_gap", &seen.longest_gap}, Shown{"e2e", &seen.end_to_end}};
}

/// Counts and rates, by the names that JSON and CSV have.
std::vector<std::pair<std::string, double>> figures(const InferenceCase& told,
                                                    const inference::Seen& seen, double replica_s) {
  const double seconds = seen.span / 1e6;
  if (replica_s < 0) replica_s = told.service.replicas * seconds;
  const double replicas = seconds > 0 ? replica_s / seconds : told.service.replicas;
  const auto a_second = [&](auto count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const double prompts = static_cast<double>(seen.prompt_tokens);
  return {{"replicas", replicas},
          {"gpus", replicas * told.service.gpus},
          {"gpu_hours", replica_s * told.service.gpus / 3600},
          {"requests", static_cast<double>(seen.requests)},
          {"finished", static_cast<double>(seen.finished)},
          {"attainment", seen.attainment()},
          {"goodput_rps", a_second(seen.attained)},
          {"throughput_rps", a_second(seen.finished)},
          {"output_tokens_per_s", a_second(seen.output_tokens)},
          {"prefix_hit_share", prompts > 0 ? static_cast<double>(seen.hit_tokens) / prompts : 0},
          {"preemptions", static_cast<double>(seen.preemptions)},
          {"span_s", seconds}};
}

}  // namespace

std::shared_ptr<InferenceOptions> add_inference_options(CLI::App& command) {
  const auto options = std::make_shared<InferenceOptions>();
  command.add_option("REQUESTS", options->requests, "A log of requests, of any known format")
      ->required();
  command
      .add_option("--model", options->model,
                  "What is served: a name such as llama-3.1-8b, or a config.json")
      ->required();
  command.add_option("--board", options->board, "On which GPU: h100, a100 or l40s")
      ->capture_default_str();
  command.add_option("--gpus", options->gpus, "GPUs of one replica (tensor parallel)")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--batch", options->former, "How iterations are batched")
      ->capture_default_str();
  command.add_option("--router", options->router, "Which replica a request goes to")
      ->capture_default_str();
  command.add_option("--sequences", options->sequences, "Most requests that run on a replica")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--tokens", options->tokens, "Most tokens of an iteration")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command
      .add_option("--kv-blocks", options->kv_blocks,
                  "Blocks of 16 tokens of KV cache; 0 = as many as fit")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  command.add_flag("--prefix-cache", options->prefix_cache,
                   "Find the KV of equal beginnings of prompts again");
  command.add_option("--rate", options->rate, "Let requests come so many times as fast")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--ttft", options->first_token, "Objective: time to the first token (500ms)");
  command.add_option("--tpot", options->per_token,
                     "Objective: time of each token after it, on average (50ms)");
  command.add_option("-o,--output", options->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  return options;
}

Result<InferenceCase> inference_case(const InferenceOptions& options) {
  InferenceCase told;
  const auto model = options.model.ends_with(".json") ? inference::read_model(options.model)
                                                      : inference::find_model(options.model);
  if (!model) return tl::unexpected(model.error());
  const auto board = inference::find_board(options.board);
  if (!board) return tl::unexpected(board.error());
  told.service = {.model = *model,
                  .board = *board,
                  .gpus = options.gpus,
                  .limits = {.sequences = options.sequences,
                             .tokens = options.tokens,
                             .kv_blocks = options.kv_blocks,
                             .reuse = options.prefix_cache},
                  .former = options.former,
                  .router = options.router};
  const auto first = bound("--ttft", options.first_token);
  if (!first) return tl::unexpected(first.error());
  const auto rest = bound("--tpot", options.per_token);
  if (!rest) return tl::unexpected(rest.error());
  told.objective = {*first, *rest};
  // Last: a wrong name should not cost the time to read a log.
  auto requests = inference::read_requests(options.requests);
  if (!requests) return tl::unexpected(requests.error());
  told.requests = std::move(*requests);
  for (inference::Request& each : told.requests.all) each.arrival /= options.rate;
  return told;
}

void print_seen(const InferenceOptions& options, const InferenceCase& told,
                const inference::Seen& seen, double replica_s) {
  if (options.output == "json") {
    nlohmann::ordered_json made;
    for (const auto& [name, value] : figures(told, seen, replica_s)) made[name] = value;
    for (const auto& [name, spread] : shown(seen)) {
      made[std::string(name) + "_ms"] = {{"mean", spread->mean / 1e3},
                                         {"p50", spread->p50 / 1e3},
                                         {"p90", spread->p90 / 1e3},
                                         {"p99", spread->p99 / 1e3},
                                         {"max", spread->most / 1e3}};
    }
    fmt::print("{}\n", made.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  if (options.output == "csv") {
    for (const auto& [name, value] : figures(told, seen, replica_s)) {
      rows.push_back({name, fmt::format("{:.9g}", value)});
    }
    for (const auto& [name, spread] : shown(seen)) {
      for (const auto& [which, value] :
           {std::pair("mean", spread->mean), std::pair("p50", spread->p50),
            std::pair("p90", spread->p90), std::pair("p99", spread->p99),
            std::pair("max", spread->most)}) {
        rows.push_back({fmt::format("{}_{}_ms", name, which), fmt::format("{:.9g}", value / 1e3)});
      }
    }
    print_csv({"figure", "value"}, rows);
    return;
  }
  for (const auto& [name, value] : figures(told, seen, replica_s)) {
    fmt::print("{:20} {:.6g}\n", name, value);
  }
  fmt::print("\n");
  for (const auto& [name, spread] : shown(seen)) {
    std::vector<std::string> row{fmt::format("{}_ms", name)};
    for (const double value : {spread->mean, spread->p50, spread->p90, spread->p99, spread->most}) {
      row.push_back(fmt::format("{:.2f}", value / 1e3));
    }
    rows.push_back(std::move(row));
  }
  print_columns(
      {{"latency"}, {"mean", true}, {"p50", true}, {"p90", true}, {"p99", true}, {"max", true}},
      rows);
}

}  // namespace almanac::cli
