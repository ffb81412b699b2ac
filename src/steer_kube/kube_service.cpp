// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/kube_service.h"

#include <filesystem>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "service/lock.h"
#include "service/log.h"
#include "service/loop.h"
#include "service/notify.h"
#include "service/store_owner.h"
#include "steer_kube/kube_cluster.h"
#include "steer_kube/views.h"
#include "text/nearest.h"

namespace almanac::steer_kube {

using service::Caller;
using store::JobNumber;

namespace {

constexpr const char* kHolderKey = "lease-holder";
constexpr const char* kClusterKey = "cluster";

tl::unexpected<Error> better_by_kubectl(std::string what, std::string how) {
  return fail(Code::unsupported, "this is a Kubernetes cluster: " + std::move(what), {},
              std::move(how));
}

/// The name by which this state folder holds the Lease, whatever the pod is called.
Result<std::string> holder_of(store::Store& store) {
  auto kept = store.get(kHolderKey);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept) return **kept;
  std::random_device device;
  const std::string made = fmt::format("almanac-{:08x}{:08x}", device(), device());
  store::Store::Batch batch;
  batch.set(kHolderKey, made);
  if (Result<void> saved = store.commit(batch); !saved) return tl::unexpected(saved.error());
  return made;
}

/// Binds the store to a cluster at its first use: the workloads of another one would all be missed.
Result<void> bind_to_cluster(store::Store& store, const std::string& state,
                             const std::string& cluster) {
  const auto kept = store.get(kClusterKey);
  if (!kept) return tl::unexpected(kept.error());
  if (*kept && **kept != cluster) {
    return fail(Code::conflict,
                fmt::format("this state directory is of the cluster whose kube-system has uid {}, "
                            "not of this one, {}",
                            **kept, cluster),
                {.file = state}, "give each cluster a directory of its own with --state");
  }
  if (*kept) return {};
  store::Store::Batch batch;
  batch.set(kClusterKey, cluster);
  return store.commit(batch);
}

}  // namespace

/// In order of construction: each part knows only the parts before it.
struct KubeService::Parts {
  service::Lock lock;
  Known known;
  service::Watchdog watchdog{};
  Views views{known};
  KubeCluster cluster;
  service::Loop loop{cluster, known.bell, watchdog};

  Parts(service::Lock held, Config config, store::Store store, OrderJournal journal,
        kube::Client writer, std::string holder)
      : lock(std::move(held)),
        known(std::move(config), std::move(store), std::move(journal)),
        cluster(known, std::move(writer), std::move(holder)) {}
};

KubeService::KubeService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

KubeService::~KubeService() {
  // Their threads use the bell.
  parts_->known.live.reset();
  parts_->known.forecaster.reset();
}

Result<std::unique_ptr<KubeService>> KubeService::open(Config config) {
  std::error_code error;
  std::filesystem::create_directories(config.state, error);
  if (error) {
    return fail(Code::unavailable, fmt::format("cannot create the folder: {}", error.message()),
                {.file = config.state});
  }
  auto lock = service::Lock::take(service::lock_of_folder(config.state), "this folder");
  if (!lock) return tl::unexpected(lock.error());
  auto store = store::Store::open(config.state + "/almanac.db");
  if (!store) return tl::unexpected(store.error());
  service::tell_of_copy(*store);
  if (auto owned = service::own_store(*store, config.state, service::kKubernetes); !owned) {
    return tl::unexpected(owned.error());
  }
  if (const auto gone = store->forget(config.clock->wall() - config.retention); !gone) {
    return tl::unexpected(gone.error());
  }
  auto journal = OrderJournal::open(config.state + "/order.jsonl");
  if (!journal) return tl::unexpected(journal.error());
  auto holder = holder_of(*store);
  if (!holder) return tl::unexpected(holder.error());
  auto writer = config.connect();
  if (!writer) return tl::unexpected(writer.error());
  const auto cluster = kube::cluster_uid(*writer);
  if (!cluster) return tl::unexpected(cluster.error());
  if (auto bound = bind_to_cluster(*store, config.state, *cluster); !bound) {
    return tl::unexpected(bound.error());
  }
  if (auto bound = journal->bind(*cluster); !bound) return tl::unexpected(bound.error());

  auto parts = std::make_unique<Parts>(std::move(*lock), std::move(config), std::move(*store),
                                       std::move(*journal), std::move(*writer), std::move(*holder));
  std::unique_ptr<KubeService> made(new KubeService(std::move(parts)));
  Known& known = made->parts_->known;
  auto records = Records::open(known.store);
  if (!records) return tl::unexpected(records.error());
  known.records = std::make_unique<Records>(std::move(*records));
  auto live = kube::LiveCluster::open(
      known.config.connect, known.config.settings.user_label, [&known] { known.bell.ring(); },
      [&known] { return known.clock.wall(); });
  if (!live) return tl::unexpected(live.error());
  known.live = std::move(*live);
  const kube::Picture first = known.live->picture();
  std::set<std::string> named = known.config.settings.canary;
  named.insert(known.config.settings.backfill.begin(), known.config.settings.backfill.end());
  for (const std::string& each : named) {
    if (first.queue_at(each)) continue;
    std::vector<std::string> queues;
    for (const kueue::ClusterQueue& queue : first.objects.setup.queues) {
      queues.push_back(queue.name);
    }
    return fail(Code::usage, fmt::format("there is no ClusterQueue {}", each), {},
                text::meant_or_known(each, queues));
  }
  if (auto begun = made->parts_->cluster.begin(); !begun) return tl::unexpected(begun.error());
  return made;
}

