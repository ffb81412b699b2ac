// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "capacity/grow.h"
#include "capacity/resize_site.h"
#include "capacity/search.h"
#include "capacity/words.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "sim/simulation.h"
#include "stats/quantile.h"

namespace almanac::capacity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kNowhere = ~std::size_t{0};

/// What grows together: one partition, or the cluster.
struct Scope {
  std::string name{};
  std::vector<std::size_t> groups{};
  int today = 0;
  int least = 0;
  std::int64_t jobs = 0;  ///< That count, of the log as it is.
};

/// A case under a policy, with the search in each scope.
struct Chain {
  const Case* what = nullptr;
  std::size_t run = 0;
  const std::vector<std::size_t>* scope_of_job = nullptr;
  std::vector<Search> searches{};
  std::vector<bool> is_searched{};  ///< By scope.
  std::vector<std::int64_t> never_today{};
};

/// The statistic of each scope, and its jobs that never end.
struct Outcome {
  std::vector<double> values{};
  std::vector<std::int64_t> never{};
  std::optional<Match> match{};
};

class Planner {
 public:
  Planner(const Subject& subject, const Question& question)
      : subject_(subject), question_(question) {}

  Result<Plan> answer();

 private:
  void find_scopes();
  std::vector<std::size_t> scopes_of_jobs(const experiment::Prepared& prepared) const;
  void make_chains();
  std::vector<int> nodes_of_groups(const std::vector<int>& sizes) const;
  Result<Outcome> simulate(const Chain& chain, const std::vector<int>& sizes) const;
  Outcome measure(const Chain& chain, const sim::Schedule& schedule,
                  const std::vector<bool>& is_lost) const;
  Result<void> test_common_sizes();
  std::size_t run_of_today() const;
  Result<void> search(Chain& chain);
  Answer answer_of(const Chain& chain, std::size_t scope) const;
  template <typename Work>
  Result<void> in_parallel(std::size_t count, const Work& work) const;
  bool is_stopped() const { return question_.stop != nullptr && question_.stop->load(); }

  const Subject& subject_;
  const Question& question_;
  Duration warm_up_{0};
  Time counted_from_{};
  std::vector<Scope> scopes_;
  std::vector<std::vector<std::size_t>> scope_of_job_;  // by case
  std::vector<Chain> chains_;
  std::optional<Match> match_;
  mutable std::atomic<std::uint64_t> simulations_{0};
};

/// Runs work(0), work(1), ... and returns the first failure in this order.
template <typename Work>
Result<void> Planner::in_parallel(std::size_t count, const Work& work) const {
  std::vector<Result<void>> results(count);
  tbb::task_arena arena(question_.threads > 0 ? question_.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t at) { results[at] = work(at); });
  });
  for (Result<void>& result : results) {
    if (!result) return result;
  }
  return {};
}

void Planner::find_scopes() {
  const cluster::Cluster& cluster = subject_.log().cluster;
  if (!question_.by_partition) scopes_.push_back({.name = "all"});
  for (std::size_t at = 0; at < subject_.groups.size(); ++at) {
    const Group& group = subject_.groups[at];
    const std::string& name = cluster.vcs[index(group.vc)].name;
    if (question_.by_partition && (scopes_.empty() || scopes_.back().name != name)) {
      scopes_.push_back({.name = name});
    }
    scopes_.back().groups.push_back(at);
    scopes_.back().today += group.nodes;
    scopes_.back().least += subject_.least[at];
  }
}

std::vector<std::size_t> Planner::scopes_of_jobs(const experiment::Prepared& prepared) const {
  std::vector<std::size_t> scope_of_vc(prepared.cluster.vcs.size(), kNowhere);
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    for (const std::size_t group : scopes_[scope].groups) {
      scope_of_vc[index(subject_.groups[group].vc)] = scope;
    }
  }
  const std::vector<VcId> vcs = vcs_of_jobs(prepared);
  std::vector<std::size_t> made(vcs.size(), kNowhere);
  for (std::size_t job = 0; job < vcs.size(); ++job) {
    if (vcs[job] == kNoVc || prepared.trace.jobs[job].request.submit < counted_from_) continue;
    made[job] = scope_of_vc[index(vcs[job])];
  }
  return made;
}

