// SPDX-License-Identifier: Apache-2.0
#include "machine/line.h"

#include <algorithm>
#include <utility>

namespace almanac::machine {

using service::Outlook;

std::int64_t Line::place_of(JobId job) const {
  const std::vector<std::int64_t>& all = places();
  return index(job) < all.size() ? all[index(job)] : 0;
}

const std::vector<std::int64_t>& Line::places() const {
  // 300,000 jobs take 5 ms, for which the deciding thread waits: at most a twentieth of its time.
  constexpr std::size_t kMany = 10'000;
  constexpr int kRest = 20;
  const bool may_be_old = queue_.size() > kMany && state_.clock.monotonic() < good_until_;
  if (!has_changed_ || may_be_old) return places_;
  const auto begun = state_.clock.monotonic();
  std::vector<JobId> line;
  if (!queue_.is_held_back()) queue_.round().line_up(line);
  places_.assign(queue_.size(), 0);
  std::vector<std::int64_t> last(state_.config.machine.cluster.vcs.size());
  for (const JobId job : line) {
    places_[index(job)] = ++last[index(queue_.round().progress(job).vc)];
  }
  has_changed_ = false;
  const auto ended = state_.clock.monotonic();
  good_until_ = ended + kRest * (ended - begun);
  return places_;
}

void Line::reset() {
  places_.clear();
  has_changed_ = true;
  good_until_ = {};
}

std::vector<const Entry*> Line::first_jobs() const {
  const std::vector<std::int64_t>& stands = places();
  std::vector<JobId> line;
  for (std::uint32_t id = 0; id < stands.size(); ++id) {
    if (stands[id] > 0) line.push_back(JobId{id});
  }
  if (line.size() > Outlook::kMostWaiting) {
    const auto last = line.begin() + Outlook::kMostWaiting;
    std::nth_element(line.begin(), last, line.end(), [&](JobId a, JobId b) {
      return std::pair(stands[index(a)], a) < std::pair(stands[index(b)], b);
    });
    line.erase(last, line.end());
  }
  std::vector<const Entry*> made;
  for (const JobId id : line) {
    const Entry* const entry = state_.book.find(queue_.number_of(id));
    // A job may have left the line since.
    if (entry != nullptr && queue_.is_waiting(*entry)) made.push_back(entry);
  }
  // Jobs that a limit leaves aside, and all jobs of a policy without a line.
  for (const auto& [number, entry] : state_.book.all()) {
    if (made.size() >= Outlook::kMostWaiting) break;
    const bool is_in_line = index(entry.id) < stands.size() && stands[index(entry.id)] > 0;
    if (!is_in_line && queue_.is_waiting(entry)) made.push_back(&entry);
  }
  return made;
}

}  // namespace almanac::machine
