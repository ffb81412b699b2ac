// SPDX-License-Identifier: Apache-2.0

/// \file
/// inference-sim (BLIS): times of iterations, runs of one engine, closed loops of sessions.
#include "serving/blis.h"

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "inference/profile/sheet.h"
#include "inference/registry.h"
#include "inference/request_log.h"
#include "inference/simulation.h"
#include "serving/blis_engine.h"
#include "serving/recipe/recipes.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "table/stream.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

using nlohmann::json;

/// What the trained model adds around iterations, whole microseconds.
struct Overheads {
  double queue = 0, end = 0, token = 0;
};

struct Trained {
  published::BlisTrained::Weights weights{};
  Overheads overheads{};
};

struct Engine {
  published::BlisLimits limits{};
  std::unique_ptr<StepTime> step{};
  Overheads overheads{};
};

Result<std::unique_ptr<StepTime>> step_time(const std::string& model_name,
                                            const std::string& board_name, int gpus,
                                            const published::BlisTrained::Weights* weights) {
  auto model = published::find_blis_model(model_name);
  if (!model) return tl::unexpected(model.error());
  auto board = published::find_blis_board(board_name);
  if (!board) return tl::unexpected(board.error());
  if (weights == nullptr) {
    return std::make_unique<published::BlisRoofline>(*model, *board, gpus);
  }
  return std::make_unique<published::BlisTrained>(*model, *board, gpus, *weights);
}

/// "0+512/512 16+32/48": done + fresh / prompt.
Result<Batch> parse_batch(const Sheet& sheet, std::size_t row) {
  Batch batch;
  const auto next = [](std::string_view& text, std::int32_t& value) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return true;
  };
  for (std::string_view text = sheet.text("prefills", row); !text.empty();) {
    Chunk& chunk = batch.prefills.emplace_back();
    if (!next(text, chunk.done) || !next(text, chunk.fresh) || !next(text, chunk.prompt)) {
      return fail(Code::invalid, fmt::format("prefills: \"{}\" is no list of done+fresh/prompt",
                                             sheet.text("prefills", row)));
    }
  }
  for (std::string_view text = sheet.text("decodes", row); !text.empty();) {
    std::int32_t context = 0;
    if (!next(text, context)) {
      return fail(Code::invalid, fmt::format("decodes: \"{}\" is no list of contexts",
                                             sheet.text("decodes", row)));
    }
    ++batch.decodes;
    batch.context += context;
  }
  return batch;
}

