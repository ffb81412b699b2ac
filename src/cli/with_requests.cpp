// SPDX-License-Identifier: Apache-2.0
#include "cli/with_requests.h"

#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/inference_options.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/replica_bounds.h"
#include "experiment/with_services.h"
#include "inference/scaled.h"
#include "text/duration.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

/// Of the requests that a replica is to serve as asked, where scalers go by its rate.
constexpr double kShare = 0.9;

const std::vector<std::string> kKeys = {"model",    "board", "gpus",   "batch",      "router",
                                        "ttft",     "tpot",  "scaler", "cold_start", "vc",
                                        "replicas", "nodes", "reclaim"};

Error misuse(const std::string& message, const std::string& advice) {
  return fail(Code::usage, "--service: " + message, {}, advice).value();
}

/// A whole number from `least` on.
Result<int> number(const std::string& key, std::string_view told, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), value);
  if (error == std::errc{} && end == told.data() + told.size() && value >= least) return value;
  return tl::unexpected(misuse(fmt::format("{} is \"{}\"", key, told),
                               fmt::format("it is a whole number from {} on", least)));
}

Result<std::map<std::string, std::string>> pairs(const std::string& told) {
  std::map<std::string, std::string> made;
  for (std::size_t at = 0; at < told.size();) {
    const std::size_t end = std::min(told.find(',', at), told.size());
    const std::string each = told.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = each.find('=');
    const std::string key = each.substr(0, equals);
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return tl::unexpected(
          misuse(fmt::format("there is no \"{}\"", key), text::meant_or_known(key, kKeys)));
    }
    if (equals == std::string::npos || equals + 1 == each.size()) {
      return tl::unexpected(misuse(fmt::format("{} has no value", key), "as " + key + "=..."));
    }
    made[key] = each.substr(equals + 1);
  }
  return made;
}

struct Told {
  InferenceCase service{};
  sim::ServiceCase beside{};
};

Result<Told> parse(const WithRequests& with) {
  const auto keys = pairs(with.service);
  if (!keys) return tl::unexpected(keys.error());
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = keys->find(key);
    return found == keys->end() ? otherwise : found->second;
  };
  if (!keys->contains("model")) {
    return tl::unexpected(misuse("it needs a model", "as model=llama-3.1-8b"));
  }
  const auto gpus = number("gpus", value("gpus", "1"), 1);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto nodes = number("nodes", value("nodes", "0"), 0);
  if (!nodes) return tl::unexpected(nodes.error());
  const auto replicas = read_replica_bounds("--service replicas", value("replicas", "1"));
  if (!replicas) return tl::unexpected(replicas.error());
  const auto cold_start = text::parse_duration(value("cold_start", "30s"));
  if (!cold_start || *cold_start < Duration{0} || *cold_start == text::kUnlimited) {
    return tl::unexpected(misuse(fmt::format("cold_start is \"{}\"", value("cold_start", "")),
                                 "it is a length of time, as 30s"));
  }
  const std::string reclaim = value("reclaim", "yes");
  if (reclaim != "yes" && reclaim != "no") {
    return tl::unexpected(
        misuse(fmt::format("reclaim is \"{}\"", reclaim),
               "yes: running jobs stop for replicas that do not fit; no: replicas wait"));
  }
  InferenceOptions options;
  options.requests = with.requests;
  options.column_map = with.column_map;
  options.model = value("model", "");
  options.board = value("board", options.board);
  options.gpus = *gpus;
  options.former = value("batch", options.former);
  options.router = value("router", options.router);
  options.first_token = value("ttft", "");
  options.per_token = value("tpot", "");
  auto service = inference_case(options);
  if (!service) return tl::unexpected(service.error());
  Told made{.service = std::move(*service)};
  made.beside = {.service = made.service.service,
                 .requests = made.service.requests,
                 .objective = made.service.objective,
                 .least = replicas->least,
                 .most = replicas->most,
                 .cold_start = *cold_start,
                 .scaler = value("scaler", "reactive"),
                 .vc = value("vc", ""),
                 .nodes = *nodes,
                 .reclaims = reclaim == "yes"};
  if (options.first_token.empty() && options.per_token.empty()) return made;
  const auto rate = inference::replica_rate(made.service.service, made.service.requests,
                                            made.service.objective, kShare);
  // Only some scalers need it.
  if (rate) made.beside.replica_requests_per_s = *rate;
  return made;
}

/// One policy: jobs alone, jobs with the service, and what its requests saw.
struct Row {
  experiment::Summary alone, with;
  sim::ServiceOutcome service;
  inference::Seen seen;
};

