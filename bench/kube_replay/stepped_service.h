// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Kubernetes cluster with its parts in the open, whose steps the bench runs.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "service/loop.h"
#include "service/notify.h"
#include "steer_kube/kube_cluster.h"

namespace almanac::replay {

struct SteppedService {
  steer_kube::Known known;
  steer_kube::KubeCluster cluster;
  service::Watchdog watchdog{};
  service::Loop loop{cluster, known.bell, watchdog};

  SteppedService(steer_kube::Config config, store::Store store, steer_kube::OrderJournal journal,
                 kube::Client writer)
      : known(std::move(config), std::move(store), std::move(journal)),
        cluster(known, std::move(writer), "bench") {}
  ~SteppedService() {
    known.live.reset();
    known.forecaster.reset();
  }

  static Result<std::unique_ptr<SteppedService>> open(steer_kube::Config config) {
    auto store = store::Store::open(config.state + "/almanac.db");
    if (!store) return tl::unexpected(store.error());
    auto journal = steer_kube::OrderJournal::open(config.state + "/order.jsonl");
    if (!journal) return tl::unexpected(journal.error());
    auto writer = config.connect();
    if (!writer) return tl::unexpected(writer.error());
    auto made = std::make_unique<SteppedService>(std::move(config), std::move(*store),
                                                 std::move(*journal), std::move(*writer));
    steer_kube::Known& known = made->known;
    auto records = steer_kube::Records::open(known.store);
    if (!records) return tl::unexpected(records.error());
    known.records = std::make_unique<steer_kube::Records>(std::move(*records));
    auto live = kube::LiveCluster::open(
        known.config.connect, known.config.settings.user_label, [&known] { known.bell.ring(); },
        [&known] { return known.clock.wall(); });
    if (!live) return tl::unexpected(live.error());
    known.live = std::move(*live);
    if (auto begun = made->cluster.begin(); !begun) return tl::unexpected(begun.error());
    return made;
  }
};

}  // namespace almanac::replay
