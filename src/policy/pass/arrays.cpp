// SPDX-License-Identifier: Apache-2.0

/// \file
/// An array of cores for CPU jobs and one for GPU jobs in every node. `reserve_cpus` cores of each
/// GPU, idle or not, are the GPU array's; the rest is the CPU array's. What is idle is lent, and
/// taken back when its array needs it.
///
///   GPU job   goes where its placement says. Where cores lack, it takes back those that the
///             youngest CPU jobs hold on loan: they stop, and wait at the head of their user's
///             queue.
///   CPU job   goes to the node with most room in its array; else, on loan, to the one with most
///             idle cores; else it takes back what GPU jobs hold beyond their array, from those
///             that have most for each GPU (the size must be able to: `adaptive` is).
///
/// CPU jobs of a node are on loan, youngest first, as far as all of them hold more than their
/// array. Within an array the user with the least dominant share is next, past what does not fit
/// (user_queues.h).
///
/// Source   CODA (Zhao et al., ICDCS'20), the multi-array job scheduler, as the design texts
///          reconstruct it from the abstract. Fairness: Ghodsi et al., NSDI'11.
/// Differs  from the reconstruction: a user's jobs that ask something else are not blocked; the
///          reserve is given and does not follow the cores that jobs turn out to use, for a
///          percentile of them is more than nodes have; GPU jobs borrow too, and give back by a
///          resize, which restarts nobody. A stopped CPU job keeps its progress and pays the
///          restart cost of the host, as every stopped job here.
/// Cost     O(log nodes) for a start; O(jobs on the node) for each node on which something changed;
///          when a GPU job lacks cores everywhere, O(CPU jobs on loan).
#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/room_set.h"
#include "policy/desk.h"
#include "policy/pass/user_queues.h"

namespace almanac::policy {
namespace {

using cluster::Demand;
using cluster::Grant;
using cluster::RoomSet;

constexpr std::int32_t kCore = 1000;

/// A CPU job on a node.
struct Tenant {
  JobId job{};
  std::int32_t cpu_milli = 0;
};

struct ArrayNode {
  std::int32_t array = 0;       // cores/1000 of the CPU array
  std::int32_t used = 0;        // by CPU jobs
  std::vector<Tenant> tenants;  // CPU jobs, oldest first
  bool lends() const { return used > array; }
};

/// The arrays of one virtual cluster.
struct Book {
  Book(std::uint32_t count, const UserQueues::Totals& gpu, const UserQueues::Totals& cpu)
      : gpu_jobs(gpu), cpu_jobs(cpu), nodes(count), own(count), idle(count), right(count) {}

  UserQueues gpu_jobs;
  UserQueues cpu_jobs;
  std::uint32_t first = 0;
  std::vector<ArrayNode> nodes;
  RoomSet own;                      // cores idle in the CPU array
  RoomSet idle;                     // cores idle
  RoomSet right;                    // cores of the CPU array that no CPU job has
  std::set<std::uint32_t> lending;  // members whose CPU jobs hold more than their array
};

class ArraysPass final : public Pass {
 public:
  ArraysPass(Desk& desk, double reserve_cpus)
      : desk_(desk), reserve_milli_(cluster::cpu_milli(reserve_cpus)) {}

  void arrived(VcState& vc, JobId job) override {
    queue_of(book(vc.vc), job).insert(user(job), desk_.least(job), place_of(job));
  }

  void ended(VcState& vc, JobId job) override { leave(book(vc.vc), job); }

  void capacity_changed(VcState& vc) override {
    Book& own = book(vc.vc);
    for (std::uint32_t member = 0; member < own.nodes.size(); ++member) file(own, member);
    for (UserQueues* queue : {&own.gpu_jobs, &own.cpu_jobs}) {
      queue->wake([](const Demand&) { return true; });
    }
  }

