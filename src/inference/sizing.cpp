// SPDX-License-Identifier: Apache-2.0

#include "inference/sizing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "inference/sample.h"
#include "inference/workload/workload.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::inference {
namespace {

constexpr int kDraws = 20;
constexpr double kDayUs = 24 * 3.6e9;

/// Which day of a log a request comes in.
class Days {
 public:
  explicit Days(const Requests& requests) {
    if (requests.size() == 0) return;
    first_ = requests.all.front().arrival;
    const double span = requests.all.back().arrival - first_;
    constexpr double kAlmost = 0.02;
    count_ = std::max<std::size_t>(1, static_cast<std::size_t>(span / kDayUs + kAlmost));
  }
  std::size_t count() const { return count_; }
  std::size_t of(const Request& request) const {
    const auto day = static_cast<std::size_t>((request.arrival - first_) / kDayUs);
    return std::min(day, count_ - 1);
  }
  /// The requests of some days, as they came.
  Requests part(const Requests& requests, std::size_t from, std::size_t until) const {
    Requests made = requests;
    std::erase_if(made.all,
                  [&](const Request& each) { return of(each) < from || of(each) >= until; });
    return made;
  }

 private:
  Micros first_ = 0;
  std::size_t count_ = 1;
};

/// When a run may stop, if only its SLO attainment (fraction of requests that met the SLO) is
/// needed.
enum class Until {
  end,    ///< At the end; the attainment is exact.
  lost,   ///< As soon as the share is out of reach; the attainment is then some smaller value.
  known,  ///< As soon as it is decided; the attainment is then some value on the right side.
};

/// Counts as requests are finished, of each day.
class Verdict {
 public:
  Verdict(const Requests& requests, const SizeQuestion& asked, Until until)
      : requests_(requests), asked_(asked), until_(until), days_(requests), of_(days_.count()) {
    for (const Request& each : requests.all) ++of_[days_.of(each)].requests;
    for (Day& day : of_) {
      while (part(day.needed, day) < asked.share) ++day.needed;
      open_ += day.needed > 0 ? 1 : 0;
    }
  }
  /// Whether the run may end.
  bool hear(RequestId request, const Outcome& outcome) {
    Day& day = of_[days_.of(requests_[request])];
    if (meets(requests_[request], outcome, asked_.objective)) {
      open_ -= ++day.met == day.needed ? 1 : 0;
    } else {
      lost_ = lost_ || ++day.missed > day.requests - day.needed;
    }
    return until_ != Until::end && (lost_ || (until_ == Until::known && open_ == 0));
  }
  /// Returns the SLO attainment of the worst day.
  double attained() const {
    double least = 1;
    for (const Day& day : of_) least = std::min(least, part(day.met, day));
    return least;
  }

 private:
  struct Day {
    std::int64_t requests = 0, needed = 0, met = 0, missed = 0;
  };
  static double part(std::int64_t met, const Day& day) {
    if (day.requests == 0) return 1;
    return static_cast<double>(met) / static_cast<double>(day.requests);
  }

  const Requests& requests_;
  const SizeQuestion& asked_;
  Until until_;
  Days days_;
  std::vector<Day> of_;
  std::size_t open_ = 0;  // days with too few so far
  bool lost_ = false;
};

/// A division of the replicas into pools with which enough of the log's requests meet the SLO.
struct Division {
  int prefill = 0;
  double attained = 0;
};

/// Returns the SLO attainment of `replicas` replicas, `prefill` of them for prompts.
using Attain =
    std::function<Result<double>(int replicas, int prefill, const Requests& requests, Until until)>;

class Sizing {
 public:
  Sizing(Attain attained_of, const Requests& requests, const SizeQuestion& asked)
      : attained_of_(std::move(attained_of)), requests_(requests), asked_(asked) {}

