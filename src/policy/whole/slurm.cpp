// SPDX-License-Identifier: Apache-2.0

/// \file
/// Stock Slurm: the main scheduler starts jobs in the order of priority until one does not fit, and
/// backfill, every bf_interval, starts jobs that delay no planned start. Nodes are chosen as
/// select/cons_tres chooses them.
///
/// Nothing is known of the site but its nodes and virtual clusters. Everything else is Slurm's
/// default: priority/basic (first come, first served, by tier), bf_interval=30, bf_window=1 day,
/// bf_resolution=60 s, bf_max_job_test=500, default_queue_depth=100, no topology plugin.
///
/// Source   Slurm 22.05 to 24.05: slurmctld/job_scheduler.c, plugins/sched/backfill,
///          plugins/select/cons_tres.
/// Differs  Passes and cycles take no time. A part of a GPU takes a GPU of its own. Partitions are
///          virtual clusters, so they share no nodes. A node that failed a job is used last, as if
///          an operator had made it heavier. A job that its node failed is eligible again after
///          121 s, as after a requeue.
/// Cost     O(1) per event, and where something may start: O(nodes) for each job that a pass tests
///          and O(nodes log(longest end)) for each job that a cycle plans
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/registry.h"
#include "policy/whole/slurm/plain_site.h"
#include "slurmctld/main_loop/controller.h"

namespace almanac::policy::whole {
namespace {

using slurmctld::Controller;
using slurmctld::JobNumber;
using slurmctld::NodeAt;
using slurmctld::Seconds;

/// How much heavier a node is that jobs should avoid.
constexpr int kDoubt = 1 << 20;

Seconds second_of(Time time) {
  const std::int64_t ms = time.time_since_epoch().count();
  return ms >= 0 ? ms / 1000 : -((-ms + 999) / 1000);
}

JobNumber number_of(JobId job) { return static_cast<JobNumber>(index(job)) + 1; }
JobId job_of(JobNumber number) { return JobId{number - 1}; }

class Slurm final : public Policy {
 public:
  explicit Slurm(const site::SchedulerSettings& settings) : settings_(settings) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    now_ = second_of(view.now);
    if (!controller_) open(view, plan.ledger);
    view_ = &view;
    plan_ = &plan;
    doubted_.hear(events, view);
    for (const Event& event : events) take_in(event, view, plan.ledger);
    sync_nodes(plan.ledger);
    controller_->run(now_);
    controller_->take_starts();
    look_at_quotas();
    const Seconds next = controller_->next(now_);
    if (next != Controller::kNothingDue) {
      plan.wake(Time{Duration{std::max(next, now_ + 1) * 1000}});
    }
    view_ = nullptr;
    plan_ = nullptr;
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    if (is_aside(job)) return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
    const slurmctld::ReasonName why = controller_->reason(number_of(job));
    if (why == slurmctld::kPriority) {
      if (const JobId head = head_of(view.progress(job).vc); head != job && head != kNoJob) {
        return {.kind = ReasonKind::behind, .other = head};
      }
    }
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(view.progress(job).vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    if (!controller_) return;
    std::vector<std::vector<JobId>> lines(controller_->state().rules.size());
    const auto add = [&](JobNumber number, std::size_t partition) {
      if (!is_aside(job_of(number))) lines[partition].push_back(job_of(number));
    };
    for (const slurmctld::Queue::Record& each : controller_->state().queue) {
      add(each.number, each.partition);
    }
    // Jobs that are not eligible yet come last.
    for (const JobNumber number : controller_->dormant()) {
      add(number, controller_->state().find(number)->partitions.front());
    }
    for (const std::vector<JobId>& each : lines) line.insert(line.end(), each.begin(), each.end());
  }

 private:
  void open(const View& view, const cluster::Ledger& ledger) {
    site_ = plain_site(view.cluster);
    site_.config.scheduler = settings_;
    controller_.emplace(site_, slurmctld::Phases{now_, now_, now_});
    slurmctld::State& state = controller_->state();
    requests_.emplace(view.cluster, state.table);
    outside_.resize(state.table.size());
    seen_.assign(state.table.size(), ~std::uint32_t{0});
    doubts_.resize(state.table.size());
    notice_nodes(ledger);
    state.admits = [this](const slurmctld::Job& job) { return admits(job_of(job.number)); };
    state.takes = [this](const slurmctld::Job& job, const slurmctld::Allocation& allocation) {
      return start(job_of(job.number), allocation);
    };
  }

