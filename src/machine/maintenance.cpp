// SPDX-License-Identifier: Apache-2.0
#include "machine/maintenance.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/core.h"

namespace almanac::machine {

using policy::Phase;
using store::JobNumber;

namespace {

constexpr const char* kWindowsKey = "maintenance";

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
  return fail(Code::not_found, fmt::format("no maintenance {} is announced", number), {},
              "almanac maintenance list shows them");
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

Result<std::int64_t> Core::announce(const service::Window& window, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return tl::unexpected(may.error());
  std::int64_t number = 0;
  const auto done = change([this, &number, &window]() -> Result<Change> {
    Maintenance after = maintenance_;
    const auto added = after.add(window, now_);
    if (!added) return tl::unexpected(added.error());
    number = *added;
    Change change;
    change.kept.set(kWindowsKey, after.to_json());
    change.acts.push_back([this, after = std::move(after)] { maintenance_ = after; });
    return change;
  });
  if (!done) return tl::unexpected(done.error());
  return number;
}

Result<void> Core::call_off(std::int64_t number, const service::Caller& caller) {
  if (auto may = service::only_for_operators(caller); !may) return may;
  return change([this, number]() -> Result<Change> {
    Maintenance after = maintenance_;
    if (auto removed = after.remove(number); !removed) return tl::unexpected(removed.error());
    Change change;
    change.kept.set(kWindowsKey, after.to_json());
    change.acts.push_back([this, after = std::move(after)] {
      maintenance_ = after;
      book_.open({WaitsFor::What::maintenance});
    });
    return change;
  });
}

std::vector<service::Window> Core::maintenance() const {
  const std::lock_guard lock(mutex_);
  return maintenance_.windows();
}

Result<void> Core::read_maintenance() {
  const auto kept = store_.get(kWindowsKey);
  if (!kept) return tl::unexpected(kept.error());
  if (!*kept) return {};
  auto read = Maintenance::read(**kept);
  if (!read) return tl::unexpected(read.error());
  maintenance_ = *std::move(read);
  return {};
}

void Core::heed_maintenance() {
  if (maintenance_.windows().empty()) return;
  if (maintenance_.pass(now_)) {
    outbox_.set(kWindowsKey, maintenance_.to_json());
    book_.open({WaitsFor::What::maintenance});
  }
  for (auto& [number, entry] : book_.all()) {
    const bool waits =
        entry.job.state == trace::JobState::pending && in_round(entry, Phase::waiting);
    if (!waits || maintenance_.bars(entry.job.asked->time_limit, now_) == nullptr) continue;
    leave_queue(entry);
    look_at(entry);
  }
}

}  // namespace almanac::machine
