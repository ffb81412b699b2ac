// SPDX-License-Identifier: Apache-2.0
#include "sim/services.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "inference/scaled.h"
#include "schedule/speed_book.h"

namespace almanac::sim {
namespace {

/// Longer than any log; sums of it and a time do not overflow.
constexpr Duration kWithoutEnd = 24h * 365 * 100;
/// Looks of scalers while nothing moves, after which nothing will.
constexpr int kMostLooksInVain = 1000;

inference::ScalerCase case_of(const ServiceCase& told) {
  return {.least = told.least,
          .most = told.most,
          .replica_requests_per_s = told.replica_requests_per_s,
          .cold_start = 1e3 * static_cast<double>(told.cold_start.count())};
}

/// Names that come in the same order get the same ids.
std::unique_ptr<trace::Trace> copied(const trace::Trace& jobs) {
  auto made = std::make_unique<trace::Trace>();
  for (std::uint32_t id = 1; id < jobs.names.size(); ++id)
    made->names.intern(jobs.names[NameId{id}]);
  made->jobs = jobs.jobs;
  made->path = jobs.path;
  return made;
}

}  // namespace

struct Services::Running {
  ServiceCase told;
  inference::Parts parts;
  inference::Simulation fleet;
  NameId name{}, vc{};
  ServiceOutcome outcome{};
  std::vector<NodeId> nodes{};  // its own
  int own_gpus = 0;             // of all of them
  int places = 0;               // for replicas on them
};

/// A replica as a job. It waits or runs; where it runs it takes requests from `ready` on, as
/// `replica` of the fleet. One on a node of the service's own is a job that no policy hears of.
struct Services::Copy {
  JobId job{};
  std::size_t service = 0;
  enum class State : std::uint8_t { coming, waits, loads, serves, drains, gone } state{};
  Time asked{};  // it began to wait
  Time since{};  // the present run began
  Time ready{};
  std::uint32_t replica = 0;
  bool is_own = false;   // on a node of the service's own
  bool is_kept = false;  // no policy stops it
  bool is_warm = false;  // of the minimum that runs when the simulation begins
};

Services::Services() = default;
Services::Services(Services&&) noexcept = default;
Services& Services::operator=(Services&&) noexcept = default;
Services::~Services() = default;

Result<Services> Services::make(const trace::Trace& jobs, const cluster::Cluster& cluster,
                                std::vector<ServiceCase> told) {
  Services made;
  made.trace_ = copied(jobs);
  made.logged_ = jobs.jobs.size();
  for (ServiceCase& each : told) {
    if (!each.vc.empty() && cluster.find_vc_of_jobs(each.vc) == kNoVc) {
      return fail(Code::not_found, fmt::format("no virtual cluster is named \"{}\"", each.vc), {},
                  cluster.takes_every_job ? "the cluster has none: leave out vc" : "");
    }
    if (each.vc.empty() && !cluster.takes_every_job && cluster.vcs.size() > 1) {
      return fail(Code::usage,
                  fmt::format("a service must name one of the {} virtual clusters of the cluster",
                              cluster.vcs.size()),
                  {}, "add vc=NAME");
    }
    auto parts = inference::parts(each.service);
    if (!parts) return tl::unexpected(parts.error());
    if (auto scaler = inference::make_scaler(each.scaler, case_of(each)); !scaler) {
      return tl::unexpected(scaler.error());
    }
    made.states_.push_back({.name = each.name, .least = each.least, .most = each.most, .load = {}});
    const NameId name = made.trace_->names.intern(each.name);
    const NameId vc = each.vc.empty() ? kNoName : made.trace_->names.intern(each.vc);
    inference::Simulation fleet(each.requests);
    made.services_.push_back(std::make_unique<Running>(
        Running{std::move(each), std::move(*parts), std::move(fleet), name, vc}));
    const auto aside = made.set_aside(made.services_.size() - 1, cluster);
    if (!aside) return tl::unexpected(aside.error());
  }
  return made;
}

Result<void> Services::set_aside(std::size_t service, const cluster::Cluster& cluster) {
  Running& of = *services_[service];
  if (of.told.nodes == 0) return {};
  const VcId vc = of.told.vc.empty() ? VcId{0} : cluster.find_vc_of_jobs(of.told.vc);
  if (!cluster.changes.empty()) {
    return fail(Code::usage,
                "a service cannot have its own nodes while the number of nodes changes");
  }
  const cluster::VirtualCluster& from = cluster.vcs[index(vc)];
  std::size_t after = index(from.first) + from.num_nodes;
  for (int each = 0; each < of.told.nodes; ++each) {
    const bool left = after > index(from.first);
    const NodeId node{static_cast<std::uint32_t>(after - (left ? 1 : 0))};
    const bool taken = left && owns(node);
    if (!left) {
      return fail(Code::usage,
                  fmt::format("virtual cluster {} has fewer than {} nodes for services", from.name,
                              of.told.nodes));
    }
    --after;
    if (taken) {
      --each;
      continue;
    }
    const int places = cluster.gpus(node) / of.told.service.replica_gpus();
    if (places == 0) {
      return fail(Code::usage,
                  fmt::format("a replica of {} GPUs does not fit on a node of {}",
                              of.told.service.replica_gpus(), cluster.gpus(node)),
                  {}, "leave nodes= out, or give a replica fewer GPUs");
    }
    of.nodes.push_back(node);
    of.places += places;
    of.own_gpus += cluster.gpus(node);
    own_nodes_.push_back(node);
  }
  return {};
}

void Services::give_back_nodes_of(std::size_t service, Time now) {
  const bool some_left = std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.service == service && copy.is_own && copy.state != Copy::State::gone;
  });
  if (states_[service].load.over && !some_left) give_back_nodes(service, now);
}

