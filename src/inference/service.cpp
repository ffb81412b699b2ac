// SPDX-License-Identifier: Apache-2.0

#include "inference/service.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/registry.h"
#include "inference/simulation.h"
#include "inference/vllm_runs.h"
#include "stats/mean.h"
#include "stats/quantile.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::inference {
namespace {

/// Kernels of a layer for its adapters: two for each of the four matrices of attention.
///
/// Source   Chen et al., MLSys'24 (Punica): one kernel multiplies the tokens of all adapters of a
///          batch with their matrices down to the rank, and one with those back up.
constexpr int kAdapterKernels = 8;

int attention_layers(const Model& model) {
  int made = 0;
  for (const Layers& each : model.layers) {
    made += each.mixer == Mixer::heads || each.mixer == Mixer::latent ? each.count : 0;
  }
  return made;
}

/// Time that a server needs to receive, tokenize and answer a request, outside of its engine.
///
/// Source   fitted to the 11 training stages that inference-sim published (vLLM 0.15.1, H100).
constexpr Micros kFront = 15e3;

Spread spread(std::vector<double>& values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {kNone, kNone, kNone, kNone, kNone};
  return {.mean = stats::mean(values),
          .p50 = stats::quantile(values, 0.50),
          .p90 = stats::quantile(values, 0.90),
          .p99 = stats::quantile(values, 0.99),
          .most = *std::max_element(values.begin(), values.end())};
}

template <typename Choices>
tl::unexpected<Error> no_choice(const char* slot, const std::string& name, const Choices& all) {
  const auto names = all.names();
  return fail(Code::not_found, fmt::format("no {} is named \"{}\"", slot, name), {},
              text::meant_or_known(name, names));
}

bool can_divide(const Model& model, int gpus) {
  if (model.heads == 0) return true;
  const auto divides = [gpus](const Layers& each) {
    return each.kv_parts % gpus == 0 || gpus % each.kv_parts == 0;
  };
  return model.heads % gpus == 0 && std::all_of(model.layers.begin(), model.layers.end(), divides);
}

/// Returns the layers with fewer experts than GPUs, if each GPU must have whole ones; null = none.
const Layers* short_of_experts(const Service& service) {
  if (!service.data_attention && !service.whole_experts) return nullptr;
  const std::vector<Layers>& layers = service.model.layers;
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const Layers& each) {
    return each.experts > 0 && each.experts < service.gpus;
  });
  return found == layers.end() ? nullptr : &*found;
}

/// Whether the GPUs of a stage can divide the model, and it fits.
bool can_serve(const Service& service) {
  return can_divide(service.model, service.gpus) && short_of_experts(service) == nullptr &&
         fitting_blocks(service) >= 1;
}

/// Memory of a replica for weights and KV cache: nine tenths, less activations.
double usable_bytes(const Service& service) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  const double activations = (service.model.has_experts() ? 8 : 1.75) * kGib;
  return service.replica_gpus() * (0.9 * service.board.memory_bytes - activations);
}

/// With data-parallel attention each GPU has all weights but those of other GPUs' experts.
double weight_bytes(const Service& service) {
  return service.model.bytes(service.data_attention ? service.gpus : 1);
}

/// States of recurrent layers, of as many sequences as a replica may run.
double state_bytes(const Service& service) {
  return service.limits.sequences * service.model.state_bytes();
}

double adapter_bytes(const Service& service) {
  return service.adapters * service.model.adapter_bytes(service.adapter_rank);
}

double kv_token_bytes(const Service& service) {
  return service.model.kv_bytes(service.data_attention ? 1 : service.gpus);
}

/// "use --gpus 4 or more": the fewest GPUs per stage on which the model fits.
std::string more_gpus(Service service) {
  constexpr int kMost = 1024;
  const int first = service.gpus + 1;
  for (service.gpus = first; service.gpus <= kMost; ++service.gpus) {
    if (!can_serve(service)) continue;
    return fmt::format("use --gpus {} or more, or GPUs with more memory", service.gpus);
  }
  return "use GPUs with more memory";
}

