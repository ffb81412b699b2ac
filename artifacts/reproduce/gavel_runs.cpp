// SPDX-License-Identifier: Apache-2.0
#include "reproduce/gavel_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "gavel/rules.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

constexpr double kEqual = 1e-6;

struct Run {
  gavel::Cluster cluster;
  double mean_jct_s = 0;
  double end_s = 0;
  double utilisation = 0;
};

/// Columns run, policy, one that names the types, avg_jct_s, end_s, utilisation.
std::map<std::pair<std::string, std::string>, Run> read_summary(const std::string& path) {
  const auto csv = value_or_throw(table::CsvReader::open(path));
  std::string types;
  for (const std::string& column : csv.header()) {
    if (column.find(':') != std::string::npos) types = column;
  }
  require(!types.empty(), "no column names the types of GPUs as v100:p100:k80");
  std::map<std::pair<std::string, std::string>, Run> runs;
  Rows rows(path, {"run", "policy", "avg_jct_s", "end_s", "utilisation"});
  while (rows.next()) {
    runs[{std::string(rows.text("run")), std::string(rows.text("policy"))}] = {
        .cluster = cluster_of(types, rows.text(types)),
        .mean_jct_s = rows.number("avg_jct_s"),
        .end_s = rows.number("end_s"),
        .utilisation = rows.number("utilisation")};
  }
  return runs;
}

std::unique_ptr<gavel::Rule> rule_of(std::string_view policy, std::uint32_t seed,
                                     const gavel::Speeds& speeds) {
  auto rule = gavel::make_rule(policy, {.seed = seed, .speeds = &speeds});
  require(rule != nullptr, fmt::format("no policy is named {}", policy));
  return rule;
}

}  // namespace

std::vector<PublishedJob> read_jobs(const std::string& path) {
  std::vector<PublishedJob> jobs;
  Rows rows(path, {"job", "arrival_s", "jct_s"});
  while (rows.next()) {
    jobs.push_back({.number = static_cast<int>(rows.whole("job")),
                    .arrival_s = rows.number("arrival_s"),
                    .jct_s = rows.number("jct_s")});
  }
  return jobs;
}

void compare_jobs(Bench& bench, const std::string& what, const std::vector<PublishedJob>& published,
                  const std::vector<gavel::Ended>& ours, std::size_t played,
                  const std::string& remark) {
  std::map<int, double> jct_s;
  for (const gavel::Ended& job : ours) jct_s[job.number] = job.jct_s;
  std::size_t equal = 0;
  std::size_t endless = 0;
  std::size_t not_played = 0;
  int first_endless = 0;
  double sum = 0;
  double our_sum = 0;
  std::string first;
  for (const PublishedJob& job : published) {
    const auto found = jct_s.find(job.number);
    const double mine = found == jct_s.end() ? std::nan("") : found->second;
    sum += job.jct_s;
    our_sum += mine;
    if (std::isnan(mine)) {
      if (endless++ == 0) first_endless = job.number;
      not_played += static_cast<std::size_t>(job.number) >= played;
    }
    if (std::fabs(mine - job.jct_s) <= kEqual * job.jct_s) {
      ++equal;
    } else if (first.empty()) {
      first = fmt::format("{}: job {} is the first that differs, {} s instead of {} s", what,
                          job.number, mine, job.jct_s);
    }
  }
  const auto jobs = static_cast<double>(published.size());
  std::string of_mean = remark;
  if (endless > 0) {
    of_mean = fmt::format("no result: {} of {} jobs have no end, the first is job {}", endless,
                          published.size(), first_endless);
    if (not_played > 0) {
      of_mean +=
          fmt::format("; {} of them come after the {} jobs of the stream", not_played, played);
    }
    if (!remark.empty()) of_mean += "; " + remark;
  }
  bench.add({.what = what + ": jobs with the same JCT",
             .published = jobs,
             .ours = static_cast<double>(equal),
             .unit = "jobs",
             .remark = remark});
  bench.add({.what = what + ": mean JCT",
             .published = sum / jobs,
             .ours = our_sum / jobs,
             .unit = "s",
             .remark = std::move(of_mean)});
  if (!first.empty()) bench.note(first);
}

StreamCourse play_stream(const std::string& stream, const ModelSpeeds& speeds, double mean_gap_s,
                         std::string_view policy, std::uint32_t seed) {
  const auto rule = rule_of(policy, seed, speeds.speeds());
  const std::vector<gavel::Job> jobs = read_stream(stream, speeds, mean_gap_s);
  gavel::Cluster cluster{.types = speeds.types(), .gpus = {}};
  cluster.gpus.assign(cluster.types.size(), kEachType);
  StreamCourse played{.jobs = jobs.size()};
  played.course =
      gavel::play(cluster, speeds.speeds(), jobs, *rule,
                  {.seed = seed, .measured_from = kMeasuredFrom, .measured_until = kMeasuredUntil});
  const bool are_all_there = jobs.size() >= static_cast<std::size_t>(kMeasuredUntil);
  if (!are_all_there || played.course.end_s > jobs.back().arrival_s) {
    played.remark = fmt::format(
        "the {} jobs of the stream have all come before jobs {} to {} have ended, and from then on "
        "fewer compete than in the published run",
        jobs.size(), kMeasuredFrom, kMeasuredUntil - 1);
  }
  return played;
}

