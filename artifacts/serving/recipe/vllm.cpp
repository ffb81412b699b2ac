// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs of vLLM servers that others measured, beside the simulation that the commands use, with the
/// roofline that they take by default.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "inference/service.h"
#include "serving/recipe/recipes.h"
#include "stats/mean.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

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
  void summarize(Comparison& made) const {
    for (const auto& [what, all] : off_) {
      std::vector<double> sizes = all;
      for (double& each : sizes) each = std::abs(each);
      made.add(fmt::format("{}: mean absolute error of {} stages", what, all.size()), 0,
               stats::mean(sizes), "%");
      made.add(fmt::format("{}: mean error", what), 0, stats::mean(all), "%");
    }
  }

 private:
  std::map<std::string, std::vector<double>> off_;
};

struct Measured {
  double first_token_ms = 0, per_token_ms = 0, end_to_end_ms = 0;
};

Result<void> compare_stage(const std::string& what, const std::string& board,
                           const Service& service, const Stage& stage, const Measured& measured,
                           Errors& errors, Comparison& made) {
  const Requests requests = requests_of(stage);
  const auto outcomes = play(service, requests);
  if (!outcomes) return tl::unexpected(outcomes.error());
  const Seen seen = summarize(requests, *outcomes, {});
  const std::array figures{std::tuple("TTFT", measured.first_token_ms, seen.first_token.mean / 1e3),
                           std::tuple("TPOT", measured.per_token_ms, seen.per_token.mean / 1e3),
                           std::tuple("E2E", measured.end_to_end_ms, seen.end_to_end.mean / 1e3)};
  for (const auto& [measure, theirs, ours] : figures) {
    made.add(fmt::format("{}: mean {}", what, measure), theirs, ours, "ms");
    errors.add(board, measure, theirs, ours);
  }
  return {};
}

/// 8 and 600 of "8x600s;20x600s", stage 0.
Result<Stage> stage_of(const Sheet& sheet, std::size_t row, std::size_t number) {
  std::string_view all = sheet.text("stages", row);
  for (std::size_t each = 0; each < number && !all.empty(); ++each) {
    const std::size_t end = all.find(';');
    all = end == std::string_view::npos ? std::string_view() : all.substr(end + 1);
  }
  all = all.substr(0, all.find(';'));
  const std::size_t times = all.find('x');
  if (times == std::string_view::npos || !all.ends_with('s')) {
    return fail(Code::invalid,
                fmt::format("stages: expected as 8x600s, found \"{}\"", sheet.text("stages", row)));
  }
  const auto rate = text::parse_decimal(all.substr(0, times));
  const auto seconds = text::parse_decimal(all.substr(times + 1, all.size() - times - 2));
  if (!rate || !seconds || *rate <= 0) {
    return fail(Code::invalid, fmt::format("stages: expected as 8x600s, found \"{}\"", all));
  }
  return Stage{.per_s = *rate, .seconds = *seconds};
}

/// A model that is known by name, or the one among them of which experts and feed-forward parts are
/// stored at 8 bits.
Result<Model> model_of(const std::string& name) {
  if (name != "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic") return find_model(name);
  auto model = find_model("llama-4-scout");
  if (model) model->dense = model->experts = {1, Arithmetic::fp8};
  return model;
}

