// SPDX-License-Identifier: Apache-2.0
#include "report/service_document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/loss.h"
#include "inference/tenants.h"
#include "report/shown_command.h"
#include "stats/quantile.h"
#include "table/digest.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using figure::Figure;
using figure::Unit;
using inference::kNever;
using inference::Loss;
using inference::RequestId;

constexpr std::size_t kBins = 60;
constexpr std::array kMeasures{"TTFT", "TPOT", "end to end"};

/// Latencies of finished requests in milliseconds, by measure.
std::array<std::vector<double>, kMeasures.size()> latencies(const ServiceInput& input) {
  std::array<std::vector<double>, kMeasures.size()> made;
  for (RequestId id = 0; id < input.requests.size(); ++id) {
    const auto& request = input.requests[id];
    const auto& outcome = input.played.outcomes[id];
    if (outcome.finish == kNever) continue;
    made[0].push_back((outcome.first_token - request.arrival) / 1e3);
    if (request.output > 1) {
      made[1].push_back((outcome.finish - outcome.first_token) / (request.output - 1) / 1e3);
    }
    made[2].push_back((outcome.finish - request.arrival) / 1e3);
  }
  for (auto& values : made) std::sort(values.begin(), values.end());
  return made;
}

/// "TTFT <= 500 ms, TPOT <= 50 ms".
std::string spelled(const inference::Objective& objective) {
  std::vector<std::string> made;
  for (const auto& [name, bound] :
       {std::pair("TTFT", objective.first_token), std::pair("TPOT", objective.per_token),
        std::pair("E2E", objective.end_to_end)}) {
    if (bound != kNever) made.push_back(fmt::format("{} <= {:.6g} ms", name, bound / 1e3));
  }
  return made.empty() ? "none: every finished request counts"
                      : fmt::format("{}", fmt::join(made, ", "));
}

/// A line across a chart of latencies at each limit of the objective.
std::vector<figure::Reference> limits(const inference::Objective& objective) {
  std::vector<figure::Reference> made;
  for (const auto& [name, bound] :
       {std::pair("TTFT", objective.first_token), std::pair("TPOT", objective.per_token),
        std::pair("E2E", objective.end_to_end)}) {
    if (bound == kNever) continue;
    made.push_back({.name = fmt::format("{} objective: {:.6g} ms", name, bound / 1e3),
                    .x = {bound / 1e3, bound / 1e3},
                    .y = {0, 1}});
  }
  return made;
}

Figure draw_latencies(const ServiceInput& input) {
  Figure made{.id = "service_latency", .title = "Latencies"};
  made.caption = fmt::format(
      "Cumulative distribution over finished requests. Vertical lines: the objective ({}).",
      spelled(input.objective));
  auto& measure = made.text("measure", "Latency");
  auto& milliseconds = made.number("latency_ms", "Latency (ms)");
  auto& part = made.number("part", "Share of the requests", Unit::fraction);
  const auto all = latencies(input);
  for (std::size_t each = 0; each < all.size(); ++each) {
    for (int percent = 1; percent <= 100 && !all[each].empty(); ++percent) {
      measure.add(std::string(kMeasures[each]));
      milliseconds.add(stats::quantile_sorted(all[each], percent / 100.0));
      part.add(percent / 100.0);
    }
  }
  made.charts.push_back({.kind = "line",
                         .x = "latency_ms",
                         .y = {"part"},
                         .by = "measure",
                         .x_scale = "log",
                         .references = limits(input.objective)});
  return made;
}

Figure percentiles(const ServiceInput& input) {
  Figure made{.id = "service_percentiles", .title = "Latency percentiles"};
  made.caption = "In milliseconds, over finished requests.";
  auto& measure = made.text("measure", "Latency");
  auto& mean = made.number("mean_ms", "Mean");
  auto& p50 = made.number("p50_ms", "Median");
  auto& p90 = made.number("p90_ms", "p90");
  auto& p99 = made.number("p99_ms", "p99");
  auto& most = made.number("max_ms", "Maximum");
  auto& limit = made.number("objective_ms", "Objective");
  for (const auto& [name, spread] : {std::pair(kMeasures[0], &input.seen.first_token),
                                     std::pair(kMeasures[1], &input.seen.per_token),
                                     std::pair("longest inter-token gap", &input.seen.longest_gap),
                                     std::pair(kMeasures[2], &input.seen.end_to_end)}) {
    measure.add(std::string(name));
    mean.add(spread->mean / 1e3);
    p50.add(spread->p50 / 1e3);
    p90.add(spread->p90 / 1e3);
    p99.add(spread->p99 / 1e3);
    most.add(spread->most / 1e3);
    const inference::Micros bound = spread == &input.seen.first_token  ? input.objective.first_token
                                    : spread == &input.seen.per_token  ? input.objective.per_token
                                    : spread == &input.seen.end_to_end ? input.objective.end_to_end
                                                                       : kNever;
    limit.add(bound == kNever ? stats::kNaN : bound / 1e3);
  }
  return made;
}

