// SPDX-License-Identifier: Apache-2.0
#include "script/scripted.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "policy/kit/placer.h"
#include "script/words.h"
#include "text/utf8.h"
#include "trace/sizes.h"

namespace almanac::script {
namespace {

using policy::EventKind;
using policy::Phase;
using Json = nlohmann::json;

/// The beginning of what was said.
std::string shown(std::string_view said) {
  constexpr std::size_t kShown = 200;
  return text::mend_utf8(said.substr(0, kShown)) + (said.size() > kShown ? "..." : "");
}

/// Throws unless `holds`; the message says what was commanded.
void must(bool holds, const Json& command, const char* rule) {
  if (holds) return;
  throw Broken(fmt::format("{} violates the contract: {}", shown(command.dump()), rule));
}

/// The item of a command, or of a list in it.
const Json& item(const Json& of, std::size_t at, const Json& command) {
  must(of.is_array() && at < of.size(), command, "the command is incomplete");
  return of[at];
}

/// A whole number: of 0.5 or 1e30 the library would make any other.
template <typename T>
T whole(const Json& value, const Json& command) {
  const bool fits = value.is_number_unsigned()  ? std::in_range<T>(value.get<std::uint64_t>())
                    : value.is_number_integer() ? std::in_range<T>(value.get<std::int64_t>())
                                                : false;
  must(fits, command, "a number in it is not whole, or too large");
  return value.get<T>();
}

class Scripted final : public policy::Policy {
 public:
  Scripted(std::shared_ptr<Talk> talk, const trace::Trace& trace,
           std::unique_ptr<policy::Placement> placement,
           std::unique_ptr<predict::Estimator> estimator)
      : talk_(std::move(talk)),
        trace_(trace),
        placement_(std::move(placement)),
        estimator_(std::move(estimator)) {}

  void decide(std::span<const policy::Event> events, const policy::View& view,
              policy::Plan& plan) override {
    if (!std::exchange(is_told_cluster_, true)) {
      talk_->say(Json{{"cluster", to_json(view.cluster, trace_)}}.dump());
    }
    named_.clear();
    wakes_now_ = false;
    tell(events, view);
    for (;;) {
      const std::string said = talk_->hear();
      const Json command = Json::parse(said, nullptr, false);
      if (!command.is_array() || command.empty() || !command[0].is_string()) {
        throw Broken(fmt::format(
            "expected a command, a JSON list such as [\"start\", 17], found {}", shown(said)));
      }
      const std::string verb = command[0];
      if (verb == "done") break;
      talk_->say(answer(verb, command, view, plan).dump());
    }
    decisions_at_once_ = wakes_now_ ? decisions_at_once_ + 1 : 0;
    // The round aborts on what never comes to an end, and this program is not to be blamed for it.
    constexpr int kMost = 9'000;
    if (decisions_at_once_ > kMost) {
      throw Broken(fmt::format("it requested a wake-up at {1} s for that same instant {0} times",
                               kMost, seconds(view.now)));
    }
  }

