// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/genetic_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "rules/elastic/pareto.h"

namespace almanac::elastic {
namespace {

constexpr std::size_t kPopulation = 100;
constexpr int kGenerations = 100;  // the first one is what the search starts from
constexpr int kMostIdleTries = 3;  // to fill a generation with matrices that are new, in a row
constexpr double kCrossover = 0.9;
constexpr double kBackToPresent = 0.1;
constexpr double kThinnedRow = 0.1;
constexpr double kThinnedEntry = 0.1;
constexpr std::size_t kPlacesANode = 16;  // of speed-ups that are remembered of a job
constexpr int kNodesApart = 37;  // places between equal GPUs on one node more; odd, so that all
                                 // count

std::size_t digest(const GpuMatrix& matrix) {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(matrix.data()), matrix.size()});
}

/// Makes matrices out of others.
class Operators {
 public:
  Operators(const SearchProblem& problem, Rng& random)
      : problem_(problem),
        random_(random),
        jobs_(problem.jobs.size()),
        nodes_(static_cast<std::size_t>(problem.nodes)),
        order_(nodes_),
        capacity_(problem.capacity) {
    if (capacity_.empty()) capacity_.assign(nodes_, problem.gpus_per_node);
  }

  /// Swaps the rows before a cut.
  void cross(GpuMatrix& a, GpuMatrix& b) {
    const auto cut = static_cast<std::ptrdiff_t>(random_.below(jobs_) * nodes_);
    std::swap_ranges(a.begin(), a.begin() + cut, b.begin());
  }

  void mutate(GpuMatrix& matrix) {
    for (std::size_t job = 0; job < jobs_; ++job) {
      std::uint8_t* const row = matrix.data() + job * nodes_;
      if (random_.uniform() < kBackToPresent) {
        std::copy_n(problem_.present.data() + job * nodes_, nodes_, row);
      }
      if (random_.uniform() >= kThinnedRow) continue;
      for (std::size_t node = 0; node < nodes_; ++node) {
        if (random_.uniform() < kThinnedEntry) row[node] = 0;
      }
    }
    grow(matrix);
  }

  /// Removes allocations that the rules forbid.
  void repair(GpuMatrix& matrix) {
    if (problem_.avoids_interference) part_spread_jobs(matrix);
    left_ = capacity_;
    for (std::size_t job = 0; job < jobs_; ++job) {
      std::uint8_t* const row = matrix.data() + job * nodes_;
      cap(row, job);
      for (std::size_t node = 0; node < nodes_; ++node) {
        const int kept = std::min<int>(row[node], left_[node]);
        row[node] = static_cast<std::uint8_t>(kept);
        left_[node] -= kept;
      }
    }
  }

 private:
  /// True with a probability, in 65,536 parts; four answers a number drawn.
  bool happens(std::uint32_t parts) {
    if (bits_left_ == 0) {
      bits_ = random_.next();
      bits_left_ = 64;
    }
    const auto drawn = static_cast<std::uint32_t>(bits_ & 0xffff);
    bits_ >>= 16;
    bits_left_ -= 16;
    return drawn < parts;
  }

