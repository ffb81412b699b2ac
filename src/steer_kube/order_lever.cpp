// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/order_lever.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kueue/ranks.h"

namespace almanac::steer_kube {
namespace {

using nlohmann::json;
using service::Switch;

constexpr const char* kBoost = "kueue.x-k8s.io/priority-boost";
/// Kueue's field manager: what it writes is no edit of a person.
constexpr std::string_view kKueue = "kueue";
constexpr int kMostRefusals = 5;
constexpr Duration kAfterRefusals = 10min;
constexpr Duration kNoRight = 1min;
constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 1min;
constexpr std::size_t kShown = 5;

/// Names of Kubernetes objects are DNS names: nothing in them changes a path.
bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 253 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

}  // namespace

Result<Written> write_number(kube::Client& client, const std::string& api_version,
                             const Change& change, const std::string& resource_version) {
  if (!is_name(change.name_space) || !is_name(change.name)) {
    return fail(Code::invalid, "no Kubernetes object has such a name");
  }
  json body{{"metadata", {{"uid", change.uid}, {"resourceVersion", resource_version}}}};
  json& annotations = body["metadata"]["annotations"];
  if (change.field == Field::priority) {
    body["spec"]["priority"] = change.becomes;
  } else if (change.becomes == 0) {
    annotations[kBoost] = nullptr;
  } else {
    annotations[kBoost] = std::to_string(change.becomes);
  }
  if (change.becomes == change.base) {
    annotations[kube::kMark] = nullptr;
  } else {
    annotations[kube::kMark] =
        to_text(kube::Mark{.field = change.field, .base = change.base, .value = change.becomes});
  }
  const std::string path =
      fmt::format("/apis/kueue.x-k8s.io/{}/namespaces/{}/workloads/{}?fieldManager=almanac",
                  api_version, change.name_space, change.name);
  const auto answer = client.send("PATCH", path, body.dump());
  if (!answer) return Written{.message = to_string(answer.error())};
  Written made{.status = answer->status, .pause = answer->retry_after};
  if (!answer->good()) made.message = kube::refusal(*answer, path).message;
  return made;
}

void OrderLever::drop(const std::string& uid, const std::string& why, bool is_foreign) {
  if (auto done = journal_.drop(uid, why, is_foreign); !done) trouble_ = to_string(done.error());
}

void OrderLever::adopt(const kube::Picture& picture) {
  for (const kube::Workload& workload : picture.workloads) {
    if (!workload.mark || workload.stage == kube::Stage::finished) continue;
    // A picture from before the last write still has the mark that the write removed.
    if (journal_.claims().contains(workload.uid) || tried_.contains(workload.uid)) continue;
    const auto claim = marked_claim(workload);
    if (!claim || foreign().contains(workload.uid)) continue;
    if (auto kept = journal_.adopt(workload.uid, *claim, picture.at); !kept) {
      trouble_ = to_string(kept.error());
    }
  }
}

void OrderLever::reconcile(const kube::Picture& picture) {
  std::unordered_map<std::string_view, const kube::Workload*> known;
  for (const kube::Workload& each : picture.workloads) known.emplace(each.uid, &each);
  struct Over {
    std::string uid;
    const char* why;
    bool is_foreign = false;
  };
  std::vector<Over> over;
  for (const auto& [uid, claim] : journal_.claims()) {
    if (picture.unreadable.contains(uid)) continue;
    const auto found = known.find(uid);
    if (found == known.end()) {
      over.push_back({uid, "deleted"});
      continue;
    }
    const kube::Workload& workload = *found->second;
    if (workload.stage == kube::Stage::finished) {
      over.push_back({uid, "finished"});
      continue;
    }
    const auto tried = tried_.find(uid);
    const bool is_news = tried == tried_.end() || tried->second != workload.version;
    const Number number = number_of(workload, claim.field, &claim);
    if (!is_news || (!number.is_foreign && claim.is_ours(number.now))) continue;
    if (number.now == claim.base || workload.priority_writer == kKueue) {
      // Kueue writes the priority of a class again whenever it starts.
      budget_.refund();
      over.push_back({uid, "as it was before Almanac"});
    } else if (marked_claim(workload)) {
      over.push_back({uid, "written by another Almanac"});
    } else {
      over.push_back({uid, "written by another", true});
    }
  }
  for (const std::string& uid : journal_.foreign()) {
    if (!known.contains(uid) && !picture.unreadable.contains(uid)) over.push_back({uid, "deleted"});
  }
  for (const Over& each : over) drop(each.uid, each.why, each.is_foreign);
  std::erase_if(tried_, [&](const auto& each) {
    const auto found = known.find(each.first);
    return found == known.end() || found->second->version != each.second;
  });
}

void OrderLever::plan_restores(const kube::Picture& picture, const std::set<std::string>& ranked,
                               std::vector<Next>& made) const {
  for (const kube::Workload& workload : picture.workloads) {
    const auto claim = journal_.claims().find(workload.uid);
    if (claim == journal_.claims().end()) continue;
    const bool waits = workload.stage == kube::Stage::pending;
    if (settings_.order == Switch::on && (!waits || ranked.contains(workload.uid))) continue;
    const Number number = number_of(workload, claim->second.field, &claim->second);
    if (number.now == claim->second.base || number.is_foreign) continue;
    made.push_back({{.uid = workload.uid,
                     .name_space = workload.name_space,
                     .name = workload.name,
                     .field = claim->second.field,
                     .base = claim->second.base,
                     .was = number.now,
                     .becomes = claim->second.base,
                     .why = "as it was before Almanac"},
                    workload.version,
                    /*is_restore=*/true});
  }
}

void OrderLever::plan(const kube::Picture& picture, const std::vector<Line>& lines) {
  std::set<std::string> ranked;  // uids that may keep a rank
  // A number of the other field is given back first: a workload has one claim.
  const auto is_of_other_field = [&](const std::string& uid) {
    const auto claim = journal_.claims().find(uid);
    return claim != journal_.claims().end() && claim->second.field != settings_.field;
  };
  std::vector<Next> wanted;
  for (const Line& line : lines) {
    if (!line.obstacle.empty() || settings_.order == Switch::off) continue;
    std::vector<kueue::Ranked> as_kueue;
    for (const Place& place : line.places) {
      const kube::Workload& workload = picture.workloads[place.workload];
      if (!is_of_other_field(workload.uid)) ranked.insert(workload.uid);
      as_kueue.push_back({.base = place.base,
                          .rank = place.rank,
                          .created = workload.created,
                          .uid = workload.uid});
    }
    const std::vector<std::int64_t> ranks = kueue::ranks_of(as_kueue, line.bands);
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      const Place& place = line.places[at];
      if (ranks[at] == place.rank) continue;
      const kube::Workload& workload = picture.workloads[place.workload];
      if (is_of_other_field(workload.uid)) continue;
      const bool is_boost = settings_.field == Field::boost;
      const std::int64_t base = is_boost ? 0 : place.base;
      const std::int64_t becomes = kueue::ranked_priority(base, ranks[at]);
      if (becomes == base + place.rank) continue;
      wanted.push_back(
          {{.uid = workload.uid,
            .name_space = workload.name_space,
            .name = workload.name,
            .field = settings_.field,
            .base = base,
            .was = base + place.rank,
            .becomes = becomes,
            .why = fmt::format("place {} of {} in {}", at + 1, line.places.size(), line.queue)},
           workload.version,
           /*is_restore=*/false,
           line.is_strict});
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const Next& a, const Next& b) {
    const auto urgency = [](const Change& of) {
      return kueue::urgency_of(of.was - of.base, of.becomes - of.base);
    };
    return urgency(a.change) > urgency(b.change);
  });
  wanted_.clear();
  plan_restores(picture, ranked, wanted_);
  wanted_.insert(wanted_.end(), wanted.begin(), wanted.end());
}

