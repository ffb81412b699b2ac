// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any policy, once for each part of the nodes: each part has some of the jobs, and a policy of its
/// own that knows of no other.
///
/// The nodes of each virtual cluster are split into parts that are alike (kit/node_parts.h), jobs
/// are dealt to these as they come, each in turn or at random, and a job stays in its part until it
/// ends. A virtual cluster has as many parts as let each of its jobs find room in one: a job that
/// fits none joins parts until it is gone. When that changes, or nodes come or go, the policies
/// begin anew with what runs and waits, and jobs that wait are dealt anew.
///
/// Source   Narayanan et al., SOSP'21 (POP), section 3.
/// Differs  The published ones split the GPUs of a program and deal all jobs anew each time that it
///          is solved; here whole nodes are split, and jobs stay. Large clients are split over
///          parts there (section 4.3), which a job that starts as a whole cannot be.
/// Cost     a copy of the ledger for each part that something happened in, and what its policy
///          costs with 1 / parts of the jobs.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "policy/kit/node_parts.h"
#include "policy/registry.h"

namespace almanac::policy::division {
namespace {

/// What one estimator believes, asked by several policies, and by each that begins anew.
class Recall {
 public:
  explicit Recall(std::unique_ptr<predict::Estimator> estimator)
      : estimator_(std::move(estimator)) {}

  predict::Belief estimate(JobId job, const trace::Request& request) {
    const auto [known, is_new] = beliefs_.try_emplace(job);
    if (is_new) known->second = estimator_->estimate(job, request);
    predict::Belief copy{.run = known->second.run};
    if (const auto& likely = known->second.distribution) {
      copy.distribution = std::make_unique<predict::Distribution>(*likely);
    }
    return copy;
  }
  predict::Estimator& estimator() { return *estimator_; }
  void forget(JobId job) { beliefs_.erase(job); }

 private:
  std::unique_ptr<predict::Estimator> estimator_;
  std::map<JobId, predict::Belief> beliefs_;
};

class Recalled final : public predict::Estimator {
 public:
  explicit Recalled(std::shared_ptr<Recall> recall) : recall_(std::move(recall)) {}

  predict::Belief estimate(JobId job, const trace::Request& request) override {
    return recall_->estimate(job, request);
  }
  void watch(JobId job, const trace::Request& request) override {
    recall_->estimator().watch(job, request);
  }
  void learn(JobId job, const trace::Request& request, const predict::Ended& ended) override {
    recall_->estimator().learn(job, request, ended);
  }
  void answer_at_once(Time now) override { recall_->estimator().answer_at_once(now); }

 private:
  std::shared_ptr<Recall> recall_;
};

class Pop final : public Policy {
 public:
  Pop(Composition each, Host& host, int parts, bool at_random)
      : each_(std::move(each)),
        host_(std::move(host)),
        at_random_(at_random),
        placement_(registry().placements.make(each_.placement, host_)) {
    parts_.resize(static_cast<std::size_t>(parts));
    if (host_.estimator) recall_ = std::make_shared<Recall>(std::move(host_.estimator));
  }

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    if (!nodes_) {
      nodes_.emplace(view.cluster, *placement_, static_cast<int>(parts_.size()));
      vcs_.resize(view.cluster.vcs.size());
    }
    for (Part& part : parts_) part.told.clear();
    for (const Event& event : events) take_in(event, view, plan.ledger);
    // What has ended is to be learned from by those that knew it.
    const bool any_ended = std::any_of(events.begin(), events.end(), [](const Event& event) {
      return event.kind == EventKind::job_ended;
    });
    if (begins_anew_ && (!any_ended || parts_.front().policy == nullptr)) begin_anew(view, plan);
    for (std::size_t part = 0; part < parts_.size(); ++part) run(part, view, plan);
    if (begins_anew_) plan.wake(view.now);
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const auto known = jobs_.find(job);
    if (known == jobs_.end() || known->second.part == kNoPart) return {};
    const int part = known->second.part;
    cluster::Ledger own = ledger_of(part, view, ledger);
    return parts_[static_cast<std::size_t>(part)].policy->why_waiting(job, view, own);
  }

