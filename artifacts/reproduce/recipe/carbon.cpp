// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that wait for clean power: the runs of GAIA piece by piece, and the schedules of
/// CarbonScaler.
///
/// Source   Hanafy et al., ASPLOS'24 (GAIA), artifact; Hanafy et al., SIGMETRICS'24 (CarbonScaler).
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "formulas/purchase.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "rules/carbon/scaling.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_carbon(Recipes& registry);

namespace carbon_recipe {
namespace {

constexpr const char* kSeries = "data/carbon/carbon_*.csv";
constexpr const char* kJobs = "data/carbon/gaia_*.csv";
constexpr const char* kTotals = "golden/carbon/gaia_totals*.csv";
constexpr const char* kPieces = "golden/carbon/gaia_*.csv";
constexpr const char* kScaler = "golden/carbon/carbonscaler*.json";
constexpr std::size_t kWindowHours = 720;  // of a run
constexpr double kStepSeconds = 5;
constexpr double kShortSeconds = 7200;  // jobs below are short; on spot, up to there

/// Hourly series of all regions of all files, gaps filled.
using Regions = std::map<std::string, std::vector<double>>;

void read_series(const File& file, Regions& regions) {
  constexpr std::string_view kEnding = "_g_per_kwh";
  Rows rows(file.path, {"hour"});
  std::vector<std::pair<std::string, std::vector<double>>> read;
  for (const std::string& column : rows.header()) {
    if (column.ends_with(kEnding)) read.push_back({column, {}});
  }
  while (rows.next()) {
    for (auto& [column, values] : read) values.push_back(rows.number_or_nan(column));
  }
  for (auto& [column, values] : read) {
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return v == v; });
    require(any, fmt::format("no hour has a value in column {}", column));
    carbon::fill_gaps(values);
    regions[column.substr(0, column.size() - kEnding.size())] = std::move(values);
  }
}

std::vector<double> hours_of(const Regions& regions, const std::string& region, std::int64_t from,
                             std::size_t hours) {
  const auto found = regions.find(region);
  require(found != regions.end(), fmt::format("there is no series of region {}", region));
  const auto size = static_cast<std::int64_t>(found->second.size());
  require(from >= 0 && from < size, fmt::format("the series of {} has no hour {}", region, from));
  require(hours <= 1'000'000, "expected at most 1,000,000 hours");
  const auto begin = found->second.begin() + from;
  return {begin, begin + std::min(static_cast<std::int64_t>(hours), size - from)};
}

struct GaiaJob {
  double length_s = 0;
  carbon::CoreJob bought;
  bool is_long() const { return length_s >= kShortSeconds; }
};

std::vector<GaiaJob> read_jobs(const File& file) {
  Rows rows(file.path, {"job", "arrival_s", "length_s", "cpus"});
  std::vector<GaiaJob> jobs;
  while (rows.next()) {
    GaiaJob& job = jobs.emplace_back();
    job.length_s = rows.number("length_s");
    const double arrival_s = rows.number("arrival_s");
    job.bought.cores = static_cast<int>(std::clamp<std::int64_t>(rows.whole("cpus"), 0, 1 << 20));
    rows.require(job.length_s >= 0 && job.length_s <= 1e9 && arrival_s >= 0 && arrival_s <= 1e9,
                 "expected times from 0 to 1e9 s");
    job.bought.task.arrival = static_cast<carbon::Step>(arrival_s / kStepSeconds);
    job.bought.task.length = static_cast<carbon::Step>(job.length_s / kStepSeconds);
    rows.require(
        jobs.size() == 1 || job.bought.task.arrival >= jobs[jobs.size() - 2].bought.task.arrival,
        "expected jobs in order of arrival");
  }
  require(!jobs.empty(), "there are no jobs");
  return jobs;
}

/// How long short and long jobs usually run, in whole steps; jobs of exactly two hours are both.
std::pair<carbon::Step, carbon::Step> usual_lengths(const std::vector<GaiaJob>& jobs) {
  double sums[2] = {0, 0};
  double counts[2] = {0, 0};
  const auto count = [&](bool is_long, const GaiaJob& job) {
    sums[is_long] += static_cast<double>(job.bought.task.length);
    ++counts[is_long];
  };
  for (const GaiaJob& job : jobs) {
    if (job.length_s <= kShortSeconds) count(false, job);
    if (job.length_s >= kShortSeconds) count(true, job);
  }
  const auto mean = [&](bool is_long) {
    return static_cast<carbon::Step>(sums[is_long] / std::max(1.0, counts[is_long]));
  };
  return {mean(false), mean(true)};
}

/// A run as a row of the totals describes it.
struct Run {
  std::string region, name;
  std::int64_t start_hour = 0;
  carbon::WaitFor wait_for{};
  bool oracle = false;
  bool spot = false;
  carbon::Purchase purchase{};
  carbon::Step wait_short = 0, wait_long = 0;
};

