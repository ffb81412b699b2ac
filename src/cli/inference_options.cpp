// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_options.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/value_check.h"
#include "inference/fewer_gpus.h"
#include "inference/profile/fit.h"
#include "inference/profile/kernel_tables.h"
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
  return fail(Code::usage, fmt::format("{} must be a time, found \"{}\"", flag, told), {},
              "for example 500ms or 2s");
}

struct NotOfPlans {
  const char* option;
  const char* why;
  const char* instead;
};
constexpr NotOfPlans kNotOfPlans[] = {
    {"--model", "the plan names its models", "leave out --model"},
    {"--gpus", "the plan gives the GPUs of each replica", "write them as 0-3 in its column gpus"},
    {"--stages", "replicas of a plan have no pipeline stages",
     "simulate that model alone, with --model and --stages"},
    {"--profile", "a profile describes one model, and a plan uses rooflines for all",
     "simulate that model alone, with --model and --profile"},
    {"--kv-blocks", "models on the same GPUs share the memory that their weights leave",
     "simulate that model alone, with --model and --kv-blocks"},
    {"--prefill", "replicas of a plan compute both prompts and tokens",
     "simulate that model alone, with --model and --prefill"},
    {"--replicas", "the plan has a row for each replica",
     "almanac inference size --plan finds how many are needed"},
    {"--scaler", "a plan has a fixed set of replicas",
     "simulate that model alone, with --model, --replicas A..B and --scaler"},
    {"--cold-start", "a plan has a fixed set of replicas",
     "simulate that model alone, with --model, --replicas A..B and --cold-start"},
};

/// Fails where an option was told that does not go with a plan.
Result<void> check_plan(const InferenceOptions& options) {
  if (options.plan.empty() || options.not_of_plans.empty()) return {};
  const std::string& told = options.not_of_plans.front();
  const auto* const found =
      std::find_if(std::begin(kNotOfPlans), std::end(kNotOfPlans),
                   [&](const NotOfPlans& each) { return each.option == told; });
  return fail(Code::usage, fmt::format("{} cannot be used with --plan: {}", told, found->why), {},
              found->instead);
}

/// Reads tables whose name does not say that they are of another board.
Result<std::shared_ptr<const inference::StepTime>> kernel_tables_of(
    const inference::Service& service, const std::string& prefix) {
  const std::string name = prefix.substr(prefix.rfind('/') + 1);
  const auto named = inference::find_board(name);
  if (named && named->name != service.board.name) {
    return fail(Code::usage,
                fmt::format("{} are kernels of {}, but the board is {}", prefix, named->name,
                            service.board.name),
                {}, fmt::format("use --board {}", named->name));
  }
  const inference::Layout layout{.gpus = service.gpus,
                                 .stages = service.stages,
                                 .data_attention = service.data_attention,
                                 .whole_experts = service.whole_experts};
  return inference::read_kernel_tables(prefix, service.model, service.board, layout, {});
}

/// Says how many requests a server of the model would reject.
void note_too_long(const inference::Service& service, const inference::Requests& requests,
                   const std::string& path) {
  const auto longer_than = [&](std::int64_t tokens) {
    return std::count_if(requests.all.begin(), requests.all.end(),
                         [&](const auto& each) { return each.prompt + each.output > tokens; });
  };
  const inference::Model& model = service.model;
  if (model.positions > 0 && longer_than(model.positions) > 0) {
    note(fmt::format(
        "{}: {} of {} requests exceed the {} tokens of {} (max_position_embeddings) "
        "and are rejected, as a server does",
        path, longer_than(model.positions), requests.size(), model.positions, model.name));
  }
  if (model.layer_count() == 0) return;  // the requests are of several models
  const std::int64_t blocks =
      service.limits.kv_blocks > 0 ? service.limits.kv_blocks : inference::fitting_blocks(service);
  const std::int64_t room = inference::sequence_room(service, blocks);
  const auto rejected = longer_than(room + 1);  // the last token of an answer has no KV
  if (blocks < 1 || (model.positions > 0 && room >= model.positions) || rejected == 0) return;
  note(fmt::format(
      "{}: {} of {} requests exceed the {} tokens of KV cache that a {} has room for, and "
      "are rejected",
      path, rejected, requests.size(), room, service.data_attention ? "GPU" : "replica"));
}

}  // namespace

