// SPDX-License-Identifier: Apache-2.0

#include "deployment/task_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "deployment/dispatch.h"
#include "deployment/registry.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/nearest.h"

namespace almanac::deployment {
namespace {

/// A service as its requests meet it.
struct Asked {
  std::vector<std::size_t> variants{};  // into TaskCase::variants, those in time alone
  std::unique_ptr<Chooser> chooser;
};

class Tasks final : public RequestSource {
 public:
  Tasks(const TaskCase& told, std::vector<Asked> services)
      : told_(told), services_(std::move(services)), items_(told.seed, 1), draws_(told.seed, 2) {}

  double next_ms() const override {
    return next_ < told_.arrivals.size() ? told_.arrivals[next_].at_ms
                                         : std::numeric_limits<double>::infinity();
  }

  std::vector<TimedRequest> take() override {
    Open made{.arrival = told_.arrivals[next_++]};
    if (!told_.answers.empty()) {
      made.item = items_.below(told_.answers[made.arrival.service].right.size());
    }
    Asked& service = services_[made.arrival.service];
    made.said.resize(service.variants.size());
    made.asked = service.chooser->ask(draws_);
    made.left = made.asked.size();
    std::vector<TimedRequest> queries;
    for (const std::size_t variant : made.asked) {
      queries.push_back(query(open_.size(), made, variant));
    }
    open_.push_back(std::move(made));
    return queries;
  }

  std::optional<TimedRequest> hear(std::size_t number, double at_ms) override {
    const Query answered = query_of_[number];
    Open& request = open_[answered.request];
    Asked& service = services_[request.arrival.service];
    const double took_ms = at_ms - request.arrival.at_ms;
    const bool in_time = took_ms <= told_.services[request.arrival.service].slo_ms * (1 + 1e-9);
    if (in_time) {
      request.said[answered.variant] = said_by(request, service.variants[answered.variant]);
      request.at_ms = std::max(request.at_ms, at_ms);
    }
    if (--request.left > 0) return std::nullopt;
    if (!request.more) {
      if (const auto next = service.chooser->ask_more(request.said)) {
        request.more = true;
        request.left = 1;
        return query(answered.request, request, *next);
      }
    }
    settle(request, service);
    return std::nullopt;
  }

  TaskRun seen(const DispatchedRun& run) const {
    TaskRun made = made_;
    made.requests = told_.arrivals.size();
    made.queries = query_of_.size();
    made.preempted = run.preempted;
    made.busy_ms = run.busy_ms;
    made.loads = run.loads;
    if (latencies_ms_.empty()) return made;
    made.span_ms = last_ms_ - told_.arrivals.front().at_ms;
    std::vector<double> values = latencies_ms_;
    made.latency_ms = {.mean = stats::mean(values),
                       .p50 = stats::quantile(values, 0.5),
                       .p90 = stats::quantile(values, 0.9),
                       .p99 = stats::quantile(values, 0.99),
                       .most = *std::max_element(values.begin(), values.end())};
    return made;
  }

 private:
  struct Open {
    TaskArrival arrival{};
    std::size_t item = 0;
    std::vector<std::size_t> asked{};  // variants of the service
    std::vector<Label> said{};         // by variant of the service
    std::size_t left = 0;              // queries without an answer
    bool more = false;                 // a further variant was asked
    double at_ms = 0;                  // the last answer
  };
  struct Query {
    std::size_t request, variant;  // of the service
  };

  TimedRequest query(std::size_t request, const Open& of, std::size_t variant) {
    query_of_.push_back({request, variant});
    const TaskService& service = told_.services[of.arrival.service];
    return {.arrival_ms = of.arrival.at_ms,
            .deadline_ms = of.arrival.at_ms + service.slo_ms,
            .variant = services_[of.arrival.service].variants[variant]};
  }

  Label said_by(const Open& request, std::size_t variant) const {
    if (told_.answers.empty()) return {.label = 0, .confidence = 1};
    return told_.answers[request.arrival.service].said[variant][request.item];
  }

