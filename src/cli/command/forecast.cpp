// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac forecast: when a job would start before it is submitted; of a run, what its jobs would
/// have heard when they came, and how often that was true.
#include <algorithm>
#include <atomic>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/rerun.h"
#include "cli/service_options.h"
#include "cli/what_if.h"
#include "experiment/dues.h"
#include "forecast/score.h"
#include "report/comparison.h"
#include "text/human.h"
#include "trace/eligible.h"

namespace almanac::cli {
namespace {

struct ForecastOptions {
  std::string run;
  WhatIf what;
  std::string policy;
  int jobs = 200;
  ListOptions list;
  forecast::Options playing{};
};

/// Some of the jobs that were simulated, drawn without looking at what became of them.
std::set<JobId> draw_jobs(const experiment::Prepared& prepared, int count, std::uint64_t seed) {
  std::vector<JobId> all;
  for (std::uint32_t job = 0; job < prepared.trace.jobs.size(); ++job) {
    const trace::Job& each = prepared.trace.jobs[job];
    const bool counts =
        sim::is_simulated(each.request, prepared.cluster) && !trace::never_ran(each);
    if (counts) all.push_back(JobId{job});
  }
  std::set<JobId> drawn;
  Rng rng(seed);
  const auto wanted = std::min(all.size(), static_cast<std::size_t>(count));
  while (drawn.size() < wanted) drawn.insert(all[rng.below(all.size())]);
  return drawn;
}

/// How often what was told of some jobs was true.
struct Part {
  std::string of;
  forecast::Score score;
};

struct Judgement {
  std::string policy;
  std::size_t jobs = 0;
  int waited = 0;
  std::vector<Part> parts;
  experiment::Summary fairness{};  ///< Who had how much of its due in the run; all else is not
                                   ///< told.
};

/// Of one policy.
struct PolicyScore {
  std::string policy;
  Part part;
};

figure::Listing rows_of(const std::vector<PolicyScore>& scores) {
  using forecast::Hits;
  using forecast::Score;
  figure::Rows rows(scores);
  rows.add("policy", &PolicyScore::policy);
  rows.add(figure::Tier::key, "of", [](const PolicyScore& row) { return row.part.of; });
  rows.add(figure::Tier::detail, "forecasts",
           [](const PolicyScore& row) { return row.part.score.start.all(); });
  const auto add = [&](const char* name, const std::string& label, const auto& count) -> auto& {
    return rows.add(name, label, [count](const PolicyScore& row) {
      const int all = row.part.score.start.all();
      const int part = count(row.part.score);
      return figure::Cell(part, all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * part / all));
    });
  };
  const std::string said = fmt::format("in the {:.0f} % said", 100 * forecast::kSaid);
  add("start_within", "start " + said, [](const Score& score) { return score.start.within; });
  add("start_before", "earlier", [](const Score& score) { return score.start.before; }).detail();
  add("start_after", "later", [](const Score& score) { return score.start.after; }).detail();
  add("end_within", "end " + said, [](const Score& score) { return score.end.within; });
  add("end_before", "earlier", [](const Score& score) { return score.end.before; }).detail();
  add("end_after", "later", [](const Score& score) { return score.end.after; }).detail();
  add("ended_by", "ended by when said", [](const Score& score) { return score.ended_by; });
  rows.add(
      "mean_start_off_s", "start off by, mean",
      [](const PolicyScore& row) { return row.part.score.mean_start_off_s; }, text::human_time);
  return rows;
}

using Json = nlohmann::ordered_json;

Json as_json(const forecast::Hits& hits) {
  return {{"within", hits.within}, {"before", hits.before}, {"after", hits.after}};
}

/// With the names of summary.json.
Json as_json(const experiment::Summary& fairness) {
  Json made = {{"share_error", fairness.share_error},
               {"jain_due", fairness.jain_due},
               {"worst_owner", fairness.worst_owner},
               {"worst_due", fairness.worst_due},
               {"avg_finish_time_ratio", fairness.avg_finish_time_ratio},
               {"unfair_jobs", fairness.unfair_jobs}};
  for (const experiment::TenantLoan& each : fairness.loans) {
    made["loans"].push_back({{"from", each.from}, {"to", each.to}, {"gpu_s", each.gpu_s}});
  }
  return made;
}

Json as_json(const Judgement& judgement, int futures) {
  Json parts = Json::array();
  for (const Part& part : judgement.parts) {
    parts.push_back({{"of", part.of},
                     {"forecasts", part.score.start.all()},
                     {"start", as_json(part.score.start)},
                     {"end", as_json(part.score.end)},
                     {"ended_by", part.score.ended_by},
                     {"mean_start_off_s", part.score.mean_start_off_s}});
  }
  Json made = {{"policy", judgement.policy}, {"jobs", judgement.jobs},
               {"waited", judgement.waited}, {"futures", futures},
               {"share", forecast::kSaid},   {"scores", std::move(parts)}};
  if (!judgement.fairness.worst_owner.empty()) made["fairness"] = as_json(judgement.fairness);
  return made;
}

/// Forecasts and truths of those jobs of which `chosen(at)` holds.
template <typename Chosen>
forecast::Score score_some(const std::vector<forecast::Told>& told,
                           const std::vector<sim::JobResult>& truth, Chosen&& chosen) {
  std::vector<forecast::Told> some;
  std::vector<sim::JobResult> theirs;
  for (std::size_t at = 0; at < told.size(); ++at) {
    if (!chosen(at)) continue;
    some.push_back(told[at]);
    theirs.push_back(truth[at]);
  }
  return forecast::score(some, theirs);
}

Result<Judgement> judge(const experiment::Prepared& prepared, std::size_t run,
                        const ForecastOptions& options) {
  const auto asked = draw_jobs(prepared, options.jobs, options.playing.seed);
  std::atomic<std::size_t> num_told = 0;
  forecast::Options playing = options.playing;
  playing.num_told = &num_told;
  // Most of the time goes into the futures; then the run itself is played.
  constexpr double kFutures = 0.9;
  const ProgressBar bar("forecasting " + prepared.runs[run].composition.name, [&] {
    return kFutures * static_cast<double>(num_told.load()) /
           static_cast<double>(std::max<std::size_t>(1, asked.size()));
  });
  const auto told = forecast::tell(prepared, run, asked, playing);
  if (!told) return tl::unexpected(told.error());
  const auto schedule = experiment::simulate_run(prepared, run);
  if (!schedule) return tl::unexpected(schedule.error());
  const auto was = forecast::as_it_was(*schedule, *told);
  const auto alone = forecast::had_nobody_come(prepared, run, *told);
  const auto waited = [&](std::size_t at) { return was[at].start != (*told)[at].forecast.at(); };
  Judgement made{.policy = prepared.runs[run].composition.name, .jobs = told->size(), .parts = {}};
  for (std::size_t at = 0; at < told->size(); ++at) made.waited += waited(at) ? 1 : 0;
  made.parts = {{"all jobs, as it was", forecast::score(*told, was)},
                {"all jobs, had no job come after", forecast::score(*told, alone)},
                {"jobs that waited, as it was", score_some(*told, was, waited)},
                {"jobs that waited, had no job come after", score_some(*told, alone, waited)}};
  if (options.playing.other_gpus) {
    const auto others = forecast::of_other_gpus(*told);
    const auto had = forecast::had_asked_other_gpus(prepared, run, *told);
    made.parts.push_back(
        {"other numbers of GPUs, had no job come after", forecast::score(others, had)});
  }
  experiment::add_dues(made.fairness,
                       experiment::judge(prepared.trace, prepared.cluster, *schedule));
  return made;
}

Result<int> run(const ForecastOptions& options) {
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  if (options.playing.other_gpus && !prepared->speeds) {
    return fail(Code::usage, "--other-gpus needs to know how jobs scale", {.file = options.run},
                "simulate with --speed");
  }
  std::vector<std::string> known;
  std::vector<PolicyScore> rows;
  std::string words;
  Json all = Json::array();
  for (std::size_t run = 0; run < prepared->runs.size(); ++run) {
    const std::string& name = prepared->runs[run].composition.name;
    known.push_back(name);
    if (!options.policy.empty() && name != options.policy) continue;
    const auto judged = judge(*prepared, run, options);
    if (!judged) return tl::unexpected(judged.error());
    all.push_back(as_json(*judged, options.playing.futures));
    for (const Part& part : judged->parts) rows.push_back({name, part});
    words += fmt::format("{}: {} jobs, {} of them waited; {} futures each\n", name, judged->jobs,
                         judged->waited, options.playing.futures);
    const std::string fairness = report::fairness_in_words(judged->fairness);
    if (!fairness.empty()) words += fmt::format("  in the run\n    {}\n", fairness);
  }
  if (all.empty()) {
    return fail(Code::usage, fmt::format("the run has no policy {}", options.policy), {},
                fmt::format("it has {}", fmt::join(known, ", ")));
  }
  if (!options.list.wants_document()) return options.list.print(rows_of(rows), "\n" + words);
  fmt::print("{}\n", all.dump(2));
  return kDone;
}

}  // namespace

