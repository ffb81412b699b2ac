// SPDX-License-Identifier: Apache-2.0

/// \file
/// DistServe: each run request by request, and its summary.
#include "serving/distserve.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "inference/former/steps.h"
#include "inference/profile/fitted.h"
#include "inference/profile/sheet.h"
#include "inference/registry.h"
#include "inference/request_log.h"
#include "inference/simulation.h"
#include "serving/recipe/recipes.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

constexpr std::int32_t kLongestPrompt = 2047;

struct Degrees {
  int tensor = 1, stages = 1;
};

/// What "distserve_opt_13b_p2x1_d1x2_x0.5" says.
struct Run {
  std::string engine{}, model{};
  Degrees prefill{};
  std::optional<Degrees> decode{};
  double rate = 1;
};

std::optional<Degrees> parse_degrees(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto tensor = text::parse_whole(text.substr(0, x));
  const auto stages = text::parse_whole(text.substr(x + 1));
  if (!tensor || !stages || *tensor < 1 || *stages < 1) return std::nullopt;
  return Degrees{static_cast<int>(*tensor), static_cast<int>(*stages)};
}

Result<Run> parse_run(const std::string& name) {
  Run run;
  bool prefill = false, rate = false;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const std::string_view part = std::string_view(name).substr(at, end - at);
    const auto degrees = part.empty() ? std::nullopt : parse_degrees(part.substr(1));
    if (at == 0) {
      run.engine = part;
    } else if (degrees && part.front() == 'd') {
      run.decode = *degrees;
    } else if (degrees) {
      run.prefill = *degrees;
      prefill = true;
    } else if (prefill && part.starts_with('x')) {
      const auto value = text::parse_decimal(part.substr(1));
      rate = value && *value > 0;
      if (rate) run.rate = *value;
    } else {
      run.model += (run.model.empty() ? "" : "-") + std::string(part);
    }
    at = end + 1;
  }
  if (prefill && rate) return run;
  return fail(Code::invalid, "the name tells no degrees and rate", {.file = name});
}

Result<double> kv_tokens(const Sheet& sheet, const std::string& model, const Degrees& degrees) {
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    const auto tp = sheet.number("tp", row);
    const auto pp = sheet.number("pp", row);
    if (!tp) return tp;
    if (!pp) return pp;
    if (sheet.text("model", row) == model && *tp == degrees.tensor && *pp == degrees.stages) {
      return sheet.number("kv_tokens", row);
    }
  }
  return fail(Code::not_found, fmt::format("no KV capacity of {} on {} x {} GPUs", model,
                                           degrees.tensor, degrees.stages));
}

struct Times {
  std::vector<double> ttft{}, tpot{}, total{};  // ms
};
struct Played : Times {
  std::optional<Times> common{};  ///< As the commands simulate it.
};

/// Whole prompts first; then a token for those that have waited longest for one, as long as their
/// contexts together stay below a bound. Those that are not finished go to the end of the line.
class Rotating final : public Former {
 public:
  void form(Replica& replica) override {
    std::vector<Replica::Slot> back = std::exchange(last_, {});
    std::erase_if(back, [&](Replica::Slot slot) {
      return std::find(replica.run().begin(), replica.run().end(), slot) == replica.run().end();
    });
    constexpr std::size_t kAll = std::numeric_limits<std::int32_t>::max();
    std::size_t had = replica.run().size();
    const auto joined = [&] {
      const auto run = replica.run();
      return std::vector<Replica::Slot>(run.begin() + static_cast<std::ptrdiff_t>(had), run.end());
    };
    if (replica.next() != nullptr && replica.next()->ready > 0) {
      former::admit_prompts(replica, kAll, 0);
      const auto handed_over = joined();
      line_.insert(line_.end(), handed_over.begin(), handed_over.end());
      had = replica.run().size();
    }
    line_.insert(line_.end(), back.begin(), back.end());
    if (former::admit_prompts(replica, kAll, replica.limits().tokens) > 0) {
      last_ = joined();
      return;
    }
    std::int64_t tokens = 0;
    while (!line_.empty()) {
      tokens += replica.at(line_.front()).done + 1;
      if (tokens > kMostTokens) break;
      replica.grow(line_.front(), 1);
      last_.push_back(line_.front());
      line_.pop_front();
    }
  }