std::shared_ptr<InferenceOptions> add_inference_options(CLI::App& command) {
  const auto options = std::make_shared<InferenceOptions>();
  const InGroup group(command, Group::model);
  command
      .add_option("REQUESTS", options->requests,
                  "Request log; almanac help serving lists the formats")
      ->required();
  command
      .add_option("--model", options->model,
                  "Model: a name such as llama-3.1-8b, its config.json, or a model file (TOML)")
      ->type_name("NAME|FILE")
      ->required();
  command
      .add_option("--board", options->board,
                  "GPU type, or a board file (TOML); see almanac help serving")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command
      .add_option("--profile", options->profile,
                  "Step times of a server, from almanac inference profile")
      ->type_name("FILE");
  command
      .add_option(
          "--times", options->times,
          "Step times: measured (kernels measured on the board or a similar one), roofline "
          "(limits of the board, a lower bound), a profile as with --profile, or the kernel "
          "tables of AIConfigurator that begin with this path, such as tables/h100_sxm")
      ->type_name("measured|roofline|FILE")
      ->capture_default_str();
  command.add_flag("--data-parallel-attention,--enable-dp-attention", options->data_attention,
                   "Each GPU of a replica computes attention for requests of its own; experts are "
                   "divided");
  command.add_flag("--expert-parallel,--enable-expert-parallel", options->whole_experts,
                   "Each GPU of a replica has whole experts instead of a part of each");
  command
      .add_option("--gpus,--tensor-parallel-size", options->gpus,
                  "GPUs of a replica (tensor parallelism)")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command
      .add_option("--stages,--pipeline-parallel-size", options->stages,
                  "Pipeline stages of a replica, each on --gpus GPUs")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  begin_group(command, Group::engine);
  command.add_option("--batch", options->former, "Batching rule; see almanac help serving")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--router", options->router, "Routing rule; see almanac help serving")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--sequences,--max-num-seqs", options->sequences,
                  "Limit on concurrent requests of a replica")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--tokens,--max-num-batched-tokens", options->tokens,
                  "Limit on tokens of an iteration")
      ->type_name("N")
      ->check(whole_number(1, 10'000'000))
      ->capture_default_str();
  command
      .add_option("--kv-blocks,--num-gpu-blocks-override", options->kv_blocks,
                  "KV cache in blocks of 16 tokens (default 0: as many as fit)")
      ->type_name("N")
      ->check(whole_number(0, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--wait", options->wait,
                  "Time that a batch waits for more requests, with --batch fixed")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option(
          "--prefill", options->prefill,
          "Replicas that only compute prompts and hand over to the others (disaggregated prefill)")
      ->type_name("N")
      ->check(whole_number(0, 100'000))
      ->capture_default_str();
  command
      .add_option(
          "--link-gbps", options->link_gbps,
          "Bandwidth of each node to other nodes, in Gbit/s: for the KV caches that replicas "
          "hand over, and for the GPUs of a replica larger than a node")
      ->type_name("GBIT/S")
      ->check(positive_number())
      ->capture_default_str();
  command
      .add_option("--swap", options->swap_gib,
                  "Host memory for the KV caches of preempted requests, in GiB")
      ->type_name("GIB")
      ->check(number(0.0, 1e5))
      ->capture_default_str();
  command
      .add_option("--adapters,--max-loras", options->adapters,
                  "LoRA adapters in GPU memory at a time")
      ->type_name("N")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--adapter-rank,--max-lora-rank", options->adapter_rank,
                  "Rank of the LoRA adapters")
      ->type_name("N")
      ->check(whole_number(1, 4096))
      ->capture_default_str();
  command.add_flag("--prefix-cache,--enable-prefix-caching", options->prefix_cache,
                   "Reuse the KV cache of common prompt prefixes");
  command
      .add_option("--draft-tokens,--num-speculative-tokens", options->drafts,
                  "Speculative decoding: tokens that a draft model of one layer proposes")
      ->type_name("N")
      ->check(whole_number(0, 64))
      ->capture_default_str();
  command
      .add_option("--acceptance", options->acceptance,
                  "Probability that a draft token is accepted if those before it are")
      ->type_name("SHARE")
      ->check(number(0.0, 1.0))
      ->needs(command.get_option("--draft-tokens"))
      ->capture_default_str();
  begin_group(command, Group::input);
  command.add_option("--rate", options->rate, "Factor on the arrival rate")
      ->type_name("FACTOR")
      ->check(positive_number())
      ->capture_default_str();
  add_log_part(command, options->from, options->until);
  add_log_columns(command, options->column_map);
  begin_group(command, Group::objective);
  command
      .add_option("--ttft", options->first_token,
                  "Objective for the time to first token, such as 500ms")
      ->type_name("TIME");
  command
      .add_option("--tpot", options->per_token,
                  "Objective for the mean time per output token, such as 50ms")
      ->type_name("TIME");
  command
      .add_option("--e2e", options->end_to_end,
                  "Objective for the time to the last token, such as 10s")
      ->type_name("TIME");
  options->list.add_to(command);
  return options;
}

void add_log_part(CLI::App& command, std::string& from, std::string& until) {
  const InGroup group(command, Group::input);
  command.add_option("--from", from, "Skip requests before this time of the log")
      ->type_name("TIME")
      ->capture_default_str();
  command
      .add_option("--until", until, "Skip requests at and after this time of the log, such as 12h")
      ->type_name("TIME");
}

void add_log_columns(CLI::App& command, std::string& column_map) {
  const InGroup group(command, Group::input);
  command
      .add_option("--columns", column_map,
                  "TOML file that maps the columns or keys of the request log")
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
    return fail(Code::usage, fmt::format("--from must be a time, found \"{}\"", from), {},
                "for example 10h");
  }
  part.from = 1e3 * static_cast<double>(begins->count());
  const auto ends = bound("--until", until);
  if (!ends) return tl::unexpected(ends.error());
  part.until = *ends;
  if (part.until <= part.from) {
    return fail(Code::usage, fmt::format("--until {} must be later than --from {}", until, from));
  }
  return part;
}