  bool admits(JobId job) const {
    return plan_->quotas == nullptr ||
           plan_->quotas->has_room(view_->demand(view_->progress(job).demand).claim);
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        submit(job, view, 0);
        break;
      case EventKind::job_adopted:
        adopt(job, view);
        break;
      case EventKind::job_ended:
        controller_->end(number_of(job), now_, view.state(job) != trace::JobState::completed);
        break;
      case EventKind::job_failed:
        controller_->end(number_of(job), now_, true);
        submit(job, view, site_.config.cred_expire.count() / 1000 + 1);
        break;
      case EventKind::job_withdrawn:
        controller_->cancel(number_of(job), now_);
        break;
      case EventKind::job_released:
        controller_->changed(now_);
        break;
      case EventKind::node_down:
      case EventKind::node_up:
      case EventKind::capacity_changed:
      case EventKind::node_notice:
        notice_nodes(ledger);
        break;
      case EventKind::job_reported:
      case EventKind::signal_changed:
      case EventKind::timer:
        break;
    }
  }

  void submit(JobId job, const View& view, Seconds delay) {
    slurmctld::Job made = make_job(job, view);
    made.ask.begin_delay = delay;
    controller_->submit(std::move(made), now_);
  }

  slurmctld::Job make_job(JobId job, const View& view) const {
    const trace::Request& request = view.request(job);
    const Progress& progress = view.progress(job);
    slurmctld::Job made{.number = number_of(job)};
    made.ask.request = requests_->of(view.demand(progress.demand), progress.vc);
    made.partitions = {static_cast<slurmctld::PartitionAt>(index(progress.vc))};
    made.extra_tier = view.tier(job);
    if (request.time_limit != kNoDuration) {
      made.ask.time_limit = (request.time_limit.count() + 999) / 1000;
    }
    made.ask.user = fmt::format("{}", index(request.user));
    return made;
  }

  /// Counts what a job holds as what Slurm would have allocated.
  void adopt(JobId job, const View& view) {
    const Progress& progress = view.progress(job);
    slurmctld::Allocation allocation{.partition =
                                         static_cast<slurmctld::PartitionAt>(index(progress.vc))};
    for (const cluster::Grant& grant : view.grants(job)) {
      const auto node = static_cast<NodeAt>(index(grant.node));
      slurmctld::Share share{.node = node,
                             .cpus = std::max(grant.cpu_milli, grant.count()),
                             .memory_mb = grant.memory_mb};
      if (grant.count() > 0) share.gpus = {{0, grant.count()}};
      allocation.shares.push_back(std::move(share));
    }
    controller_->adopt(make_job(job, view), allocation.partition, std::move(allocation),
                       second_of(progress.since));
  }

  /// Records the jobs for which no quota has room after the plan.
  void look_at_quotas() {
    aside_.clear();
    if (plan_->quotas == nullptr) return;
    for (const auto& [number, job] : controller_->state().jobs) {
      if (!job.is_running && !admits(job_of(number))) aside_.push_back(job_of(number));
    }
    std::sort(aside_.begin(), aside_.end());
  }
  bool is_aside(JobId job) const { return std::binary_search(aside_.begin(), aside_.end(), job); }

  /// Takes the GPUs of a start that the controller has decided. Returns false if the ledger has not
  /// got them.
  bool start(JobId job, const slurmctld::Allocation& allocation) {
    const cluster::Demand& demand = view_->demand(view_->progress(job).demand);
    cluster::Ledger& ledger = plan_->ledger;
    const std::size_t before = ledger.mark();
    std::vector<cluster::Grant> grants;
    for (const slurmctld::Share& share : allocation.shares) {
      const NodeId node{share.node};
      if (demand.is_part()) {
        for (int piece = 0; piece < share.num_gpus(); ++piece) {
          const cluster::Grant part = ledger.find_part(node, demand);
          if (part.gpus == 0) return ledger.undo(before), false;
          ledger.take(part);
          grants.push_back(part);
        }
        continue;
      }
      const int units =
          demand.is_cpu_job() ? share.cpus / std::max(1, demand.cpu_milli) : share.num_gpus();
      const cluster::Amount amount = demand.of(std::max(1, units));
      if (!ledger.ready(node) || !ledger.room(node).covers(amount)) {
        return ledger.undo(before), false;
      }
      grants.push_back(ledger.take(node, amount));
    }
    plan_->set(job, {.grants = grants});
    return true;
  }

