// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shockwave's published simulator: jobs whose batch grows, under the policies that it is compared
/// with.
///
/// Source   Zheng et al., Shockwave: Fair and Efficient Cluster Scheduling for Dynamic Adaptation
/// in
///          Machine Learning, NSDI'23, and its program.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "gavel/engine.h"
#include "gavel/regimes.h"
#include "gavel/rules.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_shockwave(Recipes& registry);

namespace {

constexpr const char* kTraces = "data/elastic/shockwave/traces*.csv";
constexpr const char* kSpeeds = "data/elastic/shockwave/throughputs_v100.csv";
constexpr const char* kPatterns = "data/elastic/shockwave/gns_patterns.csv";
constexpr const char* kJobs = "golden/elastic/shockwave/*jobs.csv";
constexpr const char* kRounds = "golden/elastic/shockwave/*rounds.csv";
constexpr const char* kFrom = "Zheng et al., NSDI'23, program of the paper (MIT)";
constexpr double kEqual = 1e-6;
/// Of AlloX, which Shockwave's program runs with a fifth of the jobs that wait.
constexpr double kConsidered = 0.2;

struct Table {
  gavel::Speeds speeds;
  gavel::RegimeTables regimes;
};

struct Workload {
  std::vector<gavel::Job> jobs;
  std::map<int, gavel::RegimeJob> regimes;
};

/// "tacc_32gpus", "scale64_gandiva_fair_rounds": which jobs on how many GPUs.
struct Set {
  std::string family;
  int gpus = 0;
  std::string name() const { return fmt::format("{}{}", family, gpus); }
};

Set set_of(std::string_view text) {
  const auto digit = text.find_first_of("0123456789");
  require(digit != std::string_view::npos, fmt::format("{} tells no number of GPUs", text));
  const auto end = std::min(text.find_first_not_of("0123456789", digit), text.size());
  const auto gpus = text::parse_whole(text.substr(digit, end - digit));
  require(gpus && *gpus > 0 && *gpus < 1'000'000, fmt::format("{} tells no number of GPUs", text));
  std::string family(text.substr(0, digit));
  if (family.ends_with('_')) family.pop_back();
  return {std::move(family), static_cast<int>(*gpus)};
}

int batch_of(const Rows& rows) {
  return rows.text("batch_size").empty() ? 0 : static_cast<int>(rows.whole("batch_size"));
}

std::map<std::string, Table> read_tables(const File& file) {
  std::map<std::string, Table> tables;
  Rows rows(file.path, {"table", "model", "batch_size", "scale_factor", "steps_per_s"});
  while (rows.next()) {
    Table& table = tables[std::string(rows.text("table"))];
    table.regimes.kinds[{std::string(rows.text("model")), batch_of(rows),
                         static_cast<int>(rows.whole("scale_factor"))}] = table.speeds.alone.size();
    table.speeds.alone.push_back({rows.number("steps_per_s")});
  }
  return tables;
}

/// "16x31 32x10": 16 for 31 epochs, then 32 for 10.
std::vector<int> read_pattern(std::string_view text) {
  std::vector<int> pattern;
  while (!text.empty()) {
    const std::string_view run = text.substr(0, text.find(' '));
    const auto times = run.find('x');
    const auto batch = text::parse_whole(run.substr(0, times));
    const auto epochs = text::parse_whole(run.substr(std::min(times, run.size() - 1) + 1));
    require(batch && epochs && *epochs > 0 && *epochs < 100'000,
            fmt::format("{} is no batch and number of epochs", run));
    pattern.insert(pattern.end(), static_cast<std::size_t>(*epochs), static_cast<int>(*batch));
    text.remove_prefix(std::min(run.size() + 1, text.size()));
  }
  return pattern;
}

class Study {
 public:
  void read_speeds(const File& file) { tables_ = read_tables(file); }

  void read_patterns(const File& file) {
    Rows rows(file.path, {"model", "batch_size", "scale_factor", "batch_size_by_epoch_of_760"});
    while (rows.next()) {
      patterns_[{std::string(rows.text("model")), batch_of(rows),
                 static_cast<int>(rows.whole("scale_factor"))}] =
          read_pattern(rows.text("batch_size_by_epoch_of_760"));
    }
  }