  /// The first of each part before the second of any.
  void line_up(std::vector<JobId>& line) const override {
    struct Stand {
      VcId vc{};
      int place = 0;
      JobId job{};
    };
    std::vector<Stand> stands;
    for (const Part& part : parts_) {
      if (part.policy == nullptr) continue;
      std::vector<JobId> own;
      part.policy->line_up(own);
      std::map<VcId, int> places;
      for (const JobId job : own) {
        const VcId vc = jobs_.at(job).vc;
        stands.push_back({vc, places[vc]++, job});
      }
    }
    for (const auto& [job, own] : jobs_) {
      if (own.part == kNoPart) stands.push_back({own.vc, std::numeric_limits<int>::max(), job});
    }
    std::stable_sort(stands.begin(), stands.end(), [](const Stand& a, const Stand& b) {
      return std::pair(a.vc, a.place) < std::pair(b.vc, b.place);
    });
    for (const Stand& each : stands) line.push_back(each.job);
  }

 private:
  struct Part {
    std::unique_ptr<Policy> policy{};
    std::vector<Event> told{};  // in this decision
    bool has_stopped = false;   // in the last one: these jobs join its line when it is asked again
  };
  struct Job {
    VcId vc{};
    int part = kNoPart;
    int count = 1;  // the most parts of its virtual cluster of which it needs one only
  };
  struct Vc {
    int count = 0;              // parts; 0 = none is made yet
    std::map<int, int> jobs{};  // how many there are by Job::count
    int turn = 0;
  };

  void tell(int part, const Event& event) {
    if (part != kNoPart) parts_[static_cast<std::size_t>(part)].told.push_back(event);
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_adopted:
      case EventKind::job_arrived:
        add(job, view, ledger);
        if (event.kind == EventKind::job_adopted) begins_anew_ = true;
        if (!begins_anew_) deal(job, view, ledger);
        tell(jobs_[job].part, event);
        break;
      case EventKind::job_released:
        if (Job& own = jobs_[job]; own.part != kNoPart || begins_anew_) {
          tell(own.part, event);
        } else {
          deal(job, view, ledger);
          tell(own.part, {EventKind::job_arrived, event.subject});
        }
        break;
      case EventKind::job_ended:
      case EventKind::job_withdrawn:
        if (!jobs_.contains(job)) break;  // its policy has ended it
        tell(jobs_[job].part, event);
        remove(job);
        break;
      case EventKind::job_failed:
      case EventKind::job_reported:
        tell(jobs_[job].part, event);
        break;
      case EventKind::node_down:
      case EventKind::node_up:
      case EventKind::capacity_changed:
        begins_anew_ = true;
        nodes_->forget();
        [[fallthrough]];
      case EventKind::node_notice:
      case EventKind::signal_changed:
      case EventKind::timer:
        for (Part& part : parts_) part.told.push_back(event);
        break;
    }
  }

  void add(JobId job, const View& view, const cluster::Ledger& ledger) {
    Job& own = jobs_[job];
    own = {.vc = view.progress(job).vc, .part = kNoPart, .count = most_parts(job, view, ledger)};
    Vc& vc = vcs_[index(own.vc)];
    ++vc.jobs[own.count];
    if (own.count < vc.count) begins_anew_ = true;
  }

  void remove(JobId job) {
    const auto own = jobs_.find(job);
    Vc& vc = vcs_[index(own->second.vc)];
    const auto alike = vc.jobs.find(own->second.count);
    if (--alike->second == 0) {
      vc.jobs.erase(alike);
      if (own->second.count == vc.count && vc.count < nodes_->counts().front()) begins_anew_ = true;
    }
    jobs_.erase(own);
    if (recall_) recall_->forget(job);
  }

