// SPDX-License-Identifier: Apache-2.0
#include "kube/snapshot.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "kube/outlook.h"
#include "table/output_file.h"
#include "text/human.h"
#include "trace/write.h"

namespace almanac::kube {
namespace {

NameId name_in(trace::Trace& log, const std::string& name) {
  return name.empty() ? kNoName : log.names.intern(name);
}

trace::JobState state_of(const Workload& workload) {
  switch (workload.stage) {
    case Stage::finished:
      return workload.has_failed ? trace::JobState::failed : trace::JobState::completed;
    case Stage::admitted:
      return trace::JobState::running;
    default:
      return trace::JobState::pending;
  }
}

/// "a,b" -> "\"a,b\"" as TOML spells text.
std::string toml_text(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

bool has_labels(const Node& node, const kueue::Flavor& flavor) {
  return std::all_of(flavor.labels.begin(), flavor.labels.end(), [&](const auto& label) {
    const auto found = node.labels.find(label.first);
    return found != node.labels.end() && found->second == label.second;
  });
}

std::string type_of(const Picture& picture, const Node& node) {
  for (const kueue::Flavor& flavor : picture.objects.setup.flavors) {
    if (!flavor.labels.empty() && has_labels(node, flavor)) return flavor.name;
  }
  return node.product();
}

constexpr std::int64_t kMostPriority = 1'000'000;

kueue::Amount amount_of(const Node& node, const char* resource) {
  const auto found = node.allocatable.find(resource);
  return found == node.allocatable.end() ? 0 : found->second;
}

}  // namespace

void add_job(trace::Trace& log, const Workload& workload, const std::string& cluster_queue,
             const std::string& gpu_type, Time end) {
  trace::Job& made = log.jobs.emplace_back();
  const bool is_known = log.names.find(workload.full_name()).has_value();
  made.id = log.key(is_known ? workload.full_name() + "#" + workload.uid : workload.full_name());
  made.request.submit = workload.created;
  made.request.time_limit = workload.limit;
  made.request.comment = name_in(log, workload.uid);
  made.request.name = name_in(log, workload.owner.empty() ? workload.name : workload.owner);
  made.request.user = name_in(log, workload.user.empty() ? workload.name_space : workload.user);
  made.request.vc = name_in(log, cluster_queue);
  made.request.account = name_in(log, workload.name_space + "/" + workload.local_queue);
  made.request.qos = name_in(log, workload.priority_class);
  made.request.gpu_type = name_in(log, gpu_type);
  made.request.gpus = static_cast<std::int32_t>(std::min(workload.gpus(), kMostGpus));
  made.request.priority_tier =
      static_cast<std::int32_t>(std::clamp(workload.priority, -kMostPriority, kMostPriority));
  if (const auto cpu = workload.total("cpu"); cpu > 0) {
    made.request.cpus = static_cast<float>(static_cast<double>(cpu) / 1000);
  }
  if (const auto memory = workload.total("memory"); memory > 0) {
    made.request.memory_gb = static_cast<float>(static_cast<double>(memory) / 1e9);
  }
  made.outcome.state = state_of(workload);
  made.outcome.reason = name_in(log, workload.reason);
  if (workload.evictions > 0) {
    made.outcome.attempts = static_cast<std::int32_t>(
        std::min<std::int64_t>(workload.evictions + 1, std::numeric_limits<std::int32_t>::max()));
  }
  if (workload.admitted == kNoTime) return;
  made.outcome.start = workload.admitted;
  made.outcome.run = std::max(Duration{0}, end - workload.admitted);
  if (workload.stage == Stage::finished) made.outcome.end = std::max(end, workload.admitted);
}

trace::Trace log_of(const Picture& picture) {
  trace::Trace log;
  kueue::World world(picture.objects.setup);
  std::uint64_t without = 0;
  std::string first_without;
  std::uint64_t running = 0;
  std::uint64_t cut = 0;
  for (const Workload& each : picture.workloads) {
    const std::string queue = picture.cluster_queue(each);
    if (!picture.queue_at(queue)) {
      if (without++ == 0) first_without = each.full_name();
      continue;
    }
    if (each.gpus() > kMostGpus) {
      log.notes.push_back(fmt::format("{} is left out: it requests {} GPUs, more than any cluster",
                                      each.full_name(), each.gpus()));
      continue;
    }
    if (each.stage == Stage::admitted) ++running;
    if (std::abs(each.priority) > kMostPriority) ++cut;
    const Time end = each.stage == Stage::finished ? each.finished : picture.at;
    const bool has_choice = picture.objects.setup.flavors.size() > 1 && each.gpus() > 0;
    add_job(log, each, queue, has_choice ? flavor_of(world, picture, each) : "", end);
  }
  if (without > 0) {
    log.notes.push_back(fmt::format("{} left out, such as {}: the queue does not exist",
                                    text::counted(without, "workload is", "workloads are"),
                                    first_without));
  }
  if (running > 0) {
    log.notes.push_back(
        fmt::format("{} running: a simulation ends each after the time that it has run so far",
                    text::counted(running, "workload is", "workloads are")));
  }
  if (cut > 0) {
    log.notes.push_back(fmt::format("{} a priority beyond {}, which is cut to this bound",
                                    text::counted(cut, "workload has", "workloads have"),
                                    text::grouped(kMostPriority)));
  }
  return log;
}

std::string cluster_toml(const Picture& picture) {
  struct Kind {
    std::string type{};
    std::int64_t gpus = 0;
    std::int64_t cores = 0;
    std::int64_t memory_gb = 0;
    auto operator<=>(const Kind&) const = default;
  };
  std::map<Kind, int> kinds;
  for (const Node& node : picture.nodes) {
    constexpr std::int64_t kMostGpusOfNode = 64;
    const std::int64_t gpus = node.gpus();
    if (!node.is_ready || !node.is_schedulable || gpus == 0 || gpus > kMostGpusOfNode) continue;
    ++kinds[{type_of(picture, node), gpus, amount_of(node, "cpu") / 1000,
             amount_of(node, "memory") / 1'000'000'000}];
  }
  if (kinds.empty()) return "";
  std::string made =
      "# Nodes with GPUs that were ready, by almanac kube snapshot.\n"
      "takes_every_job = true\n\n[[vc]]\nname = \"cluster\"\n";
  for (const auto& [kind, nodes] : kinds) {
    made += fmt::format("\n[[vc.group]]\nnodes = {}\ngpus = {}\n", nodes, kind.gpus);
    if (!kind.type.empty()) made += fmt::format("gpu_type = {}\n", toml_text(kind.type));
    if (kind.cores > 0) made += fmt::format("cpus = {}\n", kind.cores);
    if (kind.memory_gb > 0) made += fmt::format("memory_gb = {}\n", kind.memory_gb);
  }
  return made;
}

Result<Snapshot> write_snapshot(const Picture& picture, const std::string& folder) {
  Snapshot written;
  const auto write = [&](const std::string& name, const std::string& content) -> Result<void> {
    written.files.push_back(name);
    return table::write_file(folder + "/" + name, content);
  };
  // Only Kueue's quotas can be simulated.
  if (!picture.objects_json.empty()) {
    if (auto done = write("queues.json", picture.objects_json + "\n"); !done) {
      return tl::unexpected(done.error());
    }
  }
  written.files.emplace_back("jobs.csv");
  const trace::Trace log = log_of(picture);
  written.notes = log.notes;
  if (auto done = trace::save_trace(log, folder + "/jobs.csv"); !done) {
    return tl::unexpected(done.error());
  }
  if (const std::string cluster = cluster_toml(picture); !cluster.empty()) {
    if (auto done = write("cluster.toml", cluster); !done) return tl::unexpected(done.error());
  }
  return written;
}

}  // namespace almanac::kube
