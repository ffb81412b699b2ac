// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "stats/correlation.h"
#include "stats/normal.h"
#include "stats/quantile.h"
#include "trace/fit_steps.h"

namespace almanac::trace {
namespace {

constexpr double kLongestPause = 1800;  // s; what follows later is another session
constexpr double kTellingRun = 120;     // s; after a shorter run, waiting for its end or not looks
                                        // alike

constexpr double kTellingLimit = 600;

using Key = std::tuple<NameId, NameId, std::uint32_t>;  // user, name, size

Key key_of(const FitInput& input, std::size_t i) {
  return {input.jobs[i]->request.user, input.jobs[i]->request.name, input.size[i]};
}

bool any_names(const FitInput& input) {
  return std::any_of(input.jobs.begin(), input.jobs.end(),
                     [](const Job* job) { return job->request.name != kNoName; });
}

/// The pause between two jobs of one recipe, from the end of the first where the user waited.
struct Pause {
  double length;
  bool serial;
};

Pause pause_between(const Job& before, const Job& after) {
  const double gap = seconds(after.request.submit - before.request.submit);
  const double rest = gap - seconds(before.outcome.run);
  return rest >= 0 ? Pause{rest, true} : Pause{gap, false};
}

/// The logarithm of a session's length before it is cut to a whole number, which is what a
/// Pareto tail is read from.
double log_length(std::int64_t jobs) {
  const auto n = static_cast<double>(jobs);
  return 0.5 * std::log(n * (n + 1));
}

/// Normal scores of the run times, among the jobs of one size.
std::vector<double> run_scores(const FitInput& input, std::size_t num_sizes) {
  std::vector<std::vector<std::size_t>> members(num_sizes);
  for (std::size_t i = 0; i < input.jobs.size(); ++i) members[input.size[i]].push_back(i);
  std::vector<double> scores(input.jobs.size());
  for (const std::vector<std::size_t>& jobs : members) {
    std::vector<double> runs;
    for (const std::size_t i : jobs) runs.push_back(whole_run(*input.jobs[i]));
    const std::vector<double> ranks = stats::ranks(runs);
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      scores[jobs[k]] = stats::normal_quantile((ranks[k] + 0.5) / static_cast<double>(jobs.size()));
    }
  }
  return scores;
}

/// The mean product of pairs of scores: the variance that both of a pair share.
struct Shared {
  double sum = 0;
  double pairs = 0;
  void add(double a, double b) {
    sum += a * b;
    pairs += 1;
  }
  double value() const { return pairs > 0 ? std::clamp(sum / pairs, 0.0, 0.95) : 0; }
};

/// How many names a user keeps for a size at a time, and how long each lives.
void fit_names(const FitInput& input, Workload& workload) {
  Workload::Recipe& recipe = workload.recipe;
  if (!any_names(input)) {
    // Without names all that a user runs at one size is one recipe.
    recipe.per_size = 1;
    recipe.version_days = 0;
    return;
  }
  std::map<Key, std::pair<Time, Time>> lives;
  std::set<std::pair<NameId, std::uint32_t>> users;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const Time at = input.jobs[i]->request.submit;
    lives.try_emplace(key_of(input, i), at, at).first->second.second = at;
    users.emplace(input.jobs[i]->request.user, input.size[i]);
  }
  // A name that is used once does not show its lifetime; names that are used often do.
  double lived = 0;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const auto& [first, last] = lives[key_of(input, i)];
    lived += seconds(last - first) / 86400;
  }
  const auto names = static_cast<double>(lives.size());
  recipe.version_days =
      std::clamp(lived / static_cast<double>(input.jobs.size()), 1.0, workload.span.days);
  const double generations = workload.span.days / recipe.version_days;
  const double at_a_time = names / static_cast<double>(users.size()) / generations;
  recipe.per_size = std::clamp(std::llround(at_a_time), 1LL, 16LL);
}

/// How much sooner the jobs end that do not complete.
void fit_endings(const FitInput& input, const std::vector<double>& scores, Workload& workload) {
  std::array<double, 3> sum{};
  std::array<double, 3> count{};
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const auto kind = static_cast<std::size_t>(ending_of(input.jobs[i]->outcome.state));
    sum[kind] += scores[i];
    count[kind] += 1;
  }
  const auto sooner = [&](Ending ending) {
    const auto kind = static_cast<std::size_t>(ending);
    if (count[0] == 0 || count[kind] == 0) return 0.0;
    return std::clamp(sum[0] / count[0] - sum[kind] / count[kind], -3.0, 3.0);
  };
  workload.ending = {.cancelled = sooner(Ending::cancelled), .failed = sooner(Ending::failed)};
}

}  // namespace

