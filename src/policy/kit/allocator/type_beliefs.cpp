// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/allocator/type_beliefs.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace almanac::policy {
namespace {

constexpr double kLeast_s = 60;  // of a stay, so that rounding and starts do not count

const std::string& name_of(std::uint64_t type, const std::vector<std::string>& types) {
  return types[static_cast<std::size_t>(std::countr_zero(type))];
}

/// The type of which most nodes are; of equals the first by name.
std::string home_type(const cluster::Cluster& cluster) {
  std::string home;
  std::ptrdiff_t most = 0;
  for (const std::string& type : cluster.gpu_types()) {
    const std::ptrdiff_t count =
        std::count_if(cluster.nodes.begin(), cluster.nodes.end(), [&](const cluster::Node& node) {
          const cluster::NodeClass& make = cluster.classes[node.node_class];
          return make.gpus > 0 && make.gpu_type == type;
        });
    if (count <= most) continue;
    most = count;
    home = type;
  }
  return home;
}

std::optional<Duration> worked(JobId job, const View& view) {
  return view.telemetry == nullptr ? std::nullopt : view.telemetry->worked(job, view.now);
}

predict::TypeSpeeds::Alike alike(JobId job, const View& view) {
  return predict::TypeSpeeds::alike(view.request(job));
}

}  // namespace

void TypeBeliefs::began(JobId job, std::uint64_t type, const View& view) {
  if (!learns() || type == 0) return;
  Course& course = courses_[job];
  course.type = type;
  course.since = view.now;
  course.worked = worked(job, view);
}

void TypeBeliefs::left(JobId job, const View& view) {
  const auto found = courses_.find(job);
  if (found == courses_.end() || found->second.type == 0) return;
  Course& course = found->second;
  Spent& spent = course.on[std::exchange(course.type, 0)];
  spent.time_s += seconds(view.now - course.since);
  const auto by_now = worked(job, view);
  if (by_now && course.worked) spent.work_s += seconds(*by_now - *course.worked);
}

void TypeBeliefs::gone(JobId job, const View& view) {
  left(job, view);
  const auto found = courses_.find(job);
  if (found == courses_.end()) return;
  const Course course = std::move(found->second);
  courses_.erase(found);
  if (view.progress(job).phase != Phase::ended) return;
  const trace::JobState state = view.state(job);  // unknown in logs that do not tell
  if (state != trace::JobState::completed && state != trace::JobState::unknown) return;
  const auto all = worked(job, view);
  for (const auto& [type, spent] : course.on) {
    const bool is_all = course.on.size() == 1;
    if (spent.time_s < kLeast_s || (!is_all && !(all && spent.work_s > 0))) continue;
    const double time_s = is_all ? spent.time_s : seconds(*all) * spent.time_s / spent.work_s;
    learned_->learn(alike(job, view), name_of(type, view.cluster.gpu_types()), time_s);
  }
}

double TypeBeliefs::speed(JobId job, std::uint64_t type, const View& view) const {
  if (!learns()) return 1;
  if (home_.empty()) home_ = home_type(view.cluster);
  return learned_->speed(alike(job, view), name_of(type, view.cluster.gpu_types()), home_).speed;
}

}  // namespace almanac::policy