  /// The fewest replicas for all that is asked, and what they are not known to be enough for.
  Result<Size> fewest() {
    auto size = for_all();
    if (!size) return size;
    size->doubts = doubts_of_span(requests_);
    if (asked_.confidence <= 0) {
      size->doubts.emplace_back("only this log was considered (--confidence)");
    }
    if (!size->doubts.empty()) return size;
    auto missed = missed_days();
    if (!missed) return tl::unexpected(missed.error());
    size->doubts = *std::move(missed);
    return size;
  }

 private:
  Result<Size> for_all() {
    const auto least = for_log();
    if (!least) return tl::unexpected(least.error());
    if (asked_.confidence > 0) return for_following(*least);
    const auto best = divisions(*least);
    if (!best) return tl::unexpected(best.error());
    return Size{.replicas = *least, .prefill = (*best)->front().prefill, .for_log = *least};
  }

  /// Returns those of the last days of the log on which a fleet sized for the days before misses
  /// the SLO.
  Result<std::vector<std::string>> missed_days() const {
    constexpr std::size_t kMost = 3;
    const Days days(requests_);
    const std::size_t last = days.count();
    const std::size_t first = std::max<std::size_t>(1, last - std::min(last, kMost));
    std::vector<Result<std::string>> missed(last - std::min(first, last), std::string());
    report("sizing for the days before each of the last ones");
    tbb::parallel_for(std::size_t{0}, missed.size(),
                      [&](std::size_t at) { missed[at] = missed_day(days, first + at); });
    std::vector<std::string> made;
    for (auto& each : missed) {
      if (!each) return tl::unexpected(each.error());
      if (!each->empty()) made.push_back(*std::move(each));
    }
    return made;
  }

  /// What a fleet sized for what came before a day misses of it; "" = nothing.
  Result<std::string> missed_day(const Days& days, std::size_t day) const {
    const Requests before = days.part(requests_, 0, day), then = days.part(requests_, day, day + 1);
    if (then.size() == 0) return std::string();
    SizeQuestion quietly = asked_;
    quietly.progress = {};
    const auto size = Sizing(attained_of_, before, quietly).for_all();
    if (!size) {
      if (size.error().code == Code::usage) return tl::unexpected(size.error());
      return fmt::format("the log before day {} gives no size: {}", day + 1, size.error().message);
    }
    const auto attained = attained_of_(size->replicas, size->prefill, then, Until::end);
    if (!attained) return tl::unexpected(attained.error());
    if (*attained >= asked_.share) return std::string();
    return fmt::format(
        "the log before day {} called for {} replicas, which meet the objective for only {:.1f} % "
        "of that day's requests",
        day + 1, size->replicas, 100 * *attained);
  }

