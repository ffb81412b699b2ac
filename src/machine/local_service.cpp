// SPDX-License-Identifier: Apache-2.0
#include "machine/local_service.h"

#include <utility>

#include "machine/parts.h"
#include "service/job.h"

namespace almanac::machine {

using store::JobNumber;
using What = service::Wish::What;

namespace {

class LocalService final : public service::Service {
 public:
  explicit LocalService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

  void run(const std::atomic<bool>& stop) override { parts_->loop.run(stop); }
  void wake() override { parts_->loop.wake(); }
  void reload() override { parts_->loop.reload(); }

  Result<std::vector<JobNumber>> submit(store::Submission submission) override {
    return parts_->submissions.submit(std::move(submission));
  }
  Result<void> judge(store::Submission submission) override {
    return parts_->submissions.judge(std::move(submission));
  }
  Result<void> cancel(const std::vector<JobNumber>& numbers, const service::Caller& caller,
                      bool now) override {
    return change({.what = What::cancel, .at_once = now, .jobs = numbers}, caller);
  }
  Result<void> update(const std::vector<JobNumber>& numbers, const store::Amended& wanted,
                      const service::Caller& caller) override {
    return change({.what = What::update, .amended = wanted, .jobs = numbers}, caller);
  }
  Result<void> hold(const std::vector<JobNumber>& numbers, const service::Caller& caller) override {
    return change({.what = What::hold, .jobs = numbers}, caller);
  }
  Result<void> release(const std::vector<JobNumber>& numbers,
                       const service::Caller& caller) override {
    return change({.what = What::release, .jobs = numbers}, caller);
  }
  Result<void> requeue(const std::vector<JobNumber>& numbers,
                       const service::Caller& caller) override {
    return change({.what = What::requeue, .jobs = numbers}, caller);
  }
  Result<void> set_policy(const std::string& policy, const service::Caller& caller) override {
    return parts_->watching.watch(parts_->succession.set_policy(policy, caller));
  }
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller) override {
    return parts_->watching.watch(parts_->succession.set_shadow(policy, caller));
  }
  Result<std::int64_t> announce(const service::Window& window,
                                const service::Caller& caller) override {
    return parts_->windows.announce(window, caller);
  }
  Result<void> call_off(std::int64_t number, const service::Caller& caller) override {
    return parts_->windows.call_off(number, caller);
  }
  Result<void> set_drained(const std::string& node, bool drained,
                           const service::Caller& caller) override {
    return parts_->out_of_service.set_drained(node, drained, caller);
  }
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller) override {
    return parts_->out_of_service.set_gpu_trouble(node, gpu, trouble, caller);
  }

  std::uint64_t revision() const override { return parts_->state.revision; }
  service::Overview overview() const override { return parts_->cluster.overview(); }
  service::Counters counters() const override { return parts_->cluster.counters(); }
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const override {
    return parts_->watching.add_to(parts_->jobs.jobs(sought));
  }
  Result<service::JobView> job(JobNumber number) const override {
    return parts_->watching.add_to(parts_->jobs.job(number));
  }
  Result<std::vector<std::string>> explain(JobNumber number, service::Eyes eyes) const override {
    return parts_->jobs.explain(number, eyes);
  }
  std::optional<service::Expected> expect(JobNumber number, Duration patience) const override {
    return parts_->watching.expect(number, patience);
  }
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const override {
    return parts_->watching.foresee(asked);
  }
  Result<std::optional<service::ChangedForecasts>> foresee(
      const std::vector<std::string>& changes) const override {
    return parts_->watching.foresee(changes);
  }
  Result<std::optional<service::StartsIf>> starts_if(JobNumber number) const override {
    return parts_->watching.starts_if(number);
  }
  std::vector<service::NodeView> nodes() const override {
    return parts_->watching.add_to(parts_->cluster.nodes());
  }
  Result<service::Tenancy> tenancy() const override { return parts_->jobs.tenancy(); }
  Result<sim::Compactions> compactions() const override { return parts_->cluster.compactions(); }
  std::vector<service::Window> maintenance() const override {
    return parts_->cluster.maintenance();
  }
  std::optional<service::Comparison> shadow() const override { return parts_->watching.shadow(); }
  Result<std::string> log_path(JobNumber number, bool err) const override {
    return service::kept_job(store(), number).map([&](const store::Job& job) {
      return service::log_of(job, err);
    });
  }
  const store::Store& store() const override { return parts_->state.store; }
  const std::string& state() const override { return parts_->state.config.state; }
  std::shared_ptr<const cluster::Cluster> cluster() const override {
    // The cluster lives as long as the service does.
    return {std::shared_ptr<void>(), &parts_->state.config.machine.cluster};
  }

 private:
  Result<void> change(service::Wish wish, const service::Caller& caller) {
    return parts_->requests.change(Request{.wish = std::move(wish), .caller = caller});
  }

  std::unique_ptr<Parts> parts_;
};

}  // namespace

Result<std::unique_ptr<service::Service>> open_local_service(Config config) {
  auto opened = open_folder(std::move(config));
  if (!opened) return tl::unexpected(opened.error());
  std::vector<store::Job> unfinished = std::move(opened->unfinished);
  auto parts = std::make_unique<Parts>(*std::move(opened), last_counted(unfinished),
                                       service::machine_clock());
  if (auto recovered = parts->recovery.recover(std::move(unfinished)); !recovered) {
    return tl::unexpected(recovered.error());
  }
  parts->watching.begin();
  return std::make_unique<LocalService>(std::move(parts));
}

}  // namespace almanac::machine
