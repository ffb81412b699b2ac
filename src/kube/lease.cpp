// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/wall_clock.h"
#include "kube/plain.h"
#include "kueue/object.h"
#include "text/datetime.h"

namespace almanac::kube {
namespace {

using nlohmann::json;

constexpr const char* kBackfill = "almanac/backfill";

/// "2026-01-01T00:00:00.000000Z"
std::string micro_time(Time time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch() - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(static_cast<std::time_t>(whole.count())), micros.count());
}

std::string lease_path(const std::string& name_space, const std::string& name) {
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", name_space, name);
}

/// Kubernetes allows 32 bits.
Duration lasts(const kueue::Object& spec) {
  const std::int64_t told = spec.whole("leaseDurationSeconds").value_or(15);
  return std::chrono::seconds(
      std::clamp<std::int64_t>(told, 0, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

std::string Lease::path() const { return lease_path(name_space_, name_); }

bool Lease::is_held() const { return held_at_ != kNoTime && steady() - held_at_ < kGiveUp; }

std::string Lease::lost(std::string why) {
  why_ = std::move(why);
  return is_held() ? "" : why_;
}

std::string Lease::write(Client& client, const std::string& version, std::int64_t transitions,
                         const std::string& acquired) {
  const std::string path =
      fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", name_space_);
  const std::string now = micro_time(wall_clock() + client.skew().value_or(Duration{0}));
  json lease{
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata", {{"name", name_}, {"namespace", name_space_}}},
      {"spec",
       {{"holderIdentity", holder_},
        {"leaseDurationSeconds", std::chrono::duration_cast<std::chrono::seconds>(kLasts).count()},
        {"acquireTime", acquired.empty() ? now : acquired},
        {"renewTime", now},
        {"leaseTransitions", transitions}}}};
  if (!version.empty()) lease["metadata"]["resourceVersion"] = version;
  if (!backfilled_.empty()) {
    lease["metadata"]["annotations"][kBackfill] = fmt::format("{}", fmt::join(backfilled_, ","));
  }
  // Others count from when the server has it, which may be long before its answer is here.
  const Time asked = steady();
  const auto answer = version.empty() ? client.send("POST", path, lease.dump())
                                      : client.send("PUT", path + "/" + name_, lease.dump());
  if (!answer) return lost(to_string(answer.error()));
  if (answer->status == 409) return lost("another Almanac was quicker");
  if (!answer->good()) return lost(to_string(refusal(*answer, path)));
  held_at_ = asked;
  return lost("the API server answered too late");
}

std::string Lease::hold(Client& client) {
  const Time now = steady();
  if (tried_at_ != kNoTime && now - tried_at_ < kRenewEvery) return is_held() ? "" : why_;
  tried_at_ = now;
  const auto answer = client.ask(path());
  if (!answer) return lost(to_string(answer.error()));
  if (answer->status == 404) return write(client, "", 0, "");
  if (!answer->good()) return lost(to_string(refusal(*answer, path())));
  try {
    const json found = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    const kueue::Object of(found, "Lease");
    const kueue::Object spec = of.object("spec");
    const std::string holder = spec.text("holderIdentity");
    const std::string version = of.object("metadata").text("resourceVersion");
    const std::int64_t transitions = spec.whole("leaseTransitions").value_or(0);
    if (holder == holder_) {
      return write(client, version, transitions, spec.text("acquireTime"));
    }
    held_at_ = kNoTime;
    const std::string seen = holder + " " + spec.text("renewTime");
    if (seen != seen_) {
      seen_ = seen;
      seen_at_ = now;
    }
    if (holder.empty() || now - seen_at_ >= lasts(spec)) {
      return write(client, version, transitions + 1, "");
    }
    return lost(fmt::format("{} holds the Lease {}/{}", plain(holder), name_space_, name_));
  } catch (const kueue::Refused& refused) {
    return lost(plain(refused.message));
  }
}

void Lease::release(Client& client) {
  if (!is_held()) return;
  held_at_ = kNoTime;
  const auto answer = client.get(path());
  if (!answer) return;
  json lease = json::parse(*answer, nullptr, /*allow_exceptions=*/false);
  try {
    if (kueue::Object(lease, "Lease").object("spec").text("holderIdentity") != holder_) return;
  } catch (const kueue::Refused&) {
    return;
  }
  // Newer servers refuse a holder without a name; no holder at all is allowed everywhere.
  lease["spec"].erase("holderIdentity");
  lease["spec"]["leaseDurationSeconds"] = 1;
  // A conflict means that another has just written it.
  (void)client.send("PUT", path(), lease.dump());
}

Result<std::optional<LeaseState>> read_lease(Client& client, const std::string& name_space,
                                             const std::string& name) {
  const auto body = client.get(lease_path(name_space, name));
  if (!body && body.error().code == Code::not_found) return std::nullopt;
  if (!body) return tl::unexpected(body.error());
  LeaseState made{.now = wall_clock() + client.skew().value_or(Duration{0})};
  try {
    const json found = json::parse(*body, nullptr, /*allow_exceptions=*/false);
    const kueue::Object of(found, "Lease");
    const kueue::Object spec = of.object("spec");
    made.holder = plain(spec.text("holderIdentity"));
    if (const auto renewed = text::parse_datetime(spec.text("renewTime"))) {
      made.until = *renewed + lasts(spec);
    }
    const auto annotations = of.object("metadata").texts("annotations");
    if (const auto queues = annotations.find(kBackfill); queues != annotations.end()) {
      std::istringstream names(plain(queues->second));
      for (std::string each; std::getline(names, each, ',');) made.backfilled.insert(each);
    }
  } catch (const kueue::Refused& refused) {
    return fail(Code::invalid, plain(refused.message));
  }
  return made;
}

}  // namespace almanac::kube
