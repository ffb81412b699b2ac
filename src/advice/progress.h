// SPDX-License-Identifier: Apache-2.0

/// \file
/// How far the simulations of an advice have come, job by job.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace almanac::advice {

/// Written by the simulations, read by a progress bar on another thread.
class Progress {
 public:
  explicit Progress(std::size_t simulations)
      : simulations_(simulations),
        arrived_(std::make_unique<std::atomic<std::uint32_t>[]>(simulations)) {}

  void expect(std::size_t jobs) { jobs_ = jobs; }
  /// Counts the arrivals of one of the simulations.
  std::atomic<std::uint32_t>* arrivals() { return &arrived_[begun_++ % simulations_]; }
  /// 0 .. 1.
  double done() const {
    const auto all = static_cast<double>(simulations_) * static_cast<double>(jobs_.load());
    double sum = 0;
    for (std::size_t at = 0; at < simulations_; ++at) sum += arrived_[at].load();
    return all > 0 ? std::min(1.0, sum / all) : 0;
  }

 private:
  std::size_t simulations_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> arrived_;
  std::atomic<std::size_t> begun_ = 0;
  std::atomic<std::size_t> jobs_ = 0;
};

}  // namespace almanac::advice
