// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cores by feedback. A GPU job starts with as many cores as its owner's jobs of the same kind
/// could use. Every 90 s (`trial_s`) it tries more or fewer, until the fewest that keep its GPUs as
/// busy are found (core_search.h). So a job that requested too many gives some up, and one that
/// requested too few gets more while cores are idle. A job starts with one core per GPU if no more
/// are free.
///
/// Source   CODA (Zhao et al., ICDCS'20), the adaptive CPU allocator. Only the abstract was
///          available; periods and tolerance are our own.
/// Differs  The search (see core_search.h). Results are kept by user and job name, then by user and
///          kind, then by kind; at first every kind starts with 3 cores per GPU. A job with fewer
///          cores than it can use gets more whenever some become free on its node, fewest first. On
///          a live cluster a finished search starts again if the utilization of the GPUs, with the
///          same cores, differs by a tenth from its usual value in three successive measurements a
///          trial apart: the job now does something else. Simulated jobs do not change, so they are
///          not checked. A job without measurements keeps its cores and is checked again after a
///          trial. If it may never be measured, it starts with what it requests, unless other jobs
///          of its user and name were measured.
/// Cost     O(log jobs) per trial; O(jobs on the node) per change on a node
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"
#include "policy/size/core_search.h"

namespace almanac::policy::size {
namespace {

constexpr int kFirstCores = 3;  // per GPU, if nothing is known
constexpr int kMostCores = 24;  // per GPU
constexpr std::int32_t kCore = 1000;
constexpr double kDrift = 0.1;  // of the usual utilization
constexpr int kDrifts = 3;
constexpr double kIdle = 0.05;  // utilization

class Adaptive final : public Size {
 public:
  explicit Adaptive(Duration trial) : trial_(trial) {}
  cluster::Demand demand(JobId job, const cluster::Demand& asked, const View& view) override {
    if (asked.is_cpu_job() || view.telemetry == nullptr || !view.cluster.counts_cpus()) {
      return asked;
    }
    const Memory known = remembered(view.request(job));
    if (!known.of_its_own && !view.telemetry->will_know_gpu_use(job)) return asked;
    cluster::Demand made = asked;
    made.cpu_milli = known.cores * kCore;
    return made;
  }

  cluster::Demand least(const cluster::Demand& demand) const override {
    cluster::Demand made = demand;
    if (!demand.is_cpu_job()) made.cpu_milli = std::min(made.cpu_milli, kCore);
    return made;
  }

  void started(JobId job, const Desk& desk) override {
    const View& view = desk.view();
    if (view.telemetry == nullptr || !view.cluster.counts_cpus()) return;
    if (desk.demand(job).is_cpu_job()) return;
    if (on_node_.empty()) on_node_.resize(view.cluster.nodes.size());
    const bool informed = remembered(view.request(job)).of_its_own;
    jobs_.insert_or_assign(
        job, Watched{.search = CoreSearch(kMostCores, informed), .due = desk.now() + trial_});
    due_.push({desk.now() + trial_, job});
    for (const cluster::Grant& grant : desk.grants(job)) {
      on_node_[index(grant.node)].push_back(job);
    }
  }

  void ended(JobId job, const Desk& desk) override {
    if (jobs_.erase(job) == 0) return;
    for (const cluster::Grant& grant : desk.view().grants(job)) {
      std::erase(on_node_[index(grant.node)], job);
    }
  }

  void follow(Desk& desk) override {
    if (on_node_.empty()) return;
    while (!due_.empty() && due_.top().at <= desk.now()) {
      const Due next = due_.top();
      due_.pop();
      const auto found = jobs_.find(next.job);
      if (found == jobs_.end() || found->second.due != next.at) continue;
      Watched& watched = found->second;
      if (watched.settled && !drifts(next.job, watched, desk)) {
        look_later(next.job, watched, desk);
        continue;
      }
      if (watched.settled) watched = {.search = CoreSearch(kMostCores, false)};
      judge(next.job, watched, desk);
    }
    const std::size_t touched = desk.touched.size();
    for (std::size_t at = 0; at < touched; ++at) feed(desk.touched[at], desk);
    if (!due_.empty() && (due_.top().at < woken_ || woken_ <= desk.now())) {
      woken_ = due_.top().at;
      desk.plan().wake(woken_);
    }
  }