 private:
  static constexpr std::int64_t kMostTokens = 50'000;
  std::deque<Replica::Slot> line_;
  std::vector<Replica::Slot> last_;  // of the batch before
};

/// The time of an iteration as DistServe's simulator has it, its overhead of a batch included.
class WithOverhead final : public StepTime {
 public:
  explicit WithOverhead(const Fitted& fit) : fit_(fit) {}
  Micros operator()(const Batch& batch) const override {
    constexpr Micros kBatch = 2e3, kToken = 0.1;
    return fit_(batch) + kBatch +
           kToken * static_cast<double>(batch.prefill_tokens() + batch.context);
  }

 private:
  const Fitted& fit_;
};

/// The same by the simulation that all commands use. Nothing where that has no such fleet: stages
/// of a pipeline. A token more is asked of each request, for DistServe's prefills yield none.
std::optional<Times> play_common(const Requests& requests, const Run& run,
                                 const std::vector<Fitted>& fits,
                                 const std::vector<published::DistServeWorker>& workers) {
  if (run.prefill.stages > 1 || (run.decode && run.decode->stages > 1)) return std::nullopt;
  Requests asked = requests;
  for (Request& each : asked.all) ++each.output;
  std::vector<WithOverhead> steps(fits.begin(), fits.end());
  Simulation simulation(asked);
  for (std::size_t each = 0; each < steps.size(); ++each) {
    const Role role = steps.size() == 1 ? Role::both : each == 0 ? Role::prefill : Role::decode;
    // DistServe counts the KV of a batch and not of what runs besides.
    simulation.add({.sequences = std::numeric_limits<std::int32_t>::max(),
                    .tokens = static_cast<std::int32_t>(workers[each].kv_tokens),
                    .kv_blocks = std::numeric_limits<std::int32_t>::max() / 2,
                    .block_tokens = 1},
                   steps[each], std::make_unique<Rotating>(), {.role = role});
  }
  simulation.run(*registry().routers.find("round_robin")->make(1));
  Times played;
  for (RequestId id = 0; id < asked.size(); ++id) {
    const Outcome& outcome = simulation.outcomes()[id];
    played.ttft.push_back((outcome.first_token - asked[id].arrival) / 1e3);
    played.tpot.push_back((outcome.finish - outcome.first_token) / 1e3 / requests[id].output);
    played.total.push_back((outcome.finish - asked[id].arrival) / 1e3);
  }
  return played;
}

Result<Played> play(const Run& run, const Requests& log, std::size_t count, const Sheet& capacities,
                    const std::string& coefficients) {
  Requests requests;
  for (std::size_t each = 0; each < std::min(count, log.size()); ++each) {
    Request request = log.all[each];
    request.arrival /= run.rate;
    request.prompt = std::min(request.prompt, kLongestPrompt);
    request.blocks = 0;
    requests.all.push_back(request);
  }
  std::vector<Fitted> fits;
  std::vector<published::DistServeWorker> workers;
  fits.reserve(2);
  workers.reserve(2);
  for (const auto& degrees : {std::optional(run.prefill), run.decode}) {
    if (!degrees) continue;
    auto fit = Fitted::read(coefficients, run.engine, run.model, degrees->tensor, degrees->stages);
    if (!fit) return tl::unexpected(fit.error());
    fits.push_back(*fit);
    const auto capacity = kv_tokens(capacities, run.model, *degrees);
    if (!capacity) return tl::unexpected(capacity.error());
    workers.push_back({&fits.back(), degrees->stages, *capacity});
  }
  const auto times =
      published::play_distserve(requests, workers[0], workers.size() > 1 ? &workers[1] : nullptr);
  Played played;
  for (std::size_t each = 0; each < times.size(); ++each) {
    const Request& request = requests.all[each];
    played.ttft.push_back((times[each].prefilled - request.arrival) / 1e3);
    played.tpot.push_back((times[each].finish - times[each].prefilled) / 1e3 / request.output);
    played.total.push_back((times[each].finish - request.arrival) / 1e3);
  }
  played.common = play_common(requests, run, fits, workers);
  return played;
}

