// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splitwise: the example of the project and each run of the Azure requests, request by request.
///
/// Source   Patel et al., Splitwise, ISCA'24.
#include "serving/splitwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "inference/request_log.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_splitwise(Recipes& registry);

namespace splitwise_recipe {
namespace {

using namespace inference;
using namespace serving;

constexpr const char* kLog = "data/inference/azure_llm_2023_code.csv";
constexpr const char* kTables = "data/profiles/llm/splitwise_medians.csv";
constexpr const char* kExamples = "golden/splitwise/example_*.csv";
constexpr const char* kRuns = "golden/splitwise/*_x*.csv";
constexpr double kStart_s = 1;  // before, the program has no servers yet

struct Server {
  char hardware = 'h';  // a, h, or c for a capped h
  SplitwisePool pool = SplitwisePool::both;
};

/// What "sw_ha_2h1a_bloom_kvjsq_x2" says.
struct Run {
  bool orca = false;
  std::vector<Server> servers{};
  std::string model{};
  std::string scheduler{};
  double rate = 1;
};

/// "2h1a": counts, each with a letter. Empty if `text` is not of this form.
std::vector<std::pair<int, char>> parse_counts(std::string_view text) {
  constexpr int kMost = 1000;
  std::vector<std::pair<int, char>> counts;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return {};
    const auto count = text::parse_whole(text.substr(0, digits));
    if (!count || *count < 1 || *count > kMost) return {};
    counts.push_back({static_cast<int>(*count), text[digits]});
    text.remove_prefix(digits + 1);
  }
  return counts;
}

/// The servers and the scheduler of the project's example.
Run example_run(std::string_view name) {
  if (name == "example_baseline_h") return {.servers = {{}}, .model = "bloom"};
  require(name == "example_splitwise_ha", "no example is called so");
  return {.servers = {{'a', SplitwisePool::tokens}, {'h', SplitwisePool::prompts}},
          .model = "bloom",
          .scheduler = "mixed"};
}

Run parse_run(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  Run run;
  const bool split = parts.front() == "sw";
  run.orca = parts.front() == "orca";
  const std::size_t first = split ? 2 : 1;
  const auto need = [](bool holds) { require(holds, "the name tells no servers, model and rate"); };
  need(parts.size() >= first + 3);
  const auto counts = parse_counts(parts[first]);
  need(!counts.empty() && (!split || (counts.size() == 2 && !parts[1].empty())));
  for (std::size_t group = 0; group < counts.size(); ++group) {
    char hardware = counts[group].second;
    if (split) {
      // Which hardware is which: hh, ha, aa, or hhcap for a capped one.
      const bool capped = parts[1].ends_with("cap") && group == 1;
      hardware = capped ? 'c' : parts[1].at(std::min(group, parts[1].size() - 1));
    }
    need(std::string_view("ahc").find(hardware) != std::string_view::npos);
    const auto pool = !split       ? SplitwisePool::both
                      : group == 0 ? SplitwisePool::prompts
                                   : SplitwisePool::tokens;
    for (int each = 0; each < counts[group].first; ++each) run.servers.push_back({hardware, pool});
  }
  // Servers are numbered A100 or capped ones first.
  std::stable_sort(run.servers.begin(), run.servers.end(),
                   [](const Server& a, const Server& b) { return a.hardware < b.hardware; });
  run.model = parts[first + 1];
  if (parts.size() > first + 3) run.scheduler = parts[first + 2];
  if (parts.back().starts_with('x')) {
    run.rate = text::parse_decimal(std::string_view(parts.back()).substr(1)).value_or(0);
  }
  need(parts.back().starts_with('x') && run.rate > 0);
  return run;
}

SplitwiseScheduler find_scheduler(std::string name, double& bandwidth) {
  if (name.starts_with("overlap")) {
    bandwidth = 10;
    name.replace(0, std::string_view("overlap").size(), "kv");
  }
  for (const std::string_view slow : {"ethernet", "eth"}) {
    if (!name.ends_with(slow)) continue;
    bandwidth /= 16;
    name = name.substr(0, name.size() - slow.size());
    break;
  }
  const std::map<std::string, SplitwiseScheduler, std::less<>> known{
      {"", SplitwiseScheduler::token_jsq},
      {"tok", SplitwiseScheduler::token_jsq},
      {"tokjsq", SplitwiseScheduler::token_jsq},
      {"rr", SplitwiseScheduler::round_robin},
      {"jsq", SplitwiseScheduler::jsq},
      {"mixed", SplitwiseScheduler::mixed_pool},
      {"kvrr", SplitwiseScheduler::kv_round_robin},
      {"kv", SplitwiseScheduler::kv_jsq},
      {"kvjsq", SplitwiseScheduler::kv_jsq},
      {"kvtok", SplitwiseScheduler::kv_token_jsq},
      {"kvtokjsq", SplitwiseScheduler::kv_token_jsq}};
  const auto found = known.find(name);
  require(found != known.end(), fmt::format("no scheduler is called {}", name));
  return found->second;
}

using Arrivals = std::vector<SplitwiseRequest>;

Arrivals example() {
  return {{.arrival = 1, .prompt = 4096, .output = 32},
          {.arrival = 3, .prompt = 2048, .output = 8},
          {.arrival = 4, .prompt = 2048, .output = 16}};
}

Arrivals cut(const Requests& log, std::size_t count, double rate) {
  Arrivals arrivals;
  for (std::size_t each = 0; each < std::min(count, log.size()); ++each) {
    const Request& request = log.all[each];
    arrivals.push_back({.arrival = kStart_s + std::floor(request.arrival) / 1e6 / rate,
                        .prompt = request.prompt,
                        .output = request.output});
  }
  return arrivals;
}

/// Times of eight GPUs by model and hardware.
using Tables = std::map<std::pair<std::string, std::string>, TokenTable>;

Tables read_tables(const File& file) {
  std::map<std::pair<std::string, std::string>, std::vector<TokenTable::Knot>> knots;
  Rows rows(file.path,
            {"model", "hardware", "tensor_parallel", "batch_tokens", "prompt_ms", "token_ms"});
  while (rows.next()) {
    if (rows.number("tensor_parallel") != 8) continue;
    knots[{std::string(rows.text("model")), std::string(rows.text("hardware"))}].push_back(
        {rows.number("batch_tokens"), rows.number("prompt_ms") / 1e3,
         rows.number("token_ms") / 1e3});
  }
  Tables tables;
  for (auto& [what, all] : knots) {
    if (all.size() < 2) continue;
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.tokens < b.tokens; });
    tables.emplace(what, TokenTable(std::move(all)));
  }
  return tables;
}