  /// Draws new entries of nodes with free GPUs, between the old value and all GPUs of the node.
  void grow(GpuMatrix& matrix) {
    const double any = 1.0 / static_cast<double>(jobs_);
    const auto parts = [](double probability) {
      return static_cast<std::uint32_t>(std::lround(probability * 65'536));
    };
    left_ = capacity_;
    present_.assign(nodes_, 0);
    for (std::size_t job = 0; job < jobs_; ++job) {
      const std::uint8_t* const row = matrix.data() + job * nodes_;
      for (std::size_t node = 0; node < nodes_; ++node) {
        left_[node] -= row[node];
        present_[node] += row[node] > 0 ? 1 : 0;
      }
    }
    for (std::size_t node = 0; node < nodes_; ++node) {
      if (left_[node] <= 0) continue;
      const double among_present = present_[node] > 0 ? 1.0 / present_[node] : 0;
      const std::uint32_t where_present = parts(any + among_present - any * among_present);
      const std::uint32_t elsewhere = parts(any);
      for (std::size_t job = 0; job < jobs_; ++job) {
        std::uint8_t& entry = matrix[job * nodes_ + node];
        if (!happens(entry > 0 ? where_present : elsewhere)) continue;
        entry = static_cast<std::uint8_t>(
            entry + random_.below(static_cast<std::uint64_t>(capacity_[node] - entry) + 1));
      }
    }
  }

  /// The first job that is spread over nodes keeps each of them.
  void part_spread_jobs(GpuMatrix& matrix) {
    taken_.assign(nodes_, 0);
    for (std::size_t job = 0; job < jobs_; ++job) {
      std::uint8_t* const row = matrix.data() + job * nodes_;
      if (nodes_ - static_cast<std::size_t>(std::count(row, row + nodes_, 0)) < 2) continue;
      for (std::size_t node = 0; node < nodes_; ++node) {
        if (row[node] == 0) continue;
        if (taken_[node] != 0) row[node] = 0;
        taken_[node] = 1;
      }
    }
  }

  /// Removes GPUs of random nodes until the job has at most its maximum.
  void cap(std::uint8_t* row, std::size_t job) {
    int left = problem_.jobs[job].most_gpus;
    int gpus = 0;
    for (std::size_t node = 0; node < nodes_; ++node) gpus += row[node];
    if (gpus <= left) return;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t at = nodes_; at > 1; --at)
      std::swap(order_[at - 1], order_[random_.below(at)]);
    for (const std::size_t node : order_) {
      row[node] = static_cast<std::uint8_t>(std::min<int>(row[node], left));
      left -= row[node];
    }
  }

  const SearchProblem& problem_;
  Rng& random_;
  std::size_t jobs_;
  std::size_t nodes_;
  std::vector<std::size_t> order_;
  std::vector<char> taken_;
  std::vector<int> capacity_;
  std::vector<int> left_;
  std::vector<int> present_;
  std::uint64_t bits_ = 0;
  int bits_left_ = 0;
};

struct Individual {
  GpuMatrix matrix{};
  Objectives objectives{};
  Standing standing{};
};

class Evolution {
 public:
  Evolution(const SearchProblem& problem, std::vector<GpuMatrix> first, Rng& random)
      : random_(random), operators_(problem, random), evaluate_(problem) {
    for (GpuMatrix& each : first) {
      operators_.repair(each);
      add(std::move(each), people_);
    }
    stand(people_);
  }

  void breed() {
    const std::size_t parents = people_.size();
    std::vector<Individual> children;
    for (int idle = 0; children.size() < kPopulation && idle < kMostIdleTries;) {
      const std::size_t before = children.size();
      const std::size_t wanted = kPopulation - before;
      for (std::size_t pair = 0; 2 * pair < wanted; ++pair) {
        GpuMatrix a = people_[winner(parents)].matrix;
        GpuMatrix b = people_[winner(parents)].matrix;
        if (random_.uniform() < kCrossover) operators_.cross(a, b);
        for (GpuMatrix* each : {&a, &b}) {
          if (children.size() == kPopulation) break;
          operators_.mutate(*each);
          operators_.repair(*each);
          add(std::move(*each), children);
        }
      }
      idle = children.size() > before ? 0 : idle + 1;
    }
    for (Individual& child : children) people_.push_back(std::move(child));
    survive();
  }

  SearchResult result() && {
    SearchResult made;
    double least = std::numeric_limits<double>::infinity();
    for (Individual& each : people_) {
      if (each.standing.rank > 0) continue;
      if (each.objectives[0] < least) {
        least = each.objectives[0];
        made.best = made.front.size();
      }
      made.front.push_back(std::move(each.matrix));
    }
    return made;
  }

 private:
  /// Unless it is among the people or their children already.
  void add(GpuMatrix matrix, std::vector<Individual>& to) {
    if (!known_.insert(digest(matrix)).second) return;
    Individual made{.matrix = std::move(matrix)};
    made.objectives = evaluate_(made.matrix);
    to.push_back(std::move(made));
  }