/// vLLM 0.15.1 on H100, A100 and L40S, with its prefix cache. Each user has one prompt, which
/// inference-perf sends again and again, with about 15 tokens of a template besides.
Result<void> compare_showdown(const std::string& path, Errors& errors, Comparison& made) {
  const auto sheet = Sheet::read(
      path, {"exp_id", "stage", "model", "hardware", "tp", "stages", "max_num_seqs",
             "max_num_batched_tokens", "prefix_len", "question_len", "output_len",
             "users_per_prefix", "n_prefixes", "e2e_mean", "itl_mean", "ttft_mean", "workload"});
  if (!sheet) return tl::unexpected(sheet.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    const auto number = [&](const char* column) {
      return sheet->number(column, row).value_or(std::nan(""));
    };
    if (number("stage") < 0) continue;  // the whole run
    const auto model = model_of(sheet->text("model", row));
    if (!model) return tl::unexpected(model.error());
    const auto board = find_board(sheet->text("hardware", row));
    if (!board) return tl::unexpected(board.error());
    auto stage = stage_of(*sheet, row, static_cast<std::size_t>(number("stage")));
    if (!stage) return tl::unexpected(stage.error());
    constexpr std::int32_t kTemplate = 15;
    const auto whole = [&](const char* column) {
      return static_cast<std::int32_t>(number(column));
    };
    stage->prompt = whole("prefix_len") + whole("question_len") + kTemplate;
    stage->output = whole("output_len");
    stage->prompts =
        static_cast<std::size_t>(std::max(1, whole("n_prefixes") * whole("users_per_prefix")));
    const Service service{.model = *model,
                          .board = *board,
                          .gpus = whole("tp"),
                          .limits = {.sequences = whole("max_num_seqs"),
                                     .tokens = whole("max_num_batched_tokens"),
                                     .reuse = true}};
    auto done = compare_stage(
        fmt::format("{} on {} {}, {} at {}/s, run {}", model->name, whole("tp"), board->name,
                    sheet->text("workload", row), stage->per_s, sheet->text("exp_id", row)),
        board->name, service, *stage, {number("ttft_mean"), number("itl_mean"), number("e2e_mean")},
        errors, made);
    if (!done) return done;
  }
  return {};
}

/// vLLM 0.11.0 on one H100 without prefix cache, by inference-perf, at the rates that it kept up
/// with; the time per token is (E2E - TTFT) / (tokens - 1), for its own counts events of the
/// stream.
Result<void> compare_inference_perf(const std::string& path, Errors& errors, Comparison& made) {
  const auto sheet = Sheet::read(
      path, {"setup", "requested_rps", "achieved_rps", "requests_per_s", "prompt_tokens_mean",
             "output_tokens_mean", "ttft_mean_ms", "e2e_mean_ms"});
  if (!sheet) return tl::unexpected(sheet.error());
  const auto model = find_model("llama-3.1-8b");
  const auto board = find_board("h100");
  if (!model || !board) return tl::unexpected(model ? board.error() : model.error());
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    constexpr double kKeptUp = 0.9;
    if (sheet->text("setup", row) != "vllm") continue;
    const auto number = [&](const char* column) {
      return sheet->number(column, row).value_or(std::nan(""));
    };
    if (number("requests_per_s") < kKeptUp * number("requested_rps")) continue;
    const double output = number("output_tokens_mean");
    const double first = number("ttft_mean_ms"), whole = number("e2e_mean_ms");
    const Stage stage{
        .per_s = number("requested_rps"),
        .seconds = 60,
        .prompt = static_cast<std::int32_t>(std::lround(number("prompt_tokens_mean"))),
        .output = static_cast<std::int32_t>(std::lround(output))};
    constexpr std::int32_t kSequences = 128;
    const Service service{.model = *model, .board = *board, .limits = {.sequences = kSequences}};
    auto done = compare_stage(
        fmt::format("{} on h100, inference-perf at {:.4g}/s", model->name, stage.per_s),
        "h100, inference-perf", service, stage, {first, (whole - first) / (output - 1), whole},
        errors, made);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<Comparison> compare_vllm(const Shared& shared) {
  Comparison made;
  Errors errors;
  const std::string folder = shared.data + "/llm/league/";
  if (auto done = compare_showdown(folder + "blis_runs.csv", errors, made); !done) {
    made.fail(done.error());
  }
  if (auto done = compare_inference_perf(folder + "inference_perf_kubecon.csv", errors, made);
      !done) {
    made.fail(done.error());
  }
  errors.summarize(made);
  return made;
}

}  // namespace almanac::inference
