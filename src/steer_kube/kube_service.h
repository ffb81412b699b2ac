// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Kubernetes cluster with Kueue: watches it, keeps its runs, forecasts, decides
/// an order, and writes it if an operator has turned lever `order` on.
///
/// Kueue admits, evicts and accounts workloads, with or without Almanac. While the API server does
/// not answer, the lever rests, with a warning.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "service/service.h"
#include "steer_kube/known.h"

namespace almanac::steer_kube {

class KubeService final : public service::Service {
 public:
  /// Lists the cluster and decides once. Fails with conflict if another almanac process uses the
  /// folder or it belongs to another engine or cluster, with usage if a canary queue does not
  /// exist, and like cluster_uid(), LiveCluster::open(), Store::open() and OrderJournal::open().
  static Result<std::unique_ptr<KubeService>> open(Config config);
  ~KubeService() override;

  void run(const std::atomic<bool>& stop) override;
  void wake() override;
  void reload() override;
  /// Runs one step; true if there is more to do at once.
  bool step();

  Result<std::vector<store::JobNumber>> submit(store::Submission submission) override;
  Result<void> judge(store::Submission submission) override;
  Result<void> cancel(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                      bool now) override;
  Result<void> update(const std::vector<store::JobNumber>& numbers, const store::Amended& wanted,
                      const service::Caller& caller) override;
  Result<void> hold(const std::vector<store::JobNumber>& numbers,
                    const service::Caller& caller) override;
  Result<void> release(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override;
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override;
  Result<std::int64_t> announce(const service::Window& window,
                                const service::Caller& caller) override;
  Result<void> call_off(std::int64_t number, const service::Caller& caller) override;
  Result<void> set_drained(const std::string& node, bool drained,
                           const service::Caller& caller) override;
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller) override;

  std::uint64_t revision() const override;
  service::Overview overview() const override;
  service::Counters counters() const override;
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const override;
  Result<service::JobView> job(store::JobNumber number) const override;
  Result<std::vector<std::string>> explain(store::JobNumber number,
                                           service::Eyes eyes) const override;
  std::optional<service::Expected> expect(store::JobNumber number,
                                          Duration patience) const override;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const override;
  Result<std::optional<service::ChangedForecasts>> foresee(
      const std::vector<std::string>& changes) const override;
  std::vector<service::NodeView> nodes() const override;
  Result<service::Tenancy> tenancy() const override;
  Result<sim::Compactions> compactions() const override;
  std::optional<service::Manager> manager() const override;
  std::optional<service::Comparison> shadow() const override { return std::nullopt; }
  Result<std::string> log_path(store::JobNumber number, bool err) const override;
  const store::Store& store() const override;
  const std::string& state() const override;
  std::shared_ptr<const cluster::Cluster> cluster() const override;

 private:
  struct Parts;
  explicit KubeService(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace almanac::steer_kube
