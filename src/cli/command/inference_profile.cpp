// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference profile: measures a model server and writes the times of its steps.
#include <algorithm>
#include <atomic>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/progress.h"
#include "cli/value_check.h"
#include "figure/rows_json.h"
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
  ListOptions list;
};

Result<int> show(const ListOptions& list, const replicas::Probed& probed,
                 const inference::FittedLines& lines, const inference::Tested& tested) {
  using inference::Probe;
  using Figure = inference::Tested::Figure;
  figure::Rows measured(probed.probes);
  measured.add("prompt_tokens", &Probe::prompt);
  measured.add(figure::Tier::data, "output_tokens", &Probe::output);
  measured.add("together", &Probe::together);
  measured.add("ttft_ms", &Probe::first_token_ms, figure::Decimals{2});
  measured.add("tpot_ms", &Probe::per_token_ms, figure::Decimals{3});
  figure::Rows held_out(tested.figures);
  held_out.add("figure", &Figure::name);
  held_out.add("measured_ms", &Figure::measured_ms, figure::Decimals{2});
  held_out.add("simulated_ms", &Figure::simulated_ms, figure::Decimals{2});
  held_out.add(
      "off", [](const Figure& of) { return of.off(); }, figure::Percents{0});
  held_out.add(
      "bound", "allowed", [](const Figure& of) { return of.bound; }, figure::Percents{0});
  if (list.wants_document()) {
    const nlohmann::ordered_json made{{"model", probed.model},
                                      {"prefill_error", lines.prefill_error},
                                      {"decode_error", lines.decode_error},
                                      {"one_step", lines.one_step},
                                      {"slots", lines.slots},
                                      {"describes_server", tested.warning.empty()},
                                      {"warning", tested.warning},
                                      {"held_out", figure::to_array(held_out)},
                                      {"measured", figure::to_array(measured)}};
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  std::string found = fmt::format("\nmean error of the fit: prefill {:.1f} %, decode {:.1f} %\n",
                                  100 * lines.prefill_error, 100 * lines.decode_error);
  if (lines.slots > 0) {
    found += fmt::format("handles {} at a time; others queue",
                         text::counted(static_cast<std::uint64_t>(lines.slots), "request"));
  }
  found += "\nheld-out requests, at random times:\n" + held_out.table(table_form());
  return list.print(std::move(measured), found);
}

/// What is to be measured must be enough to fit three coefficients of a prefill and of a decode
/// (inference::fit); to say so afterwards would waste minutes of a server.
Result<void> check_plan(const replicas::ProbePlan& plan) {
  constexpr std::size_t kLengths = 3;
  const std::set<int> lengths(plan.prompts.begin(), plan.prompts.end());
  if (lengths.size() < kLengths) {
    return fail(Code::usage,
                fmt::format("--prompts {} has {} prompt lengths; {} are needed to measure prefill",
                            fmt::join(plan.prompts, ","), lengths.size(), kLengths),
                {}, "for example --prompts 32,256,1024");
  }
  if (std::find(plan.together.begin(), plan.together.end(), 1) == plan.together.end()) {
    return fail(
        Code::usage,
        fmt::format("--together {} must include 1, because prefill is measured with one client",
                    fmt::join(plan.together, ",")),
        {}, "for example --together 1,4,16");
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
  const auto held_out = load("validating the profile", kHeldOut);
  if (!held_out) return tl::unexpected(held_out.error());
  const inference::Tested tested = inference::test(*lines, probed->probes, *held_out);
  if (auto written = table::write_file(
          asked.out, inference::to_csv(*lines, probed->model, asked.gpus, tested.warning));
      !written) {
    return tl::unexpected(written.error());
  }
  const auto shown = show(asked.list, *probed, *lines, tested);
  if (!shown) return shown;
  note(tested.warning.empty()
           ? fmt::format("{} can be used with --profile of the other inference commands", asked.out)
           : fmt::format("{} {}", asked.out, tested.warning));
  return kDone;
}

}  // namespace

void register_inference_profile(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("profile",
                           "Measure the step times of a model server, and validate them");
  const auto asked = std::make_shared<MeasureOptions>();
  command.add_option("URL", asked->plan.url, "URL of an otherwise idle OpenAI-compatible server")
      ->required();
  command.add_option("--served-model", asked->plan.model,
                     "Name of the model on the server (default: its first)");
  command.add_option("--prompts", asked->plan.prompts, "Prompt lengths in words")
      ->delimiter(',')
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--together", asked->plan.together, "Numbers of concurrent clients")
      ->delimiter(',')
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command.add_option("--output-tokens", asked->plan.output, "Tokens of each answer")
      ->check(whole_number(2, 100'000))
      ->capture_default_str();
  command.add_option("--repeats", asked->plan.repeats, "Repetitions; the median counts")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command.add_option("--gpus", asked->gpus, "GPUs of the server, to store in the profile")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command.add_option("--out", asked->out, "File for the profile")
      ->type_name("FILE")
      ->required()
      ->group(heading(Group::output));
  asked->list.add_to(command);
  add_example(command, "almanac inference profile http://127.0.0.1:8000 --out server.csv");
  program.on(command, [asked] { return measure_server(*asked); });
}

}  // namespace almanac::cli
