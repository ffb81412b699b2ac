// SPDX-License-Identifier: Apache-2.0
#include "steer/driver.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "steer/leases.h"

namespace almanac::steer {
namespace {

/// Leases take so much of a slice at most that have no need to be renewed yet.
constexpr std::size_t kShareOfRenewals = 4;
/// If others set the order of this many jobs within an hour, that is no chance. Exception: jobs of
/// one user, who may lower the priority of their own.
constexpr std::size_t kTooMany = 5;
constexpr std::size_t kShown = 5;
/// What the manager has refused once is not asked again at once.
constexpr Duration kRest = 60s;
/// Size in bytes above which a new journal begins: some 400,000 changes.
constexpr std::int64_t kLargestJournal = 64 << 20;

Entry entry_of(Action action, std::string_view lever, const Scene& scene) {
  Entry made{scene.mirror.at(), std::string(lever), std::move(action.change),
             std::move(action.why)};
  std::visit(
      [&](auto& change) {
        if constexpr (requires { change.begin(scene); }) change.begin(scene);
      },
      made.what);
  return made;
}

/// The job whose place it changes; 0 = it is about something else.
manager::JobNumber job_of(const Change& change) {
  const auto* const queued = std::get_if<QueueChange>(&change);
  return queued == nullptr ? manager::JobNumber{} : queued->becomes.job;
}

/// Two levers may give back the same job.
bool has_change_of(const Slice& slice, manager::JobNumber job) {
  return job != manager::JobNumber{} &&
         std::any_of(slice.entries.begin(), slice.entries.end(),
                     [&](const Entry& each) { return job_of(each.what) == job; });
}

}  // namespace

Driver::Driver(const Settings& settings, Journal journal, Claims claims)
    : budget_(settings.changes_per_s), journal_(std::move(journal)), claims_(std::move(claims)) {}

void Driver::add(std::string name, std::unique_ptr<Lever> lever) {
  service::LeverView state{.name = std::move(name)};
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

std::vector<service::LeverView> Driver::states() const {
  std::vector<service::LeverView> made;
  for (const Mounted& each : levers_) made.push_back(each.state);
  return made;
}

bool Driver::decides_queue() const {
  return std::any_of(levers_.begin(), levers_.end(),
                     [](const Mounted& each) { return acts(each) && each.lever->decides_queue(); });
}

std::set<manager::JobNumber> Driver::in_vain(const Scene& given) const {
  const Scene scene = seen_by_levers(given);
  std::set<manager::JobNumber> made;
  for (const Mounted& each : levers_) {
    if (acts(each)) made.merge(each.lever->in_vain(scene));
  }
  return made;
}

Scene Driver::seen_by_levers(Scene scene) const {
  const auto is_up = [&](std::string_view lever) {
    return std::any_of(levers_.begin(), levers_.end(),
                       [&](const Mounted& each) { return each.state.name == lever && acts(each); });
  };
  scene.claims = &claims_;
  scene.places = is_up("placement");
  scene.shares = is_up("sharing");
  scene.lease = lease_;
  return scene;
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

std::vector<Entry> Driver::look_for_others(const Mirror& mirror) {
  std::vector<Entry> seen;
  claims_.forget_gone(mirror);
  std::erase_if(taken_over_, [&](const TakenOver& each) { return each.at < mirror.at() - 1h; });
  for (QueueChange& each : claims_.of<QueueChange>().take_over(mirror)) {
    taken_over_.push_back({mirror.at(), mirror.find(each.becomes.job)->user});
    seen.push_back(
        {mirror.at(), "order", std::move(each), "another program or person set its order"});
  }
  std::erase_if(resting_, [&](const auto& each) { return each.second <= mirror.at(); });
  const bool is_one_user =
      std::all_of(taken_over_.begin(), taken_over_.end(),
                  [&](const TakenOver& each) { return each.user == taken_over_.front().user; });
  if (taken_over_.size() < kTooMany || is_one_user || !others_.empty()) return seen;
  others_ = fmt::format(
      "another program or person sets the order of jobs too ({} jobs within the hour): all levers "
      "are dry now",
      taken_over_.size());
  for (Mounted& each : levers_) {
    if (each.state.how == Switch::on) each.state.how = Switch::dry;
  }
  return seen;
}

Slice Driver::plan(const Scene& given, Time now) {
  Slice slice{.seen = look_for_others(given.mirror)};
  for (Mounted& each : levers_) look_whether_it_rests(each, seen_by_levers(given));
  lease_ = lease_for(count_leases(given.mirror), budget_.rate());
  const Scene scene = seen_by_levers(given);
  std::int64_t left = budget_.left(now);
  const std::int64_t most = left;
  for (auto at = levers_.rbegin(); at != levers_.rend(); ++at) take(*at, scene, left, slice);
  if (journal_.size() > kLargestJournal) slice.standing = claims_.standing(scene.mirror.at());
  renew(scene, most, slice);
  return slice;
}

/// Renews the holds that no slice changes. If nothing could be released, it renews nothing, and
/// the manager then starts jobs by itself.
void Driver::renew(const Scene& scene, std::int64_t left, Slice& slice) const {
  if (!trouble_.empty() || (!scene.places && !scene.shares)) return;
  std::set<manager::JobNumber> changed;
  for (const Entry& each : slice.entries) changed.insert(job_of(each.what));
  const auto most = static_cast<std::size_t>(left);
  slice.renewals = renewals(scene.mirror, scene.lease, most / kShareOfRenewals, most, changed);
}

void Driver::look_whether_it_rests(Mounted& mounted, const Scene& scene) const {
  service::LeverView& state = mounted.state;
  state.rests = mounted.lever->obstacle(scene.site, scene.can).value_or("");
  if (state.rests.empty()) state.rests = mounted.lever->lacks(scene).value_or("");
  if (state.rests.empty() && state.how == Switch::on) state.rests = rests_;
}

bool Driver::acts(const Mounted& mounted) {
  return mounted.state.how == Switch::on && mounted.state.rests.empty();
}

void Driver::take(Mounted& mounted, const Scene& scene, std::int64_t& left, Slice& slice) {
  service::LeverView& state = mounted.state;
  state.wanted = 0;
  state.next.clear();
  if (!acts(mounted)) {
    for (Action& action : mounted.lever->let_go(scene)) {
      if (left == 0) break;
      const manager::JobNumber job = job_of(action.change);
      if (resting_.contains(job) || has_change_of(slice, job)) continue;
      --left;
      put(mounted, entry_of(std::move(action), state.name, scene), slice);
    }
  }
  if (state.how == Switch::off) state.rests.clear();
  if (state.how == Switch::off || !state.rests.empty()) return;
  for (Action& action : mounted.lever->want(scene)) {
    const manager::JobNumber job = job_of(action.change);
    if (resting_.contains(job)) continue;
    const auto is_in_scope = [&](const auto& change) { return change.is_in_scope(scene); };
    if (!std::visit(is_in_scope, action.change)) continue;
    const auto forbidden = [&](const auto& change) { return change.forbidden(scene); };
    if (std::visit(forbidden, action.change)) {
      ++state.refused;
      continue;
    }
    ++state.wanted;
    const bool is_shown = state.next.size() < kShown;
    const bool is_done = acts(mounted) && left > 0;
    if (!is_shown && !is_done) continue;
    Entry entry = entry_of(std::move(action), state.name, scene);
    if (is_shown) state.next.push_back(to_words(entry));
    if (!is_done) continue;
    --left;
    put(mounted, std::move(entry), slice);
  }
}

void Driver::put(Mounted& mounted, Entry entry, Slice& slice) {
  slice.entries.push_back(std::move(entry));
  slice.levers.push_back(mounted.lever.get());
}

Slice Driver::plan_undo(const Mirror& mirror, const std::string& why,
                        const std::set<std::string>& but) const {
  Slice slice;
  slice.entries = claims_.undoing(mirror, why);
  std::erase_if(slice.entries, [&](const Entry& each) { return but.contains(to_words(each)); });
  slice.levers.assign(slice.entries.size(), nullptr);
  return slice;
}

bool Driver::settle(Slice& slice, Mirror& mirror) {
  if (!slice.trouble.empty() || !slice.entries.empty()) trouble_ = slice.trouble;
  for (std::size_t at = 0; at < slice.renewed.size(); ++at) {
    if (slice.renewed[at]) mirror.note(slice.renewals[at]);
  }
  bool is_changed = false;
  std::size_t asked = slice.renewed.size();
  for (std::size_t at = 0; at < slice.entries.size(); ++at) {
    const Change& change = slice.entries[at].what;
    const Outcome& outcome = slice.outcomes[at];
    claims_.take(slice.entries[at], slice.failures[at]);
    if (outcome.kind == Outcome::Kind::not_tried) continue;
    ++asked;
    const auto* const queued = std::get_if<QueueChange>(&change);
    if (outcome) {
      is_changed = true;
      if (queued != nullptr) mirror.note(queued->becomes);
    }
    if (slice.levers[at] == nullptr) continue;
    if (queued != nullptr && !outcome.may_be()) resting_[job_of(change)] = mirror.at() + kRest;
    slice.levers[at]->hear(change, outcome);
    for (Mounted& mounted : levers_) {
      if (mounted.lever.get() != slice.levers[at]) continue;
      ++(outcome ? mounted.state.done : mounted.state.failed);
    }
  }
  if (asked > 0) budget_.spend(static_cast<std::int64_t>(asked), slice.took);
  return is_changed;
}

}  // namespace almanac::steer
