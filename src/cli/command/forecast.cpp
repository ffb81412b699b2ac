// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac forecast: when a job would start, before it is submitted; for a run, the forecasts that
/// its jobs would have received at submission, and how often they were right. With --if, how the
/// forecasts of all jobs would change.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/changed_forecasts.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/rerun.h"
#include "cli/service_options.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "cli/what_if.h"
#include "forecast/changes_in_run.h"
#include "forecast/judgement.h"
#include "report/comparison.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

struct ForecastOptions {
  std::string run;
  ServiceOptions service;
  serve::WhatIf what;
  std::vector<std::string> changes;
  std::string at;
  std::string policy;
  int jobs = 200;
  ListOptions list;
  forecast::Options playing{};
};

/// Score of the forecasts under one policy.
struct PolicyScore {
  std::string policy;
  forecast::Judgement::Part part;
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
  const std::string said = fmt::format("in {:.0f} % range", 100 * forecast::kSaid);
  add("start_within", "start " + said, [](const Score& score) { return score.start.within; });
  add("start_before", "earlier", [](const Score& score) { return score.start.before; }).detail();
  add("start_after", "later", [](const Score& score) { return score.start.after; }).detail();
  add("end_within", "end " + said, [](const Score& score) { return score.end.within; });
  add("end_before", "earlier", [](const Score& score) { return score.end.before; }).detail();
  add("end_after", "later", [](const Score& score) { return score.end.after; }).detail();
  add("ended_by", "ended by forecast", [](const Score& score) { return score.ended_by; });
  rows.add(
      "mean_start_off_s", "mean start error",
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
               {"jain_fair_share", fairness.jain_fair_share},
               {"worst_owner", fairness.worst_owner},
               {"worst_fair_share", fairness.worst_fair_share},
               {"avg_finish_time_ratio", fairness.avg_finish_time_ratio},
               {"unfair_jobs", fairness.unfair_jobs}};
  for (const experiment::TenantLoan& each : fairness.loans) {
    made["loans"].push_back({{"from", each.from}, {"to", each.to}, {"gpu_s", each.gpu_s}});
  }
  return made;
}

