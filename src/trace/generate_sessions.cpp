// SPDX-License-Identifier: Apache-2.0
#include "trace/generate_sessions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "base/rng.h"
#include "stats/alias.h"
#include "stats/even_ranks.h"
#include "stats/normal.h"
#include "trace/generate_limit.h"
#include "trace/generate_names.h"

namespace almanac::trace {
namespace {

constexpr std::int64_t kLongestSession = 1000;

/// The place of one recipe of one user; its versions follow each other.
struct Slot {
  std::int64_t version = -1;
  std::uint32_t recipe = 0;  // the present version, in MadeJobs::recipes
  float latent = 0;          // of the recipe
  float version_latent = 0;
  float phase = 0;  // so that not all recipes change on the same day
};

/// A user submits one recipe `length` times, from `even` on.
struct Session {
  double even = 0;
  std::int32_t length = 1;
};

/// Standard deviations of what adds up to the normal score of a run time.
struct Parts {
  explicit Parts(const Workload::Recipe& parts)
      : user(std::sqrt(parts.user_part)),
        recipe(std::sqrt(parts.recipe_part)),
        version(std::sqrt(parts.version_part)),
        session(std::sqrt(parts.session_part)),
        run(std::sqrt(std::max(0.0, 1 - parts.user_part - parts.recipe_part - parts.version_part -
                                        parts.session_part))) {}
  double user, recipe, version, session, run;
};

class Filler {
 public:
  Filler(const Setting& setting, const PlanCell& cell, Names& names, MadeJobs& made)
      : in_(setting),
        cell_(cell),
        size_(setting.plan.sizes[cell.size]),
        names_(names),
        out_(made),
        rng_(setting.seed, (std::uint64_t{cell.vc} << 32) | cell.size),
        parts_(setting.workload.recipe),
        first_user_(setting.users.bounds[cell.vc]),
        users_(user_weights(setting, cell)),
        slots_(static_cast<std::size_t>(setting.users.bounds[cell.vc + 1] - first_user_) *
               per_size()),
        first_job_(made.jobs.size()),
        first_recipe_(made.recipes.size()),
        span_s_(setting.workload.span.days * 86400) {}

  void fill() {
    scores_.reserve(static_cast<std::size_t>(cell_.jobs));
    make_lengths();
    double at = 0;
    for (Session& session : sessions_) session.even = at += rng_.exponential();
    at += rng_.exponential();
    for (Session& session : sessions_) {
      session.even /= at;
      run_recipe(session);
    }
    set_runs();
    set_times();
  }

 private:
  std::size_t per_size() const { return static_cast<std::size_t>(in_.workload.recipe.per_size); }

  static stats::Alias user_weights(const Setting& in, const PlanCell& cell) {
    // Sizes are told apart by their logarithm; three doublings from 8 GPUs are one unit of taste.
    // CPU jobs are to the taste of every user.
    const auto gpus = static_cast<double>(in.plan.sizes[cell.size].gpus);
    const double steep = gpus > 0 ? in.workload.user.size_spread * std::log2(gpus / 8) / 3 : 0;
    std::vector<double> weights;
    for (std::uint32_t i = in.users.bounds[cell.vc]; i < in.users.bounds[cell.vc + 1]; ++i) {
      const MadeUser& user = in.users.users[i];
      weights.push_back(user.activity * std::exp(steep * user.taste));
    }
    return stats::Alias(weights);
  }

  /// Makes sessions whose lengths sum to the jobs of the cell.
  void make_lengths() {
    for (std::int64_t left = cell_.jobs; left > 0;) {
      const double pareto = std::pow(1 - rng_.uniform(), -1 / in_.workload.session.tail);
      const std::int64_t most = std::min(left, kLongestSession);
      const std::int64_t length =
          pareto < static_cast<double>(most) ? static_cast<std::int64_t>(pareto) : most;
      sessions_.push_back({.length = static_cast<std::int32_t>(length)});
      left -= length;
    }
  }

