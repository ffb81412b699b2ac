// SPDX-License-Identifier: Apache-2.0

/// \file
/// Any policy, once for each part of the nodes. Each part has some of the jobs and a policy of its
/// own that does not know the others.
///
/// The nodes of each virtual cluster are split into equal parts, and jobs are assigned to parts as
/// they arrive (division/pop/part_deal.h). When jobs merge or split parts, or nodes come or go, the
/// policies start again with the running and waiting jobs, and waiting jobs are assigned again.
///
/// Source   Narayanan et al., SOSP'21 (POP), section 3.
/// Differs  The published ones split the GPUs of a program, and assign all jobs again each time it
///          is solved; here whole nodes are split, and jobs stay in their part. The paper also
///          splits large clients over parts (section 4.3), which is impossible for a job that
///          starts as a whole.
/// Cost     a copy of the ledger for each part with an event, and the cost of its policy with 1 /
///          parts of the jobs
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "policy/division/pop/carry_over.h"
#include "policy/division/pop/part_deal.h"
#include "policy/division/pop/shared_host.h"
#include "policy/registry.h"

namespace almanac::policy::division {
namespace {

class Pop final : public Policy {
 public:
  Pop(Composition each, Host host, std::size_t parts, bool at_random)
      : each_(std::move(each)),
        at_random_(at_random),
        placement_(registry().placements.make(each_.placement, host)),
        host_(std::move(host)),
        parts_(parts) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    if (!deal_) {
      deal_.emplace(view.cluster, *placement_, static_cast<int>(parts_.size()), at_random_);
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
    const int part = deal_ ? deal_->part_of(job) : PartDeal::kNoPart;
    if (part == PartDeal::kNoPart) return {};
    cluster::Ledger own = deal_->ledger_of(part, ledger);
    return parts_[static_cast<std::size_t>(part)].policy->why_waiting(job, view, own);
  }

  void line_up(std::vector<JobId>& line) const override {
    if (!deal_) return;
    std::vector<std::vector<JobId>> lines(parts_.size());
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (parts_[part].policy != nullptr) parts_[part].policy->line_up(lines[part]);
    }
    deal_->line_up(lines, line);
  }

 private:
  struct Part {
    std::unique_ptr<Policy> policy{};
    std::vector<Event> told{};  // in this decision
    bool has_stopped = false;   // in the last one: these jobs join its line when it is asked again
  };

  /// Passes an event on to the part of its job. Jobs without a part are passed on when they get
  /// one.
  void tell(EventKind kind, JobId job, double value = 0) {
    const int part = deal_->part_of(job);
    if (part == PartDeal::kNoPart) return;
    const auto subject = static_cast<std::uint32_t>(index(job));
    parts_[static_cast<std::size_t>(part)].told.push_back({kind, subject, value});
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_adopted:
      case EventKind::job_arrived:
        begins_anew_ |= deal_->add(job, view, ledger) || event.kind == EventKind::job_adopted;
        if (!begins_anew_) deal_->deal(job, view, ledger);
        tell(event.kind, job);
        break;
      case EventKind::job_released:
        if (deal_->part_of(job) != PartDeal::kNoPart || begins_anew_) {
          tell(event.kind, job);
        } else {
          deal_->deal(job, view, ledger);
          tell(EventKind::job_arrived, job);
        }
        break;
      case EventKind::job_ended:
      case EventKind::job_withdrawn:
        tell(event.kind, job);
        remove(job);
        break;
      case EventKind::job_failed:
      case EventKind::job_reported:
        tell(event.kind, job, event.value);
        break;
      case EventKind::node_down:
      case EventKind::node_up:
      case EventKind::capacity_changed:
        begins_anew_ = true;
        deal_->nodes_changed();
        [[fallthrough]];
      case EventKind::node_notice:
      case EventKind::signal_changed:
      case EventKind::timer:
        for (Part& part : parts_) part.told.push_back(event);
        break;
    }
  }

  void remove(JobId job) {
    begins_anew_ |= deal_->remove(job);
    host_.forget(job);
  }

  /// Makes new policies and passes on to each the running and waiting jobs of its part.
  void begin_anew(const View& view, const Plan& plan) {
    begins_anew_ = false;
    deal_->deal_anew(view, plan.ledger);
    for (Part& part : parts_) {
      part.policy = registry().make(each_, host_.lend());
      part.has_stopped = false;
      std::erase_if(part.told, [](const Event& event) {  // those that are not of all parts
        return event.kind != EventKind::node_notice && event.kind != EventKind::signal_changed &&
               event.kind != EventKind::timer;
      });
    }
    for (const JobId job : deal_->jobs()) {
      const bool runs = view.progress(job).phase == Phase::running;
      tell(runs ? EventKind::job_adopted : EventKind::job_arrived, job);
    }
    for (Part& part : parts_) {
      std::stable_sort(part.told.begin(), part.told.end(),
                       [](const Event& a, const Event& b) { return a.kind < b.kind; });
    }
  }

  void run(std::size_t at, const View& view, Plan& plan) {
    Part& part = parts_[at];
    // What gives back room in a quota may be in another part.
    const bool is_due = plan.quotas != nullptr || part.has_stopped;
    if (part.told.empty() && is_due) part.told.push_back({EventKind::timer});
    if (part.told.empty() || part.policy == nullptr) return;
    cluster::Ledger own = deal_->ledger_of(static_cast<int>(at), plan.ledger);
    Plan made(own, view);
    made.quotas = plan.quotas;
    part.policy->decide(part.told, view, made);
    part.has_stopped = made.num_stops() > 0;
    carry_over(made, view, plan);
    for (const auto* gone : {&made.declined, &made.ended}) {
      for (const JobId job : *gone) remove(job);
    }
  }

  const Composition each_;
  const bool at_random_;
  std::unique_ptr<Placement> placement_;
  SharedHost host_;
  std::vector<Part> parts_;
  std::optional<PartDeal> deal_;
  bool begins_anew_ = true;
};

}  // namespace

void register_pop(Registry& registry) {
  registry.divisions.add(
      {.name = "pop",
       .summary = "runs the policy separately on each part of the nodes, with part of the jobs",
       .source = "Narayanan et al. SOSP'21 (POP)",
       .traits = {.has = {Trait::splits_nodes},
                  .bars = {Trait::reads_tenants, Trait::reads_groups, Trait::sleeps_nodes,
                           Trait::limits_power, Trait::paces_traffic, Trait::parts_cluster}},
       .parameters = {whole_number("parts", "number of parts", 4, 2, 64),
                      word("deal", "how jobs are assigned to parts", {"turn", "random"})}},
      [](const Parameters& told, const Composition& composition, Host& host) {
        Composition each = composition;
        each.division = Composition().division;
        return std::make_unique<Pop>(std::move(each), std::move(host),
                                     static_cast<std::size_t>(told.whole("parts")),
                                     told.word("deal") == "random");
      });
}

}  // namespace almanac::policy::division