void compare_summary(const Sheet& summary, std::size_t row, const Played& played,
                     Comparison& made) {
  constexpr double kTtft = 200, kTpot = 100;
  std::map<std::string, double, std::less<>> ours;
  const auto spread = [&](const std::string& name, std::vector<double> values) {
    ours[name + "_mean_ms"] = stats::mean(values);
    ours[name + "_p50_ms"] = stats::quantile(values, 0.50);
    ours[name + "_p90_ms"] = stats::quantile(values, 0.90);
    ours[name + "_p99_ms"] = stats::quantile(values, 0.99);
  };
  spread("ttft", played.ttft);
  spread("tpot", played.tpot);
  spread("total", played.total);
  double in_ttft = 0, in_tpot = 0, in_both = 0;
  for (std::size_t each = 0; each < played.ttft.size(); ++each) {
    const bool first = played.ttft[each] <= kTtft, rest = played.tpot[each] <= kTpot;
    in_ttft += first;
    in_tpot += rest;
    in_both += first && rest;
  }
  const auto count = static_cast<double>(played.ttft.size());
  ours["requests"] = count;
  ours["ttft_le_200ms"] = in_ttft / count;
  ours["tpot_le_100ms"] = in_tpot / count;
  ours["both"] = in_both / count;
  for (const std::string& name : summary.names()) {
    const auto found = ours.find(name);
    const auto published = summary.number(name, row);
    if (found == ours.end() || !published) continue;
    made.add(summary.text("run", row) + ": " + name, *published, found->second,
             name.ends_with("_ms") ? "ms" : "");
  }
}

}  // namespace

Result<Comparison> compare_distserve(const Shared& shared) {
  const std::string profiles = shared.data + "/profiles/llm/";
  const auto log = read_requests(shared.data + "/inference/azure_llm_2023_code.csv.gz");
  if (!log) return tl::unexpected(log.error());
  const auto capacities =
      Sheet::read(profiles + "distserve_kv_tokens.csv", {"model", "tp", "pp", "kv_tokens"});
  if (!capacities) return tl::unexpected(capacities.error());
  const auto summary = Sheet::read(shared.golden + "/distserve/summary.csv", {"run", "requests"});
  if (!summary) return tl::unexpected(summary.error());
  const auto runs = files(shared.golden + "/distserve", "", ".csv.gz");
  if (!runs) return tl::unexpected(runs.error());
  Comparison made;
  std::map<std::string, Played> by_name;
  const auto compare_run = [&](const std::string& path) -> Result<void> {
    const auto run = parse_run(stem(path));
    if (!run) return tl::unexpected(run.error());
    const auto sheet = Sheet::read(path, {"req_id", "ttft_ms", "tpot_ms"});
    if (!sheet) return tl::unexpected(sheet.error());
    const auto ttft = sheet->numbers("ttft_ms");
    const auto tpot = sheet->numbers("tpot_ms");
    if (!ttft) return tl::unexpected(ttft.error());
    if (!tpot) return tl::unexpected(tpot.error());
    auto played = play(*run, *log, sheet->rows(), *capacities, profiles + "distserve_a100.csv");
    if (!played) return tl::unexpected(played.error());
    made.add_column(stem(path) + ": TTFT", *ttft, played->ttft, "ms");
    made.add_column(stem(path) + ": TPOT", *tpot, played->tpot, "ms");
    if (played->common) {
      made.add_column(stem(path) + ": TTFT, common path", *ttft, played->common->ttft, "ms");
      made.add_column(stem(path) + ": TPOT, common path", *tpot, played->common->tpot, "ms");
    }
    by_name.emplace(stem(path), std::move(*played));
    return {};
  };
  for (const std::string& path : *runs) {
    if (auto done = compare_run(path); !done) made.fail(done.error());
  }
  for (std::size_t row = 0; row < summary->rows(); ++row) {
    const std::string& name = summary->text("run", row);
    auto found = by_name.find(name);
    if (found == by_name.end()) {
      const auto run = parse_run(name);
      if (!run) return tl::unexpected(run.error());
      const auto count = summary->number("requests", row);
      if (!count) return tl::unexpected(count.error());
      auto played = play(*run, *log, static_cast<std::size_t>(*count), *capacities,
                         profiles + "distserve_a100.csv");
      if (!played) return tl::unexpected(played.error());
      found = by_name.emplace(name, std::move(*played)).first;
    }
    compare_summary(*summary, row, found->second, made);
  }
  return made;
}

}  // namespace almanac::inference