  bool give_up(NodeId node, std::int32_t cpu_milli, std::int32_t keep, Desk& desk) override {
    if (on_node_.empty()) return false;
    std::int32_t lacking = cpu_milli - desk.ledger().room(node).cpu_milli;
    shrunk_.clear();
    for (const JobId job : on_node_[index(node)]) {
      const auto held = desk.grants(job);
      if (!desk.runs(job) || held.size() > 1) continue;  // all nodes of a job would have to shrink
      if (!desk.view().telemetry->gpu_use(job)) continue;
      shrunk_.push_back({job, held[0].cpu_milli / held[0].count(), held[0].count()});
    }
    while (lacking > 0) {
      const auto most = std::max_element(
          shrunk_.begin(), shrunk_.end(),
          [](const Shrunk& a, const Shrunk& b) { return a.cpu_milli < b.cpu_milli; });
      if (most == shrunk_.end() || most->cpu_milli - kCore < keep) return false;
      most->cpu_milli -= kCore;
      lacking -= kCore * most->gpus;
    }
    for (const Shrunk& each : shrunk_) {
      const cluster::Grant& held = desk.grants(each.job)[0];
      if (each.cpu_milli * each.gpus < held.cpu_milli - held.cpu_milli % each.gpus) {
        give(each.job, each.cpu_milli, desk);
      }
    }
    return true;
  }

 private:
  struct Watched {
    CoreSearch search;
    Time due{};            // when its trial is judged or it is checked again; kNever if neither
    bool settled = false;  // on the result of the search
    double usual = 0;      // utilization since then; 0 if unknown
    std::int32_t usual_cpu_milli = 0;  // cores at that utilization
    int drifts = 0;                    // successive checks with another utilization
  };
  struct Due {
    Time at{};
    JobId job{};

    friend bool operator>(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.job > b.job;
    }
  };
  struct Memory {
    int cores = kFirstCores;
    bool of_its_own = false;  ///< Of jobs of the same user and name.
  };
  struct Shrunk {
    JobId job{};
    std::int32_t cpu_milli = 0;  // per GPU
    int gpus = 0;
  };
  using Key = std::pair<NameId, NameId>;  // user, and name or kind; kNoName = any user

  Memory remembered(const trace::Request& job) const {
    if (const auto own = by_name_.find({job.user, job.name});
        job.name != kNoName && own != by_name_.end()) {
      return {own->second, true};
    }
    for (const NameId user : {job.user, kNoName}) {
      const auto kind = by_kind_.find({user, job.kind});
      if (kind != by_kind_.end()) return {kind->second, false};
    }
    return {};
  }

  void remember(const trace::Request& job, int cores) {
    if (job.name != kNoName) by_name_[{job.user, job.name}] = cores;
    by_kind_[{job.user, job.kind}] = cores;
    by_kind_[{kNoName, job.kind}] = cores;
  }

  /// Returns the cores per GPU on the node with the fewest.
  static std::int32_t held(JobId job, const Desk& desk) {
    std::int32_t least = cluster::kUnbounded;
    for (const cluster::Grant& grant : desk.grants(job)) {
      least = std::min(least, grant.cpu_milli / grant.count());
    }
    return least;
  }
  /// Returns the same if the job got all idle cores.
  static std::int32_t obtainable(JobId job, Desk& desk) {
    std::int32_t least = kMostCores * kCore;
    for (const cluster::Grant& grant : desk.grants(job)) {
      const std::int32_t idle = desk.ledger().room(grant.node).cpu_milli;
      least = std::min(least, (grant.cpu_milli + idle) / grant.count());
    }
    return least / kCore * kCore;
  }

  /// Gives a running job `cpu_milli` per GPU.
  void give(JobId job, std::int32_t cpu_milli, Desk& desk) {
    const auto now = desk.grants(job);
    grants_.assign(now.begin(), now.end());
    for (cluster::Grant& grant : grants_) grant.cpu_milli = cpu_milli * grant.count();
    desk.resize(job, grants_);
  }

