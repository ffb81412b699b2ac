// SPDX-License-Identifier: Apache-2.0
#include "schedule/speed_book.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trace/alternative.h"

namespace almanac::schedule {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// What most nodes with GPUs are, and of that the power limit that most of them have.
std::size_t usual_class(const cluster::Cluster& cluster) {
  const std::vector<cluster::NodeClass>& classes = cluster.classes;
  std::vector<std::pair<int, int>> count(classes.size());  // of alike nodes; of those of the class
  for (const cluster::Node& node : cluster.nodes) {
    cluster::NodeClass alike = classes[node.node_class];
    if (alike.gpus == 0) continue;
    ++count[node.node_class].second;
    for (std::size_t other = 0; other < classes.size(); ++other) {
      alike.gpu_power_limit_w = classes[other].gpu_power_limit_w;
      if (alike == classes[other]) ++count[other].first;
    }
  }
  const auto most = std::max_element(count.begin(), count.end());
  return static_cast<std::size_t>(most - count.begin());
}

/// What a model of the catalogue does in inference if the job's kind says so, else in training;
/// null where it is not known.
const perf::GenieRate* rate_of(const perf::Catalogue& catalogue, const std::string& name,
                               std::string_view kind) {
  const perf::Model* const model = name.empty() ? nullptr : catalogue.find(name);
  if (model == nullptr) return nullptr;
  const auto& task = kind == "inference" ? model->inference : model->training;
  return task ? &task->rate : nullptr;
}

/// Types that no model was measured on, where one was on another of the cluster's.
std::set<std::string> unknown_types(const std::vector<cluster::NodeClass>& classes,
                                    const std::vector<perf::GpuType>& types) {
  std::set<std::string> unknown;
  bool any_known = false;
  for (std::size_t at = 0; at < classes.size(); ++at) {
    if (classes[at].gpus == 0 || classes[at].gpu_type.empty()) continue;
    const bool is_known = types[at] != perf::kOtherGpu;
    any_known = any_known || is_known;
    if (!is_known) unknown.insert(classes[at].gpu_type);
  }
  return any_known ? unknown : std::set<std::string>();
}

/// A short list that lies on the stack unless it is long.
template <typename T>
class Short {
 public:
  explicit Short(std::size_t size) : size_(size) {
    if (size > few_.size()) many_.resize(size);
  }
  T& operator[](std::size_t at) { return data()[at]; }
  operator std::span<const T>() { return {data(), size_}; }  // NOLINT: it is one

 private:
  T* data() { return many_.empty() ? few_.data() : many_.data(); }

  std::size_t size_;
  std::array<T, 8> few_;
  std::vector<T> many_;
};

}  // namespace

bool tells_traffic(const trace::Trace& trace, const cluster::Cluster& cluster) {
  const bool has_links = cluster.has_links();
  const bool has_storage = cluster.storage.remote_gbs > 0;
  if (!has_links && !has_storage) return false;
  return std::any_of(trace.jobs.begin(), trace.jobs.end(), [&](const trace::Job& job) {
    return (has_links && job.outcome.network_s > 0) || (has_storage && job.outcome.read_gbs > 0);
  });
}

bool tells_sharing(const trace::Trace& trace, const cluster::Cluster& cluster) {
  bool has_boards = false;
  for (const cluster::NodeClass& make : cluster.classes) {
    has_boards = has_boards || make.board != nullptr;
    if (make.sharing == cluster::Sharing::mps || make.sharing == cluster::Sharing::time)
      return true;
  }
  return has_boards && std::any_of(trace.jobs.begin(), trace.jobs.end(), [](const auto& job) {
           return job.outcome.reference_profile != kNoName;
         });
}

