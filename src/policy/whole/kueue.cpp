// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kueue: a cycle looks at the first job of each queue, and admits it if its queue, or the cohort
/// that the queue borrows from, has quota. An admitted job starts once its pods find nodes.
///
/// If the host knows the objects of a site (Host::queues), its queues, cohorts and flavors count. A
/// job belongs to the queue that its virtual cluster, partition, account or user names
/// (kueue/logged_jobs.h). Otherwise each virtual cluster is a ClusterQueue of its own with Kueue's
/// defaults: BestEffortFIFO, no preemption, its GPUs as quota, a flavor for each GPU type.
///
/// With order=almanac, it simulates a Kueue that lever `order` of `serve --engine kubernetes`
/// orders: the lever sees what Kueue has done, and raises the priority of few jobs by few ranks
/// (kueue/simulated_lever.h). It leaves out queues where a rank could evict or overtake others, and
/// StrictFIFO queues. With order=backfill all queues that it may order are StrictFIFO, as in the
/// lever's mode backfill: those that fit now go first, then one that has a reservation.
///
/// Source   Kueue v0.19 (room kueue).
/// Differs  Cycles take no time, and follow until none admits a job. Pods of a job start together,
///          when all find nodes, in the order of admission; Kubernetes places them one by one. A
///          part of a GPU counts as a whole one. A job that a node failed waits again with its
///          submission time. Topologies, admission checks, usage-based sharing of LocalQueues and
///          elastic slices are not modelled.
/// Cost     O(q log n) per cycle with q queues and n that wait; an end tries each shape of job once
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "kueue/logged_jobs.h"
#include "kueue/order_guard.h"
#include "kueue/ranks.h"
#include "kueue/scheduler.h"
#include "policy/kit/beliefs.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/kit/placer.h"
#include "policy/registry.h"
#include "policy/whole/kueue/simulated_lever.h"