nlohmann::ordered_json jobs_json(const experiment::Summary& summary) {
  return {{"finished", summary.finished},
          {"avg_jct_s", summary.avg_jct_s},
          {"avg_wait_s", summary.avg_wait_s},
          {"p99_wait_s", summary.p99_wait_s},
          {"preemptions", summary.preemptions}};
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows) {
  auto made = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
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
                      {"replicas_started", row.service.replicas_started},
                      {"replicas_stopped", row.service.replicas_stopped},
                      {"refused", row.service.refused}}}});
  }
  return made;
}

figure::Listing rows_of(const std::vector<Row>& all) {
  figure::Rows rows(all);
  const auto add_ms = [&](const char* name, const char* label, double inference::Spread::*of,
                          inference::Spread inference::Seen::*spread, int decimals) {
    rows.add(
        name, label, [=](const Row& row) { return row.seen.*spread.*of / 1e3; },
        figure::Decimals{decimals});
  };
  using inference::Seen;
  using inference::Spread;
  rows.add("policy", [](const Row& row) { return row.with.policy; });
  rows.add(
      "jct_alone_s", "jct_s alone", [](const Row& row) { return row.alone.avg_jct_s; },
      figure::Decimals{0});
  rows.add(
      "jct_s", "with", [](const Row& row) { return row.with.avg_jct_s; }, figure::Decimals{0});
  rows.add("change", [](const Row& row) {
    const double more = row.alone.avg_jct_s > 0 ? row.with.avg_jct_s / row.alone.avg_jct_s - 1 : 0;
    return figure::Cell(more, fmt::format("{:+.1f} %", 100 * more));
  });
  rows.add(
      "attainment", "attained", [](const Row& row) { return row.seen.attainment(); },
      figure::Percents{});
  add_ms("ttft_p50_ms", "ttft_ms p50", &Spread::p50, &Seen::first_token, 0);
  add_ms("ttft_p99_ms", "p99", &Spread::p99, &Seen::first_token, 0);
  add_ms("tpot_p99_ms", "tpot_ms p99", &Spread::p99, &Seen::per_token, 1);
  rows.add("unanswered", [](const Row& row) { return row.seen.requests - row.seen.finished; });
  rows.add(
      "gpu_hours", "gpu_h", [](const Row& row) { return row.service.gpu_s / 3600; },
      figure::Decimals{1});
  rows.add("replicas_stopped", "stopped",
           [](const Row& row) { return row.service.replicas_stopped; });
  return rows;
}

}  // namespace

void WithRequests::add_to(CLI::App& command) {
  CLI::Option* const log =
      command.add_option("--with", requests, "A log of requests that a service answers meanwhile")
          ->type_name("REQUESTS");
  command
      .add_option("--with-columns", column_map,
                  "TOML file that says which columns or keys of that log mean what")
      ->type_name("FILE")
      ->needs(log);
  command
      .add_option(
          "--service", service,
          "That service: model=llama-3.1-8b,board=h100,gpus=1,replicas=1..4,ttft=500ms,"
          "tpot=50ms,scaler=reactive,cold_start=30s,batch=,router=,vc=,nodes=0 (nodes of its own),"
          "reclaim=yes (running jobs stop for replicas that do not fit)")
      ->type_name("KEY=VALUE,...")
      ->needs(log);
}

Result<int> simulate_with_requests(const WithRequests& with, const experiment::Prepared& prepared,
                                   const ListOptions& list) {
  const auto told = parse(with);
  if (!told) return tl::unexpected(told.error());
  std::vector<Row> rows;
  for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
    const auto alone = experiment::simulate_run(prepared, run, &interrupted());
    if (!alone) return tl::unexpected(alone.error());
    auto services = sim::Services::make(prepared.trace, prepared.cluster, {told->beside});
    if (!services) return tl::unexpected(services.error());
    const auto both = experiment::simulate_with(prepared, run, *services, &interrupted());
    if (!both) return tl::unexpected(both.error());
    if (interrupted().load()) return kInterrupted;
    const auto summary = [&](const sim::Schedule& schedule) {
      return experiment::summarize(prepared.runs[run].composition, prepared.trace, schedule,
                                   prepared.power);
    };
    Row row{.alone = summary(*alone),
            .with = summary(*both),
            .service = services->outcomes().front(),
            .seen = {}};
    row.seen =
        inference::summarize(told->service.requests, row.service.requests, told->service.objective);
    if (!row.service.refused.empty()) {
      note(fmt::format("{}: no replica can ever start: {}", row.with.policy, row.service.refused));
    }
    rows.push_back(std::move(row));
  }
  if (!list.wants_document()) return list.print(rows_of(rows));
  fmt::print("{}\n", to_json(rows).dump(2));
  return kDone;
}

}  // namespace almanac::cli