void Planner::make_chains() {
  for (std::size_t which = 0; which < subject_.cases.size(); ++which) {
    const Case& what = subject_.cases[which];
    for (std::size_t run = 0; run < what.prepared->runs.size(); ++run) {
      Chain chain{.what = &what, .run = run, .scope_of_job = &scope_of_job_[which]};
      for (const Scope& scope : scopes_) {
        chain.searches.emplace_back(question_.goal, scope.today, scope.least);
        const bool loses = std::any_of(scope.groups.begin(), scope.groups.end(),
                                       [&](std::size_t group) { return what.lost[group] > 0; });
        const bool is_loss =
            std::any_of(what.lost.begin(), what.lost.end(), [](int lost) { return lost > 0; });
        chain.is_searched.push_back(scope.jobs > 0 && (loses || !is_loss));
      }
      chains_.push_back(std::move(chain));
    }
  }
}

/// The nodes of each group for sizes of the scopes, before any are lost.
std::vector<int> Planner::nodes_of_groups(const std::vector<int>& sizes) const {
  std::vector<int> nodes(subject_.groups.size());
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    std::vector<Group> groups;
    std::vector<int> least;
    for (const std::size_t at : scopes_[scope].groups) {
      groups.push_back(subject_.groups[at]);
      least.push_back(subject_.least[at]);
    }
    const std::vector<int> own = split(groups, least, sizes[scope]);
    for (std::size_t at = 0; at < own.size(); ++at) nodes[scopes_[scope].groups[at]] = own[at];
  }
  return nodes;
}

Result<Outcome> Planner::simulate(const Chain& chain, const std::vector<int>& sizes) const {
  const auto stopped = [] { return fail(Code::unavailable, "interrupted"); };
  if (is_stopped()) return stopped();
  const experiment::Prepared& prepared = *chain.what->prepared;
  std::vector<int> nodes = nodes_of_groups(sizes);
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    nodes[at] = std::max(0, nodes[at] - chain.what->lost[at]);
  }
  std::vector<bool> is_lost(scopes_.size(), false);
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    std::vector<int> left(prepared.cluster.vcs.size(), 0);
    for (const std::size_t at : scopes_[scope].groups) {
      left[index(subject_.groups[at].vc)] += nodes[at];
    }
    for (const std::size_t at : scopes_[scope].groups) {
      if (left[index(subject_.groups[at].vc)] > 0) continue;
      // No virtual cluster may be empty, so it keeps a node, and its jobs count as unable to run.
      nodes[at] = 1;
      is_lost[scope] = true;
    }
  }
  const cluster::Cluster cluster = resized(prepared.cluster, nodes);
  experiment::Prepared::Run run = prepared.runs[chain.run];
  const policy::TraitSet traits = policy::registry().traits(run.composition);
  if (run.site != nullptr && traits.has(policy::Trait::reads_site)) {
    run.site = std::make_shared<const site::Site>(resized(*run.site, cluster));
  }
  const auto policy = experiment::make_policy(run, prepared.trace, prepared.model);
  if (!policy) return tl::unexpected(policy.error());
  sim::Options options = experiment::options_of(prepared, chain.run);
  std::unique_ptr<schedule::SpeedBook> speeds;
  std::unique_ptr<schedule::SpeedBook> believed;
  if (prepared.speeds) speeds = prepared.speeds->of(cluster, prepared.trace);
  if (prepared.believed) believed = prepared.believed->of(cluster, prepared.trace);
  options.truth.speeds = speeds.get();
  options.believed = believed.get();
  options.warm_up = warm_up_;
  options.watch.stop = question_.stop;
  const sim::Schedule schedule = sim::simulate(prepared.trace, cluster, **policy, options);
  if (schedule.interrupted) return stopped();
  ++simulations_;
  return measure(chain, schedule, is_lost);
}

