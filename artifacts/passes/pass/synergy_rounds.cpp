// SPDX-License-Identifier: Apache-2.0

/// \file
/// The rounds of Synergy's artifact, kept with their faults, so that its results can be had to the
/// digit (`--profile synergy`): the other pass of leases, lease.cpp, is what it should be.
///
///   all jobs let go at the end of a lease, and all are placed anew, GPU by GPU from the first on
///   remaining time counts at the speed of the last lease, or the best if the job did not run
///   FTF runs the least unfair first; LAS tries the first jobs that fill the GPUs by count only
///   TUNE takes from neighbours in turn until the need is covered, also from those with nothing to
///   give; then they are at their proportional share
///   a job that has not run for 1,000 hours goes first
///
/// Source   Mohan et al., OSDI'22; github.com/msr-fiddle/synergy (MIT), simulator/schedulers and
///          simulator/resources/cluster.py.
/// Differs  OPT is placed, where the artifact only adds up: on one node of all GPUs, which is how
///          its results are had, that is the same. Of a job whose best size does not fit on one
///          node the artifact guesses the speed by a straight line; here it is what the table says.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "policy/kit/best_mix.h"
#include "policy/kit/leased_pass.h"
#include "policy/kit/size_choices.h"
#include "policy/registry.h"
#include "policy/size/share.h"

namespace almanac::policy {
namespace {

constexpr Duration kForgotten = 1000h;
/// Its profiles say 20 GB of models whose tables begin at a third of the proportional share, 20.83
/// GB.
constexpr std::int64_t kLeastMemoryMb = 20'000;
/// Cores of a GPU, and memory in thirds of the proportional share, that its tables know.
constexpr std::array<std::int64_t, 9> kTableCores{1, 2, 3, 4, 5, 6, 9, 12, 24};
constexpr std::array<std::int64_t, 5> kTableThirds{1, 3, 6, 9, 12};

/// Cores and memory, of a GPU or of all.
struct Beside {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mb = 0;

  bool covers(const Beside& other) const {
    return cpu_milli >= other.cpu_milli && memory_mb >= other.memory_mb;
  }
  bool empty() const { return cpu_milli <= 0 && memory_mb <= 0; }
  Beside operator*(int times) const { return {cpu_milli * times, memory_mb * times}; }
  /// What of it `other` leaves uncovered.
  Beside without(const Beside& other) const {
    return {std::max<std::int64_t>(0, cpu_milli - other.cpu_milli),
            std::max<std::int64_t>(0, memory_mb - other.memory_mb)};
  }
  void add(const Beside& other, int sign) {
    cpu_milli += sign * other.cpu_milli;
    memory_mb += sign * other.memory_mb;
  }
  bool operator==(const Beside&) const = default;
};

struct Server {
  NodeId id{};
  int gpus = 0;
  Beside free{};
  std::vector<std::size_t> jobs{};  // in the order that the artifact keeps
};

struct RoundJob {
  JobId job{};
  int gpus = 0;
  bool runs = false;
  double rank = 0;
  Beside demand{};  // of a GPU
  double speedup = 1;
  Beside gets{};                                  // of a GPU
  std::vector<std::pair<std::size_t, int>> on{};  // servers and GPUs there
};

class SynergyRounds final : public LeasedPass {
 public:
  SynergyRounds(Desk& desk, const Parameters& told)
      : LeasedPass(desk, told.duration("lease_s"), told.duration("phase_s")),
        order_(told.word("order")),
        size_(told.word("size")) {}

 private:
  void renew(VcState& vc) override {
    gather(vc);
    for (const RoundJob& job : jobs_) {
      if (job.runs) desk_.give_back(job.job);
    }
    open_servers(vc.vc);
    allocate();
    make_plan(vc);
    for (const JobId job : cpu_jobs_) {
      const auto grants = desk_.place(vc.vc, desk_.demand(job));
      if (!grants.empty()) desk_.start(vc, job, grants);
    }
  }