  /// Decides whose recipe the session submits, and the scores of its jobs.
  void run_recipe(const Session& session) {
    const std::size_t user = users_.draw(rng_);
    // The square makes the first recipes of a user the popular ones.
    const double choice = rng_.uniform();
    const auto which = static_cast<std::size_t>(choice * choice * static_cast<double>(per_size()));
    const Slot& slot = present(user, which, session.even);
    const double base = centre(user, slot) + parts_.session * stats::normal_draw(rng_);
    for (std::int32_t i = 0; i < session.length; ++i) add_job(slot.recipe, base);
  }

  void set_runs() {
    std::visit([this](const auto& runs) { set_runs(runs); }, size_.runs);
  }

  /// Turns scores into ranks and gives each rank its part of the run time curve: the cell as a
  /// whole follows the curve, and carries the GPU time that the plan wants.
  template <typename Curve>
  void set_runs(const Curve& runs) {
    const auto count = static_cast<double>(cell_.jobs);
    const stats::EvenRanks rank(scores_);
    const auto run_s = [&](float score) {
      const double below = std::floor(rank(score));
      return static_cast<std::uint32_t>(runs.mean_between(below / count, (below + 1) / count));
    };
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      out_.jobs[first_job_ + i].run_s = run_s(scores_[i]);
    }
    for (std::size_t i = 0; i < centres_.size(); ++i) {
      const std::int64_t typical = runs.quantile(rank(centres_[i]) / count);
      out_.recipes[first_recipe_ + i].limit_s = ask_limit(in_.workload.limit, typical, rng_);
    }
    if (!in_.with_possible_runs) return;
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      out_.possible.push_back(possible_runs(out_.jobs[first_job_ + i], bases_[i], run_s));
    }
  }

  /// Returns the run times that agree with the time limit of a job of this `base`.
  template <typename RunOfScore>
  std::vector<std::uint32_t> possible_runs(const MadeJob& job, double base,
                                           const RunOfScore& run_s) const {
    constexpr int kDraws = 2000;
    constexpr std::size_t kMost = 200;
    const std::uint32_t usual = out_.recipes[job.recipe].limit_s;
    const std::uint32_t limit = usual == 0 ? 0 : std::max(usual, round_limit(job.run_s));
    const std::array<std::pair<double, double>, 3> endings = {
        {{size_.completed, 0},
         {size_.cancelled, in_.workload.ending.cancelled},
         {1 - size_.completed - size_.cancelled, in_.workload.ending.failed}}};
    std::vector<std::uint32_t> all;
    for (const auto& [share, earlier] : endings) {
      const auto draws = static_cast<int>(std::lround(share * kDraws));
      for (int i = 0; i < draws; ++i) {
        const double draw = parts_.run * stats::normal_quantile((i + 0.5) / draws);
        const std::uint32_t run = run_s(static_cast<float>(base + draw - earlier));
        if (usual == 0 || std::max(usual, round_limit(run)) == limit) all.push_back(run);
      }
    }
    // The run is less likely than all draws, and the limit is what is known of it.
    if (all.empty()) return {limit};
    std::sort(all.begin(), all.end());
    const std::size_t kept = std::min(all.size(), kMost);
    std::vector<std::uint32_t> made;
    for (std::size_t i = 0; i < kept; ++i)
      made.push_back(all[(2 * i + 1) * all.size() / (2 * kept)]);
    return made;
  }

  /// Submits the jobs of each session one after the other.
  void set_times() {
    auto job = out_.jobs.begin() + static_cast<std::ptrdiff_t>(first_job_);
    for (const Session& session : sessions_) {
      double even = session.even;
      for (std::int32_t i = 0; i < session.length; ++i, ++job) {
        if (i > 0) even = next_time(even, *(job - 1));
        job->second = in_.calendar.second(even);
      }
    }
  }

  /// When the job after `before`, which was submitted at `even`, follows.
  double next_time(double even, const MadeJob& before) {
    const Workload::Session& habit = in_.workload.session;
    const bool serial = rng_.uniform() < habit.serial;
    if (!serial && rng_.uniform() < habit.together) return even;
    if (serial) even = after_end(before);
    // In even time: thinking takes longer at night.
    even += habit.gap_s * std::exp(habit.gap_spread * stats::normal_draw(rng_)) / span_s_;
    return even - std::floor(even);
  }