  void stand(std::vector<Individual>& people) {
    std::vector<Objectives> objectives;
    for (const Individual& each : people) objectives.push_back(each.objectives);
    const std::vector<Standing> standings = rank_and_crowd(objectives);
    for (std::size_t at = 0; at < people.size(); ++at) people[at].standing = standings[at];
  }

  void survive() {
    stand(people_);
    std::stable_sort(people_.begin(), people_.end(), [](const Individual& a, const Individual& b) {
      return a.standing.beats(b.standing);
    });
    if (people_.size() > kPopulation) people_.resize(kPopulation);
    known_.clear();
    for (const Individual& each : people_) known_.insert(digest(each.matrix));
  }

  /// Returns the better of two random parents.
  std::size_t winner(std::size_t parents) {
    const auto a = static_cast<std::size_t>(random_.below(parents));
    const auto b = static_cast<std::size_t>(random_.below(parents));
    return people_[b].standing.beats(people_[a].standing) ? b : a;
  }

  Rng& random_;
  Operators operators_;
  Evaluator evaluate_;
  std::vector<Individual> people_;
  std::unordered_set<std::size_t> known_;
};

}  // namespace

Evaluator::Evaluator(const SearchProblem& problem)
    : problem_(problem),
      places_(std::bit_ceil(kPlacesANode * static_cast<std::size_t>(std::max(1, problem.nodes)))),
      known_(problem.jobs.size() * places_) {}

double Evaluator::speedup(std::size_t job, int nodes, int gpus) {
  if (gpus == 0) return 0;
  const auto place = static_cast<std::size_t>(gpus + nodes * kNodesApart) & (places_ - 1);
  Known& known = known_[job * places_ + place];
  if (known.nodes != nodes || known.gpus != gpus) {
    known = {.nodes = nodes, .gpus = gpus, .speedup = problem_.speedup(job, nodes, gpus)};
  }
  return known.speedup;
}

Objectives Evaluator::operator()(const GpuMatrix& matrix) {
  const auto nodes = static_cast<std::size_t>(problem_.nodes);
  const double scale = 1.0 / problem_.gpus_per_node;  // a speed-up of one node counts as 1
  std::uint64_t used = 0;
  const double power = problem_.fairness;
  double powers = 0;
  double sum = 0;
  std::vector<char> is_used(nodes, 0);
  for (std::size_t job = 0; job < problem_.jobs.size(); ++job) {
    const std::uint8_t* const row = matrix.data() + job * nodes;
    int gpus = 0;
    int on = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      gpus += row[node];
      on += row[node] > 0 ? 1 : 0;
      if (row[node] > 0) is_used[node] = 1;
    }
    const double speed = speedup(job, on, gpus);
    const bool moves = !std::equal(row, row + nodes, problem_.present.data() + job * nodes);
    const double factor = moves ? problem_.jobs[job].restart_factor : 1;
    const double share = speed * scale * factor + 1e-3;
    powers += power == -1 ? 1 / share : power == 0 ? std::log(share) : std::pow(share, power);
    sum += speed;
  }
  used = static_cast<std::uint64_t>(std::count(is_used.begin(), is_used.end(), 1));
  const auto jobs = static_cast<double>(problem_.jobs.size());
  const double mean = power == -1  ? jobs / powers
                      : power == 0 ? std::exp(powers / jobs)
                                   : std::pow(powers / jobs, 1 / power);
  const double gpus = static_cast<double>(used) * problem_.gpus_per_node;
  return {-mean, used > 0 ? -sum / gpus : 0};
}

SearchResult search(const SearchProblem& problem, std::vector<GpuMatrix> first, Rng& random) {
  Evolution evolution(problem, std::move(first), random);
  for (int generation = 1; generation < kGenerations; ++generation) evolution.breed();
  return std::move(evolution).result();
}

}  // namespace almanac::elastic