  /// Reads which nodes are in service, and which ones jobs should avoid.
  void notice_nodes(const cluster::Ledger& ledger) {
    for (NodeAt node = 0; node < seen_.size(); ++node) {
      const NodeId id{node};
      if (ledger.ready(id) != controller_->state().up.contains(node)) {
        controller_->set_up(node, ledger.ready(id), now_);
      }
      if (doubted_.has(id) == doubts_[node]) continue;
      doubts_[node] = !doubts_[node];
      slurmctld::State& state = controller_->state();
      state.set_weight(node, state.table.nodes[node].weight + (doubts_[node] ? kDoubt : -kDoubt));
    }
  }

  /// Hides from the controller what others hold of the nodes, such as kept jobs.
  void sync_nodes(const cluster::Ledger& ledger) {
    slurmctld::State& state = controller_->state();
    for (NodeAt node = 0; node < seen_.size(); ++node) {
      const NodeId id{node};
      const std::uint32_t changes = ledger.changes(id);
      if (seen_[node] == changes) continue;
      seen_[node] = changes;
      if (!ledger.ready(id)) continue;
      std::optional<slurmctld::Share>& outside = outside_[node];
      if (outside) {
        state.vacate(*outside);
        outside.reset();
      }
      const cluster::Amount room = ledger.room(id);
      slurmctld::Share more{.node = node};
      const int gpus = state.room.free_gpus(node, slurmctld::kAnyGpu) - room.gpus;
      if (gpus > 0) more.gpus = {{0, gpus}};
      if (room.cpu_milli < cluster::kUnbounded) {
        more.cpus = std::max(0, state.room.free_cpus(node) - room.cpu_milli);
      }
      if (room.memory_mb < cluster::kUnbounded) {
        more.memory_mb = std::max(0, state.room.free_memory_mb(node) - room.memory_mb);
      }
      if (more.gpus.empty() && more.cpus == 0 && more.memory_mb == 0) continue;
      state.occupy(more);
      outside = std::move(more);
    }
  }

  /// Returns the first job of the queue of a virtual cluster.
  JobId head_of(VcId vc) const {
    for (const slurmctld::Queue::Record& each : controller_->state().queue) {
      if (each.partition == index(vc)) return job_of(each.number);
    }
    return kNoJob;
  }

  site::SchedulerSettings settings_;
  site::Site site_;
  std::optional<Controller> controller_;
  std::optional<PlainRequests> requests_;
  DoubtedNodes doubted_;
  std::vector<bool> doubts_;                              // by node: made heavier
  std::vector<std::optional<slurmctld::Share>> outside_;  // by node: hidden by sync_nodes()
  std::vector<std::uint32_t> seen_;  // by node: changes of the ledger when it was last read
  std::vector<JobId> aside_;         // jobs for which no quota last had room, by number
  Seconds now_ = 0;
  // While decide() runs.
  const View* view_ = nullptr;
  Plan* plan_ = nullptr;
};

}  // namespace

void register_slurm(Registry& registry) {
  registry.wholes.add(
      {.name = "slurm",
       .summary = "stock Slurm: main scheduler, backfill and choice of nodes, with its delays",
       .source = "SchedMD Slurm 22.05 to 24.05",
       .traits = {.has = {Trait::reserves}},
       .parameters = {number("bf_interval_s", "time between two cycles of backfill", 30, 1, 10'800),
                      number("bf_window_min", "how far ahead backfill plans", 1440, 1, 43'200),
                      number("bf_resolution_s", "grid of planned starts and ends", 60, 1, 3600),
                      whole_number("bf_max_job_test", "jobs that a cycle tests", 500, 1, 1e6),
                      whole_number("bf_max_job_user",
                                   "jobs of one user that a cycle tests; 0 = no limit", 0, 0, 1e6),
                      number("sched_interval_s", "time between two passes over the whole queue", 60,
                             1, 86'400),
                      whole_number("default_queue_depth", "jobs that other passes look at", 100, 1,
                                   1e6)}},
      [](const Parameters& told, const Composition&, const Host&) {
        site::SchedulerSettings settings;
        settings.bf_interval = settings.bf_max_time = told.duration("bf_interval_s");
        settings.bf_window = Duration{std::llround(told.number("bf_window_min") * 60'000)};
        settings.bf_resolution = told.duration("bf_resolution_s");
        settings.bf_max_job_test = settings.bf_node_space_size = told.whole("bf_max_job_test");
        settings.bf_max_job_user = told.whole("bf_max_job_user");
        settings.sched_interval = told.duration("sched_interval_s");
        settings.default_queue_depth = told.whole("default_queue_depth");
        return std::make_unique<Slurm>(settings);
      });
}

}  // namespace almanac::policy::whole