  /// Those of which one has room for what will do for a job; where even all have none, until nodes
  /// are back, it joins no parts.
  int most_parts(JobId job, const View& view, const cluster::Ledger& ledger) {
    for (const int count : nodes_->counts()) {
      if (!with_room(job, count, view, ledger).empty()) return count;
    }
    return nodes_->counts().front();
  }

  std::vector<int> with_room(JobId job, int count, const View& view,
                             const cluster::Ledger& ledger) {
    const Progress& state = view.progress(job);
    std::vector<int> parts =
        nodes_->with_room(state.vc, state.demand, view.demand(state.demand), count, ledger);
    for (const Acceptable& each : view.acceptable(job)) {
      if (!parts.empty()) break;
      parts = nodes_->with_room(state.vc, each.demand, view.demand(each.demand), count, ledger);
    }
    return parts;
  }

  /// Gives a job that waits to a part.
  void deal(JobId job, const View& view, const cluster::Ledger& ledger) {
    Job& own = jobs_.at(job);
    Vc& vc = vcs_[index(own.vc)];
    std::vector<int> parts = with_room(job, vc.count, view, ledger);
    if (parts.empty()) parts.push_back(0);
    const auto size = static_cast<std::uint64_t>(parts.size());
    const std::uint64_t next =
        at_random_ ? view.rng.below(size) : static_cast<std::uint64_t>(vc.turn++) % size;
    own.part = parts[next];
  }

  /// Splits the virtual clusters into as many parts as their jobs let them, makes the policies anew
  /// and tells each what runs and waits in its part.
  void begin_anew(const View& view, const Plan& plan) {
    begins_anew_ = false;
    for (Vc& vc : vcs_) vc = {.count = nodes_->counts().front(), .jobs = {}, .turn = vc.turn};
    for (auto& [job, own] : jobs_) {
      own.count = most_parts(job, view, plan.ledger);
      while (lies_across(job, own.count, view)) own.count = next_fewer(own.count);
      Vc& vc = vcs_[index(own.vc)];
      ++vc.jobs[own.count];
      vc.count = std::min(vc.count, own.count);
    }
    for (Part& part : parts_) {
      part.policy = registry().make(each_, host_of_a_part());
      part.has_stopped = false;
      std::erase_if(part.told, [](const Event& event) { return !is_of_all(event); });
    }
    for (auto& [job, own] : jobs_) {
      own.part = kNoPart;
      const auto subject = static_cast<std::uint32_t>(index(job));
      if (view.progress(job).phase == Phase::running) {
        own.part = nodes_->part_of(view.grants(job).front().node, vcs_[index(own.vc)].count);
        tell(own.part, {EventKind::job_adopted, subject});
      } else if (view.held_until(job) <= view.now) {
        deal(job, view, plan.ledger);
        tell(own.part, {EventKind::job_arrived, subject});
      }
    }
    for (Part& part : parts_) {
      std::stable_sort(part.told.begin(), part.told.end(),
                       [](const Event& a, const Event& b) { return a.kind < b.kind; });
    }
  }

  static bool is_of_all(const Event& event) {
    return event.kind == EventKind::node_notice || event.kind == EventKind::signal_changed ||
           event.kind == EventKind::timer;
  }

  bool lies_across(JobId job, int count, const View& view) const {
    if (view.progress(job).phase != Phase::running) return false;
    const auto grants = view.grants(job);
    return std::any_of(grants.begin(), grants.end(), [&](const cluster::Grant& grant) {
      return nodes_->part_of(grant.node, count) != nodes_->part_of(grants.front().node, count);
    });
  }

  int next_fewer(int count) const {
    return *std::upper_bound(nodes_->counts().begin(), nodes_->counts().end(), count,
                             std::greater<>());
  }

  Host host_of_a_part() const {
    return {.estimator = recall_ ? std::make_unique<Recalled>(recall_) : nullptr,
            .may_share = host_.may_share,
            .is_on = host_.is_on,
            .mix = host_.mix,
            .binds = host_.binds,
            .past_use = host_.past_use,
            .past_reports = host_.past_reports,
            .type_speeds = host_.type_speeds};
  }