  /// Returns the part of a sample of up to `most` requests that meets the objective on an idle
  /// replica. Serves requests ten minutes apart, in runs of up to 100, which stay below a day.
  Result<double> attained_alone(std::size_t most) const {
    constexpr std::size_t kRun = 100;
    constexpr Micros kApart = 6e8;
    std::vector<Requests> runs;
    for (const std::size_t at : spread_sample(requests_.size(), most)) {
      if (runs.empty() || runs.back().size() == kRun) {
        runs.push_back({.tokens_per_block = requests_.tokens_per_block,
                        .models = requests_.models,
                        .tenants = requests_.tenants,
                        .adapters = requests_.adapters});
      }
      Requests& run = runs.back();
      const auto ids = requests_.ids(requests_.all[at]);
      run.all.push_back(requests_.all[at]);
      run.all.back().arrival = static_cast<double>(run.size() - 1) * kApart;
      run.all.back().first_block = static_cast<std::uint32_t>(run.blocks.size());
      run.blocks.insert(run.blocks.end(), ids.begin(), ids.end());
    }
    const int prefill = asked_.split ? 1 : 0;
    std::vector<Result<double>> attained(runs.size(), 0.0);
    tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t run) {
      attained[run] = attained_of_(1 + prefill, prefill, runs[run], Until::end);
    });
    double met = 0, all = 0;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      if (!attained[run]) return tl::unexpected(attained[run].error());
      met += *attained[run] * static_cast<double>(runs[run].size());
      all += static_cast<double>(runs[run].size());
    }
    return all > 0 ? met / all : 1;
  }

  /// Fails if requests miss the objective even on an idle replica: then no number is enough.
  Result<void> check_alone() const {
    constexpr std::size_t kMost = 100;
    const auto attained = attained_alone(kMost);
    if (!attained) return tl::unexpected(attained.error());
    // A sample says less than all requests.
    constexpr double kMargin = 0.1;
    if (*attained >= asked_.share - (requests_.size() > kMost ? kMargin : 0)) return {};
    return no_number(*attained);
  }

  static tl::unexpected<Error> no_number(double attained) {
    return fail(Code::unavailable,
                fmt::format("no number of replicas is enough: only {:.3g} % of the requests would "
                            "meet the objective even on an idle replica",
                            100 * attained),
                {}, "use a longer objective, more GPUs per replica, or a faster GPU type");
  }

  /// The fewest replicas for the log.
  Result<int> for_log() {
    if (auto possible = check_alone(); !possible) return tl::unexpected(possible.error());
    int does = 0, fails = 0;
    for (int tried = 1; does == 0; tried = std::min(2 * tried, asked_.most)) {
      const auto found = divisions(tried);
      if (!found) return tl::unexpected(found.error());
      if (!(*found)->empty()) {
        does = tried;
      } else if (tried == asked_.most) {
        const auto alone = attained_alone(requests_.size());
        if (!alone) return tl::unexpected(alone.error());
        if (*alone < asked_.share) return no_number(*alone);
        return too_few("the requests", 0, *alone);
      } else {
        fails = tried;
      }
    }
    while (does - fails > 1) {
      const int middle = fails + (does - fails) / 2;
      const auto found = divisions(middle);
      if (!found) return tl::unexpected(found.error());
      ((*found)->empty() ? fails : does) = middle;
    }
    constexpr int kAllTried = 8, kBelow = 3;
    const int first = does <= kAllTried ? 1 : does - kBelow;
    if (auto tried = try_all(first, does); !tried) return tl::unexpected(tried.error());
    for (int fewer = first; fewer < does; ++fewer) {
      const auto found = divisions(fewer);
      if (!found) return tl::unexpected(found.error());
      if (!(*found)->empty()) return fewer;
    }
    return does;
  }

  /// The fewest replicas, `least` or more, for the log and for what may follow it.
  Result<Size> for_following(int least) {
    const auto learnt = fit_workload(requests_);
    if (!learnt) {
      return fail(learnt.error().code,
                  fmt::format("a log cannot be resampled if it {}", learnt.error().message), {},
                  "--confidence 0 sizes for this log alone");
    }
    for (int draw = 1; draw <= kDraws; ++draw) {
      following_.push_back(following(*learnt, static_cast<std::uint64_t>(draw)));
    }
    // Logs with the most requests show soonest that a fleet is too small.
    seeds_.resize(following_.size());
    std::iota(seeds_.begin(), seeds_.end(), std::size_t{0});
    std::stable_sort(seeds_.begin(), seeds_.end(), [&](std::size_t a, std::size_t b) {
      return following_[a].requests > following_[b].requests;
    });
    for (int tried = least; tried <= asked_.most; ++tried) {
      const auto found = divisions(tried);
      if (!found) return tl::unexpected(found.error());
      for (const Division& each : **found) {
        const auto served = served_of_draws(tried, each.prefill);
        if (!served) return tl::unexpected(served.error());
        if (*served) {
          return Size{.replicas = tried,
                      .prefill = each.prefill,
                      .for_log = least,
                      .drawn = kDraws,
                      .served = **served};
        }
      }
      report(fmt::format("{} replicas: too few for {} resampled logs", tried, kDraws));
    }
    const auto alone = attained_alone(requests_.size());
    if (!alone) return tl::unexpected(alone.error());
    return too_few("the requests of resampled logs", least, *alone);
  }

  /// Returns the divisions that reach the SLO attainment on the log, the best first; may be empty.
  Result<const std::vector<Division>*> divisions(int replicas) {
    if (auto tried = try_all(replicas, replicas + 1); !tried) return tl::unexpected(tried.error());
    return &divisions_.at(replicas);
  }

  /// Finds the divisions of these numbers of replicas, on all cores.
  Result<void> try_all(int first, int end) {
    struct Trial {
      int replicas, prefill;
      Result<double> attained = 0.0;
    };
    std::vector<Trial> trials;
    std::vector<int> fresh;
    for (int replicas = first; replicas < end; ++replicas) {
      if (!divisions_.try_emplace(replicas).second) continue;
      fresh.push_back(replicas);
      const int least = asked_.split ? 1 : 0, most = asked_.split ? replicas : 1;
      for (int prefill = least; prefill < most; ++prefill) trials.push_back({replicas, prefill});
    }
    tbb::parallel_for(std::size_t{0}, trials.size(), [&](std::size_t at) {
      Trial& trial = trials[at];
      trial.attained = attained_of_(trial.replicas, trial.prefill, requests_,
                                    asked_.split ? Until::lost : Until::known);
    });
    for (const Trial& trial : trials) {
      if (!trial.attained) return tl::unexpected(trial.attained.error());
      if (*trial.attained < asked_.share) continue;
      divisions_.at(trial.replicas).push_back({trial.prefill, *trial.attained});
    }
    for (const int replicas : fresh) {
      std::vector<Division>& made = divisions_.at(replicas);
      report(fmt::format("{} replicas: {} for this log", replicas,
                         made.empty() ? "too few" : "enough"));
      std::stable_sort(made.begin(), made.end(), [](const Division& a, const Division& b) {
        return a.attained > b.attained;
      });
    }
    return {};
  }

  void report(const std::string& text) const {
    if (asked_.progress) asked_.progress(text);
  }

  /// `for_log`: replicas that serve the log alone; 0 = none do. `idle`: the part of its requests
  /// that meets the objective on an idle replica, beyond which no number of replicas gets.
  tl::unexpected<Error> too_few(const char* what, int for_log = 0, double idle = 1) const {
    std::string more = for_log == 0 ? ""
                                    : fmt::format("; {} serve{} this log alone (--confidence 0)",
                                                  for_log, for_log == 1 ? "s" : "");
    constexpr double kHardlyEnough = 0.01;  // so close to the share, more replicas do not help
    if (idle < 1) {
      more += fmt::format("; even on an idle replica only {:.4g} % of this log's do", 100 * idle);
    }
    return fail(Code::unavailable,
                fmt::format("with {} replicas fewer than {:.4g} % of {} meet the objective{}",
                            asked_.most, 100 * asked_.share, what, more),
                {},
                idle < asked_.share + kHardlyEnough
                    ? "use a longer objective, a smaller --share, or more GPUs per replica"
                    : "use a longer objective, a smaller --share, more GPUs per replica, or a "
                      "larger --most");
  }

  /// Returns how many of the drawn logs reach the SLO attainment; nothing if too few do.
  Result<std::optional<int>> served_of_draws(int replicas, int prefill) const {
    constexpr double kRounding = 1e-9;
    const int missed_at_most =
        static_cast<int>(std::floor((1 - asked_.confidence) * kDraws + kRounding));
    std::atomic<int> missed = 0;
    std::vector<Result<double>> attained(seeds_.size(), 1.0);
    tbb::parallel_for(std::size_t{0}, seeds_.size(), [&](std::size_t at) {
      if (missed > missed_at_most) return;
      const std::size_t draw = seeds_[at];
      attained[at] =
          attained_of_(replicas, prefill, generate(following_[draw], draw + 1), Until::known);
      if (attained[at] && *attained[at] < asked_.share) ++missed;
    });
    for (const auto& each : attained) {
      if (!each) return tl::unexpected(each.error());
    }
    if (missed > missed_at_most) return std::optional<int>();
    return std::optional<int>(kDraws - missed);
  }

  Attain attained_of_;
  const Requests& requests_;
  const SizeQuestion& asked_;
  std::map<int, std::vector<Division>> divisions_;
  std::vector<Workload> following_;
  std::vector<std::size_t> seeds_;
};

