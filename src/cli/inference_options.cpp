// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_options.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/program.h"
#include "inference/profile/fit.h"
#include "inference/request_log.h"
#include "text/duration.h"
#include "text/human.h"

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

Result<inference::Model> named_model(const std::string& name) {
  return name.ends_with(".json") ? inference::read_model(name) : inference::find_model(name);
}

struct NotOfPlans {
  const char* option;
  const char* why;
  const char* instead;
};
constexpr NotOfPlans kNotOfPlans[] = {
    {"--model", "the plan names its models", "leave it out"},
    {"--gpus", "the plan says on which GPUs a replica is", "write them as 0-3 in column gpus"},
    {"--stages", "a replica of a plan computes all layers on all of its GPUs",
     "play that model alone, with --model and --stages"},
    {"--profile", "it is of one model, and all models of a plan go by a roofline",
     "play that model alone, with --model and --profile"},
    {"--kv-blocks", "models on the same GPUs share what memory their weights leave",
     "play that model alone, with --model and --kv-blocks"},
    {"--prefill", "the replicas of a plan compute prompts and tokens",
     "play that model alone, with --model and --prefill"},
    {"--replicas", "the plan has a row for each replica", "size --plan finds how many are needed"},
    {"--scaler", "the replicas of a plan stay",
     "play that model alone, with --model, --replicas A..B and --scaler"},
    {"--cold-start", "the replicas of a plan stay",
     "play that model alone, with --model, --replicas A..B and --cold-start"},
};

/// Fails where an option was told that does not go with a plan.
Result<void> check_plan(const InferenceOptions& options) {
  if (options.plan.empty() || options.not_of_plans.empty()) return {};
  const std::string& told = options.not_of_plans.front();
  const auto* const found =
      std::find_if(std::begin(kNotOfPlans), std::end(kNotOfPlans),
                   [&](const NotOfPlans& each) { return each.option == told; });
  return fail(Code::usage, fmt::format("{} does not go with --plan: {}", told, found->why), {},
              found->instead);
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
  command
      .add_option("--board", options->board,
                  fmt::format("GPU of the replicas: {}", inference::board_names()))
      ->capture_default_str();
  command
      .add_option("--profile", options->profile,
                  "Step times as almanac inference profile measured them, instead of a roofline")
      ->type_name("FILE");
  command.add_option("--gpus", options->gpus, "GPUs of one replica (tensor parallel)")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      .add_option("--stages", options->stages,
                  "Stages of a replica's layers, each on so many GPUs (pipeline parallel)")
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
  command
      .add_option("--wait", options->wait,
                  "How long the first of a batch waits for others, with --batch fixed")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--prefill", options->prefill,
                  "So many of the replicas compute prompts only, and hand over to the others")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  command
      .add_option("--link-gbps", options->link_gbps,
                  "Gigabits a second of KV from one replica to another")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--swap", options->swap_gib,
                  "GiB of host memory that keep the KV of what a replica sends back to its queue")
      ->check(CLI::Range(0.0, 1e5))
      ->capture_default_str();
  command
      .add_option("--adapters", options->adapters,
                  "Adapters (LoRA) that a replica holds in GPU memory at a time, where requests "
                  "name some")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--adapter-rank", options->adapter_rank, "Their rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_flag("--prefix-cache", options->prefix_cache,
                   "Find the KV of equal beginnings of prompts again");
  command.add_option("--rate", options->rate, "Let requests come so many times as fast")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_log_part(command, options->from, options->until);
  add_log_columns(command, options->column_map);
  command.add_option("--ttft", options->first_token, "Objective: time to the first token (500ms)");
  command.add_option("--tpot", options->per_token,
                     "Objective: time of each token after it, on average (50ms)");
  options->list.add_to(command);
  return options;
}

void add_log_part(CLI::App& command, std::string& from, std::string& until) {
  command.add_option("--from", from, "Leave out requests that come sooner after the log begins")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--until", until, "Leave out those that come then and later (12h)")
      ->type_name("TIME");
}

void add_log_columns(CLI::App& command, std::string& column_map) {
  command
      .add_option("--columns", column_map,
                  "TOML file that says which columns or keys of the request log mean what")
      ->type_name("FILE");
}

Result<inference::Requests> load_requests(const std::string& path, const inference::LogPart& part,
                                          const std::string& column_map, bool by_model) {
  auto requests = by_model ? inference::read_requests_by_model(path, part, column_map)
                           : inference::read_requests(path, part, column_map);
  if (requests) {
    for (const std::string& text : requests->notes) note(path + ": " + text);
  }
  return requests;
}

