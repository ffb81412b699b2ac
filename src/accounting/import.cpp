// SPDX-License-Identifier: Apache-2.0
#include "accounting/import.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/number.h"

namespace almanac::accounting {
namespace {

constexpr const char* kKey = "slurm_import";
constexpr Duration kWindow = 24h * 7;
/// slurmctld keeps what slurmdbd could not take and tells it later, as a rule within a minute.
constexpr Duration kSettles = 5min;
/// Less is not worth a question.
constexpr Duration kLeastNews = 5min;
/// Some 40 ms of writing, for which others wait.
constexpr std::size_t kBatch = 1000;
/// How often one number may have been given.
constexpr std::uint32_t kMostAgain = 1000;

std::string spelled(const Reach& reach) {
  return fmt::format("{} {}", reach.from.time_since_epoch().count(),
                     reach.until.time_since_epoch().count());
}

Time whole_seconds(Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

/// The jobs of one batch, and of the store below it.
class Shelf {
 public:
  explicit Shelf(store::Store& store) : store_(store) {}

  /// False if the run is there already.
  Result<bool> add(store::Job row, manager::JobNumber number) {
    for (std::uint32_t again = 0; again < kMostAgain; ++again) {
      row.number = stored_number(number, again);
      auto known = find(row.number);
      if (!known) return tl::unexpected(known.error());
      if (*known && !is_of(**known, row)) continue;
      auto made = *known ? with_run(**known, row) : std::move(row);
      if (!made) return false;
      const store::JobNumber at = made->number;
      jobs_.insert_or_assign(at, std::move(*made));
      return true;
    }
    return fail(Code::invalid, fmt::format("accounting has more than {} jobs with number {}",
                                           kMostAgain, static_cast<std::uint32_t>(number)));
  }
  bool is_full() const { return jobs_.size() >= kBatch; }
  Result<void> write() {
    store::Store::Batch batch;
    for (auto& [number, job] : jobs_) batch.put(std::move(job));
    jobs_.clear();
    return batch.empty() ? Result<void>() : store_.commit(batch);
  }

 private:
  Result<std::optional<store::Job>> find(store::JobNumber number) const {
    const auto here = jobs_.find(number);
    if (here != jobs_.end()) return here->second;
    return store_.job(number);
  }

  store::Store& store_;
  std::map<store::JobNumber, store::Job> jobs_;
};

}  // namespace

Result<std::optional<Reach>> reach(const store::Store& store) {
  const auto kept = store.get(kKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return std::nullopt;
  const std::string_view words = **kept;
  const auto cut = std::min(words.find(' '), words.size());
  const auto from = text::parse_whole(words.substr(0, cut));
  const auto until = text::parse_whole(words.substr(std::min(cut + 1, words.size())));
  if (!from || !until || *from > *until) {
    return fail(Code::corrupt,
                fmt::format("the store has \"{}\" as the position of the import", words));
  }
  return Reach{.from = Time(Duration(*from)), .until = Time(Duration(*until))};
}

Result<Import::Taken> Import::take(Time from, Time until, bool back) {
  std::vector<manager::Job> rows;
  auto told = link_->ended(from, until, [&](manager::Job&& row) -> Result<void> {
    rows.push_back(std::move(row));
    return {};
  });
  if (!told) return tl::unexpected(told.error());
  // Runs are added to what is known at one end or the other, never in between.
  if (back) std::reverse(rows.begin(), rows.end());
  Taken taken{.rows = static_cast<std::int64_t>(rows.size()), .unread = link_->unread_rows()};
  Shelf shelf(*store_);
  for (const manager::Job& row : rows) {
    const auto is_new = shelf.add(past_job(row, vc_), row.number);
    if (!is_new) return tl::unexpected(is_new.error());
    taken.jobs += *is_new;
    if (!shelf.is_full()) continue;
    if (auto written = shelf.write(); !written) return tl::unexpected(written.error());
  }
  if (auto written = shelf.write(); !written) return tl::unexpected(written.error());
  return taken;
}

Result<Step> Import::step(Time now) {
  const auto kept = reach(*store_);
  if (!kept) return tl::unexpected(kept.error());
  const Time settled = whole_seconds(now - kSettles);
  Reach at = *kept ? **kept : Reach{.from = settled, .until = settled};
  const bool follows = settled - at.until >= kLeastNews;
  if (!follows && at.from <= back_to_) return Step{.reach = at, .done = true};
  const Reach window =
      follows
          ? Reach{.from = at.until, .until = std::min(settled, at.until + kWindow)}
          : Reach{.from = std::max(whole_seconds(back_to_), at.from - kWindow), .until = at.from};
  const auto taken = take(window.from, window.until, !follows);
  if (!taken) return tl::unexpected(taken.error());
  (follows ? at.until : at.from) = follows ? window.until : window.from;
  store::Store::Batch batch;
  batch.set(kKey, spelled(at));
  if (auto written = store_->commit(batch); !written) return tl::unexpected(written.error());
  return Step{.reach = at, .rows = taken->rows, .jobs = taken->jobs, .unread = taken->unread};
}

}  // namespace almanac::accounting