/// The groups of a plan in parts: those of one have models in common.
std::vector<Plan> parts_of(const Plan& plan) {
  std::vector<std::size_t> part_of_model(plan.models.size());
  std::iota(part_of_model.begin(), part_of_model.end(), std::size_t{0});
  const auto join = [&](std::size_t one, std::size_t other) {
    for (std::size_t& part : part_of_model) {
      if (part == other) part = one;
    }
  };
  for (const Plan::Group& group : plan.groups) {
    for (const std::size_t model : group.models) {
      join(part_of_model[group.models.front()], part_of_model[model]);
    }
  }
  std::map<std::size_t, Plan> made;
  std::vector<std::size_t> becomes(plan.models.size());
  for (std::size_t model = 0; model < plan.models.size(); ++model) {
    Plan& part = made[part_of_model[model]];
    becomes[model] = part.models.size();
    part.names.push_back(plan.names[model]);
    part.models.push_back(plan.models[model]);
  }
  for (Plan::Group group : plan.groups) {
    Plan& part = made[part_of_model[group.models.front()]];
    for (std::size_t& model : group.models) model = becomes[model];
    part.groups.push_back(std::move(group));
  }
  std::vector<Plan> parts;
  for (auto& [first, part] : made) parts.push_back(std::move(part));
  return parts;
}

