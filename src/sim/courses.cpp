// SPDX-License-Identifier: Apache-2.0
#include "sim/courses.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "trace/metric.h"

namespace almanac::sim {
namespace {

constexpr double kTellsAfter_ms = 30'000;  // as long as an agent of Pollux takes to report
constexpr double kNever_ms = std::numeric_limits<double>::infinity();
constexpr double kNearly_ms = 1e-3;  // what rounding to whole milliseconds may leave undone

/// What most nodes with GPUs have of them.
int usual_gpus(const cluster::Cluster& cluster) {
  std::map<int, int> nodes;
  for (const cluster::Node& node : cluster.nodes) ++nodes[cluster.classes[node.node_class].gpus];
  nodes.erase(0);
  const auto most = std::max_element(
      nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == nodes.end() ? 1 : most->first;
}

std::vector<int> full_nodes(int gpus, int per_node) {
  std::vector<int> ring(static_cast<std::size_t>(gpus / per_node), per_node);
  if (gpus % per_node > 0) ring.push_back(gpus % per_node);
  return ring;
}

int sum(std::span<const int> ring) { return std::accumulate(ring.begin(), ring.end(), 0); }

elastic::Split split_of(const elastic::Application& application, int gpus, int batch) {
  const int within =
      std::clamp(batch, std::min(gpus, application.max_batch), application.max_batch);
  elastic::Split split =
      elastic::within_max_batch(application, gpus, elastic::split_batch(application, gpus, within));
  split.atomic_batch = std::max(1, split.atomic_batch);
  return split;
}

}  // namespace

Courses::Courses(const cluster::Cluster& cluster, const trace::Trace& trace,
                 const elastic::Applications* applications) {
  const int per_node = usual_gpus(cluster);
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    const trace::Request& request = job.request;
    Course course;
    if (applications != nullptr && request.model != kNoName && request.gpus > 0 &&
        request.gpu_part() == 1) {
      const auto found = applications->find(std::string(trace.names[request.model]));
      if (found != applications->end()) course.application = &found->second;
    }
    const bool has_metric = job.outcome.metric != kNoName;
    if (course.application == nullptr && !has_metric) continue;
    add_epochs(course, job, per_node);
    if (has_metric) add_points(course, job, trace.names);
    courses_.emplace(JobId{at}, std::move(course));
  }
}

void Courses::add_points(Course& course, const trace::Job& job, const Names& names) {
  const auto told = trace::parse_metric(names[job.outcome.metric]).value();
  for (const trace::MetricPoint& point : told) {
    const double part = point.steps / static_cast<double>(job.request.steps);
    if (part >= 1) break;  // it ends there, and tells nothing
    const double progress = part * course.epochs.back().ends_progress;
    const auto epoch =
        std::find_if(course.epochs.begin(), course.epochs.end(),
                     [&](const Epoch& each) { return progress <= each.ends_progress; });
    const Epoch before = epoch == course.epochs.begin() ? Epoch{} : *std::prev(epoch);
    const double into =
        (progress - before.ends_progress) / (epoch->ends_progress - before.ends_progress);
    course.points.push_back({.work_ms = before.ends_ms + into * (epoch->ends_ms - before.ends_ms),
                             .progress = progress,
                             .value = point.value});
  }
}

void Courses::add_epochs(Course& course, const trace::Job& job, int gpus_per_node) {
  const auto run_ms = static_cast<double>(job.outcome.run.count());
  const auto steps = static_cast<double>(job.request.steps);
  if (course.application == nullptr) {
    course.epochs.push_back({.ends_ms = run_ms, .ends_progress = steps});
    return;
  }
  const elastic::Application& application = *course.application;
  course.batch = job.request.batch > 0 ? job.request.batch : application.initial_batch;
  const std::vector<int> ring = full_nodes(job.request.gpus, gpus_per_node);
  const elastic::Split split = split_of(application, job.request.gpus, course.batch);
  double all_s = 0;
  for (int epoch = 0; epoch <= application.completion_epoch; ++epoch) {
    const double progress = application.progress_after(epoch + 1);
    const double made = progress - application.progress_after(epoch);
    const double reference = goodput(course, ring, split, static_cast<std::size_t>(epoch));
    all_s += std::max(0.0, made) / reference;
    course.epochs.push_back({.ends_ms = all_s, .ends_progress = progress, .reference = reference});
  }
  const double stretch_ms = run_ms / all_s;
  const double total = course.epochs.back().ends_progress;
  const double unit = steps > 0 ? steps / total : stretch_ms / 1e3;
  for (Epoch& epoch : course.epochs) {
    epoch.ends_ms *= stretch_ms;
    epoch.ends_progress *= unit;
  }
  course.epochs.back().ends_ms = run_ms;
}

elastic::Gradient Courses::gradient(const Course& course, elastic::Split split, int gpus,
                                    std::size_t epoch) {
  const elastic::Application& application = *course.application;
  const double batch = std::clamp(static_cast<double>(gpus) * split.local_batch(),
                                  static_cast<double>(application.validated.begin()->first),
                                  static_cast<double>(application.validated.rbegin()->first));
  return application.gradient(batch, static_cast<int>(epoch));
}

double Courses::goodput(const Course& course, std::span<const int> ring, elastic::Split split,
                        std::size_t epoch, double power) {
  const int gpus = sum(ring);
  const auto time = course.application->steps.at(ring, split.atomic_batch);
  ALMANAC_CHECK(time, "{} was not measured on {} GPUs", course.application->name, gpus);
  const double gain = elastic::step_gain(gradient(course, split, gpus, epoch),
                                         static_cast<double>(gpus) * split.local_batch(),
                                         course.application->initial_batch);
  return gain / elastic::step_seconds(time->on_gpus_of(power), split.accumulations);
}

const Courses::Course* Courses::find(JobId job) const {
  if (courses_.empty()) return nullptr;
  const auto found = courses_.find(job);
  return found == courses_.end() ? nullptr : &found->second;
}

void Courses::hold(JobId job, std::span<const cluster::Grant> held, const Way& way, double work_ms,
                   double done_ms) {
  Course& course = courses_.at(job);
  const double run_ms = course.epochs.back().ends_ms;
  const double overhead_ms = (work_ms - run_ms) - (done_ms - course.trained_ms);
  course.overhead_ms = overhead_ms < kNearly_ms ? 0 : overhead_ms;
  if (course.application == nullptr) return;
  course.ring.clear();
  for (const cluster::Grant& grant : held) course.ring.push_back(grant.count());
  course.split =
      split_of(*course.application, sum(course.ring), way.batch > 0 ? way.batch : course.batch);
  course.power = way.power;
  const elastic::Observation now = observation(course);
  const bool is_known =
      std::any_of(course.seen.begin(), course.seen.end(), [&](const elastic::Observation& each) {
        return each.nodes == now.nodes && each.gpus == now.gpus &&
               each.atomic_batch == now.atomic_batch;
      });
  set_rate(course);
  course.untold_ms = is_known ? kNever_ms : kTellsAfter_ms * course.rate;
}

elastic::Observation Courses::observation(const Course& course) {
  return {.nodes = static_cast<int>(course.ring.size()),
          .gpus = sum(course.ring),
          .atomic_batch = course.split.atomic_batch,
          .time = course.application->steps.at(course.ring, course.split.atomic_batch)
                      ->on_gpus_of(course.power)};
}

void Courses::set_rate(Course& course) {
  course.rate = goodput(course, course.ring, course.split, course.epoch, course.power) /
                course.epochs[course.epoch].reference;
}

double Courses::rate(JobId job) const {
  const Course& course = courses_.at(job);
  return course.overhead_ms > 0 ? 1 : course.rate;
}

double Courses::power(JobId job) const {
  const Course& course = courses_.at(job);
  if (course.overhead_ms > 0 || course.power == 1) return 1;
  return goodput(course, course.ring, course.split, course.epoch, course.power) /
         goodput(course, course.ring, course.split, course.epoch);
}

void Courses::advance(JobId job, double work_ms) {
  Course& course = courses_.at(job);
  const double overhead = std::min(work_ms, course.overhead_ms);
  course.overhead_ms -= overhead;
  course.trained_ms += work_ms - overhead;
  course.untold_ms -= work_ms - overhead;
}

double Courses::until_next(JobId job) const {
  const Course& course = courses_.at(job);
  if (course.application != nullptr && course.overhead_ms > 0) return course.overhead_ms;
  double next = course.untold_ms;
  if (course.epoch + 1 < course.epochs.size()) {
    next = std::min(next, course.epochs[course.epoch].ends_ms - course.trained_ms);
  }
  if (course.point < course.points.size()) {
    next = std::min(next, course.points[course.point].work_ms - course.trained_ms);
  }
  return course.overhead_ms + std::max(0.0, next);
}

std::optional<double> Courses::pass(JobId job) {
  Course& course = courses_.at(job);
  constexpr double kNoMetric = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> told;
  if (course.overhead_ms < kNearly_ms) course.overhead_ms = 0;
  if (course.untold_ms < kNearly_ms) {
    course.untold_ms = kNever_ms;
    course.seen.push_back(observation(course));
    course.gradient = gradient(course, course.split, sum(course.ring), course.epoch);
    told = kNoMetric;
  }
  if (pass_epochs(course)) {
    set_rate(course);
    course.gradient = gradient(course, course.split, sum(course.ring), course.epoch);
    told = kNoMetric;
  }
  if (pass_points(course)) told = course.metric;
  return told;
}

bool Courses::pass_epochs(Course& course) {
  const std::size_t before = course.epoch;
  while (course.epoch + 1 < course.epochs.size() &&
         course.epochs[course.epoch].ends_ms - course.trained_ms < kNearly_ms) {
    ++course.epoch;
  }
  return course.epoch > before;
}

bool Courses::pass_points(Course& course) {
  const std::size_t before = course.point;
  while (course.point < course.points.size() &&
         course.points[course.point].work_ms - course.trained_ms < kNearly_ms) {
    course.metric = course.points[course.point].value;
    course.metric_at = course.points[course.point].progress;
    ++course.point;
  }
  return course.point > before;
}

void Courses::credit(JobId job, double work_ms) {
  const auto found = courses_.find(job);
  if (found == courses_.end()) return;
  found->second.trained_ms = std::min(work_ms, found->second.epochs.back().ends_ms);
  pass_epochs(found->second);
  pass_points(found->second);
}

std::optional<policy::Training> Courses::training(JobId job, double ahead_ms) const {
  const Course* const course = find(job);
  if (course == nullptr) return std::nullopt;
  const Epoch& epoch = course->epochs[course->epoch];
  const Epoch before = course->epoch == 0 ? Epoch{} : course->epochs[course->epoch - 1];
  const double trained = course->trained_ms + std::max(0.0, ahead_ms - course->overhead_ms);
  const double length = epoch.ends_ms - before.ends_ms;
  const double into = length > 0 ? std::min(1.0, (trained - before.ends_ms) / length) : 1;
  policy::Training made{
      .total = course->epochs.back().ends_progress,
      .progress = before.ends_progress + into * (epoch.ends_progress - before.ends_progress),
      .gradient = course->gradient,
      .seen = course->seen,
      .metric = course->metric,
      .metric_at = course->metric_at};
  if (course->application != nullptr) made.batches = *course->application;
  return made;
}

}  // namespace almanac::sim
