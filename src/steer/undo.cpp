// SPDX-License-Identifier: Apache-2.0
#include "steer/undo.h"

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "service/lock.h"
#include "steer/control.h"

namespace almanac::steer {

Result<std::pair<Journal, Claims>> open_journal(const std::string& state) {
  const std::string path = state + "/journal.jsonl";
  auto journal = Journal::open(path);
  if (!journal) return tl::unexpected(journal.error());
  Claims claims;
  const auto read = Journal::read(
      path, [&](const Entry& entry, const Failure& failed) { claims.take(entry, failed); });
  if (!read) return tl::unexpected(read.error());
  return std::pair{std::move(*journal), std::move(claims)};
}

namespace {

/// Says what was refused, and who else may do it.
std::string in_words(const Entry& entry, const Error& error) {
  std::string made = fmt::format("not taken back: {}: {}", to_words(entry), to_string(error));
  if (std::holds_alternative<WeightChange>(entry.what)) {
    made += "; scontrol reconfigure restores the weights of slurm.conf";
  }
  return made;
}

}  // namespace

Result<TakenBack> take_back(Driver& driver, Mirror& mirror, std::mutex& mutex,
                            const std::function<void(Slice&)>& act, const std::string& why) {
  TakenBack made;
  std::set<std::string> refused;
  std::unique_lock lock(mutex);
  Slice slice = driver.plan_undo(mirror, why);
  while (!slice.entries.empty()) {
    lock.unlock();
    act(slice);
    lock.lock();
    if (!slice.trouble.empty()) return fail(Code::unavailable, slice.trouble);
    driver.settle(slice, mirror);
    bool goes_on = false;
    for (std::size_t at = 0; at < slice.entries.size(); ++at) {
      const Outcome& outcome = slice.outcomes[at];
      switch (outcome.kind) {
        case Outcome::Kind::unknown:
        case Outcome::Kind::not_tried:
          continue;
        case Outcome::Kind::refused:
          refused.insert(to_words(slice.entries[at]));
          made.left.push_back(in_words(slice.entries[at], outcome.why));
          break;
        case Outcome::Kind::done:
        case Outcome::Kind::past:
          ++made.changes;
      }
      goes_on = true;
    }
    if (!goes_on) return tl::unexpected(slice.outcomes.front().why);
    slice = driver.plan_undo(mirror, why, refused);
  }
  return made;
}

Result<TakenBack> undo_without_service(
    const std::string& state,
    const std::function<Result<std::unique_ptr<manager::Link>>()>& connect) {
  if (!std::filesystem::exists(state + "/journal.jsonl")) {
    return fail(Code::not_found, "Almanac never changed a Slurm cluster from this folder",
                {.file = state});
  }
  const auto folder = service::Lock::take(service::lock_of_folder(state), "this folder");
  if (!folder) return tl::unexpected(folder.error());
  auto journal = open_journal(state);
  if (!journal) return tl::unexpected(journal.error());
  auto link = connect();
  if (!link) return tl::unexpected(link.error());
  auto news = (*link)->news();
  if (!news) return tl::unexpected(news.error());
  Mirror mirror;
  mirror.take(std::move(*news));
  Driver driver({}, std::move(journal->first), std::move(journal->second));
  std::mutex mutex;
  auto done =
      take_back(driver, mirror, mutex, [&](Slice& slice) { driver.carry_out(slice, **link); });
  if (!done) return done;
  const auto written = change_switches(state, [](Switches& all) {
    for (auto& [lever, how] : all) how = Switch::off;
  });
  if (!written) return tl::unexpected(written.error());
  return done;
}

}  // namespace almanac::steer