/// What the artifact's options mean: --scheduling-policy and --carbon-policy.
void set_policy(const Rows& rows, Run& run) {
  using carbon::WaitFor;
  const std::string_view policy = rows.text("policy");
  const std::string_view how = rows.text("carbon_policy");
  run.spot = policy.find("spot") != std::string_view::npos;
  run.purchase.early = policy.find("cost") != std::string_view::npos;
  run.oracle = how == "oracle" || how == "cst_oracle";
  if (policy.starts_with("suspend-resume")) {
    run.wait_for = policy.ends_with("threshold") ? WaitFor::below_threshold : WaitFor::lowest_steps;
  } else if (policy == "cost") {
    run.wait_for = WaitFor::the_end;
  } else if (how == "lowest") {
    run.wait_for = WaitFor::lowest_slot;
  } else if (how.starts_with("cst_")) {
    run.wait_for = WaitFor::most_saved_a_time;
  } else {
    rows.require(how == "waiting" || how == "oracle", fmt::format("unknown policy {}", how));
    run.wait_for = WaitFor::lowest_window;
  }
}

Run read_run(const Rows& rows) {
  Run run{.region = std::string(rows.text("region")), .name = std::string(rows.text("run"))};
  run.start_hour = rows.whole("start_hour");
  const std::int64_t reserved = rows.whole("reserved_cpus");
  rows.require(reserved >= 0 && reserved <= 1'000'000, "expected reserved_cpus of 0 or more");
  run.purchase.reserved = static_cast<int>(reserved);
  const std::string_view waits = rows.text("wait_h_short_x_long");
  const auto cross = waits.find('x');
  const auto hours = [&](std::string_view text) {
    const auto value = text::parse_decimal(text);
    rows.require(value && *value >= 0 && *value <= 1e5, "expected waiting hours as 6x24");
    return static_cast<carbon::Step>(*value * static_cast<double>(carbon::kStepsAnHour));
  };
  run.wait_short = hours(waits.substr(0, cross));
  run.wait_long = hours(cross == std::string_view::npos ? "" : waits.substr(cross + 1));
  set_policy(rows, run);
  return run;
}

std::vector<carbon::BoughtPiece> play(const Run& run, const std::vector<GaiaJob>& all,
                                      const carbon::Intensity& intensity) {
  const auto [usual_short, usual_long] = usual_lengths(all);
  std::vector<carbon::CoreJob> jobs;
  std::vector<std::vector<carbon::Piece>> plans;
  std::vector<carbon::Step> starts;
  for (const GaiaJob& each : all) {
    require(each.bought.task.arrival < intensity.end(),
            "a job arrives after the end of the run's series");
    carbon::CoreJob& job = jobs.emplace_back(each.bought);
    job.on_spot = run.spot && each.length_s <= kShortSeconds;
    job.task.waiting = each.is_long() ? run.wait_long : run.wait_short;
    job.task.usual = run.oracle ? job.task.length : each.is_long() ? usual_long : usual_short;
    plans.push_back(carbon::plan(intensity, run.wait_for, job.task));
    starts.push_back(plans.back().empty() ? job.task.arrival : plans.back().front().start);
  }
  return run.purchase.reserved > 0 ? carbon::buy(jobs, starts, run.purchase)
                                   : carbon::buy_as_planned(jobs, plans);
}

/// Job, start and length of each piece of each run of a file.
using Pieces =
    std::map<std::string, std::multiset<std::tuple<std::int64_t, std::int64_t, std::int64_t>>>;

Pieces read_pieces(const File& file) {
  Rows rows(file.path, {"run", "job", "start_step", "length_steps"});
  Pieces pieces;
  while (rows.next()) {
    pieces[std::string(rows.text("run"))].emplace(rows.whole("job"), rows.whole("start_step"),
                                                  rows.whole("length_steps"));
  }
  return pieces;
}

void compare_run(Bench& bench, const Rows& rows, const Run& run, const std::vector<GaiaJob>& jobs,
                 const Regions& regions, const std::map<std::string, Pieces>& published) {
  const carbon::Intensity intensity(hours_of(regions, run.region, run.start_hour, kWindowHours));
  const auto pieces = play(run, jobs, intensity);
  double grams = 0;
  double usd = carbon::reserved_usd(run.purchase, pieces);
  double delay = 0;
  for (const auto& [at, piece, cost] : pieces) {
    grams +=
        intensity.grams_a_watt(piece.start, piece.start + piece.length) * jobs[at].bought.cores;
    usd += cost;
    delay += static_cast<double>(piece.start - jobs[at].bought.task.arrival);
  }
  const auto count = static_cast<double>(pieces.size());
  const std::string what = fmt::format("GAIA {} {} {}", run.region, run.start_hour, run.name);
  bench.add(what + ": pieces", rows.number("pieces"), count, "pieces");
  bench.add(what + ": carbon", rows.number("carbon_g"), grams, "g");
  bench.add(what + ": cost", rows.number("cost_usd"), usd, "USD");
  bench.add(what + ": mean delay of the start of a piece", rows.number("mean_start_delay_steps"),
            delay / std::max(1.0, count), "steps of 5 s");
  const auto of_file = published.find(fmt::format("{}_{}", run.region, run.start_hour));
  if (of_file == published.end()) return;
  const auto of_run = of_file->second.find(run.name);
  if (of_run == of_file->second.end()) return;
  auto left = of_run->second;
  double equal = 0;
  for (const auto& [at, piece, cost] : pieces) {
    const auto found = left.find({static_cast<std::int64_t>(at), piece.start, piece.length});
    if (found == left.end()) continue;
    left.erase(found);
    ++equal;
  }
  bench.add(what + ": pieces with start and length as published",
            static_cast<double>(of_run->second.size()), equal, "pieces");
}

