// SPDX-License-Identifier: Apache-2.0
#include "formulas/utility.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"

namespace almanac::topology {
namespace {

std::set<int> sockets_of(const Machine& machine, const std::vector<int>& gpus) {
  std::set<int> sockets;
  for (const int gpu : gpus) sockets.insert(machine.socket.at(static_cast<std::size_t>(gpu)));
  return sockets;
}

/// Ratios below 1 of the time alone to that beside a neighbour.
struct Ratios {
  double sum = 0;
  int count = 0;

  void add(double alone, double beside) {
    if (!(beside > 0) || !(alone < beside)) return;
    sum += alone / beside;
    ++count;
  }
};

double communication(const Machine& machine, const std::vector<int>& gpus) {
  double sum = 0;
  for (std::size_t one = 0; one < gpus.size(); ++one) {
    for (std::size_t other = one + 1; other < gpus.size(); ++other) {
      sum += machine.distance.at(static_cast<std::size_t>(gpus[one]))
                 .at(static_cast<std::size_t>(gpus[other]));
    }
  }
  const double beyond = sum - machine.least_communication.at(static_cast<int>(gpus.size()));
  return gpus.size() == 1 || beyond == 0 ? machine.least_cost : beyond;
}

/// Free GPUs that are not chosen are taken away socket by socket, as many as the job asks: the same
/// for all choices on an idle machine.
double fragmentation(const Machine& machine, const std::vector<int>& gpus,
                     const std::vector<Resident>& residents) {
  const auto holds = [](const std::vector<int>& all, int gpu) {
    return std::find(all.begin(), all.end(), gpu) != all.end();
  };
  auto left = static_cast<int>(gpus.size());
  double free = 0;
  for (int gpu = 0; gpu < static_cast<int>(machine.socket.size()); ++gpu) {
    if (std::any_of(residents.begin(), residents.end(),
                    [&](const Resident& each) { return holds(each.gpus, gpu); })) {
      continue;
    }
    if (left > 0 && !holds(gpus, gpu)) {
      --left;
    } else {
      ++free;
    }
  }
  // Two GPUs a socket are wired in.
  const double mean = free / 2 / machine.sockets();
  return mean == 0 || mean == 1 ? machine.least_cost : mean;
}

}  // namespace

int Machine::sockets() const {
  return static_cast<int>(std::set(socket.begin(), socket.end()).size());
}

Utility utility(const Machine& machine, const Times& times, const Weights& weights, const Kind& job,
                const std::vector<int>& gpus, const std::vector<Resident>& residents) {
  const auto count = static_cast<int>(gpus.size());
  ALMANAC_CHECK(count >= 1 && count <= 3, "{} GPUs", count);
  const std::set<int> sockets = sockets_of(machine, gpus);
  const bool across = sockets.size() > 1;
  Ratios suffered;
  Ratios caused;
  for (const Resident& resident : residents) {
    const std::set<int> theirs = sockets_of(machine, resident.gpus);
    if (std::none_of(theirs.begin(), theirs.end(),
                     [&](int socket) { return sockets.contains(socket); })) {
      continue;
    }
    const auto held = static_cast<int>(resident.gpus.size());
    const double alone = times.alone(job, count, across);
    // Three GPUs across sockets were never measured, and what is not measured counts as harmless.
    if (alone > 0) suffered.add(alone, times.beside(job, count, resident.kind, held));
    // The number of GPUs and the position of the newcomer are taken for those of the resident.
    const double theirs_alone = times.alone(resident.kind, count, across);
    if (theirs_alone > 0) caused.add(theirs_alone, times.beside(resident.kind, count, job, held));
  }

  Utility found;
  found.communication = communication(machine, gpus);
  // All residents divide what is suffered, those that interfere what is caused.
  found.suffered =
      suffered.sum > 0 ? suffered.sum / static_cast<double>(residents.size()) : machine.least_cost;
  if (residents.empty()) {
    found.caused = std::numeric_limits<double>::quiet_NaN();
  } else {
    found.caused = caused.count > 0 ? caused.sum / caused.count : machine.least_cost;
  }
  found.fragmentation = fragmentation(machine, gpus, residents);

  const double far = found.communication == machine.least_cost
                         ? machine.least_cost
                         : found.communication / machine.most_communication.at(count);
  const double both = residents.empty() ? found.suffered : (found.suffered + found.caused) / 2;
  const auto cost = [](double value, double weight) { return std::pow(value, weight); };
  const double least = machine.least_cost;
  // Without fragmentation the weights are half as large again.
  found.job =
      1 /
      (cost(far, 1.5 * weights.communication) + cost(found.suffered, 1.5 * weights.interference)) *
      (2 * std::sqrt(least));
  found.system = 1 /
                 (cost(far, weights.communication) + cost(both, weights.interference) +
                  cost(found.fragmentation, weights.fragmentation)) *
                 (3 * std::cbrt(least));
  return found;
}

}  // namespace almanac::topology
