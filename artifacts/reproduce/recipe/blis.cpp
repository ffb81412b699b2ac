// SPDX-License-Identifier: Apache-2.0

/// \file
/// inference-sim (BLIS): times of iterations, runs of one engine, closed loops of sessions.
#include "serving/blis.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "inference/request_log.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "serving/blis_engine.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_blis(Recipes& registry);

namespace blis_recipe {
namespace {

using namespace inference;
using namespace serving;

constexpr const char* kLog = "data/inference/mooncake_conversation.csv";
constexpr const char* kSetups = "golden/blis/setups.json";
constexpr const char* kSteps = "golden/blis/step_times.csv";
constexpr const char* kRuns = "golden/blis/*_kv*.csv";

/// What the trained model adds around iterations, whole microseconds.
struct Overheads {
  double queue = 0, end = 0, token = 0;
};

struct Trained {
  BlisTrained::Weights weights{};
  Overheads overheads{};
};

struct Engine {
  BlisLimits limits{};
  std::unique_ptr<StepTime> step{};
  Overheads overheads{};
};

std::unique_ptr<StepTime> step_time(const std::string& model_name, const std::string& board_name,
                                    int gpus, const BlisTrained::Weights* weights) {
  const BlisModel model = value_or_throw(find_blis_model(model_name));
  const BlisBoard board = value_or_throw(find_blis_board(board_name));
  if (weights == nullptr) return std::make_unique<BlisRoofline>(model, board, gpus);
  return std::make_unique<BlisTrained>(model, board, gpus, *weights);
}

Trained read_trained(const Json& setups) {
  Trained trained;
  for (std::size_t each = 0; each < trained.weights.size(); ++each) {
    trained.weights[each] = setups.at("beta").at(each);
  }
  const auto alpha = setups.at("alpha_us").get<std::vector<double>>();
  trained.overheads = {std::floor(alpha.at(0)), std::floor(alpha.at(1)), std::floor(alpha.at(2))};
  return trained;
}

/// "0+512/512 16+32/48": done + fresh / prompt.
Batch parse_batch(const Rows& rows) {
  Batch batch;
  const auto next = [&](std::string_view& text, const char* column) {
    std::int32_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    rows.require(error == std::errc{}, fmt::format("{}: cannot read '{}'", column, text));
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return value;
  };
  for (std::string_view text = rows.text("prefills"); !text.empty();) {
    Chunk& chunk = batch.prefills.emplace_back();
    chunk.done = next(text, "prefills");
    chunk.fresh = next(text, "prefills");
    chunk.prompt = next(text, "prefills");
  }
  for (std::string_view text = rows.text("decodes"); !text.empty();) {
    ++batch.decodes;
    batch.context += next(text, "decodes");
  }
  return batch;
}

void compare_steps(Bench& bench, const File& file, const Trained& trained) {
  Rows rows(file.path, {"model", "gpu", "tp", "prefills", "decodes", "roofline_us", "trained_us"});
  while (rows.next()) {
    const Batch batch = parse_batch(rows);
    const std::string model(rows.text("model")), board(rows.text("gpu"));
    const double gpus = rows.number("tp");
    for (const bool fitted : {false, true}) {
      const auto step =
          step_time(model, board, static_cast<int>(gpus), fitted ? &trained.weights : nullptr);
      const std::string name = fitted ? "trained" : "roofline";
      bench.add(fmt::format("step {} {} x{} [{}] [{}] {}", model, board, gpus,
                            rows.text("prefills"), rows.text("decodes"), name),
                rows.number(name + "_us"), (*step)(batch), "us");
    }
  }
}

/// First token and end from arrival, as the program reports them.
struct Latency {
  double ttft = 0;
  double e2e = 0;
  double itl = 0;  ///< Mean between two tokens.
};

Latency latency(const Request& request, const inference::Outcome& outcome,
                const Overheads& overheads) {
  const double gaps = std::max(request.output, 1) - 1;
  const double ttft = outcome.first_token - request.arrival + overheads.token;
  const double decoding = outcome.decoding + gaps * overheads.token;
  return {ttft, ttft + decoding + overheads.end, gaps > 0 ? decoding / gaps : 0};
}

/// "azure_code_llama8b_h100_roofline_kv600_s256_t2048_chunk512" behind its workload.
Engine parse_engine(const std::string& name, const Trained& trained) {
  Engine engine;
  const std::map<std::string, std::string, std::less<>> short_names{
      {"llama7b", "llama-2-7b"},      {"llama8b", "llama-3.1-8b"}, {"llama70b", "llama-3.1-70b"},
      {"qwen7b", "qwen2.5-7b"},       {"yi34b", "yi-34b"},         {"nemo", "mistral-nemo"},
      {"scout", "llama-4-scout"},     {"mixtral", "mixtral-8x7b"}, {"mistralnemo", "mistral-nemo"},
      {"mixtral8x7b", "mixtral-8x7b"}};
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  std::string model, board;
  int gpus = 1;
  bool fitted = false;
  for (const std::string& part : parts) {
    const auto number = [&](std::string_view prefix) -> std::optional<std::int32_t> {
      if (!part.starts_with(prefix)) return std::nullopt;
      const auto value = text::parse_whole(std::string_view(part).substr(prefix.size()));
      return value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
    };
    if (const auto found = short_names.find(part); found != short_names.end()) {
      model = found->second;
    } else if (part == "trained" || part == "roofline") {
      fitted = part == "trained";
    } else if (const auto blocks = number("kv")) {
      engine.limits.kv_blocks = *blocks;
    } else if (const auto sequences = number("s")) {
      engine.limits.sequences = *sequences;
    } else if (const auto tokens = number("t")) {
      engine.limits.tokens = *tokens;
    } else if (const auto chunk = number("chunk")) {
      engine.limits.chunk = *chunk;
    } else if (!model.empty() && board.empty()) {
      board = part.substr(0, part.find('x'));
      if (board.size() < part.size()) {
        gpus = static_cast<int>(text::parse_whole(part.substr(board.size() + 1)).value_or(1));
      }
    }
  }
  require(!model.empty() && !board.empty() && engine.limits.kv_blocks > 0,
          "the name tells no model, board and KV blocks");
  engine.step = step_time(model, board, gpus, fitted ? &trained.weights : nullptr);
  if (fitted) engine.overheads = trained.overheads;
  return engine;
}

/// Adds the blocks of prompts that are cut to what the run has of them. `positions` are those of
/// the requests in the log.
void add_blocks(const Requests& log, const std::vector<double>& positions, Requests& requests) {
  for (std::size_t row = 0; row < requests.size(); ++row) {
    const auto id = static_cast<RequestId>(positions[row]);
    require(id < log.size(), fmt::format("the log has no request {}", id));
    Request& request = requests.all[row];
    request.first_block = log[id].first_block;
    request.blocks = std::min<std::uint32_t>(
        log[id].blocks, static_cast<std::uint32_t>((request.prompt + 511) / 512));
  }
  requests.blocks = log.blocks;
  requests.tokens_per_block = log.tokens_per_block;
}

void compare_engine(Bench& bench, const File& file, const Requests& log, const Trained& trained) {
  const Engine engine = parse_engine(file.stem, trained);
  const auto published = read_columns(
      file.path, {"request", "arrival_us", "input_tokens", "output_tokens", "ttft_us", "e2e_us"});
  const std::vector<double>& arrivals = published.at("arrival_us");
  Requests requests;
  for (std::size_t row = 0; row < arrivals.size(); ++row) {
    requests.all.push_back(
        {.arrival = arrivals[row],
         .prompt = static_cast<std::int32_t>(published.at("input_tokens")[row]),
         .output = static_cast<std::int32_t>(published.at("output_tokens")[row])});
  }
  if (file.stem.starts_with("mooncake")) add_blocks(log, published.at("request"), requests);
  BlisEngine simulation(std::move(requests), engine.limits, *engine.step, engine.overheads.queue);
  simulation.run();
  std::vector<double> ttft, e2e;
  for (RequestId id = 0; id < simulation.requests().size(); ++id) {
    const Latency ours =
        latency(simulation.requests()[id], simulation.outcomes()[id], engine.overheads);
    ttft.push_back(ours.ttft);
    e2e.push_back(ours.e2e);
  }
  bench.add_column(file.stem + ": TTFT", published.at("ttft_us"), ttft, "us");
  bench.add_column(file.stem + ": E2E", published.at("e2e_us"), e2e, "us");
}

/// A session of which each round follows the one before after a time to think.
struct Session {
  double start = 0, think = 0;
  std::int32_t rounds = 0, prefix = 0, question = 0, output = 0, group = 0;
};

/// The sessions of each setup.
std::map<std::string, std::vector<Session>> read_sessions(const std::string& path) {
  std::map<std::string, std::vector<Session>> made;
  Rows rows(path, {"setup", "prefix_group", "start_us", "rounds", "think_us", "prefix_tokens",
                   "question_tokens", "output_tokens"});
  while (rows.next()) {
    const auto whole = [&](const char* column) {
      return static_cast<std::int32_t>(rows.number(column));
    };
    made[std::string(rows.text("setup"))].push_back({.start = rows.number("start_us"),
                                                     .think = rows.number("think_us"),
                                                     .rounds = whole("rounds"),
                                                     .prefix = whole("prefix_tokens"),
                                                     .question = whole("question_tokens"),
                                                     .output = whole("output_tokens"),
                                                     .group = whole("prefix_group")});
  }
  return made;
}

struct Round {
  std::size_t session = 0;
  std::int32_t round = 0;
};

struct Played {
  std::unique_ptr<BlisEngine> simulation{};
  std::vector<Round> rounds{};  ///< By request.
};

Played play(const std::vector<Session>& sessions, const Engine& engine) {
  Played played;
  Requests requests;
  const std::int32_t block = engine.limits.block_tokens;
  requests.tokens_per_block = block;
  std::vector<Request> firsts;
  for (const Session& each : sessions) {
    Request request{.arrival = each.start,
                    .prompt = each.prefix + each.question,
                    .output = each.output,
                    .first_block = static_cast<std::uint32_t>(requests.blocks.size()),
                    .blocks = static_cast<std::uint32_t>(each.prefix / block)};
    for (std::uint32_t id = 0; id < request.blocks; ++id) {
      requests.blocks.push_back((static_cast<std::uint64_t>(each.group) << 32) + id);
    }
    firsts.push_back(request);
  }
  played.simulation = std::make_unique<BlisEngine>(std::move(requests), engine.limits, *engine.step,
                                                   engine.overheads.queue);
  BlisEngine& simulation = *played.simulation;
  for (std::size_t each = 0; each < firsts.size(); ++each) {
    simulation.submit(firsts[each]);
    played.rounds.push_back({each, 0});
  }
  simulation.on_finish([&](RequestId id, Micros now) {
    const Round done = played.rounds[id];
    const Session& session = sessions[done.session];
    if (done.round + 1 >= session.rounds) return;
    Request next = simulation.requests()[id];
    next.arrival = now + session.think;
    simulation.submit(next);
    played.rounds.push_back({done.session, done.round + 1});
  });
  simulation.run();
  return played;
}

void compare_rounds(Bench& bench, const File& file, const Played& played, const Engine& engine) {
  std::map<std::pair<double, double>, RequestId> ids;
  for (RequestId id = 0; id < played.rounds.size(); ++id) {
    ids[{static_cast<double>(played.rounds[id].session), played.rounds[id].round}] = id;
  }
  const auto published =
      read_columns(file.path, {"session", "round", "arrival_us", "ttft_us", "e2e_us"});
  std::vector<double> arrival, ttft, e2e;
  for (std::size_t row = 0; row < published.at("session").size(); ++row) {
    const double session = published.at("session")[row], round = published.at("round")[row];
    const auto found = ids.find({session, round});
    require(found != ids.end(), fmt::format("session {} has no round {}", session, round));
    const Request& request = played.simulation->requests()[found->second];
    const Latency mine =
        latency(request, played.simulation->outcomes()[found->second], engine.overheads);
    arrival.push_back(request.arrival);
    ttft.push_back(mine.ttft);
    e2e.push_back(mine.e2e);
  }
  bench.add_column(file.stem + ": arrival", published.at("arrival_us"), arrival, "us");
  bench.add_column(file.stem + ": TTFT", published.at("ttft_us"), ttft, "us");
  bench.add_column(file.stem + ": E2E", published.at("e2e_us"), e2e, "us");
}

void compare_means(Bench& bench, const std::string& what, const Json& expected,
                   const Played& played, const Engine& engine) {
  std::map<std::string, double, std::less<>> ours;
  std::vector<double> ttft, e2e, itl;
  for (RequestId id = 0; id < played.rounds.size(); ++id) {
    const Request& request = played.simulation->requests()[id];
    const inference::Outcome& outcome = played.simulation->outcomes()[id];
    if (outcome.finish == kNever) continue;
    const Latency mine = latency(request, outcome, engine.overheads);
    ttft.push_back(mine.ttft / 1e3);
    e2e.push_back(mine.e2e / 1e3);
    itl.push_back(mine.itl / 1e3);
    ours["total_input_tokens"] += request.prompt;
    ours["total_output_tokens"] += request.output;
    ours["ttft_sum_us"] += mine.ttft;
  }
  ours["completed_requests"] = static_cast<double>(ttft.size());
  ours["ttft_mean_ms"] = stats::mean(ttft);
  ours["e2e_mean_ms"] = stats::mean(e2e);
  ours["itl_mean_ms"] = stats::mean(itl);
  ours["ttft_p90_ms"] = stats::quantile(ttft, 0.90);
  ours["ttft_p99_ms"] = stats::quantile(ttft, 0.99);
  ours["e2e_p90_ms"] = stats::quantile(e2e, 0.90);
  ours["e2e_p99_ms"] = stats::quantile(e2e, 0.99);
  for (const auto& [name, value] : expected.items()) {
    const auto found = ours.find(name);
    if (found == ours.end() || !value.is_number()) continue;
    const std::string unit = name.ends_with("_ms") ? "ms" : name.ends_with("_us") ? "us" : "";
    bench.add(what + ": " + name, value.get<double>(), found->second, unit);
  }
}

void compare_sessions(Bench& bench, const File& file, const Trained& trained) {
  const auto sessions = read_sessions(bench.beside(file, "sessions.csv").path);
  const Json all = read_json(file);
  for (const Json& setup : all.at("setups")) {
    const auto name = setup.at("setup").get<std::string>();
    require(sessions.contains(name), fmt::format("setup {} has no sessions", name));
    for (const auto& [latency_model, expected] : setup.at("expected").items()) {
      const bool fitted = latency_model == "trained_physics";
      const Engine engine{.limits = {.sequences = setup.at("max_num_seqs"),
                                     .tokens = setup.at("max_num_batched_tokens"),
                                     .kv_blocks = setup.at("kv_blocks"),
                                     .block_tokens = setup.at("block_tokens")},
                          .step = step_time(setup.at("model"), setup.at("hardware"), setup.at("tp"),
                                            fitted ? &trained.weights : nullptr),
                          .overheads = fitted ? trained.overheads : Overheads{}};
      const Played played = play(sessions.at(name), engine);
      const auto requests =
          bench.find(fmt::format("golden/blis/requests_{}_{}.csv", name, latency_model));
      if (requests) compare_rounds(bench, *requests, played, engine);
      compare_means(bench, fmt::format("setup {} {}", name, latency_model), expected, played,
                    engine);
    }
  }
}

void make(Bench& bench) {
  std::optional<Trained> trained;
  bench.each(kSetups, [&](const File& file) { trained = read_trained(read_json(file)); });
  if (!trained) return;
  Requests log;
  bench.each(kLog, [&](const File& file) { log = value_or_throw(read_requests(file.path)); });
  bench.each(kSteps, [&](const File& file) { compare_steps(bench, file, *trained); });
  bench.each(kRuns, [&](const File& file) { compare_engine(bench, file, log, *trained); });
  bench.each(kSetups, [&](const File& file) { compare_sessions(bench, file, *trained); });
}

}  // namespace
}  // namespace blis_recipe

void register_blis(Recipes& registry) {
  using namespace blis_recipe;
  registry.add({.name = "blis",
                .summary = "iterations, requests and sessions of inference-sim, one by one",
                .paper = "inference-sim (BLIS)",
                .kind = Kind::rerun,
                .needs = {{kSetups, "golden set of github.com/inference-sim/inference-sim"},
                          {kLog, "requests of github.com/kvcache-ai/Mooncake"},
                          {kSteps, "step times of inference-sim"},
                          {kRuns, "its engine on public logs"}},
                .make = make});
}

}  // namespace almanac::reproduce