  void read_traces(const File& file) {
    Rows rows(file.path, {"set", "job", "model", "batch_size", "total_steps", "scale_factor",
                          "mode", "priority", "arrival_s", "exclusive_s"});
    while (rows.next()) {
      const std::string set(rows.text("set"));
      const std::string_view mode = rows.text("mode");
      rows.require(mode == "static" || mode == "accordion" || mode == "gns", "no such mode");
      gavel::RegimeJob regime{.model = std::string(rows.text("model")),
                              .batch = batch_of(rows),
                              .gpus = static_cast<int>(rows.whole("scale_factor")),
                              .mode = mode == "gns"         ? gavel::Mode::gns
                                      : mode == "accordion" ? gavel::Mode::accordion
                                                            : gavel::Mode::fixed,
                              .exclusive_s = rows.number("exclusive_s")};
      rows.require(gavel::samples_of(regime.model) > 0, "no such model");
      const Table& table = table_of(set_of(set));
      const auto kind = table.regimes.kinds.find({regime.model, regime.batch, regime.gpus});
      rows.require(kind != table.regimes.kinds.end(), "no speed of this model, batch and GPUs");
      const auto number = static_cast<int>(rows.whole("job"));
      Workload& workload = workloads_[set];
      workload.jobs.push_back({.number = number,
                               .kind = kind->second,
                               .gpus = regime.gpus,
                               .weight = rows.number("priority"),
                               .steps = rows.number("total_steps"),
                               .arrival_s = rows.number("arrival_s")});
      workload.regimes[number] = std::move(regime);
    }
  }

  /// Null: there is no such policy here, or no such set.
  const gavel::Course* play(const Set& set, const std::string& policy) {
    const auto workload = workloads_.find(set.name());
    const auto rule = gavel::make_rule(policy, {.considered = kConsidered});
    if (workload == workloads_.end() || rule == nullptr) return nullptr;
    const auto [course, is_new] = courses_.try_emplace({set.name(), policy});
    if (!is_new) return &course->second;
    Table table = table_of(set);
    table.regimes.patterns = patterns_;
    gavel::Regimes regimes(workload->second.regimes, table.regimes);
    course->second = gavel::play({.types = {"v100"}, .gpus = {set.gpus}}, table.speeds,
                                 workload->second.jobs, *rule,
                                 {.round_s = 120,
                                  .reset_s = 1000,
                                  .restart_s = 20,
                                  .restart_beyond_s = 115,
                                  .fails_late = true,
                                  .keeps_rounds = true},
                                 &regimes);
    return &course->second;
  }

  const Workload& workload(const Set& set) const { return workloads_.at(set.name()); }

 private:
  /// A family has its own speeds, or those called wisr.
  const Table& table_of(const Set& set) const {
    auto table = tables_.find(set.family);
    if (table == tables_.end()) table = tables_.find("wisr");
    require(table != tables_.end(), fmt::format("no speeds for {}", set.name()));
    return table->second;
  }

