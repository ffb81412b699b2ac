// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/undo.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "kube/lease.h"
#include "kube/picture.h"
#include "service/lock.h"
#include "steer_kube/lines.h"
#include "steer_kube/order_journal.h"
#include "steer_kube/order_lever.h"
#include "text/datetime.h"

namespace almanac::steer_kube {
namespace {

/// The pauses between passes double, and sum up to 31 s.
constexpr int kMostPasses = 6;
constexpr Duration kBetweenPasses = 1s;
constexpr Duration kLongestBetweenPasses = 30s;
/// After so many failures in a row the server is not there, and the pass ends.
constexpr int kMostInARow = 5;

using Queues = std::set<std::string>;

tl::unexpected<Error> is_held(const kube::LeaseState& lease, const std::string& name_space) {
  const std::string until =
      lease.until == kNoTime
          ? "an unknown time"
          : text::format_datetime(
                Time{std::chrono::ceil<std::chrono::seconds>(lease.until.time_since_epoch())}) +
                " UTC";
  return fail(Code::conflict,
              fmt::format("service {} holds the Lease {}/almanac until {}, and renews it while it "
                          "runs: it would write its numbers again",
                          lease.holder, name_space, until),
              {},
              fmt::format("stop it first (kubectl -n {} scale deployment almanac --replicas 0), or "
                          "wait until then if it has crashed; --force undoes all the same",
                          name_space));
}

/// Fails unless the state of the Lease lets undo begin. An identity without the right to read it
/// may undo all the same.
Result<void> may_begin(const Result<std::optional<kube::LeaseState>>& lease,
                       const std::string& name_space) {
  if (lease) {
    if (*lease && (*lease)->is_live()) return is_held(**lease, name_space);
    return {};
  }
  const Error& error = lease.error();
  if (error.code == Code::conflict) return {};
  return fail(error.code,
              fmt::format("the Lease {}/almanac cannot be read, so a service may still run: {}",
                          name_space, error.message),
              error.where, "run the command again; --force undoes all the same");
}

/// Looks at the Lease again after the last change: a service may have started meanwhile.
void look_again(kube::Client& client, const std::string& name_space, TakenBack& made) {
  const auto lease = kube::read_lease(client, name_space);
  if (!lease) {
    made.lease = to_string(lease.error());
  } else if (*lease && (*lease)->is_live()) {
    made.left.push_back(
        fmt::format("service {} has taken the Lease {}/almanac meanwhile, and may have written its "
                    "numbers again: stop it",
                    (*lease)->holder, name_space));
  }
}

class Undo {
 public:
  /// `backfilled` are queues that waited for Almanac's order.
  Undo(kube::Client& client, std::optional<OrderJournal> journal, Queues backfilled)
      : client_(client), journal_(std::move(journal)), backfilled_(std::move(backfilled)) {
    made_.has_journal = journal_.has_value();
  }

  Result<TakenBack> run() {
    for (int pass = 0;; ++pass) {
      pause_ = std::min<Duration>(kBetweenPasses * (1LL << pass), kLongestBetweenPasses);
      if (const auto picture = kube::take_picture(client_); picture) {
        if (auto looked = look(*picture); !looked) return tl::unexpected(looked.error());
        if (auto wrote = write_all(); !wrote) return tl::unexpected(wrote.error());
      } else if (pass == 0 || picture.error().code != Code::unavailable) {
        return tl::unexpected(picture.error());
      }
      if (wanted_.empty() || pass + 1 == kMostPasses) break;
      std::this_thread::sleep_for(pause_);
    }
    for (const Restore& each : wanted_) leave(each.change, why_[each.change.uid]);
    return std::move(made_);
  }

 private:
  struct Restore {
    Change change{};
    std::string version{};  ///< Of the workload.
  };

  /// Finds what is still to be taken back.
  Result<void> look(const kube::Picture& picture) {
    at_ = picture.at;
    api_version_ = picture.version;
    made_.alone.clear();
    for (const kueue::ClusterQueue& queue : picture.objects.setup.queues) {
      if (queue.is_strict && backfilled_.contains(queue.name)) made_.alone.insert(queue.name);
    }
    wanted_.clear();
    std::unordered_map<std::string, const kube::Workload*> known;
    for (const kube::Workload& each : picture.workloads) known.emplace(each.uid, &each);
    const auto claims = journal_ ? journal_->claims() : std::map<std::string, Claim>();
    for (const auto& [uid, claim] : claims) {
      if (given_up_.contains(uid)) continue;
      if (picture.unreadable.contains(uid)) {
        give_up(uid,
                fmt::format("not taken back: {}/{} cannot be read", claim.name_space, claim.name));
        continue;
      }
      const auto found = known.find(uid);
      const Number number =
          found == known.end() ? Number{} : number_of(*found->second, claim.field, &claim);
      const bool is_ours = found != known.end() && !number.is_foreign && claim.is_ours(number.now);
      if (is_ours && number.now != claim.base) {
        want(*found->second, claim, number.now);
        continue;
      }
      // A change without an answer may have been made.
      const bool is_done = found != known.end() && number.now == claim.base && why_.contains(uid);
      const bool is_replaced = found != known.end() && claim_to_undo(*found->second).has_value();
      if (is_done) {
        ++made_.changes;
      } else if (!is_replaced) {
        ++made_.gone;
      }
      if (auto kept = journal_->drop(uid, "not there", false); !kept) return kept;
    }
    for (const kube::Workload& each : picture.workloads) {
      const bool is_claimed = journal_ && journal_->claims().contains(each.uid);
      if (is_claimed || given_up_.contains(each.uid)) continue;
      if (const auto claim = claim_to_undo(each)) want(each, *claim, claim->value);
    }
    return {};
  }

