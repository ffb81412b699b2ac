// SPDX-License-Identifier: Apache-2.0

/// \file
/// Slurm: the main scheduler starts jobs in the order of priority until one does not fit, and
/// backfill, every bf_interval, starts jobs that delay no planned start. Nodes are chosen as
/// select/cons_tres chooses them.
///
/// If the host knows the site, its settings count: multifactor priority with fair share, partitions
/// and tiers, limits of QOS and associations, reservations, preemption, nodes out of service. Of a
/// job counts what a controller knows of it (slurmctld/jobs/logged_jobs.h).
///
/// Otherwise nothing is known but nodes and virtual clusters. Everything else is Slurm's default:
/// priority/basic (first come, first served, by tier), bf_interval=30, bf_window=1 day,
/// bf_resolution=60 s, bf_max_job_test=500, default_queue_depth=100, no topology plugin.
///
/// Source   Slurm 22.05 to 24.05: slurmctld/job_scheduler.c, plugins/sched/backfill,
///          plugins/select/cons_tres.
/// Differs  Passes and cycles take no time. A part of a GPU takes a GPU of its own. A node that
///          failed a job is used last, as if an operator had made it heavier. A job that its node
///          failed, or that was requeued for another job, is eligible again after cred_expire (2
///          min) and 1 s; the host decides what work it loses. Without a site, partitions are
///          virtual clusters, so they share no nodes.
/// Cost     O(1) per event, and where something may start: O(nodes) for each job that a pass tests
///          and O(nodes log(longest end)) for each job that a cycle plans
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/registry.h"
#include "policy/whole/slurm/machines.h"
#include "policy/whole/slurm/outages.h"
#include "policy/whole/slurm/past_usage.h"
#include "policy/whole/slurm/plain_site.h"
#include "policy/whole/slurm/reasons.h"
#include "slurmctld/jobs/logged_jobs.h"
#include "slurmctld/main_loop/controller.h"
#include "trace/job_id.h"