Row mean_row(std::string what, double published, const StreamCourse& played, std::string unit,
             double unit_s) {
  double sum = 0;
  int jobs = 0;
  for (const gavel::Ended& job : played.course.ended) {
    if (job.number < kMeasuredFrom || job.number >= kMeasuredUntil) continue;
    sum += job.jct_s;
    ++jobs;
  }
  Row row{.what = std::move(what),
          .published = published,
          .ours = jobs > 0 ? sum / jobs / unit_s : std::numeric_limits<double>::quiet_NaN(),
          .unit = std::move(unit),
          .remark = played.remark};
  if (jobs == 0) {
    row.remark =
        fmt::format("no result: none of jobs {} to {} ended", kMeasuredFrom, kMeasuredUntil - 1);
  }
  return row;
}

StreamRun read_stream_run(const std::string& stem) {
  constexpr std::string_view kHead = "continuous_";
  constexpr std::string_view kSeed = "_seed";
  constexpr std::string_view kTail = "_per_hour";
  const std::string_view text = stem;
  const auto seed = text.rfind(kSeed);
  const auto rate = text.find('_', seed + kSeed.size());
  require(text.starts_with(kHead) && text.ends_with(kTail) && seed != std::string_view::npos &&
              rate != std::string_view::npos,
          fmt::format("{} is not named continuous_POLICY_seedN_RATE_per_hour", stem));
  const auto number =
      text::parse_whole(text.substr(seed + kSeed.size(), rate - seed - kSeed.size()));
  const auto per_hour =
      text::parse_decimal(text.substr(rate + 1, text.size() - kTail.size() - rate - 1));
  require(number && *number >= 0 && per_hour && *per_hour > 0,
          fmt::format("{} is not named continuous_POLICY_seedN_RATE_per_hour", stem));
  return {.policy = std::string(text.substr(kHead.size(), seed - kHead.size())),
          .seed = static_cast<std::uint32_t>(*number),
          .per_hour = *per_hour};
}

Streams find_streams(Bench& bench) {
  constexpr std::string_view kSeed = "_seed";
  Streams streams;
  bench.each(kStreams, [&](const File& file) {
    const auto seed = text::parse_whole(
        std::string_view(file.stem).substr(file.stem.rfind(kSeed) + kSeed.size()));
    require(seed.has_value() && *seed >= 0, "the name tells no seed");
    streams[static_cast<std::uint32_t>(*seed)] = file.path;
  });
  return streams;
}

void compare_stream(Bench& bench, const File& file, const Streams& streams,
                    const ModelSpeeds& speeds) {
  const StreamRun run = read_stream_run(file.stem);
  const auto stream = streams.find(run.seed);
  require(stream != streams.end(), fmt::format("there is no stream of seed {}", run.seed));
  const StreamCourse played =
      play_stream(stream->second, speeds, 3600 / run.per_hour, run.policy, run.seed);
  compare_jobs(bench, file.stem, read_jobs(file.path), played.course.ended, played.jobs,
               played.remark);
}

void compare_traces(Bench& bench, const File& file,
                    const std::map<std::string, std::vector<gavel::Job>>& traces,
                    const ModelSpeeds& speeds) {
  const auto runs = read_summary(bench.beside(file, "runs_summary.csv").path);
  std::map<std::pair<std::string, std::string>, std::vector<PublishedJob>> published;
  Rows rows(file.path, {"trace", "policy", "job", "arrival_s", "jct_s"});
  while (rows.next()) {
    published[{std::string(rows.text("trace")), std::string(rows.text("policy"))}].push_back(
        {.number = static_cast<int>(rows.whole("job")),
         .arrival_s = rows.number("arrival_s"),
         .jct_s = rows.number("jct_s")});
  }
  for (const auto& [key, jobs] : published) {
    const auto& [trace, policy] = key;
    const std::string what = fmt::format("{} {} {}", file.stem, trace, policy);
    const auto run = runs.find(key);
    const auto known = traces.find(trace);
    require(run != runs.end(), what + ": runs_summary.csv has no such run");
    require(known != traces.end(), what + ": no trace is called so");
    require(run->second.cluster.types == speeds.types(), what + ": other types of GPUs");
    const auto rule = rule_of(policy, 0, speeds.speeds());
    const gavel::Course course =
        gavel::play(run->second.cluster, speeds.speeds(), known->second, *rule, {});
    compare_jobs(bench, what, jobs, course.ended, known->second.size());
    bench.add(what + ": end", run->second.end_s, course.end_s, "s");
    bench.add(what + ": utilisation", run->second.utilisation, course.utilisation, "");
  }
}

}  // namespace almanac::reproduce
