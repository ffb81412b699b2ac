// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each node has an array of cores for CPU jobs and one for GPU jobs: `reserve_cpus` cores per GPU,
/// idle or not, belong to the GPU array, the rest to the CPU array. Idle cores are lent, and
/// reclaimed when their array needs them.
///
///   GPU job   goes where its placement says. If cores are short there, it reclaims those that the
///             CPU jobs have on loan: those of the lowest tier, the youngest first, stop, and wait
///             at the head of their user's queue. If enough GPUs are free, but not on one node,
///             smaller GPU jobs move aside, youngest first, if each fits elsewhere.
///   CPU job   goes to a node without GPUs, or else to the node with the most room in its array, or
///             else, on loan, to the node with the most idle cores. Otherwise it reclaims cores
///             that GPU jobs hold beyond their array, from those with the most per GPU, if the size
///             can give them back (`adaptive` can).
///
/// CPU jobs of a node are on loan, youngest first, as far as they hold more than their array.
/// Within an array the user with the smallest dominant share is next; jobs that do not fit are
/// passed (user_queues.h).
///
/// Source   CODA (Zhao et al., ICDCS'20), the multi-array job scheduler, reconstructed from the
///          abstract. Fairness: Ghodsi et al., NSDI'11.
/// Differs  No nodes are reserved for large GPU jobs; moving smaller ones aside has the same
///          purpose. A user's jobs with other requests are not blocked. The reserve is a parameter:
///          a percentile of the cores that jobs turn out to use is more than nodes have. GPU jobs
///          borrow too, and give back by a resize, without a restart. A stopped CPU job keeps its
///          progress and pays the usual restart cost.
/// Cost     a bound per 64 nodes per start; O(jobs on the node) per change on a node; O(CPU jobs on
///          loan) when a GPU job lacks cores everywhere
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/contract/may_stop.h"
#include "policy/kit/desk.h"
#include "policy/kit/eviction.h"
#include "policy/kit/least_loss.h"
#include "policy/pass/arrays/array_book.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

using cluster::Demand;
using cluster::Grant;
using Tenant = ArrayBook::Tenant;

constexpr std::int32_t kCore = 1000;
/// A job that has started this recently does not move aside: it paid for its start.
constexpr Duration kSettled = 10min;
/// So many nodes are looked at for one that smaller jobs can leave.
constexpr int kNodesLookedAt = 8;

class ArraysPass final : public Pass {
 public:
  ArraysPass(Desk& desk, double reserve_cpus)
      : desk_(desk), reserve_milli_(cluster::cpu_milli(reserve_cpus)) {}

  void arrived(VcState& vc, JobId job) override {
    book(vc.vc).queue(is_cpu_job(job)).insert(user(job), desk_.least(job), place_of(job));
  }

  void adopted(VcState& vc, JobId job) override {
    ArrayBook& own = book(vc.vc);
    own.queue(is_cpu_job(job)).use(user(job), desk_.demand(job), +1);
    own.enter(job, desk_.view().grants(job), desk_.ledger());
  }

  void withdrawn(VcState& vc, JobId job) override {
    book(vc.vc).queue(is_cpu_job(job)).erase(user(job), desk_.least(job), place_of(job));
    evicted_by_.erase(job);
  }

  void ended(VcState& vc, JobId job) override { leave(book(vc.vc), job); }

  void capacity_changed(VcState& vc) override {
    ArrayBook& own = book(vc.vc);
    own.file_all(desk_.ledger());
    for (const bool cpu : {false, true}) own.queue(cpu).wake([](const Demand&) { return true; });
  }

  void run(VcState& vc) override {
    ArrayBook& own = book(vc.vc);
    const std::size_t stops = desk_.plan().num_stops();
    for (const NodeId node : desk_.touched) {
      if (desk_.view().cluster.nodes[index(node)].vc == vc.vc) own.look_at(node, desk_);
    }
    for (const bool cpu : {false, true}) {
      UserQueues& queue = own.queue(cpu);
      for (JobId job = queue.next(); job != kNoJob; job = queue.next()) {
        const bool started = cpu ? start_cpu_job(vc, own, job) : start_gpu_job(vc, own, job);
        if (!started) queue.sleep();
      }
    }
    // A job that was stopped may fit elsewhere.
    if (desk_.plan().num_stops() > stops) desk_.plan().wake(desk_.now());
  }

