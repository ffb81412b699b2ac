// SPDX-License-Identifier: Apache-2.0
#include "steer/action/queue_change.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "steer/action/job_line.h"
#include "steer/claims.h"
#include "steer/guards.h"
#include "steer/mark.h"
#include "steer/scope.h"
#include "text/datetime.h"

namespace almanac::steer {
namespace {

using manager::JobChange;

/// Every field of a change, by the name that the journal has for it.
template <typename Visit>
void each_field(Visit&& visit) {
  visit("site_factor", &JobChange::site_factor);
  visit("priority", &JobChange::priority);
  visit("held", &JobChange::held);
  visit("begins", &JobChange::begins);
  visit("required_nodes", &JobChange::required_nodes);
  visit("comment", &JobChange::comment);
  visit("shards", &JobChange::shards);
}

nlohmann::json in_json(Time time) { return seconds(time); }
template <typename Value>
nlohmann::json in_json(const Value& value) {
  return value;
}

nlohmann::json fields_of(const JobChange& change) {
  nlohmann::json made = nlohmann::json::object();
  each_field([&](const char* name, auto field) {
    if (change.*field) made[name] = in_json(*(change.*field));
  });
  return made;
}

JobChange change_of(manager::JobNumber job, const nlohmann::json& fields) {
  JobChange made{.job = job};
  each_field([&](const char* name, auto field) {
    using Value = typename std::remove_reference_t<decltype(made.*field)>::value_type;
    const auto found = fields.find(name);
    if (found == fields.end()) return;
    if constexpr (std::is_same_v<Value, Time>) {
      made.*field = time_of(*found);
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      made.*field = whole<Value>(*found);
    } else {
      made.*field = found->get<Value>();
    }
  });
  return made;
}

std::string shown(const std::optional<Time>& time) {
  if (!time) return "?";
  return *time == Time{} ? "at once" : text::format_datetime(*time);
}
template <typename Value>
std::string shown(const std::optional<Value>& value) {
  if (!value) return "?";
  const std::string text = fmt::to_string(*value);
  return text.empty() ? "none" : text;
}

}  // namespace

void QueueChange::begin(const Scene& scene) {
  const manager::Job& job = *scene.mirror.find(becomes.job);
  was = as_it_is(job, becomes, scene.site.facts.keeps_priorities, scene.mirror.at());
  meant = meant_by(job);
}

std::string QueueChange::describe() const {
  std::string what;
  each_field([&](const char* name, auto field) {
    if (!(becomes.*field)) return;
    what += fmt::format("{}{} {} -> {}", what.empty() ? "" : ", ", name, shown(was.*field),
                        shown(becomes.*field));
  });
  return fmt::format("job {}: {}", becomes.job, what);
}

std::optional<std::string> QueueChange::forbidden(const Scene& scene) const {
  const manager::Job* const job = scene.mirror.find(becomes.job);
  const QueueClaims& claims = scene.claims->of<QueueChange>();
  // What is given back to the manager may belong to any job.
  if (job != nullptr && waits(*job) && claims.without_mark(*job, scene.mirror.at()) == becomes) {
    return std::nullopt;
  }
  if (auto why = forbidden_of(becomes.job, true, scene)) return why;
  if ((becomes.site_factor || becomes.priority) && claims.is_taken_over(*job)) {
    return "another program or person set its order";
  }
  if (becomes.required_nodes && !job->required_nodes.empty() &&
      !(is_marked(*job) && claims.chose_nodes_of(*job, scene.mirror.at()))) {
    return "another program or person chose its nodes";
  }
  if (becomes.shards && (job->gpus > 0 || job->shards == 0)) return "it requests no shards";
  if (becomes.held) return "only users and administrators hold jobs permanently";
  if (becomes.begins && job->held) return "its user or an administrator holds it";
  return std::nullopt;
}

bool QueueChange::is_in_scope(const Scene& scene) const {
  const manager::Job* const job = scene.mirror.find(becomes.job);
  if (job == nullptr || steer::is_in_scope(*job, scene.settings)) return true;
  return scene.claims->of<QueueChange>().without_mark(*job, scene.mirror.at()) == becomes;
}

JobChange with(JobChange change, const JobChange& other) {
  change.job = other.job;
  each_field([&](const char*, auto field) {
    if (other.*field) change.*field = other.*field;
  });
  return change;
}

std::vector<Result<void>> QueueChange::execute(std::span<const QueueChange* const> changes,
                                               manager::Link& link) {
  std::vector<JobChange> asked;
  for (const QueueChange* const each : changes) asked.push_back(each->becomes);
  return link.change(asked);
}

void QueueChange::record(nlohmann::json& into) const {
  record_job(becomes.job, meant, into);
  into["was"] = fields_of(was);
  into["becomes"] = fields_of(becomes);
  if (leaves) into["leaves"] = true;
  if (in_vain > 0) into["in_vain"] = in_vain;
  if (is_taken_over) into["is_taken_over"] = true;
}

std::optional<QueueChange> QueueChange::read(const nlohmann::json& line) {
  if (!line.contains("becomes")) return std::nullopt;
  const auto [job, meant] = read_job(line);
  QueueChange made{change_of(job, line.at("was")), change_of(job, line.at("becomes")), meant};
  made.leaves = line.value("leaves", false);
  if (line.contains("in_vain")) made.in_vain = whole<int>(line.at("in_vain"));
  made.is_taken_over = line.value("is_taken_over", false);
  return made;
}

}  // namespace almanac::steer