/// The error if weights, states and adapters leave no memory for a block of the KV cache.
Error does_not_fit(const Service& service) {
  constexpr double kGb = 1e9;
  std::string taken = fmt::format("its weights take {:.1f} GB", weight_bytes(service) / kGb);
  std::string hint = more_gpus(service);
  const auto add = [&](const std::string& what, double bytes, const char* option) {
    if (bytes <= 0) return;
    taken += fmt::format(", {} {:.1f} GB", what, bytes / kGb);
    if (weight_bytes(service) < usable_bytes(service)) hint += fmt::format(", or fewer {}", option);
  };
  add(fmt::format("the states of {} sequences", service.limits.sequences), state_bytes(service),
      "--sequences");
  add(text::counted(static_cast<std::uint64_t>(service.adapters), "adapter"),
      adapter_bytes(service), "--adapters");
  return {Code::invalid,
          fmt::format("{} does not fit on {} {}: {}, and {:.1f} GB can be used (90 % of {:.1f} GB, "
                      "less activations)",
                      service.model.name, service.replica_gpus(), service.board.name, taken,
                      std::max(0.0, usable_bytes(service)) / kGb,
                      service.replica_gpus() * service.board.memory_bytes / kGb),
          {},
          std::move(hint)};
}

/// "use 2, 4, 8 GPUs per replica": those between which the model can be divided, and on which it
/// fits.
std::string possible_gpus(const Service& service) {
  const std::vector<int> possible = fitting_gpus(service);
  if (possible.empty()) return "use GPUs with more memory";
  return fmt::format("use {} GPUs per replica", fmt::join(possible, ", "));
}

Layout layout_of(const Service& service) {
  return {.gpus = service.gpus,
          .stages = service.stages,
          .data_attention = service.data_attention,
          .whole_experts = service.whole_experts,
          .node_link = service.link_bytes_per_s,
          .speculation = service.speculation};
}

/// Whether GPUs of a replica, or replicas that hand over KV, use the link between nodes.
bool spans_nodes(const Service& service) {
  return service.prefill > 0 ||
         service.replica_gpus() > std::max(kNodeGpus, service.board.linked_boards);
}

std::shared_ptr<const StepTime> step_of(const Service& service) {
  if (service.measured) return service.measured;
  if (service.tables) return service.tables;
  return std::make_shared<const Roofline>(
      service.model, service.at_limits ? service.board.at_its_limits() : service.board,
      layout_of(service), service.at_limits ? Launch::none() : Launch{});
}

/// "; end to end 8 % off on 26 measured runs of vLLM", only if the runs are like this service.
std::string known_error(const Service& service) {
  const auto runs = measured_runs(service);
  std::vector<std::string> unmeasured = unmeasured_options(service);
  if (runs && unmeasured.empty()) {
    return fmt::format("; end to end {:.0f} % off on {} measured runs of vLLM",
                       100 * runs->end_to_end_error, runs->count);
  }
  if (service.model.layer_count() == 0) return {};  // models of a board may have runs
  if (!runs) {
    constexpr double kGb = 1e9;
    unmeasured.insert(unmeasured.begin(),
                      fmt::format("{} ({:.3g} GB) on {} {}", service.model.name,
                                  service.model.bytes() / kGb, service.gpus, service.board.name));
  }
  return fmt::format("; not compared with a server: {}", fmt::join(unmeasured, ", "));
}

}  // namespace

std::vector<int> fitting_gpus(Service service) {
  std::vector<int> fitting;
  const int most = service.model.heads;
  for (service.gpus = 1; service.gpus <= most; ++service.gpus) {
    if (can_serve(service)) fitting.push_back(service.gpus);
  }
  return fitting;
}

std::string basis_of_times(const Service& service) {
  if (service.measured) return "profile of a server";
  if (service.tables) {
    return fmt::format("tables of kernels measured on {}, and the engine's time of vLLM 0.15.1",
                       service.board.name);
  }
  const Board& board = service.board;
  if (service.at_limits) {
    return fmt::format("limits of {}: no server is faster that runs one operation at a time",
                       board.name);
  }
  std::string kernels =
      board.has_own_kernels() && board.kernels_of != board.name
          ? fmt::format("matrices measured on {}, other kernels on {}", board.name,
                        board.kernels_of)
      : board.kernels_of == board.name
          ? fmt::format("kernels measured on {}", board.name)
          : fmt::format("kernels measured on {}, not on {}", board.kernels_of, board.name);
  if (service.model.layer_count() > 0 &&
      is_slower_than_16_bits(service.model, board, layout_of(service))) {
    kernels += ", where kernels of weights this narrow are slower than those of 16 bits";
  }
  if (spans_nodes(service)) {
    constexpr double kGbit = 8e-9;
    kernels += fmt::format("; {:.4g} Gbit/s between nodes (--link-gbps)",
                           kGbit * service.link_bytes_per_s);
  }
  return kernels + known_error(service);
}

