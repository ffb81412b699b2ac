// SPDX-License-Identifier: Apache-2.0
#include "steer/undo.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "steer/control.h"
#include "steer/lock.h"

namespace almanac::steer {

Result<std::pair<Journal, Ours>> open_journal(const std::string& state) {
  const std::string path = state + "/journal.jsonl";
  auto journal = Journal::open(path);
  if (!journal) return tl::unexpected(journal.error());
  Ours ours;
  const auto read = Journal::read(
      path, [&](const Entry& entry, const Failure& failed) { ours.take(entry, failed); });
  if (!read) return tl::unexpected(read.error());
  return std::pair{std::move(*journal), std::move(ours)};
}

Result<std::int64_t> take_back(Driver& driver, Mirror& mirror, slurm::Link& link, std::mutex& mutex,
                               const std::string& why) {
  std::int64_t done = 0;
  std::unique_lock lock(mutex);
  Driver::Slice slice = driver.plan_undo(mirror, why);
  while (!slice.actions.empty()) {
    lock.unlock();
    driver.carry_out(slice, link);
    lock.lock();
    if (!slice.trouble.empty()) return fail(Code::unavailable, slice.trouble);
    driver.settle(slice, mirror);
    const auto settled =
        std::count_if(slice.results.begin(), slice.results.end(),
                      [](const Result<void>& result) { return result || is_past(result); });
    if (settled == 0) return tl::unexpected(slice.results.front().error());
    done += settled;
    slice = driver.plan_undo(mirror, why);
  }
  return done;
}

Result<std::int64_t> undo_without_service(
    const std::string& state,
    const std::function<Result<std::unique_ptr<slurm::Link>>()>& connect) {
  if (!std::filesystem::exists(state + "/journal.jsonl")) {
    return fail(Code::not_found, "nothing was ever done to a Slurm from this folder",
                {.file = state});
  }
  const auto folder = Lock::take(lock_of_folder(state), "this folder");
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
  auto done = take_back(driver, mirror, **link, mutex);
  if (!done) return done;
  const auto written = change_switches(state, [](Switches& all) {
    for (auto& [lever, how] : all) how = Switch::off;
  });
  if (!written) return tl::unexpected(written.error());
  return done;
}

}  // namespace almanac::steer