  void settle(const Open& request, Asked& service) {
    const int answer = service.chooser->answer(request.said);
    const bool known = !told_.answers.empty();
    const int right = known ? told_.answers[request.arrival.service].right[request.item] : 0;
    if (known) service.chooser->learn(request.asked, request.said, right);
    if (answer == Exp4::kLate) return;
    ++made_.in_time;
    made_.right += known && answer == right;
    latencies_ms_.push_back(request.at_ms - request.arrival.at_ms);
    last_ms_ = std::max(last_ms_, request.at_ms);
  }

  const TaskCase& told_;
  std::vector<Asked> services_;
  Rng items_, draws_;
  std::size_t next_ = 0;  // of the arrivals
  std::vector<Query> query_of_;
  std::vector<Open> open_;
  std::vector<double> latencies_ms_;
  double last_ms_ = 0;
  TaskRun made_;
};

double load_of(const TaskCase& told, std::size_t service, std::size_t variant) {
  const Variant& it = told.variants[variant];
  const TaskService& of = told.services[service];
  const int batch = std::max(1, batch_in_time(it, 1, of.slo_ms));
  return of.rate / throughput(it, 1, batch);
}

template <typename Choices>
auto chosen(const char* slot, const std::string& name, const Choices& all)
    -> Result<const typename Choices::Entry*> {
  if (const auto* const found = all.find(name)) return found;
  return fail(Code::not_found, fmt::format("no {} is named \"{}\"", slot, name), {},
              text::meant_or_known(name, all.names()));
}

Result<Asked> asked_of(const TaskCase& told, std::size_t service, const ChooserChoice& choice) {
  const TaskService& of = told.services[service];
  Asked made;
  ChooserCase its{.tolerance = told.tolerance};
  for (std::size_t each = 0; each < told.variants.size(); ++each) {
    const Variant& variant = told.variants[each];
    if (variant.task != of.task || variant.batch_ms(1, 1) > of.slo_ms) continue;
    made.variants.push_back(each);
    its.variants.push_back(variant);
    if (told.answers.empty()) continue;
    const TriedTask& tried = told.answers[service];
    std::vector<TriedAnswer> answers;
    for (std::size_t item = 0; item < tried.right.size(); ++item) {
      const Label& said = tried.said[each][item];
      answers.push_back({said.label == tried.right[item], said.confidence});
    }
    its.answers.push_back(std::move(answers));
  }
  if (made.variants.empty()) {
    return fail(Code::unavailable, fmt::format("no variant for {} answers within {} ms even alone",
                                               of.task, of.slo_ms));
  }
  made.chooser = choice.make(its);
  return made;
}

/// GPUs that the requests of each variant keep busy, in full batches, if all that a service may ask
/// are asked.
std::vector<double> loads_of(const TaskCase& told, const std::vector<Asked>& services) {
  std::vector<double> made(told.variants.size());
  for (std::size_t service = 0; service < services.size(); ++service) {
    const Asked& asked = services[service];
    std::vector<std::size_t> used = asked.chooser->may_ask();
    for (std::size_t each = 0; used.empty() && each < asked.variants.size(); ++each) {
      made[asked.variants[each]] += load_of(told, service, asked.variants[each]);
    }
    for (const std::size_t each : used) {
      made[asked.variants[each]] += load_of(told, service, asked.variants[each]);
    }
  }
  return made;
}

Result<GpuMemory> memory_of(const TaskCase& told, const std::vector<Asked>& services,
                            Dispatcher& dispatcher) {
  GpuMemory made{.gib = told.memory_gib, .host_gib = told.host_gib};
  if (told.memory_gib == std::numeric_limits<double>::infinity()) return made;
  const auto loads = loads_of(told, services);
  auto placed = dispatcher.place({told.variants, loads, told.gpus, told.memory_gib});
  if (!placed) return tl::unexpected(placed.error());
  made.placed = *std::move(placed);
  for (std::size_t variant = 0; variant < loads.size(); ++variant) {
    if (loads[variant] <= 0) continue;  // never asked
    const Variant& each = told.variants[variant];
    if (each.memory_gib > told.memory_gib) {
      return fail(Code::unavailable,
                  fmt::format("variant {} needs {:.4g} GiB, and a GPU has {:.4g}", each.name,
                              each.memory_gib, told.memory_gib));
    }
    if (each.memory_gib > told.host_gib) {
      return fail(Code::unavailable,
                  fmt::format("variant {} needs {:.4g} GiB, and the host has {:.4g}", each.name,
                              each.memory_gib, told.host_gib),
                  {}, "variants reach a GPU through the host's memory");
    }
    if (!made.placed.empty()) continue;
    if (each.load_s <= 0) {
      return fail(Code::invalid, fmt::format("variant {} has no load_s", each.name), {},
                  "say how long it takes to load it, in the column load_s");
    }
    if (told.host_gib < std::numeric_limits<double>::infinity() && each.disk_s <= 0) {
      return fail(Code::invalid, fmt::format("variant {} has no disk_s", each.name), {},
                  "say how long the host takes to read it from disk, in the column disk_s");
    }
  }
  return made;
}

}  // namespace

std::vector<TaskArrival> poisson_arrivals(const std::vector<TaskService>& services, double seconds,
                                          std::uint64_t seed) {
  std::vector<TaskArrival> made;
  for (std::size_t service = 0; service < services.size(); ++service) {
    if (services[service].after) continue;
    Rng rng(seed, service);
    double at_s = 0;
    while ((at_s += rng.exponential() / services[service].rate) < seconds) {
      made.push_back({1e3 * at_s, service});
    }
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const TaskArrival& a, const TaskArrival& b) { return a.at_ms < b.at_ms; });
  return made;
}