  void gather(const VcState& vc) {
    jobs_.clear();
    cpu_jobs_.clear();
    share_ = beside(size::share_of_gpu(desk_.view().cluster, vc.vc));
    for (const WaitingQueue::Class& each : vc.waiting.classes()) {
      for (RankedQueue::Cursor at(each.jobs); at.get() != nullptr; at.advance()) {
        add(at.get()->job, false);
      }
    }
    for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
      add(at.get()->job, true);
    }
    std::sort(jobs_.begin(), jobs_.end(), [&](const RoundJob& a, const RoundJob& b) {
      const bool first_a = order_ != "fifo" && forgotten_.contains(a.job);
      const bool first_b = order_ != "fifo" && forgotten_.contains(b.job);
      if (first_a != first_b) return first_a;
      return a.rank != b.rank ? a.rank < b.rank : a.job < b.job;  // ids are in order of arrival
    });
    slowed_.clear();
  }

  static Beside beside(const cluster::Amount& amount) {
    return {amount.cpu_milli, amount.memory_mb};
  }

  void add(JobId id, bool runs) {
    const View& view = desk_.view();
    if (view.request(id).gpus == 0) {  // of which the artifact knows none: they take what is left
      if (!runs) cpu_jobs_.push_back(id);
      return;
    }
    const JobChoices& choices = choices_.of(id, view);
    const SizeChoice& best = choices.all[choices.best];
    RoundJob job{.job = id,
                 .gpus = view.request(id).gpus,
                 .runs = runs,
                 .demand = {best.cpu_milli, best.memory_mb},
                 .speedup = size_ == "proportional" ? 1 : best.throughput};
    if (job.demand.memory_mb < share_.memory_mb) job.demand.memory_mb = kLeastMemoryMb;
    job.rank = rank_of(job);
    const Time last = runs ? desk_.now() : last_run(id);
    if (runs) last_run_[id] = last;
    if (desk_.now() - last > kForgotten) forgotten_.insert(id);
    jobs_.push_back(std::move(job));
  }

  Time last_run(JobId job) const {
    const auto known = last_run_.find(job);
    return known == last_run_.end() ? desk_.view().request(job).submit : known->second;
  }

  double rank_of(const RoundJob& job) const {
    const Candidate seen = desk_.candidate(job.job);
    const double submit = seconds(seen.request.submit);
    const double speed = slowed_.contains(job.job) ? 1 : job.speedup;
    const double left = std::max(0.0, seconds(seen.believed - seen.worked)) / speed;
    if (order_ == "srtf") return left;
    if (order_ == "las") return seconds(seen.attained) * job.gpus;
    if (order_ == "ftf") {
      const double alone = seconds(std::max(seen.believed, Duration{1}));
      return (seconds(desk_.now()) - submit + left) / alone;
    }
    if (order_ == "drf" || order_ == "tetris") {
      const cluster::Cluster& all = desk_.view().cluster;
      double gpus = 0;
      double cpus = 0;
      double memory_gb = 0;
      for (const cluster::Node& node : all.nodes) {
        gpus += all.classes[node.node_class].gpus;
        cpus += all.classes[node.node_class].cpus;
        memory_gb += all.classes[node.node_class].memory_gb;
      }
      const Beside wants = job.demand * job.gpus;
      const double of_gpus = job.gpus / gpus;
      const double of_cpus = static_cast<double>(wants.cpu_milli) / 1e3 / cpus;
      const double of_memory = static_cast<double>(wants.memory_mb) / 1e3 / memory_gb;
      if (order_ == "drf") return std::max({of_gpus, of_cpus, of_memory});
      return of_gpus * left + of_cpus * left + of_memory * left;
    }
    return submit;
  }

  void open_servers(VcId vc) {
    servers_.clear();
    free_gpus_ = 0;
    for (const cluster::Pool& pool : desk_.ledger().pools(vc)) {
      for (const NodeId node : pool.nodes) {
        const cluster::Amount room = desk_.ledger().room(node);
        servers_.push_back({.id = node, .gpus = room.gpus, .free = beside(room)});
        free_gpus_ += room.gpus;
      }
    }
    std::sort(servers_.begin(), servers_.end(),
              [](const Server& a, const Server& b) { return a.id < b.id; });
  }