Result<void> compare_steps(const std::string& path, const Trained& trained, Comparison& made) {
  const auto sheet =
      Sheet::read(path, {"model", "gpu", "tp", "prefills", "decodes", "roofline_us", "trained_us"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto batch = parse_batch(*sheet, row);
    if (!batch) return tl::unexpected(batch.error());
    const auto gpus = sheet->number("tp", row);
    if (!gpus) return tl::unexpected(gpus.error());
    for (const char* column : {"roofline_us", "trained_us"}) {
      const bool fitted = std::string_view(column) == "trained_us";
      const auto step = step_time(sheet->text("model", row), sheet->text("gpu", row),
                                  static_cast<int>(*gpus), fitted ? &trained.weights : nullptr);
      if (!step) return tl::unexpected(step.error());
      const auto published = sheet->number(column, row);
      if (!published) return tl::unexpected(published.error());
      made.add(fmt::format("step {} {} x{} [{}] [{}] {}", sheet->text("model", row),
                           sheet->text("gpu", row), *gpus, sheet->text("prefills", row),
                           sheet->text("decodes", row), fitted ? "trained" : "roofline"),
               *published, (**step)(*batch), "us");
    }
  }
  return {};
}

/// First token and end from arrival, as the program reports them.
struct Latency {
  double ttft = 0;
  double e2e = 0;
  double itl = 0;  ///< Mean between two tokens.
};

Latency latency(const Request& request, const Outcome& outcome, const Overheads& overheads) {
  const double gaps = std::max(request.output, 1) - 1;
  const double ttft = outcome.first_token - request.arrival + overheads.token;
  const double decoding = outcome.decoding + gaps * overheads.token;
  return {ttft, ttft + decoding + overheads.end, gaps > 0 ? decoding / gaps : 0};
}

/// "azure_code_llama8b_h100_roofline_kv600_s256_t2048_chunk512" behind its workload.
Result<Engine> parse_engine(const std::string& name, const Trained& trained) {
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
  if (model.empty() || board.empty() || engine.limits.kv_blocks <= 0) {
    return fail(Code::invalid, "the name tells no model, board and KV blocks", {.file = name});
  }
  auto step = step_time(model, board, gpus, fitted ? &trained.weights : nullptr);
  if (!step) return tl::unexpected(step.error());
  engine.step = std::move(*step);
  if (fitted) engine.overheads = trained.overheads;
  return engine;
}

/// The blocks of prompts that are cut to what the run has of them.
Result<void> add_mooncake_blocks(const std::string& path, const Sheet& sheet, Requests& requests) {
  auto log = read_requests(path);
  if (!log) return tl::unexpected(log.error());
  for (std::size_t row = 0; row < requests.size(); ++row) {
    const auto position = sheet.number("request", row);
    if (!position) return tl::unexpected(position.error());
    const auto id = static_cast<RequestId>(*position);
    if (id >= log->size()) {
      return fail(Code::invalid, fmt::format("has no request {}", id), {.file = path});
    }
    Request& request = requests.all[row];
    request.first_block = (*log)[id].first_block;
    request.blocks = std::min<std::uint32_t>(
        (*log)[id].blocks, static_cast<std::uint32_t>((request.prompt + 511) / 512));
  }
  requests.blocks = std::move(log->blocks);
  requests.tokens_per_block = log->tokens_per_block;
  return {};
}

Result<void> compare_engine(const std::string& path, const Shared& shared, const Trained& trained,
                            Comparison& made) {
  const auto engine = parse_engine(stem(path), trained);
  if (!engine) return tl::unexpected(engine.error());
  const auto sheet = Sheet::read(
      path, {"request", "arrival_us", "input_tokens", "output_tokens", "ttft_us", "e2e_us"});
  if (!sheet) return tl::unexpected(sheet.error());
  const auto arrivals = sheet->numbers("arrival_us");
  const auto prompts = sheet->numbers("input_tokens");
  const auto outputs = sheet->numbers("output_tokens");
  const auto ttft = sheet->numbers("ttft_us");
  const auto e2e = sheet->numbers("e2e_us");
  for (const auto* column : {&arrivals, &prompts, &outputs, &ttft, &e2e}) {
    if (!*column) return tl::unexpected(column->error());
  }
  Requests requests;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    requests.all.push_back({.arrival = (*arrivals)[row],
                            .prompt = static_cast<std::int32_t>((*prompts)[row]),
                            .output = static_cast<std::int32_t>((*outputs)[row])});
  }
  if (stem(path).starts_with("mooncake")) {
    auto added = add_mooncake_blocks(shared.data + "/inference/mooncake_conversation.csv.gz",
                                     *sheet, requests);
    if (!added) return added;
  }
  published::BlisEngine simulation(std::move(requests), engine->limits, *engine->step,
                                   engine->overheads.queue);
  simulation.run();
  std::vector<double> our_ttft, our_e2e;
  for (RequestId id = 0; id < simulation.requests().size(); ++id) {
    const Outcome& outcome = simulation.outcomes()[id];
    const Latency ours = latency(simulation.requests()[id], outcome, engine->overheads);
    our_ttft.push_back(ours.ttft);
    our_e2e.push_back(ours.e2e);
  }
  made.add_column(stem(path) + ": TTFT", *ttft, our_ttft, "us");
  made.add_column(stem(path) + ": E2E", *e2e, our_e2e, "us");
  return {};
}