Result<inference::LogPart> log_part(const std::string& from, const std::string& until) {
  inference::LogPart part;
  const auto begins = text::parse_duration(from);
  if (!begins || *begins < Duration{0} || *begins == text::kUnlimited) {
    return fail(Code::usage, fmt::format("--from: \"{}\" is no length of time", from), {},
                "as 10h");
  }
  part.from = 1e3 * static_cast<double>(begins->count());
  const auto ends = bound("--until", until);
  if (!ends) return tl::unexpected(ends.error());
  part.until = *ends;
  if (part.until <= part.from) {
    return fail(Code::usage, fmt::format("--until {} is not after --from {}", until, from));
  }
  return part;
}

void add_plan_option(CLI::App& command, InferenceOptions& options) {
  CLI::Option& plan = *command.add_option(
      "--plan", options.plan,
      "Instead of one model: a table with columns gpus (0-3) and model, a row for each replica");
  plan.type_name("FILE");
  command.get_option("--model")->required(false);
  for (const NotOfPlans& each : kNotOfPlans) {
    CLI::Option* const there = command.get_option_no_throw(each.option);
    if (there == nullptr) continue;
    there->each([&options, name = each.option](const std::string&) {
      options.not_of_plans.emplace_back(name);
    });
  }
}

Result<InferenceCase> inference_case(const InferenceOptions& options) {
  InferenceCase told;
  if (auto checked = check_plan(options); !checked) return tl::unexpected(checked.error());
  if (!options.plan.empty()) {
    auto plan = inference::read_plan(options.plan);
    if (!plan) return tl::unexpected(plan.error());
    told.plan = std::move(*plan);
  } else if (options.model.empty() && !options.by_model) {
    return options.profile.empty()
               ? fail(Code::usage, "nothing says which model is served", {},
                      "--model llama-3.1-8b, or --model config.json")
               : fail(Code::usage,
                      "--profile tells how long steps take, and not what memory tokens need", {},
                      "the model does: --model llama-3.1-8b, or --model config.json");
  }
  const auto model = options.by_model ? Result<inference::Model>(inference::Model{})
                     : told.plan      ? Result<inference::Model>(told.plan->models.front())
                                      : named_model(options.model);
  if (!model) return tl::unexpected(model.error());
  const auto board = inference::find_board(options.board);
  if (!board) return tl::unexpected(board.error());
  const auto wait = text::parse_duration(options.wait);
  if (!wait || *wait < Duration{0} || *wait == text::kUnlimited) {
    return fail(Code::usage, fmt::format("--wait: \"{}\" is no length of time", options.wait), {},
                "as 5ms");
  }
  if (*wait > Duration{0} && options.former != "fixed") {
    return fail(Code::usage, fmt::format("batches of {} do not wait for more", options.former), {},
                "--wait goes with --batch fixed");
  }
  told.service = {.model = *model,
                  .board = *board,
                  .gpus = options.gpus,
                  .stages = options.stages,
                  .prefill = options.prefill,
                  .link_bytes_per_s = options.link_gbps * 1e9 / 8,
                  .swap_gib = options.swap_gib,
                  .limits = {.sequences = options.sequences,
                             .tokens = options.tokens,
                             .kv_blocks = options.kv_blocks,
                             .gather = 1e3 * static_cast<double>(wait->count()),
                             .reuse = options.prefix_cache},
                  .former = options.former,
                  .router = options.router};
  const auto first = bound("--ttft", options.first_token);
  if (!first) return tl::unexpected(first.error());
  const auto rest = bound("--tpot", options.per_token);
  if (!rest) return tl::unexpected(rest.error());
  told.objective = {*first, *rest};
  told.service.limits.first_token = *first;
  told.service.limits.per_token = *rest;
  if (!options.profile.empty()) {
    const auto measured = inference::read_measured(options.profile);
    if (!measured) return tl::unexpected(measured.error());
    if (!measured->warning.empty()) {
      note(fmt::format("profile {} {}", options.profile, measured->warning));
    }
    told.service.measured = std::make_shared<const inference::Fitted>(measured->step);
    if (measured->slots > 0 && measured->slots < options.sequences) {
      told.service.limits.sequences = measured->slots;
      note(fmt::format("profile {}: its server answers {} at a time, and so does a replica",
                       options.profile,
                       text::counted(static_cast<std::uint64_t>(measured->slots), "request")));
    }
  }
  const auto part = log_part(options.from, options.until);
  if (!part) return tl::unexpected(part.error());
  // Last: a wrong name should not cost the time to read a log.
  auto requests = load_requests(options.requests, *part, options.column_map,
                                told.plan.has_value() || options.by_model);
  if (!requests) return tl::unexpected(requests.error());
  told.requests = std::move(*requests);
  if (!told.requests.adapters.empty()) {
    told.service.adapters = options.adapters;
    told.service.adapter_rank = options.adapter_rank;
  }
  for (inference::Request& each : told.requests.all) each.arrival /= options.rate;
  return told;
}

}  // namespace almanac::cli
