// SPDX-License-Identifier: Apache-2.0
#include "cli/with_requests.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "cli/cold_start_option.h"
#include "cli/inference_options.h"
#include "cli/interrupt.h"
#include "cli/option_group.h"
#include "cli/own_option.h"
#include "cli/program.h"
#include "cli/replica_bounds.h"
#include "experiment/with_services.h"
#include "inference/scaled.h"
#include "report/with_service.h"
#include "text/duration.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

/// Fraction of the requests that one replica must serve within the SLO, for scalers that use its
/// rate.
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
  return tl::unexpected(misuse(fmt::format("{} must be a whole number, found \"{}\"", key, told),
                               fmt::format("expected {} or more", least)));
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
          misuse(fmt::format("unknown key \"{}\"", key), text::meant_or_known(key, kKeys)));
    }
    if (equals == std::string::npos || equals + 1 == each.size()) {
      return tl::unexpected(misuse(fmt::format("{} has no value", key), "as " + key + "=..."));
    }
    if (!made.emplace(key, each.substr(equals + 1)).second) {
      return tl::unexpected(misuse(key + " is given twice", "give it once"));
    }
  }
  return made;
}

Result<sim::ServiceCase> parse(const WithRequests& with) {
  const auto keys = pairs(with.service);
  if (!keys) return tl::unexpected(keys.error());
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = keys->find(key);
    return found == keys->end() ? otherwise : found->second;
  };
  if (!keys->contains("model")) {
    return tl::unexpected(misuse("no model is given", "add model=llama-3.1-8b"));
  }
  const auto gpus = number("gpus", value("gpus", "1"), 1);
  if (!gpus) return tl::unexpected(gpus.error());
  const auto nodes = number("nodes", value("nodes", "0"), 0);
  if (!nodes) return tl::unexpected(nodes.error());
  const auto replicas = read_replica_bounds("--service replicas", value("replicas", "1"));
  if (!replicas) return tl::unexpected(replicas.error());
  const std::string reclaim = value("reclaim", "yes");
  if (reclaim != "yes" && reclaim != "no" && reclaim != "nodes") {
    return tl::unexpected(
        misuse(fmt::format("reclaim must be yes, nodes or no, found \"{}\"", reclaim),
               "yes: replicas that do not fit preempt the jobs that lose least; nodes: those on "
               "the nodes that are emptied with the fewest stops; no: they wait"));
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
  if (!service) {
    Error error = with_own_option(service.error(), "--columns", "--with-columns");
    for (const char* const key : {"ttft", "tpot"}) {
      error = with_own_option(std::move(error), fmt::format("--{}", key),
                              fmt::format("--service {}", key));
    }
    return tl::unexpected(std::move(error));
  }
  const auto cold_start =
      read_cold_start("--service cold_start", value("cold_start", "30s"), service->service);
  if (!cold_start) return tl::unexpected(cold_start.error());
  sim::ServiceCase made{.service = std::move(service->service),
                        .requests = std::move(service->requests),
                        .objective = service->objective,
                        .least = replicas->least,
                        .most = replicas->most,
                        .cold_start = *cold_start,
                        .scaler = value("scaler", "reactive"),
                        .vc = value("vc", ""),
                        .nodes = *nodes,
                        .reclaims = reclaim != "no",
                        .empties_nodes = reclaim == "nodes"};
  if (options.first_token.empty() && options.per_token.empty()) return made;
  const auto rate = inference::replica_rate(made.service, made.requests, made.objective, kShare);
  // Only some scalers need it.
  if (rate) made.replica_requests_per_s = *rate;
  return made;
}

}  // namespace

void WithRequests::add_to(CLI::App& command) {
  const InGroup group(command, Group::replicas);
  CLI::Option* const log =
      command
          .add_option("--with", requests,
                      "Request log of an inference service that runs next to the jobs")
          ->type_name("REQUESTS");
  command
      .add_option("--with-columns", column_map,
                  "TOML file that maps the columns or keys of the request log")
      ->type_name("FILE")
      ->needs(log);
  command
      .add_option(
          "--service", service,
          "That service: model, board, gpus, replicas=1..4, ttft, tpot, scaler, cold_start, batch, "
          "router, vc, nodes (of its own), reclaim (yes: replicas preempt jobs; nodes: on whole "
          "nodes, with few stops)")
      ->type_name("KEY=VALUE,...")
      ->needs(log);
}

Result<int> simulate_with_requests(const WithRequests& with, const experiment::Prepared& prepared,
                                   const ListOptions& list) {
  const auto told = parse(with);
  if (!told) return tl::unexpected(told.error());
  const int fitting = experiment::fitting_replicas(*told, prepared.cluster);
  if (fitting > 0 && told->most > fitting) {
    note(fmt::format("--service replicas: {} holds at most {} of the {} replicas",
                     experiment::place_of_replicas(*told, prepared.cluster), fitting, told->most));
  }
  std::vector<experiment::WithService> rows;
  for (std::size_t run = 0; run < prepared.runs.size(); ++run) {
    auto row = experiment::compare_with_service(prepared, run, *told, interrupted());
    if (!row) return tl::unexpected(row.error());
    if (interrupted()) return kInterrupted;
    if (!row->service.refused.empty()) {
      note(
          fmt::format("{}: no replica can ever start: {}", row->with.policy, row->service.refused));
    }
    if (told->reclaims && row->service.longest_wait >= 1min) {
      note(
          fmt::format("{}: a replica waited up to {} for jobs that may not be stopped; nodes=N of "
                      "the service's own are a reserve that no job uses",
                      row->with.policy, text::format_duration(row->service.longest_wait)));
    }
    rows.push_back(*std::move(row));
  }
  if (!list.wants_document()) return list.print(report::with_service_rows(rows));
  fmt::print("{}\n", report::with_service_json(rows));
  return kDone;
}

}  // namespace almanac::cli