/// The groups of `plan` again and again, on GPUs that count on from `first`.
std::vector<Plan::Group> copies_of(const Plan& plan, int copies, std::int64_t& first) {
  std::vector<Plan::Group> made;
  for (int copy = 0; copy < copies; ++copy) {
    for (Plan::Group group : plan.groups) {
      const std::int64_t size = group.gpus();
      group.first = first;
      group.last = first + size - 1;
      first += size;
      made.push_back(std::move(group));
    }
  }
  return made;
}

/// Returns the requests for the models of a part.
Requests requests_of(const Plan& part, const Requests& requests) {
  Requests made = requests;
  if (requests.models.empty()) return made;
  made.models = part.names;
  made.all.clear();
  for (Request each : requests.all) {
    const auto found = std::find(part.names.begin(), part.names.end(), requests.models[each.model]);
    if (found == part.names.end()) continue;
    each.model = static_cast<std::uint32_t>(found - part.names.begin());
    made.all.push_back(each);
  }
  return made;
}

/// Returns the SLO attainment of the worst model.
Result<double> attained_by(const Service& service, const Plan& plan, const Requests& requests,
                           const Objective& objective) {
  const auto outcomes = play_placed(service, requests, plan);
  if (!outcomes) return tl::unexpected(outcomes.error());
  double least = 1;
  for (const std::string& name : plan.names) {
    const Part part = part_of(name, requests, *outcomes);
    least = std::min(least, attained_each_day(part.requests, part.outcomes, objective));
  }
  return least;
}

/// Names that no model of the plan has are refused before anything is left out for them.
Result<void> know_all(const Plan& plan, const Requests& requests) {
  for (const std::string& name : requests.models) {
    if (std::find(plan.names.begin(), plan.names.end(), name) != plan.names.end()) continue;
    return fail(Code::invalid,
                fmt::format("requests name the model \"{}\", which no GPU of the plan has", name),
                {}, text::meant_or_known(name, plan.names));
  }
  return {};
}

}  // namespace

Result<Size> size_fleet(Service service, const Requests& requests, const SizeQuestion& asked) {
  const Attain attained = [&](int replicas, int prefill, const Requests& of,
                              Until until) -> Result<double> {
    Service tried = service;
    tried.replicas = replicas;
    tried.prefill = prefill;
    Verdict verdict(of, asked, until);
    const auto outcomes = play(tried, of, [&](RequestId request, const Outcome& outcome) {
      return verdict.hear(request, outcome);
    });
    if (!outcomes) return tl::unexpected(outcomes.error());
    return verdict.attained();
  };
  return Sizing(attained, requests, asked).fewest();
}

