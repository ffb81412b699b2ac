// SPDX-License-Identifier: Apache-2.0

/// \file
/// DistServe: each run request by request, and its summary.
///
/// Source   Zhong et al., DistServe, OSDI'24.
#include "serving/distserve.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "inference/former/steps.h"
#include "inference/profile/fitted.h"
#include "inference/registry.h"
#include "inference/request_log.h"
#include "inference/simulation.h"
#include "reproduce/read.h"
#include "reproduce/recipe.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/number.h"

namespace almanac::reproduce {

void register_distserve(Recipes& registry);

namespace distserve_recipe {
namespace {

using namespace inference;
using namespace serving;

constexpr const char* kLog = "data/inference/azure_llm_2023_code.csv";
constexpr const char* kTimes = "data/profiles/llm/distserve_a100.csv";
constexpr const char* kCapacities = "data/profiles/llm/distserve_kv_tokens.csv";
constexpr const char* kRuns = "golden/distserve/*_x*.csv";
constexpr const char* kSummary = "golden/distserve/summary.csv";
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

Run parse_run(const std::string& name) {
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
  require(prefill && rate, "the name tells no degrees and rate");
  return run;
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
                                 const std::vector<DistServeWorker>& workers) {
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
    const inference::Outcome& outcome = simulation.outcomes()[id];
    played.ttft.push_back((outcome.first_token - asked[id].arrival) / 1e3);
    played.tpot.push_back((outcome.finish - outcome.first_token) / 1e3 / requests[id].output);
    played.total.push_back((outcome.finish - asked[id].arrival) / 1e3);
  }
  return played;
}

/// What all runs are played with.
struct Inputs {
  Requests log{};
  std::string times{};                                              ///< The table's path.
  std::map<std::tuple<std::string, int, int>, double> kv_tokens{};  ///< By model and degrees.
};

Played play(const Run& run, std::size_t count, const Inputs& inputs) {
  Requests requests;
  for (std::size_t each = 0; each < std::min(count, inputs.log.size()); ++each) {
    Request request = inputs.log.all[each];
    request.arrival /= run.rate;
    request.prompt = std::min(request.prompt, kLongestPrompt);
    request.blocks = 0;
    requests.all.push_back(request);
  }
  std::vector<Fitted> fits;
  std::vector<DistServeWorker> workers;
  fits.reserve(2);
  for (const auto& degrees : {std::optional(run.prefill), run.decode}) {
    if (!degrees) continue;
    const auto& [tensor, stages] = *degrees;
    fits.push_back(
        value_or_throw(Fitted::read(inputs.times, run.engine, run.model, tensor, stages)));
    const auto capacity = inputs.kv_tokens.find({run.model, tensor, stages});
    require(capacity != inputs.kv_tokens.end(),
            fmt::format("no KV capacity of {} on {} x {} GPUs", run.model, tensor, stages));
    workers.push_back({&fits.back(), stages, capacity->second});
  }
  const auto times =
      play_distserve(requests, workers[0], workers.size() > 1 ? &workers[1] : nullptr);
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

Played compare_run(Bench& bench, const File& file, const Inputs& inputs) {
  const auto published = read_columns(file.path, {"req_id", "ttft_ms", "tpot_ms"});
  const std::vector<double>& ttft = published.at("ttft_ms");
  const std::vector<double>& tpot = published.at("tpot_ms");
  Played played = play(parse_run(file.stem), ttft.size(), inputs);
  bench.add_column(file.stem + ": TTFT", ttft, played.ttft, "ms");
  bench.add_column(file.stem + ": TPOT", tpot, played.tpot, "ms");
  if (played.common) {
    bench.add_column(file.stem + ": TTFT, common path", ttft, played.common->ttft, "ms");
    bench.add_column(file.stem + ": TPOT, common path", tpot, played.common->tpot, "ms");
  }
  return played;
}

void compare_summary(Bench& bench, const Rows& summary, const Played& played) {
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
  for (const std::string& name : summary.header()) {
    const auto found = ours.find(name);
    if (found == ours.end() || summary.text(name).empty()) continue;
    bench.add(fmt::format("{}: {}", summary.text("run"), name), summary.number(name), found->second,
              name.ends_with("_ms") ? "ms" : "");
  }
}

void make(Bench& bench) {
  Inputs inputs;
  bench.each(kLog,
             [&](const File& file) { inputs.log = value_or_throw(read_requests(file.path)); });
  bench.each(kTimes, [&](const File& file) { inputs.times = file.path; });
  bench.each(kCapacities, [&](const File& file) {
    Rows rows(file.path, {"model", "tp", "pp", "kv_tokens"});
    while (rows.next()) {
      inputs.kv_tokens.try_emplace(
          {std::string(rows.text("model")), static_cast<int>(rows.whole("tp")),
           static_cast<int>(rows.whole("pp"))},
          rows.number("kv_tokens"));
    }
  });
  if (inputs.log.all.empty() || inputs.times.empty() || inputs.kv_tokens.empty()) return;
  std::map<std::string, Played> by_name;
  bench.each(kRuns, [&](const File& file) {
    by_name.emplace(file.stem, compare_run(bench, file, inputs));
  });
  bench.each(kSummary, [&](const File& file) {
    Rows rows(file.path, {"run", "requests"});
    while (rows.next()) {
      const std::string name(rows.text("run"));
      if (!by_name.contains(name)) {
        const auto count = static_cast<std::size_t>(rows.number("requests"));
        by_name.emplace(name, play(parse_run(name), count, inputs));
      }
      compare_summary(bench, rows, by_name.at(name));
    }
  });
}

}  // namespace
}  // namespace distserve_recipe

void register_distserve(Recipes& registry) {
  using namespace distserve_recipe;
  registry.add({.name = "distserve",
                .summary = "requests through the simulator of DistServe, one by one",
                .paper = "Zhong et al., OSDI'24 (DistServe)",
                .kind = Kind::rerun,
                .needs = {{kLog, "Azure's public dataset"},
                          {kTimes, "coefficients of github.com/LLMServe/DistServe"},
                          {kCapacities, "KV capacities, from the same"},
                          {kRuns, "its simulator on the log"},
                          {kSummary, "means and quantiles of these runs"}},
                .make = make});
}

}  // namespace almanac::reproduce