  Reason refused(const VcState&, JobId job, const Reason& reason) const override {
    const auto evicted = evicted_by_.find(job);
    if (evicted == evicted_by_.end()) return reason;
    return {.kind = ReasonKind::reclaimed, .other = evicted->second};
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    const UserQueues& queue = books_[index(vc.vc)]->queue(is_cpu_job(job));
    return {.kind = ReasonKind::behind, .other = queue.next_of(desk_.least(job))};
  }

 private:
  bool is_cpu_job(JobId job) const { return desk_.demand(job).is_cpu_job(); }
  NameId user(JobId job) const { return desk_.view().request(job).user; }
  std::int32_t idle(NodeId node) const { return desk_.ledger().room(node).cpu_milli; }
  UserQueues::Place place_of(JobId job) const {
    const QueueKey key = desk_.key(job);
    return {-key.tier, key.rank, key.tie, job};
  }

  ArrayBook& book(VcId vc) {
    if (books_.size() <= index(vc)) books_.resize(index(vc) + 1);
    std::unique_ptr<ArrayBook>& own = books_[index(vc)];
    if (!own) {
      own = std::make_unique<ArrayBook>(desk_, vc, reserve_milli_);
      own->file_all(desk_.ledger());
    }
    return *own;
  }

  void start(VcState& vc, ArrayBook& own, JobId job, std::span<const Grant> grants) {
    UserQueues& queue = own.queue(is_cpu_job(job));
    queue.erase(user(job), desk_.least(job), place_of(job));
    queue.use(user(job), desk_.demand(job), +1);
    evicted_by_.erase(job);
    own.enter(job, grants, desk_.ledger());
    desk_.start(vc, job, grants);
  }

  void leave(ArrayBook& own, JobId job) {
    own.queue(is_cpu_job(job)).use(user(job), desk_.demand(job), -1);
    own.leave(job, desk_.view().grants(job), desk_.ledger());
  }

  // CPU jobs

  bool start_cpu_job(VcState& vc, ArrayBook& own, JobId job) {
    const Demand demand = desk_.demand(job);
    const std::size_t before = desk_.ledger().mark();
    grants_.clear();
    for (int task = 0; task < demand.tasks; ++task) {
      if (take_task(own, demand)) continue;
      desk_.ledger().undo(before);
      for (const Grant& grant : grants_) own.use(grant.node, -grant.cpu_milli, desk_.ledger());
      return false;
    }
    start(vc, own, job, grants_);
    return true;
  }

  bool take_task(ArrayBook& own, const Demand& demand) {
    const NodeId node = roomiest(own, demand);
    if (node == kNoNode) return false;
    const Grant taken = desk_.ledger().take(node, demand.of(1));
    const auto same = std::find_if(grants_.begin(), grants_.end(),
                                   [&](const Grant& each) { return each.node == node; });
    if (same == grants_.end()) {
      grants_.push_back(taken);
    } else {
      same->cpu_milli += taken.cpu_milli;
      same->memory_mb += taken.memory_mb;
    }
    own.use(node, taken.cpu_milli, desk_.ledger());
    return true;
  }

  NodeId roomiest(ArrayBook& own, const Demand& demand) {
    const cluster::Amount task = demand.of(1);
    NodeId node = own.roomiest_plain(task);
    if (node == kNoNode) node = own.roomiest_own(task);
    if (node == kNoNode) node = own.roomiest_idle(task);
    // A job of several tasks may yet find no place for all, and resizes are not taken back.
    if (node != kNoNode || desk_.size() == nullptr || demand.tasks > 1) return node;
    node = own.roomiest_right(task);
    if (node == kNoNode) return node;
    const bool made_room = desk_.size()->give_up(node, task.cpu_milli, kCore, desk_);
    if (made_room) own.file(node, desk_.ledger());
    return made_room ? node : kNoNode;
  }

  // GPU jobs

