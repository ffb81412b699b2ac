// SPDX-License-Identifier: Apache-2.0

/// \file
/// Source   Slurm 22.05, slurmctld/reservation.c (job_test_resv).
#include "slurmctld/main_loop/reservations.h"

#include <algorithm>

namespace almanac::slurmctld {

const ReservedNodes* Reservations::find(const std::string& name) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const ReservedNodes& each) { return each.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

bool Reservations::has_begun(const Job& job, Seconds now) const {
  if (job.ask.reservation.empty()) return true;
  const ReservedNodes* const own = find(job.ask.reservation);
  return own != nullptr && (own->flex || (own->start <= now && now < own->end));
}

bool Reservations::apply(const Job& job, NodeBits& nodes, Seconds start, Seconds end) const {
  bool removed = false;
  for (const ReservedNodes& each : all_) {
    if (each.name == job.ask.reservation) {
      if (!each.flex) nodes &= each.nodes;
    } else if (each.end > start && each.start < end) {
      removed = removed || nodes.overlaps(each.nodes);
      nodes -= each.nodes;
    }
  }
  return removed;
}

Seconds Reservations::next_end(const Job& job, Seconds start, Seconds end) const {
  Seconds first = 0;
  for (const ReservedNodes& each : all_) {
    if (each.name == job.ask.reservation || each.end <= start || each.start >= end) continue;
    first = first == 0 ? each.end : std::min(first, each.end);
  }
  return first;
}

Seconds Reservations::next_change(Seconds now) const {
  Seconds next = 0;
  for (const ReservedNodes& each : all_) {
    for (const Seconds at : {each.start, each.end}) {
      if (at > now && (next == 0 || at < next)) next = at;
    }
  }
  return next;
}

}  // namespace almanac::slurmctld