void Services::give_back_nodes(std::size_t service, Time now) {
  Running& of = *services_[service];
  const double gpu_s = seconds(now - began_) * of.own_gpus;
  of.outcome.gpu_s += gpu_s;
  of.outcome.own_nodes_gpu_s += gpu_s;
  of.own_gpus = of.places = 0;
  for (const NodeId node : std::exchange(of.nodes, {})) {
    std::erase(own_nodes_, node);
    given_back_.push_back(node);
  }
}

std::vector<std::unique_ptr<inference::Scaler>> Services::scalers() const {
  std::vector<std::unique_ptr<inference::Scaler>> made;
  for (const auto& each : services_) {
    made.push_back(*inference::make_scaler(each->told.scaler, case_of(each->told)));
  }
  return made;
}

std::vector<ServiceOutcome> Services::outcomes() const {
  std::vector<ServiceOutcome> made;
  for (const auto& each : services_) {
    made.push_back(each->outcome);
    made.back().requests = each->fleet.outcomes();
  }
  return made;
}

inference::Micros Services::since_begin(Time at) const {
  return 1e3 * static_cast<double>((at - began_).count());
}

Services::Copy& Services::copy_of(JobId job) { return copies_[index(job) - logged_]; }

void Services::advance(Time now) {
  now_ = now;
  for (std::size_t each = 0; each < services_.size(); ++each) {
    Running& service = *services_[each];
    std::vector<Copy*> loading;
    for (Copy& copy : copies_) {
      if (copy.service == each && copy.state == Copy::State::loads && copy.ready <= now) {
        loading.push_back(&copy);
      }
    }
    std::stable_sort(loading.begin(), loading.end(),
                     [](const Copy* a, const Copy* b) { return a->ready < b->ready; });
    for (Copy* const copy : loading) {
      service.fleet.advance(since_begin(copy->ready), *service.parts.router);
      copy->replica =
          service.fleet.add(service.parts.limits, *service.parts.step, service.parts.former());
      copy->state = Copy::State::serves;
    }
    service.fleet.advance(since_begin(now), *service.parts.router);
    states_[each].load = service.fleet.load();
  }
  bool any_runs = false;
  for (Copy& copy : copies_) {
    if (copy.state == Copy::State::drains && services_[copy.service]->fleet.gone(copy.replica)) {
      leave(copy, now);
    }
    const bool starts = copy.state == Copy::State::coming || copy.state == Copy::State::waits ||
                        copy.state == Copy::State::loads;
    if (starts) ++states_[copy.service].load.starting;
    any_runs = any_runs || copy.state == Copy::State::loads || copy.state == Copy::State::serves ||
               copy.state == Copy::State::drains;
  }
  const bool requests_come = std::any_of(services_.begin(), services_.end(), [](const auto& each) {
    return each->fleet.next() != inference::kNever;
  });
  for (std::size_t each = 0; each < services_.size(); ++each) give_back_nodes_of(each, now);
  looks_in_vain_ = any_runs || requests_come || all_over() ? 0 : looks_in_vain_ + 1;
}