std::int64_t fitting_blocks(const Service& service) {
  const double left =
      usable_bytes(service) - weight_bytes(service) - state_bytes(service) - adapter_bytes(service);
  return static_cast<std::int64_t>(
      std::floor(left / (kv_token_bytes(service) * service.limits.block_tokens)));
}

std::int64_t sequence_room(const Service& service, std::int64_t blocks) {
  return blocks / (service.data_attention ? service.gpus : 1) * service.limits.block_tokens;
}

Result<void> check_division(const Model& model, int gpus) {
  if (can_divide(model, gpus)) return {};
  return fail(Code::invalid, fmt::format("{} GPUs cannot divide the {} attention heads of {} "
                                         "equally",
                                         gpus, model.heads, model.name));
}

Result<Parts> parts(const Service& service) {
  // What was measured on these GPUs runs on them.
  if (!service.measured && !service.data_attention) {
    if (const auto divided = check_division(service.model, service.gpus); !divided) {
      Error error = divided.error();
      error.hint = possible_gpus(service);
      return tl::unexpected(std::move(error));
    }
  }
  if (const Layers* const few = short_of_experts(service); few != nullptr && !service.measured) {
    return fail(Code::invalid,
                fmt::format("{} GPUs cannot have whole experts each: {} has {} in a layer",
                            service.gpus, service.model.name, few->experts),
                {}, fmt::format("use --gpus {} or fewer", few->experts));
  }
  if (service.stages > service.model.layer_count() && !service.measured) {
    return fail(Code::invalid,
                fmt::format("{} has {} layers, too few for {} pipeline stages", service.model.name,
                            service.model.layer_count(), service.stages),
                {}, "use fewer --stages");
  }
  if (service.board.peer_bandwidth <= 0 && service.replica_gpus() > 1 && !service.measured) {
    return fail(Code::invalid,
                fmt::format("the link between boards of {} is not known", service.board.name), {},
                "give a board file with link_gbs, or use one GPU per replica");
  }
  const auto* former = registry().formers.find(service.former);
  if (former == nullptr) return no_choice("former", service.former, registry().formers);
  const auto* router = registry().routers.find(service.router);
  if (router == nullptr) return no_choice("router", service.router, registry().routers);
  Limits limits = service.limits;
  if (limits.kv_blocks <= 0) {
    constexpr std::int64_t kMost = 100'000'000;
    const std::int64_t blocks = std::min(fitting_blocks(service), kMost);
    if (blocks < 1) return tl::unexpected(does_not_fit(service));
    limits.kv_blocks = static_cast<std::int32_t>(blocks);
  }
  if (service.speculation.drafts > 0 && (service.measured || service.tables)) {
    return fail(Code::usage, "step times of a file do not say how long drafts take", {},
                "use --times measured or roofline with --draft-tokens");
  }
  if (service.prefill > 0 && service.prefill >= service.replicas) {
    return fail(
        Code::usage,
        fmt::format("of {} replicas {} cannot be prefill-only", service.replicas, service.prefill),
        {}, "leave at least one for decoding");
  }
  const double block = kv_token_bytes(service) * limits.block_tokens;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  limits.swap_blocks = static_cast<std::int32_t>(std::min(service.swap_gib * kGib / block, 1e9));
  limits.stages = service.stages;
  limits.context = service.model.positions;
  if (service.data_attention) {
    const auto most = static_cast<std::int32_t>(std::min<std::int64_t>(
        sequence_room(service, limits.kv_blocks) + 1, std::numeric_limits<std::int32_t>::max()));
    limits.context = limits.context > 0 ? std::min(limits.context, most) : most;
  }
  limits.swap_block = 1e6 * block / (service.board.host_bandwidth * service.replica_gpus());
  const double adapter = service.model.adapter_bytes(service.adapter_rank);
  limits.adapters = service.adapters;
  limits.adapter_load = 1e6 * adapter / (service.board.host_bandwidth * service.replica_gpus());
  limits.adapter_read = 1e6 * adapter / (service.board.bandwidth * service.gpus);
  // A multiplication and an addition for each of its numbers, of 2 bytes.
  limits.adapter_token = 1e6 * adapter / (service.board.bf16_flops * service.gpus);
  if (!service.at_limits) {
    limits.adapter_kernels =
        kAdapterKernels * attention_layers(service.model) * service.board.kernel("bf16").fixed_us;
  }
  if (!service.measured && !service.at_limits) {
    limits.front = kFront;
    if (limits.first_token != kNever) {
      limits.first_token = std::max(0.0, limits.first_token - kFront);
    }
  }
  return Parts{.limits = limits,
               .step = step_of(service),
               .former = former->make,
               .router = router->make(service.seed),
               .decode_router = router->make(service.seed + 1),
               .prefill = service.prefill,
               .link_token = 1e6 * service.model.kv_bytes() / service.link_bytes_per_s};
}

