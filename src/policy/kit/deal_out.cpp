// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/deal_out.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "policy/kit/deal_out/node_split.h"
#include "policy/kit/size_choices.h"

namespace almanac::policy {
namespace {

/// What a move must bring, in throughput: the dearest restart is 60 s of work, a fifth of a lease
/// of 300 s.
constexpr double kWorthMoving = 0.2;
/// Nodes that a job tries to move to, and moves that are tried in a lease.
constexpr std::size_t kNodesTried = 4;
constexpr int kMovesTried = 128;

constexpr std::size_t kNowhere = ~std::size_t{0};

/// GPUs of a job on a node.
struct Piece {
  std::size_t job;
  int gpus;
};

struct PackNode {
  NodeId id{};
  std::uint64_t gpu_type = 0;
  int free_gpus = 0;
  cluster::Amount room{};    // of all that is placed here and will be
  cluster::Amount least{};   // that those take with their least choices
  cluster::Amount wished{};  // that they wish
  std::vector<Piece> pieces{};
};

cluster::Amount amount_of(const SizeChoice& choice, int gpus) {
  return cluster::Amount{1, static_cast<std::int32_t>(choice.cpu_milli),
                         static_cast<std::int32_t>(choice.memory_mb)} *
         gpus;
}

bool has_room(const cluster::Amount& room, const cluster::Amount& taken,
              const cluster::Amount& more) {
  return room.cpu_milli - taken.cpu_milli >= more.cpu_milli &&
         room.memory_mb - taken.memory_mb >= more.memory_mb;
}

/// How much of a node is missing for `more`, as a part of it.
double missing(const PackNode& node, const cluster::Amount& more) {
  const auto part = [](std::int64_t room, std::int64_t wished, std::int64_t want) {
    const std::int64_t lacks = wished + want - room;
    return lacks <= 0
               ? 0.0
               : static_cast<double>(lacks) / static_cast<double>(std::max<std::int64_t>(room, 1));
  };
  return part(node.room.cpu_milli, node.wished.cpu_milli, more.cpu_milli) +
         part(node.room.memory_mb, node.wished.memory_mb, more.memory_mb);
}

class Packer {
 public:
  Packer(std::span<PackedJob> jobs, VcId vc, cluster::Ledger& ledger)
      : jobs_(jobs), ledger_(ledger), home_(jobs.size(), kNowhere), stays_(jobs.size(), false) {
    std::size_t first = kNowhere;
    std::size_t last = 0;
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      for (const NodeId id : pool.nodes) {
        first = std::min(first, index(id));
        last = std::max(last, index(id));
      }
    }
    if (first == kNowhere) return;
    std::vector<std::size_t> at(last - first + 1, kNowhere);
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      for (const NodeId id : pool.nodes) {
        const cluster::Amount room = ledger.room(id);
        if (room.gpus == 0) continue;
        at[index(id) - first] = nodes_.size();
        nodes_.push_back(
            {.id = id, .gpu_type = pool.gpu_type, .free_gpus = room.gpus, .room = room});
      }
    }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      // One that another policy started may hold less than its least, and there be no more.
      const auto holds_least = [&](const cluster::Grant& grant) {
        const PackNode& node = nodes_[at[index(grant.node) - first]];
        return has_room(node.room, node.least, least_of(job, grant.count()));
      };
      const auto held = jobs_[job].held;
      stays_[job] = !held.empty() && std::all_of(held.begin(), held.end(), holds_least);
      if (!stays_[job]) continue;
      for (const cluster::Grant& grant : held) {
        put(job, at[index(grant.node) - first], grant.count());
      }
    }
  }

  void run() {
    place_new();
    values_.assign(nodes_.size(), std::nullopt);
    improve();
    deal_out();
  }

 private:
  /// Nodes of a job, and its GPUs on each.
  using Parts = std::vector<std::pair<std::size_t, int>>;

  bool single(std::size_t job) const { return home_[job] != kNowhere; }
  /// What `gpus` GPUs of a job wish for; on several nodes only the least.
  cluster::Amount wish_of(std::size_t job, int gpus) const {
    const PackedJob& of = jobs_[job];
    const bool whole = gpus == of.gpus;
    return amount_of(of.choices->all[whole ? of.wish : of.choices->least], gpus);
  }
  cluster::Amount least_of(std::size_t job, int gpus) const {
    return amount_of(jobs_[job].choices->all[jobs_[job].choices->least], gpus);
  }

  void put(std::size_t job, std::size_t node, int gpus) {
    PackNode& here = nodes_[node];
    here.pieces.push_back({job, gpus});
    here.free_gpus -= gpus;
    here.least += least_of(job, gpus);
    here.wished += wish_of(job, gpus);
    if (gpus == jobs_[job].gpus) home_[job] = node;
  }
  void take_away(std::size_t job, std::size_t node) {
    PackNode& here = nodes_[node];
    const auto piece = std::find_if(here.pieces.begin(), here.pieces.end(),
                                    [&](const Piece& each) { return each.job == job; });
    here.free_gpus += piece->gpus;
    here.least -= least_of(job, piece->gpus);
    here.wished -= wish_of(job, piece->gpus);
    here.pieces.erase(piece);
    home_[job] = kNowhere;
  }

  bool takes(const PackNode& node, std::size_t job, int gpus) const {
    return node.free_gpus >= gpus && (node.gpu_type & jobs_[job].gpu_types) != 0 &&
           has_room(node.room, node.least, least_of(job, gpus));
  }

  /// Jobs that do not stay, those of most GPUs first, since they are the hardest to place.
  void place_new() {
    std::vector<std::size_t> wait;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!stays_[job]) wait.push_back(job);
    }
    std::stable_sort(wait.begin(), wait.end(), [&](std::size_t a, std::size_t b) {
      if (jobs_[a].gpus != jobs_[b].gpus) return jobs_[a].gpus > jobs_[b].gpus;
      return wish_of(a, jobs_[a].gpus).cpu_milli > wish_of(b, jobs_[b].gpus).cpu_milli;
    });
    for (const std::size_t job : wait) {
      const std::size_t node = best_node(job);
      node != kNowhere ? put(job, node, jobs_[job].gpus) : spread(job);
    }
  }

  std::size_t best_node(std::size_t job) const {
    const int gpus = jobs_[job].gpus;
    const cluster::Amount wish = wish_of(job, gpus);
    std::size_t best = kNowhere;
    double least_missing = 0;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (!takes(nodes_[node], job, gpus)) continue;
      const double lacks = missing(nodes_[node], wish);
      const bool better =
          best == kNowhere || lacks < least_missing ||
          (lacks == least_missing && nodes_[node].free_gpus < nodes_[best].free_gpus);
      if (!better) continue;
      best = node;
      least_missing = lacks;
    }
    return best;
  }

  /// Spreads the job over as few nodes as possible. One with NVLink groups gets them in one domain
  /// if any has room for all, else only if the nodes happen to make whole groups.
  void spread(std::size_t job) {
    if (jobs_[job].nvlink_gpus == 0) return put_all(job, parts_on(job, kNoNode));
    std::set<NodeId> domains;
    for (const PackNode& node : nodes_) domains.insert(ledger_.domain(node.id));
    for (const NodeId domain : domains) {
      const Parts parts = parts_on(job, domain);
      if (!parts.empty()) return put_all(job, parts);
    }
    const Parts parts = parts_on(job, kNoNode);
    std::vector<cluster::Grant> grants;
    for (const auto& [node, gpus] : parts) {
      grants.push_back({.node = nodes_[node].id, .gpus = ~cluster::GpuMask{0} >> (64 - gpus)});
    }
    if (ledger_.in_domains(grants, jobs_[job].nvlink_gpus)) put_all(job, parts);
  }

  void put_all(std::size_t job, const Parts& parts) {
    for (const auto& [node, gpus] : parts) put(job, node, gpus);
  }

  /// Returns the nodes for the job, those with the most free GPUs first, of one NVLink domain or of
  /// all (kNoNode), with the GPUs on each; empty if they have no room.
  Parts parts_on(std::size_t job, NodeId domain) const {
    Parts parts;
    std::vector<bool> used(nodes_.size(), false);
    int left = jobs_[job].gpus;
    while (left > 0) {
      std::size_t best = kNowhere;
      int most = 0;
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (used[node]) continue;
        if (domain != kNoNode && ledger_.domain(nodes_[node].id) != domain) continue;
        int here = std::min(left, nodes_[node].free_gpus);
        while (here > most && !takes(nodes_[node], job, here)) --here;
        if (here <= most) continue;
        best = node;
        most = here;
      }
      if (best == kNowhere) return {};
      used[best] = true;
      parts.emplace_back(best, most);
      left -= most;
    }
    return parts;
  }

  /// Deals out a node to the jobs that are wholly on it.
  double split(std::size_t node) {
    const PackNode& here = nodes_[node];
    cluster::Amount room = here.room;
    split_.clear();
    for (const Piece& piece : here.pieces) {
      if (single(piece.job)) {
        split_.push_back({.choices = jobs_[piece.job].choices, .gpus = piece.gpus});
      } else {
        room -= least_of(piece.job, piece.gpus);
      }
    }
    return split_node(split_, room);
  }
  double value(std::size_t node) {
    if (!values_[node]) values_[node] = split(node);
    return *values_[node];
  }
  double wished_value(std::size_t node) const {
    double sum = 0;
    for (const Piece& piece : nodes_[node].pieces) {
      if (single(piece.job)) sum += wished_throughput(piece.job);
    }
    return sum;
  }
  double wished_throughput(std::size_t job) const {
    return jobs_[job].choices->all[jobs_[job].wish].throughput;
  }

  double cost_of_moving(std::size_t job) const {
    return jobs_[job].held.empty() ? 0 : kWorthMoving;
  }

  struct Move {
    std::size_t job = kNowhere;
    std::size_t to = kNowhere;
    std::size_t back = kNowhere;  // the job that comes back for it; kNowhere = a free GPU is there
    double gain = 0;
  };

  void improve() {
    std::vector<bool> done(nodes_.size(), false);
    int tries = kMovesTried;
    while (tries > 0) {
      std::size_t from = kNowhere;
      double unmet = kWorthMoving;
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (done[node]) continue;
        const double here = wished_value(node) - value(node);
        if (here <= unmet) continue;
        unmet = here;
        from = node;
      }
      if (from == kNowhere) return;
      const Move best = best_move(from, tries);
      if (best.job == kNowhere) {
        done[from] = true;
        continue;
      }
      make(best, from);
      values_[from].reset();
      values_[best.to].reset();
    }
  }

  Move best_move(std::size_t from, int& tries) {
    Move best;
    const std::size_t job = most_unmet(from);
    if (job == kNowhere) return best;
    for (const std::size_t to : roomiest(from, job)) {
      std::vector<std::size_t> back;
      if (takes(nodes_[to], job, jobs_[job].gpus)) back.push_back(kNowhere);
      const std::size_t other = least_wishing(to, job);
      if (other != kNowhere && can_change(job, from, other, to)) back.push_back(other);
      for (const std::size_t comes : back) {
        if (tries-- <= 0) return best;
        const Move move{job, to, comes, gain_of({job, to, comes, 0}, from)};
        if (move.gain > best.gain) best = move;
      }
    }
    return best;
  }

  /// Whether both nodes still have room for the minimum of all their jobs after the exchange.
  bool can_change(std::size_t a, std::size_t from, std::size_t b, std::size_t to) const {
    const cluster::Amount of_a = least_of(a, jobs_[a].gpus);
    const cluster::Amount of_b = least_of(b, jobs_[b].gpus);
    return has_room(nodes_[from].room, nodes_[from].least - of_a, of_b) &&
           has_room(nodes_[to].room, nodes_[to].least - of_b, of_a);
  }

  double gain_of(const Move& move, std::size_t from) {
    const double before = value(from) + value(move.to);
    make(move, from);
    const double after = split(from) + split(move.to);
    make({move.job, from, move.back, 0}, move.to);
    double cost = cost_of_moving(move.job);
    if (move.back != kNowhere) cost += cost_of_moving(move.back);
    return after - before - cost;
  }

  void make(const Move& move, std::size_t from) {
    take_away(move.job, from);
    if (move.back != kNowhere) {
      take_away(move.back, move.to);
      put(move.back, from, jobs_[move.back].gpus);
    }
    put(move.job, move.to, jobs_[move.job].gpus);
  }

  /// Returns the job, wholly on `node`, that gets the smallest fraction of what it wants.
  std::size_t most_unmet(std::size_t node) {
    split(node);
    std::size_t found = kNowhere;
    double most = 0;
    std::size_t at = 0;
    for (const Piece& piece : nodes_[node].pieces) {
      if (!single(piece.job)) continue;
      const NodeJob& part = split_[at++];
      const double unmet = wished_throughput(piece.job) - part.choices->all[part.choice].throughput;
      if (unmet <= most) continue;
      most = unmet;
      found = piece.job;
    }
    return found;
  }

  /// Other nodes of GPUs that serve `job`, those first that lack least.
  std::vector<std::size_t> roomiest(std::size_t from, std::size_t job) const {
    std::vector<std::pair<std::int64_t, std::size_t>> spare;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (node == from || (nodes_[node].gpu_type & jobs_[job].gpu_types) == 0) continue;
      spare.emplace_back(nodes_[node].wished.cpu_milli - nodes_[node].room.cpu_milli, node);
    }
    const std::size_t count = std::min(kNodesTried, spare.size());
    std::partial_sort(spare.begin(), spare.begin() + static_cast<std::ptrdiff_t>(count),
                      spare.end());
    std::vector<std::size_t> nodes;
    for (std::size_t at = 0; at < count; ++at) nodes.push_back(spare[at].second);
    return nodes;
  }

  /// The job wholly on `node`, of as many GPUs as `job`, that wishes for least and less than it.
  std::size_t least_wishing(std::size_t node, std::size_t job) const {
    const int gpus = jobs_[job].gpus;
    std::size_t found = kNowhere;
    std::int32_t least = wish_of(job, gpus).cpu_milli;
    for (const Piece& piece : nodes_[node].pieces) {
      const bool serves = piece.gpus == gpus && single(piece.job) &&
                          (nodes_[home_[job]].gpu_type & jobs_[piece.job].gpu_types) != 0;
      if (!serves) continue;
      const std::int32_t wish = wish_of(piece.job, gpus).cpu_milli;
      if (wish >= least) continue;
      least = wish;
      found = piece.job;
    }
    return found;
  }

  void deal_out() {
    std::vector<std::size_t> choice(jobs_.size());
    std::vector<cluster::Amount> left(nodes_.size());
    std::vector<std::vector<Piece>> of_job(jobs_.size());  // Piece::job is the node here
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      split(node);
      left[node] = nodes_[node].room;
      std::size_t at = 0;
      for (const Piece& piece : nodes_[node].pieces) {
        of_job[piece.job].push_back({node, piece.gpus});
        choice[piece.job] =
            single(piece.job) ? split_[at++].choice : jobs_[piece.job].choices->least;
        left[node] -= amount_of(jobs_[piece.job].choices->all[choice[piece.job]], piece.gpus);
      }
    }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (!single(job) && !of_job[job].empty()) choice[job] = widen(job, of_job[job], left);
    }
    take(choice, of_job);
  }

  /// Returns the best choice of a job on several nodes for which each node has room left.
  std::size_t widen(std::size_t job, std::span<const Piece> pieces,
                    std::vector<cluster::Amount>& left) const {
    const JobChoices& choices = *jobs_[job].choices;
    std::size_t best = choices.least;
    for (std::size_t choice = 0; choice < choices.all.size(); ++choice) {
      if (choices.all[choice].throughput <= choices.all[best].throughput) continue;
      const bool fits = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return has_room(left[piece.job] + least_of(job, piece.gpus), {},
                        amount_of(choices.all[choice], piece.gpus));
      });
      if (fits) best = choice;
    }
    for (const Piece& piece : pieces) {
      left[piece.job] += least_of(job, piece.gpus);
      left[piece.job] -= amount_of(choices.all[best], piece.gpus);
    }
    return best;
  }

  /// A job that stays takes its own GPUs first.
  void take(std::span<const std::size_t> choice, std::span<const std::vector<Piece>> of_job) {
    std::vector<std::size_t> others;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      PackedJob& made = jobs_[job];
      const bool stays =
          stays_[job] && (!single(job) || nodes_[home_[job]].id == made.held.front().node);
      if (!stays) {
        others.push_back(job);
        continue;
      }
      for (cluster::Grant grant : made.held) {
        const cluster::Amount each = amount_of(made.choices->all[choice[job]], grant.count());
        grant.cpu_milli = each.cpu_milli;
        grant.memory_mb = each.memory_mb;
        ledger_.take(grant);
        made.grants.push_back(grant);
      }
    }
    for (const std::size_t job : others) {
      for (const Piece& piece : of_job[job]) {
        cluster::Amount amount = amount_of(jobs_[job].choices->all[choice[job]], piece.gpus);
        amount.gpus = piece.gpus;
        jobs_[job].grants.push_back(ledger_.take(nodes_[piece.job].id, amount));
      }
    }
  }

  std::span<PackedJob> jobs_;
  cluster::Ledger& ledger_;
  std::vector<PackNode> nodes_;
  std::vector<std::size_t> home_;  // of each job, where it is on one node only
  std::vector<bool> stays_;        // of jobs that run: where they are
  std::vector<std::optional<double>> values_;
  std::vector<NodeJob> split_;
};

/// Whether a job holds what it requests and has no other choice.
bool has_all_it_asks(const PackedJob& job) {
  const auto holds_choice = [&](const cluster::Grant& grant) {
    const cluster::Amount asked = amount_of(job.choices->all.front(), grant.count());
    return grant.cpu_milli == asked.cpu_milli && grant.memory_mb == asked.memory_mb;
  };
  return job.choices->all.size() == 1 && !job.held.empty() &&
         std::all_of(job.held.begin(), job.held.end(), holds_choice);
}

}  // namespace

void pack(std::span<PackedJob> jobs, VcId vc, cluster::Ledger& ledger) {
  if (!std::all_of(jobs.begin(), jobs.end(), has_all_it_asks)) {
    return Packer(jobs, vc, ledger).run();
  }
  for (PackedJob& job : jobs) {
    for (const cluster::Grant& grant : job.held) ledger.take(grant);
    job.grants.assign(job.held.begin(), job.held.end());
  }
}

}  // namespace almanac::policy