  /// `ledger` with all nodes drained that are of other parts.
  cluster::Ledger ledger_of(int part, const View& view, const cluster::Ledger& ledger) const {
    cluster::Ledger own = ledger;
    own.commit();
    for (std::uint32_t at = 0; at < view.cluster.nodes.size(); ++at) {
      const int count = vcs_[index(view.cluster.nodes[at].vc)].count;
      if (nodes_->part_of(NodeId{at}, count) != part) own.set_drained(NodeId{at}, true);
    }
    return own;
  }

  void run(std::size_t at, const View& view, Plan& plan) {
    Part& part = parts_[at];
    // What gives back room in a quota may be in another part.
    const bool is_due = plan.quotas != nullptr || part.has_stopped;
    if (part.told.empty() && is_due) part.told.push_back({EventKind::timer});
    if (part.told.empty() || part.policy == nullptr) return;
    cluster::Ledger own = ledger_of(static_cast<int>(at), view, plan.ledger);
    Plan made(own, view);
    made.quotas = plan.quotas;
    part.policy->decide(part.told, view, made);
    part.has_stopped = made.num_stops() > 0;
    carry_over(made, view, plan);
  }

  /// Repeats what the policy of a part has planned.
  void carry_over(const Plan& made, const View& view, Plan& plan) {
    const auto give_back = [&](JobId job) {
      if (view.progress(job).phase != Phase::running) return;
      for (const cluster::Grant& grant : view.grants(job)) plan.ledger.give_back(grant);
    };
    const auto changes = made.changes();
    for (const Plan::Change& each : changes) {
      if (each.action != Plan::Action::none) give_back(each.job);
    }
    for (const JobId job : made.ended) give_back(job);
    Quotas* const quotas = std::exchange(plan.quotas, nullptr);  // which have it already
    for (const Plan::Change& each : changes) {
      if (each.action == Plan::Action::none) continue;
      const auto grants = made.grants(each);
      for (const cluster::Grant& grant : grants) {
        plan.ledger.ready(grant.node) ? plan.ledger.take(grant) : plan.ledger.take_ahead(grant);
      }
      plan.set(each.job, {.grants = grants, .config = each.config});
    }
    plan.quotas = quotas;
    for (const Plan::Hold& each : made.holds) plan.hold(each.job, each.until);
    for (const JobId job : made.declined) plan.decline(job);
    for (const JobId job : made.ended) plan.end(job);
    for (const JobId job : made.held_back) plan.hold_back(job);
    for (const Time wake : made.wakes) plan.wake(wake);
    for (const auto* gone : {&made.declined, &made.ended}) {
      for (const JobId job : *gone) remove(job);
    }
  }

  static constexpr int kNoPart = -1;
  const Composition each_;
  Host host_;  // its estimator is in recall_
  const bool at_random_;
  std::unique_ptr<Placement> placement_;
  std::shared_ptr<Recall> recall_;  // null = nothing is believed
  std::vector<Part> parts_;
  std::optional<NodeParts> nodes_;
  std::vector<Vc> vcs_;
  std::map<JobId, Job> jobs_;  // that wait or run
  bool begins_anew_ = true;
};

}  // namespace

void register_pop(Registry& registry) {
  registry.divisions.add(
      {.name = "pop",
       .summary = "the policy once for each part of the nodes, with part of the jobs",
       .source = "Narayanan et al. SOSP'21 (POP)",
       .traits = {.bars = {Trait::reads_tenants, Trait::reads_groups, Trait::sleeps_nodes,
                           Trait::limits_power, Trait::paces_traffic, Trait::parts_cluster}},
       .parameters = {whole_number("parts", "into which nodes and jobs are split", 4, 2, 64),
                      word("deal", "how jobs come to parts", {"turn", "random"})}},
      [](const Parameters& told, const Composition& composition, Host& host) {
        Composition each = composition;
        each.division = Composition().division;
        return std::make_unique<Pop>(std::move(each), host, told.whole("parts"),
                                     told.word("deal") == "random");
      });
}

}  // namespace almanac::policy::division