/// Requests by when they arrived.
class Bins {
 public:
  explicit Bins(const ServiceInput& input) {
    if (input.requests.size() == 0) return;
    first_ = input.requests.all.front().arrival;
    const double span = input.requests.all.back().arrival - first_;
    width_ = std::max(1e6, std::ceil(span / kBins / 1e6) * 1e6);
    counts_.resize(static_cast<std::size_t>(span / width_) + 1);
    for (RequestId id = 0; id < input.requests.size(); ++id) {
      const auto bin = static_cast<std::size_t>((input.requests[id].arrival - first_) / width_);
      const Loss loss =
          inference::loss_of(input.requests[id], input.played.outcomes[id], input.objective);
      ++counts_[bin][static_cast<std::size_t>(loss)];
      ++totals_[static_cast<std::size_t>(loss)];
    }
  }
  std::size_t size() const { return counts_.size(); }
  double seconds() const { return width_ / 1e6; }
  double at(std::size_t bin) const { return static_cast<double>(bin) * width_ / 1e6; }
  double requests(std::size_t bin) const {
    double sum = 0;
    for (const int each : counts_[bin]) sum += each;
    return sum;
  }
  int count(std::size_t bin, Loss loss) const {
    return counts_[bin][static_cast<std::size_t>(loss)];
  }
  int total(Loss loss) const { return totals_[static_cast<std::size_t>(loss)]; }

 private:
  using Counts = std::array<int, inference::kLosses>;
  double first_ = 0, width_ = 1e6;
  std::vector<Counts> counts_;
  Counts totals_{};
};

std::array<Loss, inference::kLosses - 1> reasons() {
  return {Loss::turned_away,  Loss::unfinished, Loss::waited,
          Loss::long_prefill, Loss::sent_back,  Loss::slow_tokens};
}

Figure attainment(const Bins& bins) {
  Figure made{.id = "service_attainment", .title = "SLO attainment over time"};
  made.caption =
      "Fraction of the requests of each interval that met the SLO, and their number per second, by "
      "arrival time.";
  auto& at = made.number("time_s", "Time", Unit::seconds);
  auto& part = made.number("attainment", "SLO attainment", Unit::fraction);
  auto& goodput = made.number("goodput_rps", "Goodput (requests/s within the SLO)");
  auto& asked = made.number("requests_rps", "All requests/s");
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    const double all = bins.requests(bin), good = bins.count(bin, Loss::none);
    at.add(bins.at(bin));
    part.add(all > 0 ? good / all : stats::kNaN);
    goodput.add(good / bins.seconds());
    asked.add(all / bins.seconds());
  }
  made.charts.push_back({.kind = "line", .x = "time_s", .y = {"attainment"}});
  made.charts.push_back({.kind = "line", .x = "time_s", .y = {"goodput_rps", "requests_rps"}});
  return made;
}

Figure losses(const Bins& bins) {
  Figure made{.id = "service_losses", .title = "Requests that missed the SLO, by reason"};
  made.caption = "By arrival time. Each request counts once, for the first reason that applies.";
  auto& at = made.number("time_s", "Time", Unit::seconds);
  auto& why = made.text("reason", "Reason");
  auto& count = made.number("requests", "Requests");
  for (const Loss loss : reasons()) {
    if (bins.total(loss) == 0) continue;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      at.add(bins.at(bin));
      why.add(std::string(inference::to_string(loss)));
      count.add(bins.count(bin, loss));
    }
  }
  made.charts.push_back(
      {.kind = "step", .x = "time_s", .y = {"requests"}, .by = "reason", .stacked = true});
  return made;
}