  /// Returns what the mark of a workload that has not finished stands for.
  static std::optional<Claim> claim_to_undo(const kube::Workload& workload) {
    if (workload.stage == kube::Stage::finished) return std::nullopt;
    return marked_claim(workload);
  }

  void want(const kube::Workload& workload, const Claim& claim, std::int64_t now) {
    wanted_.push_back({{.uid = workload.uid,
                        .name_space = workload.name_space,
                        .name = workload.name,
                        .field = claim.field,
                        .base = claim.base,
                        .was = now,
                        .becomes = claim.base,
                        .why = "undo"},
                       workload.version});
  }

  /// Writes what is wanted; what may still succeed stays wanted.
  Result<void> write_all() {
    std::vector<Restore> again;
    int in_a_row = 0;
    for (const Restore& each : wanted_) {
      if (in_a_row == kMostInARow) {
        why_.try_emplace(each.change.uid, "the API server does not answer");
        again.push_back(each);
        continue;
      }
      const auto written = write(each);
      if (!written) return tl::unexpected(written.error());
      const int status = written->status;
      if (status >= 200 && status < 300) {
        ++made_.changes;
        in_a_row = 0;
        continue;
      }
      const bool is_busy = status == 0 || status == 429 || status >= 500;
      in_a_row = is_busy ? in_a_row + 1 : 0;
      if (status == 401 || status == 403) made_.lacks_right = true;
      if (is_busy || status == 404 || status == 409) {
        why_[each.change.uid] = written->message;
        pause_ = std::clamp(written->pause, pause_, kLongestBetweenPasses);
        again.push_back(each);
        continue;
      }
      leave(each.change, written->message);
    }
    wanted_ = std::move(again);
    return {};
  }

  Result<Written> write(const Restore& restore) {
    if (journal_) {
      if (auto begun = journal_->begin(restore.change, at_); !begun) {
        return tl::unexpected(begun.error());
      }
    }
    auto written = write_number(client_, api_version_, restore.change, restore.version);
    if (!written) written = Written{.status = 422, .message = written.error().message};
    if (journal_) {
      const bool is_unknown = written->status == 0 || written->status >= 500;
      const auto failure = is_unknown ? std::nullopt : std::optional(written->message);
      if (auto ended = journal_->end(failure); !ended) return tl::unexpected(ended.error());
    }
    return written;
  }

  void leave(const Change& change, const std::string& why) {
    give_up(change.uid, "not taken back: " + to_words(change) + ": " + why);
  }
  void give_up(const std::string& uid, std::string words) {
    given_up_.insert(uid);
    made_.left.push_back(std::move(words));
  }

  kube::Client& client_;
  std::optional<OrderJournal> journal_;
  Queues backfilled_;
  Time at_{};
  std::string api_version_{};
  std::vector<Restore> wanted_{};
  std::map<std::string, std::string> why_{};  ///< By uid, why the last try failed.
  std::set<std::string> given_up_{};          ///< Uids that are in `left`.
  Duration pause_{};
  TakenBack made_{};
};

}  // namespace

Result<TakenBack> undo(const UndoOptions& options, kube::Client& client) {
  const std::string& state = options.state;
  const std::string path = state + "/order.jsonl";
  std::error_code unreadable;
  const bool has_journal = std::filesystem::exists(path, unreadable);
  if (unreadable) {
    return fail(Code::unavailable, fmt::format("cannot be read: {}", unreadable.message()),
                {.file = path},
                "run it as the user of the service, or give --state a directory that does not "
                "exist: the annotations of the workloads are then enough");
  }
  std::optional<service::Lock> lock;
  if (std::filesystem::exists(state, unreadable)) {
    auto taken = service::Lock::take(service::lock_of_folder(state), "this folder");
    if (!taken) return tl::unexpected(taken.error());
    lock.emplace(std::move(*taken));
  }
  const auto lease = kube::read_lease(client, options.lease_space);
  if (!options.is_forced) {
    if (auto may = may_begin(lease, options.lease_space); !may) return tl::unexpected(may.error());
  }
  std::optional<OrderJournal> journal;
  if (has_journal) {
    auto opened = OrderJournal::open(path);
    if (!opened) return tl::unexpected(opened.error());
    const auto cluster = kube::cluster_uid(client);
    if (!cluster) return tl::unexpected(cluster.error());
    if (auto bound = opened->bind(*cluster); !bound) return tl::unexpected(bound.error());
    journal.emplace(std::move(*opened));
  }
  auto made =
      Undo(client, std::move(journal), lease && *lease ? (*lease)->backfilled : Queues{}).run();
  if (!made) return made;
  if (!lease) {
    made->lease = to_string(lease.error());
  } else if (!*lease && (made->changes > 0 || made->gone > 0 || !made->left.empty())) {
    made->lease = fmt::format("there is no Lease {}/almanac", options.lease_space);
  }
  if (!options.is_forced) look_again(client, options.lease_space, *made);
  return made;
}

}  // namespace almanac::steer_kube
