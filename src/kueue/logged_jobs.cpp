// SPDX-License-Identifier: Apache-2.0
#include "kueue/logged_jobs.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace almanac::kueue {
namespace {

constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kMemory = "memory";

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char sign) { return static_cast<char>(std::tolower(sign)); });
  return made;
}

/// Whether `type` is a whole word of `text`; ignores case.
bool names_type(std::string_view text, std::string_view type) {
  if (type.empty()) return false;
  const std::string in = lower(text);
  const std::string word = lower(type);
  const auto is_end = [&](std::size_t at) {
    return at >= in.size() || std::isalnum(static_cast<unsigned char>(in[at])) == 0;
  };
  for (std::size_t at = in.find(word); at != std::string::npos; at = in.find(word, at + 1)) {
    if ((at == 0 || is_end(at - 1)) && is_end(at + word.size())) return true;
  }
  return false;
}

/// "nvidia.com/gpu and amd.com/gpu"; "" = at most one.
std::string two_kinds_of_gpus(const ClusterQueue& queue) {
  std::string first;
  for (const ResourceGroup& group : queue.groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const auto& [resource, quota] : flavor.resources) {
        if (!is_gpu(resource) || resource == first) continue;
        if (!first.empty()) return fmt::format("{} and {}", first, resource);
        first = resource;
      }
    }
  }
  return "";
}

}  // namespace

std::optional<std::size_t> queue_of(const Setup& setup, const trace::Request& request,
                                    const Names& names) {
  for (const NameId id : {request.vc, request.partition, request.account, request.user}) {
    if (id == kNoName) continue;
    const auto found =
        std::find_if(setup.queues.begin(), setup.queues.end(),
                     [name = names[id]](const ClusterQueue& queue) { return queue.name == name; });
    if (found != setup.queues.end()) {
      return static_cast<std::size_t>(found - setup.queues.begin());
    }
  }
  if (setup.queues.size() == 1) return 0;
  return std::nullopt;
}

Amount nominal_gpus(const ClusterQueue& queue) {
  Amount made = 0;
  for (const ResourceGroup& group : queue.groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      for (const auto& [resource, quota] : flavor.resources) {
        if (is_gpu(resource)) made += quota.nominal;
      }
    }
  }
  return made;
}

Result<std::vector<std::string>> notes_on_jobs(const Objects& objects, const trace::Trace& trace) {
  const Setup& setup = objects.setup;
  const Resources resources(setup);
  std::vector<std::string> notes = objects.not_modelled;
  const QuotaTree tree(setup);
  for (const ClusterQueue& queue : setup.queues) {
    if (const auto two = two_kinds_of_gpus(queue); !two.empty()) {
      return fail(Code::unsupported, fmt::format("queue {} has quotas of {}", queue.name, two), {},
                  "give each kind of GPUs a queue of its own");
    }
  }
  std::size_t too_large = 0;
  std::size_t stopped = 0;
  std::size_t lost = 0;
  std::string first;
  for (const trace::Job& job : trace.jobs) {
    const auto queue = queue_of(setup, job.request, trace.names);
    if (queue && setup.queues[*queue].is_stopped) ++stopped;
    if (queue && (job.request.gpus == 0 || resources.has_gpus(*queue))) {
      if (job.request.gpus > resources.most_gpus(tree, *queue)) ++too_large;
      continue;
    }
    if (queue) {
      return fail(Code::invalid,
                  fmt::format("queue {} has no quota of GPUs, but its jobs request some",
                              setup.queues[*queue].name),
                  {}, "expected a resource such as nvidia.com/gpu");
    }
    if (lost++ > 0) continue;
    const NameId vc = job.request.vc;
    first =
        vc == kNoName ? "no virtual cluster" : "virtual cluster " + std::string(trace.names[vc]);
  }
  if (lost > 0) {
    return fail(
        Code::invalid,
        fmt::format("{} no ClusterQueue (the first is of {})",
                    lost == 1 ? "1 job belongs to" : fmt::format("{} jobs belong to", lost), first),
        {},
        "name the ClusterQueues as the log's virtual clusters, partitions, accounts or "
        "users");
  }
  if (too_large > 0) {
    notes.push_back(fmt::format(
        "{} more GPUs than a ClusterQueue can ever have, and never {} under policy kueue",
        too_large == 1 ? "1 job requests" : fmt::format("{} jobs request", too_large),
        too_large == 1 ? "starts" : "start"));
  }
  if (stopped > 0) {
    notes.push_back(
        fmt::format("{} in stopped ClusterQueues (stopPolicy), and never {} under policy kueue",
                    stopped == 1 ? "1 job is" : fmt::format("{} jobs are", stopped),
                    stopped == 1 ? "starts" : "start"));
  }
  return notes;
}

std::uint64_t types_of(const Flavor& flavor, const std::vector<std::string>& types) {
  std::uint64_t made = 0;
  for (std::size_t at = 0; at < types.size(); ++at) {
    const bool is_named =
        names_type(flavor.name, types[at]) ||
        std::any_of(flavor.labels.begin(), flavor.labels.end(),
                    [&](const auto& label) { return names_type(label.second, types[at]); });
    if (is_named) made |= std::uint64_t{1} << at;
  }
  return made != 0 ? made : ~std::uint64_t{0};
}

Resources::Resources(const Setup& setup) : num_flavors_(setup.flavors.size()) {
  for (const ClusterQueue& queue : setup.queues) {
    Of& of = of_.emplace_back();
    for (const ResourceGroup& group : queue.groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        for (const auto& [resource, quota] : flavor.resources) {
          if (is_gpu(resource)) of.gpu = resource;
          of.has_cpu = of.has_cpu || resource == kCpu;
          of.has_memory = of.has_memory || resource == kMemory;
        }
      }
    }
  }
}

Amount Resources::most_gpus(const QuotaTree& tree, std::size_t queue) const {
  const ResourceAt gpu = tree.resource(of_[queue].gpu);
  if (gpu == tree.num_resources()) return 0;
  Amount most = 0;
  for (FlavorAt flavor = 0; flavor < num_flavors_; ++flavor) {
    most = std::max(most, tree.most(static_cast<NodeAt>(queue), tree.slot(flavor, gpu)));
  }
  return most;
}

std::map<std::string, Amount> Resources::requests(std::size_t queue, std::int64_t gpus,
                                                  std::int64_t cpu_milli,
                                                  std::int64_t memory_mb) const {
  const Of& of = of_[queue];
  std::map<std::string, Amount> made;
  if (gpus > 0 && !of.gpu.empty()) made.emplace(of.gpu, gpus);
  if (cpu_milli > 0 && of.has_cpu) made.emplace(kCpu, cpu_milli);
  if (memory_mb > 0 && of.has_memory) made.emplace(kMemory, memory_mb * 1'000'000);
  return made;
}

}  // namespace almanac::kueue
