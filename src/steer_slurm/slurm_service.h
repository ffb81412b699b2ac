// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Slurm cluster: watches it, decides by a policy of the registry, moves the
/// levers that an operator has turned on, and answers requests as the service of one machine does.
///
/// Slurm starts, ends and accounts jobs, with or without Almanac. While the controller does not
/// answer, all levers rest, with a warning. When it is back, the service reads its whole state
/// again.
///
/// One thread decides, under the lock that each request takes (known.h). It waits for the
/// controller without that lock, and not forever (controller.h). The watchdog restarts a service
/// whose decision does not end, but not one whose controller is slow.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "manager/link.h"
#include "service/service.h"
#include "steer/config.h"
#include "steer/control.h"

namespace almanac::steer_slurm {

class SlurmService final : public service::Service {
 public:
  /// Reads the state of the controller. Fails with conflict if another almanac process uses the
  /// folder or this Slurm cluster, with unavailable if the controller does not answer, and with
  /// unsupported if the cluster belongs to a federation.
  static Result<std::unique_ptr<SlurmService>> open(steer::Config config,
                                                    std::unique_ptr<manager::Link> link);
  ~SlurmService() override;

  void run(const std::atomic<bool>& stop) override;
  void wake() override;
  void reload() override;
  /// Runs one step; true if there is more to do at once.
  bool step();

  Result<std::vector<store::JobNumber>> submit(store::Submission submission) override;
  Result<void> judge(store::Submission submission) override;
  Result<void> cancel(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                      bool now) override;
  Result<void> hold(const std::vector<store::JobNumber>& numbers,
                    const service::Caller& caller) override;
  Result<void> release(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> requeue(const std::vector<store::JobNumber>& numbers,
                       const service::Caller& caller) override;
  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override;
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override;
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
  Result<std::optional<service::StartsIf>> starts_if(store::JobNumber number) const override;
  std::vector<service::NodeView> nodes() const override;
  Result<service::Tenancy> tenancy() const override;
  Result<sim::Compactions> compactions() const override;
  std::optional<service::Manager> manager() const override;
  std::optional<service::Comparison> shadow() const override;
  Result<std::string> log_path(store::JobNumber number, bool err) const override;
  const store::Store& store() const override;
  const std::string& state() const override;
  std::shared_ptr<const cluster::Cluster> cluster() const override;
  steer::Status status() const;

 private:
  struct Parts;

  explicit SlurmService(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace almanac::steer_slurm
