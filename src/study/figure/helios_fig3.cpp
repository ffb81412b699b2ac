// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs and utilization by month, for jobs of one GPU and of several.
///
/// Source   Hu et al., SC'21, Figure 3: months by submission (UTC); utilization is the mean over
///          the minutes of the month. The utilization by jobs of one and of several GPUs is not
///          capped.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "stats/mean.h"
#include "study/figures.h"
#include "study/minutes.h"
#include "text/human.h"

namespace almanac::study {

void register_helios_fig3(Figures& registry);

namespace {

struct Month {
  double single = 0;
  double multi = 0;
  double use = 0;
  double use_single = 0;
  double use_multi = 0;
  double minutes = 0;
};

/// Months since the year 0.
int month_of(Time time) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::floor<std::chrono::days>(time.time_since_epoch())}};
  return static_cast<int>(date.year()) * 12 + static_cast<int>(unsigned{date.month()}) - 1;
}

void add_use(const Study& study, std::map<int, Month>& months) {
  const Minutes minutes = minutes_of(study);
  std::vector<std::uint32_t> with_one;
  for (const std::uint32_t at : study.gpu_jobs()) {
    if (study.job(at).request.gpus == 1) with_one.push_back(at);
  }
  const auto all = gpus_in_use(study, minutes, study.gpu_jobs());
  const auto single = gpus_in_use(study, minutes, with_one);
  const auto there = gpus_there(study.cluster(), minutes, kNoVc);
  constexpr std::int64_t kDay = 24 * 60;
  Month* month = nullptr;
  for (std::size_t minute = 0; minute < all.size(); ++minute) {
    const std::int64_t since = minutes.first + static_cast<std::int64_t>(minute);
    if (month == nullptr || since % kDay == 0) {
      month = &months[month_of(Time(std::chrono::minutes(since)))];
    }
    const double use = use_of(std::min(all[minute], there[minute]), there[minute]);
    if (std::isnan(use)) continue;
    month->use += use;
    month->use_single += use_of(single[minute], there[minute]);
    month->use_multi += use_of(all[minute] - single[minute], there[minute]);
    ++month->minutes;
  }
}

/// Deviation of the full months' counts in parts of their mean; NaN for fewer than three.
double variation(const std::vector<double>& counts) {
  if (counts.size() < 3) return std::numeric_limits<double>::quiet_NaN();
  const double mean = stats::mean(counts);
  double squares = 0;
  for (const double count : counts) squares += (count - mean) * (count - mean);
  return std::sqrt(squares / static_cast<double>(counts.size())) / mean;
}

Drawing draw_helios_fig3(const Study& study) {
  std::map<int, Month> months;
  for (const std::uint32_t at : study.gpu_jobs()) {
    const trace::Request& request = study.job(at).request;
    Month& month = months[month_of(request.submit)];
    ++(request.gpus == 1 ? month.single : month.multi);
  }
  const bool starts = study.has(Need::start);
  if (starts) add_use(study, months);
  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.n = static_cast<std::int64_t>(study.gpu_jobs().size());
  figure.caption = starts ? "GPU jobs by the month of submission, and mean utilization."
                          : "GPU jobs by the month of submission. Utilization needs start_s.";
  auto& name = figure.text("month", "Month");
  auto& single = figure.number("single_gpu_jobs", "Single-GPU jobs", figure::Unit::jobs);
  auto& multi = figure.number("multi_gpu_jobs", "Multi-GPU jobs", figure::Unit::jobs);
  auto& use = figure.number("utilization", "Utilization", figure::Unit::fraction);
  auto& use_multi =
      figure.number("utilization_multi", "Utilization by multi-GPU jobs", figure::Unit::fraction);
  auto& use_single =
      figure.number("utilization_single", "Utilization by single-GPU jobs", figure::Unit::fraction);
  const auto mean = [](double sum, double count) { return count > 0 ? sum / count : std::nan(""); };
  for (const auto& [key, month] : months) {
    name.add(fmt::format("{:04}-{:02}", key / 12, key % 12 + 1));
    single.add(month.single);
    multi.add(month.multi);
    use.add(mean(month.use, month.minutes));
    use_multi.add(mean(month.use_multi, month.minutes));
    use_single.add(mean(month.use_single, month.minutes));
  }
  figure::Chart bars{
      .kind = "bar", .x = "month", .y = {"multi_gpu_jobs", "single_gpu_jobs"}, .stacked = true};
  if (starts) bars.right = {"utilization"};
  // A single month is a point, not a course.
  const bool several = months.size() > 1;
  if (several) figure.charts.push_back(std::move(bars));
  if (several && starts) {
    figure.charts.push_back(
        {.kind = "line", .x = "month", .y = {"utilization_multi", "utilization_single"}});
  }
  // The first and the last month are parts of one, mostly.
  if (single.numbers.size() < 5) return drawing;
  const auto inner = [](const figure::Column& column) {
    return std::vector<double>(column.numbers.begin() + 1, column.numbers.end() - 1);
  };
  const double of_single = variation(inner(single));
  const double of_multi = variation(inner(multi));
  // As in Helios: those with several GPUs hold most of what is held, and vary less.
  const bool decide = starts && of_multi < of_single &&
                      stats::mean(inner(use_multi)) > stats::mean(inner(use_single));
  drawing.findings.push_back(
      {.headline =
           fmt::format("The monthly number of single-GPU jobs varies by {}, that of multi-GPU "
                       "jobs by {}.",
                       text::human_share(of_single), text::human_share(of_multi)),
       .detail = "Standard deviation relative to the mean, over the months between the first and "
                 "the last.",
       .advice = decide ? "Plan capacity for the jobs with several GPUs." : "",
       .published =
           "Helios: the number of single-GPU jobs varies from month to month, and multi-GPU "
           "jobs decide the utilization."});
  return drawing;
}

}  // namespace

void register_helios_fig3(Figures& registry) {
  registry.add({.id = "helios_fig3",
                .title = "Jobs and utilization by month",
                .source = "Hu et al., SC'21, Figure 3, implication 2",
                .part = Part::cluster,
                .needs = {Need::gpu_jobs, Need::calendar},
                .draw = draw_helios_fig3});
}

}  // namespace almanac::study