Outcome Planner::measure(const Chain& chain, const sim::Schedule& schedule,
                         const std::vector<bool>& is_lost) const {
  const trace::Trace& trace = chain.what->prepared->trace;
  std::vector<std::vector<double>> values(scopes_.size());
  Outcome made{.values = std::vector<double>(scopes_.size(), kInfinity),
               .never = std::vector<std::int64_t>(scopes_.size(), 0)};
  Match match;
  std::vector<double> recorded_s;
  std::vector<double> simulated_s;
  std::int64_t counted = 0;
  std::int64_t as_recorded = 0;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const std::size_t scope = (*chain.scope_of_job)[at];
    if (scope == kNowhere) continue;
    const sim::JobResult result = schedule.jobs[at];
    if (result.phase != policy::Phase::ended) {
      values[scope].push_back(kInfinity);
      ++made.never[scope];
      continue;
    }
    const trace::Job& job = trace.jobs[at];
    const Time joined = sim::joined(job.request, result);
    const Duration completion = result.end - joined;
    const Duration waited = completion - result.ran;
    values[scope].push_back(question_.goal.measured(waited, completion, job.outcome.run));
    ++counted;
    if (job.outcome.start == kNoTime) continue;
    const Duration recorded = experiment::recorded_wait(job);
    recorded_s.push_back(seconds(recorded));
    simulated_s.push_back(seconds(waited));
    ++match.jobs;
    if (std::max(recorded, waited) > experiment::kSameStart) ++match.waited;
    const Duration off = std::chrono::abs(result.start - job.outcome.start);
    if (off <= experiment::kSameStart) ++as_recorded;
  }
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    if (!is_lost[scope]) made.values[scope] = question_.goal.statistic(values[scope]);
  }
  constexpr double kEnough = 0.95;
  if (match.jobs > 0 && static_cast<double>(match.jobs) >= kEnough * static_cast<double>(counted)) {
    match.share = static_cast<double>(as_recorded) / static_cast<double>(match.jobs);
    match.recorded = experiment::wait_figures(recorded_s);
    match.simulated = experiment::wait_figures(simulated_s);
    made.match = match;
  }
  return made;
}

/// Simulates the sizes that every search begins with, all at once.
Result<void> Planner::test_common_sizes() {
  constexpr std::size_t kSizes = std::size(kAtLeastTested);
  std::vector<Outcome> outcomes(chains_.size() * kSizes);
  const auto sizes_at = [&](const Chain& chain, std::size_t which) {
    std::vector<int> sizes;
    for (const Search& search : chain.searches) {
      sizes.push_back(search.size_at(kAtLeastTested[which]));
    }
    return sizes;
  };
  auto tested = in_parallel(outcomes.size(), [&](std::size_t at) -> Result<void> {
    const Chain& chain = chains_[at / kSizes];
    const std::vector<int> sizes = sizes_at(chain, at % kSizes);
    // Few nodes have few sizes.
    const bool is_known =
        at % kSizes > 0 && sizes == sizes_at(chain, at % kSizes - 1) && at % kSizes + 1 < kSizes;
    if (is_known) return {};
    auto made = simulate(chain, sizes);
    if (!made) return tl::unexpected(made.error());
    outcomes[at] = std::move(*made);
    return {};
  });
  if (!tested) return tested;
  for (std::size_t at = 0; at < outcomes.size(); ++at) {
    if (outcomes[at].values.empty()) continue;
    Chain& chain = chains_[at / kSizes];
    const std::vector<int> sizes = sizes_at(chain, at % kSizes);
    for (std::size_t scope = 0; scope < sizes.size(); ++scope) {
      chain.searches[scope].record(sizes[scope], outcomes[at].values[scope]);
    }
    if (at % kSizes == kSizes - 1) chain.never_today = outcomes[at].never;
  }
  const std::size_t today = run_of_today();
  match_ = outcomes[today * kSizes + kSizes - 1].match;  // today's nodes
  if (match_) match_->policy = subject_.log().runs[today].composition.name;
  return {};
}

/// Returns the run of the log as it is under the policy most like today's.
std::size_t Planner::run_of_today() const {
  const auto& runs = subject_.log().runs;
  const auto reader = std::find_if(runs.begin(), runs.end(), [](const auto& run) {
    return run.site != nullptr &&
           policy::registry().traits(run.composition).has(policy::Trait::reads_site);
  });
  return reader == runs.end() ? 0 : static_cast<std::size_t>(reader - runs.begin());
}

Result<void> Planner::search(Chain& chain) {
  while (true) {
    std::vector<int> sizes;
    std::vector<bool> asked;
    for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
      const Search& search = chain.searches[scope];
      const auto next = chain.is_searched[scope] ? search.next() : std::nullopt;
      sizes.push_back(next.value_or(search.answer().value_or(search.today())));
      asked.push_back(next.has_value());
    }
    if (std::none_of(asked.begin(), asked.end(), [](bool each) { return each; })) return {};
    const auto made = simulate(chain, sizes);
    if (!made) return tl::unexpected(made.error());
    for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
      if (asked[scope]) chain.searches[scope].record(sizes[scope], made->values[scope]);
    }
  }
}