namespace almanac::policy::whole {
namespace {

using slurmctld::Controller;
using slurmctld::JobNumber;
using slurmctld::NodeAt;
using slurmctld::PartitionAt;
using slurmctld::Seconds;

/// How much heavier a node is that jobs should avoid.
constexpr int kDoubt = 1 << 20;

Seconds slurm_second(Time time) {
  const std::int64_t ms = time.time_since_epoch().count();
  return ms >= 0 ? ms / 1000 : -((-ms + 999) / 1000);
}

using Told = std::map<std::string, Values>;

/// Settings of the scheduler that a user gave for the policy.
void override(site::SchedulerSettings& settings, const Told& told, const Parameters& values) {
  const auto is_told = [&](const char* name) { return told.contains(name); };
  if (is_told("bf_interval_s")) {
    settings.bf_interval = settings.bf_max_time = values.duration("bf_interval_s");
  }
  if (is_told("bf_window_min")) {
    settings.bf_window = Duration{std::llround(values.number("bf_window_min") * 60'000)};
  }
  if (is_told("bf_resolution_s")) settings.bf_resolution = values.duration("bf_resolution_s");
  if (is_told("bf_max_job_test")) {
    settings.bf_max_job_test = settings.bf_node_space_size = values.whole("bf_max_job_test");
  }
  if (is_told("bf_max_job_user")) settings.bf_max_job_user = values.whole("bf_max_job_user");
  if (is_told("sched_interval_s")) settings.sched_interval = values.duration("sched_interval_s");
  if (is_told("default_queue_depth")) {
    settings.default_queue_depth = values.whole("default_queue_depth");
  }
}

class Slurm final : public Policy {
 public:
  using Override = std::function<void(site::SchedulerSettings&)>;

  Slurm(Override settings, Seconds phase, KnownSite known,
        std::shared_ptr<const std::vector<PastUse>> past_use)
      : override_(std::move(settings)),
        phase_(phase),
        known_(std::move(known)),
        past_use_(std::move(past_use)) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    now_ = slurm_second(view.now);
    if (!controller_) open(view, plan.ledger);
    view_ = &view;
    plan_ = &plan;
    doubted_.hear(events, view);
    if (outages_.advance(now_)) notice_nodes(plan.ledger);
    take_in(events, view, plan.ledger);
    machines_->hide_what_others_hold(plan.ledger, controller_->state());
    do {
      controller_->run(now_);
      for (const slurmctld::Start& each : controller_->take_starts()) remember(each);
    } while (make_room());
    look_at_quotas();
    Seconds next = std::min(controller_->next(now_), outages_.next(Controller::kNothingDue));
    for (const Stop& each : stops_) next = std::min(next, each.at);
    if (next != Controller::kNothingDue) {
      plan.wake(Time{Duration{std::max(next, now_ + 1) * 1000}});
    }
    view_ = nullptr;
    plan_ = nullptr;
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    Reason reason{.wanted = demand.gpus};
    if (is_aside(job)) {
      reason.kind = ReasonKind::at_quota;
      reason.slurm = slurm_reason(slurmctld::kHostLimit);
      return reason;
    }
    const slurmctld::ReasonName why = controller_->reason(number_of(job));
    reason.slurm = slurm_reason(why);
    reason.kind = kind_of(why);
    if (reason.kind == ReasonKind::behind) put_first(job, reason);
    if (reason.kind != ReasonKind::short_of_gpus) return reason;
    for (const NodeAt node : nodes_for(job)) {
      reason.available += machines_->free_gpus(node, demand, ledger, controller_->state().room);
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    if (!controller_) return;
    std::vector<std::vector<JobId>> lines(controller_->state().rules.size());
    const auto add = [&](const slurmctld::Job& job, std::size_t partition) {
      each_waiting(job, [&](JobId each) {
        if (!is_aside(each)) lines[partition].push_back(each);
      });
    };
    for (const slurmctld::Queue::Record& each : controller_->state().queue) {
      // A job in several partitions is in the line of the first.
      if (each.partition == each.job->partitions.front()) add(*each.job, each.partition);
    }
    // Jobs that are not eligible yet come last.
    for (const JobNumber number : controller_->dormant()) {
      const slurmctld::Job& job = *controller_->state().find(number);
      add(job, job.partitions.front());
    }
    for (const std::vector<JobId>& each : lines) line.insert(line.end(), each.begin(), each.end());
  }

 private:
  /// A job that must stop for another one once its grace time is over.
  struct Stop {
    Seconds at = 0;
    JobId job{};
    site::PreemptMode mode{};
  };

  void open(const View& view, const cluster::Ledger& ledger) {
    const bool is_plain = known_.description == nullptr;
    site_ = is_plain ? plain_site(view.cluster) : *known_.description;
    override_(site_.config.scheduler);
    if (site_.usage_at == kNoTime || site_.usage_at > view.now) set_usage(view.now);
    controller_.emplace(site_, slurmctld::Phases{now_ + phase_, now_ + phase_, now_ + phase_});
    slurmctld::State& state = controller_->state();
    machines_.emplace(view.cluster, site_, state.table, is_plain);
    if (is_plain) {
      state.defer_weights();
      requests_.emplace(view.cluster, state.table);
    } else {
      logged_.emplace(site_, state.table, *known_.names);
      outages_ = Outages(site_);
      outages_.advance(now_);
    }
    doubts_.resize(state.table.size());
    notice_nodes(ledger);
    state.admits = [this](const slurmctld::Job& job) { return admits(next_of(job)); };
    state.takes = [this](const slurmctld::Job& job, const slurmctld::Allocation& allocation) {
      return start(job, allocation);
    };
    for (NodeAt node = 0; node < state.table.size(); ++node) {
      const std::vector<NodeId> own = machines_->nodes_of(node);
      state.table.nvlink_domains.push_back(
          own.empty() ? static_cast<std::uint32_t>(view.cluster.nodes.size()) + node
                      : static_cast<std::uint32_t>(index(ledger.domain(own.front()))));
    }
  }

  /// The files' usage was read after the first job, or at an unknown time: it may contain that of
  /// later jobs. What is known of the jobs before replaces it.
  void set_usage(Time now) {
    const bool knows = known_.names != nullptr && past_use_ != nullptr && !past_use_->empty();
    if (knows) return set_past_usage(site_, *past_use_, *known_.names, now);
    site_.usage_at = kNoTime;
    for (site::Association& each : site_.associations) each.usage = {};
    for (site::Qos& each : site_.qos) each.usage = {};
  }

  JobNumber number_of(JobId job) const {
    const auto found = numbers_.find(job);
    return found == numbers_.end() ? static_cast<JobNumber>(index(job)) + 1 : found->second;
  }
  /// The job of the host that is a running job of the controller, or the next of an array.
  JobId next_of(const slurmctld::Job& job) const {
    if (job.is_array()) return JobId{static_cast<std::uint32_t>(job.ask.tasks.front())};
    return job.task >= 0 ? JobId{static_cast<std::uint32_t>(job.task)} : JobId{job.number - 1};
  }
  template <typename Act>
  void each_waiting(const slurmctld::Job& job, Act&& act) const {
    if (!job.is_array()) return act(next_of(job));
    for (const int task : job.ask.tasks) act(JobId{static_cast<std::uint32_t>(task)});
  }

  bool admits(JobId job) const {
    return plan_->quotas == nullptr ||
           plan_->quotas->has_room(view_->demand(view_->progress(job).demand).claim);
  }

  void take_in(std::span<const Event> events, const View& view, const cluster::Ledger& ledger) {
    arrays_.clear();
    for (const Event& event : events) take_in(event, view, ledger);
    for (auto& [id, array] : arrays_) controller_->submit(std::move(array), now_);
    arrays_.clear();
    for (const Stop& each : stops_) {
      if (each.at <= now_ && view.progress(each.job).phase == Phase::running) stop(each);
    }
    std::erase_if(stops_, [&](const Stop& each) { return each.at <= now_; });
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        if (!join_array(job, view)) submit(job, view, 0);
        break;
      case EventKind::job_adopted:
        adopt(job, view);
        break;
      case EventKind::job_ended:
        forget_stop(job);
        controller_->end(number_of(job), now_, view.state(job) != trace::JobState::completed);
        break;
      case EventKind::job_failed:
        forget_stop(job);
        controller_->end(number_of(job), now_, true);
        submit_again(job, view);
        break;
      case EventKind::job_withdrawn:
        controller_->cancel_task(number_of(job), static_cast<int>(index(job)), now_);
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

  /// A run that is over needs no stop, and the next run of the job is another.
  void forget_stop(JobId job) {
    std::erase_if(stops_, [&](const Stop& each) { return each.job == job; });
  }

  void submit(JobId job, const View& view, Seconds delay) {
    slurmctld::Job made = make_job(job, view);
    made.ask.begin_delay = delay;
    controller_->submit(std::move(made), now_);
  }

  /// A requeued job.
  void submit_again(JobId job, const View& view) {
    // A task of an array is a job of its own from then on.
    if (numbers_.contains(job)) numbers_[job] = next_number_++;
    submit(job, view, site_.config.cred_expire.count() / 1000 + 1);
  }

  /// Tasks of an array that arrive together are one job of the controller, if they ask alike.
  /// Returns false if the job is no such task.
  bool join_array(JobId job, const View& view) {
    if (!logged_) return false;
    const std::string id = trace::id_of(view.key(job), *known_.names);
    const std::size_t under = id.find('_');
    if (under == std::string::npos) return false;
    slurmctld::Job made = make_job(job, view);
    const auto found = arrays_.find(id.substr(0, under));
    if (found == arrays_.end()) {
      numbers_[job] = made.number;
      made.ask.tasks = {static_cast<int>(index(job))};
      arrays_.emplace(id.substr(0, under), std::move(made));
      return true;
    }
    slurmctld::Job& array = found->second;
    const bool is_alike = made.ask.request == array.ask.request &&
                          made.partitions == array.partitions && made.qos == array.qos &&
                          made.ask.time_limit == array.ask.time_limit;
    if (!is_alike) return false;
    array.ask.tasks.push_back(static_cast<int>(index(job)));
    numbers_[job] = array.number;
    return true;
  }

  slurmctld::Job make_job(JobId job, const View& view) {
    const trace::Request& request = view.request(job);
    const Progress& progress = view.progress(job);
    if (logged_) {
      slurmctld::Job made = logged_->translate(request);
      made.number = number_of(job);
      if (numbers_.contains(job)) made.task = static_cast<int>(index(job));
      made.extra_tier = request.priority_tier;
      made.ask.request.nvlink_gpus = view.demand(progress.demand).nvlink_gpus;
      keep_to(progress.vc, made.partitions);
      return made;
    }
    slurmctld::Job made{.number = number_of(job)};
    made.ask.request = requests_->of(view.demand(progress.demand), progress.vc);
    made.partitions = {static_cast<PartitionAt>(index(progress.vc))};
    made.extra_tier = view.tier(job);
    if (request.time_limit != kNoDuration) {
      made.ask.time_limit = (request.time_limit.count() + 999) / 1000;
    }
    made.ask.user = fmt::format("{}", index(request.user));
    return made;
  }

  /// A job stays in its virtual cluster: partitions that share nodes.
  void keep_to(VcId vc, std::vector<PartitionAt>& partitions) const {
    const auto is_elsewhere = [&](PartitionAt at) {
      const std::vector<site::NodeIndex>& nodes = site_.partitions[at].nodes;
      return nodes.empty() || !machines_->is_in(nodes.front(), vc);
    };
    std::erase_if(partitions, is_elsewhere);
    for (PartitionAt at = 0; partitions.empty() && at < site_.partitions.size(); ++at) {
      if (!is_elsewhere(at)) partitions.push_back(at);
    }
  }

  /// Counts what a job holds as what Slurm would have allocated.
  void adopt(JobId job, const View& view) {
    slurmctld::Job made = make_job(job, view);
    const PartitionAt partition = made.partitions.front();
    controller_->adopt(std::move(made), partition,
                       machines_->allocation_of(view.grants(job), partition),
                       slurm_second(view.progress(job).since));
  }

  /// Stops the jobs that others preempt. Returns whether a job may start now for that.
  bool make_room() {
    bool any = false;
    for (const slurmctld::Preemption& each : controller_->take_preemptions()) {
      const slurmctld::Job* const victim = controller_->state().find(each.victim);
      if (victim == nullptr || !victim->is_running) continue;
      const Stop made{now_ + grace_of(*victim), next_of(*victim), each.mode};
      const bool is_known = std::any_of(stops_.begin(), stops_.end(),
                                        [&](const Stop& of) { return of.job == made.job; });
      if (is_known) continue;
      if (made.at > now_ || plan_->find(made.job) != nullptr) {
        stops_.push_back(made);
        stops_.back().at = std::max(made.at, now_ + 1);
      } else {
        stop(made);
        any = true;
      }
    }
    return any;
  }

  Seconds grace_of(const slurmctld::Job& victim) const {
    const bool by_qos = site_.config.preempt.type == site::PreemptType::qos;
    const Duration grace = by_qos && victim.qos < site_.qos.size()
                               ? site_.qos[victim.qos].grace_time
                               : site_.partitions[victim.runs_in].grace_time;
    return grace.count() / 1000;
  }

  void stop(const Stop& each) {
    for (const cluster::Grant& grant : view_->grants(each.job)) plan_->ledger.give_back(grant);
    controller_->end(number_of(each.job), now_, true);
    if (each.mode == site::PreemptMode::cancel) {
      plan_->end(each.job);
      return;
    }
    plan_->set(each.job, {});
    submit_again(each.job, *view_);
  }

  /// Records the jobs for which no quota has room after the plan.
  void look_at_quotas() {
    aside_.clear();
    if (plan_->quotas == nullptr) return;
    for (const auto& [number, job] : controller_->state().jobs) {
      if (job.is_running) continue;
      each_waiting(job, [&](JobId each) {
        if (!admits(each)) aside_.push_back(each);
      });
    }
    std::sort(aside_.begin(), aside_.end());
  }
  bool is_aside(JobId job) const { return std::binary_search(aside_.begin(), aside_.end(), job); }

  /// Takes the GPUs of a start that the controller has decided. Returns false if the ledger has not
  /// got them.
  bool start(const slurmctld::Job& asking, const slurmctld::Allocation& allocation) {
    const JobId job = next_of(asking);
    const cluster::Demand& demand = view_->demand(view_->progress(job).demand);
    const std::size_t before = plan_->ledger.mark();
    std::vector<cluster::Grant> grants = machines_->take(plan_->ledger, demand, allocation);
    if (grants.empty()) return false;
    if (!plan_->ledger.in_domains(grants, demand.nvlink_gpus)) {
      plan_->ledger.undo(before);
      return false;
    }
    plan_->set(job, {.grants = grants});
    return true;
  }

  /// Tasks of arrays get a number when they start.
  void remember(const slurmctld::Start& start) {
    if (start.task >= 0) numbers_[JobId{static_cast<std::uint32_t>(start.task)}] = start.number;
  }

  /// Reads which nodes are in service, and which ones jobs should avoid.
  void notice_nodes(const cluster::Ledger& ledger) {
    for (NodeAt node = 0; node < machines_->size(); ++node) {
      const bool is_up = machines_->is_ready(node, ledger) && !outages_.is_out(node);
      if (is_up != controller_->state().up.contains(node)) controller_->set_up(node, is_up, now_);
      const std::vector<NodeId> own = machines_->nodes_of(node);
      const bool is_doubted =
          std::any_of(own.begin(), own.end(), [&](NodeId each) { return doubted_.has(each); });
      if (is_doubted == doubts_[node]) continue;
      doubts_[node] = !doubts_[node];
      slurmctld::State& state = controller_->state();
      state.set_weight(node, state.table.nodes[node].weight + (doubts_[node] ? kDoubt : -kDoubt));
    }
  }

  /// Names the first job of the queue of one of the job's partitions, and why it is first.
  void put_first(JobId job, Reason& reason) const {
    const slurmctld::State& state = controller_->state();
    const slurmctld::Job* const own = state.find(number_of(job));
    reason.kind = ReasonKind::short_of_gpus;
    if (own == nullptr) return;
    const slurmctld::Queue::Record* first = nullptr;
    for (const PartitionAt partition : own->partitions) {
      const slurmctld::Queue::Record* const here = state.queue.first(partition);
      if (here != nullptr && (first == nullptr || *here < *first)) first = here;
    }
    if (first == nullptr || first->job == own) return;
    reason.kind = ReasonKind::behind;
    reason.other = next_of(*first->job);
    const auto mine = static_cast<float>(state.priority(*own, first->partition));
    const auto its = static_cast<float>(first->priority);
    const int tier = site_.partitions[first->partition].priority_tier;
    if (own->extra_tier + tier != first->tier) {
      reason.precedence = {Term::tier, static_cast<float>(own->extra_tier + tier),
                           static_cast<float>(first->tier)};
    } else if (state.priorities && its > mine) {
      reason.precedence = {Term::priority, mine, its};
    }
  }

  /// Returns the nodes of the partitions of a job.
  std::vector<NodeAt> nodes_for(JobId job) const {
    const slurmctld::State& state = controller_->state();
    slurmctld::NodeBits all(state.table.size());
    if (const slurmctld::Job* const own = state.find(number_of(job))) {
      for (const PartitionAt each : own->partitions) all |= state.partition_nodes[each];
    }
    std::vector<NodeAt> nodes;
    all.each([&](NodeAt node) { nodes.push_back(node); });
    return nodes;
  }

  Override override_;
  Seconds phase_;  // from the first event to the first pass, cycle and decay
  KnownSite known_;
  std::shared_ptr<const std::vector<PastUse>> past_use_;  // null if unknown
  site::Site site_;
  std::optional<Controller> controller_;
  std::optional<Machines> machines_;
  std::optional<PlainRequests> requests_;        // without a site
  std::optional<slurmctld::LoggedJobs> logged_;  // with one
  Outages outages_;
  DoubtedNodes doubted_;
  std::vector<bool> doubts_;                      // by node: made heavier
  std::map<std::string, slurmctld::Job> arrays_;  // by id: those that arrive now
  std::unordered_map<JobId, JobNumber> numbers_;  // of tasks of arrays
  JobNumber next_number_ = 0x2000'0000;           // of tasks that were requeued
  std::vector<Stop> stops_;
  std::vector<JobId> aside_;  // jobs for which no quota last had room, by number
  Seconds now_ = 0;
  // While decide() runs.
  const View* view_ = nullptr;
  Plan* plan_ = nullptr;
};

}  // namespace

void register_slurm(Registry& registry) {
  registry.wholes.add(
      {.name = "slurm",
       .summary = "the site's Slurm, or stock Slurm if no site is known: priorities, limits, main "
                  "scheduler, backfill and choice of nodes, with its delays",
       .source = "SchedMD Slurm 22.05 to 24.05",
       .traits = {.has = {Trait::reads_site, Trait::reserves}},
       .parameters = {number("bf_interval_s", "time between two cycles of backfill", 30, 1, 10'800),
                      number("bf_window_min", "how far ahead backfill plans", 1440, 1, 43'200),
                      number("bf_resolution_s", "grid of planned starts and ends", 60, 1, 3600),
                      whole_number("bf_max_job_test", "jobs that a cycle tests", 500, 1, 1e6),
                      whole_number("bf_max_job_user",
                                   "jobs of one user that a cycle tests; 0 = no limit", 0, 0, 1e6),
                      number("sched_interval_s", "time between two passes over the whole queue", 60,
                             1, 86'400),
                      whole_number("default_queue_depth", "jobs that other passes look at", 100, 1,
                                   1e6),
                      number("phase_s",
                             "from the first event to the first full pass, backfill cycle and "
                             "decay of usage",
                             0, 0, 10'800)}},
      [](const Parameters& values, const Composition& composition, const Host& host) {
        return std::make_unique<Slurm>(
            [values, told = composition.whole.told](site::SchedulerSettings& settings) {
              override(settings, told, values);
            },
            values.duration("phase_s").count() / 1000, host.site, host.past_use);
      });
}

}  // namespace almanac::policy::whole