/// Sessions of one setup: each round follows the one before after a time to think.
struct Sessions {
  struct Session {
    double start = 0, think = 0;
    std::int32_t rounds = 0, prefix = 0, question = 0, output = 0, group = 0;
  };
  std::vector<Session> all{};
};

Result<Sessions> sessions_of(const Sheet& sheet, const std::string& setup) {
  Sessions made;
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    if (sheet.text("setup", row) != setup) continue;
    Sessions::Session session;
    const auto read = [&](const char* column, auto& into) -> Result<void> {
      const auto value = sheet.number(column, row);
      if (!value) return tl::unexpected(value.error());
      into = static_cast<std::remove_reference_t<decltype(into)>>(*value);
      return {};
    };
    for (const auto& done :
         {read("start_us", session.start), read("think_us", session.think),
          read("rounds", session.rounds), read("prefix_tokens", session.prefix),
          read("question_tokens", session.question), read("output_tokens", session.output),
          read("prefix_group", session.group)}) {
      if (!done) return tl::unexpected(done.error());
    }
    made.all.push_back(session);
  }
  return made;
}

struct Round {
  std::size_t session = 0;
  std::int32_t round = 0;
};

struct Played {
  std::unique_ptr<published::BlisEngine> simulation{};
  std::vector<Round> rounds{};  ///< By request.
};

