// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Kubernetes cluster as service::Loop runs it: looks at the live picture, keeps the runs,
/// decides the order, and writes one number at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/client.h"
#include "kube/lease.h"
#include "kube/live.h"
#include "service/clock.h"
#include "service/cluster.h"
#include "service/renewal.h"
#include "steer_kube/known.h"

namespace almanac::steer_kube {

class KubeCluster final : public service::Cluster {
 public:
  KubeCluster(Known& known, kube::Client writer, std::string holder);

  /// The first look, decision and save. Fails as the store does.
  Result<void> begin();

  /// Lets another thread make a predictor of run times that learns from the store again if this one
  /// is_worn(), and takes it over when it is ready, with the runs that ended meanwhile.
  void renew(bool) override;
  void take_requests() override {}
  bool look() override;
  void decide() override;
  void keep() override;
  bool act() override;
  void finish() override {}
  Duration rest() const override;
  std::vector<int> sources() const override { return {}; }
  /// Releases the Lease, and says which queues are then left alone.
  void close() override;

 private:
  /// Returns a predictor of run times that has learned from the store until `now`. Fails as the
  /// store does. Any thread.
  Result<std::unique_ptr<RunTimes>> taught(Time now) const;
  /// Forgets runs that are older than the retention.
  void forget();
  /// Logs why the lever rests, once. Under the lock.
  void log_rest();
  /// Logs the alarms of backfill mode when they change. Under the lock.
  void log_alarms();

  Known& known_;
  kube::Client writer_;
  kube::Lease lease_;
  std::uint64_t seen_ = 0;  ///< Revision of the live cluster.
  service::Clock::Instant next_look_{};
  service::Clock::Instant next_write_{};
  service::Clock::Instant next_decision_{};  ///< Without news.
  service::Clock::Instant next_sample_{};
  service::Clock::Instant next_forget_;
  std::vector<kube::Gone> gone_{};  ///< Not in the records yet.
  /// Jobs that ended and that the store did not have when the predictor that learns began.
  std::vector<store::Job> recent_{};
  std::string unread_{};  ///< Why the last look failed.
  std::string logged_rest_{};
  std::vector<std::string> logged_alarms_{};
  std::string logged_trouble_{};  ///< Of the API server.
  bool has_news_ = false;
  bool has_more_ = false;   ///< To write.
  std::int64_t ended_ = 0;  ///< Since the lever looked last.
  service::Renewal<std::unique_ptr<RunTimes>> renewal_;
};

}  // namespace almanac::steer_kube
