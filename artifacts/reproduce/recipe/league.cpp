// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of vLLM servers that others measured, next to the simulation that the commands use, and
/// next to what other simulators predicted of the same runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "inference/service.h"
#include "inference/simulation.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/mean.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_league(Recipes& registry);

namespace league_recipe {
namespace {

using namespace inference;

constexpr const char* kBlis = "data/llm/league/blis_runs.csv";
constexpr const char* kPredictions = "data/llm/league/blis_errors.csv";
constexpr const char* kInferencex = "data/llm/league/aic_silicon_sample.csv";
constexpr const char* kInferencePerf = "data/llm/league/inference_perf_kubecon.csv";

/// A stage of a run: requests come evenly, and cycle through `prompts` different prompts; 0 =
/// every prompt is new.
struct Stage {
  double per_s = 0, seconds = 0;
  std::int32_t prompt = 0, output = 0;
  std::size_t prompts = 0;
};

/// The stages of a run, one after the other. Stages longer than kLongest_s are cut to it.
Requests requests_of(const std::vector<Stage>& stages) {
  constexpr std::int32_t kBlock = 16;
  constexpr double kLongest_s = 300;  // the load stays as it is
  Requests made;
  made.tokens_per_block = kBlock;
  double began = 0;
  std::size_t drawn = 0;
  for (const Stage& stage : stages) {
    const double seconds = std::min(stage.seconds, kLongest_s);
    const auto count = static_cast<std::size_t>(stage.per_s * seconds);
    const auto blocks =
        stage.prompts > 0 ? static_cast<std::uint32_t>(stage.prompt / kBlock) : std::uint32_t{0};
    for (std::size_t each = 0; each < count; ++each, ++drawn) {
      made.all.push_back({.arrival = 1e6 * (began + static_cast<double>(each) / stage.per_s),
                          .prompt = stage.prompt,
                          .output = stage.output,
                          .first_block = static_cast<std::uint32_t>(made.blocks.size()),
                          .blocks = blocks});
      for (std::uint32_t block = 0; block < blocks; ++block) {
        made.blocks.push_back((drawn % stage.prompts) * 100'000 + block);
      }
    }
    began += seconds;
  }
  return made;
}

/// A metric of a run and how far a prediction of it is off, relative to what was measured.
using Metric = std::string;
using ErrorsOfRun = std::map<Metric, double>;

double mean_size(const std::vector<double>& all) {
  std::vector<double> sizes = all;
  for (double& each : sizes) each = std::abs(each);
  return stats::mean(sizes);
}

/// Our errors, in percent, by set ("evaluation"), run and metric.
class League {
 public:
  struct Run {
    std::string set, id, board;
  };
  void add(const Run& run, const Metric& metric, double measured, double ours) {
    const double error = 100 * (ours / measured - 1);
    by_board_[{run.set, run.board, metric}].push_back(error);
    ours_[{run.set, run.id}][metric] = error;
  }
  /// Adds what another simulator predicted of a run.
  void add_other(const std::string& set, const std::string& simulator, const std::string& id,
                 const Metric& metric, double error) {
    const auto ours = ours_.find({set, id});
    if (ours == ours_.end() || !ours->second.contains(metric)) return;
    others_[{set, simulator, metric}][id] = error;
  }
  void summarize(Bench& bench) const {
    for (const auto& [key, all] : by_board_) {
      const auto& [set, board, metric] = key;
      bench.add(
          fmt::format("{}, {}: mean absolute error of {}, {} runs", set, board, metric, all.size()),
          0, mean_size(all), "%");
      bench.add(fmt::format("{}, {}: mean error of {}", set, board, metric), 0, stats::mean(all),
                "%");
      if (set == "evaluation" && metric == "e2e_mean") {
        const Board claims = value_or_throw(find_board(board));
        bench.add(fmt::format("error of e2e that {} claims, {} of {} runs", board,
                              claims.checked_runs, all.size()),
                  100 * claims.end_to_end_error, mean_size(all), "%");
      }
    }
    for (const auto& [key, errors] : others_) {
      const auto& [set, simulator, metric] = key;
      std::vector<double> theirs, ours;
      for (const auto& [id, error] : errors) {
        theirs.push_back(error);
        ours.push_back(ours_.at({set, id}).at(metric));
      }
      bench.add(fmt::format("{}: mean absolute error of {} on the {} of {} runs that {} covers",
                            set, metric, theirs.size(), runs_of(set), simulator),
                mean_size(theirs), mean_size(ours), "%");
    }
  }

 private:
  std::size_t runs_of(const std::string& set) const {
    std::size_t count = 0;
    for (const auto& [run, errors] : ours_) count += run.first == set ? 1 : 0;
    return count;
  }
  std::map<std::tuple<std::string, std::string, Metric>, std::vector<double>> by_board_;
  std::map<std::pair<std::string, std::string>, ErrorsOfRun> ours_;
  std::map<std::tuple<std::string, std::string, Metric>, std::map<std::string, double>> others_;
};

struct Measured {
  double first_token_ms = 0, per_token_ms = 0, end_to_end_ms = 0;
  double first_token_p99_ms = 0, end_to_end_p99_ms = 0;
};

void compare_run(Bench& bench, const std::string& what, const League::Run& run,
                 const Service& service, const std::vector<Stage>& stages, const Measured& measured,
                 League& league) {
  const Requests requests = requests_of(stages);
  const Seen seen = summarize(requests, value_or_throw(play(service, requests)), {});
  const std::array figures{
      std::tuple("ttft_mean", measured.first_token_ms, seen.first_token.mean / 1e3),
      std::tuple("itl_mean", measured.per_token_ms, seen.per_token.mean / 1e3),
      std::tuple("e2e_mean", measured.end_to_end_ms, seen.end_to_end.mean / 1e3),
      std::tuple("ttft_p99", measured.first_token_p99_ms, seen.first_token.p99 / 1e3),
      std::tuple("e2e_p99", measured.end_to_end_p99_ms, seen.end_to_end.p99 / 1e3)};
  for (const auto& [metric, theirs, ours] : figures) {
    bench.add(fmt::format("{}: {}", what, metric), theirs, ours, "ms");
    league.add(run, metric, theirs, ours);
  }
}

/// "8x600s;20x600s": requests per second and seconds.
std::vector<Stage> stages_of(const Rows& rows) {
  std::vector<Stage> made;
  std::string_view all = rows.text("stages");
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find(';'));
    all.remove_prefix(std::min(one.size() + 1, all.size()));
    const std::size_t times = std::min(one.find('x'), one.size());
    const auto rate = text::parse_decimal(one.substr(0, times));
    const auto seconds = one.ends_with('s') && times < one.size()
                             ? text::parse_decimal(one.substr(times + 1, one.size() - times - 2))
                             : std::nullopt;
    rows.require(rate && seconds && *rate > 0,
                 fmt::format("stages: expected as 8x600s, found '{}'", one));
    made.push_back({.per_s = *rate, .seconds = *seconds});
  }
  rows.require(!made.empty(), "stages: expected at least one");
  return made;
}

/// A model that is known by name, or the one among them of which experts and feed-forward parts are
/// stored at 8 bits.
Model model_of(const std::string& name) {
  if (name != "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic") {
    return value_or_throw(find_model(name));
  }
  Model model = value_or_throw(find_model("llama-4-scout"));
  model.dense = model.experts = {1, Arithmetic::fp8};
  return model;
}

/// vLLM 0.15.1 on H100, A100 and L40S, with its prefix cache. Each user has one prompt, which
/// inference-perf sends again and again, with about 15 tokens of a template besides.
void compare_showdown(Bench& bench, const File& file, League& league) {
  Rows rows(file.path, {"set",
                        "exp_id",
                        "stage",
                        "model",
                        "hardware",
                        "tp",
                        "stages",
                        "max_num_seqs",
                        "max_num_batched_tokens",
                        "prefix_len",
                        "question_len",
                        "output_len",
                        "users_per_prefix",
                        "n_prefixes",
                        "e2e_mean",
                        "itl_mean",
                        "ttft_mean",
                        "e2e_p99",
                        "ttft_p99",
                        "workload"});
  while (rows.next()) {
    const auto whole = [&](const char* column) {
      return static_cast<std::int32_t>(rows.number(column));
    };
    if (whole("stage") >= 0) continue;  // a part of the run
    constexpr std::int32_t kTemplate = 15;
    std::vector<Stage> stages = stages_of(rows);
    for (Stage& each : stages) {
      each.prompt = whole("prefix_len") + whole("question_len") + kTemplate;
      each.output = whole("output_len");
      each.prompts =
          static_cast<std::size_t>(std::max(1, whole("n_prefixes") * whole("users_per_prefix")));
    }
    const Service service{.model = model_of(std::string(rows.text("model"))),
                          .board = value_or_throw(find_board(std::string(rows.text("hardware")))),
                          .gpus = whole("tp"),
                          .limits = {.sequences = whole("max_num_seqs"),
                                     .tokens = whole("max_num_batched_tokens"),
                                     .reuse = true}};
    const League::Run run{std::string(rows.text("set")), std::string(rows.text("exp_id")),
                          service.board.name};
    compare_run(bench,
                fmt::format("{} on {} {}, {}, {} run {}", service.model.name, service.gpus,
                            service.board.name, rows.text("workload"), run.set, run.id),
                run, service, stages,
                {rows.number("ttft_mean"), rows.number("itl_mean"), rows.number("e2e_mean"),
                 rows.number("ttft_p99"), rows.number("e2e_p99")},
                league);
  }
}

/// What the simulators of inference-sim's comparison predicted of these runs.
void read_predictions(const File& file, League& league) {
  Rows rows(file.path,
            {"set", "source", "simulator", "exp_id", "stage", "metric", "predicted", "actual"});
  while (rows.next()) {
    if (rows.number("stage") >= 0 || rows.text("source") == "iter26") continue;
    league.add_other(std::string(rows.text("set")), std::string(rows.text("simulator")),
                     std::string(rows.text("exp_id")), std::string(rows.text("metric")),
                     100 * (rows.number("predicted") / rows.number("actual") - 1));
  }
}

/// vLLM 0.11.0 on one H100 without prefix cache, by inference-perf, at the rates that it kept up
/// with; the time per token is (E2E - TTFT) / (tokens - 1), for its own counts events of the
/// stream.
void compare_inference_perf(Bench& bench, const File& file, League& league) {
  constexpr std::int32_t kSequences = 128;
  const Service service{.model = value_or_throw(find_model("llama-3.1-8b")),
                        .board = value_or_throw(find_board("h100")),
                        .limits = {.sequences = kSequences}};
  Rows rows(file.path,
            {"setup", "requested_rps", "achieved_rps", "requests_per_s", "prompt_tokens_mean",
             "output_tokens_mean", "ttft_mean_ms", "e2e_mean_ms", "ttft_p99_ms", "e2e_p99_ms"});
  while (rows.next()) {
    constexpr double kKeptUp = 0.9;
    if (rows.text("setup") != "vllm") continue;
    const double rate = rows.number("requested_rps");
    if (rows.number("requests_per_s") < kKeptUp * rate) continue;
    const double output = rows.number("output_tokens_mean");
    const double first = rows.number("ttft_mean_ms"), whole = rows.number("e2e_mean_ms");
    const Stage stage{
        .per_s = rate,
        .seconds = 60,
        .prompt = static_cast<std::int32_t>(std::lround(rows.number("prompt_tokens_mean"))),
        .output = static_cast<std::int32_t>(std::lround(output))};
    compare_run(
        bench, fmt::format("{} on h100, inference-perf at {:.4g}/s", service.model.name, rate),
        {"inference-perf", fmt::format("{:.4g}", rate), service.board.name}, service, {stage},
        {first, (whole - first) / (output - 1), whole, rows.number("ttft_p99_ms"),
         rows.number("e2e_p99_ms")},
        league);
  }
}

/// A checkpoint of InferenceX by the name of the model here and how its weights are stored; nothing
/// for one that is not known.
std::optional<Model> checkpoint_of(std::string_view path, std::string_view precision) {
  static const std::map<std::string, std::string, std::less<>> kNames{
      {"MiniMaxAI/MiniMax-M2.5", "minimax-m2.5"},
      {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"},
      {"Qwen/Qwen3-32B", "qwen3-32b"},
      {"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
      {"nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b"},
      {"openai/gpt-oss-120b", "gpt-oss-120b"}};
  const auto name = kNames.find(path);
  if (name == kNames.end()) return std::nullopt;
  Model model = value_or_throw(find_model(name->second));
  if (model.type == "gpt_oss") return model;
  const bool blocks =
      path.find("MiniMax") != std::string_view::npos || path.find("235B") != std::string_view::npos;
  const Precision fp8{blocks ? 1 + 4.0 / (128 * 128) : 1, Arithmetic::fp8};
  const Precision fp4{4.5 / 8, Arithmetic::fp4};
  if (precision == "fp8") model.attention = model.dense = model.experts = fp8;
  if (precision == "fp4") model.attention = model.dense = model.experts = fp4;
  return model;
}

/// So many requests at a time for so long that each place answers `kRounds`. A client sends the
/// next request when it has seen the end of the last.
Seen play_closed_loop(const Service& service, const Request& each, std::size_t together) {
  constexpr std::size_t kRounds = 4;
  const Parts made = value_or_throw(parts(service));
  Requests first;
  for (std::size_t at = 0; at < together; ++at) first.all.push_back(each);
  Simulation simulation(first);
  made.open(simulation, 1);
  std::size_t left = (kRounds - 1) * together;
  simulation.on_finish([&](RequestId, Micros now) {
    if (left == 0) return;
    --left;
    Request next = each;
    next.arrival = now + made.limits.front;
    simulation.submit(next);
  });
  simulation.run(*made.router);
  return summarize(simulation.requests(), simulation.outcomes(), {});
}

/// vLLM servers of InferenceX, with a fixed number of requests in flight. Lengths are 0.8 to 1
/// times the nominal ones.
void compare_closed_loops(Bench& bench, const File& file) {
  constexpr double kLength = 0.9;
  constexpr std::int32_t kTokens = 8192;
  Rows rows(file.path, {"backend", "mode", "model_path", "system", "precision", "isl", "osl",
                        "tp_size", "pp_size", "attention_dp_size", "silicon_concurrency",
                        "batch_size", "silicon_ttft_ms", "silicon_tpot_ms"});
  std::map<std::string, std::map<Metric, std::vector<double>>> errors;
  std::map<std::pair<std::string, std::string>, std::vector<double>> as_built_in;  // end to end
  std::size_t all = 0;
  while (rows.next()) {
    if (rows.text("backend") != "vllm" || rows.text("mode") != "agg") continue;
    ++all;
    const auto model = checkpoint_of(rows.text("model_path"), rows.text("precision"));
    if (!model) continue;
    const auto whole = [&](const char* column) {
      const double value = rows.number_or_nan(column);  // empty if it does not divide anything
      return std::isnan(value) ? 1 : static_cast<std::int32_t>(value);
    };
    const std::int32_t own = whole("attention_dp_size");
    // Runs of AIConfigurator's own have the batch in place of the number in flight.
    const auto together = static_cast<std::size_t>(
        std::isnan(rows.number_or_nan("silicon_concurrency")) ? whole("batch_size")
                                                              : whole("silicon_concurrency"));
    const Service service{.model = *model,
                          .board = value_or_throw(find_board(rows.text("system"))),
                          .gpus = whole("tp_size") * own,
                          .stages = whole("pp_size"),
                          .limits = {.sequences = 1024, .tokens = kTokens * own},
                          .data_attention = own > 1};
    const Request request{.prompt = static_cast<std::int32_t>(kLength * rows.number("isl")),
                          .output = static_cast<std::int32_t>(kLength * rows.number("osl"))};
    if (fitting_blocks(service) < 1) continue;
    const Seen seen = play_closed_loop(service, request, together);
    auto& of =
        errors[fmt::format("{} {} on {}", model->name, rows.text("precision"), service.board.name)];
    const double ttft = rows.number("silicon_ttft_ms"), tpot = rows.number("silicon_tpot_ms");
    const double end = ttft + (request.output - 1) * tpot;
    of["tpot"].push_back(100 * (seen.per_token.mean / 1e3 / tpot - 1));
    of["ttft"].push_back(100 * (seen.first_token.mean / 1e3 / ttft - 1));
    of["e2e"].push_back(100 * (seen.end_to_end.mean / 1e3 / end - 1));
    if (model->bytes() == value_or_throw(find_model(model->name)).bytes()) {
      as_built_in[{service.board.name, model->name}].push_back(of["e2e"].back());
    }
  }
  for (const auto& [built_in, of] : as_built_in) {
    const auto& [board, model] = built_in;
    for (const CheckedModel& each : value_or_throw(find_board(board)).checked_models) {
      if (each.model != model) continue;
      bench.add(fmt::format("error of e2e that {} claims for {}, {} of {} runs", board, model,
                            each.runs, of.size()),
                100 * each.end_to_end_error, mean_size(of), "%");
    }
  }
  std::map<Metric, std::vector<double>> total;
  for (const auto& [what, metrics] : errors) {
    for (const auto& [metric, of] : metrics) {
      bench.add(fmt::format("InferenceX, {}: mean absolute error of {}, {} runs", what, metric,
                            of.size()),
                0, mean_size(of), "%");
      bench.add(fmt::format("InferenceX, {}: mean error of {}", what, metric), 0, stats::mean(of),
                "%");
      total[metric].insert(total[metric].end(), of.begin(), of.end());
    }
  }
  for (const auto& [metric, of] : total) {
    bench.add(fmt::format("InferenceX: mean absolute error of {}, {} of {} runs of vLLM", metric,
                          of.size(), all),
              0, mean_size(of), "%");
    bench.add(fmt::format("InferenceX: mean error of {}", metric), 0, stats::mean(of), "%");
  }
}

void make(Bench& bench) {
  League league;
  bench.each(kBlis, [&](const File& file) { compare_showdown(bench, file, league); });
  bench.each(kInferencePerf,
             [&](const File& file) { compare_inference_perf(bench, file, league); });
  bench.each(kPredictions, [&](const File& file) { read_predictions(file, league); });
  league.summarize(bench);
  bench.each(kInferencex, [&](const File& file) { compare_closed_loops(bench, file); });
  bench.note(
      "The training runs were used for fitting: the engine's time per step, sequence and layer, "
      "and the time before the engine. Nothing was fitted to the others.");
}

}  // namespace
}  // namespace league_recipe

void register_league(Recipes& registry) {
  using namespace league_recipe;
  registry.add({.name = "league",
                .summary = "measured runs of vLLM servers, and how far simulators are off",
                .paper = "inference-sim's validation runs; inference-perf",
                .kind = Kind::measured,
                .needs = {{kBlis, "runs that inference-sim was validated with"},
                          {kInferencePerf, "runs of github.com/kubernetes-sigs/inference-perf"},
                          {kPredictions,
                           "what simulators predicted of the first, as inference-sim published",
                           Kind::rerun},
                          {kInferencex, "runs of InferenceX, as AIConfigurator keeps them"}},
                .make = make});
}

}  // namespace almanac::reproduce
