// SPDX-License-Identifier: Apache-2.0
#include "reproduce/bench.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "stats/mean.h"

namespace almanac::reproduce {
namespace {

namespace fs = std::filesystem;

std::string_view without(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

/// Without the ending of what it is packed by; "cases.jsonl" is JSON too.
std::string_view plain(std::string_view name) {
  name = without(without(name, ".gz"), ".zst");
  return name.ends_with(".jsonl") ? name.substr(0, name.size() - 1) : name;
}

/// Whether `name` is `pattern`, in which each `*` stands for anything.
bool matches(std::string_view name, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches(name.substr(at), rest)) return true;
  }
  return false;
}

/// The folders below `root` whose path from there is `pattern`.
std::vector<fs::path> matching_folders(const fs::path& root, const fs::path& pattern) {
  std::vector<fs::path> found{fs::path()};
  for (const fs::path& part : pattern) {
    std::vector<fs::path> longer;
    for (const fs::path& folder : found) {
      if (part.string().find('*') == std::string::npos) {
        longer.push_back(folder / part);
        continue;
      }
      std::error_code error;
      for (const fs::directory_entry& entry : fs::directory_iterator(root / folder, error)) {
        const fs::path name = entry.path().filename();
        if (entry.is_directory(error) && matches(name.string(), part.string())) {
          longer.push_back(folder / name);
        }
      }
    }
    found = std::move(longer);
  }
  return found;
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::figure:
      return "figure";
    case Kind::rerun:
      return "rerun";
    case Kind::second:
      return "second";
    case Kind::closed_form:
      return "closed form";
    case Kind::measured:
      return "measured";
    case Kind::baseline:
      return "baseline";
  }
  return "";
}

std::string_view describe(Kind kind) {
  switch (kind) {
    case Kind::figure:
      return "a paper's figures";
    case Kind::rerun:
      return "the authors' program, run again";
    case Kind::second:
      return "a second implementation";
    case Kind::closed_form:
      return "a closed form";
    case Kind::measured:
      return "measurements of real machines";
    case Kind::baseline:
      return "a baseline of Almanac's own (nothing is published)";
  }
  return "";
}

std::string no_result(const Error& error) { return "no result: " + error.message; }

void require(bool holds, std::string_view message) {
  if (!holds) throw Malformed{{.code = Code::invalid, .message = std::string(message)}};
}

std::string said(const std::exception& wrong) {
  const std::string_view text = wrong.what();
  const auto end = text.find("] ");
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

Bench::Bench(std::string folder, std::vector<Need> needs, Kind kind, std::atomic<double>* done)
    : folder_(std::move(folder)), needs_(std::move(needs)), kind_(kind), done_(done) {
  for (const Need& need : needs_) files_ += static_cast<double>(files(need.files).size());
}

std::vector<File> Bench::files(std::string_view pattern) const {
  const fs::path wanted(pattern);
  std::vector<File> found;
  std::error_code error;
  for (const fs::path& folder : matching_folders(folder_, wanted.parent_path())) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(folder_) / folder, error)) {
      const std::string name = entry.path().filename().string();
      const std::string_view kind = plain(name);
      const bool fits = matches(kind, wanted.filename().string()) && !name.starts_with("README");
      if (!fits || !entry.is_regular_file(error)) continue;
      found.push_back({.path = entry.path().string(),
                       .name = (folder / name).string(),
                       .stem = std::string(kind.substr(0, kind.rfind('.')))});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return found;
}

void Bench::each(std::string_view pattern, const std::function<void(const File&)>& work) {
  const auto need = std::find_if(needs_.begin(), needs_.end(),
                                 [&](const Need& each) { return each.files == pattern; });
  ALMANAC_CHECK(need != needs_.end(), "{} is read but not said to be needed", pattern);
  const std::vector<File> all = files(pattern);
  if (all.empty()) outcome_.absent.push_back(*need);
  const Kind outside = std::exchange(kind_, need->kind.value_or(kind_));
  for (const File& file : all) {
    const std::size_t before = outcome_.rows.size();
    const std::size_t found = outcome_.findings.size();
    const auto give_up = [&](Error error) {
      if (error.where.file.empty()) error.where.file = file.path;
      outcome_.malformed.push_back(std::move(error));
      outcome_.rows.resize(before);
      outcome_.findings.resize(found);
    };
    try {
      work(file);
    } catch (const Malformed& malformed) {
      give_up(malformed.error);
    } catch (const std::exception& wrong) {  // of a parser
      give_up({.code = Code::invalid, .message = said(wrong)});
    }
    // A recipe may go through some files twice.
    if (done_ != nullptr) *done_ = std::min(1.0, ++gone_through_ / files_);
  }
  kind_ = outside;
}

std::optional<File> Bench::find(std::string_view name) const {
  const std::vector<File> found = files(name);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

File Bench::beside(const File& file, std::string_view name) const {
  const auto found = find((fs::path(file.name).parent_path() / name).string());
  require(found.has_value(), fmt::format("needs {} beside it", name));
  return *found;
}

void Bench::add(Row row) {
  if (!row.kind) row.kind = kind_;
  auto& rows = std::isnan(row.published) ? outcome_.findings : outcome_.rows;
  rows.push_back(std::move(row));
}

void Bench::add(std::string what, double published, double ours, std::string unit) {
  add({.what = std::move(what), .published = published, .ours = ours, .unit = std::move(unit)});
}

void Bench::add_column(const std::string& what, std::span<const double> published,
                       std::span<const double> ours, const std::string& unit) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  add(what + ", mean", stats::mean(published), stats::mean(ours), unit);
  double largest = published.size() == ours.size() ? 0 : kInfinity;
  for (std::size_t each = 0; each < std::min(published.size(), ours.size()); ++each) {
    const double difference = std::abs(published[each] - ours[each]);
    // NaN differs as much as a number can.
    largest = difference >= 0 ? std::max(largest, difference) : kInfinity;
  }
  add(what + ", largest difference", 0, largest, unit);
}

void Bench::add_mismatches(std::string what, std::size_t differ) {
  add(std::move(what), 0, static_cast<double>(differ), "mismatches");
}

}  // namespace almanac::reproduce
