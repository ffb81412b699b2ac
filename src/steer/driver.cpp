// SPDX-License-Identifier: Apache-2.0
#include "steer/driver.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "steer/guards.h"
#include "steer/mark.h"
#include "steer/scope.h"

namespace almanac::steer {
namespace {

/// Given to Slurm in one call.
constexpr std::size_t kAtOnce = 50;
/// A slice that takes longer ends early: there may be news.
constexpr std::chrono::seconds kLongestSlice{2};
/// How long held jobs stay so without us, and how often we say that we are there.
constexpr Duration kPatience = 60s;
constexpr Duration kPresenceSign = 10s;
/// That somebody else has set the order of so many jobs within an hour is no chance, unless they
/// are of one user, who may lower those of his own.
constexpr std::size_t kTooMany = 5;
constexpr std::size_t kShown = 5;
/// What Slurm has refused once is not asked again at once.
constexpr Duration kRest = 60s;
/// A journal of more bytes begins anew: some 400,000 changes.
constexpr std::int64_t kLargestJournal = 64 << 20;

/// What is said of an action that was planned and not even tried.
constexpr const char* kNotTried = "was not tried";
Result<void> not_tried() { return fail(Code::unavailable, kNotTried); }

bool has_basic_priority(const slurm::Site& site) {
  const auto found = site.parameters.find("PriorityType");
  return found != site.parameters.end() && found->second == "priority/basic";
}

Entry entry_of(const Action& action, std::string_view lever, const Scene& scene) {
  Entry made{.at = scene.mirror.at(), .lever = std::string(lever), .why = action.why};
  if (const auto* const change = std::get_if<slurm::JobChange>(&action.change)) {
    const slurm::Job& job = *scene.mirror.find(change->job);
    made.what = OfJob{as_it_is(job, *change, has_basic_priority(scene.site)), *change};
  } else if (const auto* const fate = std::get_if<FateChange>(&action.change)) {
    made.what = OfRun{fate->job, fate->fate};
  } else if (const auto* const held = std::get_if<CoresChange>(&action.change)) {
    made.what = OfCores{held->job, held->cores};
  } else if (const auto* const weighed = std::get_if<WeightChange>(&action.change)) {
    made.what = OfWeight{weighed->nodes, weighed->weight};
  } else {
    const auto& power = std::get<PowerChange>(action.change);
    made.what = OfNodes{power.nodes, power.on};
  }
  return made;
}

Action action_of(const Entry& entry) {
  if (const auto* const job = std::get_if<OfJob>(&entry.what)) {
    return {job->becomes, entry.why};
  }
  if (const auto* const run = std::get_if<OfRun>(&entry.what)) {
    return {FateChange{run->job, run->fate}, entry.why};
  }
  if (const auto* const held = std::get_if<OfCores>(&entry.what)) {
    return {CoresChange{held->job, held->cores}, entry.why};
  }
  if (const auto* const weighed = std::get_if<OfWeight>(&entry.what)) {
    return {WeightChange{weighed->nodes, weighed->weight}, entry.why};
  }
  const auto& nodes = std::get<OfNodes>(entry.what);
  return {PowerChange{nodes.nodes, nodes.on}, entry.why};
}

Failure how_it_went(const Entry& entry, const Result<void>& result) {
  if (result) return "";
  if (result.error().code == Code::unavailable) return std::nullopt;
  if (entry.lever == kUndo && is_past(result)) return "";  // nothing is left to be taken back
  return to_string(result.error());
}

/// The job whose place an action changes; 0 = it is about something else.
slurm::JobNumber job_of(const Action& action) {
  const auto* const change = std::get_if<slurm::JobChange>(&action.change);
  return change == nullptr ? slurm::JobNumber{} : change->job;
}

/// Whether it is about another job, or node, than those that levers are for. What is given back may
/// be of any.
bool is_out_of_scope(const Action& action, const Scene& scene) {
  if (const auto* const power = std::get_if<PowerChange>(&action.change)) {
    return std::any_of(power->nodes.begin(), power->nodes.end(), [&](const std::string& name) {
      const auto found = scene.mirror.nodes().find(name);
      return found != scene.mirror.nodes().end() && !is_in_scope(found->second, scene.settings);
    });
  }
  if (std::holds_alternative<WeightChange>(action.change)) return false;
  const auto* const change = std::get_if<slurm::JobChange>(&action.change);
  const auto* const fate = std::get_if<FateChange>(&action.change);
  const auto* const held = std::get_if<CoresChange>(&action.change);
  if (held != nullptr && held->cores.empty()) return false;
  const slurm::Job* const job = scene.mirror.find(change != nullptr ? change->job
                                                  : fate != nullptr ? fate->job
                                                                    : held->job);
  if (job == nullptr || is_in_scope(*job, scene.settings)) return false;
  return change == nullptr || scene.ours->without_mark(*job) != *change;
}

/// Two levers may give back the same job.
bool has_action_for(const Driver::Slice& slice, slurm::JobNumber job) {
  return job != slurm::JobNumber{} &&
         std::any_of(slice.actions.begin(), slice.actions.end(),
                     [&](const Action& each) { return job_of(each) == job; });
}

template <typename Value>
void say(std::string& words, const char* name, const std::optional<Value>& was,
         const std::optional<Value>& becomes) {
  if (!becomes) return;
  const auto shown = [](const Value& value) {
    const std::string text = fmt::to_string(value);
    return text.empty() ? "none" : text;
  };
  words += fmt::format("{}{} {} -> {}", words.empty() ? "" : ", ", name, was ? shown(*was) : "?",
                       shown(*becomes));
}

}  // namespace

bool is_past(const Result<void>& result) {
  return !result &&
         (result.error().code == Code::conflict || result.error().code == Code::not_found);
}

std::string to_words(const Entry& entry) {
  if (const auto* const job = std::get_if<OfJob>(&entry.what)) {
    std::string what;
    say(what, "site_factor", job->was.site_factor, job->becomes.site_factor);
    say(what, "priority", job->was.priority, job->becomes.priority);
    say(what, "held", job->was.held, job->becomes.held);
    say(what, "required_nodes", job->was.required_nodes, job->becomes.required_nodes);
    say(what, "comment", job->was.comment, job->becomes.comment);
    say(what, "shards", job->was.shards, job->becomes.shards);
    return fmt::format("job {}: {}; {}", static_cast<std::uint32_t>(job->becomes.job), what,
                       entry.why);
  }
  if (const auto* const run = std::get_if<OfRun>(&entry.what)) {
    return fmt::format("job {}: {}; {}", static_cast<std::uint32_t>(run->job),
                       slurm::to_string(run->fate), entry.why);
  }
  if (const auto* const held = std::get_if<OfCores>(&entry.what)) {
    std::string what;
    for (const auto& [node, cores] : held->cores) {
      what += fmt::format("{}{:g} cores on {}", what.empty() ? "at most " : ", ", cores, node);
    }
    return fmt::format("job {}: {}; {}", static_cast<std::uint32_t>(held->job),
                       what.empty() ? "all cores that Slurm gave" : what, entry.why);
  }
  if (const auto* const weighed = std::get_if<OfWeight>(&entry.what)) {
    return fmt::format("{}: weight {}; {}", fmt::join(weighed->nodes, ","), weighed->weight,
                       entry.why);
  }
  const auto& nodes = std::get<OfNodes>(entry.what);
  return fmt::format("{}: power {}; {}", fmt::join(nodes.nodes, ","), nodes.on ? "on" : "off",
                     entry.why);
}

Driver::Driver(const Settings& settings, Journal journal, Ours ours)
    : budget_(settings.changes_per_s), journal_(std::move(journal)), ours_(std::move(ours)) {}

void Driver::add(std::unique_ptr<Lever> lever) {
  LeverState state{.name = std::string(lever->name())};
  levers_.push_back({std::move(lever), std::move(state)});
}

void Driver::set(const std::string& lever, Switch how) {
  for (Mounted& each : levers_) {
    if (each.state.name == lever) each.state.how = how;
  }
  // An operator who turns it on again knows who the others are.
  others_.clear();
  taken_over_.clear();
}

bool Driver::knows(const std::string& lever) const {
  return std::any_of(levers_.begin(), levers_.end(),
                     [&](const Mounted& each) { return each.state.name == lever; });
}

std::vector<std::string> Driver::names() const {
  std::vector<std::string> made;
  for (const Mounted& each : levers_) made.push_back(each.state.name);
  return made;
}

std::vector<LeverState> Driver::states() const {
  std::vector<LeverState> made;
  for (const Mounted& each : levers_) made.push_back(each.state);
  return made;
}

std::set<slurm::JobNumber> Driver::in_vain() const {
  std::set<slurm::JobNumber> made;
  for (const Mounted& each : levers_) made.merge(each.lever->in_vain());
  return made;
}

std::vector<std::string> Driver::warnings() const {
  std::vector<std::string> made;
  if (!others_.empty()) made.push_back(others_);
  if (!trouble_.empty()) made.push_back(trouble_);
  for (const Mounted& each : levers_) {
    if (each.state.how == Switch::on && !each.state.rests.empty()) {
      made.push_back(fmt::format("lever {} rests: {}", each.state.name, each.state.rests));
    }
    for (std::string& line : each.lever->warnings()) {
      if (each.state.how != Switch::off) made.push_back(std::move(line));
    }
    for (std::string& line : each.lever->left()) made.push_back(std::move(line));
  }
  return made;
}

void Driver::look_for_others(const Mirror& mirror) {
  ours_.forget_gone(mirror);
  std::erase_if(taken_over_, [&](const TakenOver& each) { return each.at < mirror.at() - 1h; });
  for (const slurm::JobNumber job : ours_.taken_over(mirror)) {
    left_alone_.insert(job);
    taken_over_.push_back({mirror.at(), mirror.find(job)->user});
  }
  std::erase_if(left_alone_, [&](slurm::JobNumber job) { return mirror.find(job) == nullptr; });
  std::erase_if(resting_, [&](const auto& each) { return each.second <= mirror.at(); });
  const bool is_one_user =
      std::all_of(taken_over_.begin(), taken_over_.end(),
                  [&](const TakenOver& each) { return each.user == taken_over_.front().user; });
  if (taken_over_.size() < kTooMany || is_one_user || !others_.empty()) return;
  others_ = fmt::format(
      "somebody else sets the order of jobs too, of {} within the hour: all levers are dry now",
      taken_over_.size());
  for (Mounted& each : levers_) {
    if (each.state.how == Switch::on) each.state.how = Switch::dry;
  }
}

Driver::Slice Driver::plan(const Scene& given, Time now) {
  look_for_others(given.mirror);
  Scene scene = given;
  scene.ours = &ours_;
  for (Mounted& each : levers_) look_whether_it_rests(each, scene);
  scene.places = acts("placement");
  scene.shares = acts("sharing");
  Slice slice;
  std::int64_t left = budget_.left(now);
  for (auto at = levers_.rbegin(); at != levers_.rend(); ++at) take(*at, scene, left, slice);
  if (journal_.size() > kLargestJournal) slice.standing = ours_.standing(scene.mirror.at());
  if (scene.can.watches) name_held(scene.mirror, now, slice);
  return slice;
}

/// The gateway, which is to release jobs when we are gone, knows of each before it is held, and
/// until it is released, whatever becomes of the lever; of those that the plugin held it knows as
/// soon as they are seen.
void Driver::name_held(const Mirror& mirror, Time now, Slice& slice) {
  std::set<slurm::JobNumber> held;
  for (const auto& [number, job] : mirror.jobs()) {
    if (waits(job) && is_held_by_us(job)) held.insert(number);
  }
  for (const Action& action : slice.actions) {
    const auto* const change = std::get_if<slurm::JobChange>(&action.change);
    if (change != nullptr && change->held == true) held.insert(change->job);
  }
  const bool all_named =
      std::includes(held_named_.begin(), held_named_.end(), held.begin(), held.end());
  if (all_named && watched_ != kNoTime && now - watched_ < kPresenceSign) return;
  watched_ = now;
  slice.watch.emplace(held.begin(), held.end());
}

void Driver::fall_silent(Duration at_most, slurm::Link& link) {
  if (held_named_.empty()) return;
  watched_ = kNoTime;
  // Where that is not heard they are released a while later, and held again: as ever.
  static_cast<void>(link.watch(held_named_, at_most));
}

void Driver::look_whether_it_rests(Mounted& mounted, const Scene& scene) const {
  LeverState& state = mounted.state;
  state.rests = mounted.lever->obstacle(scene.site, scene.can).value_or("");
  if (state.rests.empty()) state.rests = mounted.lever->lacks(scene).value_or("");
  if (state.rests.empty() && state.how == Switch::on) state.rests = rests_;
}

bool Driver::acts(std::string_view lever) const {
  return std::any_of(levers_.begin(), levers_.end(), [&](const Mounted& each) {
    return each.state.name == lever && each.state.how == Switch::on && each.state.rests.empty();
  });
}

void Driver::take(Mounted& mounted, const Scene& scene, std::int64_t& left, Slice& slice) {
  LeverState& state = mounted.state;
  state.wanted = 0;
  state.next.clear();
  const bool acts = state.how == Switch::on && state.rests.empty();
  if (!acts) {
    for (Action& action : mounted.lever->let_go(scene)) {
      if (left == 0) break;
      if (resting_.contains(job_of(action)) || has_action_for(slice, job_of(action))) continue;
      --left;
      put(mounted, std::move(action), scene, slice);
    }
  }
  if (state.how == Switch::off) state.rests.clear();
  if (state.how == Switch::off || !state.rests.empty()) return;
  for (Action& action : mounted.lever->want(scene)) {
    const slurm::JobNumber job = job_of(action);
    if (left_alone_.contains(job) || resting_.contains(job)) continue;
    if (is_out_of_scope(action, scene)) continue;
    if (forbidden(action, scene)) {
      ++state.refused;
      continue;
    }
    ++state.wanted;
    if (state.next.size() < kShown) {
      state.next.push_back(to_words(entry_of(action, state.name, scene)));
    }
    if (!acts || left == 0) continue;
    --left;
    put(mounted, std::move(action), scene, slice);
  }
}

void Driver::put(Mounted& mounted, Action action, const Scene& scene, Slice& slice) {
  slice.entries.push_back(entry_of(action, mounted.state.name, scene));
  slice.levers.push_back(mounted.lever.get());
  slice.actions.push_back(std::move(action));
}

Driver::Slice Driver::plan_undo(const Mirror& mirror, const std::string& why,
                                const std::set<std::string>& but) const {
  Slice slice;
  slice.entries = ours_.undoing(mirror);
  for (Entry& each : slice.entries) each.why = why;
  std::erase_if(slice.entries, [&](const Entry& each) { return but.contains(to_words(each)); });
  for (const Entry& entry : slice.entries) {
    slice.actions.push_back(action_of(entry));
    slice.levers.push_back(nullptr);
  }
  return slice;
}

void Driver::carry_out(Slice& slice, slurm::Link& link) {
  if (slice.watch) {
    if (const auto told = link.watch(*slice.watch, kPatience); !told) {
      slice.trouble = fmt::format("the jobs we hold are not watched over, nothing is changed: {}",
                                  to_string(told.error()));
      slice.watch.reset();
      slice.actions.clear();
    }
  }
  if (slice.actions.empty()) return;
  if (slice.standing) {
    if (const auto anew = journal_.begin_anew(*slice.standing); !anew) {
      slice.trouble = to_string(anew.error());
    }
  }
  if (const auto written = journal_.begin(slice.entries); !written) {
    slice.trouble = fmt::format("nothing is changed: {}", to_string(written.error()));
    slice.actions.clear();
    return;
  }
  const auto begun = std::chrono::steady_clock::now();
  std::vector<Result<void>>& results = slice.results;
  bool goes_on = true;
  while (goes_on && results.size() < slice.actions.size()) {
    const std::size_t at = results.size();
    std::vector<slurm::JobChange> changes;
    for (std::size_t next = at; next < slice.actions.size() && changes.size() < kAtOnce; ++next) {
      const auto* const change = std::get_if<slurm::JobChange>(&slice.actions[next].change);
      if (change == nullptr) break;
      changes.push_back(*change);
    }
    if (!changes.empty()) {
      auto answers = link.change(changes);
      answers.resize(changes.size(), not_tried());
      std::move(answers.begin(), answers.end(), std::back_inserter(results));
    } else if (const auto* const fate = std::get_if<FateChange>(&slice.actions[at].change)) {
      results.push_back(link.end(fate->job, fate->fate));
    } else if (std::holds_alternative<CoresChange>(slice.actions[at].change)) {
      // Agents are told all that stands, again and again: it stands from here on.
      results.emplace_back();
    } else if (const auto* const weighed = std::get_if<WeightChange>(&slice.actions[at].change)) {
      results.push_back(link.weigh(weighed->nodes, weighed->weight));
    } else {
      const auto& power = std::get<PowerChange>(slice.actions[at].change);
      results.push_back(link.power(power.nodes, power.on));
    }
    const bool answers = results.back() || results.back().error().code != Code::unavailable;
    goes_on = answers && std::chrono::steady_clock::now() - begun < kLongestSlice;
  }
  slice.tried = results.size();
  slice.took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun);
  for (std::size_t at = 0; at < slice.tried; ++at) {
    slice.failures.push_back(how_it_went(slice.entries[at], results[at]));
  }
  results.resize(slice.actions.size(), not_tried());
  slice.failures.resize(slice.actions.size(), kNotTried);
  if (const auto written = journal_.end(slice.failures); !written) {
    slice.trouble = to_string(written.error());
  }
}