  void judge(JobId job, Watched& watched, Desk& desk) {
    CoreSearch& search = watched.search;
    const auto use = desk.view().telemetry->gpu_use(job);
    if (!use) return look_later(job, watched, desk);
    const std::int32_t has = held(job, desk);
    search.observe(std::max(1, has / kCore), *use);
    const std::int32_t most = obtainable(job, desk);
    const std::int32_t wanted = search.next(most / kCore) * kCore;
    if (std::min(wanted, most) != has) give(job, std::min(wanted, most), desk);
    watched.settled = search.done();
    watched.usual = 0;
    if (search.done() && !search.wants_more()) {
      remember(desk.view().request(job), search.enough());
    }
    const bool may_drift = desk.view().telemetry->renewed_every() != kNoDuration;
    if (search.done() && !may_drift) {
      watched.due = kNever;
    } else {
      look_later(job, watched, desk);
    }
  }

  void look_later(JobId job, Watched& watched, const Desk& desk) {
    watched.due = desk.now() + trial_;
    due_.push({watched.due, job});
  }

  /// Whether a settled job now does something else.
  static bool drifts(JobId job, Watched& watched, const Desk& desk) {
    const auto use = desk.view().telemetry->gpu_use(job);
    // GPUs that hardly compute say nothing about cores: the job saves or validates.
    if (!use || *use < kIdle) {
      watched.drifts = 0;
      return false;
    }
    if (const std::int32_t has = held(job, desk);
        watched.usual == 0 || has != watched.usual_cpu_milli) {
      watched.usual = *use;
      watched.usual_cpu_milli = has;
      watched.drifts = 0;
      return false;
    }
    const bool differs = std::abs(*use - watched.usual) > kDrift * watched.usual;
    watched.drifts = differs ? watched.drifts + 1 : 0;
    return watched.drifts == kDrifts;
  }

  /// Returns the cores per GPU that the job can use, or those that it should start with while that
  /// is unknown.
  static std::int32_t useful(JobId job, const CoreSearch& search, const Desk& desk) {
    return search.enough() > 0 ? search.enough() * kCore : desk.demand(job).cpu_milli;
  }

  /// Gives the idle cores of a node to its jobs that can use more.
  void feed(NodeId node, Desk& desk) {
    if (desk.ledger().room(node).cpu_milli < kCore) return;
    hungry_.clear();
    for (const JobId job : on_node_[index(node)]) {
      const Watched& watched = jobs_.at(job);
      const CoreSearch& search = watched.search;
      const bool unknown = search.enough() == 0 && !desk.view().telemetry->gpu_use(job);
      if ((!watched.settled && !unknown) || !desk.runs(job)) continue;
      const std::int32_t has = held(job, desk);
      const bool tries = search.enough() > 0 && search.wants_more();
      if (tries || has < useful(job, search, desk)) hungry_.emplace_back(has, job);
    }
    std::sort(hungry_.begin(), hungry_.end());
    for (const auto& [has, job] : hungry_) {
      Watched& watched = jobs_.at(job);
      const std::int32_t most = obtainable(job, desk);
      if (most <= has) continue;
      const std::int32_t enough = useful(job, watched.search, desk);
      if (has < enough) {
        give(job, std::min(enough, most), desk);
      } else {
        judge(job, watched, desk);
      }
    }
  }

  Duration trial_;
  std::unordered_map<JobId, Watched> jobs_;  // running jobs
  std::vector<std::vector<JobId>> on_node_;  // the same by node
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Time woken_ = Time::min();  // when follow() will be, or was, called for the first of due_
  std::map<Key, int> by_name_;
  std::map<Key, int> by_kind_;
  std::vector<cluster::Grant> grants_;
  std::vector<std::pair<std::int32_t, JobId>> hungry_;
  std::vector<Shrunk> shrunk_;
};

}  // namespace

void register_adaptive(Registry& registry) {
  registry.sizes.add(
      {"adaptive",
       "as many cores as keep the GPUs busy, found by trial",
       "Zhao et al. ICDCS'20 (CODA)",
       {.has = {Trait::reads_speeds, Trait::chooses_cores, Trait::gives_cores}},
       {number("trial_s", "how long each trial with another number of cores runs", 90, 1, 1e9)}},
      [](const Parameters& told) { return std::make_unique<Adaptive>(told.duration("trial_s")); });
}

}  // namespace almanac::policy::size
