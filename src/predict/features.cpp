// SPDX-License-Identifier: Apache-2.0
#include "predict/features.h"

#include <chrono>

#include <fmt/format.h>

#include "base/check.h"
#include "text/human.h"

namespace almanac::predict {
namespace {

constexpr std::size_t kBurstFeatures = 4 + 2 * Burst::kMates;
constexpr std::size_t kUserFeatures = 12 + kBurstFeatures;
static_assert(kOwnFeatures == 11 + kUserFeatures);

/// A length of time on the scale of run times.
float log_span(Duration span) { return static_cast<float>(log_time(span)); }

class RowWriter {
 public:
  void put(float value) { row_[used_++] = value; }
  void put(double value) { put(static_cast<float>(value)); }
  void skip(std::size_t count) {
    for (; count > 0; --count) put(kMissing);
  }
  const Row& done() const {
    ALMANAC_CHECK(used_ == kFeatures, "{} of {} features", used_, kFeatures);
    return row_;
  }

 private:
  Row row_{};
  std::size_t used_ = 0;
};

void put_request(RowWriter& row, const trace::Request& request) {
  // A CPU job stands below all that have a GPU.
  row.put(request.gpus > 0 ? std::log2(request.gpus) : -1);
  row.put(request.nodes > 0 ? std::log2(request.nodes) : kMissing);
  row.put(request.cpus);
  row.put(request.gpus > 0 ? request.cpus / static_cast<float>(request.gpus) : kMissing);
  row.put(request.memory_gb);
  row.put(request.time_limit != kNoDuration ? log_span(request.time_limit) : kMissing);
  constexpr std::int64_t kDay = 24 * 3600;
  const std::int64_t at = request.submit.time_since_epoch() / 1s;
  const std::int64_t day = (at - ((at % kDay) + kDay) % kDay) / kDay;
  row.put(static_cast<double>(at - day * kDay) / 3600);
  row.put(static_cast<double>(((day + 3) % 7 + 7) % 7));  // day 0 was a Thursday; 0 = Monday
}

/// How many jobs are underway, and for how long.
void put_underway(RowWriter& row, const UnderwayList& list, Time now) {
  const std::span<const Underway> jobs = list.jobs();
  row.put(std::log1p(static_cast<double>(jobs.size())));
  row.put(jobs.empty() ? kMissing : log_span(now - jobs.front().submit));
  row.put(jobs.empty() ? kMissing : log_span(now - jobs.back().submit));
}

void put_activity(RowWriter& row, const Memory& memory, const KindKeys& keys,
                  const trace::Request& request) {
  const Time now = request.submit;
  row.put(std::log1p(memory.jobs_underway()));
  row.put(std::log1p(static_cast<double>(memory.gpus_underway())));
  row.put(std::log1p(memory.submissions().at(now)));
  const Activity* const user = memory.activity(request.user);
  if (user == nullptr || user->last_submit == kNoTime) return row.skip(kUserFeatures);
  row.put(log_span(now - user->last_submit));
  row.put(std::log1p(user->hour.at(now)));
  row.put(std::log1p(user->day.at(now)));
  for (const float share : user->classes) row.put(share);
  row.put(static_cast<double>(user->in_a_row));
  put_underway(row, user->underway, now);
  const Burst* const burst = memory.burst(keys);
  if (burst == nullptr) return row.skip(kBurstFeatures);
  put_underway(row, burst->underway, now);
  row.put(std::log1p(burst->hour.at(now)));
  for (const Burst::Mate& mate : burst->mates) {
    const bool none = mate.job == kNoJob;
    row.put(none ? kMissing : log_span(now - mate.submit));
    row.put(none || !mate.ended ? kMissing : mate.log);
  }
}

void put_recent(RowWriter& row, const Recent* recent, Time now) {
  if (recent == nullptr) return row.skip(kKindFeatures);
  row.put(std::log1p(recent->count()));
  row.put(recent->median());
  row.put(recent->faded());
  const auto logs = recent->sorted();
  const std::size_t kept = recent->kept();
  row.put(recent->log(0));
  row.put(logs[kept / 5]);
  row.put(logs[kept - 1 - kept / 5]);
  row.put(log_span(now - recent->last()));
}

std::vector<FeatureName> make_names() {
  std::vector<FeatureName> names = {
      {"gpus", "its GPUs", Scale::log2},
      {"nodes", "its nodes", Scale::log2},
      {"cpus", "its cores"},
      {"cpus_per_gpu", "its cores per GPU"},
      {"memory", "its memory"},
      {"time_limit", "its time limit", Scale::time},
      {"hour", "the hour of the day"},
      {"weekday", "the day of the week", Scale::weekday},
      {"jobs_underway", "how many jobs are queued or running", Scale::count},
      {"gpus_underway", "how many GPUs are requested or allocated", Scale::count},
      {"submissions_hour", "how many jobs were submitted within the hour", Scale::count},
      {"user_last_submit", "the time since this user's last submission", Scale::time},
      {"user_hour", "how many jobs this user submitted within the hour", Scale::count},
      {"user_day", "how many jobs this user submitted within the day", Scale::count},
      {"user_below_1min", "fraction of this user's jobs that ran less than 1 min"},
      {"user_below_10min", "fraction of this user's jobs that ran 1 to 10 min"},
      {"user_below_1h", "fraction of this user's jobs that ran 10 min to 1 h"},
      {"user_below_6h", "fraction of this user's jobs that ran 1 to 6 h"},
      {"user_above_6h", "fraction of this user's jobs that ran more than 6 h"},
      {"user_failures", "how many of this user's latest jobs in a row did not complete"},
      {"user_underway", "how many of this user's jobs are queued or running", Scale::count},
      {"user_oldest", "how long this user's oldest active job has been in the system", Scale::time},
      {"user_newest", "how long this user's newest active job has been in the system", Scale::time},
      {"alike_underway", "how many similar jobs this user has in the system", Scale::count},
      {"alike_oldest", "how long the oldest similar job of this user has been in the system",
       Scale::time},
      {"alike_newest", "how long the newest similar job of this user has been in the system",
       Scale::time},
      {"alike_hour", "how many similar jobs this user submitted within the hour", Scale::count},
      {"mate1_since", "the time since the last submission of a similar job", Scale::time},
      {"mate1_ran", "how long the last similar job ran", Scale::time},
      {"mate2_since", "the time since the last but one submission of a similar job", Scale::time},
      {"mate2_ran", "how long the last but one similar job ran", Scale::time},
      {"mate3_since", "the time since the last but two submission of a similar job", Scale::time},
      {"mate3_ran", "how long the last but two similar jobs ran", Scale::time},
  };
  static constexpr std::array<const char*, kKinds> kKindNames = {
      "user_name", "user_stem", "user_shape", "user_limit", "user_vc", "user_gpus", "user",
      "name",      "stem",      "shape",      "vc_gpus",    "vc",      "gpus",      "all"};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto add = [&](const char* what, const char* words, Scale scale = Scale::time) {
      names.push_back({fmt::format("{}_{}", kKindNames[kind], what),
                       fmt::format("{} {}", words, words_of(static_cast<Kind>(kind))), scale});
    };
    add("count", "number of runs that ended among", Scale::count);
    add("median", "median of the last ten run times of");
    add("faded", "recent mean run time of");
    add("last", "latest run time of");
    add("low", "20th percentile of the last ten run times of");
    add("high", "80th percentile of the last ten run times of");
    add("age", "time since the latest end of");
  }
  ALMANAC_CHECK(names.size() == kFeatures, "{} names of {} features", names.size(), kFeatures);
  return names;
}

}  // namespace

Row features(Memory& memory, const trace::Request& request) {
  const KindKeys keys = memory.keys(request);
  RowWriter row;
  put_request(row, request);
  put_activity(row, memory, keys, request);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    put_recent(row, memory.recent(keys, static_cast<Kind>(kind)), request.submit);
  }
  return row.done();
}

const std::vector<FeatureName>& feature_names() {
  static const std::vector<FeatureName> kNames = make_names();
  return kNames;
}

std::string shown(const FeatureName& feature, float value) {
  if (std::isnan(value)) return "not known";
  const auto number = static_cast<double>(value);
  switch (feature.scale) {
    case Scale::time:
      return text::human_time(std::pow(10.0, number));
    case Scale::log2:
      return fmt::format("{:.0f}", std::exp2(number));
    case Scale::count:
      return fmt::format("{:.0f}", std::expm1(number));
    case Scale::weekday: {
      static constexpr std::array<const char*, 7> kDays = {
          "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
      return kDays[static_cast<std::size_t>(number)];
    }
    case Scale::plain:
      break;
  }
  return fmt::format("{:.3g}", number);
}

}  // namespace almanac::predict
