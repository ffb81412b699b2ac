// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/usage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace almanac::slurmctld {
namespace {

Used used_of(const site::Usage& from, std::size_t tres) {
  Used used;
  used.tres.resize(tres);
  if (!from.known) return used;
  used.raw = from.raw;
  for (const auto& [at, seconds] : from.tres) used.tres[at] = seconds;
  used.wall_s = from.wall_s;
  return used;
}

void scale(Used& used, double factor) {
  used.raw *= factor;
  for (long double& seconds : used.tres) seconds *= factor;
  used.wall_s *= factor;
}

void add_to(Used& used, double raw, double wall_s, const site::TresCounts& held) {
  used.raw += raw;
  used.wall_s += wall_s;
  for (const site::TresCount& each : held) {
    if (each.tres == site::kEnergy) continue;
    used.tres[each.tres] += static_cast<long double>(wall_s) * static_cast<long double>(each.count);
  }
}

void clear(Used& used) {
  used.raw = 0;
  std::fill(used.tres.begin(), used.tres.end(), 0.0L);
  used.wall_s = 0;
}

}  // namespace

UsageLedger::UsageLedger(const site::Site& site) {
  for (const site::Association& each : site.associations) {
    associations_.push_back(used_of(each.usage, site.tres.size()));
  }
  for (const site::Qos& each : site.qos) {
    qos_.push_back(used_of(each.usage, site.tres.size()));
  }
  change_qos(site.qos);
  set_half_life(site.config.priority.decay_half_life);
}

void UsageLedger::change_qos(std::span<const site::Qos> qos) {
  rules_.clear();
  for (const site::Qos& each : qos) rules_.push_back({each.usage_factor, each.flags.no_decay});
}

void UsageLedger::set_half_life(Duration half_life) {
  second_ = half_life.count() <= 0 ? 1.0 : 1 - (0.693 / seconds(half_life));
  known_seconds_ = 0;
  known_remaining_ = 1;
}

double UsageLedger::remaining(std::int64_t seconds) const {
  if (seconds != known_seconds_) {
    known_seconds_ = seconds;
    known_remaining_ = std::pow(second_, static_cast<double>(seconds));
  }
  return known_remaining_;
}

void UsageLedger::decay(std::int64_t seconds) {
  const double factor = std::max(remaining(seconds), std::numeric_limits<double>::min());
  for (Used& each : associations_) scale(each, factor);
  for (std::size_t at = 0; at < qos_.size(); ++at) {
    if (!rules_[at].no_decay) scale(qos_[at], factor);
  }
}

void UsageLedger::add(const Charge& charge, const AssociationTree& tree) {
  const auto ran = static_cast<double>(charge.seconds);
  // The order of multiplications is Slurm's, so that the last bit is, too.
  double wall_decayed = ran * remaining(charge.seconds);
  double raw_decayed = wall_decayed * charge.billable;
  double raw = ran * charge.billable;
  double wall = ran;
  if (charge.qos != kNowhere && rules_[charge.qos].usage_factor >= 0) {
    const double factor = rules_[charge.qos].usage_factor;
    raw_decayed *= factor;
    wall_decayed *= factor;
    raw *= factor;
    wall *= factor;
  }
  const auto add_to_qos = [&](std::uint32_t qos) {
    const bool no_decay = rules_[qos].no_decay;
    add_to(qos_[qos], no_decay ? raw : raw_decayed, no_decay ? wall : wall_decayed, *charge.held);
  };
  if (charge.qos != kNowhere) add_to_qos(charge.qos);
  if (charge.partition_qos != kNowhere && charge.partition_qos != charge.qos) {
    add_to_qos(charge.partition_qos);
  }
  for (AssociationAt at = charge.association; at != kNowhere; at = tree.parent(at)) {
    add_to(associations_[at], raw_decayed, wall_decayed, *charge.held);
  }
}

void UsageLedger::reset() {
  for (Used& each : associations_) clear(each);
  for (Used& each : qos_) clear(each);
}

}  // namespace almanac::slurmctld