SpeedBook::SpeedBook(const cluster::Cluster& cluster, const trace::Trace& trace,
                     perf::Catalogue catalogue, policy::PowerLimits limits)
    : models_(std::move(catalogue)),
      limits_(std::move(limits)),
      classes_(cluster.classes),
      usual_class_(usual_class(cluster)),
      usual_(classes_[usual_class_]),
      jobs_(trace.jobs.size()) {
  for (const cluster::Node& node : cluster.nodes) class_of_.push_back(node.node_class);
  for (const cluster::NodeClass& make : classes_) {
    type_of_class_.push_back(models_.gpu_type(make.gpu_type));
  }
  add_gpu_jobs(trace, 0);
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const NameId name = trace.jobs[at].outcome.reference_profile;
    if (name == kNoName) continue;
    references_[JobId{static_cast<std::uint32_t>(at)}] =
        slices::profile_id(trace.names[name]).value_or(slices::kNoProfile);
  }
  for (const std::string& type : unknown_types(classes_, type_of_class_)) {
    notes_.push_back(
        fmt::format("no speed model was measured on GPUs of type {}: jobs are assumed to be as "
                    "fast there as on the type on which their model was measured",
                    type));
  }
  add_alternatives(trace);
  add_traffic(cluster, trace);
}

std::unique_ptr<SpeedBook> SpeedBook::of(const cluster::Cluster& cluster,
                                         const trace::Trace& trace) const {
  return std::make_unique<SpeedBook>(cluster, trace, models_.catalogue(), limits_);
}

void SpeedBook::take_in(const trace::Trace& trace) {
  const std::size_t from = jobs_.size();
  jobs_.resize(trace.jobs.size());
  add_gpu_jobs(trace, from);
}

void SpeedBook::add_alternatives(const trace::Trace& trace) {
  const auto nodes_of = [&](std::string_view types) {
    std::vector<bool> will_do;
    for (const cluster::NodeClass& make : classes_) {
      will_do.push_back(cluster::is_one_of(make.gpu_type, types));
    }
    return will_do;
  };
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Request& asked = trace.jobs[at].request;
    if (asked.alternatives == kNoName) continue;
    std::vector<Instead>& made = instead_[JobId{static_cast<std::uint32_t>(at)}];
    made.push_back({asked.gpus, nodes_of(trace.names[asked.gpu_type]), 0, 1});
    const auto others = trace::parse_alternatives(trace.names[asked.alternatives]).value();
    for (const trace::Alternative& each : others) {
      made.push_back({each.gpus, nodes_of(each.gpu_type), double{each.cpus}, each.rate});
    }
  }
}

void SpeedBook::add_traffic(const cluster::Cluster& cluster, const trace::Trace& trace) {
  has_links_ = cluster.has_links();
  std::size_t without_step = 0;
  std::size_t without_size = 0;
  for (std::uint32_t at = 0; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    const trace::Outcome& told = job.outcome;
    if (has_links_ && told.network_s > 0) {
      if (!(told.step_s >= told.network_s)) {
        ++without_step;
      } else {
        flows_[JobId{at}] = {.period_ms = told.step_s * 1e3,
                             .sends_ms = told.network_s * 1e3,
                             .gbps = told.network_gbps > 0 ? double{told.network_gbps} : 0};
      }
    }
    if (cluster.storage.remote_gbs > 0 && told.read_gbs > 0) {
      if (job.request.data_set == kNoName || !(job.request.data_gb > 0)) {
        ++without_size;
      } else {
        readings_[JobId{at}] = {job.request.data_set, job.request.data_gb, told.read_gbs};
      }
    }
  }
  if (without_step > 0) {
    notes_.push_back(
        fmt::format("{} jobs have network_s, but no step_s or a shorter one: they are treated as "
                    "having no network traffic",
                    without_step));
  }
  if (without_size > 0) {
    notes_.push_back(fmt::format(
        "{} jobs have read_gbs, but no data_set and data_gb: they are treated as reading nothing",
        without_size));
  }
}