Time Services::next() const {
  if (!gone_.empty() || !come_.empty() || !given_back_.empty()) return now_;
  Time at = kNever;
  for (const Copy& copy : copies_) {
    if (copy.state != Copy::State::drains) continue;
    const inference::Micros next = services_[copy.service]->fleet.next();
    if (next == inference::kNever) continue;
    const Duration since{std::llround(std::ceil(next / 1e3))};
    at = std::min(at, std::max(began_ + since, now_ + Duration{1}));
  }
  return at;
}

bool Services::all_over() const {
  return std::all_of(states_.begin(), states_.end(),
                     [](const policy::Service& each) { return each.load.over; });
}

bool Services::go_on() const {
  return !all_over() || std::any_of(copies_.begin(), copies_.end(), [](const Copy& copy) {
    return copy.state != Copy::State::gone;
  });
}

bool Services::is_stuck() const { return looks_in_vain_ > kMostLooksInVain; }

void Services::scale(policy::ServiceId service, int replicas, Time now) {
  const std::size_t at = index(service);
  states_[at].wanted = replicas;
  int present = 0;
  for (const Copy& copy : copies_) {
    present +=
        copy.service == at && copy.state != Copy::State::gone && copy.state != Copy::State::drains;
  }
  for (; present < replicas; ++present) ask(at, now);
  for (; present > replicas; --present) let_go(at, now);
  give_back_nodes_of(at, now);
}

void Services::ask(std::size_t service, Time now) {
  const Running& told = *services_[service];
  trace::Job job;
  job.id = trace_->key(fmt::format("{} replica {}", told.told.name, copies_.size() + 1));
  job.request.submit = now;
  job.request.name = job.request.user = told.name;
  job.request.vc = told.vc;
  job.request.gpus = told.told.service.replica_gpus();
  job.outcome.run = kWithoutEnd;
  const JobId id{static_cast<std::uint32_t>(trace_->jobs.size())};
  trace_->jobs.push_back(job);
  for (schedule::SpeedBook* const each : speeds_) each->take_in(*trace_);
  const auto on_own = std::count_if(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.service == service && copy.is_own && copy.state != Copy::State::gone;
  });
  const auto sure = std::count_if(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.service == service && (copy.is_own || copy.is_kept) &&
           copy.state < Copy::State::drains;
  });
  const auto before = std::count_if(copies_.begin(), copies_.end(),
                                    [&](const Copy& copy) { return copy.service == service; });
  copies_.push_back({.job = id,
                     .service = service,
                     .asked = now,
                     .is_own = on_own < told.places,
                     .is_kept = told.told.reclaims || sure < told.told.least,
                     .is_warm = now == began_ && before < told.told.least});
  copies_.back().is_own ? started(id, now) : come_.push_back(id);
}

std::vector<JobId> Services::take_come() {
  for (const JobId job : come_) copy_of(job).state = Copy::State::waits;
  return std::exchange(come_, {});
}

