// SPDX-License-Identifier: Apache-2.0

/// \file
/// Pollux: chooses GPUs and nodes of elastic jobs by a genetic search for the best mean of their
/// goodputs (rules/elastic/genetic_search.h), and batch sizes by goodput. Only a job's reports
/// count; a job without reports is assumed to be twice as fast on twice the GPUs.
///
/// Source   Qiao et al., OSDI'21 (Pollux), section 4; 4.2.1 for the exponent of fairness, which is
///          -1 in the published program.
/// Differs  A job's fair share counts on as few nodes as hold it; in the published program, on one
///          node. Reallocates on events, and at each interval only while a job waits; the published
///          program does so at each interval.
/// Cost     10,000 matrices per reallocation; about 20 ms with 20 jobs and 16 nodes
#include <algorithm>
#include <map>
#include <numeric>

#include "policy/kit/elastic_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/genetic_search.h"

namespace almanac::policy::whole {
namespace {

class Pollux final : public ElasticAllocator {
 public:
  Pollux(std::unique_ptr<Placement> placement, const Parameters& told)
      : ElasticAllocator(std::move(placement), told.duration("every_s"),
                         ReportedSpeeds::Pool::of_job),
        most_gpus_(told.whole("most_gpus")),
        fairness_(told.number("fairness")),
        avoids_interference_(told.word("spread_jobs") == "apart") {}

 private:
  void deal(std::span<const Elastic> jobs, const Room& room, const View& view,
            std::vector<Wish>& wishes) override {
    std::vector<Elastic> rows(jobs.begin(), jobs.end());
    const auto served = [&](const Elastic& job) {
      return view.attained(job.job) * std::max(1, job.held_gpus);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Elastic& a, const Elastic& b) { return served(a) < served(b); });
    const elastic::SearchProblem problem = state_problem(rows, room, view);
    elastic::SearchResult found =
        elastic::search(problem, remembered(rows, room, problem), view.rng);
    const elastic::GpuMatrix& chosen = found.front[found.best];
    const std::size_t nodes = room.nodes.size();
    on_.assign(rows.size(), {});
    int left = room.gpus;
    const std::size_t before = wishes.size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Wish wish{.job = rows[row].job};
      for (std::size_t node = 0; node < nodes; ++node) {
        const int gpus = chosen[row * nodes + node];
        if (gpus > 0) on_[row].push_back({room.nodes[node].node, gpus});
        wish.gpus += gpus;
      }
      // Jobs that are not elastic may be about to take some.
      if (wish.gpus == 0 || wish.gpus > left) continue;
      left -= wish.gpus;
      wish.on = on_[row];
      if (speeds.knows(wish.job)) {
        const elastic::Goodput best =
            speeds.best(wish.job, static_cast<int>(on_[row].size()), wish.gpus);
        wish.config.batch = wish.gpus * best.split.local_batch();
      }
      wishes.push_back(wish);
    }
    // What a job that waits is worth grows with its age: nothing in the moment in which it comes.
    if (wishes.size() < before + rows.size()) deal_by(view.now + every(), view);
    remember(rows, room, std::move(found.front));
  }