std::string OrderLever::why_idle(const std::vector<Line>& lines) const {
  std::string made = "no queue may get ranks";
  for (const Line& line : lines) {
    if (!settings_.canary.empty() && !settings_.canary.contains(line.queue)) continue;
    return fmt::format("{}; {}: {}", made, line.queue, line.obstacle);
  }
  return made;
}

void OrderLever::look(const kube::Picture& picture, const std::vector<Line>& lines,
                      std::int64_t ended) {
  reconcile(picture);
  // A dry service leaves alone what another service has in force.
  if (settings_.order != Switch::dry) adopt(picture);
  std::vector<std::string> charged;
  bool may_act = false;
  for (const Line& line : lines) {
    if (!line.obstacle.empty()) continue;
    may_act = true;
    if (!line.is_strict) charged.push_back(line.queue);
  }
  budget_.look(charged, ended);
  idle_ = may_act || settings_.order == Switch::off ? "" : why_idle(lines);
  plan(picture, lines);
}

bool OrderLever::wants_lease() const {
  return settings_.order == Switch::on || !journal_.claims().empty();
}

std::optional<OrderLever::Next> OrderLever::next(Instant now) {
  if (!rests_.empty() || now < paused_until_) return std::nullopt;
  pause_.clear();
  for (const Next& each : wanted_) {
    if (!each.is_restore && settings_.order != Switch::on) continue;
    if (each.is_charged() && !budget_.has_left()) continue;
    const auto tried = tried_.find(each.change.uid);
    if (tried != tried_.end() && tried->second == each.version) continue;
    return each;
  }
  return std::nullopt;
}

