// SPDX-License-Identifier: Apache-2.0

/// \file
/// What is known about a Kubernetes cluster and what was decided: the state that the parts of its
/// service share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/live.h"
#include "predict/proven.h"
#include "process/bell.h"
#include "service/clock.h"
#include "service/service.h"
#include "steer_kube/forecaster.h"
#include "steer_kube/order_lever.h"
#include "steer_kube/records.h"
#include "steer_kube/run_times.h"
#include "steer_kube/settings.h"
#include "store/store.h"

namespace almanac::steer_kube {

/// The order that the lever follows, as policy kueue simulates it.
inline constexpr const char* kPolicy = "kueue:order=almanac+proven";

struct Config {
  std::string state;  ///< State folder.
  Settings settings{};
  kube::LiveCluster::Connect connect{};  ///< Opens a connection to the API server.
  Duration retention = 24h * 365;        ///< How long ended jobs are kept.
  /// Predicts run times.
  MakeEstimator estimator = [](const Names& names) { return predict::make_proven(names); };
  const service::Clock* clock = &service::machine_clock();  ///< Must outlive the service.
};

struct Known {
  Known(Config of, store::Store opened, OrderJournal journal)
      : clock(*of.clock),
        config(std::move(of)),
        store(std::move(opened)),
        lever(config.settings, std::move(journal)) {}

  const service::Clock& clock;
  const Config config;
  store::Store store;
  Time started = clock.wall();
  process::Bell bell{};  ///< Wakes the deciding thread.
  std::atomic<std::uint64_t> revision = 1;
  std::unique_ptr<kube::LiveCluster> live{};
  std::unique_ptr<Forecaster> forecaster{};

  mutable std::mutex mutex{};  ///< Guards all below.
  std::shared_ptr<const kube::Picture> picture = std::make_shared<const kube::Picture>();
  std::shared_ptr<const kube::Picture> decided_on = picture;
  std::vector<Line> lines{};  ///< Of that picture.
  std::unique_ptr<Records> records{};
  RunTimes run_times{config.estimator};
  OrderLever lever;
  service::Counters counters{};
  std::string trouble{};  ///< Of the store.
  double news_s = 0;      ///< Duration of the last look.
};

}  // namespace almanac::steer_kube