  /// When the user sees that `before` has ended: at once, unless it ends when fewer people are at
  /// work than were there to submit it; then at some time of the next day. (A Metropolis step: it
  /// keeps the rhythm, which waiting would wash out.)
  double after_end(const MadeJob& before) {
    const auto begin = static_cast<double>(before.second);
    const double end = begin + before.run_s;
    const double even = in_.calendar.even(end);
    if (rng_.uniform() * in_.calendar.rate(begin) <= in_.calendar.rate(end)) return even;
    return even + rng_.uniform() * 86400 / span_s_;
  }

  double centre(std::size_t user, const Slot& slot) const {
    return parts_.user * in_.users.users[first_user_ + user].latent +
           parts_.recipe * static_cast<double>(slot.latent) +
           parts_.version * static_cast<double>(slot.version_latent);
  }

  /// The slot with the version of its recipe that is in use at `even`.
  const Slot& present(std::size_t user, std::size_t which, double even) {
    const std::size_t at = user * per_size() + which;
    Slot& slot = slots_[at];
    if (slot.version < 0) {
      slot.latent = static_cast<float>(stats::normal_draw(rng_));
      slot.phase = static_cast<float>(9 * rng_.uniform());
    }
    const double life = in_.workload.recipe.version_days * 86400;
    const double age = life > 0 ? even * span_s_ / life : 0;
    const auto version = static_cast<std::int64_t>(static_cast<double>(slot.phase) + age);
    if (version == slot.version) return slot;
    slot.version = version;
    slot.version_latent = static_cast<float>(stats::normal_draw(rng_));
    slot.recipe = static_cast<std::uint32_t>(out_.recipes.size());
    const std::uint64_t place = ((std::uint64_t{first_user_} + user) * 64 + which) * 64;
    const std::uint64_t stem = (in_.seed ^ place) + cell_.size;
    // All versions of a recipe ask the same.
    const Asks asks = in_.asks.draw(size_, Rng(in_.seed, ~(place + cell_.size)));
    const std::string name = size_.gpus == 0 ? cpu_job_name(stem, version)
                             : asks.model    ? job_name(stem, version, asks.model->name)
                                             : job_name(stem, version);
    out_.recipes.push_back({.user = static_cast<std::uint32_t>(first_user_ + user),
                            .vc = cell_.vc,
                            .size = cell_.size,
                            .name = names_.intern(name),
                            .asks = asks});
    centres_.push_back(static_cast<float>(centre(user, slot)));
    return slot;
  }

  void add_job(std::uint32_t recipe, double base) {
    const double lot = rng_.uniform();
    MadeJob job{.recipe = recipe, .sequence = static_cast<std::uint32_t>(out_.jobs.size())};
    double score = base + parts_.run * stats::normal_draw(rng_);
    if (lot >= size_.completed + size_.cancelled) {
      job.state = JobState::failed;
      score -= in_.workload.ending.failed;
    } else if (lot >= size_.completed) {
      job.state = JobState::cancelled;
      score -= in_.workload.ending.cancelled;
    }
    out_.jobs.push_back(job);
    scores_.push_back(static_cast<float>(score));
    if (in_.with_possible_runs) bases_.push_back(base);
  }

  const Setting& in_;
  const PlanCell& cell_;
  const PlanSize& size_;
  Names& names_;
  MadeJobs& out_;
  Rng rng_;
  Parts parts_;
  std::uint32_t first_user_;
  stats::Alias users_;
  std::vector<Slot> slots_;  // by user, then recipe
  std::size_t first_job_;
  std::size_t first_recipe_;
  std::vector<Session> sessions_;
  std::vector<float> scores_;   // of the jobs
  std::vector<double> bases_;   // of the jobs: their scores but for what is new in each run
  std::vector<float> centres_;  // of the recipes
  double span_s_;
};

}  // namespace

void make_sessions(const Setting& setting, const PlanCell& cell, Names& names, MadeJobs& made) {
  Filler(setting, cell, names, made).fill();
}

}  // namespace almanac::trace
