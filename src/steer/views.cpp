// SPDX-License-Identifier: Apache-2.0
#include "steer/views.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cluster/sockets.h"
#include "service/inquest.h"
#include "steer/occupancy.h"
#include "steer/record.h"
#include "steer/scope.h"
#include "text/human.h"

namespace almanac::steer {

using service::JobView;

std::string Views::why_waiting(const manager::Job& job) const {
  const Decision& decision = known_.decider->last();
  if (const auto found = decision.aside.find(job.number); found != decision.aside.end()) {
    const auto quota = decision.quotas.find(job.number);
    if (quota != decision.quotas.end()) return fmt::format("is at a quota: {}", quota->second);
    return std::string(to_words(found->second));
  }
  if (const auto found = decision.never.find(job.number); found != decision.never.end()) {
    return fmt::format("can never start: {}", policy::to_string(found->second, ""));
  }
  if (known_.decider->place(job.number).number == 0) return "has just been submitted";
  const auto reason = known_.decider->why(job.number);
  if (!reason) return fmt::format("would start now under {}", known_.config.policy);
  const std::string other =
      reason->other == kNoJob
          ? std::string()
          : std::to_string(static_cast<std::uint32_t>(known_.decider->number(reason->other)));
  return policy::to_string(*reason, other);
}

JobView Views::view_of(const manager::Job& job) const {
  JobView made{.job = to_stored(job, *known_.world)};
  if (const JobUse* const use = known_.slimmer->use(job.number)) {
    made.job.used = use->used();
    made.gpu_use = use->gpus_busy().value_or(-1);
    made.cpu_use = use->cores_busy(known_.mirror.at()).value_or(-1);
  }
  if (!waits(job)) return made;
  made.why = why_waiting(job);
  made.why_word = job.reason;
  made.place = known_.decider->place(job.number).number;
  if (made.place > 0) made.believed = known_.decider->believed(job, *known_.world);
  if (is_in_scope(job, known_.config.settings)) {
    made.expected = watching_.expected(to_store(job.number));
  }
  return made;
}

Result<std::vector<JobView>> Views::jobs(const service::Sought& sought) const {
  std::vector<JobView> made;
  {
    const std::lock_guard lock(known_.mutex);
    for (const auto& [number, job] : known_.mirror.jobs()) {
      if (made.size() == sought.most) break;
      if (to_store(number) <= sought.above) continue;
      if (!sought.wanted || sought.wanted(to_stored(job, *known_.world)))
        made.push_back(view_of(job));
    }
  }
  if (auto added = service::add_ended(known_.store, sought, {}, made); !added) {
    return tl::unexpected(added.error());
  }
  return made;
}

Result<JobView> Views::job(store::JobNumber number) const {
  {
    const std::lock_guard lock(known_.mutex);
    if (const manager::Job* const job = known_.mirror.find(to_manager(number))) {
      JobView made = view_of(*job);
      made.pace = pace_of(*job);
      return made;
    }
  }
  return service::kept_job(known_.store, number).map([](store::Job&& job) {
    return JobView{.job = std::move(job)};
  });
}

Result<std::vector<std::string>> Views::explain(store::JobNumber number, service::Eyes eyes) const {
  auto lines = explain_job(number, eyes);
  if (!lines) return lines;
  const auto view = job(number);
  const auto known = tenancy();
  if (!view || !known) return lines;
  std::string line;
  {
    const std::lock_guard lock(known_.mutex);
    const TenantId tenant = tenant_of(view->job);
    if (tenant == kNoTenant) return lines;
    line = service::beside_its_due(*known, known_.world->cluster.tenants[index(tenant)].name);
  }
  if (!line.empty()) lines->push_back(std::move(line));
  return lines;
}

Result<std::vector<std::string>> Views::explain_job(store::JobNumber number,
                                                    service::Eyes eyes) const {
  const std::string shown = fmt::format("job {}", number);
  {
    const std::lock_guard lock(known_.mutex);
    if (const manager::Job* const found = known_.mirror.find(to_manager(number))) {
      return explain(*found, shown);
    }
  }
  const auto ended = job(number);
  if (!ended) return tl::unexpected(ended.error());
  std::vector lines{fmt::format("{} has ended: {}", shown, to_string(ended->job.state))};
  const auto notes = known_.store.notes(number);
  if (!notes) return tl::unexpected(notes.error());
  for (const store::Note& note : *notes) {
    if (note.what != service::kJudged) continue;
    lines.push_back(fmt::format("{}: {}", note.what, service::detail_for(note, eyes)));
  }
  return lines;
}

std::vector<std::string> Views::explain(const manager::Job& job, const std::string& shown) const {
  if (!waits(job)) {
    std::vector<std::string> where;
    for (const manager::Held& held : job.holds) where.push_back(held.node);
    return {fmt::format("{} runs on {}", shown, fmt::join(where, ", "))};
  }
  const JobView view = view_of(job);
  std::vector<std::string> lines{
      fmt::format("{} waits under {}: {}", shown, known_.config.policy, view.why)};
  if (const auto place = known_.decider->place(job.number); place.number > 0) {
    lines.push_back(fmt::format("position {} of {} in {}, expected run time {}", place.number,
                                place.of, view.job.asked->vc,
                                text::human_time(seconds(*view.believed))));
  }
  lines.push_back(fmt::format("Slurm says: {}, priority {}, site factor {}",
                              job.reason.empty() ? "nothing" : job.reason, job.priority,
                              job.site_factor));
  return lines;
}

std::vector<service::NodeView> Views::nodes() const {
  const std::lock_guard lock(known_.mutex);
  const cluster::Cluster& cluster = known_.world->cluster;
  std::vector<service::NodeView> made(cluster.nodes.size());
  for (std::size_t at = 0; at < made.size(); ++at) {
    const cluster::Node& node = cluster.nodes[at];
    const cluster::NodeClass& make = cluster.classes[node.node_class];
    const auto known = known_.mirror.nodes().find(node.name);
    const bool is_there = known != known_.mirror.nodes().end();
    made[at] = {.name = node.name,
                .vc = cluster.vcs[index(node.vc)].name,
                .drained = !is_there || known->second.drained || known->second.reserved,
                .cpus = make.cpus,
                .memory_gb = make.memory_gb,
                .connections = cluster::told_connections(make)};
    const agent::Report* const said = known_.slimmer->report(node.name);
    for (int gpu = 0; gpu < make.gpus; ++gpu) {
      service::GpuView& view = made[at].gpus.emplace_back();
      if (said != nullptr && static_cast<std::size_t>(gpu) < said->gpu_use.size()) {
        view.use = said->gpu_use[static_cast<std::size_t>(gpu)].value_or(-1);
      }
      view.number = gpu;
      view.name = std::to_string(gpu);
      view.in_service = is_there && known->second.power == manager::Power::on;
      if (!view.in_service) view.trouble = "powered down";
    }
  }
  const std::vector<const manager::Job*> running = running_jobs(known_.mirror);
  const std::vector<Occupied> occupied = count_out(*known_.world, running);
  for (std::size_t at = 0; at < running.size(); ++at) {
    for (const auto* const grants : {&occupied[at].held, &occupied[at].stray}) {
      for (const cluster::Grant& grant : *grants) {
        service::NodeView& node = made[index(grant.node)];
        node.cpus_held += grant.cpu_milli / 1e3;
        node.memory_held_gb += grant.memory_mb / 1e3;
        for (service::GpuView& gpu : node.gpus) {
          if ((grant.gpus >> static_cast<unsigned>(gpu.number) & 1U) == 0) continue;
          gpu.jobs.push_back(to_store(running[at]->number));
        }
      }
    }
  }
  return made;
}

service::Overview Views::overview() const {
  service::Overview made;
  for (const service::NodeView& node : nodes()) {
    for (const service::GpuView& gpu : node.gpus) {
      made.gpus += node.drained || !gpu.in_service ? 0 : 1;
      made.gpus_busy += gpu.jobs.empty() ? 0 : 1;
    }
  }
  made.gpu_share_busy = made.gpus_busy;
  const std::lock_guard lock(known_.mutex);
  made.revision = known_.revision;
  made.now = known_.mirror.at();
  made.started = known_.started;
  made.policy = known_.config.policy;
  made.shadow = known_.config.shadow;
  made.manager = known_.site.manager;
  for (const auto& [number, job] : known_.mirror.jobs()) {
    if (holds_nodes(job)) ++made.running;
    if (waits(job)) ++(job.held ? made.held : made.waiting);
  }
  made.warnings = known_.world->cluster.notes;
  if (!controller_.failure().empty()) {
    made.warnings.push_back(
        fmt::format("the controller does not answer, all levers rest: {}", controller_.failure()));
  }
  if (!steering_.retreat().empty()) made.warnings.push_back(steering_.retreat());
  for (const std::string& each : known_.driver.warnings()) made.warnings.push_back(each);
  if (std::string refusal = known_.agents ? known_.agents->refusal() : ""; !refusal.empty()) {
    made.warnings.push_back(std::move(refusal));
  }
  for (const std::string& each : {saving_.trouble(), steering_.trouble()}) {
    if (!each.empty()) made.warnings.push_back(each);
  }
  if (std::string trouble = known_.past ? known_.past->trouble() : ""; !trouble.empty()) {
    made.warnings.push_back(std::move(trouble));
  }
  return made;
}

service::Counters Views::counters() const {
  const std::lock_guard lock(known_.mutex);
  service::Counters made = known_.counters;
  made.records = known_.mirror.jobs().size() + known_.decider->learned();
  return made;
}

std::shared_ptr<const cluster::Cluster> Views::cluster() const {
  const std::lock_guard lock(known_.mutex);
  return {known_.world, &known_.world->cluster};
}

std::vector<service::AgentView> Views::said_by_agents() const {
  std::vector<service::AgentView> nodes;
  for (const auto& [name, known] : known_.mirror.nodes()) {
    const agent::Report* const said = known_.slimmer->report(name);
    if (said == nullptr) continue;
    const auto held =
        std::count_if(said->jobs.begin(), said->jobs.end(),
                      [](const agent::JobReport& job) { return job.limit.has_value(); });
    nodes.push_back({.node = name,
                     .load = said->load,
                     .cpu_pressure = said->cpu_pressure,
                     .memory_pressure = said->memory_pressure,
                     .io_pressure = said->io_pressure,
                     .bandwidth_gbs = said->bandwidth_gbs,
                     .jobs = static_cast<std::int64_t>(said->jobs.size()),
                     .held = held});
  }
  return nodes;
}

std::optional<service::Manager> Views::manager() const {
  const std::lock_guard lock(known_.mutex);
  service::Manager made{.name = known_.site.manager,
                        .cluster = known_.site.cluster,
                        .version = known_.site.version,
                        .way = std::string(controller_.link().way()),
                        .trouble = controller_.trouble(),
                        .excluded = static_cast<std::int64_t>(known_.decider->last().aside.size()),
                        .round_s = known_.counters.last_round_s,
                        .news_s = controller_.news_s(),
                        .changes_per_s = known_.driver.changes_per_s(),
                        .levers = known_.driver.states(),
                        .canary = known_.canary.seen(),
                        .agents = said_by_agents()};
  if (made.canary) made.canary->retreat = steering_.retreat();
  return made;
}

std::optional<service::Pace> Views::pace_of(const manager::Job& job) const {
  if (!known_.config.speeds || !holds_nodes(job)) return std::nullopt;
  const store::Job own = to_stored(job, *known_.world);
  std::vector<store::Job> beside;
  for (const manager::Job* const other : running_jobs(known_.mirror)) {
    store::Job made = to_stored(*other, *known_.world);
    if (other->number == job.number || service::share_a_gpu(own, made)) {
      beside.push_back(std::move(made));
    }
  }
  return service::pace_of(own.number, beside,
                          {.cluster = known_.world->cluster, .speeds = *known_.config.speeds});
}

Status Views::status() const {
  const service::Overview seen = overview();
  service::Manager manager = *this->manager();
  const std::lock_guard lock(known_.mutex);
  return {.at = known_.clock.wall(),
          .process = ::getpid(),
          .manager = std::move(manager),
          .policy = known_.config.policy,
          .waiting = seen.waiting + seen.held,
          .running = seen.running,
          .warnings = seen.warnings,
          .canary = known_.canary.seen() ? in_words(*known_.canary.seen()) : "",
          .left = steering_.left()};
}

}  // namespace almanac::steer