  void allocate() {
    std::vector<std::size_t> tried;
    const bool first_ones = order_ == "las" || size_ == "opt";
    int left = free_gpus_;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (first_ones && jobs_[job].gpus > left) continue;
      left -= jobs_[job].gpus;
      tried.push_back(job);
    }
    if (size_ == "opt") return give_best_mix(tried);
    if (order_ == "las" && size_ == "tune") {
      std::stable_sort(tried.begin(), tried.end(),
                       [&](std::size_t a, std::size_t b) { return jobs_[a].gpus > jobs_[b].gpus; });
    }
    for (const std::size_t job : tried) {
      if (free_gpus_ < jobs_[job].gpus) continue;
      if (size_ == "tune") {
        tune(job);
      } else {
        place(job, size_ == "greedy" ? jobs_[job].demand : share_);
      }
    }
  }

  /// First fit, GPU by GPU; false = changed nothing.
  bool place(std::size_t job, const Beside& unit) {
    RoundJob& made = jobs_[job];
    int left = made.gpus;
    std::vector<std::pair<std::size_t, int>> on;
    for (std::size_t at = 0; at < servers_.size() && left > 0; ++at) {
      int here = 0;
      while (here < std::min(left, servers_[at].gpus) &&
             servers_[at].free.covers(unit * (here + 1))) {
        ++here;
      }
      if (here == 0) continue;
      on.emplace_back(at, here);
      left -= here;
    }
    if (left > 0) return false;
    made.on = std::move(on);
    made.gets = unit;
    count(made, -1);
    for (const auto& [server, gpus] : made.on) servers_[server].jobs.push_back(job);
    return true;
  }

  void count(const RoundJob& job, int sign) {
    for (const auto& [server, gpus] : job.on) {
      servers_[server].gpus += sign * gpus;
      servers_[server].free.add(job.gets * gpus, sign);
      free_gpus_ += sign * gpus;
    }
  }

  void tune(std::size_t job) {
    Beside unit = jobs_[job].demand;
    if (place(job, unit)) return;
    if (!share_.covers(unit)) {
      unit = share_;
      slowed_.insert(jobs_[job].job);
    }
    if (place(job, unit)) return;
    for (const auto& [server, gpus] : least_used(jobs_[job].gpus)) {
      for (const std::size_t victim : victims(server, unit * gpus)) give_share(victim);
    }
    place(job, unit);
  }

  /// Servers with `gpus` free GPUs together.
  std::vector<std::pair<std::size_t, int>> least_used(int gpus) const {
    std::vector<std::pair<int, std::size_t>> by_free;
    for (std::size_t at = 0; at < servers_.size(); ++at) {
      if (gpus > 1 && servers_[at].gpus >= gpus) return {{at, gpus}};
      if (servers_[at].gpus > 0) by_free.emplace_back(servers_[at].gpus, at);
    }
    std::sort(by_free.begin(), by_free.end());
    std::vector<std::pair<std::size_t, int>> found;
    for (const auto& [free, at] : by_free) {
      if (gpus <= 0) break;
      found.emplace_back(at, std::min(free, gpus));
      gpus -= free;
    }
    return found;
  }

  std::vector<std::size_t> victims(std::size_t server, const Beside& wanted) {
    Beside need = wanted.without(servers_[server].free);
    if (need.empty()) return {};
    std::vector<std::size_t>& here = servers_[server].jobs;
    std::stable_sort(here.begin(), here.end(), [&](std::size_t a, std::size_t b) {
      const RoundJob& one = jobs_[a];
      const RoundJob& other = jobs_[b];
      if (one.on.size() != other.on.size()) return one.on.size() < other.on.size();
      if (one.gets.cpu_milli != other.gets.cpu_milli) {
        return one.gets.cpu_milli > other.gets.cpu_milli;
      }
      return one.gets.memory_mb > other.gets.memory_mb;
    });
    std::vector<std::size_t> found;
    for (const std::size_t job : here) {
      found.push_back(job);
      const auto on = std::find_if(jobs_[job].on.begin(), jobs_[job].on.end(),
                                   [&](const auto& each) { return each.first == server; });
      need = need.without(jobs_[job].gets.without(share_) * on->second);
      if (need.empty()) break;
    }
    return found;
  }

  void give_share(std::size_t job) {
    RoundJob& made = jobs_[job];
    count(made, +1);
    made.gets = share_.covers(made.demand) ? made.demand : share_;
    if (!share_.covers(made.demand)) slowed_.insert(made.job);
    count(made, -1);
  }

