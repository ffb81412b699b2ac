// SPDX-License-Identifier: Apache-2.0
#include "report/with_service.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::report {
namespace {

nlohmann::ordered_json jobs_json(const experiment::Summary& summary) {
  return {{"finished", summary.finished},
          {"avg_jct_s", summary.avg_jct_s},
          {"avg_wait_s", summary.avg_wait_s},
          {"p99_wait_s", summary.p99_wait_s},
          {"preemptions", summary.preemptions}};
}

}  // namespace

figure::Listing with_service_rows(const std::vector<experiment::WithService>& all) {
  figure::Rows rows(all);
  const auto add_ms = [&](const char* name, const char* label, double inference::Spread::*of,
                          inference::Spread inference::Seen::*spread, int decimals) -> auto& {
    return rows.add(
        name, label, [=](const experiment::WithService& row) { return row.seen.*spread.*of / 1e3; },
        figure::Decimals{decimals});
  };
  using inference::Seen;
  using inference::Spread;
  rows.add("policy", [](const experiment::WithService& row) { return row.with.policy; });
  rows.add(
      "jct_alone_s", "jct_s alone",
      [](const experiment::WithService& row) { return row.alone.avg_jct_s; }, figure::Decimals{0});
  rows.add(
      "jct_s", "with", [](const experiment::WithService& row) { return row.with.avg_jct_s; },
      figure::Decimals{0});
  rows.add("change", [](const experiment::WithService& row) {
    const double more = row.alone.avg_jct_s > 0 ? row.with.avg_jct_s / row.alone.avg_jct_s - 1 : 0;
    const double tenths = std::round(1000 * more) + 0.0;  // never -0
    return figure::Cell(more, fmt::format("{:+.1f} %", tenths / 10));
  });
  rows.add(
      "attainment", "attained",
      [](const experiment::WithService& row) { return row.seen.attainment(); }, figure::Percents{});
  add_ms("ttft_p50_ms", "ttft_ms p50", &Spread::p50, &Seen::first_token, 0).detail();
  add_ms("ttft_p99_ms", "ttft_ms p99", &Spread::p99, &Seen::first_token, 0);
  add_ms("tpot_p99_ms", "tpot_ms p99", &Spread::p99, &Seen::per_token, 1).detail();
  rows.add(figure::Tier::detail, "unanswered", [](const experiment::WithService& row) {
    return row.seen.requests - row.seen.finished;
  });
  rows.add(
      "gpu_hours", "gpu_h",
      [](const experiment::WithService& row) { return row.service.gpu_s / 3600; },
      figure::Decimals{1});
  rows.add(
      "loaned_gpu_hours", "loaned",
      [](const experiment::WithService& row) { return row.loaned_gpu_hours; }, figure::Decimals{1});
  rows.add(
      "redone_gpu_hours", "redone",
      [](const experiment::WithService& row) { return row.redone_gpu_hours; }, figure::Decimals{1});
  rows.add(
          "replica_wait_s", "wait_s",
          [](const experiment::WithService& row) { return seconds(row.service.longest_wait); },
          figure::Decimals{0})
      .detail();
  rows.add("replicas_stopped", "stopped",
           [](const experiment::WithService& row) { return row.service.replicas_stopped; });
  return rows;
}

std::string with_service_json(const std::vector<experiment::WithService>& rows) {
  auto made = nlohmann::ordered_json::array();
  for (const experiment::WithService& row : rows) {
    made.push_back({{"policy", row.with.policy},
                    {"jobs_alone", jobs_json(row.alone)},
                    {"jobs_with_service", jobs_json(row.with)},
                    {"requests",
                     {{"requests", row.seen.requests},
                      {"finished", row.seen.finished},
                      {"attainment", row.seen.attainment()},
                      {"ttft_p50_ms", row.seen.first_token.p50 / 1e3},
                      {"ttft_p99_ms", row.seen.first_token.p99 / 1e3},
                      {"tpot_p50_ms", row.seen.per_token.p50 / 1e3},
                      {"tpot_p99_ms", row.seen.per_token.p99 / 1e3}}},
                    {"service",
                     {{"gpu_hours", row.service.gpu_s / 3600},
                      {"loaned_gpu_hours", row.loaned_gpu_hours},
                      {"redone_gpu_hours", row.redone_gpu_hours},
                      {"replica_wait_s", seconds(row.service.longest_wait)},
                      {"replicas_started", row.service.replicas_started},
                      {"replicas_stopped", row.service.replicas_stopped},
                      {"refused", row.service.refused}}}});
  }
  return made.dump(2);
}

}  // namespace almanac::report
