// SPDX-License-Identifier: Apache-2.0
#include "cluster/incidents.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/csv_reader.h"
#include "text/datetime.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::cluster {
namespace {

using Kind = Incident::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds = {
    {{"down", Kind::down}, {"up", Kind::up}, {"notice", Kind::notice}, {"signal", Kind::signal}}};

/// Larger values of a signal are mistakes, and their sums could overflow.
constexpr double kLargestValue = 1e9;
constexpr std::array<std::string_view, 2> kGpuPrices = {"price/", "reserved/"};

/// Returns the TYPE of `price/TYPE` and `reserved/TYPE`; nothing for another signal.
std::optional<std::string> priced_type(const std::string& signal) {
  for (const std::string_view prefix : kGpuPrices) {
    if (signal.starts_with(prefix)) return signal.substr(prefix.size());
  }
  return std::nullopt;
}

std::optional<Time> time_in(std::string_view text) {
  if (const auto date = text::parse_datetime(text)) return date;
  if (const auto number = text::parse_thousandths(text)) return Time(Duration(*number));
  return std::nullopt;
}

constexpr std::uint32_t kSeveral = ~std::uint32_t{0};

/// The columns of a file, by name.
struct Columns {
  std::size_t time = 0;
  std::size_t event = 0;
  std::size_t subject = 0;
  std::size_t value = 0;
};

Result<Columns> columns_of(const table::CsvReader& csv) {
  Columns found;
  for (const auto& [name, column] : {std::pair{"time", &Columns::time},
                                     {"event", &Columns::event},
                                     {"subject", &Columns::subject},
                                     {"value", &Columns::value}}) {
    const auto at = csv.find(name);
    if (!at) {
      return fail(Code::invalid, fmt::format("column {} is missing", name), csv.where(),
                  "incidents have the columns time, event, subject and value");
    }
    found.*column = *at;
  }
  return found;
}

class IncidentReader {
 public:
  explicit IncidentReader(const Cluster& cluster) {
    for (std::uint32_t node = 0; node < cluster.nodes.size(); ++node) {
      const auto [known, is_new] = nodes_.try_emplace(cluster.node_label(NodeId{node}), node);
      if (!is_new) known->second = kSeveral;
    }
  }

  Result<Incident> read(const table::CsvReader& csv, const Columns& columns) {
    const auto wrong = [&](std::string expected, std::size_t column, std::string hint = {}) {
      return fail(Code::invalid, fmt::format("expected {}, found \"{}\"", expected, csv[column]),
                  csv.where(), std::move(hint));
    };
    const auto at = time_in(csv[columns.time]);
    if (!at) return wrong("a date or seconds", columns.time);
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) {
      return known.first == csv[columns.event];
    });
    if (kind == kKinds.end()) return wrong("down, up, notice or signal", columns.event);
    Incident made{.at = *at, .kind = kind->second};
    const std::string subject(csv[columns.subject]);
    if (made.kind == Kind::signal) {
      if (subject.empty()) return wrong("the name of a signal", columns.subject);
      made.subject = signal(subject);
    } else {
      const auto node = nodes_.find(subject);
      if (node == nodes_.end()) {
        return wrong("a node of the cluster", columns.subject,
                     "almanac cluster show -o toml lists them");
      }
      if (node->second == kSeveral) {
        return wrong("a name that one node has", columns.subject,
                     "give the nodes names in the cluster file");
      }
      made.subject = node->second;
    }
    if (made.kind == Kind::down || made.kind == Kind::up) return made;
    const auto value = text::parse_decimal(csv[columns.value]);
    const bool is_notice = made.kind == Kind::notice;
    if (!value || (is_notice && *value < 0)) {
      return wrong(is_notice ? "in how many seconds the node will go down" : "a number",
                   columns.value);
    }
    made.value = *value;
    return made;
  }

  std::vector<std::string> signals;

 private:
  std::uint32_t signal(const std::string& name) {
    const auto known = std::find(signals.begin(), signals.end(), name);
    const auto number = static_cast<std::uint32_t>(known - signals.begin());
    if (known == signals.end()) signals.push_back(name);
    return number;
  }

  std::unordered_map<std::string, std::uint32_t> nodes_;
};