Figure fleet(const ServiceInput& input) {
  Figure made{.id = "service_fleet", .title = "Fleet over time"};
  made.caption = "State of the fleet at each decision of the scaler.";
  auto& at = made.number("time_s", "Time", Unit::seconds);
  auto& gpus = made.number("gpus_ready", "GPUs of ready replicas", Unit::gpus);
  auto& starting = made.number("gpus_starting", "GPUs of starting replicas", Unit::gpus);
  auto& waiting = made.number("requests_waiting", "Waiting requests");
  auto& running = made.number("requests_running", "Running requests");
  auto& memory = made.number("kv_use", "KV cache utilization", Unit::fraction);
  const double first = input.played.looks.empty() ? 0 : input.played.looks.front().at;
  for (const auto& look : input.played.looks) {
    at.add((look.at - first) / 1e6);
    gpus.add(look.load.ready * input.service.replica_gpus());
    starting.add(look.load.starting * input.service.replica_gpus());
    waiting.add(static_cast<double>(look.load.waiting));
    running.add(static_cast<double>(look.load.running));
    memory.add(look.load.kv_use);
  }
  made.charts.push_back({.kind = "step",
                         .title = "Active GPUs",
                         .x = "time_s",
                         .y = {"gpus_ready", "gpus_starting"},
                         .stacked = true});
  made.charts.push_back({.kind = "step",
                         .title = "Requests",
                         .x = "time_s",
                         .y = {"requests_waiting", "requests_running"}});
  made.charts.push_back(
      {.kind = "step", .title = "KV cache utilization", .x = "time_s", .y = {"kv_use"}});
  return made;
}

/// GPUs of the fleet at the start of each period of the ideal one.
Figure ideal(const ServiceInput& input) {
  Figure made{.id = "service_ideal", .title = "Fleet and perfect autoscaler"};
  made.caption =
      "The fewest GPUs that the arrivals of each minute need, if replicas started at once and none "
      "was idle, next to those of the fleet.";
  auto& at = made.number("time_s", "Time", Unit::seconds);
  auto& least = made.number("gpus_ideal", "GPUs of a perfect autoscaler", Unit::gpus);
  auto& present = made.number("gpus_present", "GPUs of the fleet", Unit::gpus);
  const auto& looks = input.played.looks;
  const double first = input.ideal.steps.empty() ? 0 : input.ideal.steps.front().at;
  std::size_t look = 0;
  for (const auto& step : input.ideal.steps) {
    while (look + 1 < looks.size() && looks[look + 1].at <= step.at) ++look;
    at.add((step.at - first) / 1e6);
    least.add(step.replicas * input.service.replica_gpus());
    const int replicas = looks.empty() ? 0 : looks[look].load.ready + looks[look].load.starting;
    present.add(replicas * input.service.replica_gpus());
  }
  made.charts.push_back({.kind = "step", .x = "time_s", .y = {"gpus_ideal", "gpus_present"}});
  return made;
}

using Tenants = std::vector<inference::TenantSeen>;

Figure by_tenant(const Tenants& tenants) {
  Figure made{.id = "service_tenants", .title = "Tenants"};
  made.caption =
      "The tenant with the lowest SLO attainment comes first. The GPU time of an iteration counts "
      "for the tenants whose tokens are in it.";
  auto& name = made.text("tenant", "Tenant");
  auto& requests = made.number("requests", "Requests");
  auto& part = made.number("attainment", "SLO attainment", Unit::fraction);
  auto& prompts = made.number("prompt_tokens", "Prompt tokens");
  auto& outputs = made.number("output_tokens", "Output tokens");
  auto& share = made.number("gpu_share", "Share of the GPU time", Unit::fraction);
  auto& first = made.number("ttft_p99_ms", "p99 TTFT (ms)");
  for (const inference::TenantSeen& each : tenants) {
    name.add(each.tenant);
    requests.add(static_cast<double>(each.seen.requests));
    part.add(each.seen.attainment());
    prompts.add(static_cast<double>(each.seen.prompt_tokens));
    outputs.add(static_cast<double>(each.seen.output_tokens));
    share.add(each.gpu_share);
    first.add(each.seen.first_token.p99 / 1e3);
  }
  return made;
}

void find_worst(const ServiceInput& input, const Tenants& tenants, figure::Document& document) {
  if (tenants.size() < 2 || tenants.front().seen.attainment() >= input.seen.attainment()) return;
  const inference::TenantSeen& worst = tenants.front();
  document.findings.push_back(
      {.headline = fmt::format("{} has the lowest SLO attainment: {:.1f} % of its {} requests.",
                               worst.tenant, 100 * worst.seen.attainment(),
                               text::grouped(static_cast<std::int64_t>(worst.seen.requests))),
       .detail = fmt::format("Its share of the GPU time: {:.1f} %.", 100 * worst.gpu_share),
       .figure = "service_tenants",
       .advice = {}});
}

