// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of vLLM servers that others measured, beside the simulation that the commands use, with the
/// roofline that they take by default.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "inference/service.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/mean.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_vllm(Recipes& registry);

namespace {

using namespace inference;

constexpr const char* kBlis = "data/llm/league/blis_runs.csv";
constexpr const char* kInferencePerf = "data/llm/league/inference_perf_kubecon.csv";

/// A stage of a run: requests come evenly. Their prompts are so many and come again and again; 0 =
/// each is another.
struct Stage {
  double per_s = 0, seconds = 0;
  std::int32_t prompt = 0, output = 0;
  std::size_t prompts = 0;
};

Requests requests_of(const Stage& stage) {
  constexpr std::int32_t kBlock = 16;
  constexpr double kLongest_s = 300;  // the load stays as it is
  Requests made;
  made.tokens_per_block = kBlock;
  const auto count = static_cast<std::size_t>(stage.per_s * std::min(stage.seconds, kLongest_s));
  const auto blocks =
      stage.prompts > 0 ? static_cast<std::uint32_t>(stage.prompt / kBlock) : std::uint32_t{0};
  for (std::size_t each = 0; each < count; ++each) {
    made.all.push_back({.arrival = 1e6 * static_cast<double>(each) / stage.per_s,
                        .prompt = stage.prompt,
                        .output = stage.output,
                        .first_block = static_cast<std::uint32_t>(made.blocks.size()),
                        .blocks = blocks});
    for (std::uint32_t block = 0; block < blocks; ++block) {
      made.blocks.push_back((each % stage.prompts) * 100'000 + block);
    }
  }
  return made;
}

/// How far predictions are off, of each kind of board and measure.
class Errors {
 public:
  void add(const std::string& board, const std::string& measure, double measured, double ours) {
    off_[board + ", " + measure].push_back(100 * (ours / measured - 1));
  }
  void summarize(Bench& bench) const {
    for (const auto& [what, all] : off_) {
      std::vector<double> sizes = all;
      for (double& each : sizes) each = std::abs(each);
      bench.add(fmt::format("{}: mean absolute error of {} stages", what, all.size()), 0,
                stats::mean(sizes), "%");
      bench.add(fmt::format("{}: mean error", what), 0, stats::mean(all), "%");
    }
  }

 private:
  std::map<std::string, std::vector<double>> off_;
};

struct Measured {
  double first_token_ms = 0, per_token_ms = 0, end_to_end_ms = 0;
};

void compare_stage(Bench& bench, const std::string& what, const std::string& board,
                   const Service& service, const Stage& stage, const Measured& measured,
                   Errors& errors) {
  const Requests requests = requests_of(stage);
  const Seen seen = summarize(requests, value_or_throw(play(service, requests)), {});
  const std::array figures{std::tuple("TTFT", measured.first_token_ms, seen.first_token.mean / 1e3),
                           std::tuple("TPOT", measured.per_token_ms, seen.per_token.mean / 1e3),
                           std::tuple("E2E", measured.end_to_end_ms, seen.end_to_end.mean / 1e3)};
  for (const auto& [measure, theirs, ours] : figures) {
    bench.add(fmt::format("{}: mean {}", what, measure), theirs, ours, "ms");
    errors.add(board, measure, theirs, ours);
  }
}

/// 8 and 600 of "8x600s;20x600s", stage 0.
Stage stage_of(const Rows& rows, std::size_t number) {
  std::string_view all = rows.text("stages");
  for (std::size_t each = 0; each < number && !all.empty(); ++each) {
    const std::size_t end = all.find(';');
    all = end == std::string_view::npos ? std::string_view() : all.substr(end + 1);
  }
  all = all.substr(0, all.find(';'));
  const std::size_t times = std::min(all.find('x'), all.size());
  const auto rate = text::parse_decimal(all.substr(0, times));
  const auto seconds = all.ends_with('s') && times < all.size()
                           ? text::parse_decimal(all.substr(times + 1, all.size() - times - 2))
                           : std::nullopt;
  rows.require(rate && seconds && *rate > 0,
               fmt::format("stages: expected as 8x600s, found '{}'", all));
  return {.per_s = *rate, .seconds = *seconds};
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
void compare_showdown(Bench& bench, const File& file, Errors& errors) {
  Rows rows(file.path,
            {"exp_id", "stage", "model", "hardware", "tp", "stages", "max_num_seqs",
             "max_num_batched_tokens", "prefix_len", "question_len", "output_len",
             "users_per_prefix", "n_prefixes", "e2e_mean", "itl_mean", "ttft_mean", "workload"});
  while (rows.next()) {
    const auto whole = [&](const char* column) {
      return static_cast<std::int32_t>(rows.number(column));
    };
    if (whole("stage") < 0) continue;  // the whole run
    constexpr std::int32_t kTemplate = 15;
    Stage stage = stage_of(rows, static_cast<std::size_t>(whole("stage")));
    stage.prompt = whole("prefix_len") + whole("question_len") + kTemplate;
    stage.output = whole("output_len");
    stage.prompts =
        static_cast<std::size_t>(std::max(1, whole("n_prefixes") * whole("users_per_prefix")));
    const Service service{.model = model_of(std::string(rows.text("model"))),
                          .board = value_or_throw(find_board(std::string(rows.text("hardware")))),
                          .gpus = whole("tp"),
                          .limits = {.sequences = whole("max_num_seqs"),
                                     .tokens = whole("max_num_batched_tokens"),
                                     .reuse = true}};
    compare_stage(
        bench,
        fmt::format("{} on {} {}, {} at {}/s, run {}", service.model.name, service.gpus,
                    service.board.name, rows.text("workload"), stage.per_s, rows.text("exp_id")),
        service.board.name, service, stage,
        {rows.number("ttft_mean"), rows.number("itl_mean"), rows.number("e2e_mean")}, errors);
  }
}

/// vLLM 0.11.0 on one H100 without prefix cache, by inference-perf, at the rates that it kept up
/// with; the time per token is (E2E - TTFT) / (tokens - 1), for its own counts events of the
/// stream.
void compare_inference_perf(Bench& bench, const File& file, Errors& errors) {
  constexpr std::int32_t kSequences = 128;
  const Service service{.model = value_or_throw(find_model("llama-3.1-8b")),
                        .board = value_or_throw(find_board("h100")),
                        .limits = {.sequences = kSequences}};
  Rows rows(file.path, {"setup", "requested_rps", "achieved_rps", "requests_per_s",
                        "prompt_tokens_mean", "output_tokens_mean", "ttft_mean_ms", "e2e_mean_ms"});
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
    compare_stage(bench,
                  fmt::format("{} on h100, inference-perf at {:.4g}/s", service.model.name, rate),
                  "h100, inference-perf", service, stage,
                  {first, (whole - first) / (output - 1), whole}, errors);
  }
}

void make(Bench& bench) {
  Errors errors;
  bench.each(kBlis, [&](const File& file) { compare_showdown(bench, file, errors); });
  bench.each(kInferencePerf,
             [&](const File& file) { compare_inference_perf(bench, file, errors); });
  errors.summarize(bench);
}

}  // namespace

void register_vllm(Recipes& registry) {
  registry.add({.name = "vllm",
                .summary = "measured runs of vLLM servers, and how far the roofline is off",
                .paper = "inference-sim's validation runs; inference-perf",
                .kind = Kind::measured,
                .needs = {{kBlis, "runs that inference-sim was validated with"},
                          {kInferencePerf, "runs of github.com/kubernetes-sigs/inference-perf"}},
                .make = make});
}

}  // namespace almanac::reproduce