std::optional<links::Flow> SpeedBook::flow(JobId job,
                                           std::span<const cluster::Grant> grants) const {
  if (!has_links_) return std::nullopt;
  const bool is_on_one = std::all_of(grants.begin(), grants.end(), [&](const auto& grant) {
    return grant.node == grants.front().node;
  });
  if (is_on_one) return std::nullopt;
  if (const auto told = flows_.find(job); told != flows_.end()) return told->second;
  if (jobs_[index(job)].alike == kCpuJob) return std::nullopt;
  int gpus = 0;
  for (const cluster::Grant& grant : grants) gpus += grant.count();
  const perf::SpeedModel::OnType& board =
      speed_model(job).on(type_of_class_[class_of_[index(grants.front().node)]]);
  const double sends = board.step.sync(gpus, static_cast<int>(grants.size()));
  if (board.step_s <= 0 || sends <= 0) return std::nullopt;
  const double step = perf::join(1, sends, board.step.overlap);
  return links::Flow{.period_ms = 1e3 * board.step_s * step,
                     .sends_ms = 1e3 * board.step_s * std::min(sends, step)};
}

bool SpeedBook::tells_types(JobId job) const {
  const perf::SpeedModel& model = speed_model(job);
  for (std::size_t at = 0; at < model.types(); ++at) {
    if (model.on(perf::GpuType{static_cast<std::uint16_t>(at)}).alone != 1) return true;
  }
  return false;
}

