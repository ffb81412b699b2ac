// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference profile: measures a model server and writes what its steps take.
#include <algorithm>
#include <atomic>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "inference/profile/held_out.h"
#include "replicas/probe.h"
#include "table/output_file.h"
#include "text/human.h"

namespace almanac::cli {

void register_inference_profile(Program& program);

namespace {

struct MeasureOptions {
  replicas::ProbePlan plan{};
  int gpus = 1;
  std::string out;
  std::string output = "table";
};

void print_measured(const std::string& format, const replicas::Probed& probed,
                    const inference::FittedLines& lines, const inference::Tested& tested) {
  if (format == "json") {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const inference::Probe& each : probed.probes) {
      all.push_back({{"prompt_tokens", each.prompt},
                     {"output_tokens", each.output},
                     {"together", each.together},
                     {"ttft_ms", each.first_token_ms},
                     {"tpot_ms", each.per_token_ms}});
    }
    nlohmann::ordered_json figures = nlohmann::ordered_json::array();
    for (const inference::Tested::Figure& each : tested.figures) {
      figures.push_back({{"figure", each.name},
                         {"measured_ms", each.measured_ms},
                         {"simulated_ms", each.simulated_ms},
                         {"off", each.off()},
                         {"bound", each.bound}});
    }
    const nlohmann::ordered_json made{{"model", probed.model},
                                      {"prefill_error", lines.prefill_error},
                                      {"decode_error", lines.decode_error},
                                      {"one_step", lines.one_step},
                                      {"slots", lines.slots},
                                      {"describes_server", tested.warning.empty()},
                                      {"warning", tested.warning},
                                      {"held_out", std::move(figures)},
                                      {"measured", std::move(all)}};
    fmt::print("{}\n", made.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const inference::Probe& each : probed.probes) {
    rows.push_back({std::to_string(each.prompt), std::to_string(each.together),
                    fmt::format("{:.2f}", each.first_token_ms),
                    fmt::format("{:.3f}", each.per_token_ms)});
  }
  if (format == "csv") return print_csv({"prompt_tokens", "together", "ttft_ms", "tpot_ms"}, rows);
  print_columns({{"prompt_tokens", true}, {"together", true}, {"ttft_ms", true}, {"tpot_ms", true}},
                rows);
  fmt::print("\nfitted: prefills within {:.1f} %, decodes within {:.1f} % on the mean\n",
             100 * lines.prefill_error, 100 * lines.decode_error);
  if (lines.slots > 0) {
    fmt::print("answers {} at a time: others wait until one is answered\n",
               text::counted(static_cast<std::uint64_t>(lines.slots), "request"));
  }
  rows.clear();
  for (const inference::Tested::Figure& each : tested.figures) {
    rows.push_back({each.name, fmt::format("{:.2f}", each.measured_ms),
                    fmt::format("{:.2f}", each.simulated_ms),
                    fmt::format("{:.0f} %", 100 * each.off()),
                    fmt::format("{:.0f} %", 100 * each.bound)});
  }
  fmt::print("\nrequests held out, at random times:\n");
  print_columns(
      {{"figure"}, {"measured_ms", true}, {"simulated_ms", true}, {"off", true}, {"allowed", true}},
      rows);
}

/// What is to be measured must be enough to fit three coefficients of a prefill and of a decode
/// (inference::fit); to say so afterwards would waste minutes of a server.
Result<void> check_plan(const replicas::ProbePlan& plan) {
  constexpr std::size_t kLengths = 3;
  const std::set<int> lengths(plan.prompts.begin(), plan.prompts.end());
  if (lengths.size() < kLengths) {
    return fail(Code::usage,
                fmt::format("--prompts {} has {} lengths of prompts, {} are needed to tell what a "
                            "prefill takes",
                            fmt::join(plan.prompts, ","), lengths.size(), kLengths),
                {}, "as --prompts 32,256,1024");
  }
  if (std::find(plan.together.begin(), plan.together.end(), 1) == plan.together.end()) {
    return fail(Code::usage,
                fmt::format("--together {} leaves out 1: a prefill is measured of one client",
                            fmt::join(plan.together, ",")),
                {}, "as --together 1,4,16");
  }
  return {};
}

Result<int> measure_server(const MeasureOptions& asked) {
  if (const auto enough = check_plan(asked.plan); !enough) return tl::unexpected(enough.error());
  std::atomic<double> part = 0;
  const auto done = [&](double now) { part = now; };
  Result<replicas::Probed> probed = fail(Code::unavailable, "");
  {
    const ProgressBar bar("measuring " + asked.plan.url, [&] { return part.load(); });
    probed = replicas::probe(asked.plan, done);
  }
  if (!probed) return tl::unexpected(probed.error());
  auto lines = inference::fit(probed->probes);
  if (!lines) return tl::unexpected(lines.error());
  // One load to find out how steps mix prompts and tokens, and one that nothing was fitted to.
  constexpr std::uint64_t kFitted = 1, kHeldOut = 2;
  const auto load = [&](const char* what, std::uint64_t seed) {
    part = 0;
    const ProgressBar bar(what, [&] { return part.load(); });
    return replicas::mixed_load(asked.plan, probed->model, *lines, seed, done);
  };
  const auto mixed = load("measuring a mixed load", kFitted);
  if (!mixed) return tl::unexpected(mixed.error());
  lines->one_step = inference::one_step(*lines, *mixed);
  const auto held_out = load("testing the profile", kHeldOut);
  if (!held_out) return tl::unexpected(held_out.error());
  const inference::Tested tested = inference::test(*lines, probed->probes, *held_out);
  if (auto written = table::write_file(
          asked.out, inference::to_csv(*lines, probed->model, asked.gpus, tested.warning));
      !written) {
    return tl::unexpected(written.error());
  }
  print_measured(asked.output, *probed, *lines, tested);
  note(tested.warning.empty()
           ? fmt::format("{} is for --profile of the other inference commands", asked.out)
           : fmt::format("{} {}", asked.out, tested.warning));
  return kDone;
}

}  // namespace

void register_inference_profile(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand(
               "profile",
               "Measure a model server: what its steps take, and whether that describes it");
  const auto asked = std::make_shared<MeasureOptions>();
  command
      .add_option("URL", asked->plan.url,
                  "An OpenAI-compatible server, which has nothing else to do")
      ->required();
  command.add_option("--served-model", asked->plan.model,
                     "What the server calls the model; otherwise the first that it names");
  command.add_option("--prompts", asked->plan.prompts, "Lengths of prompts, words")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--together", asked->plan.together, "Clients at once")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--output-tokens", asked->plan.output, "Tokens of each answer")
      ->check(CLI::Range(2, 100'000))
      ->capture_default_str();
  command.add_option("--repeats", asked->plan.repeats, "The median of so many counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--gpus", asked->gpus, "GPUs that the server has, to be noted")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--out", asked->out, "File for the profile")->type_name("FILE")->required();
  command.add_option("-o,--output", asked->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  add_example(command, "almanac inference profile http://127.0.0.1:8000 --out server.csv");
  program.on(command, [asked] { return measure_server(*asked); });
}

}  // namespace almanac::cli