  bool start_gpu_job(VcState& vc, ArrayBook& own, JobId job) {
    const Demand demand = desk_.demand(job);
    grants_.clear();
    if (desk_.ledger().free_gpus(vc.vc, demand) >= demand.gpus) {
      auto placed = desk_.place(vc.vc, demand);
      if (placed.empty()) placed = take_back_loans(vc, own, job, demand);
      grants_.assign(placed.begin(), placed.end());
      if (grants_.empty()) clear_a_node(vc, own, job);
    }
    if (grants_.empty()) {
      const auto joined = desk_.join(vc.vc, job);
      grants_.assign(joined.begin(), joined.end());
    }
    if (grants_.empty()) return false;
    if (grants_.size() == 1) make_room(vc, own, job, demand.cpu_milli, grants_[0]);
    start(vc, own, job, grants_);
    return true;
  }

  /// Places a GPU job after stopping CPU jobs on loan; empty = changed nothing.
  std::span<const Grant> take_back_loans(VcState& vc, ArrayBook& own, JobId job,
                                         const Demand& demand) {
    loans_.clear();
    for (const NodeId node : own.lending()) {
      if (desk_.ledger().free_on(node) > 0 || demand.is_part()) find_loans(own.node(node));
    }
    if (loans_.empty()) return {};
    sort_by_loss(loans_, desk_.view());  // they lose no GPU time: the youngest of a tier first
    // All at once: the placement is to choose among all nodes that lend.
    eviction_.begin();
    for (const JobId loan : loans_) eviction_.free(loan, demand);
    const auto placed = desk_.place(vc.vc, demand);
    if (placed.empty()) {
      eviction_.undo();
      return {};
    }
    eviction_.settle();
    const std::span<const JobId> victims = eviction_.victims();
    // The oldest is the first to wait again.
    for (std::size_t at = victims.size(); at-- > 0;) evict(vc, own, victims[at], job);
    return placed;
  }

  void find_loans(const ArrayBook::NodeState& node) {
    std::int32_t used = node.used;
    for (auto youngest = node.cpu_jobs.rbegin();
         youngest != node.cpu_jobs.rend() && used > node.array; ++youngest) {
      const JobId job = youngest->job;
      if (!desk_.runs(job) || !may_stop(desk_.view().request(job), Stops::all)) continue;
      used -= youngest->cpu_milli;
      if (std::find(loans_.begin(), loans_.end(), job) == loans_.end()) loans_.push_back(job);
    }
  }

  /// Stops a CPU job for `job`; what it held is given back already.
  void evict(VcState& vc, ArrayBook& own, JobId victim, JobId job) {
    leave(own, victim);
    evicted_by_[victim] = job;
    desk_.stop(vc, victim);
  }

  JobId youngest_of_lowest_tier(const ArrayBook::NodeState& node) const {
    JobId first = kNoJob;
    for (auto youngest = node.cpu_jobs.rbegin(); youngest != node.cpu_jobs.rend(); ++youngest) {
      const JobId job = youngest->job;
      if (!desk_.runs(job) || !may_stop(desk_.view().request(job), Stops::all)) continue;
      if (first == kNoJob || desk_.view().tier(job) < desk_.view().tier(first)) first = job;
    }
    return first;
  }

  /// Finds up to `each` cores/1000 for each GPU of a job that starts on one node: idle ones, those
  /// on loan, those of GPU jobs that have more.
  void make_room(VcState& vc, ArrayBook& own, JobId job, std::int32_t each, Grant& grant) {
    const ArrayBook::NodeState& node = own.node(grant.node);
    const std::int32_t kept = std::min(each, reserve_milli_) * grant.count();
    while (grant.cpu_milli + idle(grant.node) < kept && node.lends()) {
      const JobId victim = youngest_of_lowest_tier(node);
      if (victim == kNoJob) break;
      desk_.give_back(victim);
      evict(vc, own, victim, job);
    }
    for (std::int32_t level = each; desk_.size() != nullptr && level >= kCore; level -= kCore) {
      const std::int32_t lacking = level * grant.count() - grant.cpu_milli;
      if (lacking <= idle(grant.node)) break;
      if (desk_.size()->give_up(grant.node, lacking, level, desk_)) break;
    }
    const std::int32_t most =
        std::min(each, (grant.cpu_milli + idle(grant.node)) / grant.count() / kCore * kCore);
    const std::int32_t more = most * grant.count() - grant.cpu_milli;
    if (more <= 0) return;
    desk_.ledger().take(grant.node, {.cpu_milli = more});
    grant.cpu_milli += more;
  }

