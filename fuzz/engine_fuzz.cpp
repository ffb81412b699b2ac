// SPDX-License-Identifier: Apache-2.0

/// \file
/// Decodes any bytes to a cluster, jobs and a composition, simulates, and recounts the rules.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "policy/registry.h"
#include "support/play.h"
#include "support/rules.h"

namespace almanac {
namespace {

/// Bytes from the front; zeros once they are used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  int below(int limit) { return (empty() ? 0 : data_[at_++]) % limit; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

template <typename Choices>
std::string choose(Bytes& bytes, const Choices& choices) {
  return choices[static_cast<std::size_t>(bytes.below(static_cast<int>(choices.size())))].name;
}

policy::Composition decode_composition(Bytes& bytes) {
  const policy::Registry& registry = policy::registry();
  policy::Composition made;
  made.estimate = choose(bytes, registry.estimates.entries());
  made.order = choose(bytes, registry.orders.entries());
  made.placement = choose(bytes, registry.placements.entries());
  made.size = bytes.below(2) == 0 ? "asked" : "proportional";
  static constexpr const char* kPasses[] = {"strict",  "scan",         "easy",       "conservative",
                                            "by_rank", "helios_count", "helios_qssf"};
  made.pass = kPasses[bytes.below(7)];
  if (made.pass == "easy") made.pass.told["depth"] = {1.0 + bytes.below(4)};
  if (made.order == "las") made.order.told["queues_gpu_s"] = {10.0 * bytes.below(20)};
  return made;
}

Case decode(Bytes& bytes) {
  static constexpr std::string_view kTypes[] = {"", "V100", "A100", "V100|A100"};
  static constexpr std::string_view kVcs[] = {"a", "b", "c"};
  Case made;
  const bool with_cores = bytes.below(2) == 1;
  const int vcs = 1 + bytes.below(3);
  for (int vc = 0; vc < vcs; ++vc) {
    made.cluster.add_vc(std::string(kVcs[vc]));
    const int makes = 1 + bytes.below(2);
    for (int make = 0; make < makes; ++make) {
      // Some have no GPU, some do not say how many cores or how much memory they have.
      const int gpus = bytes.below(bytes.below(8) == 0 ? 65 : 9);
      const std::string type(kTypes[bytes.below(3)]);
      const auto nodes = static_cast<std::uint32_t>(bytes.below(4));
      const int cpus = with_cores ? bytes.below(33) : 0;
      const int memory_gb = with_cores ? bytes.below(33) : 0;
      made.cluster.add_nodes({.gpus = gpus,
                              .gpu_type = type,
                              .cpus = static_cast<double>(cpus),
                              .memory_gb = static_cast<double>(memory_gb)},
                             nodes);
    }
  }
  const int changes = bytes.below(4);
  Time at = Time::min();
  for (int change = 0; change < changes; ++change) {
    const int wait = bytes.below(50);
    if (wait > 0) at = std::max(at, Time{0s}) + wait * 1s;
    const VcId vc{static_cast<std::uint32_t>(bytes.below(vcs))};
    const int most = static_cast<int>(made.cluster.vcs[index(vc)].num_nodes);
    made.cluster.changes.push_back({.at = at, .vc = vc, .nodes = bytes.below(most + 1)});
  }
  made.options.restart.launch = bytes.below(2) * 1s;
  made.options.seed = static_cast<std::uint64_t>(bytes.below(256));
  Duration now = bytes.below(100) * 1s;
  for (int job = 0; job < 60 && !bytes.empty(); ++job) {
    now += bytes.below(32) * 500ms;
    made.options.timeline_interval = 5s;
    add_job(made.trace, {.id = "x",
                         .submit = now,
                         .gpus = bytes.below(bytes.below(4) == 0 ? 80 : 9),
                         .run = bytes.below(128) * 500ms,
                         .vc = kVcs[bytes.below(3)],
                         .user = kVcs[bytes.below(3)],
                         .name = kVcs[bytes.below(3)],
                         .gpu_type = kTypes[bytes.below(4)],
                         .limit = bytes.below(128) * 500ms,
                         .predicted = (bytes.below(128) - 8) * 500ms});
    trace::Request& request = made.trace.jobs.back().request;
    if (!with_cores) continue;
    // In thirds, so that shares of GPUs and tasks are rounded.
    if (bytes.below(4) > 0) request.cpus = static_cast<float>(bytes.below(32)) / 3;
    if (bytes.below(4) > 0) request.memory_gb = static_cast<float>(bytes.below(32)) / 3;
    request.nodes = bytes.below(4);
  }
  if (!made.trace.jobs.empty() && bytes.below(4) == 0) {
    made.options.watch.job = JobId{static_cast<std::uint32_t>(made.trace.jobs.size() / 2)};
  }
  return made;
}

}  // namespace
}  // namespace almanac

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  almanac::Bytes bytes(data, size);
  const almanac::policy::Composition composition = almanac::decode_composition(bytes);
  const almanac::Case input = almanac::decode(bytes);
  const almanac::Result<almanac::Played> played = almanac::play(input, composition);
  if (!played) return 0;
  const std::vector<std::string> broken = almanac::broken_rules(input, *played);
  for (const std::string& rule : broken) fmt::print(stderr, "{}\n", rule);
  if (!broken.empty()) std::abort();
  return 0;
}