  bool is_in_table(const SizeChoice& choice) const {
    const bool cores = std::any_of(kTableCores.begin(), kTableCores.end(), [&](std::int64_t known) {
      return choice.cpu_milli == known * 1000;
    });
    return cores && std::any_of(kTableThirds.begin(), kTableThirds.end(), [&](std::int64_t thirds) {
             return std::abs(choice.memory_mb - share_.memory_mb * thirds / 3) <= thirds;
           });
  }

  void give_best_mix(std::span<const std::size_t> tried) {
    std::vector<JobKind> kinds;
    std::map<const JobChoices*, std::size_t> number;
    std::map<std::pair<std::size_t, int>, std::size_t> kind_of;
    std::vector<std::vector<std::size_t>> of_kind;
    for (const std::size_t job : tried) {
      const JobChoices* const choices = &choices_.of(jobs_[job].job, desk_.view());
      const std::size_t known = number.try_emplace(choices, number.size()).first->second;
      const auto [kind, is_new] = kind_of.try_emplace({known, jobs_[job].gpus}, kinds.size());
      if (is_new) {
        of_kind.emplace_back();
        kinds.emplace_back();
        for (SizeChoice choice : choices->all) {
          if (!is_in_table(choice)) continue;
          choice.cpu_milli *= jobs_[job].gpus;
          choice.memory_mb *= jobs_[job].gpus;
          kinds.back().choices.push_back(choice);
        }
      }
      ++kinds[kind->second].jobs;
      of_kind[kind->second].push_back(job);
    }
    Beside pool;
    for (const Server& server : servers_) pool.add(server.free, +1);
    const auto mix = best_mix(kinds, pool.cpu_milli, pool.memory_mb);
    if (!mix) return;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      std::size_t next = 0;
      for (std::size_t choice = (*mix)[kind].size(); choice-- > 0;) {
        for (int times = 0; times < (*mix)[kind][choice]; ++times) {
          const std::size_t job = of_kind[kind][next++];
          const SizeChoice& given = kinds[kind].choices[choice];
          place(job, {given.cpu_milli / jobs_[job].gpus, given.memory_mb / jobs_[job].gpus});
        }
      }
    }
  }

  void make_plan(VcState& vc) {
    for (RoundJob& job : jobs_) {
      held_.clear();
      for (const auto& [server, gpus] : job.on) {
        const Beside all = job.gets * gpus;
        held_.push_back(desk_.ledger().take(servers_[server].id,
                                            {gpus, static_cast<std::int32_t>(all.cpu_milli),
                                             static_cast<std::int32_t>(all.memory_mb)}));
      }
      if (job.runs && held_.empty()) {
        desk_.stop(vc, job.job);
      } else if (job.runs) {
        desk_.move(job.job, held_);
      } else if (!held_.empty()) {
        desk_.start(vc, job.job, held_);
      }
    }
  }

  std::string order_;
  std::string size_;
  SizeChoices choices_;
  Beside share_{};
  std::vector<RoundJob> jobs_;
  std::vector<JobId> cpu_jobs_;
  std::vector<Server> servers_;
  int free_gpus_ = 0;
  std::unordered_set<JobId> slowed_;  // in the last lease, by having been brought to that share
  std::unordered_map<JobId, Time> last_run_;
  std::unordered_set<JobId> forgotten_;
  std::vector<cluster::Grant> held_;
};

}  // namespace

namespace published {

void register_synergy_rounds(Registry& registry) {
  registry.passes.add({.name = "synergy_rounds",
                       .summary = "the leases of Synergy's simulator, with their faults",
                       .source = "Mohan et al. OSDI'22 artifact",
                       .traits = {.has = {Trait::reads_run_times, Trait::reads_speeds,
                                          Trait::stops_jobs, Trait::moves_jobs,
                                          Trait::chooses_cores, Trait::leases, Trait::keeps_line},
                                  .bars = {Trait::revises_waiting}},
                       .parameters = {number("lease_s", "length of a lease", 300, 1, 1e9),
                                      number("phase_s", "when the first lease begins", 0, 0, 1e9),
                                      word("order", "how the jobs of a lease are ranked",
                                           {"fifo", "srtf", "las", "ftf", "drf", "tetris"}),
                                      word("size", "what each is given",
                                           {"proportional", "greedy", "tune", "opt"})}},
                      [](const Parameters& told, Desk& desk) {
                        return std::make_unique<SynergyRounds>(desk, told);
                      });
}

}  // namespace published
}  // namespace almanac::policy