void set_rates(std::vector<TaskService>& services, const std::vector<TaskArrival>& arrivals) {
  if (arrivals.empty()) return;
  const double span_s = (arrivals.back().at_ms - arrivals.front().at_ms) / 1e3;
  if (span_s <= 0) return;
  for (TaskService& each : services) each.rate = 0;
  for (const TaskArrival& each : arrivals) services[each.service].rate += 1 / span_s;
}

bool knows_confidence(const TaskCase& told) {
  const auto is_unsure = [](const Label& each) { return each.confidence < 1; };
  return !told.answers.empty() &&
         std::all_of(told.answers.begin(), told.answers.end(), [&](const TriedTask& task) {
           return std::any_of(task.said.begin(), task.said.end(), [&](const auto& said) {
             return std::any_of(said.begin(), said.end(), is_unsure);
           });
         });
}

Result<TaskRun> play_tasks(const TaskCase& told, const std::string& dispatcher,
                           const std::string& chooser) {
  const auto batches = chosen("dispatcher", dispatcher, registry().dispatchers);
  if (!batches) return tl::unexpected(batches.error());
  const auto variants = chosen("chooser", chooser, registry().choosers);
  if (!variants) return tl::unexpected(variants.error());
  if ((*variants)->make.needs_answers && told.answers.empty()) {
    return fail(Code::usage, fmt::format("{} needs the answers of the variants", chooser), {},
                "give a table of answers with --answers");
  }
  if ((*variants)->make.needs_confidence && !knows_confidence(told)) {
    return fail(Code::usage,
                fmt::format("{} needs the confidence of the answers, and none of a service is "
                            "below 1",
                            chooser),
                {}, "give the table of answers a column confidence, 0 to 1");
  }
  std::vector<Asked> services;
  for (std::size_t each = 0; each < told.services.size(); ++each) {
    auto asked = asked_of(told, each, (*variants)->make);
    if (!asked) return tl::unexpected(asked.error());
    services.push_back(*std::move(asked));
  }
  const auto one = (*batches)->make();
  const auto memory = memory_of(told, services, *one);
  if (!memory) return tl::unexpected(memory.error());
  Tasks tasks(told, std::move(services));
  const DispatchedRun run = play_dispatched(told.variants, tasks, told.gpus, *one, *memory);
  return tasks.seen(run);
}

}  // namespace almanac::deployment