SplitwiseSetup setup_of(const Run& run, const Tables& tables) {
  SplitwiseSetup setup{.orca = run.orca};
  const bool bloom = run.model == "bloom";
  require(bloom || run.model == "llama", fmt::format("no model is called {}", run.model));
  setup.model = bloom ? SplitwiseModel{329e9, 70, 14'336} : SplitwiseModel{135e9, 80, 8'192};
  setup.scheduler = find_scheduler(run.scheduler, setup.bandwidth_factor);
  for (const Server& server : run.servers) {
    const std::string model = bloom ? "bloom-176b" : "llama2-70b";
    const std::string hardware = server.hardware == 'a'   ? "a100-80gb"
                                 : server.hardware == 'h' ? "h100-80gb"
                                                          : "h100-80gb-pcap";
    const auto times = tables.find({model, hardware});
    require(times != tables.end(), fmt::format("no times of {} on {}", model, hardware));
    setup.servers.push_back({&times->second, server.pool});
  }
  return setup;
}

/// Compares a run with the requests that `requests_of` makes of their number.
void compare_run(Bench& bench, const File& file, const SplitwiseSetup& setup,
                 const std::function<Arrivals(std::size_t)>& requests_of) {
  constexpr std::array kColumns{"ttft_s", "response_s", "prompt_start_s", "token_start_s"};
  const auto published =
      read_columns(file.path, {"ttft_s", "response_s", "prompt_instance", "token_instance",
                               "prompt_start_s", "token_start_s"});
  const std::vector<double>& prompt_servers = published.at("prompt_instance");
  const std::vector<double>& token_servers = published.at("token_instance");
  const Arrivals requests = requests_of(prompt_servers.size());
  const auto times = play_splitwise(requests, setup);
  std::array<std::vector<double>, kColumns.size()> ours;
  std::size_t elsewhere = 0;
  for (std::size_t each = 0; each < times.size(); ++each) {
    const SplitwiseTimes& mine = times[each];
    const double arrival = requests[each].arrival;
    ours[0].push_back(mine.first_token - arrival);
    ours[1].push_back(mine.finish - arrival);
    ours[2].push_back(mine.prompt_start);
    ours[3].push_back(mine.token_start);
    elsewhere += each < prompt_servers.size() && (prompt_servers[each] != mine.prompt_server ||
                                                  token_servers[each] != mine.token_server);
  }
  for (std::size_t each = 0; each < kColumns.size(); ++each) {
    bench.add_column(fmt::format("{}: {}", file.stem, kColumns[each]), published.at(kColumns[each]),
                     ours[each], "s");
  }
  bench.add_mismatches(file.stem + ": requests on another server", elsewhere);
}

void make(Bench& bench) {
  std::optional<Requests> log;
  bench.each(kLog, [&](const File& file) { log = value_or_throw(read_requests(file.path)); });
  Tables tables;
  bench.each(kTables, [&](const File& file) { tables = read_tables(file); });
  if (!log || tables.empty()) return;
  bench.each(kExamples, [&](const File& file) {
    compare_run(bench, file, setup_of(example_run(file.stem), tables),
                [](std::size_t) { return example(); });
  });
  bench.each(kRuns, [&](const File& file) {
    const Run run = parse_run(file.stem);
    compare_run(bench, file, setup_of(run, tables),
                [&](std::size_t count) { return cut(*log, count, run.rate); });
  });
}

}  // namespace
}  // namespace splitwise_recipe

void register_splitwise(Recipes& registry) {
  using namespace splitwise_recipe;
  registry.add({.name = "splitwise",
                .summary = "requests through the simulator of Splitwise, one by one",
                .paper = "Patel et al., ISCA'24 (Splitwise)",
                .kind = Kind::rerun,
                .needs = {{kLog, "Azure's public dataset"},
                          {kTables, "measurements of github.com/Mutinifni/splitwise-sim"},
                          {kExamples, "its own example"},
                          {kRuns, "its simulator on the log"}},
                .make = make});
}

}  // namespace almanac::reproduce
