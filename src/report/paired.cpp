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
#include "stats/sign_flip.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::report {
namespace {

constexpr std::size_t kTimes = 10'000;
constexpr double kDay_s = 86'400;
/// Of fewer the p of a sign test cannot fall below 0.05: of 5 blocks all one way it is 1/16.
constexpr std::size_t kFewestBlocks = 6;

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

/// The jobs of some days in a row: their number, and what their changes add up to.
struct Block {
  double jobs = 0;
  double change_s = 0;
};

/// How alike neighbours are: the correlation of each block's change with the next one's.
double likeness(const std::vector<Block>& blocks) {
  double mean = 0;
  for (const Block& block : blocks) mean += block.change_s / static_cast<double>(blocks.size());
  double own = 0;
  double next = 0;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const double off = blocks[at].change_s - mean;
    own += off * off;
    if (at + 1 < blocks.size()) next += off * (blocks[at + 1].change_s - mean);
  }
  return own > 0 ? next / own : 0;
}

/// Whether that is no more than chance makes of independent blocks in 19 of 20 cases.
bool stand_alone(const std::vector<Block>& blocks) {
  return likeness(blocks) <= 1.645 / std::sqrt(static_cast<double>(blocks.size()));
}

std::vector<Block> blocks_of(const std::map<long long, Block>& days, int days_a_block) {
  std::vector<Block> blocks;
  long long last = -1;
  for (const auto& [day, sums] : days) {
    if (blocks.empty() || day / days_a_block != last) blocks.emplace_back();
    last = day / days_a_block;
    blocks.back().jobs += sums.jobs;
    blocks.back().change_s += sums.change_s;
  }
  return blocks;
}

/// Blocks as short as can be that stand alone; if none do, the longest of which there are enough.
std::pair<std::vector<Block>, int> cut(const std::map<long long, Block>& days) {
  int length = 1;
  std::vector<Block> blocks = blocks_of(days, length);
  while (!stand_alone(blocks)) {
    std::vector<Block> longer = blocks_of(days, 2 * length);
    if (longer.size() < kFewestBlocks) break;
    blocks = std::move(longer);
    length *= 2;
  }
  return {std::move(blocks), length};
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
  std::map<long long, Block> days;
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
    Block& day = days[std::llround(std::floor((before->second.submit_s - first_s) / kDay_s))];
    day.jobs += 1;
    day.change_s += change_s;
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
  const auto [blocks, length] = cut(days);
  made.blocks = blocks.size();
  made.days_a_block = length;
  Rng rng(1);
  std::vector<double> draws;
  stats::bootstrap(blocks.size(), kTimes, rng, [&](std::span<const std::uint32_t> times) {
    Block sum;
    for (std::size_t at = 0; at < times.size(); ++at) {
      sum.jobs += times[at] * blocks[at].jobs;
      sum.change_s += times[at] * blocks[at].change_s;
    }
    draws.push_back(sum.change_s / sum.jobs);
  });
  std::tie(made.from_s, made.to_s) = stats::middle_95(draws);
  std::vector<double> changes;
  for (const Block& block : blocks) changes.push_back(block.change_s);
  const bool tells = blocks.size() >= kFewestBlocks && stand_alone(blocks);
  made.p = tells ? stats::sign_flip_p(changes, kTimes, rng) : std::nan("");
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
    if (!std::isnan(each.p)) ps.push_back(each.p);
  }
  const std::vector<double> raised = stats::holm(ps);
  std::size_t at = 0;
  for (Paired& each : made) {
    if (!std::isnan(each.p)) each.p = raised[at++];
  }
  return made;
}

}  // namespace almanac::report
