// SPDX-License-Identifier: Apache-2.0

/// \file
/// The clients of ServeGen, NAME_windows.csv.gz with NAME_lengths.json.gz next to it. Requests are
/// drawn from each client's rhythm and lengths, by ServeGen's rule, at the rate of all clients
/// together. A client is a tenant.
///
/// Source   Xiang et al. 2025 (ServeGen); workload/servegen.h.
/// Differs  All images, sounds and films of one request have the same size.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "inference/registry.h"
#include "inference/request_log.h"
#include "inference/workload/servegen.h"

namespace almanac::inference::format {
namespace {

constexpr const char* kRhythms = "_windows.csv";

/// Requests per second of all clients, by the start of the period.
std::map<double, double> rates_of(const ServegenClients& clients, double from_s, double until_s) {
  std::map<double, double> made;
  for (const auto& [id, client] : clients) {
    for (const auto& [start, rhythm] : client.rhythms) {
      if (start + kServegenWindow > from_s && start < until_s) made[start] += rhythm.rate;
    }
  }
  return made;
}

double field(const ServegenRequest& request, const std::string& name) {
  const auto found = request.fields.find(name);
  return found == request.fields.end() ? 0 : std::round(found->second);
}

double prompt_of(const ServegenRequest& request) {
  double sum = field(request, "input_tokens") + field(request, "text_tokens");
  for (const char* const kind : {"image", "audio", "video"}) {
    sum += field(request, fmt::format("{}_tokens", kind)) *
           field(request, fmt::format("{}_count", kind));
  }
  return std::max(1.0, sum);
}

Result<Requests> read_clients(const std::string& path, const LogPart& part) {
  constexpr double kMost = 20e6;
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  const std::size_t end = name.find(kRhythms);
  if (end == std::string::npos) {
    return fail(Code::invalid,
                "has arrival patterns of clients, but is not named NAME_windows.csv.gz",
                {.file = path}, "NAME_lengths.json.gz must be in the same folder");
  }
  const auto clients = read_servegen(file.parent_path().string(), name.substr(0, end));
  if (!clients) return tl::unexpected(clients.error());
  const auto rates = rates_of(*clients, part.from / 1e6, part.until / 1e6);
  double requests = 0;
  for (const auto& [start, rate] : rates) requests += rate * kServegenWindow;
  if (requests > kMost) {
    return fail(Code::usage,
                fmt::format("its clients send some {:.0f} million requests", requests / 1e6),
                {.file = path}, "choose a part of the time, such as --from 10h --until 12h");
  }
  RequestIntake intake;
  for (const auto& [start, rate] : rates) {
    for (const ServegenRequest& each : generate_servegen(*clients, start, rate, 1)) {
      const Micros at = std::round(each.at * 1e6);
      if (at < part.from || at >= part.until) continue;
      const auto added =
          intake.add({.file = path}, at, prompt_of(each), field(each, "output_tokens"));
      if (!added) return tl::unexpected(added.error());
      intake.come_from(fmt::format("client {}", each.client));
    }
  }
  return intake.done(path, false);
}

}  // namespace

void register_servegen_clients(Registry& registry) {
  registry.formats.add(
      {.name = "servegen_clients",
       .summary =
           "clients: client, start_s, rate_rps, pattern, shape, scale; lengths in a second file",
       .source = "Xiang et al. 2025 (ServeGen)",
       .make = {.knows =
                    [](std::string_view header) {
                      return has_columns(header, {"client", "start_s", "rate_rps", "pattern"});
                    },
                .read = [](const std::string& path) { return read_clients(path, {}); },
                .read_part = read_clients}});
}

}  // namespace almanac::inference::format