void fit_sessions(const FitInput& input, Workload& workload) {
  std::map<Key, const Job*> last;
  std::vector<double> pauses;
  double serial = 0, telling = 0, together = 0, parallel = 0;
  std::map<Key, std::int64_t> running;  // jobs of the session so far
  double sessions = 0;
  double log_lengths = 0;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const Job& job = *input.jobs[i];
    if (job.request.user == kNoName) continue;
    const Job*& before = last[key_of(input, i)];
    std::int64_t& length = running[key_of(input, i)];
    const Pause pause =
        before == nullptr ? Pause{2 * kLongestPause, true} : pause_between(*before, job);
    if (pause.length > kLongestPause) {
      sessions += 1;
      log_lengths += log_length(1);
      length = 1;
    } else {
      ++length;
      log_lengths += log_length(length) - log_length(length - 1);
      if (whole_run(*before) > kTellingRun) {
        telling += 1;
        serial += pause.serial ? 1 : 0;
      }
      if (!pause.serial) {
        parallel += 1;
        together += pause.length == 0 ? 1 : 0;
      }
      if (pause.length > 0) pauses.push_back(std::log(pause.length));
    }
    before = &job;
  }
  Workload::Session& session = workload.session;
  session.tail = std::clamp(sessions / log_lengths, 0.5, 20.0);  // maximum likelihood (Hill)
  if (telling > 0) session.serial = serial / telling;
  session.together = parallel > 0 ? together / parallel : 0;
  if (pauses.empty()) return;
  session.gap_spread = std::min(quartile_spread(pauses), 5.0);
  session.gap_s = std::exp(stats::quantile(pauses, 0.5));
}

void fit_recipes(const FitInput& input, Workload& workload) {
  fit_names(input, workload);
  const std::vector<double> scores = run_scores(input, workload.size.size());
  fit_endings(input, scores, workload);
  std::map<Key, std::size_t> last_of_key;
  std::map<NameId, std::size_t> last_of_user;
  Shared user, version, session;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const Job& job = *input.jobs[i];
    if (job.request.user == kNoName) continue;
    const Key key = key_of(input, i);
    if (const auto found = last_of_key.find(key); found != last_of_key.end()) {
      const Job& before = *input.jobs[found->second];
      const bool same = pause_between(before, job).length <= kLongestPause;
      (same ? session : version).add(scores[found->second], scores[i]);
    }
    if (const auto found = last_of_user.find(job.request.user);
        found != last_of_user.end() && key_of(input, found->second) != key) {
      user.add(scores[found->second], scores[i]);
    }
    last_of_key[key] = i;
    last_of_user[job.request.user] = i;
  }
  // Nested levels: what a session shares holds what a version shares, and so on up.
  const double of_user = user.value();
  const double of_version = std::max(version.value(), of_user);
  const double of_session = std::max(session.value(), of_version);
  const double repeated = of_version - of_user;
  Workload::Recipe& recipe = workload.recipe;
  const double renewed = recipe.version_days > 0 ? repeated / 2 : 0;  // names cannot tell: half
  recipe.user_part = of_user;
  recipe.version_part = renewed;
  recipe.recipe_part = repeated - renewed;
  recipe.session_part = of_session - of_version;
}

void fit_limits(const FitInput& input, Workload& workload) {
  std::map<Key, std::vector<double>> runs;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    runs[key_of(input, i)].push_back(whole_run(*input.jobs[i]));
  }
  std::map<Key, double> typical;
  for (auto& [key, values] : runs) typical[key] = stats::quantile(values, 0.5);
  std::vector<double> factors;
  double limited = 0;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const Duration limit = input.jobs[i]->request.time_limit;
    if (limit == kNoDuration || limit <= Duration(0) || limit == Duration::max()) continue;
    limited += 1;
    // Short jobs have the shortest limits that users choose, which say nothing about their run
    // times.
    const double usual = typical[key_of(input, i)];
    if (usual > kTellingLimit) factors.push_back(std::log(seconds(limit) / usual));
  }
  workload.limit.share = limited / static_cast<double>(input.jobs.size());
  if (factors.empty()) return;
  workload.limit.spread = std::min(quartile_spread(factors), 5.0);
  workload.limit.factor = std::clamp(std::exp(stats::quantile(factors, 0.5)), 1e-3, 1e6);
}

}  // namespace almanac::trace