Played play(const Sessions& sessions, const Engine& engine) {
  Played played;
  Requests requests;
  const std::int32_t block = engine.limits.block_tokens;
  requests.tokens_per_block = block;
  std::vector<Request> firsts;
  for (const Sessions::Session& each : sessions.all) {
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
  played.simulation = std::make_unique<published::BlisEngine>(std::move(requests), engine.limits,
                                                              *engine.step, engine.overheads.queue);
  published::BlisEngine& simulation = *played.simulation;
  for (std::size_t each = 0; each < firsts.size(); ++each) {
    simulation.submit(firsts[each]);
    played.rounds.push_back({each, 0});
  }
  simulation.on_finish([&](RequestId id, Micros now) {
    const Round done = played.rounds[id];
    const Sessions::Session& session = sessions.all[done.session];
    if (done.round + 1 >= session.rounds) return;
    Request next = simulation.requests()[id];
    next.arrival = now + session.think;
    simulation.submit(next);
    played.rounds.push_back({done.session, done.round + 1});
  });
  simulation.run();
  return played;
}

Result<void> compare_rounds(const std::string& path, const Played& played, const Engine& engine,
                            Comparison& made) {
  const auto sheet = Sheet::read(path, {"session", "round", "arrival_us", "ttft_us", "e2e_us"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::map<std::pair<double, double>, RequestId> ids;
  for (RequestId id = 0; id < played.rounds.size(); ++id) {
    ids[{static_cast<double>(played.rounds[id].session), played.rounds[id].round}] = id;
  }
  std::array<std::vector<double>, 3> published, ours;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto session = sheet->number("session", row);
    const auto round = sheet->number("round", row);
    if (!session) return tl::unexpected(session.error());
    if (!round) return tl::unexpected(round.error());
    const auto found = ids.find({*session, *round});
    if (found == ids.end()) {
      return fail(Code::invalid, fmt::format("session {} has no round {}", *session, *round),
                  {.file = path});
    }
    const Request& request = played.simulation->requests()[found->second];
    const Latency mine =
        latency(request, played.simulation->outcomes()[found->second], engine.overheads);
    const std::array values{request.arrival, mine.ttft, mine.e2e};
    std::size_t each = 0;
    for (const char* column : {"arrival_us", "ttft_us", "e2e_us"}) {
      const auto value = sheet->number(column, row);
      if (!value) return tl::unexpected(value.error());
      published[each].push_back(*value);
      ours[each].push_back(values[each]);
      ++each;
    }
  }
  made.add_column(stem(path) + ": arrival", published[0], ours[0], "us");
  made.add_column(stem(path) + ": TTFT", published[1], ours[1], "us");
  made.add_column(stem(path) + ": E2E", published[2], ours[2], "us");
  return {};
}

void compare_means(const std::string& what, const json& expected, const Played& played,
                   const Engine& engine, Comparison& made) {
  std::map<std::string, double, std::less<>> ours;
  std::vector<double> ttft, e2e, itl;
  for (RequestId id = 0; id < played.rounds.size(); ++id) {
    const Request& request = played.simulation->requests()[id];
    const Outcome& outcome = played.simulation->outcomes()[id];
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
    made.add(what + ": " + name, value.get<double>(), found->second, unit);
  }
}

Result<void> compare_sessions(const json& setups, const Shared& shared, const Trained& trained,
                              Comparison& made) {
  const std::string folder = shared.golden + "/blis/";
  const auto sheet = Sheet::read(folder + "sessions.csv",
                                 {"setup", "prefix_group", "start_us", "rounds", "think_us",
                                  "prefix_tokens", "question_tokens", "output_tokens"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (const json& setup : setups) {
    const auto name = setup.at("setup").get<std::string>();
    const auto sessions = sessions_of(*sheet, name);
    if (!sessions) return tl::unexpected(sessions.error());
    for (const auto& [latency_model, expected] : setup.at("expected").items()) {
      const bool fitted = latency_model == "trained_physics";
      Engine engine;
      engine.limits = {.sequences = setup.at("max_num_seqs").get<std::int32_t>(),
                       .tokens = setup.at("max_num_batched_tokens").get<std::int32_t>(),
                       .kv_blocks = setup.at("kv_blocks").get<std::int32_t>(),
                       .block_tokens = setup.at("block_tokens").get<std::int32_t>()};
      auto step =
          step_time(setup.at("model").get<std::string>(), setup.at("hardware").get<std::string>(),
                    setup.at("tp").get<int>(), fitted ? &trained.weights : nullptr);
      if (!step) return tl::unexpected(step.error());
      engine.step = std::move(*step);
      if (fitted) engine.overheads = trained.overheads;
      const Played played = play(*sessions, engine);
      const std::string requests =
          fmt::format("{}requests_{}_{}.csv.gz", folder, name, latency_model);
      if (std::filesystem::exists(requests)) {
        if (auto done = compare_rounds(requests, played, engine, made); !done) return done;
      }
      compare_means(fmt::format("setup {} {}", name, latency_model), expected, played, engine,
                    made);
    }
  }
  return {};
}

}  // namespace

Result<Comparison> compare_blis(const Shared& shared) try {
  const std::string folder = shared.golden + "/blis";
  const auto content = table::read_text_file(folder + "/setups.json");
  if (!content) return tl::unexpected(content.error());
  const json setups = json::parse(*content);
  Trained trained;
  for (std::size_t each = 0; each < trained.weights.size(); ++each) {
    trained.weights[each] = setups.at("beta").at(each).get<double>();
  }
  const auto alpha = setups.at("alpha_us").get<std::vector<double>>();
  trained.overheads = {std::floor(alpha.at(0)), std::floor(alpha.at(1)), std::floor(alpha.at(2))};

  Comparison made;
  if (auto done = compare_steps(folder + "/step_times.csv", trained, made); !done) {
    made.fail(done.error());
  }
  const auto runs = files(folder, "", ".csv.gz");
  if (!runs) return tl::unexpected(runs.error());
  for (const std::string& path : *runs) {
    if (stem(path).starts_with("requests_")) continue;
    if (auto done = compare_engine(path, shared, trained, made); !done) made.fail(done.error());
  }
  if (auto done = compare_sessions(setups.at("setups"), shared, trained, made); !done) {
    made.fail(done.error());
  }
  return made;
} catch (const json::exception& error) {
  return fail(Code::invalid, error.what(), {.file = shared.golden + "/blis/setups.json"});
}

}  // namespace almanac::inference
