// SPDX-License-Identifier: Apache-2.0

/// \file
/// Splitwise: the example of the project and each run of the Azure requests, request by request.
#include "serving/splitwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "inference/profile/sheet.h"
#include "inference/request_log.h"
#include "serving/recipe/recipes.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

using published::SplitwisePool;
using published::SplitwiseScheduler;

constexpr Micros kStart = 1e6;  // before, the program has no servers yet

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

/// "2h1a": counts, each with a letter. Empty where it is none.
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

Result<Run> parse_run(const std::string& name) {
  if (name == "example_baseline_h") return Run{.servers = {{}}, .model = "bloom"};
  if (name == "example_splitwise_ha") {
    return Run{.servers = {{'a', SplitwisePool::tokens}, {'h', SplitwisePool::prompts}},
               .model = "bloom",
               .scheduler = "mixed"};
  }
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
  const auto wrong = [&] {
    return fail(Code::invalid, "the name tells no servers, model and rate", {.file = name});
  };
  if (parts.size() < first + 3) return wrong();
  const auto counts = parse_counts(parts[first]);
  if (counts.empty() || (split && (counts.size() != 2 || parts[1].empty()))) return wrong();
  for (std::size_t group = 0; group < counts.size(); ++group) {
    char hardware = counts[group].second;
    if (split) {
      // Which hardware is which: hh, ha, aa, or hhcap for a capped one.
      const bool capped = parts[1].ends_with("cap") && group == 1;
      hardware = capped ? 'c' : parts[1].at(std::min(group, parts[1].size() - 1));
    }
    if (std::string_view("ahc").find(hardware) == std::string_view::npos) return wrong();
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
  const auto rate = parts.back().starts_with('x')
                        ? text::parse_decimal(std::string_view(parts.back()).substr(1))
                        : std::nullopt;
  if (!rate || *rate <= 0) return wrong();
  run.rate = *rate;
  return run;
}

Result<SplitwiseScheduler> find_scheduler(std::string name, double& bandwidth) {
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
  if (found != known.end()) return found->second;
  return fail(Code::unsupported, fmt::format("no scheduler is called {}", name));
}

struct Tables {
  std::map<std::pair<std::string, std::string>, TokenTable> all{};
};

Result<const TokenTable*> table_of(Tables& tables, const std::string& path,
                                   const std::string& model, const std::string& hardware) {
  auto found = tables.all.find({model, hardware});
  if (found == tables.all.end()) {
    auto read = TokenTable::read(path, model, hardware, 8);
    if (!read) return tl::unexpected(read.error());
    found = tables.all.emplace(std::pair(model, hardware), std::move(*read)).first;
  }
  return &found->second;
}

Requests example() {
  Requests requests;
  requests.all = {{.arrival = 1e6, .prompt = 4096, .output = 32},
                  {.arrival = 3e6, .prompt = 2048, .output = 8},
                  {.arrival = 4e6, .prompt = 2048, .output = 16}};
  return requests;
}

Requests cut(const Requests& log, std::size_t count, double rate) {
  Requests requests;
  for (std::size_t each = 0; each < std::min(count, log.size()); ++each) {
    Request request = log.all[each];
    request.arrival = kStart + std::floor(request.arrival) / rate;
    requests.all.push_back(request);
  }
  return requests;
}

Result<void> compare_run(const std::string& path, const Shared& shared, const Requests& log,
                         Tables& tables, Comparison& made) {
  const std::string name = stem(path);
  const auto run = parse_run(name);
  if (!run) return tl::unexpected(run.error());
  const std::array columns{"ttft_s", "response_s", "prompt_start_s", "token_start_s"};
  const auto sheet = Sheet::read(path, {"ttft_s", "response_s", "prompt_instance", "token_instance",
                                        "prompt_start_s", "token_start_s"});
  if (!sheet) return tl::unexpected(sheet.error());

  published::SplitwiseSetup setup{.orca = run->orca};
  const bool bloom = run->model == "bloom";
  if (!bloom && run->model != "llama") {
    return fail(Code::unsupported, fmt::format("no model is called {}", run->model),
                {.file = path});
  }
  setup.model = bloom ? published::SplitwiseModel{329e9, 70, 14'336}
                      : published::SplitwiseModel{135e9, 80, 8'192};
  const auto scheduler = find_scheduler(run->scheduler, setup.bandwidth_factor);
  if (!scheduler) return tl::unexpected(scheduler.error());
  setup.scheduler = *scheduler;
  for (const Server& server : run->servers) {
    const std::string hardware = server.hardware == 'a'   ? "a100-80gb"
                                 : server.hardware == 'h' ? "h100-80gb"
                                                          : "h100-80gb-pcap";
    const auto times = table_of(tables, shared.data + "/profiles/llm/splitwise_medians.csv",
                                bloom ? "bloom-176b" : "llama2-70b", hardware);
    if (!times) return tl::unexpected(times.error());
    setup.servers.push_back({*times, server.pool});
  }
  const Requests requests =
      name.starts_with("example") ? example() : cut(log, sheet->rows(), run->rate);
  const auto times = published::play_splitwise(requests, setup);

  std::array<std::vector<double>, 4> ours;
  std::size_t elsewhere = 0;
  for (std::size_t each = 0; each < times.size(); ++each) {
    const auto& mine = times[each];
    const Micros arrival = requests.all[each].arrival;
    ours[0].push_back((mine.first_token - arrival) / 1e6);
    ours[1].push_back((mine.finish - arrival) / 1e6);
    ours[2].push_back(mine.prompt_start / 1e6);
    ours[3].push_back(mine.token_start / 1e6);
    if (each >= sheet->rows()) continue;
    const auto source = sheet->number("prompt_instance", each);
    const auto destination = sheet->number("token_instance", each);
    if (!source) return tl::unexpected(source.error());
    if (!destination) return tl::unexpected(destination.error());
    elsewhere += *source != mine.prompt_server || *destination != mine.token_server;
  }
  for (std::size_t each = 0; each < columns.size(); ++each) {
    const auto published = sheet->numbers(columns[each]);
    if (!published) return tl::unexpected(published.error());
    made.add_column(name + ": " + columns[each], *published, ours[each], "s");
  }
  made.add_mismatches(name + ": requests on another server", elsewhere);
  return {};
}

}  // namespace

Result<Comparison> compare_splitwise(const Shared& shared) {
  const auto log = read_requests(shared.data + "/inference/azure_llm_2023_code.csv.gz");
  if (!log) return tl::unexpected(log.error());
  const auto plain = files(shared.golden + "/splitwise", "", ".csv");
  const auto packed = files(shared.golden + "/splitwise", "", ".csv.gz");
  if (!plain && !packed) return tl::unexpected(plain.error());
  Comparison made;
  Tables tables;
  for (const auto* group : {&plain, &packed}) {
    if (!*group) continue;
    for (const std::string& path : **group) {
      if (auto done = compare_run(path, shared, *log, tables, made); !done) {
        made.fail(done.error());
      }
    }
  }
  return made;
}

}  // namespace almanac::inference