  /// Moves smaller jobs off a node that lacks few GPUs; then grants_ is what `job` gets of it, else
  /// empty.
  void clear_a_node(VcState& vc, ArrayBook& own, JobId job) {
    const Demand least = desk_.least(job);
    int tried = 0;
    for (const cluster::Pool& pool : desk_.ledger().pools(vc.vc)) {
      if (!pool.suits(least) || pool.gpus_per_node < least.gpus) continue;
      for (int free = least.gpus - 1; free >= 0; --free) {
        const cluster::NodeSet& nodes = pool.by_free[static_cast<std::size_t>(free)];
        for (std::uint32_t member = nodes.first(); member != cluster::NodeSet::kNone;
             member = nodes.next(member)) {
          if (tried++ == kNodesLookedAt) return;
          if (clear(vc, own, pool.nodes[member], least)) return;
        }
      }
    }
  }

  bool clear(VcState& vc, ArrayBook& own, NodeId id, const Demand& least) {
    const std::vector<Tenant>& tenants = own.node(id).gpu_jobs;
    const cluster::Amount wanted = least.total();
    eviction_.begin();
    for (auto youngest = tenants.rbegin();
         youngest != tenants.rend() && desk_.ledger().free_on(id) < least.gpus; ++youngest) {
      if (youngest->gpus >= least.gpus || !desk_.runs(youngest->job)) continue;
      if (desk_.is_paired(youngest->job)) continue;
      if (desk_.view().progress(youngest->job).since + kSettled > desk_.now()) continue;
      eviction_.free(youngest->job, least);
    }
    const bool fits = desk_.ledger().room(id).covers(wanted);
    if (fits) {
      grants_.assign(1, desk_.ledger().take(id, wanted));
      eviction_.settle();
    }
    const std::span<const JobId> victims = eviction_.victims();
    moved_.clear();
    for (std::size_t at = 0; fits && at < victims.size(); ++at) {
      const auto placed = desk_.place(vc.vc, desk_.demand(victims[at]));
      if (placed.empty()) break;
      moved_.emplace_back(placed.begin(), placed.end());
    }
    if (!fits || moved_.size() < victims.size()) {
      eviction_.undo();
      grants_.clear();
      return false;
    }
    for (std::size_t at = 0; at < victims.size(); ++at) {
      own.leave(victims[at], desk_.view().grants(victims[at]), desk_.ledger());
      own.enter(victims[at], moved_[at], desk_.ledger());
      desk_.move(victims[at], moved_[at]);
    }
    return true;
  }

  Desk& desk_;
  std::int32_t reserve_milli_;
  std::vector<std::unique_ptr<ArrayBook>> books_;  // of each virtual cluster
  std::unordered_map<JobId, JobId> evicted_by_;    // of CPU jobs that wait since
  std::vector<Grant> grants_;                      // of the job that starts
  std::vector<JobId> loans_;               // jobs that may be stopped, the first to stop first
  std::vector<std::vector<Grant>> moved_;  // what victims that move are to hold
  Eviction eviction_{desk_};
};

}  // namespace

namespace pass {

void register_arrays(Registry& registry) {
  registry.passes.add(
      {.name = "arrays",
       .summary = "like scan, with separate arrays of cores for CPU jobs and GPU jobs, which lend "
                  "cores to each other",
       .source = "Zhao et al. ICDCS'20 (CODA)",
       .traits = {.has = {Trait::splits_queue, Trait::parts_cluster, Trait::stops_jobs,
                          Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {number("reserve_cpus", "cores per GPU reserved for GPU jobs", 3, 0, 1e4)}},
      [](const Parameters& told, Desk& desk) {
        return std::make_unique<ArraysPass>(desk, told.number("reserve_cpus"));
      });
}

}  // namespace pass
}  // namespace almanac::policy