/// Medians and p99 of TTFT and TPOT; "" where no request finished.
std::string latency_words(const inference::Seen& seen) {
  if (std::isnan(seen.first_token.p50)) return {};
  const std::string first = fmt::format("TTFT: median {:.0f} ms, p99 {:.0f} ms.",
                                        seen.first_token.p50 / 1e3, seen.first_token.p99 / 1e3);
  if (std::isnan(seen.per_token.p50)) return first + " Answers have one token, so no TPOT.";
  return fmt::format("{} TPOT: median {:.1f} ms, p99 {:.1f} ms.", first, seen.per_token.p50 / 1e3,
                     seen.per_token.p99 / 1e3);
}

void find(const ServiceInput& input, const Bins& bins, figure::Document& document) {
  document.findings.push_back(
      {.headline = fmt::format(
           "{:.1f} % of {} requests met the objective ({}).", 100 * input.seen.attainment(),
           text::grouped(static_cast<std::int64_t>(input.seen.requests)), spelled(input.objective)),
       .detail = latency_words(input.seen),
       .figure = "service_attainment",
       .advice = {}});
  const auto all = reasons();
  const Loss worst = *std::max_element(
      all.begin(), all.end(), [&](Loss a, Loss b) { return bins.total(a) < bins.total(b); });
  if (bins.total(worst) == 0) return;
  document.findings.push_back(
      {.headline = fmt::format("Main reason for missing the objective: {} ({} requests).",
                               inference::to_string(worst), text::grouped(bins.total(worst))),
       .detail = {},
       .figure = "service_losses",
       .advice = worst == Loss::waited ? "Add replicas, or choose a scaler that adds them earlier."
                 : worst == Loss::sent_back
                     ? "Add KV memory: more GPUs per replica (--gpus), or fewer sequences "
                       "(--sequences)."
                 : worst == Loss::slow_tokens
                     ? "Use smaller batches (--sequences, --tokens) or more GPUs per replica."
                     : ""});
}

/// The share of requests that a fleet must serve within the objective, as `inference size` has it
/// by default.
constexpr double kTarget = 0.9;

double per_million(double amount, std::int64_t tokens) {
  return tokens > 0 ? amount / (static_cast<double>(tokens) / 1e6) : stats::kNaN;
}

Figure draw_sizes(const ServiceInput& input) {
  Figure made{.id = "service_sizes", .title = "SLO attainment and cost by replicas"};
  const bool priced = input.cost > 0;
  auto& replicas = made.number("replicas", "Replicas");
  auto& attainment = made.number("attainment", "SLO attainment", Unit::fraction);
  auto& hours = made.number("gpu_hours_per_million_tokens", "GPU-hours per million output tokens");
  figure::Column* const cost =
      priced ? &made.number("cost_per_million_tokens", "Cost per million output tokens") : nullptr;
  for (const inference::FleetSize& size : input.sizes) {
    replicas.add(size.replicas);
    attainment.add(size.attainment);
    hours.add(per_million(size.gpu_hours, size.output_tokens));
    if (cost != nullptr) cost->add(per_million(size.cost, size.output_tokens));
  }
  made.n = static_cast<std::int64_t>(input.requests.size());
  made.caption = fmt::format(
      "Simulations of the same requests on fixed fleets. Attainment: share of the requests that "
      "met the objective ({}). The dashed line is the default target of almanac inference size.",
      spelled(input.objective));
  const double last = input.sizes.back().replicas;
  made.charts.push_back({.kind = "line",
                         .title = fmt::format("Requests with {}", spelled(input.objective)),
                         .x = "replicas",
                         .y = {"attainment"},
                         .references = {{.name = fmt::format("target: {:.0f} %", 100 * kTarget),
                                         .x = {1, last},
                                         .y = {kTarget, kTarget}}}});
  made.charts.push_back({.kind = "bar",
                         .title = priced ? cost->label : hours.label,
                         .x = "replicas",
                         .y = {priced ? cost->name : hours.name}});
  return made;
}