Result<void> add_signal(const std::string& name, const std::string& path, Incidents& incidents) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  const auto time = csv->find("time");
  const auto value = csv->find("value");
  if (!time || !value) {
    return fail(Code::invalid, fmt::format("column {} is missing", time ? "value" : "time"),
                csv->where(), "a signal has the columns time and value");
  }
  const auto number = static_cast<std::uint32_t>(incidents.signals.size());
  incidents.signals.push_back(name);
  std::optional<Time> before;
  for (;;) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto at = time_in((*csv)[*time]);
    const auto is = text::parse_decimal((*csv)[*value]);
    if (!at || !is) {
      return fail(Code::invalid,
                  fmt::format("expected {}, found \"{}\"", at ? "a number" : "a date or seconds",
                              (*csv)[at ? *value : *time]),
                  csv->where());
    }
    // The price of electricity may be negative.
    const double least = name == "carbon" || priced_type(name) ? 0 : -kLargestValue;
    if (*is < least || *is > kLargestValue) {
      return fail(Code::invalid,
                  fmt::format("signal {} must be {:g} to {:g}, found \"{}\"", name, least,
                              kLargestValue, (*csv)[*value]),
                  csv->where());
    }
    if (before && *at <= *before) {
      return fail(Code::invalid,
                  fmt::format("expected a time after {}, found \"{}\"",
                              text::format_datetime(*before), (*csv)[*time]),
                  csv->where(), "sort the file by time, with one line for each time");
    }
    before = *at;
    incidents.all.push_back(
        {.at = *at, .kind = Incident::Kind::signal, .subject = number, .value = *is});
  }
  if (before) return {};
  return fail(Code::invalid, fmt::format("signal {} has no values", name), {.file = path},
              "give it lines of time and value");
}

/// Fails if a signal is the price of a GPU type that the cluster lacks.
Result<void> check_gpu_type(const std::string& name, const Cluster& cluster) {
  const std::optional<std::string> type = priced_type(name);
  if (!type) return {};
  const std::vector<std::string> types = cluster.gpu_types();
  if (!type->empty() && std::find(types.begin(), types.end(), *type) != types.end()) return {};
  return fail(Code::usage,
              fmt::format("signal {}: the cluster has no GPUs of type \"{}\"", name, *type), {},
              types.empty() ? "the nodes of the cluster state no gpu_type"
                            : fmt::format("its types: {}", fmt::join(types, ", ")));
}

}  // namespace

Result<void> add_signals(const std::vector<std::string>& named_files, const Cluster& cluster,
                         Incidents& incidents) {
  for (const std::string& each : named_files) {
    const std::size_t mark = each.find('=');
    if (mark == std::string::npos || mark == 0 || mark + 1 == each.size()) {
      return fail(Code::usage, fmt::format("--signal takes NAME=FILE, found \"{}\"", each), {},
                  "for example --signal carbon=carbon.csv");
    }
    const std::string name = each.substr(0, mark);
    const auto& known = incidents.signals;
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return fail(Code::usage, fmt::format("signal {} is given twice", name));
    }
    if (auto checked = check_gpu_type(name, cluster); !checked) return checked;
    if (auto added = add_signal(name, each.substr(mark + 1), incidents); !added) return added;
  }
  std::stable_sort(incidents.all.begin(), incidents.all.end(),
                   [](const Incident& a, const Incident& b) { return a.at < b.at; });
  return {};
}

Result<Incidents> read_incidents(const std::string& path, const Cluster& cluster) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  const auto columns = columns_of(*csv);
  if (!columns) return tl::unexpected(columns.error());
  Incidents made;
  IncidentReader reader(cluster);
  for (;;) {
    const auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto incident = reader.read(*csv, *columns);
    if (!incident) return tl::unexpected(incident.error());
    made.all.push_back(*incident);
  }
  const bool any_node = std::any_of(made.all.begin(), made.all.end(), [](const Incident& each) {
    return each.kind == Kind::down || each.kind == Kind::up;
  });
  if (any_node && !cluster.changes.empty()) {
    return fail(Code::invalid,
                "nodes go down in this file, and the cluster file changes the capacity too",
                {.file = path}, "keep one of the two");
  }
  std::stable_sort(made.all.begin(), made.all.end(),
                   [](const Incident& a, const Incident& b) { return a.at < b.at; });
  made.signals = std::move(reader.signals);
  return made;
}

}  // namespace almanac::cluster