Result<void> OrderLever::begin(const Next& next, Time at) {
  auto begun = journal_.begin(next.change, at);
  trouble_ = begun ? "" : to_string(begun.error());
  return begun;
}

void OrderLever::end(const Next& next, const Written& written, Instant now) {
  const bool is_good = written.status >= 200 && written.status < 300;
  const bool is_unknown = written.status == 0 || written.status >= 500;
  const auto failure = is_good      ? std::optional<std::string>("")
                       : is_unknown ? std::nullopt
                                    : std::optional(written.message);
  if (auto kept = journal_.end(failure); !kept) trouble_ = to_string(kept.error());
  tried_[next.change.uid] = next.version;
  const auto pause = [&](Duration length, std::string why) {
    paused_until_ = now + length;
    pause_ = std::move(why);
  };
  if (is_good) {
    ++done_;
    if (next.is_charged()) budget_.spend();
    failures_ = 0;
    refusals_ = 0;
    return;
  }
  if (written.status == 404 || written.status == 409 || written.status == 422) {
    ++refused_;
    // Kueue changes workloads and deletes them all the time.
    if (written.status != 422) return;
    if (++refusals_ >= kMostRefusals) {
      refusals_ = 0;
      pause(kAfterRefusals, fmt::format("{} changes in a row were refused, the last one: {}",
                                        kMostRefusals, written.message));
    }
    return;
  }
  ++failed_;
  // The same may be tried again.
  tried_.erase(next.change.uid);
  if (written.status == 401 || written.status == 403) return pause(kNoRight, written.message);
  const Duration doubled = kFirstPause * (1LL << std::min(failures_++, 6));
  pause(std::max(std::min(doubled, kLongestPause), written.pause), written.message);
}

service::LeverView OrderLever::view() const {
  service::LeverView made{.name = "order",
                          .how = settings_.order,
                          .rests = !rests_.empty()   ? rests_
                                   : !pause_.empty() ? pause_
                                                     : idle_,
                          .wanted = std::ssize(wanted_),
                          .done = done_,
                          .failed = failed_,
                          .refused = refused_};
  for (std::size_t at = 0; at < std::min(kShown, wanted_.size()); ++at) {
    made.next.push_back(to_words(wanted_[at].change));
  }
  return made;
}

std::vector<std::string> OrderLever::warnings() const {
  std::vector<std::string> made;
  if (!trouble_.empty()) made.push_back("the journal cannot be written: " + trouble_);
  if (!foreign().empty()) {
    made.push_back(fmt::format("another writes the numbers of {} workloads, which Almanac leaves",
                               foreign().size()));
  }
  return made;
}

}  // namespace almanac::steer_kube