  policy::Reason why_waiting(JobId job, const policy::View& view,
                             cluster::Ledger& ledger) const override {
    const policy::Progress& state = view.progress(job);
    const cluster::Demand& demand = view.demand(state.demand);
    policy::Reason reason{.kind = policy::ReasonKind::passed_over, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(state.vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    const std::size_t before = ledger.mark();
    std::vector<cluster::Grant> grants;
    const bool fits = policy::place_demand(*placement_, ledger, state.vc, demand, view.rng, grants);
    ledger.undo(before);
    if (fits) return reason;
    reason.kind = reason.available >= demand.gpus ? policy::ReasonKind::fragmented
                                                  : policy::ReasonKind::short_of_gpus;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    std::copy_if(live_.begin(), live_.end(), std::back_inserter(line),
                 [&](JobId job) { return view_->progress(job).phase == Phase::waiting; });
  }

 private:
  /// Events, and what the jobs ask of which they are the first.
  void tell(std::span<const policy::Event> events, const policy::View& view) {
    view_ = &view;
    Json told = Json::array();
    Json jobs = Json::array();
    for (const policy::Event& event : events) {
      told.push_back(to_json(event));
      const JobId job{event.subject};
      if (event.kind == EventKind::job_arrived || event.kind == EventKind::job_adopted) {
        live_.push_back(job);
        jobs.push_back(to_json(trace_, view, job, believe(job, view)));
      } else if (event.kind == EventKind::job_ended || event.kind == EventKind::job_withdrawn) {
        std::erase(live_, job);
        if (event.kind == EventKind::job_ended) learn(job, view);
      }
    }
    const auto now = view.now.time_since_epoch().count();
    talk_->say(Json{{"now", now}, {"events", told}, {"jobs", jobs}}.dump());
  }

  Duration believe(JobId job, const policy::View& view) {
    return estimator_ ? estimator_->estimate(job, view.request(job)).run : kNoDuration;
  }
  void learn(JobId job, const policy::View& view) {
    if (!estimator_) return;
    const policy::Progress& state = view.progress(job);
    estimator_->learn(job, view.request(job),
                      {.at = state.end,
                       .ran = std::max(Duration{0}, state.attained - state.charged),
                       .state = view.state(job)});
  }

  Json answer(const std::string& verb, const Json& command, const policy::View& view,
              policy::Plan& plan) {
    if (verb == "free") return free_gpus(view, plan.ledger);
    if (verb == "look") {
      Json all = Json::array();
      for (const JobId job : live_) all.push_back(standing(view, job));
      return all;
    }
    if (verb == "wake") {
      const Time at{Duration{whole<std::int64_t>(item(command, 1, command), command)}};
      must(at >= view.now, command, "the time has passed");
      wakes_now_ = wakes_now_ || at == view.now;
      plan.wake(at);
      return true;
    }
    if (verb == "sleep" || verb == "boot") return switch_node(verb, command, view, plan);
    return change(verb, command, view, plan);
  }

  Json change(const std::string& verb, const Json& command, const policy::View& view,
              policy::Plan& plan) {
    const JobId job{whole<std::uint32_t>(item(command, 1, command), command)};
    must(std::find(live_.begin(), live_.end(), job) != live_.end(), command,
         "no such job is waiting or running");
    must(!named_.contains(job), command, "the job is named twice in one decision");
    const bool waits = view.progress(job).phase == Phase::waiting;
    if (verb == "fits") {
      const std::size_t before = plan.ledger.mark();
      std::vector<cluster::Grant> grants;
      const bool fits = waits && take(job, command, view, plan, grants);
      plan.ledger.undo(before);
      return fits;
    }
    if (verb == "start") {
      must(waits, command, "the job is not waiting");
      must(view.held_until(job) <= view.now, command, "the job is held");
      std::vector<cluster::Grant> grants;
      if (!take(job, command, view, plan, grants)) return false;
      plan.set(job, {.grants = grants});
    } else if (verb == "move") {
      must(!waits, command, "the job is not running");
      if (!move(job, command, view, plan)) return false;
    } else if (verb == "stop") {
      must(!waits, command, "the job is not running");
      give_back(job, view, plan.ledger);
      plan.set(job, {});
    } else if (verb == "hold") {
      const Time until{Duration{whole<std::int64_t>(item(command, 2, command), command)}};
      must(waits, command, "the job is not waiting");
      must(until > view.now, command, "the time has passed");
      plan.hold(job, until);
    } else if (verb == "decline") {
      must(waits, command, "the job is not waiting");
      plan.decline(job);
      std::erase(live_, job);
    } else if (verb == "end") {
      if (!waits) give_back(job, view, plan.ledger);
      plan.end(job);
      std::erase(live_, job);
    } else {
      must(false, command, "there is no such command");
    }
    named_.insert(job);
    return true;
  }

  /// Takes what `job` is to hold: on so many GPUs where command[2] says how many, on those nodes
  /// where command[3] does, else as the placement likes. False = changed nothing.
  bool take(JobId job, const Json& command, const policy::View& view, policy::Plan& plan,
            std::vector<cluster::Grant>& grants) {
    const policy::Progress& state = view.progress(job);
    if (plan.quotas != nullptr && !plan.quotas->has_room(plan.quotas->of(job))) return false;
    const Json gpus = command.size() > 2 ? command[2] : Json();
    const Json nodes = command.size() > 3 ? command[3] : Json();
    cluster::Demand demand = view.demand(state.demand);
    const auto wanted = gpus.is_null() ? demand.gpus : whole<std::int32_t>(gpus, command);
    if (wanted != demand.gpus) {
      must(trace::sizes_of(view.request(job)).has(wanted), command,
           "the job cannot run on that number of GPUs");
      demand.gpus = wanted;
    }
    if (!nodes.is_null()) return take_on(nodes, command, demand, state.vc, view, plan, grants);
    const auto place = [&](const cluster::Demand& sought) {
      return policy::place_demand(*placement_, plan.ledger, state.vc, sought, view.rng, grants);
    };
    const std::span<const policy::Acceptable> acceptable = view.acceptable(job);
    if (!gpus.is_null() || acceptable.empty()) return place(demand);
    return std::any_of(acceptable.begin(), acceptable.end(), [&](const policy::Acceptable& each) {
      return place(view.demand(each.demand));
    });
  }

  static bool take_on(const Json& nodes, const Json& command, const cluster::Demand& demand,
                      VcId vc, const policy::View& view, policy::Plan& plan,
                      std::vector<cluster::Grant>& grants) {
    must(!demand.is_part() && !demand.is_cpu_job(), command,
         "only jobs with whole GPUs may name nodes");
    must(nodes.is_array(), command, "nodes must be a list");
    std::int64_t units = 0;
    std::set<NodeId> seen;
    for (const Json& each : nodes) {
      const NodeId node{whole<std::uint32_t>(item(each, 0, command), command)};
      const int gpus = whole<int>(item(each, 1, command), command);
      must(index(node) < view.cluster.nodes.size() && gpus > 0 && seen.insert(node).second, command,
           "each node must be named once, with one GPU or more");
      must(view.cluster.nodes[index(node)].vc == vc, command,
           "the node belongs to another virtual cluster");
      units += gpus;
    }
    must(units == demand.gpus, command, "the number of GPUs differs from what the job gets");
    must(demand.nodes == 0 || std::cmp_equal(nodes.size(), demand.nodes), command,
         "the job runs on another number of nodes");
    const std::size_t before = plan.ledger.mark();
    for (const Json& each : nodes) {
      const NodeId node{each[0].get<std::uint32_t>()};
      const int gpus = each[1];
      if (!plan.ledger.suits(node, demand) || !plan.ledger.room(node).covers(demand.of(gpus))) {
        plan.ledger.undo(before);
        grants.clear();
        return false;
      }
      grants.push_back(plan.ledger.take(node, demand.of(gpus)));
    }
    must(plan.ledger.in_domains(grants, demand.nvlink_gpus), command,
         "the job needs whole groups of nvlink_gpus GPUs in each NVLink domain");
    return true;
  }

  /// False = changed nothing.
  bool move(JobId job, const Json& command, const policy::View& view, policy::Plan& plan) {
    const std::size_t before = plan.ledger.mark();
    give_back(job, view, plan.ledger);
    std::vector<cluster::Grant> grants;
    if (!take(job, command, view, plan, grants)) {
      plan.ledger.undo(before);
      return false;
    }
    plan.set(job, {.grants = grants});
    return true;
  }

  static void give_back(JobId job, const policy::View& view, cluster::Ledger& ledger) {
    for (const cluster::Grant& grant : view.grants(job)) ledger.give_back(grant);
  }

  static Json switch_node(const std::string& verb, const Json& command, const policy::View& view,
                          policy::Plan& plan) {
    const NodeId node{whole<std::uint32_t>(item(command, 1, command), command)};
    must(index(node) < view.cluster.nodes.size(), command, "there is no such node");
    if (verb == "sleep") {
      const double cpus = view.cluster.classes[view.cluster.nodes[index(node)].node_class].cpus;
      const cluster::Amount room = plan.ledger.room(node);
      must(plan.ledger.ready(node) && room.gpus == view.cluster.gpus(node) &&
               room.cpu_milli == (cpus > 0 ? cluster::cpu_milli(cpus) : cluster::kUnbounded),
           command, "the node is not idle");
      plan.sleep(node);
    } else {
      must(plan.ledger.power(node) == cluster::Power::asleep, command, "the node is not asleep");
      plan.boot(node);
    }
    return true;
  }

  static Json free_gpus(const policy::View& view, const cluster::Ledger& ledger) {
    Json all = Json::array();
    for (std::uint32_t node = 0; node < view.cluster.nodes.size(); ++node) {
      all.push_back(ledger.free_on(NodeId{node}));
    }
    return all;
  }

  std::shared_ptr<Talk> talk_;
  const trace::Trace& trace_;
  std::unique_ptr<policy::Placement> placement_;
  std::unique_ptr<predict::Estimator> estimator_;  // null = nothing is believed
  const policy::View* view_ = nullptr;             // the host's, the same at each decision
  std::vector<JobId> live_;                        // that wait or run, in order of arrival
  std::set<JobId> named_;                          // of which this decision says something
  bool is_told_cluster_ = false;
  bool wakes_now_ = false;
  int decisions_at_once_ = 0;
};

}  // namespace

std::unique_ptr<policy::Policy> make_scripted(std::shared_ptr<Talk> talk, const trace::Trace& trace,
                                              std::unique_ptr<policy::Placement> placement,
                                              std::unique_ptr<predict::Estimator> estimator) {
  return std::make_unique<Scripted>(std::move(talk), trace, std::move(placement),
                                    std::move(estimator));
}

void say_over(Talk& talk) { talk.say(R"({"over":true})"); }

}  // namespace almanac::script
