// SPDX-License-Identifier: Apache-2.0
#include "steer_slurm/slurm_service.h"

#include <utility>

#include <fmt/format.h>

#include "steer_slurm/slurm_parts.h"

namespace almanac::steer_slurm {

namespace {

tl::unexpected<Error> better_by_slurm(std::string what, std::string how) {
  return fail(Code::unsupported, std::move(what), {}, std::move(how));
}

}  // namespace

SlurmService::SlurmService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SlurmService::~SlurmService() = default;

void SlurmService::run(const std::atomic<bool>& stop) { parts_->loop.run(stop); }

void SlurmService::wake() { parts_->loop.wake(); }

void SlurmService::reload() { parts_->loop.reload(); }

bool SlurmService::step() { return parts_->loop.step(); }

Result<std::vector<store::JobNumber>> SlurmService::submit(store::Submission) {
  return better_by_slurm("this is a Slurm cluster: submit jobs to Slurm", "use sbatch");
}

Result<void> SlurmService::judge(store::Submission) {
  return better_by_slurm("this is a Slurm cluster: submit jobs to Slurm", "try sbatch --test-only");
}

Result<void> SlurmService::set_drained(const std::string& node, bool drained,
                                       const service::Caller&) {
  return better_by_slurm("this is a Slurm cluster: Slurm drains nodes",
                         fmt::format("scontrol update nodename={} state={}", node,
                                     drained ? "drain reason=..." : "resume"));
}

Result<void> SlurmService::set_gpu_trouble(const std::string&, int, const std::string&,
                                           const service::Caller&) {
  return better_by_slurm("Slurm cannot take a single GPU out of service", "drain its node");
}

Result<void> SlurmService::cancel(const std::vector<store::JobNumber>& numbers,
                                  const service::Caller& caller, bool now) {
  if (now) return better_by_slurm("Slurm has its own grace period", "cancel without --now");
  return parts_->changes.cancel(numbers, caller);
}

Result<void> SlurmService::hold(const std::vector<store::JobNumber>& numbers,
                                const service::Caller& caller) {
  return parts_->changes.hold(numbers, caller);
}

Result<void> SlurmService::release(const std::vector<store::JobNumber>& numbers,
                                   const service::Caller& caller) {
  return parts_->changes.release(numbers, caller);
}

Result<void> SlurmService::requeue(const std::vector<store::JobNumber>& numbers,
                                   const service::Caller& caller) {
  return parts_->changes.requeue(numbers, caller);
}

Result<void> SlurmService::set_policy(const std::string& policy, const service::Caller& caller) {
  return parts_->changes.set_policy(policy, caller);
}

Result<void> SlurmService::set_shadow(const std::string& policy, const service::Caller& caller) {
  return parts_->changes.set_shadow(policy, caller);
}

std::uint64_t SlurmService::revision() const { return parts_->known.revision; }

service::Overview SlurmService::overview() const { return parts_->views.overview(); }

service::Counters SlurmService::counters() const { return parts_->views.counters(); }

Result<std::vector<service::JobView>> SlurmService::jobs(const service::Sought& sought) const {
  return parts_->views.jobs(sought);
}

Result<service::JobView> SlurmService::job(store::JobNumber number) const {
  return parts_->views.job(number);
}

Result<std::vector<std::string>> SlurmService::explain(store::JobNumber number,
                                                       service::Eyes eyes) const {
  return parts_->views.explain(number, eyes);
}

std::optional<service::Expected> SlurmService::expect(store::JobNumber number,
                                                      Duration patience) const {
  return parts_->watching.expect(number, patience);
}

Result<std::optional<service::Expected>> SlurmService::foresee(
    const store::Submission& asked) const {
  return parts_->watching.foresee(asked);
}

Result<std::optional<service::ChangedForecasts>> SlurmService::foresee(
    const std::vector<std::string>& changes) const {
  return parts_->watching.foresee(changes);
}

Result<std::optional<service::StartsIf>> SlurmService::starts_if(store::JobNumber number) const {
  return parts_->watching.starts_if(number);
}

std::vector<service::NodeView> SlurmService::nodes() const { return parts_->views.nodes(); }

Result<service::Tenancy> SlurmService::tenancy() const { return parts_->views.tenancy(); }

Result<sim::Compactions> SlurmService::compactions() const {
  return parts_->watching.compactions();
}

std::optional<service::Manager> SlurmService::manager() const { return parts_->views.manager(); }

std::optional<service::Comparison> SlurmService::shadow() const {
  return parts_->watching.shadow();
}

Result<std::string> SlurmService::log_path(store::JobNumber, bool) const {
  return fail(Code::unsupported, "Almanac does not know where a Slurm job writes its output", {},
              "scontrol show job prints the path");
}

const store::Store& SlurmService::store() const { return parts_->known.store; }

const std::string& SlurmService::state() const { return parts_->known.config.state; }

std::shared_ptr<const cluster::Cluster> SlurmService::cluster() const {
  return parts_->views.cluster();
}

steer::Status SlurmService::status() const { return parts_->views.status(); }

}  // namespace almanac::steer_slurm
