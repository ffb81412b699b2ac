// SPDX-License-Identifier: Apache-2.0
#include "machine/maintenance.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::machine {

namespace {

std::int64_t in_ms(Time time) { return time.time_since_epoch().count(); }

}  // namespace

Result<std::int64_t> Maintenance::add(service::Window window, Time now) {
  if (window.to <= window.from) return fail(Code::usage, "it ends before it begins");
  if (window.to <= now) return fail(Code::usage, "it is over");
  window.number = ++last_;
  const auto later = [](const service::Window& a, const service::Window& b) {
    return a.from < b.from;
  };
  windows_.insert(std::upper_bound(windows_.begin(), windows_.end(), window, later),
                  std::move(window));
  return last_;
}

Result<void> Maintenance::remove(std::int64_t number) {
  const auto removed =
      std::erase_if(windows_, [&](const service::Window& each) { return each.number == number; });
  if (removed > 0) return {};
  return fail(Code::not_found, fmt::format("there is no maintenance {}", number), {},
              "see almanac maintenance list");
}

bool Maintenance::pass(Time now) {
  return std::erase_if(windows_, [&](const service::Window& each) { return each.to <= now; }) > 0;
}

const service::Window* Maintenance::bars(Duration time_limit, Time now) const {
  const auto found =
      std::find_if(windows_.begin(), windows_.end(), [&](const service::Window& each) {
        if (each.to <= now) return false;
        return each.from <= now || time_limit == kNoDuration || time_limit > each.from - now;
      });
  return found == windows_.end() ? nullptr : &*found;
}

std::string Maintenance::to_json() const {
  nlohmann::json made{{"last", last_}, {"windows", nlohmann::json::array()}};
  for (const service::Window& each : windows_) {
    made["windows"].push_back({{"number", each.number},
                               {"from_ms", in_ms(each.from)},
                               {"to_ms", in_ms(each.to)},
                               {"why", each.why}});
  }
  return made.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Maintenance> Maintenance::read(const std::string& json) try {
  const auto said = nlohmann::json::parse(json);
  Maintenance made;
  said.at("last").get_to(made.last_);
  for (const auto& each : said.at("windows")) {
    made.windows_.push_back({.number = each.at("number").get<std::int64_t>(),
                             .from = Time{Duration{each.at("from_ms").get<std::int64_t>()}},
                             .to = Time{Duration{each.at("to_ms").get<std::int64_t>()}},
                             .why = each.at("why").get<std::string>()});
  }
  return made;
} catch (const nlohmann::json::exception& error) {
  return fail(Code::corrupt, fmt::format("the store's maintenance: {}", error.what()));
}

}  // namespace almanac::machine