namespace almanac::policy::whole {
namespace {

/// Names sort as jobs arrived: Kueue decides between equals by uid.
std::string name_of(JobId job) { return fmt::format("{:010}", index(job)); }
JobId job_of(std::string_view name) {
  return JobId{static_cast<std::uint32_t>(std::stoul(std::string(name)))};
}

/// The flavor of a GPU type where no objects are known.
std::string plain_name(const std::string& type) { return type.empty() ? "gpu" : type; }

std::int64_t second_of(Time time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// Who orders the queues.
enum class QueueOrder : std::uint8_t { own, almanac, backfill };

class Kueue final : public Policy {
 public:
  Kueue(std::unique_ptr<Placement> placement, Host host, bool is_fair, QueueOrder order)
      : placement_(std::move(placement)),
        known_(std::move(host.site.queues)),
        names_(host.site.names),
        is_fair_(is_fair),
        order_(order),
        beliefs_(std::move(host.estimator)) {
    if (order_ != QueueOrder::own) beliefs_.ask();
  }

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    view_ = &view;
    plan_ = &plan;
    if (!scheduler_) open(view.cluster);
    doubted_.hear(events, view);
    for (const Event& event : events) take_in(event);
    run_cycles();
    if (lever_) pull_lever(events);
    place_admitted();
    view_ = nullptr;
    plan_ = nullptr;
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(view.progress(job).vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    const QueueOf& queue = queues_[queue_of_job_.at(job)];
    if (!admissions_.contains(job)) {
      const std::string_view first = scheduler_->first(queue.name);
      if (!first.empty() && job_of(first) != job && !scheduler_->is_aside(name_of(job))) {
        reason.kind = ReasonKind::behind;
        reason.other = job_of(first);
        return reason;
      }
      if (known_ != nullptr) {
        reason.kind = ReasonKind::at_quota;
        return reason;
      }
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    return reason;
  }

  /// Jobs that have quota come first: they wait for nodes only.
  void line_up(std::vector<JobId>& line) const override {
    if (!scheduler_) return;
    for (const QueueOf& queue : queues_) {
      for (const auto& [order, job] : queue.pending) line.push_back(job);
      for (const std::string_view name : scheduler_->waiting(queue.name)) {
        line.push_back(job_of(name));
      }
    }
  }

 private:
  /// A ClusterQueue.
  struct QueueOf {
    std::string name{};
    std::map<std::uint64_t, JobId> pending{};  ///< Admitted and without nodes, as admitted.
  };
  /// What a job was admitted with.
  struct Admission {
    std::uint64_t order = 0;
    std::uint64_t gpu_types = ~std::uint64_t{0};  ///< That its flavor stands for.
  };

  void open(const cluster::Cluster& machines) {
    types_ = machines.gpu_types();
    kueue::Setup setup = known_ != nullptr ? known_->setup : plain_setup(machines);
    setup.is_fair = is_fair_;
    setup.has_boosts = order_ != QueueOrder::own;
    std::vector<bool> may_rank;
    const std::vector<std::string> obstacles = kueue::rank_obstacles(
        setup, known_ != nullptr ? known_->ordered_by_usage : std::set<std::string>());
    for (std::size_t at = 0; at < setup.queues.size(); ++at) {
      kueue::ClusterQueue& queue = setup.queues[at];
      queues_.push_back({.name = queue.name});
      queue.is_strict =
          queue.is_strict || (order_ == QueueOrder::backfill && obstacles[at].empty());
      may_rank.push_back(obstacles[at].empty() &&
                         queue.is_strict == (order_ == QueueOrder::backfill));
    }
    for (const kueue::Flavor& flavor : setup.flavors) {
      flavors_.emplace(flavor.name, kueue::types_of(flavor, types_));
    }
    for (kueue::ClusterQueue& queue : setup.queues) {
      auto& threshold = queue.highest_preempted_while_borrowing;
      if (threshold) threshold = scaled(*threshold);
    }
    resources_ = kueue::Resources(setup);
    setup_ = setup;
    if (order_ != QueueOrder::own) lever_.emplace(setup_, std::move(may_rank));
    auto made = kueue::Scheduler::make(std::move(setup));
    ALMANAC_CHECK(made, "{}", made.error().message);
    scheduler_ = std::move(*made);
  }

  /// A queue for each virtual cluster.
  kueue::Setup plain_setup(const cluster::Cluster& machines) const {
    kueue::Setup setup;
    for (const std::string& type : types_) {
      // A type that is shared in two ways appears twice.
      const bool is_known =
          std::any_of(setup.flavors.begin(), setup.flavors.end(),
                      [&](const kueue::Flavor& each) { return each.name == plain_name(type); });
      if (!is_known) setup.flavors.push_back({.name = plain_name(type)});
    }
    for (std::size_t vc = 0; vc < machines.vcs.size(); ++vc) {
      kueue::ClusterQueue& queue = setup.queues.emplace_back();
      queue.name = fmt::format("{:06}", vc);
      kueue::ResourceGroup& group = queue.groups.emplace_back();
      for (const kueue::Flavor& flavor : setup.flavors) {
        group.flavors.push_back({flavor.name, {{"nvidia.com/gpu", {0}}}});
      }
      const cluster::VirtualCluster& of = machines.vcs[vc];
      for (std::uint32_t at = 0; at < of.num_nodes; ++at) {
        const cluster::NodeClass& node =
            machines.classes[machines.nodes[index(of.first) + at].node_class];
        for (kueue::FlavorQuotas& quotas : group.flavors) {
          if (quotas.flavor == plain_name(node.gpu_type)) {
            quotas.resources.begin()->second.nominal += node.gpus;
          }
        }
      }
    }
    return setup;
  }

  /// Leaves room for ranks between two priorities.
  std::int64_t scaled(std::int64_t priority) const {
    return order_ != QueueOrder::own ? priority * (kueue::kHighestRank + 1) : priority;
  }

  std::size_t queue_at(JobId job) const {
    if (known_ == nullptr) return index(view_->progress(job).vc);
    const auto found = kueue::queue_of(setup_, view_->request(job), *names_);
    ALMANAC_CHECK(found, "job {} is in no queue", index(job));
    return *found;
  }

  kueue::Submission submission_of(JobId job) const {
    const cluster::Demand& demand = view_->demand(view_->progress(job).demand);
    const std::size_t queue = queue_of_job_.at(job);
    kueue::Submission made{.name = name_of(job),
                           .queue = queues_[queue].name,
                           .created = second_of(view_->request(job).submit),
                           .priority = scaled(view_->tier(job))};
    kueue::PodSet& pods = made.pod_sets.emplace_back();
    pods.name = "main";
    const cluster::Amount total = demand.total();
    pods.requests = resources_.requests(queue, demand.gpus, total.cpu_milli, total.memory_mb);
    if (demand.is_cpu_job()) return made;
    pods.flavors.emplace();
    for (const auto& [flavor, types] : flavors_) {
      if ((types & demand.gpu_types) != 0) pods.flavors->push_back(flavor);
    }
    return made;
  }

  void take_in(const Event& event) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        queue_of_job_[job] = queue_at(job);
        beliefs_.believe(job, *view_);
        submit(job);
        break;
      case EventKind::job_adopted:
        queue_of_job_[job] = queue_at(job);
        beliefs_.believe(job, *view_);
        adopt(job);
        break;
      case EventKind::job_failed:
        forget(job);
        submit(job);
        break;
      case EventKind::job_ended:
      case EventKind::job_withdrawn:
        if (event.kind == EventKind::job_ended) beliefs_.learn(job, *view_);
        forget(job);
        queue_of_job_.erase(job);
        break;
      default:
        break;
    }
  }

  void submit(JobId job) {
    const auto done = scheduler_->submit(submission_of(job));
    ALMANAC_CHECK(done, "{}", done.error().message);
    show_lever(job);
    has_news_ = true;
  }

  void show_lever(JobId job) {
    if (!lever_) return;
    const trace::Request& request = view_->request(job);
    lever_->submit(job, {.submission = submission_of(job),
                         .created = request.submit,
                         .gpus = std::max<double>(1, request.gpus),
                         .run = beliefs_.run(job),
                         .bound = beliefs_.bound(job),
                         .limit = request.time_limit});
  }

  /// Kueue has seen the events already: the lever hears of them later.
  void pull_lever(std::span<const Event> events) {
    lever_->count_ends(std::count_if(events.begin(), events.end(), [](const Event& event) {
      return event.kind == EventKind::job_ended;
    }));
    while (const auto write = lever_->next(view_->now)) {
      scheduler_->set_boost(name_of(write->job), write->becomes);
      has_news_ = true;
      run_cycles();
    }
  }

  /// Counts a job that runs as admitted to the flavor of its GPUs.
  void adopt(JobId job) {
    kueue::Submission made = submission_of(job);
    std::map<std::string, std::string> flavors;
    for (const auto& [resource, amount] : made.pod_sets[0].requests) {
      flavors.emplace(resource, flavor_of(queue_of_job_.at(job), view_->grants(job)));
    }
    const auto done = scheduler_->submit_admitted(std::move(made), flavors,
                                                  second_of(view_->progress(job).since));
    ALMANAC_CHECK(done, "{}", done.error().message);
    admissions_[job] = {.order = next_++};
    if (!lever_) return;
    show_lever(job);
    lever_->start(job, {flavors.begin(), flavors.end()}, view_->progress(job).since);
  }

  const cluster::NodeClass& class_of(NodeId node) const {
    return view_->cluster.classes[view_->cluster.nodes[index(node)].node_class];
  }

  /// The flavor of its queue that stands for the node that a job runs on, or the first.
  std::string flavor_of(std::size_t queue, std::span<const cluster::Grant> grants) const {
    std::uint64_t type = 0;
    for (std::size_t at = 0; at < types_.size() && !grants.empty(); ++at) {
      if (types_[at] == class_of(grants.front().node).gpu_type) type |= std::uint64_t{1} << at;
    }
    std::string first;
    for (const kueue::ResourceGroup& group : setup_.queues[queue].groups) {
      for (const kueue::FlavorQuotas& each : group.flavors) {
        if (first.empty()) first = each.flavor;
        if ((flavors_.at(each.flavor) & type) != 0) return each.flavor;
      }
    }
    return first;
  }

  void forget(JobId job) {
    if (lever_) lever_->forget(job);
    scheduler_->remove(name_of(job));
    if (const auto admitted = admissions_.find(job); admitted != admissions_.end()) {
      queues_[queue_of_job_.at(job)].pending.erase(admitted->second.order);
      admissions_.erase(admitted);
    }
    has_news_ = true;
  }

  /// Runs cycles until one admits and preempts no job and has tried all flavors of all heads. If a
  /// job would be preempted twice, the next cycles come a second later.
  void run_cycles() {
    if (!std::exchange(has_news_, false)) return;
    std::set<JobId> preempted;
    std::size_t fruitless = 0;
    std::vector<std::string_view> heads = scheduler_->heads();
    while (!heads.empty() && fruitless <= setup_.flavors.size()) {
      const kueue::Cycle cycle = scheduler_->cycle(second_of(view_->now));
      for (const kueue::Admitted& each : cycle.admitted) admit(each);
      for (const kueue::Preempted& each : cycle.preempted) {
        preempt(job_of(each.workload));
        has_news_ = has_news_ || !preempted.insert(job_of(each.workload)).second;
      }
      if (has_news_) {
        plan_->wake(view_->now + 1s);
        return;
      }
      std::vector<std::string_view> next = scheduler_->heads();
      const bool is_fruitful = !cycle.admitted.empty() || !cycle.preempted.empty() || next != heads;
      fruitless = is_fruitful ? 0 : fruitless + 1;
      heads = std::move(next);
    }
  }

  void admit(const kueue::Admitted& admitted) {
    const JobId job = job_of(admitted.workload);
    Admission made{.order = next_++};
    for (const kueue::AdmittedPods& pods : admitted.pod_sets) {
      if (lever_) lever_->start(job, pods.flavors, view_->now);
      for (const auto& [resource, flavor] : pods.flavors) {
        made.gpu_types &= flavors_.at(flavor);
      }
    }
    admissions_[job] = made;
    queues_[queue_of_job_.at(job)].pending.emplace(made.order, job);
  }

  /// A preempted job waits again; it gives its nodes back if it had any.
  void preempt(JobId job) {
    const Admission admission = admissions_.at(job);
    admissions_.erase(job);
    queues_[queue_of_job_.at(job)].pending.erase(admission.order);
    const bool is_stopped = plan_->find(job) != nullptr;
    if (is_stopped || view_->progress(job).phase != Phase::running) return;
    for (const cluster::Grant& grant : view_->grants(job)) plan_->ledger.give_back(grant);
    plan_->set(job, {});
  }

  void place_admitted() {
    for (QueueOf& queue : queues_) {
      std::erase_if(queue.pending, [&](const auto& entry) { return start(entry.second); });
    }
  }

  bool start(JobId job) {
    cluster::Demand demand = view_->demand(view_->progress(job).demand);
    if (plan_->quotas != nullptr && !plan_->quotas->has_room(demand.claim)) return false;
    if (view_->held_until(job) > view_->now) return false;
    if (!demand.is_cpu_job()) demand.gpu_types &= admissions_.at(job).gpu_types;
    grants_.clear();
    const bool fits = doubted_.avoid(plan_->ledger, grants_, [&] {
      return place_demand(*placement_, plan_->ledger, view_->progress(job).vc, demand, view_->rng,
                          grants_);
    });
    if (fits) plan_->set(job, {.grants = grants_});
    return fits;
  }

  std::unique_ptr<Placement> placement_;
  std::shared_ptr<const kueue::Objects> known_;
  const Names* names_;
  bool is_fair_;
  QueueOrder order_;
  Beliefs beliefs_;
  kueue::Setup setup_;
  std::vector<std::string> types_;
  std::map<std::string, std::uint64_t> flavors_;  // the GPU types that each stands for, as bits
  kueue::Resources resources_;
  std::optional<kueue::Scheduler> scheduler_;
  std::optional<SimulatedLever> lever_;
  std::vector<QueueOf> queues_;
  std::unordered_map<JobId, std::size_t> queue_of_job_;
  std::unordered_map<JobId, Admission> admissions_;
  std::uint64_t next_ = 0;  // admission
  bool has_news_ = false;
  DoubtedNodes doubted_;
  std::vector<cluster::Grant> grants_;
  // While decide() runs.
  const View* view_ = nullptr;
  Plan* plan_ = nullptr;
};

}  // namespace

void register_kueue(Registry& registry) {
  registry.wholes.add(
      {.name = "kueue",
       .summary = "the site's Kueue, or Kueue's defaults if no queues are known: quotas of queues "
                  "and cohorts, flavors",
       .source = "Kueue v0.19 (kubernetes-sigs)",
       .traits = {.has = {Trait::reads_queues}},
       .parameters = {word("sharing", "order among queues, and whose jobs give way",
                           {"classical", "fair"}),
                      word(
                          "order",
                          "order in a queue: Kueue's; by lever order of serve --engine kubernetes; "
                          "or in its mode backfill, where all queues that it may order are "
                          "StrictFIFO",
                          {"own", "almanac", "backfill"})},
       .adjust_traits =
           [](const Parameters& told, TraitSet& traits) {
             if (told.word("order") != "own") traits.add({Trait::reads_run_times});
           }},
      [](const Parameters& told, const Composition& composition, Host host) {
        auto placement = almanac::policy::registry().placements.make(composition.placement, host);
        const std::string& order = told.word("order");
        return std::make_unique<Kueue>(std::move(placement), std::move(host),
                                       told.word("sharing") == "fair",
                                       order == "backfill"  ? QueueOrder::backfill
                                       : order == "almanac" ? QueueOrder::almanac
                                                            : QueueOrder::own);
      });
}

}  // namespace almanac::policy::whole