void Services::let_go(std::size_t service, Time now) {
  // Protected copies go last; otherwise the copy with the least work goes first, among equals the
  // latest.
  Copy* chosen = nullptr;
  const auto order = [](const Copy& copy) {
    return std::tuple(copy.is_own, copy.is_kept, copy.state);
  };
  for (Copy& copy : copies_) {
    if (copy.service != service || copy.state >= Copy::State::drains) continue;
    if (chosen == nullptr || order(copy) <= order(*chosen)) chosen = &copy;
  }
  switch (chosen->state) {
    case Copy::State::coming:
      std::erase(come_, chosen->job);
      chosen->state = Copy::State::gone;
      return;
    case Copy::State::loads:
    case Copy::State::waits:
      return leave(*chosen, now);
    default:
      chosen->state = Copy::State::drains;
      services_[service]->fleet.close(chosen->replica);
      if (services_[service]->fleet.gone(chosen->replica)) leave(*chosen, now);
  }
}

void Services::leave(Copy& copy, Time now) {
  if (copy.state == Copy::State::waits) {
    note_wait(copy, now);
  } else {
    leave_gpus(copy, now);
  }
  copy.state = Copy::State::gone;
  if (!copy.is_own) gone_.push_back(copy.job);
}

void Services::note_wait(const Copy& copy, Time until) {
  Duration& longest = services_[copy.service]->outcome.longest_wait;
  longest = std::max(longest, until - copy.asked);
}

bool Services::is_kept(JobId job) const {
  return index(job) >= logged_ && copies_[index(job) - logged_].is_kept;
}

bool Services::reclaims() const {
  return std::any_of(services_.begin(), services_.end(),
                     [](const auto& each) { return each->told.reclaims; });
}

bool Services::empties_nodes() const {
  return std::any_of(services_.begin(), services_.end(), [](const auto& each) {
    return each->told.reclaims && each->told.empties_nodes;
  });
}

void Services::refused(JobId job, const policy::Reason& reason) {
  Copy& copy = copy_of(job);
  copy.state = Copy::State::gone;
  services_[copy.service]->outcome.refused = policy::to_string(reason, "");
}

void Services::started(JobId job, Time begins) {
  Copy& copy = copy_of(job);
  note_wait(copy, begins);
  copy.state = Copy::State::loads;
  copy.since = begins;
  const bool is_ready = copy.is_warm && begins == began_;
  copy.ready = begins + (is_ready ? Duration{0} : services_[copy.service]->told.cold_start);
  ++services_[copy.service]->outcome.replicas_started;
}

void Services::leave_gpus(Copy& copy, Time now) {
  Running& service = *services_[copy.service];
  const Duration ran = std::max(Duration{0}, now - copy.since);
  if (copy.is_own) return;  // its nodes are counted as a whole
  service.outcome.gpu_s += seconds(ran) * service.told.service.replica_gpus();
  // So long it ran, and no estimate is to learn anything else.
  trace_->jobs[index(copy.job)].outcome.run = ran;
}

void Services::stopped(JobId job, Time now) {
  Copy& copy = copy_of(job);
  const bool was_to_go = copy.state == Copy::State::drains;
  ended(job, now);
  ++services_[copy.service]->outcome.replicas_stopped;
  if (was_to_go) return gone_.push_back(job);
  trace_->jobs[index(job)].outcome.run = kWithoutEnd;
  copy.asked = now;
  copy.state = Copy::State::waits;
}

void Services::ended(JobId job, Time now) {
  Copy& copy = copy_of(job);
  const bool has_requests = copy.state == Copy::State::serves || copy.state == Copy::State::drains;
  if (has_requests || copy.state == Copy::State::loads) leave_gpus(copy, now);
  if (has_requests) services_[copy.service]->fleet.lose(copy.replica);
  copy.state = Copy::State::gone;
}

void Services::finish(Time now) {
  for (Copy& copy : copies_) {
    const bool runs = copy.state == Copy::State::loads || copy.state == Copy::State::serves ||
                      copy.state == Copy::State::drains;
    if (runs) leave_gpus(copy, now);
    copy.state = Copy::State::gone;
  }
  for (std::size_t each = 0; each < services_.size(); ++each) {
    if (!services_[each]->nodes.empty()) give_back_nodes(each, now);
  }
}

}  // namespace almanac::sim