std::vector<figure::Tile> tiles(const ServiceInput& input) {
  std::vector<figure::Tile> made;
  made.push_back({"SLO attainment", fmt::format("{:.1f} %", 100 * input.seen.attainment()),
                  fmt::format("{} of {} requests met the objective: {}.",
                              text::grouped(static_cast<std::int64_t>(input.seen.attained)),
                              text::grouped(static_cast<std::int64_t>(input.seen.requests)),
                              spelled(input.objective))});
  const auto enough =
      std::find_if(input.sizes.begin(), input.sizes.end(),
                   [](const inference::FleetSize& size) { return size.attainment >= kTarget; });
  if (enough != input.sizes.end()) {
    made.push_back(
        {fmt::format("Fewest replicas for {:.0f} %", 100 * kTarget),
         text::counted(static_cast<std::uint64_t>(enough->replicas), "replica"),
         fmt::format("A fixed fleet of this size serves {:.1f} % of these requests within the "
                     "objective. almanac inference size also tests resampled logs.",
                     100 * enough->attainment)});
  } else if (!input.sizes.empty()) {
    made.push_back(
        {fmt::format("Fewest replicas for {:.0f} %", 100 * kTarget),
         fmt::format("more than {}", input.sizes.back().replicas),
         fmt::format(
             "A fixed fleet of {} serves only {:.1f} % of these requests within "
             "the objective.",
             text::counted(static_cast<std::uint64_t>(input.sizes.back().replicas), "replica"),
             100 * input.sizes.back().attainment)});
  }
  if (input.seen.output_tokens > 0) {
    const bool priced = input.cost > 0;
    const double amount =
        per_million(priced ? input.cost : input.gpu_hours, input.seen.output_tokens);
    made.push_back(
        {priced ? "Cost per million output tokens" : "GPU-hours per million output tokens",
         amount < 0.01 ? fmt::format("{:.2g}", amount) : fmt::format("{:.2f}", amount),
         fmt::format("{:.2f} GPU-hours for {} output tokens.{}", input.gpu_hours,
                     text::grouped(input.seen.output_tokens),
                     priced ? fmt::format(" Total cost: {:.2f}.", input.cost)
                            : " Give a price with --gpu-hour for the cost.")});
  }
  return made;
}

}  // namespace

figure::Document service_document(const ServiceInput& input,
                                  const std::vector<std::string>& command) {
  const Bins bins(input);
  figure::Document document;
  document.kind = "service";
  document.title = std::filesystem::path(input.requests_file).filename().string();
  document.subtitle = fmt::format("{} on replicas of {} {}, {} + {} + {}", input.service.model.name,
                                  input.service.replica_gpus(), input.service.board.name,
                                  input.service.former, input.service.router, input.scaler);
  document.facts = {{"objective", spelled(input.objective)},
                    {"requests", text::grouped(static_cast<std::int64_t>(input.seen.requests))},
                    {"GPU-hours", fmt::format("{:.2f}", input.gpu_hours)},
                    {"GPU energy, kWh", fmt::format("{:.2f}", input.energy_kwh)}};
  if (input.cost > 0) document.facts.emplace_back("cost", fmt::format("{:.2f}", input.cost));
  document.tiles = tiles(input);
  if (!input.sizes.empty()) {
    figure::Section sizes{.id = "size", .title = "Attainment and cost", .text = {}, .leads = true};
    sizes.figures = {draw_sizes(input)};
    document.sections.push_back(std::move(sizes));
  }
  find(input, bins, document);
  const Tenants tenants =
      inference::by_tenant(input.requests, input.played.outcomes, input.objective);
  find_worst(input, tenants, document);
  figure::Section users{.id = "users", .title = "Latencies and attainment", .text = {}};
  users.figures = {draw_latencies(input), percentiles(input), attainment(bins)};
  if (input.seen.attained < input.seen.requests) users.figures.push_back(losses(bins));
  if (!tenants.empty()) users.figures.push_back(by_tenant(tenants));
  document.sections.push_back(std::move(users));
  figure::Section service{.id = "fleet", .title = "Fleet", .text = {}};
  service.figures = {fleet(input)};
  if (!input.ideal.steps.empty()) service.figures.push_back(ideal(input));
  document.sections.push_back(std::move(service));
  document.notes.push_back(
      "Energy counts GPUs only, by what their type draws while it computes prompts, computes "
      "tokens and idles.");
  const std::string shown = shown_command(command);
  document.provenance = {.trace = input.requests_file,
                         .sha256 = {},
                         .filter = {},
                         .jobs = -1,
                         .hash = table::sha256(shown).substr(0, 16),
                         .version = ALMANAC_VERSION,
                         .command = shown};
  return document;
}

}  // namespace almanac::report