  void run(VcState& vc) override {
    Book& own = book(vc.vc);
    const std::size_t stops = desk_.plan().stops.size();
    for (const NodeId node : desk_.touched) {
      if (desk_.view().cluster.nodes[index(node)].vc == vc.vc) look_at(own, node);
    }
    for (JobId job = own.gpu_jobs.next(); job != kNoJob; job = own.gpu_jobs.next()) {
      if (!start_gpu_job(vc, own, job)) own.gpu_jobs.sleep();
    }
    for (JobId job = own.cpu_jobs.next(); job != kNoJob; job = own.cpu_jobs.next()) {
      if (!start_cpu_job(vc, own, job)) own.cpu_jobs.sleep();
    }
    // Whoever was stopped may fit elsewhere.
    if (desk_.plan().stops.size() > stops) desk_.plan().wake(desk_.now());
  }

  Reason refused(const VcState&, JobId job, const Reason& reason) const override {
    const auto evicted = evicted_by_.find(job);
    if (evicted == evicted_by_.end()) return reason;
    return {.kind = ReasonKind::reclaimed, .other = evicted->second};
  }

  Reason blocker(const VcState& vc, JobId job) const override {
    const Book& own = *books_[index(vc.vc)];
    const UserQueues& queue = is_cpu_job(job) ? own.cpu_jobs : own.gpu_jobs;
    return {.kind = ReasonKind::behind, .other = queue.next_of(desk_.least(job))};
  }

 private:
  bool is_cpu_job(JobId job) const { return desk_.view().request(job).gpus == 0; }
  NameId user(JobId job) const { return desk_.view().request(job).user; }
  UserQueues& queue_of(Book& own, JobId job) const {
    return is_cpu_job(job) ? own.cpu_jobs : own.gpu_jobs;
  }
  UserQueues::Place place_of(JobId job) const {
    const QueueKey key = desk_.key(job);
    return {key.rank, key.tie, job};
  }
  static NodeId node_of(const Book& own, std::uint32_t member) {
    return NodeId{own.first + member};
  }
  static std::uint32_t member_of(const Book& own, NodeId node) {
    return static_cast<std::uint32_t>(index(node)) - own.first;
  }

  Book& book(VcId vc) {
    if (books_.size() <= index(vc)) books_.resize(index(vc) + 1);
    if (!books_[index(vc)]) books_[index(vc)] = open(vc);
    return *books_[index(vc)];
  }

  std::unique_ptr<Book> open(VcId vc) {
    const cluster::Cluster& machines = desk_.view().cluster;
    const cluster::VirtualCluster& owner = machines.vcs[index(vc)];
    UserQueues::Totals gpu{};
    UserQueues::Totals cpu{};
    std::vector<std::int32_t> arrays;
    for (std::uint32_t offset = 0; offset < owner.num_nodes; ++offset) {
      const cluster::Node& node = machines.nodes[index(owner.first) + offset];
      const cluster::NodeClass& make = machines.classes[node.node_class];
      const std::int32_t all = make.cpus > 0 ? cluster::cpu_milli(make.cpus) : cluster::kUnbounded;
      const std::int32_t reserved = std::min(all, reserve_milli_ * make.gpus);
      arrays.push_back(all - reserved);
      gpu[0] += make.gpus;
      gpu[1] += reserved;
      cpu[1] += all - reserved;
      cpu[2] += cluster::memory_mb(make.memory_gb);
    }
    auto made = std::make_unique<Book>(owner.num_nodes, gpu, cpu);
    made->first = static_cast<std::uint32_t>(index(owner.first));
    for (std::uint32_t member = 0; member < owner.num_nodes; ++member) {
      made->nodes[member].array = arrays[member];
      file(*made, member);
    }
    return made;
  }

  /// Brings what is known of a node up to date.
  void file(Book& own, std::uint32_t member) {
    const ArrayNode& node = own.nodes[member];
    const cluster::Amount room = desk_.ledger().room(node_of(own, member));
    const std::int32_t right = node.array - node.used;
    own.idle.insert(member, {room.cpu_milli, room.memory_mb});
    own.own.insert(member, {std::min(right, room.cpu_milli), room.memory_mb});
    own.right.insert(member, {right, room.memory_mb});
    if (node.lends()) {
      own.lending.insert(member);
    } else {
      own.lending.erase(member);
    }
  }