std::vector<int> curve_sizes(int for_log, int replicas) {
  std::set<int> made{replicas};
  if (for_log > 0) made.insert(for_log);
  for (int each = 1; each < replicas; each *= 2) made.insert(each);
  return {made.begin(), made.end()};
}

Result<SizedPlan> size_plan(const Service& service, const Requests& requests, const Plan& plan,
                            const SizeQuestion& asked) {
  if (asked.split) {
    return fail(Code::usage, "the replicas of a plan cannot be split into prefill and decode");
  }
  if (auto known = know_all(plan, requests); !known) return tl::unexpected(known.error());
  SizedPlan made{.plan = {.names = plan.names, .models = plan.models}};
  std::int64_t first = 0;
  for (const Plan& part : parts_of(plan)) {
    const Requests own = requests_of(part, requests);
    if (own.size() == 0 || part.groups.empty()) continue;
    const Attain attained = [&](int copies, int, const Requests& of, Until) -> Result<double> {
      std::int64_t from = 0;
      const Plan tried{
          .names = part.names, .models = part.models, .groups = copies_of(part, copies, from)};
      return attained_by(service, tried, of, asked.objective);
    };
    const auto size = Sizing(attained, own, asked).fewest();
    if (!size) return tl::unexpected(size.error());
    made.parts.push_back({part.names, *size});
    for (Plan::Group& group : copies_of(part, size->replicas, first)) {
      for (std::size_t& model : group.models) {
        const auto named = std::find(plan.names.begin(), plan.names.end(), part.names[model]);
        model = static_cast<std::size_t>(named - plan.names.begin());
      }
      made.plan.groups.push_back(std::move(group));
    }
  }
  return made;
}

double hours_of(const Requests& requests) {
  if (requests.size() == 0) return 0;
  return (requests.all.back().arrival - requests.all.front().arrival) / 3.6e9;
}

double attained_each_day(const Requests& requests, const std::vector<Outcome>& outcomes,
                         const Objective& objective) {
  const Days days(requests);
  if (days.count() == 1) return summarize(requests, outcomes, objective).attainment();
  double least = 1;
  for (std::size_t day = 0; day < days.count(); ++day) {
    std::vector<Outcome> own;
    for (RequestId id = 0; id < requests.size(); ++id) {
      if (days.of(requests[id]) == day) own.push_back(outcomes[id]);
    }
    const Requests part = days.part(requests, day, day + 1);
    least = std::min(least, summarize(part, own, objective).attainment());
  }
  return least;
}

std::vector<std::string> doubts_of_span(const Requests& requests) {
  constexpr double kDay = 20, kMost = 0.5;
  std::vector<std::string> made;
  const double hours = hours_of(requests);
  const std::string covered = text::human_time(3600 * hours);
  if (hours < kDay) {
    made.push_back(fmt::format("it covers only {}, and other hours may be busier", covered));
  } else if (hours < kHoursOfTwoDays) {
    made.push_back(fmt::format("it covers {}, too short to compare two days", covered));
  }
  if (hours >= kHoursOfTwoDays || requests.tenants.size() < 2) return made;
  std::vector<double> tokens(requests.tenants.size());
  double all = 0;
  for (const Request& each : requests.all) {
    tokens[each.tenant] += each.prompt + each.output;
    all += each.prompt + each.output;
  }
  const auto most = std::max_element(tokens.begin(), tokens.end());
  if (*most > kMost * all) {
    made.push_back(fmt::format("{} has {:.0f} % of the tokens and so dominates the result",
                               requests.tenants[static_cast<std::size_t>(most - tokens.begin())],
                               100 * *most / all));
  }
  return made;
}

}  // namespace almanac::inference