void compare_gaia(Bench& bench, const Regions& regions) {
  std::vector<GaiaJob> jobs;
  bench.each(kJobs, [&](const File& file) {
    if (jobs.empty()) {
      jobs = read_jobs(file);
    } else {
      bench.note(
          fmt::format("{} is left out: the totals do not say of which jobs they are", file.name));
    }
  });
  std::map<std::string, Pieces> published;
  bench.each(kPieces, [&](const File& file) {
    if (file.stem.starts_with("gaia_totals")) return;
    published[file.stem.substr(file.stem.find('_') + 1)] = read_pieces(file);
  });
  if (jobs.empty()) return;
  bench.each(kTotals, [&](const File& file) {
    Rows rows(file.path,
              {"region", "start_hour", "run", "policy", "carbon_policy", "reserved_cpus",
               "wait_h_short_x_long", "pieces", "carbon_g", "cost_usd", "mean_start_delay_steps"});
    while (rows.next()) compare_run(bench, rows, read_run(rows), jobs, regions, published);
  });
}

carbon::ElasticTask read_task(const Json& each, const Json& profiles) {
  carbon::ElasticTask task{
      .on = {}, .least = each.at("min"), .most = each.at("max"), .work = each.at("work")};
  for (const Json& row : profiles.at(each.at("profile").get<std::string>())) {
    require(row.at("nodes").get<std::size_t>() == task.on.size(), "expected nodes 0, 1, 2 ...");
    task.on.push_back({.throughput = row.at("throughput"), .power_w = row.at("power_w")});
  }
  const bool fits = task.least >= 1 && task.least <= task.most &&
                    static_cast<std::size_t>(task.most) < task.on.size();
  require(fits, "the profile does not have min to max nodes");
  return task;
}

void compare_scaler(Bench& bench, const File& file, const Regions& regions) {
  const Json all = read_json(file);
  double cases = 0;
  double equal = 0;
  double published_g = 0;
  double ours_g = 0;
  for (const Json& each : all.at("cases")) {
    const auto task = read_task(each, all.at("profiles"));
    const std::vector<double> hours =
        hours_of(regions, each.at("region"), each.at("start_hour"), each.at("deadline_slots"));
    const auto ours = carbon::scale(task, hours);
    const Json& published = each.at("schedule");
    ++cases;
    equal += (ours ? Json(*ours) : Json(nullptr)) == published ? 1 : 0;
    if (published.is_null() || !ours) continue;
    published_g += each.at("carbon_g").get<double>();
    ours_g += carbon::grams(task, hours, *ours);
  }
  bench.add(file.name + ": cases with the nodes of each hour as by the rule", cases, equal,
            "cases");
  bench.add(file.name + ": carbon of all that can be done", published_g, ours_g, "g");
}

}  // namespace
}  // namespace carbon_recipe

void register_carbon(Recipes& registry) {
  using namespace carbon_recipe;
  registry.add(
      {.name = "carbon",
       .summary = "GAIA's runs piece by piece, and CarbonScaler's schedules",
       .paper = "Hanafy et al., ASPLOS'24 and SIGMETRICS'24",
       .kind = Kind::rerun,
       .needs = {{kSeries, "hourly intensity of US regions, from github.com/HewlettPackard/dc-rl"},
                 {kJobs, "the jobs of github.com/umassos/GAIA"},
                 {kTotals, "runs of the simulator of github.com/umassos/GAIA"},
                 {kPieces, "the pieces of these runs"},
                 {kScaler, "cases of the rule of github.com/umassos/CarbonScaler", Kind::second}},
       .make = [](Bench& bench) {
         Regions regions;
         bench.each(kSeries, [&](const File& file) { read_series(file, regions); });
         if (regions.empty()) return;
         compare_gaia(bench, regions);
         bench.each(kScaler, [&](const File& file) { compare_scaler(bench, file, regions); });
       }});
}

}  // namespace almanac::reproduce