  /// Something has changed on a node: who might start there?
  void look_at(Book& own, NodeId node) {
    const std::uint32_t member = member_of(own, node);
    ArrayNode& here = own.nodes[member];
    here.used = 0;
    for (Tenant& tenant : here.tenants) {
      for (const Grant& grant : desk_.grants(tenant.job)) {
        if (grant.node == node) tenant.cpu_milli = grant.cpu_milli;
      }
      here.used += tenant.cpu_milli;
    }
    file(own, member);
    const cluster::Amount room = desk_.ledger().room(node);
    const std::int32_t lent = here.lends() ? here.used : 0;
    own.gpu_jobs.wake([&](const Demand& least) {
      return room.gpus > 0 && room.cpu_milli + lent >= least.cpu_milli;
    });
    const std::int32_t right = std::max(room.cpu_milli, here.array - here.used);
    own.cpu_jobs.wake([&](const Demand& least) {
      return right >= least.cpu_milli && room.memory_mb >= least.memory_mb;
    });
  }

  /// Takes a job out of the books of those that run.
  void leave(Book& own, JobId job) {
    queue_of(own, job).use(user(job), desk_.demand(job), -1);
    if (!is_cpu_job(job)) return;
    for (const Grant& grant : desk_.view().grants(job)) {
      ArrayNode& node = own.nodes[member_of(own, grant.node)];
      std::erase_if(node.tenants, [&](const Tenant& each) { return each.job == job; });
      desk_.touched.push_back(grant.node);
    }
  }

  void start(VcState& vc, Book& own, JobId job, std::span<const Grant> grants) {
    UserQueues& queue = queue_of(own, job);
    queue.erase(user(job), desk_.least(job), place_of(job));
    queue.use(user(job), desk_.demand(job), +1);
    evicted_by_.erase(job);
    desk_.start(vc, job, grants);
    for (const Grant& grant : grants) file(own, member_of(own, grant.node));
  }

  bool start_cpu_job(VcState& vc, Book& own, JobId job) {
    const Demand& demand = desk_.demand(job);
    const std::size_t before = desk_.ledger().mark();
    grants_.clear();
    bool fits = true;
    for (int task = 0; fits && task < demand.tasks; ++task) fits = take_task(own, demand);
    if (!fits) desk_.ledger().undo(before);
    for (const Grant& grant : grants_) {
      const std::uint32_t member = member_of(own, grant.node);
      ArrayNode& node = own.nodes[member];
      if (fits) {
        node.tenants.push_back({job, grant.cpu_milli});
      } else {
        node.used -= grant.cpu_milli;
        file(own, member);
      }
    }
    if (fits) start(vc, own, job, grants_);
    return fits;
  }

  bool take_task(Book& own, const Demand& demand) {
    const std::uint32_t member = roomiest(own, demand);
    if (member == RoomSet::kNone) return false;
    const Grant taken = desk_.ledger().take(node_of(own, member), demand.of(1));
    const auto same = std::find_if(grants_.begin(), grants_.end(),
                                   [&](const Grant& each) { return each.node == taken.node; });
    if (same == grants_.end()) {
      grants_.push_back(taken);
    } else {
      same->cpu_milli += taken.cpu_milli;
      same->memory_mb += taken.memory_mb;
    }
    own.nodes[member].used += taken.cpu_milli;
    file(own, member);
    return true;
  }

  std::uint32_t roomiest(Book& own, const Demand& demand) {
    const RoomSet::Room wanted{demand.cpu_milli, demand.memory_mb};
    std::uint32_t member = own.own.roomiest(wanted);
    if (member == RoomSet::kNone) member = own.idle.roomiest(wanted);
    // A job of several tasks may yet find no place for all, and resizes are not taken back.
    if (member != RoomSet::kNone || desk_.size() == nullptr || demand.tasks > 1) return member;
    member = own.right.roomiest(wanted);
    if (member == RoomSet::kNone) return member;
    const bool made_room =
        desk_.size()->give_up(node_of(own, member), demand.cpu_milli, kCore, desk_);
    return made_room ? member : RoomSet::kNone;
  }

