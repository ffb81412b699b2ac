// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts in a thread of their own, from the last picture: what is short for each workload that
/// waits, and when it is expected to start. Also learns run times from the store.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/time.h"
#include "kube/outlook.h"
#include "kube/picture.h"
#include "store/store.h"

namespace almanac::steer_kube {

struct Forecast {
  std::shared_ptr<const kube::Picture> picture{};
  std::unordered_map<std::string, kube::Outlook> of{};  ///< By uid, those that wait.
};

/// Thread-safe.
class Forecaster {
 public:
  /// Learns from `store`, which must outlive it. `on_done` is called after each forecast.
  static Result<std::unique_ptr<Forecaster>> start(const store::Store& store, Time now,
                                                   bool is_fair, std::function<void()> on_done);
  ~Forecaster();

  /// `has_ended`: runs have ended that can be learned from.
  void look(std::shared_ptr<const kube::Picture> picture, bool has_ended);
  /// The last one; never null.
  std::shared_ptr<const Forecast> last() const;
  std::shared_ptr<const kube::Lifetimes> lifetimes() const;

 private:
  Forecaster(const store::Store& store, bool is_fair, std::function<void()> on_done)
      : store_(store), is_fair_(is_fair), on_done_(std::move(on_done)) {}
  Result<void> learn(Time now);
  void run(const std::stop_token& stop);

  const store::Store& store_;
  bool is_fair_;
  std::function<void()> on_done_;
  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::shared_ptr<const kube::Picture> next_{};
  bool has_ended_ = false;
  std::shared_ptr<const kube::Lifetimes> lifetimes_ = std::make_shared<const kube::Lifetimes>();
  std::shared_ptr<const Forecast> last_ = std::make_shared<const Forecast>();
  Time learned_ = kNoTime;
  std::jthread thread_{};
};

}  // namespace almanac::steer_kube