  std::map<std::string, Table> tables_;
  std::map<std::tuple<std::string, int, int>, std::vector<int>> patterns_;
  std::map<std::string, Workload> workloads_;
  std::map<std::pair<std::string, std::string>, gavel::Course> courses_;
};

struct Published {
  int job = 0;
  double jct_s = 0;
  double fixed = 0;    ///< Finish-time fairness against a share of the cluster for all jobs.
  double varying = 0;  ///< Against one for the jobs there were.
};

double to_five_places(double value) { return std::round(value * 1e5) / 1e5; }

void compare(Bench& bench, const std::string& what, const std::vector<Published>& published,
             const Workload& workload, const gavel::Course& course, int gpus) {
  std::map<int, gavel::Ended> ended;
  for (const gavel::Ended& job : course.ended) ended[job.number] = job;
  const auto jobs = static_cast<double>(published.size());
  double equal = 0;
  double fixed = 0;
  double varying = 0;
  double sum = 0;
  double our_sum = 0;
  double last = 0;
  double our_last = 0;
  for (const Published& job : published) {
    const auto mine = ended.find(job.job);
    const auto told = workload.regimes.find(job.job);
    if (mine == ended.end() || told == workload.regimes.end()) continue;
    const double jct_s = mine->second.jct_s;
    const double alone_s = told->second.exclusive_s;
    equal += std::fabs(jct_s - job.jct_s) <= kEqual * job.jct_s ? 1 : 0;
    const double per_gpu = static_cast<double>(workload.jobs.size()) / gpus;
    const double ratio = to_five_places(jct_s / (alone_s * std::max(1.0, per_gpu)));
    fixed += std::fabs(ratio - job.fixed) < 2e-5 ? 1 : 0;
    const double then =
        to_five_places(jct_s / (alone_s * std::max(1.0, mine->second.mean_active / gpus)));
    varying += std::fabs(then - job.varying) < 2e-5 ? 1 : 0;
    sum += job.jct_s;
    our_sum += jct_s;
    last = std::max(last, mine->second.arrival_s + job.jct_s);
    our_last = std::max(our_last, mine->second.arrival_s + jct_s);
  }
  bench.add(what + ": jobs with the same JCT", jobs, equal, "jobs");
  bench.add(what + ": jobs with the same static fairness", jobs, fixed, "jobs");
  bench.add(what + ": jobs with the same Themis fairness", jobs, varying, "jobs");
  bench.add(what + ": mean JCT", sum / jobs, our_sum / jobs, "s");
  bench.add(what + ": makespan", last, our_last, "s");
}

void compare_jobs(Bench& bench, const File& file, Study& study) {
  std::map<std::pair<std::string, std::string>, std::vector<Published>> runs;
  Rows rows(file.path, {"set", "policy", "job", "jct_s", "ftf_static", "ftf_themis"});
  while (rows.next()) {
    if (rows.has("kind") && rows.text("kind") != "simulation") continue;
    runs[{std::string(rows.text("set")), std::string(rows.text("policy"))}].push_back(
        {static_cast<int>(rows.whole("job")), rows.number("jct_s"), rows.number("ftf_static"),
         rows.number("ftf_themis")});
  }
  for (const auto& [run, published] : runs) {
    const auto& [name, policy] = run;
    const Set set = set_of(name);
    const gavel::Course* const course = study.play(set, policy);
    if (course == nullptr) {
      bench.note(fmt::format("{} {} {}: not played here", file.stem, name, policy));
      continue;
    }
    compare(bench, fmt::format("{} {} {}", file.stem, name, policy), published, study.workload(set),
            *course, set.gpus);
  }
}

/// Every job of every round, with the numbers of its GPUs.
void compare_rounds(Bench& bench, const File& file, Study& study) {
  std::map<std::string, std::map<std::pair<int, int>, std::string>> published;
  Rows rows(file.path, {"policy", "round", "job", "gpus"});
  while (rows.next()) {
    published[std::string(rows.text("policy"))]
             [{static_cast<int>(rows.whole("round")), static_cast<int>(rows.whole("job"))}] =
                 rows.text("gpus");
  }
  const Set set = set_of(file.stem);
  for (const auto& [policy, held] : published) {
    const gavel::Course* const course = study.play(set, policy);
    if (course == nullptr) {
      bench.note(fmt::format("{} {}: not played here", file.stem, policy));
      continue;
    }
    const std::string what = fmt::format("{} {}", file.stem, policy);
    double equal = 0;
    bool differs = false;
    for (const gavel::Ran& ran : course->ran) {
      const auto found = held.find({ran.round, ran.number});
      const std::string gpus = fmt::format("{}", fmt::join(ran.gpus, " "));
      if (found != held.end() && found->second == gpus) {
        ++equal;
      } else if (!std::exchange(differs, true)) {
        bench.note(fmt::format(
            "{}: job {} of round {} is the first that differs, on GPUs {} and not {}", what,
            ran.number, ran.round, gpus, found == held.end() ? "at all" : found->second));
      }
    }
    bench.add(what + ": jobs of rounds on the same GPUs", static_cast<double>(held.size()), equal,
              "");
    bench.add(what + ": jobs of rounds", static_cast<double>(held.size()),
              static_cast<double>(course->ran.size()), "");
  }
}

void make(Bench& bench) {
  Study study;
  bench.each(kSpeeds, [&](const File& file) { study.read_speeds(file); });
  bench.each(kPatterns, [&](const File& file) { study.read_patterns(file); });
  bench.each(kTraces, [&](const File& file) { study.read_traces(file); });
  bench.each(kJobs, [&](const File& file) { compare_jobs(bench, file, study); });
  bench.each(kRounds, [&](const File& file) { compare_rounds(bench, file, study); });
}

}  // namespace

void register_shockwave(Recipes& registry) {
  registry.add({.name = "shockwave",
                .summary = "jobs whose batch grows, under the policies Shockwave is compared with",
                .paper = "Zheng et al., NSDI'23",
                .needs = {{kTraces, kFrom},
                          {kSpeeds, kFrom},
                          {kPatterns, kFrom},
                          {kJobs, kFrom},
                          {kRounds, kFrom}},
                .make = make});
}

}  // namespace almanac::reproduce