void add_plan_option(CLI::App& command, InferenceOptions& options) {
  const InGroup group(command, Group::model);
  CLI::Option& plan = *command.add_option("--plan", options.plan,
                                          "Plan of several models, instead of --model: a CSV file "
                                          "with columns gpus (0-3) and model, one row per replica");
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
               ? fail(Code::usage, "no model is given", {},
                      "use --model llama-3.1-8b, or --model config.json")
               : fail(Code::usage, "--profile has step times, but not the memory of a token", {},
                      "also give --model llama-3.1-8b, or --model config.json");
  }
  const auto model = options.by_model ? Result<inference::Model>(inference::Model{})
                     : told.plan      ? Result<inference::Model>(told.plan->models.front())
                                      : inference::load_model(options.model);
  if (!model) return tl::unexpected(model.error());
  const auto board = inference::load_board(options.board);
  if (!board) return tl::unexpected(board.error());
  const auto wait = text::parse_duration(options.wait);
  if (!wait || *wait < Duration{0} || *wait == text::kUnlimited) {
    return fail(Code::usage, fmt::format("--wait must be a time, found \"{}\"", options.wait), {},
                "for example 5ms");
  }
  if (*wait > Duration{0} && options.former != "fixed") {
    return fail(Code::usage,
                fmt::format("batching rule {} does not wait for more requests", options.former), {},
                "--wait requires --batch fixed");
  }
  if (!options.profile.empty() && options.times != "measured") {
    return fail(Code::usage, "--profile and --times cannot be used together", {},
                "--times FILE is the same as --profile FILE");
  }
  const bool at_limits = options.times == "roofline",
             by_file = !at_limits && options.times != "measured";
  const std::string tables = by_file ? inference::find_kernel_tables(options.times) : "";
  const std::string profile = by_file && tables.empty() ? options.times : options.profile;
  if (!options.plan.empty() && (!profile.empty() || !tables.empty())) {
    return fail(Code::usage, "--times FILE cannot be used with --plan", {},
                "a profile describes one model; use --times measured or roofline");
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
                  .router = options.router,
                  .data_attention = options.data_attention,
                  .whole_experts = options.whole_experts,
                  .at_limits = at_limits,
                  .speculation = {options.drafts, options.acceptance}};
  const auto first = bound("--ttft", options.first_token);
  if (!first) return tl::unexpected(first.error());
  const auto rest = bound("--tpot", options.per_token);
  if (!rest) return tl::unexpected(rest.error());
  const auto end = bound("--e2e", options.end_to_end);
  if (!end) return tl::unexpected(end.error());
  told.objective = {*first, *rest, *end};
  told.service.limits.first_token = *first;
  told.service.limits.per_token = *rest;
  told.service.limits.end_to_end = *end;
  if (!tables.empty()) {
    auto step = kernel_tables_of(told.service, tables);
    if (!step) return tl::unexpected(step.error());
    told.service.tables = *std::move(step);
  }
  if (!profile.empty()) {
    const auto measured = inference::read_measured(profile);
    if (!measured) return tl::unexpected(measured.error());
    if (!measured->warning.empty()) {
      note(fmt::format("profile {} {}", profile, measured->warning));
    }
    told.service.measured = std::make_shared<const inference::Fitted>(measured->step);
    if (measured->slots > 0 && measured->slots < options.sequences) {
      told.service.limits.sequences = measured->slots;
      note(fmt::format("profile {}: its server handled {} at a time, so replicas do too", profile,
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
  if (!told.plan) {
    note_too_long(told.service, told.requests, options.requests);
    for (const std::string& each : inference::slower_than_fewer_gpus(told.service)) note(each);
  }
  if (!told.requests.adapters.empty()) {
    told.service.adapters = options.adapters;
    told.service.adapter_rank = options.adapter_rank;
  }
  for (inference::Request& each : told.requests.all) each.arrival /= options.rate;
  return told;
}

}  // namespace almanac::cli
