// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/jobs/logged_jobs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/human.h"

namespace almanac::slurmctld {
namespace {

constexpr std::uint32_t kNoQos = ~std::uint32_t{0};

int whole(float value) {
  return std::isnan(value) ? 0 : static_cast<int>(std::ceil(std::min(value, 1e9F)));
}

int divided_up(int amount, int by) { return (amount + by - 1) / std::max(1, by); }

/// Returns the GPUs of a request over all nodes; nothing if that depends on the nodes.
std::optional<int> gpus_of(const NodeRequest& ask) {
  switch (ask.gpu_scope) {
    case GpuScope::none:
      return 0;
    case GpuScope::job:
      return ask.gpus;
    case GpuScope::task:
      return ask.gpus * ask.tasks;
    case GpuScope::node:
      return ask.min_nodes == ask.max_nodes || ask.max_nodes == 0
                 ? std::optional(ask.gpus * ask.min_nodes)
                 : std::nullopt;
    case GpuScope::socket:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the memory of all nodes of a job in MiB. Requires that the log has it.
int memory_mb(const trace::Request& request) {
  constexpr double kMibPerGb = 1024;
  return static_cast<int>(std::min(1e9, std::round(double{request.memory_gb} * kMibPerGb)));
}

/// Whether the memory that a job got is the default in `ask`. Whole cores add CPUs to those that
/// it requests, and memory with them.
bool is_default_memory(const NodeRequest& ask, const trace::Request& request) {
  const int held_mb = memory_mb(request);
  if (ask.memory_per_cpu_mb > 0) {
    const int most_cpus = std::max(whole(request.cpus), ask.least_cpus());
    return std::int64_t{ask.memory_per_cpu_mb} * ask.least_cpus() <= held_mb &&
           held_mb <= std::int64_t{ask.memory_per_cpu_mb} * most_cpus;
  }
  if (ask.memory_per_task_mb > 0) {
    return held_mb == std::int64_t{ask.memory_per_task_mb} * ask.tasks;
  }
  return ask.memory_per_node_mb > 0 &&
         held_mb == std::int64_t{ask.memory_per_node_mb} * std::max(1, request.nodes);
}

}  // namespace

LoggedJobs::LoggedJobs(const site::Site& site, const NodeTable& table, const Names& names)
    : site_(site), table_(table), names_(names) {
  for (const site::Partition& each : site.partitions) {
    int most = 0;
    for (const site::NodeIndex node : each.nodes) {
      most = std::max(most, static_cast<int>(site.nodes[node].count("gpu")));
    }
    gpus_per_node_.push_back(most);
  }
}

Job LoggedJobs::translate(const trace::Request& request) {
  lacks_ = {};
  Job job;
  const Submission* const line = line_of(request.submit_line);
  set_partitions(request, line, job);
  const site::Partition& partition = site_.partitions[job.partitions.front()];
  const bool agrees_with_line = line != nullptr && agrees(*line, request, partition);
  if (agrees_with_line) {
    job.ask = *line;
  } else {
    lacks_[static_cast<std::size_t>(Lack::submit_line)] = request.submit_line != kNoName;
    job.ask = as_got(request, partition);
    if (line != nullptr) {
      job.ask.nice = line->nice;
      job.ask.priority = line->priority;
      job.ask.requeue = line->requeue;
      job.ask.is_interactive = line->is_interactive;
      job.ask.licenses = line->licenses;
      job.ask.most_tasks = line->most_tasks;
    }
  }
  job.ask.held = false;
  job.ask.begin_delay = 0;
  job.ask.begin = kNoSeconds;
  job.ask.dependencies.clear();
  job.ask.tasks.clear();
  if (request.time_limit != kNoDuration) {
    constexpr std::int64_t kMinute = 60'000;
    job.ask.time_limit = (request.time_limit.count() + kMinute - 1) / kMinute * 60;
  }
  const bool is_bounded =
      partition.max_time != text::kUnlimited && partition.max_time != kNoDuration;
  if (const Seconds most = partition.max_time.count() / 1000;
      is_bounded && job.ask.time_limit > most) {
    lacks_[static_cast<std::size_t>(Lack::time_limit)] = true;
    job.ask.time_limit = most;
  }
  if (request.requeue != trace::Requeue::unsaid) {
    job.ask.requeue = request.requeue == trace::Requeue::yes;
  }
  if (request.reservation != kNoName) job.ask.reservation = names_[request.reservation];
  const auto is_own = [&](const site::Reservation& each) {
    return each.name == job.ask.reservation;
  };
  if (!job.ask.reservation.empty() &&
      std::none_of(site_.reservations.begin(), site_.reservations.end(), is_own)) {
    lacks_[static_cast<std::size_t>(Lack::reservation)] = true;
    job.ask.reservation.clear();
  }
  set_association(request, line, job);
  const auto lacks = [&](Lack lack, bool does) { lacks_[static_cast<std::size_t>(lack)] = does; };
  lacks(Lack::cpus, whole(request.cpus) == 0 && !agrees_with_line);
  lacks(Lack::any_limit, job.ask.time_limit == kNoSeconds);
  const bool has_memory = gives_memory(job.ask.request);
  apply_defaults(job.ask, partition, site_.config);
  if (!has_memory && site_.config.select.memory) set_memory(request, job.ask.request);
  return job;
}

void LoggedJobs::set_memory(const trace::Request& request, NodeRequest& ask) {
  if (std::isnan(request.memory_gb)) {
    lacks_[static_cast<std::size_t>(Lack::memory)] = ask.whole_memory;
    ask.whole_memory = false;
    return;
  }
  if (is_default_memory(ask, request)) return;
  const int nodes = request.nodes > 0 ? request.nodes : ask.min_nodes;
  ask.memory_per_cpu_mb = ask.memory_per_task_mb = 0;
  ask.whole_memory = false;
  ask.memory_per_node_mb = divided_up(memory_mb(request), nodes);
}

const Submission* LoggedJobs::line_of(NameId line) {
  if (line == kNoName) return nullptr;
  if (lines_.size() <= index(line)) lines_.resize(index(line) + 1);
  Line& known = lines_[index(line)];
  if (!std::exchange(known.is_known, true)) {
    if (auto read = parse_command_line(names_[line], table_)) known.submission = *std::move(read);
  }
  return known.submission ? &*known.submission : nullptr;
}

void LoggedJobs::set_partitions(const trace::Request& request, const Submission* line, Job& job) {
  const auto add = [&](std::string_view name, std::vector<PartitionAt>& to) {
    const site::Partition* const found = site_.find_partition(name);
    if (found != nullptr) to.push_back(static_cast<PartitionAt>(found - site_.partitions.data()));
  };
  // The log has the partition that the job ran in; its submit line has all that it could run in.
  if (line != nullptr) {
    for (const std::string& each : line->partitions) add(each, job.partitions);
  }
  const NameId list = request.partition != kNoName ? request.partition : request.vc;
  const auto [known, is_new] = partitions_.try_emplace(list);
  if (is_new) {
    std::string_view text = names_[list];
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(','), text.size());
      add(text.substr(0, end), known->second);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  for (const PartitionAt each : known->second) {
    if (std::find(job.partitions.begin(), job.partitions.end(), each) == job.partitions.end()) {
      if (line == nullptr || line->partitions.empty()) job.partitions.push_back(each);
    }
  }
  if (!job.partitions.empty()) return;
  lacks_[static_cast<std::size_t>(Lack::partition)] =
      list != kNoName || site_.partitions.size() > 1;
  const site::Partition* const usual = site_.default_partition();
  job.partitions = {usual == nullptr ? 0
                                     : static_cast<PartitionAt>(usual - site_.partitions.data())};
}

void LoggedJobs::set_association(const trace::Request& request, const Submission* line, Job& job) {
  job.ask.user = names_[request.user];
  job.ask.account = names_[request.account];
  const PartitionAt partition = job.partitions.front();
  const auto [known, is_new] =
      associations_.try_emplace({request.account, request.user, partition}, -1);
  if (is_new) {
    known->second =
        site_.find_association(job.ask.account, job.ask.user, site_.partitions[partition].name);
    // A log without accounts means the user's default one.
    for (std::size_t at = 0; known->second < 0 && at < site_.associations.size(); ++at) {
      const site::Association& each = site_.associations[at];
      if (request.account == kNoName && each.user == job.ask.user && each.is_default) {
        known->second = static_cast<std::int32_t>(at);
      }
    }
  }
  const site::Association* association = nullptr;
  if (known->second >= 0) {
    job.association = static_cast<std::uint32_t>(known->second);
    association = &site_.associations[job.association];
    job.ask.account = association->account;
  } else {
    lacks_[static_cast<std::size_t>(Lack::association)] = !site_.associations.empty();
  }
  job.ask.qos = names_[request.qos];
  if (job.ask.qos.empty() && line != nullptr) job.ask.qos = line->qos;
  const auto find = [&](std::string_view name) {
    const site::Qos* const qos = name.empty() ? nullptr : site_.find_qos(name);
    return qos == nullptr ? kNoQos : static_cast<std::uint32_t>(qos - site_.qos.data());
  };
  job.qos = find(job.ask.qos);
  if (job.qos != kNoQos) return;
  lacks_[static_cast<std::size_t>(Lack::qos)] = !job.ask.qos.empty() && !site_.qos.empty();
  if (association != nullptr) job.qos = find(association->default_qos);
  if (job.qos == kNoQos) job.qos = find("normal");
  job.ask.qos = job.qos == kNoQos ? "" : site_.qos[job.qos].name;
}

bool LoggedJobs::agrees(const Submission& line, const trace::Request& request,
                        const site::Partition& partition) const {
  const NodeRequest& ask = line.request;
  const std::optional<int> gpus = gpus_of(ask);
  // A job that gets whole nodes gets all their GPUs, whatever it asks.
  const bool gets_whole_nodes =
      ask.exclusive || partition.oversubscribe == site::OverSubscribe::exclusive;
  if (!gpus || *gpus > request.gpus) return false;
  if (*gpus < request.gpus && !gets_whole_nodes) return false;
  if (request.nodes > 0) {
    if (ask.min_nodes > request.nodes) return false;
    if (ask.max_nodes > 0 && ask.max_nodes < request.nodes) return false;
  }
  const int cpus = whole(request.cpus);
  if (cpus == 0) return true;
  const int least = std::max(ask.least_cpus(), ask.cpus_per_gpu * request.gpus);
  if (least > cpus) return false;
  // Whole cores, whole nodes and CPUs that belong to GPUs may add to what the line asks.
  const int by_default = partition.job_defaults.cpus_per_gpu != 0
                             ? partition.job_defaults.cpus_per_gpu
                             : site_.config.job_defaults.cpus_per_gpu;
  return gets_whole_nodes || least * 2 >= cpus || ask.least_cpus_per_node > 1 ||
         by_default * request.gpus >= cpus || ask.tasks_given || ask.tasks_per_node > 0 ||
         ask.cpus_per_task > 1;
}

Submission LoggedJobs::as_got(const trace::Request& request, const site::Partition& partition) {
  Submission got;
  NodeRequest& ask = got.request;
  const auto at = static_cast<std::size_t>(&partition - site_.partitions.data());
  const int per_node = std::max(1, gpus_per_node_[at]);
  const int nodes =
      request.nodes > 0 ? request.nodes : std::max(1, divided_up(request.gpus, per_node));
  ask.min_nodes = ask.max_nodes = nodes;
  ask.features = features_of(request.constraints);
  ask.tasks_given = true;
  const int cpus = std::max(whole(request.cpus), nodes);
  if (cpus % nodes == 0) {
    ask.tasks = nodes;
    ask.tasks_per_node = 1;
    ask.cpus_per_task = cpus / nodes;
  } else {
    ask.tasks = cpus;
  }
  if (request.gpus > 0) {
    const bool is_even = request.gpus % nodes == 0;
    ask.gpu_scope = is_even ? GpuScope::node : GpuScope::job;
    ask.gpus = is_even ? request.gpus / nodes : request.gpus;
    if (request.gpu_type != kNoName) {
      ask.gpu_type = table_.find_gpu_type(names_[request.gpu_type]).value_or(kAnyGpu);
    }
  }
  if (!std::isnan(request.memory_gb)) {
    ask.memory_per_node_mb = divided_up(memory_mb(request), nodes);
  }
  return got;
}

const std::vector<FeatureTerm>& LoggedJobs::features_of(NameId constraints) {
  const auto [known, is_new] = features_.try_emplace(constraints);
  if (is_new && constraints != kNoName) {
    const std::string line = fmt::format("sbatch --constraint={}", names_[constraints]);
    if (auto read = parse_command_line(line, table_)) {
      known->second = std::move(read->request.features);
    }
  }
  return known->second;
}

std::vector<std::string> notes_on_lacks(const site::Site& site, const trace::Trace& trace,
                                        bool has_past) {
  const NodeTable table = make_node_table(site);
  LoggedJobs jobs(site, table, trace.names);
  constexpr auto kLacks = static_cast<std::size_t>(Lack::count);
  std::array<std::int64_t, kLacks> counts{};
  std::array<std::set<std::string>, kLacks> named;
  const auto name_of = [&](Lack lack, const trace::Request& request) -> std::string {
    const auto name = [&](NameId id) { return std::string(trace.names[id]); };
    switch (lack) {
      case Lack::partition:
        return name(request.partition != kNoName ? request.partition : request.vc);
      case Lack::association:
        return request.account == kNoName ? name(request.user)
                                          : name(request.account) + "/" + name(request.user);
      case Lack::qos:
        return name(request.qos);
      case Lack::reservation:
        return name(request.reservation);
      case Lack::submit_line:
      case Lack::time_limit:
      case Lack::memory:
      case Lack::cpus:
      case Lack::any_limit:
      case Lack::count:
        break;
    }
    return "";
  };
  for (const trace::Job& job : trace.jobs) {
    jobs.translate(job.request);
    for (std::size_t at = 0; at < kLacks; ++at) {
      const auto lack = static_cast<Lack>(at);
      if (!jobs.lacked(lack)) continue;
      ++counts[at];
      named[at].insert(name_of(lack, job.request));
    }
  }
  constexpr std::size_t kShown = 5;
  const auto list = [&](Lack lack) {
    const auto& all = named[static_cast<std::size_t>(lack)];
    std::vector<std::string> shown;
    for (const std::string& each : all) {
      if (shown.size() < kShown) shown.push_back(each.empty() ? "(unnamed)" : each);
    }
    const std::string more =
        all.size() > kShown ? fmt::format(" and {} more", all.size() - kShown) : "";
    return fmt::format("{}{}", fmt::join(shown, ", "), more);
  };
  std::vector<std::string> said;
  const auto first_usage = [&]() -> std::string {
    const bool is_older = site.usage_at != kNoTime && !trace.jobs.empty() &&
                          site.usage_at <= trace.jobs.front().request.submit;
    if (is_older) return "fair share begins with the usage that sshare reported before the log";
    if (has_past) {
      return "fair share begins with the GPU time of the log's earlier jobs, decayed; that of CPU "
             "jobs is left out";
    }
    return site.usage_at == kNoTime
               ? "no usage before the log"
               : "no usage before the log, because sshare reported it after the log began";
  };
  const auto say = [&](Lack lack, std::string_view what, std::string_view assumed) {
    const auto count = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(lack)]);
    if (count == 0) return;
    const bool has_names = lack == Lack::partition || lack == Lack::association ||
                           lack == Lack::qos || lack == Lack::reservation;
    const std::string names = has_names ? ": " + list(lack) : "";
    said.push_back(fmt::format("{} ({}{}) {}", what, text::counted(count, "job"), names, assumed));
  };
  say(Lack::partition, "partitions that the site lacks or the log does not name",
      "are its default partition");
  say(Lack::association, "users without an association",
      "have neither fair share nor account limits");
  say(Lack::qos, "a QOS that the site lacks", "is the default QOS");
  say(Lack::reservation, "a reservation that the site lacks", "is none");
  say(Lack::submit_line, "a submit line that requests less than the job got",
      "counts as a request for what it got");
  say(Lack::time_limit, "a time limit above that of its partition", "is the partition's");
  say(Lack::any_limit, "a time limit that the log does not have",
      "is DefaultTime of the partition, or else MaxTime");
  say(Lack::cpus, "a number of CPUs that the log does not have",
      "is one per node, or the site's DefCpuPerGPU");
  say(Lack::memory, "memory that neither the log nor a DefMem setting of the site gives",
      "is 0, so that jobs share nodes; slurmctld gives such a job all memory of its nodes");
  if (site.config.priority.weight_fair_share > 0) said.push_back(first_usage());
  if (said.empty()) return {};
  return {fmt::format("policy slurm assumes: {}", fmt::join(said, "; "))};
}

}  // namespace almanac::slurmctld