void Parts::open(Simulation& simulation, int replicas) const {
  for (int each = 0; each < replicas; ++each) {
    const Role role = prefill == 0 ? Role::both : each < prefill ? Role::prefill : Role::decode;
    simulation.add(limits, *step, former(), {.role = role});
  }
  if (prefill > 0) simulation.route_decodes(*decode_router);
  simulation.connect([token = link_token](std::int32_t tokens) { return token * tokens; });
}

bool meets(const Request& request, const Outcome& outcome, const Objective& objective) {
  const Micros rest =
      request.output > 1 ? (outcome.finish - outcome.first_token) / (request.output - 1) : 0;
  return outcome.first_token - request.arrival <= objective.first_token &&
         rest <= objective.per_token && outcome.finish - request.arrival <= objective.end_to_end;
}

Result<std::vector<Outcome>> play(const Service& service, const Requests& requests,
                                  const Enough& enough) {
  const auto made = parts(service);
  if (!made) return tl::unexpected(made.error());
  Simulation simulation(requests);
  made->open(simulation, service.replicas);
  if (enough) {
    simulation.on_finish([&](RequestId request, Micros) {
      if (enough(request, simulation.outcomes()[request])) simulation.stop();
    });
  }
  simulation.run(*made->router);
  return simulation.outcomes();
}

double energy_j(const Service& service, double replica_s, const Busy& busy) {
  const double prefill_s = busy.prefilling / 1e6, decode_s = busy.decoding / 1e6;
  const double idle_s = std::max(0.0, replica_s - prefill_s - decode_s);
  const Board& board = service.board;
  if (board.prefill_w <= 0 || board.decode_w <= 0 || board.idle_w <= 0)
    return std::numeric_limits<double>::quiet_NaN();
  return service.replica_gpus() *
         (board.prefill_w * prefill_s + board.decode_w * decode_s + board.idle_w * idle_s);
}

Seen summarize(const Requests& requests, const std::vector<Outcome>& outcomes,
               const Objective& objective) {
  Seen seen{.requests = requests.size()};
  std::vector<double> first_token, per_token, longest_gap, end_to_end;
  Micros last = 0;
  for (RequestId id = 0; id < requests.size(); ++id) {
    const Request& request = requests[id];
    const Outcome& outcome = outcomes[id];
    seen.preemptions += outcome.preemptions;
    if (outcome.finish == kNever) continue;
    ++seen.finished;
    seen.prompt_tokens += request.prompt;
    seen.hit_tokens += outcome.hit_tokens;
    seen.output_tokens += std::max(request.output, 1);
    last = std::max(last, outcome.finish);
    const Micros first = outcome.first_token - request.arrival;
    const Micros rest =
        request.output > 1 ? (outcome.finish - outcome.first_token) / (request.output - 1) : 0;
    first_token.push_back(first);
    end_to_end.push_back(outcome.finish - request.arrival);
    if (request.output > 1) {
      per_token.push_back(rest);
      longest_gap.push_back(outcome.longest_gap);
    }
    seen.attained += meets(request, outcome, objective) ? 1 : 0;
  }
  if (requests.size() > 0) seen.span = std::max(0.0, last - requests.all.front().arrival);
  seen.first_token = spread(first_token);
  seen.per_token = spread(per_token);
  seen.longest_gap = spread(longest_gap);
  seen.end_to_end = spread(end_to_end);
  return seen;
}

}  // namespace almanac::inference