  bool start_gpu_job(VcState& vc, Book& own, JobId job) {
    const Demand demand = desk_.demand(job);
    if (desk_.ledger().free_gpus(vc.vc) < demand.gpus) return false;
    auto placed = desk_.place(vc.vc, demand);
    if (placed.empty()) placed = take_back_loans(vc, own, job, demand);
    if (placed.empty()) return false;
    grants_.assign(placed.begin(), placed.end());
    if (grants_.size() == 1) make_room(vc, own, job, demand.cpu_milli, grants_[0]);
    start(vc, own, job, grants_);
    return true;
  }

  /// Places a GPU job after stopping CPU jobs on loan; empty = changed nothing.
  std::span<const Grant> take_back_loans(VcState& vc, Book& own, JobId job, const Demand& demand) {
    const std::size_t before = desk_.ledger().mark();
    victims_.clear();
    for (const std::uint32_t member : own.lending) {
      const ArrayNode& node = own.nodes[member];
      if (desk_.ledger().free_on(node_of(own, member)) == 0) continue;
      std::int32_t used = node.used;
      for (auto youngest = node.tenants.rbegin();
           youngest != node.tenants.rend() && used > node.array; ++youngest) {
        if (!runs(youngest->job)) continue;
        used -= youngest->cpu_milli;
        if (std::find(victims_.begin(), victims_.end(), youngest->job) != victims_.end()) continue;
        victims_.push_back(youngest->job);
        desk_.give_back(youngest->job);
      }
    }
    if (victims_.empty()) return {};
    const auto placed = desk_.place(vc.vc, demand);
    if (placed.empty()) {
      desk_.ledger().undo(before);
      return {};
    }
    // Those that are not in the way go on, oldest first.
    std::sort(victims_.begin(), victims_.end(), [&](JobId a, JobId b) {
      return std::pair(desk_.view().progress(a).since, a) <
             std::pair(desk_.view().progress(b).since, b);
    });
    for (const JobId victim : victims_) {
      const auto held = desk_.grants(victim);
      const bool in_the_way = std::any_of(held.begin(), held.end(), [&](const Grant& grant) {
        return !desk_.ledger().can_take(grant);
      });
      if (in_the_way) {
        evict(vc, own, victim, job);
      } else {
        for (const Grant& grant : held) desk_.ledger().take(grant);
      }
    }
    return placed;
  }

  /// Stops a CPU job for `job`; what it held is given back already.
  void evict(VcState& vc, Book& own, JobId victim, JobId job) {
    leave(own, victim);
    for (const Grant& grant : desk_.view().grants(victim)) {
      const std::uint32_t member = member_of(own, grant.node);
      own.nodes[member].used = 0;
      for (const Tenant& each : own.nodes[member].tenants) {
        own.nodes[member].used += each.cpu_milli;
      }
      file(own, member);
    }
    evicted_by_[victim] = job;
    desk_.stop(vc, victim);
  }

  /// Finds up to `each` cores/1000 for each GPU of a job that starts on one node: idle ones, those
  /// on loan, those of GPU jobs that have more.
  void make_room(VcState& vc, Book& own, JobId job, std::int32_t each, Grant& grant) {
    const ArrayNode& node = own.nodes[member_of(own, grant.node)];
    const std::int32_t wanted = each * grant.count();
    const std::int32_t kept = std::min(wanted, reserve_milli_ * grant.count());
    while (grant.cpu_milli + idle(grant.node) < kept && node.lends()) {
      const auto youngest = std::find_if(node.tenants.rbegin(), node.tenants.rend(),
                                         [&](const Tenant& tenant) { return runs(tenant.job); });
      if (youngest == node.tenants.rend()) break;
      const JobId victim = youngest->job;
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

  std::int32_t idle(NodeId node) const { return desk_.ledger().room(node).cpu_milli; }
  bool runs(JobId job) const { return desk_.view().progress(job).phase == Phase::running; }

  Desk& desk_;
  std::int32_t reserve_milli_;
  std::vector<std::unique_ptr<Book>> books_;     // of each virtual cluster
  std::unordered_map<JobId, JobId> evicted_by_;  // CPU jobs that wait since
  std::vector<Grant> grants_;
  std::vector<JobId> victims_;
};

}  // namespace

std::unique_ptr<Pass> make_arrays_pass(Desk& desk, double reserve_cpus) {
  return std::make_unique<ArraysPass>(desk, reserve_cpus);
}

}  // namespace almanac::policy