  elastic::SearchProblem state_problem(const std::vector<Elastic>& rows, const Room& room,
                                       const View& view) {
    const std::size_t nodes = room.nodes.size();
    elastic::SearchProblem problem{.nodes = static_cast<int>(nodes),
                                   .gpus_per_node = room.per_node,
                                   .fairness = fairness_,
                                   .avoids_interference = avoids_interference_,
                                   .present = elastic::GpuMatrix(rows.size() * nodes, 0)};
    for (const NodeGpus& each : room.nodes) problem.capacity.push_back(each.gpus);
    const int count = static_cast<int>(rows.size());
    const int fair = std::max(1, (room.gpus + count - 1) / count);
    std::vector<double> base;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const Elastic& job = rows[row];
      const bool is_known = speeds.knows(job.job);
      const double age_s = seconds(view.now - view.request(job.job).submit);
      const double lost_s = job.restart_s * view.progress(job.job).preemptions;
      problem.jobs.push_back(
          {.most_gpus = std::min(
               {is_known ? std::max(2 * speeds.most_gpus(job.job), 1) : 1, most_gpus_, job.most}),
           .restart_factor = std::max(age_s - lost_s, 0.0) / (age_s + job.restart_s + 1e-9)});
      base.push_back(is_known ? speeds.best(job.job, room.nodes_of(fair), fair).value : fair);
      if (job.held_gpus == 0) continue;
      for (const cluster::Grant& grant : view.grants(job.job)) {
        const auto at = std::find_if(room.nodes.begin(), room.nodes.end(),
                                     [&](const NodeGpus& each) { return each.node == grant.node; });
        if (at == room.nodes.end()) continue;
        const auto node = static_cast<std::size_t>(at - room.nodes.begin());
        problem.present[row * nodes + node] = static_cast<std::uint8_t>(grant.count());
      }
    }
    problem.speedup = [this, rows, base = std::move(base)](std::size_t row, int on, int gpus) {
      const JobId job = rows[row].job;
      const double value = speeds.knows(job) ? speeds.best(job, on, gpus).value : gpus;
      return base[row] > 0 ? value / base[row] : 0;
    };
    return problem;
  }

  /// Returns the last front for the present jobs and nodes, or the present allocation.
  std::vector<elastic::GpuMatrix> remembered(const std::vector<Elastic>& rows, const Room& room,
                                             const elastic::SearchProblem& problem) const {
    std::vector<elastic::GpuMatrix> made;
    const std::size_t nodes = room.nodes.size();
    for (const elastic::GpuMatrix& last : last_front_) {
      elastic::GpuMatrix& matrix = made.emplace_back(rows.size() * nodes, std::uint8_t{0});
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto last_row = last_rows_.find(rows[row].job);
        if (last_row == last_rows_.end()) continue;
        for (std::size_t node = 0; node < nodes; ++node) {
          const auto last_node = last_nodes_.find(room.nodes[node].node);
          if (last_node == last_nodes_.end()) continue;
          matrix[row * nodes + node] =
              last[last_row->second * last_nodes_.size() + last_node->second];
        }
      }
    }
    if (made.empty()) made.push_back(problem.present);
    return made;
  }

  void remember(const std::vector<Elastic>& rows, const Room& room,
                std::vector<elastic::GpuMatrix> front) {
    last_front_ = std::move(front);
    last_rows_.clear();
    last_nodes_.clear();
    for (std::size_t row = 0; row < rows.size(); ++row) last_rows_[rows[row].job] = row;
    for (std::size_t at = 0; at < room.nodes.size(); ++at) last_nodes_[room.nodes[at].node] = at;
  }

  int most_gpus_;
  double fairness_;
  bool avoids_interference_;
  std::vector<elastic::GpuMatrix> last_front_;
  std::map<JobId, std::size_t> last_rows_;
  std::map<NodeId, std::size_t> last_nodes_;
  std::vector<std::vector<NodeGpus>> on_;  // of the wishes of the last deal
};

}  // namespace

void register_pollux(Registry& registry) {
  registry.wholes.add(
      {.name = "pollux",
       .summary = "elastic: GPUs, nodes and batch sizes for the best mean goodput",
       .source = "Qiao et al. OSDI'21",
       .traits = {.has = {Trait::reads_training, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus}},
       .parameters = {number("every_s", "shortest time between two reallocations", 60, 1, 1e6),
                      whole_number("most_gpus", "most GPUs of a job", 64, 1, 4096),
                      word("spread_jobs", "whether jobs on several nodes may share a node",
                           {"apart", "anywhere"}),
                      number("fairness",
                             "exponent of the power mean of speedups; 1: plain mean, lower: fairer",
                             -1, -20, 1)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Pollux>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