std::optional<policy::Reading> SpeedBook::reading(JobId job) const {
  if (readings_.empty()) return std::nullopt;
  const auto found = readings_.find(job);
  return found == readings_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> SpeedBook::instead(JobId job, std::span<const cluster::Grant> grants) const {
  if (instead_.empty()) return std::nullopt;
  const auto found = instead_.find(job);
  if (found == instead_.end()) return std::nullopt;
  int gpus = 0;
  double cpus = 0;
  for (const cluster::Grant& grant : grants) {
    gpus += grant.count();
    cpus += grant.cpu_milli / 1e3;
  }
  for (std::size_t at = 0; at < found->second.size(); ++at) {
    const Instead& each = found->second[at];
    const bool will_do = std::all_of(
        grants.begin(), grants.end(),
        [&](const cluster::Grant& grant) { return each.will_do[class_of_[index(grant.node)]]; });
    if (each.gpus != gpus || (gpus > 0 && !will_do)) continue;
    if (at == 0) return std::nullopt;
    return each.cpus > 0 ? each.rate * std::min(1.0, cpus / each.cpus) : each.rate;
  }
  return std::nullopt;
}

void SpeedBook::add_gpu_jobs(const trace::Trace& trace, std::size_t from) {
  using Named = std::tuple<NameId, NameId, NameId>;  // model, job, kind
  struct Known {
    const perf::SpeedModel* speed = nullptr;
    const perf::GenieRate* rate = nullptr;
    double use = 0;  // where there are power limits
  };
  std::map<Named, Known> found;
  using Key = std::tuple<const perf::SpeedModel*, const perf::GenieRate*, double, int, std::int64_t,
                         int, int, double, double, perf::GpuType>;
  std::map<Key, std::uint32_t> known;
  std::size_t unknown = 0;
  std::size_t use_unknown = 0;
  constexpr std::size_t kMostNotes = 5;
  for (std::size_t at = from; at < trace.jobs.size(); ++at) {
    const trace::Job& job = trace.jobs[at];
    const trace::Request& asked = job.request;
    if (asked.gpus == 0) {
      jobs_[at].cpus =
          std::isnan(asked.cpus) ? static_cast<float>(std::max(1, asked.nodes)) : asked.cpus;
      continue;
    }
    const NameId name = asked.model != kNoName ? asked.model : asked.name;
    const auto [speed, is_new] = found.try_emplace({asked.model, name, asked.kind});
    if (is_new) {
      perf::Found answer =
          models_.find({.name = trace.names[name], .kind = trace.names[asked.kind]});
      speed->second = {answer.speed,
                       rate_of(models_.catalogue(), answer.model, trace.names[asked.kind])};
      if (limits_.any()) {
        auto use = limits_.use_of(trace.names[name]);
        if (!use) use = limits_.use_of(answer.model);
        if (!use) ++use_unknown;
        speed->second.use = use.value_or(limits_.usual_use());
      }
      if (answer.match == perf::Match::none) {
        ++unknown;
      } else if (!answer.said.empty() && notes_.size() < kMostNotes) {
        notes_.push_back(std::move(answer.said));
      }
    }
    const perf::Grant gpu = reference_gpu(job, trace.names);
    const bool is_task = speed->second.rate != nullptr && asked.batch > 0 && asked.steps > 0;
    const auto next = static_cast<std::uint32_t>(alike_.size());
    const auto [entry, unseen] =
        known.try_emplace({speed->second.speed, is_task ? speed->second.rate : nullptr,
                           speed->second.use, is_task ? asked.batch : 0, is_task ? asked.steps : 0,
                           asked.gpus, asked.nodes, gpu.cpus, gpu.memory_gb, gpu.type},
                          next);
    if (unseen) {
      std::optional<perf::GenieTask> task;
      if (is_task) {
        task = {.rate = speed->second.rate,
                .batch = static_cast<double>(asked.batch),
                .steps = static_cast<double>(asked.steps),
                .startup_s = models_.catalogue().startup_s};
      }
      const auto model = model_ids_.try_emplace(
          speed->second.speed, policy::SpeedModelId{static_cast<std::uint32_t>(model_ids_.size())});
      alike_.push_back(
          {perf::JobSpeed(*speed->second.speed, spread(asked.gpus, asked.nodes, gpu), task),
           model.first->second, asked.gpus, asked.nodes, gpu.type,
           limits_.speeds(speed->second.use), speed->second.use});
    }
    jobs_[at].alike = entry->second;
  }
  // Without any model no user expects one to be known.
  if (unknown > 0 && !models_.catalogue().models.empty()) {
    notes_.push_back(fmt::format(
        "{} job names match no known model: cores and memory have no effect on their speed",
        unknown));
  }
  if (use_unknown > 0) {
    const std::string mean = limits_.known_uses() == 0
                                 ? "1"
                                 : fmt::format("{:.2f}, the mean of the {} that were",
                                               limits_.usual_use(), limits_.known_uses());
    notes_.push_back(
        fmt::format("{} job names match no model measured under power limits: their GPU "
                    "utilization is assumed to be {}",
                    use_unknown, mean));
  }
}

perf::Grant SpeedBook::reference_gpu(const trace::Job& job, const Names& names) const {
  const auto each = [&](double node, float recorded, float asked) {
    if (node <= 0) return kNoBound;
    const double all = !std::isnan(recorded) ? double{recorded} : double{asked};
    // A job may request a part of one GPU; it gets the same part of the GPU's cores or memory.
    return std::isnan(all) ? job.request.gpu_part() * node / usual_.gpus : all / job.request.gpus;
  };
  const NameId type = job.request.gpu_type;
  return {
      .gpus = 1,
      .cpus = each(usual_.cpus, job.outcome.reference_cpus, job.request.cpus),
      .memory_gb = each(usual_.memory_gb, job.outcome.reference_memory_gb, job.request.memory_gb),
      .type = models_.gpu_type(type == kNoName ? std::string_view(usual_.gpu_type) : names[type])};
}

std::vector<perf::Grant> SpeedBook::spread(int gpus, int nodes, const perf::Grant& each) const {
  const int per_node = nodes > 0 ? (gpus + nodes - 1) / nodes : std::max(1, usual_.gpus);
  std::vector<perf::Grant> made;
  for (int left = gpus; left > 0; left -= per_node) {
    const int here = std::min(left, per_node);
    made.push_back({here, each.cpus * here, each.memory_gb * here, each.type, each.power});
  }
  return made;
}

perf::Grant SpeedBook::translated(const Alike& alike, const cluster::Grant& grant,
                                  int power_w) const {
  const std::uint32_t make = class_of_[index(grant.node)];
  return {.gpus = grant.count(),
          .cpus = classes_[make].cpus > 0 ? grant.cpu_milli / 1e3 : kNoBound,
          .memory_gb = classes_[make].memory_gb > 0 ? grant.memory_mb / 1e3 : kNoBound,
          .type = type_of_class_[make],
          .power = power_of(alike, make, power_w)};
}

double SpeedBook::power(JobId job, std::span<const cluster::Grant> grants, int power_w) const {
  double slowest = 1;
  if (jobs_[index(job)].alike == kCpuJob) return slowest;
  const Alike& alike = of(job);
  for (const cluster::Grant& grant : grants) {
    slowest = std::min(slowest, power_of(alike, class_of_[index(grant.node)], power_w));
  }
  return slowest;
}

policy::Pace SpeedBook::pace(JobId job, std::span<const cluster::Grant> grants,
                             std::span<const JobId> beside, int power_w, bool yields) const {
  if (const auto rate = instead(job, grants)) {
    return {.rate = *rate, .computing = grants.front().gpus == 0 ? 0.0 : 1.0};
  }
  if (jobs_[index(job)].alike == kCpuJob) {
    double cpus = 0;
    for (const cluster::Grant& grant : grants) cpus += grant.cpu_milli / 1e3;
    const double wanted = jobs_[index(job)].cpus;
    return {.rate = cpus < wanted ? cpus / wanted : 1, .computing = 0};
  }
  const Alike& alike = of(job);
  Short<perf::Grant> held(grants.size());
  for (std::size_t at = 0; at < grants.size(); ++at)
    held[at] = translated(alike, grants[at], power_w);
  Short<const perf::SpeedModel*> others(beside.size());
  for (std::size_t at = 0; at < beside.size(); ++at) others[at] = &speed_model(beside[at]);
  const perf::Pace pace = alike.speed.pace(held, others, yields);
  const double instance = references_.empty() ? 1 : on_instance(job, grants);
  return {.rate = pace.rate * instance, .computing = pace.computing};
}

double SpeedBook::on_instance(JobId job, std::span<const cluster::Grant> grants) const {
  const auto told = references_.find(job);
  if (told == references_.end()) return 1;
  const auto share = [](const slices::Board& own, slices::ProfileId profile) {
    if (profile == slices::kNoProfile) return 1.0;
    if (const int at = slices::position(own, profile); at >= 0) return own.speed(at);
    for (const slices::Board& board : slices::boards()) {
      const int at = slices::position(board, profile);
      if (at >= 0) return board.speed(at);
    }
    return 1.0;
  };
  double slowest = kNoBound;
  for (const cluster::Grant& grant : grants) {
    const slices::Board* const board = classes_[class_of_[index(grant.node)]].board;
    if (board == nullptr) return 1;
    slowest = std::min(slowest, share(*board, grant.profile) / share(*board, told->second));
  }
  return slowest;
}

perf::Parts SpeedBook::parts(JobId job, std::span<const cluster::Grant> grants,
                             std::span<const JobId> beside, int power_w, bool yields) const {
  if (const auto rate = instead(job, grants)) return {.type = *rate};
  const Alike& alike = of(job);
  std::vector<perf::Grant> held;
  for (const cluster::Grant& grant : grants) held.push_back(translated(alike, grant, power_w));
  std::vector<const perf::SpeedModel*> others;
  for (const JobId other : beside) others.push_back(&speed_model(other));
  perf::Parts parts = alike.speed.parts(held, others, yields);
  if (!references_.empty()) parts.type *= on_instance(job, grants);
  return parts;
}

double SpeedBook::rate(JobId job, const cluster::Amount& unit) const {
  const Alike& alike = of(job);
  const perf::Grant each{.gpus = 1,
                         .cpus = usual_.cpus > 0 ? unit.cpus() : kNoBound,
                         .memory_gb = usual_.memory_gb > 0 ? unit.memory_gb() : kNoBound,
                         .type = alike.type,
                         .power = power_of(alike, usual_class_)};
  return alike.speed.rate(spread(alike.gpus, alike.nodes, each));
}

}  // namespace almanac::schedule