void register_forecast(Program& program) {
  CLI::App& command =
      program.command(Purpose::choose, "forecast",
                      "Say when a job would start before you submit it; of a run, how often such "
                      "forecasts were true");
  const auto options = std::make_shared<ForecastOptions>();
  CLI::Option* const played = command.add_option(
      "RUN", options->run, "Run directory; without one the service is asked about a job");
  command.add_option("--gpus", options->what.gpus, "GPUs of the job, or several to compare: 4,8")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(CLI::Range(0, 1'000'000))
      ->excludes(played);
  command
      .add_option("--time", options->what.limits, "Its time limit, or several to compare: 24h,5h")
      ->delimiter(',')
      ->type_name("TIME,...")
      ->excludes(played);
  command.add_option("--vc", options->what.vcs, "Virtual clusters, partitions; default: each")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->excludes(played);
  command.add_option("--gpu-type", options->what.gpu_type, "A type of GPU that it needs")
      ->excludes(played);
  command.add_option("--cpus", options->what.cpus, "Its cores")->excludes(played);
  command.add_option("--mem", options->what.memory, "Its memory: 32G")->excludes(played);
  command
      .add_option("--name", options->what.name,
                  "Its name: what earlier jobs of it took is believed of it")
      ->excludes(played);
  options->what.service.add_to(command);
  command.add_option("--policy", options->policy, "Only under this policy")->type_name("POLICY");
  command.add_option("--jobs", options->jobs, "How many jobs are asked about, drawn at random")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--futures", options->playing.futures, "How many futures are played for each")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_option("--seed", options->playing.seed, "Of the draws")->capture_default_str();
  command.add_flag("--other-gpus", options->playing.other_gpus,
                   "Also what was told of other numbers of GPUs, of jobs whose scaling is known");
  options->list.add_to(command);
  add_example(command, "almanac forecast --gpus 4,8 --time 24h,5h");
  add_example(command, "almanac forecast out/run --policy easy --jobs 500");
  add_example(command, "almanac forecast out/day --policy genie --other-gpus -o json");
  program.on(command, [options]() -> Result<int> {
    if (!options->run.empty()) return run(*options);
    if (options->what.any()) return what_if(options->what, options->list);
    return fail(Code::usage, "a run, or what a job asks (--gpus, --time, --vc), is wanted", {},
                "see almanac forecast --help");
  });
}

}  // namespace almanac::cli