Answer Planner::answer_of(const Chain& chain, std::size_t scope) const {
  const Search& search = chain.searches[scope];
  const experiment::Prepared& prepared = *chain.what->prepared;
  Answer made{.partition = scopes_[scope].name,
              .scenario = chain.what->name,
              .policy = prepared.runs[chain.run].composition.name,
              .nodes_today = scopes_[scope].today,
              .value_today = search.tested().at(search.size_at(1)),
              .never_today = chain.never_today[scope],
              .nodes = search.answer(),
              .month_cost = stats::kNaN};
  for (const auto& [nodes, value] : search.tested()) made.curve.push_back({nodes, value});
  if (!made.nodes) return made;
  std::vector<int> sizes;
  for (const Scope& each : scopes_) sizes.push_back(each.today);
  sizes[scope] = *made.nodes;
  const std::vector<int> nodes = nodes_of_groups(sizes);
  if (!question_.prices.empty()) made.month_cost = 0;
  for (const std::size_t at : scopes_[scope].groups) {
    const cluster::NodeClass& make = prepared.cluster.classes[subject_.groups[at].node_class];
    made.gpus += nodes[at] * make.gpus;
    if (!question_.prices.empty() && make.gpus > 0) {
      made.month_cost += nodes[at] * make.gpus * price_of(question_.prices, make) * kMonth_h;
    }
    const std::string type =
        make.gpus == 0
            ? "CPU"
            : fmt::format("{} x {}", make.gpus, make.gpu_type.empty() ? "GPU" : make.gpu_type);
    const auto known = std::find_if(made.types.begin(), made.types.end(),
                                    [&](const NodesOfType& each) { return each.type == type; });
    if (known == made.types.end()) {
      made.types.push_back({type, subject_.groups[at].nodes, nodes[at]});
    } else {
      known->today += subject_.groups[at].nodes;
      known->needed += nodes[at];
    }
  }
  return made;
}

Result<Plan> Planner::answer() {
  const experiment::Prepared& log = subject_.log();
  if (!question_.prices.empty() && !requests_gpus(log.trace)) {
    return fail(Code::usage, "--price is money per GPU-hour, but no job requests a GPU",
                {.file = log.trace.path},
                "leave --price out: the nodes needed do not depend on it");
  }
  if (auto priced = check_prices(question_.prices, log.cluster); !priced) {
    return tl::unexpected(priced.error());
  }
  const auto& jobs = log.trace.jobs;
  const Duration span =
      jobs.empty() ? Duration{0} : jobs.back().request.submit - jobs.front().request.submit;
  warm_up_ = question_.warm_up.value_or(span < kShortLog ? Duration{0} : span / 10);
  counted_from_ = jobs.empty() ? Time{} : jobs.front().request.submit + warm_up_;
  find_scopes();
  for (const Case& what : subject_.cases) scope_of_job_.push_back(scopes_of_jobs(*what.prepared));
  for (const std::size_t scope : scope_of_job_.front()) {
    if (scope != kNowhere) ++scopes_[scope].jobs;
  }
  Plan made{.goal = question_.goal,
            .days = seconds(span) / seconds(24h),
            .warm_up = warm_up_,
            .is_inferred = log.cluster.inferred,
            .nodes = static_cast<int>(log.cluster.nodes.size()),
            .gpus = log.cluster.gpus()};
  for (const Scope& scope : scopes_) made.jobs += scope.jobs;
  if (made.jobs == 0) {
    if (warm_up_ == Duration{0}) {
      return fail(Code::invalid, "no job ran and can be simulated on this cluster",
                  {.file = log.trace.path});
    }
    return fail(Code::invalid,
                "no job that ran and can be simulated was submitted after the warm-up",
                {.file = log.trace.path}, "shorten --warm-up");
  }
  for (const auto& run : log.runs) made.policies.push_back(run.composition.name);
  make_chains();
  if (auto tested = test_common_sizes(); !tested) return tl::unexpected(tested.error());
  auto searched = in_parallel(chains_.size(), [&](std::size_t at) { return search(chains_[at]); });
  if (!searched) return tl::unexpected(searched.error());
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    for (const Chain& chain : chains_) {
      if (chain.is_searched[scope]) made.answers.push_back(answer_of(chain, scope));
    }
  }
  made.match = match_;
  made.simulations = simulations_;
  say_what_follows(made, subject_);
  return made;
}

}  // namespace

Result<Plan> plan(const Subject& subject, const Question& question) {
  return Planner(subject, question).answer();
}

}  // namespace almanac::capacity
