// SPDX-License-Identifier: Apache-2.0
#include "machine/meter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/holding.h"
#include "machine/power.h"
#include "service/log.h"
#include "text/duration.h"

namespace almanac::machine {

void Meter::look(const Sight& sight) {
  gpu_use_ = sight.gpu_use;
  gpu_w_ = sight.gpu_w;
}

void Meter::count_use(const Sight& sight) const {
  for (const Sight::OfJob& each : sight.jobs) {
    Entry* const entry = state_.book.find(each.job);
    // A job that has ended meanwhile has its record already.
    if (entry == nullptr || !entry->run) continue;
    store::Used& used = entry->job.used;
    used.most_memory_gb = std::max(used.most_memory_gb, each.memory_gb);
    if (each.cores_busy) {
      const double length_s = seconds(each.cores_busy->to - each.cores_busy->from);
      used.core_s += each.cores_busy->value * length_s;
      used.core_seen_s += length_s;
    }
    if (each.gpu_use) {
      const double length_s = seconds(each.gpu_use->to - each.gpu_use->from);
      used.gpu_s += each.gpu_use->value * length_s;
      used.gpu_seen_s += length_s;
    }
  }
}

void Meter::count_energy(Entry& entry, Time to) const {
  store::Energy& energy = entry.job.energy;
  if (!entry.run || to <= energy.counted_to) return;
  const Time looked_from = std::clamp(state_.started, energy.counted_to, to);
  const double unseen_s = seconds(looked_from - energy.counted_to);
  const double seen_s = seconds(to - looked_from);
  const cluster::Cluster& cluster = state_.config.machine.cluster;
  for (const cluster::Grant& grant : entry.of_runs->draws) {
    // An earlier cluster file may have had this node.
    if (index(grant.node) >= cluster.nodes.size()) continue;
    const double part = grant.gpu_milli / double{cluster::kWholeGpu};
    const double modelled_w =
        state_.config.power ? modelled_gpu_w(*state_.config.power, cluster, grant.node) : 0;
    for (int gpu = 0; gpu < cluster.gpus(grant.node); ++gpu) {
      if ((grant.gpus >> static_cast<unsigned>(gpu) & 1U) == 0) continue;
      const auto told = gpu_w_.find({grant.node, gpu});
      const bool is_told = told != gpu_w_.end();
      if (is_told) energy.measured_j += part * told->second * seen_s;
      energy.modelled_j += part * modelled_w * (is_told ? unseen_s : unseen_s + seen_s);
    }
  }
  energy.counted_to = to;
}

void Meter::skip_clock_jump() const {
  const Duration jump = state_.time.take_jump();
  if (jump == Duration{0}) return;
  service::log_warning(fmt::format("the clock was set forward by {}", text::format_duration(jump)));
  for (const store::JobNumber number : state_.processes) {
    state_.book.find(number)->job.energy.counted_to += jump;
  }
}

double Meter::draw_w() const {
  if (!gpu_w_.empty()) {
    double sum_w = 0;
    for (const auto& [gpu, watts] : gpu_w_) sum_w += watts;
    return sum_w;
  }
  if (!state_.config.power) return 0;
  std::vector<cluster::Grant> held;
  for (const Entry* const entry : holders_of(state_)) {
    held.insert(held.end(), entry->job.held_gpus.begin(), entry->job.held_gpus.end());
  }
  return modelled_w(*state_.config.power, state_.config.machine.cluster, held);
}

}  // namespace almanac::machine