bool Driver::settle(Slice& slice, Mirror& mirror) {
  const bool did_something = !slice.actions.empty() || slice.watch;
  if (!slice.trouble.empty() || did_something) trouble_ = slice.trouble;
  if (slice.watch) held_named_ = *std::move(slice.watch);
  bool is_changed = false;
  for (std::size_t at = 0; at < slice.actions.size(); ++at) {
    const Result<void>& result = slice.results[at];
    ours_.take(slice.entries[at], slice.failures[at]);
    if (result) {
      is_changed = true;
      if (const auto* const change = std::get_if<slurm::JobChange>(&slice.actions[at].change)) {
        mirror.note(*change);
      }
    }
    if (slice.levers[at] == nullptr || at >= slice.tried) continue;
    const bool is_refused = !result && result.error().code != Code::unavailable;
    if (const auto job = job_of(slice.actions[at]); is_refused && job != slurm::JobNumber{}) {
      resting_[job] = mirror.at() + kRest;
    }
    slice.levers[at]->hear(slice.actions[at], result);
    for (Mounted& mounted : levers_) {
      if (mounted.lever.get() != slice.levers[at]) continue;
      ++(result ? mounted.state.done : mounted.state.failed);
    }
  }
  if (!slice.actions.empty()) {
    budget_.spend(static_cast<std::int64_t>(slice.tried), slice.took);
  }
  return is_changed;
}

}  // namespace almanac::steer
