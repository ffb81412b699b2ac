// SPDX-License-Identifier: Apache-2.0
#include "report/paired.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "stats/bootstrap.h"
#include "stats/holm.h"
#include "stats/joined_days.h"
#include "stats/sign_flip.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::report {
namespace {

constexpr std::size_t kTimes = 10'000;
constexpr double kDay_s = 86'400;
struct Waited {
  double submit_s = 0;
  double wait_s = 0;
};
using Waits = std::unordered_map<std::string, Waited>;

/// By job_id, of the jobs that have ended.
Result<Waits> read_waits(const std::string& path) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  const auto id = csv->find("job_id");
  const auto submit = csv->find("submit_s");
  const auto wait = csv->find("wait_s");
  if (!id || !submit || !wait) {
    return fail(Code::invalid, "expected the columns job_id, submit_s and wait_s", csv->where());
  }
  Waits waits;
  for (;;) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return waits;
    if ((*csv)[*wait].empty()) continue;
    const auto submitted = text::parse_decimal((*csv)[*submit]);
    const auto waited = text::parse_decimal((*csv)[*wait]);
    if (!submitted || !waited) {
      return fail(Code::invalid, "expected numbers of seconds", csv->where());
    }
    waits.emplace(std::string((*csv)[*id]), Waited{*submitted, *waited});
  }
}

Result<Paired> pair_up(const PairedPolicy& policy, const Waits& baseline,
                       const PairedPolicy& against) {
  const auto waits = read_waits(policy.jobs_csv);
  if (!waits) return tl::unexpected(waits.error());
  Paired made{.policy = policy.name};
  double first_s = HUGE_VAL;
  for (const auto& [id, waited] : baseline) first_s = std::min(first_s, waited.submit_s);
  // Sorted, for sums must not hang on the order of a hash table.
  std::vector<std::string> ids;
  for (const auto& [id, waited] : *waits) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  std::map<long long, stats::DaySum> days;
  for (const std::string& id : ids) {
    const auto before = baseline.find(id);
    if (before == baseline.end()) continue;
    const double wait_s = waits->at(id).wait_s;
    const double change_s = wait_s - before->second.wait_s;
    ++made.jobs;
    made.avg_wait_s += wait_s;
    made.change_s += change_s;
    made.shorter += change_s < 0 ? 1 : 0;
    made.longer += change_s > 0 ? 1 : 0;
    auto& day = days[std::llround(std::floor((before->second.submit_s - first_s) / kDay_s))];
    day.jobs += 1;
    day.before += before->second.wait_s;
    day.after += wait_s;
  }
  made.unpaired = waits->size() + baseline.size() - 2 * made.jobs;
  if (made.jobs == 0) {
    return fail(Code::invalid,
                fmt::format("{} and {} have no job in common", policy.name, against.name),
                {.file = policy.jobs_csv}, "runs of one log can be paired");
  }
  const auto jobs = static_cast<double>(made.jobs);
  for (double* const each : {&made.avg_wait_s, &made.change_s, &made.shorter, &made.longer}) {
    *each /= jobs;
  }
  const stats::JoinedDays joined = stats::join_days(days);
  made.blocks = joined.blocks.size();
  made.days_a_block = joined.days_a_block;
  if (!joined.tell) return made;
  Rng rng(1);
  std::vector<double> draws;
  stats::bootstrap(joined.blocks.size(), kTimes, rng, [&](std::span<const std::uint32_t> times) {
    double drawn_jobs = 0;
    double change_s = 0;
    for (std::size_t at = 0; at < times.size(); ++at) {
      drawn_jobs += times[at] * joined.blocks[at].jobs;
      change_s += times[at] * joined.blocks[at].change();
    }
    draws.push_back(change_s / drawn_jobs);
  });
  const auto [from_s, to_s] = stats::middle_95(draws);
  std::vector<double> changes;
  for (const stats::DaySum& block : joined.blocks) changes.push_back(block.change());
  made.sure = Sure{.from_s = from_s, .to_s = to_s, .p = stats::sign_flip_p(changes, kTimes, rng)};
  return made;
}

}  // namespace

Result<std::vector<Paired>> paired(const PairedPolicy& baseline,
                                   const std::vector<PairedPolicy>& policies) {
  const auto before = read_waits(baseline.jobs_csv);
  if (!before) return tl::unexpected(before.error());
  std::vector<Paired> made;
  for (const PairedPolicy& policy : policies) {
    auto one = pair_up(policy, *before, baseline);
    if (!one) return tl::unexpected(one.error());
    made.push_back(std::move(*one));
  }
  std::vector<double> ps;
  for (const Paired& each : made) {
    if (each.sure) ps.push_back(each.sure->p);
  }
  const std::vector<double> raised = stats::holm(ps);
  std::size_t at = 0;
  for (Paired& each : made) {
    if (each.sure) each.sure->p = raised[at++];
  }
  return made;
}

}  // namespace almanac::report