void KubeService::run(const std::atomic<bool>& stop) { parts_->loop.run(stop); }
void KubeService::wake() { parts_->loop.wake(); }
void KubeService::reload() { parts_->loop.reload(); }
bool KubeService::step() { return parts_->loop.step(); }

Result<std::vector<JobNumber>> KubeService::submit(store::Submission) {
  return better_by_kubectl("submit jobs to Kubernetes", "kubectl create -f job.yaml");
}

Result<void> KubeService::judge(store::Submission) {
  return better_by_kubectl("submit jobs to Kubernetes", "kubectl create --dry-run=server");
}

Result<void> KubeService::cancel(const std::vector<JobNumber>&, const Caller&, bool) {
  return better_by_kubectl("Almanac deletes nothing there", "kubectl delete job");
}

Result<void> KubeService::update(const std::vector<JobNumber>&, const store::Amended&,
                                 const Caller&) {
  return better_by_kubectl("the pods of a workload are its user's", "kubectl edit job");
}

Result<void> KubeService::hold(const std::vector<JobNumber>&, const Caller&) {
  return better_by_kubectl(
      "Almanac does not write spec.active, because a workload would be held for ever if Almanac "
      "stopped",
      "kubectl patch workload NAME --type merge -p '{\"spec\":{\"active\":false}}'");
}

Result<void> KubeService::release(const std::vector<JobNumber>&, const Caller&) {
  return better_by_kubectl(
      "Almanac opens no gates and no admission checks",
      "kubectl patch workload NAME --type merge -p '{\"spec\":{\"active\":true}}'");
}

Result<void> KubeService::requeue(const std::vector<JobNumber>&, const Caller&) {
  return better_by_kubectl("Almanac evicts nothing there", "kubectl delete pod");
}

Result<void> KubeService::set_policy(const std::string&, const Caller&) {
  return better_by_kubectl(fmt::format("its order is that of policy {}", kPolicy),
                           "almanac advise --kube shows what an order would gain");
}

Result<void> KubeService::set_shadow(const std::string&, const Caller&) {
  return better_by_kubectl("the service compares no policies there",
                           "almanac advise --kube shows what an order would gain");
}

Result<std::int64_t> KubeService::announce(const service::Window&, const Caller&) {
  return better_by_kubectl("Almanac changes no quotas and stops no queues",
                           "set stopPolicy of the ClusterQueue");
}

Result<void> KubeService::call_off(std::int64_t, const Caller&) {
  return better_by_kubectl("Almanac changes no quotas and stops no queues",
                           "set stopPolicy of the ClusterQueue");
}

Result<void> KubeService::set_drained(const std::string& node, bool drained, const Caller&) {
  return better_by_kubectl("Kubernetes drains nodes",
                           fmt::format("kubectl {} {}", drained ? "cordon" : "uncordon", node));
}

Result<void> KubeService::set_gpu_trouble(const std::string&, int, const std::string&,
                                          const Caller&) {
  return better_by_kubectl("a single GPU cannot be taken out of service", "cordon its node");
}

std::uint64_t KubeService::revision() const { return parts_->known.revision; }
service::Overview KubeService::overview() const { return parts_->views.overview(); }
service::Counters KubeService::counters() const { return parts_->views.counters(); }

Result<std::vector<service::JobView>> KubeService::jobs(const service::Sought& sought) const {
  return parts_->views.jobs(sought);
}

Result<service::JobView> KubeService::job(JobNumber number) const {
  return parts_->views.job(number);
}

Result<std::vector<std::string>> KubeService::explain(JobNumber number, service::Eyes) const {
  return parts_->views.explain(number);
}

std::optional<service::Expected> KubeService::expect(JobNumber number, Duration) const {
  return parts_->views.expected(number);
}

Result<std::optional<service::Expected>> KubeService::foresee(const store::Submission&) const {
  return better_by_kubectl("the service foresees submitted workloads only", "almanac kube queue");
}

Result<std::optional<service::ChangedForecasts>> KubeService::foresee(
    const std::vector<std::string>&) const {
  return better_by_kubectl("changes of quotas are simulated on a recorded log",
                           "almanac advise LOG --queues FILE --what-if CHANGE");
}

std::vector<service::NodeView> KubeService::nodes() const { return parts_->views.nodes(); }

Result<service::Tenancy> KubeService::tenancy() const {
  return better_by_kubectl("Kueue's quotas say who may use what", "almanac kube status");
}

Result<sim::Compactions> KubeService::compactions() const {
  return better_by_kubectl("Almanac does not know which nodes the pods run on", "");
}

std::optional<service::Manager> KubeService::manager() const { return parts_->views.manager(); }

Result<std::string> KubeService::log_path(JobNumber, bool) const {
  return better_by_kubectl("the pods have the logs", "kubectl logs");
}

const store::Store& KubeService::store() const { return parts_->known.store; }
const std::string& KubeService::state() const { return parts_->known.config.state; }
std::shared_ptr<const cluster::Cluster> KubeService::cluster() const {
  return parts_->views.cluster();
}

}  // namespace almanac::steer_kube
