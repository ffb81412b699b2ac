// SPDX-License-Identifier: Apache-2.0
#include "steer_kube/order_journal.h"

#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace almanac::steer_kube {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLargest = 4 << 20;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json json_of(const Change& change, std::int64_t number, Time at) {
  return {{"n", number},
          {"at_s", seconds(at)},
          {"uid", change.uid},
          {"namespace", change.name_space},
          {"name", change.name},
          {"field", to_string(change.field)},
          {"base", change.base},
          {"was", change.was},
          {"becomes", change.becomes},
          {"why", change.why}};
}

std::string dropped_line(const std::string& uid, const std::string& why, bool is_foreign) {
  Json line{{"dropped", uid}, {"why", why}};
  if (is_foreign) line["foreign"] = true;
  return line_of(line);
}

Change change_of(const Json& line) {
  return {.uid = line.at("uid"),
          .name_space = line.at("namespace"),
          .name = line.at("name"),
          .field = line.at("field") == "boost" ? Field::boost : Field::priority,
          .base = line.at("base"),
          .was = line.at("was"),
          .becomes = line.at("becomes"),
          .why = line.at("why")};
}

}  // namespace

std::string to_words(const Change& change) {
  return fmt::format("{}/{}: {} {} -> {}; {}", change.name_space, change.name,
                     change.field == Field::boost ? "boost" : "spec.priority", change.was,
                     change.becomes, change.why);
}

Result<OrderJournal> OrderJournal::open(const std::string& path) {
  auto file = service::LineFile::open(path);
  if (!file) return tl::unexpected(file.error());
  OrderJournal made(std::move(*file), path);
  std::ifstream text(path);
  std::string line;
  for (std::int64_t number = 1; std::getline(text, line); ++number) {
    try {
      const Json json = Json::parse(line);
      if (json.contains("cluster")) {
        made.cluster_ = json.at("cluster");
      } else if (json.contains("dropped")) {
        const std::string uid = json.at("dropped");
        made.claims_.erase(uid);
        made.foreign_.erase(uid);
        if (json.value("foreign", false)) made.foreign_.insert(uid);
      } else if (!json.contains("done")) {
        made.next_ = json.at("n").get<std::int64_t>() + 1;
        made.apply(change_of(json));
      } else if (json.contains("failed")) {
        made.claims_.erase(made.begun_);
        if (made.before_) made.claims_[made.begun_] = *made.before_;
      } else if (const auto claim = made.claims_.find(made.begun_); claim != made.claims_.end()) {
        claim->second.former.reset();
        if (claim->second.value == claim->second.base) made.claims_.erase(claim);
      }
    } catch (const Json::exception&) {
      return fail(Code::corrupt, "expected a line of an Almanac journal",
                  {.file = path, .line = number},
                  "move the file away; Almanac cannot undo its changes then");
    }
  }
  return made;
}

Result<void> OrderJournal::bind(const std::string& cluster) {
  if (cluster_ == cluster) return {};
  if (!cluster_.empty()) {
    return fail(Code::conflict,
                fmt::format("the journal is of the cluster whose kube-system has uid {}, not of "
                            "this one, {}",
                            cluster_, cluster),
                {.file = path_},
                "name the other cluster with --context, or another state directory with --state");
  }
  if (auto wrote = file_.append(line_of({{"cluster", cluster}})); !wrote) return wrote;
  cluster_ = cluster;
  return {};
}

void OrderJournal::apply(const Change& change) {
  begun_ = change.uid;
  const auto known = claims_.find(change.uid);
  before_ = known == claims_.end() ? std::nullopt : std::optional(known->second);
  claims_[change.uid] = {.name_space = change.name_space,
                         .name = change.name,
                         .field = change.field,
                         .base = change.base,
                         .value = change.becomes,
                         .former = change.was};
}

Result<void> OrderJournal::begin(const Change& change, Time at) {
  if (auto kept = compact(); !kept) return kept;
  if (auto wrote = file_.append(line_of(json_of(change, next_, at))); !wrote) return wrote;
  ++next_;
  apply(change);
  return {};
}

Result<void> OrderJournal::end(const std::optional<std::string>& failure) {
  if (!failure) return {};
  Json line{{"done", next_ - 1}};
  const auto claim = claims_.find(begun_);
  if (!failure->empty()) {
    line["failed"] = *failure;
    claims_.erase(claim);
    if (before_) claims_[begun_] = *before_;
  } else {
    claim->second.former.reset();
    if (claim->second.value == claim->second.base) claims_.erase(claim);
  }
  return file_.append(line_of(line));
}

Result<void> OrderJournal::adopt(const std::string& uid, const Claim& claim, Time at) {
  const Change standing{.uid = uid,
                        .name_space = claim.name_space,
                        .name = claim.name,
                        .field = claim.field,
                        .base = claim.base,
                        .was = claim.value,
                        .becomes = claim.value,
                        .why = "found on the workload"};
  if (auto begun = begin(standing, at); !begun) return begun;
  return end("");
}

Result<void> OrderJournal::drop(const std::string& uid, const std::string& why, bool is_foreign) {
  claims_.erase(uid);
  foreign_.erase(uid);
  if (is_foreign) foreign_.insert(uid);
  return file_.append(dropped_line(uid, why, is_foreign));
}

Result<void> OrderJournal::compact() {
  if (file_.size() < kLargest) return {};
  std::string lines = line_of({{"cluster", cluster_}});
  std::int64_t number = next_;
  for (const auto& [uid, claim] : claims_) {
    const Change standing{.uid = uid,
                          .name_space = claim.name_space,
                          .name = claim.name,
                          .field = claim.field,
                          .base = claim.base,
                          .was = claim.former.value_or(claim.value),
                          .becomes = claim.value,
                          .why = "standing"};
    lines += line_of(json_of(standing, number, Time{}));
    if (!claim.former) lines += line_of({{"done", number}});
    ++number;
  }
  for (const std::string& uid : foreign_) lines += dropped_line(uid, "written by another", true);
  if (auto begun = file_.begin_anew(lines); !begun) return begun;
  next_ = number;
  return {};
}

}  // namespace almanac::steer_kube