Json as_json(const forecast::Judgement& judgement, int futures) {
  Json parts = Json::array();
  for (const forecast::Judgement::Part& part : judgement.parts) {
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

Result<forecast::Judgement> judge(const experiment::Prepared& prepared, std::size_t run,
                                  const ForecastOptions& options) {
  std::atomic<std::size_t> num_told = 0;
  forecast::Options playing = options.playing;
  playing.num_told = &num_told;
  // Most of the time goes into the futures; then the run itself is played.
  constexpr double kFutures = 0.9;
  const double most = std::max(
      1.0, std::min<double>(options.jobs, static_cast<double>(prepared.trace.jobs.size())));
  const ProgressBar bar("forecasting " + prepared.runs[run].composition.name,
                        [&] { return kFutures * static_cast<double>(num_told.load()) / most; });
  return forecast::judge(prepared, run, options.jobs, playing);
}

Error no_such_policy(const experiment::Prepared& prepared, const std::string& policy) {
  std::vector<std::string> known;
  for (const auto& each : prepared.runs) known.push_back(each.composition.name);
  return {Code::usage,
          fmt::format("the run does not include policy {}", policy),
          {},
          fmt::format("its policies: {}", fmt::join(known, ", "))};
}

Result<int> run(const ForecastOptions& options) {
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  if (options.playing.other_gpus && !prepared->speeds) {
    return fail(Code::usage, "--other-gpus requires speed models", {.file = options.run},
                "simulate with --speed");
  }
  std::vector<PolicyScore> rows;
  std::string words;
  Json all = Json::array();
  for (std::size_t run = 0; run < prepared->runs.size(); ++run) {
    const std::string& name = prepared->runs[run].composition.name;
    if (!options.policy.empty() && name != options.policy) continue;
    const auto judged = judge(*prepared, run, options);
    if (!judged) return tl::unexpected(judged.error());
    all.push_back(as_json(*judged, options.playing.futures));
    for (const forecast::Judgement::Part& part : judged->parts) rows.push_back({name, part});
    words += fmt::format("{}: {}, of which {} waited; {} simulated futures each\n", name,
                         text::counted(static_cast<std::uint64_t>(judged->jobs), "job"),
                         text::grouped(static_cast<std::int64_t>(judged->waited)),
                         options.playing.futures);
    const std::string fairness = report::fairness_in_words(judged->fairness);
    if (!fairness.empty()) words += fmt::format("  in the run\n    {}\n", fairness);
  }
  if (all.empty()) {
    return tl::unexpected(no_such_policy(*prepared, options.policy));
  }
  if (!options.list.wants_document()) return options.list.print(rows_of(rows), "\n" + words);
  fmt::print("{}\n", all.dump(2));
  return kDone;
}

/// Forecasts before and after changes, at a time of a run.
Result<int> run_if(const ForecastOptions& options) {
  std::vector<forecast::Change> changes;
  for (const std::string& each : options.changes) {
    auto change = forecast::parse_change(each);
    if (!change) return tl::unexpected(change.error());
    changes.push_back(std::move(*change));
  }
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  if (options.at.empty()) {
    return fail(Code::usage, "--if requires a time of the run", {}, "give --at TIME");
  }
  const auto at = parse_time_option("--at", options.at);
  if (!at) return tl::unexpected(at.error());
  const auto chosen = std::find_if(
      prepared->runs.begin(), prepared->runs.end(), [&](const experiment::Prepared::Run& each) {
        return options.policy.empty() || each.composition.name == options.policy;
      });
  if (chosen == prepared->runs.end()) {
    return tl::unexpected(no_such_policy(*prepared, options.policy));
  }
  if (options.policy.empty() && prepared->runs.size() > 1) {
    return fail(Code::usage, "the run has several policies", {}, "choose one with --policy");
  }
  const auto changed =
      forecast::compare_in_run(*prepared, static_cast<std::size_t>(chosen - prepared->runs.begin()),
                               *at, changes, options.playing);
  if (!changed) return tl::unexpected(changed.error());
  const auto made = service::changed_forecasts(changed->shifts, changed->at, [&](JobId id) {
    const trace::Job& job = prepared->trace.jobs[index(id)];
    const Names& names = prepared->trace.names;
    return service::ChangedForecast{.id = std::string(prepared->trace.id(job.id)),
                                    .name = std::string(names[job.request.name]),
                                    .user = std::string(names[job.request.user]),
                                    .gpus = job.request.gpus};
  });
  return print_changed(made, options.changes, options.list, [](Time time) {
    return text::moment(std::chrono::ceil<std::chrono::seconds>(time));
  });
}

}  // namespace

void register_forecast(Program& program) {
  CLI::App& command = program.command(Purpose::predict, "forecast",
                                      "Forecast when a job would start, before you submit it");
  const auto options = std::make_shared<ForecastOptions>();
  CLI::Option* const played = command.add_option(
      "RUN", options->run, "Run directory to score (default: ask the service about a new job)");
  command.add_option("--gpus", options->what.gpus, "GPUs of the job, or several to compare: 4,8")
      ->delimiter(',')
      ->type_name("N,...")
      ->check(whole_number(0, 1'000'000))
      ->excludes(played)
      ->group(heading(Group::job));
  command.add_option("--time", options->what.limits, "Time limit, or several to compare: 24h,5h")
      ->delimiter(',')
      ->type_name("TIME,...")
      ->excludes(played)
      ->group(heading(Group::job));
  command
      .add_option("--vc", options->what.vcs,
                  "Virtual cluster or partition, or several to compare (default: all)")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->excludes(played)
      ->group(heading(Group::job));
  command.add_option("--gpu-type", options->what.gpu_type, "GPU type")
      ->excludes(played)
      ->group(heading(Group::job));
  command.add_option("--cpus", options->what.cpus, "CPU cores")
      ->excludes(played)
      ->group(heading(Group::job));
  command.add_option("--mem", options->what.memory, "Memory, such as 32G")
      ->excludes(played)
      ->group(heading(Group::job));
  command
      .add_option("--name", options->what.name,
                  "Job name; earlier jobs with this name predict the run time")
      ->excludes(played)
      ->group(heading(Group::job));
  CLI::Option* const changes =
      command
          .add_option(
              "--if", options->changes,
              "Compare the forecasts of all jobs before and after a change, or several: \"cancel "
              "JOB\" (or an array), \"add N nodes\", \"add N nodes to VC\", \"policy NAME\"")
          ->type_name("CHANGE")
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
  command.add_option("--at", options->at, "Time of RUN for --if: its first event at or after this")
      ->type_name("TIME")
      ->needs(played)
      ->needs(changes)
      ->group(heading(Group::simulation));
  options->service.add_to(command);
  command.add_option("--policy", options->policy, "Only this policy")
      ->type_name("POLICY")
      ->group(heading(Group::simulation));
  command.add_option("--jobs", options->jobs, "Number of jobs to forecast, drawn at random")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command.add_option("--futures", options->playing.futures, "Number of simulated futures per job")
      ->check(whole_number(1, 100'000))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command.add_option("--seed", options->playing.seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command
      .add_flag("--other-gpus", options->playing.other_gpus,
                "Also forecast other numbers of GPUs, for jobs whose scaling is known")
      ->excludes(changes)
      ->group(heading(Group::simulation));
  options->list.add_to(command);
  add_example(command, "almanac forecast --gpus 4,8 --time 24h,5h");
  add_example(command, "almanac forecast out/run --policy easy --jobs 500");
  add_example(command, "almanac forecast out/day --policy genie --other-gpus -o json");
  add_example(command, "almanac forecast --if \"cancel 17\" --if \"add 2 nodes\"");
  add_example(command,
              "almanac forecast out/day --at \"2026-06-03 12:00:00\" --if \"policy easy\"");
  program.on(command, [options]() -> Result<int> {
    if (!options->run.empty()) return options->changes.empty() ? run(*options) : run_if(*options);
    if (!options->changes.empty() && options->what.any()) {
      return fail(Code::usage, "--if compares the jobs of the queue, not a new one", {},
                  "leave out --gpus, --time and --vc");
    }
    if (!options->changes.empty()) {
      return forecast_if(options->service, options->changes, options->list);
    }
    if (options->what.any()) return what_if(options->service, options->what, options->list);
    return fail(Code::usage, "give a run, the job to forecast (--gpus, --time or --vc), or --if",
                {}, "see almanac forecast --help");
  });
}

}  // namespace almanac::cli
