// SPDX-License-Identifier: Apache-2.0

#include "inference/request_log.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/log_columns.h"
#include "inference/registry.h"
#include "table/csv_writer.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::inference {
namespace {

/// Ids as the plain table has them: "0 14-27".
std::string spelled_blocks(std::span<const std::uint64_t> ids) {
  std::string made;
  for (std::size_t at = 0; at < ids.size();) {
    std::size_t end = at + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (at > 0) made += ' ';
    made += end - at == 1 ? std::to_string(ids[at]) : fmt::format("{}-{}", ids[at], ids[end - 1]);
    at = end;
  }
  return made;
}

}  // namespace

Result<void> RequestIntake::add(const Where& where, Micros at, double prompt, double output) {
  constexpr double kMostTokens = 1e8;
  if (!(prompt >= 1 && prompt <= kMostTokens) || prompt != std::floor(prompt)) {
    return fail(Code::invalid, fmt::format("a prompt cannot have {} tokens", prompt), where);
  }
  if (!(output >= 0 && output <= kMostTokens) || output != std::floor(output)) {
    return fail(Code::invalid, fmt::format("an answer cannot have {} tokens", output), where);
  }
  requests_.all.push_back({.arrival = at,
                           .prompt = static_cast<std::int32_t>(prompt),
                           .output = static_cast<std::int32_t>(output),
                           .first_block = static_cast<std::uint32_t>(requests_.blocks.size())});
  lines_.push_back(where.line);
  return {};
}

void RequestIntake::add_block(std::uint64_t id) {
  requests_.blocks.push_back(id);
  ++requests_.all.back().blocks;
}

std::uint32_t RequestIntake::number_of(std::string_view name, Numbers& known,
                                       std::vector<std::string>& names) {
  auto found = known.find(name);
  if (found == known.end()) {
    found = known.emplace(name, static_cast<std::uint32_t>(names.size())).first;
    names.emplace_back(name);
  }
  return found->second;
}

void RequestIntake::ask_for(std::string_view model) {
  requests_.all.back().model = number_of(model, models_, requests_.models);
}

void RequestIntake::come_from(std::string_view tenant) {
  requests_.all.back().tenant = number_of(tenant, tenants_, requests_.tenants);
}

void RequestIntake::adapt_by(std::string_view adapter) {
  if (adapter.empty()) return;
  requests_.all.back().adapter = number_of(adapter, adapters_, requests_.adapters) + 1;
}

Micros RequestIntake::span() const {
  if (requests_.all.empty()) return 0;
  const auto [first, last] =
      std::minmax_element(requests_.all.begin(), requests_.all.end(),
                          [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  return last->arrival - first->arrival;
}

void RequestIntake::scale_arrivals(double micros) {
  for (Request& each : requests_.all) each.arrival *= micros;
}

Result<void> RequestIntake::settle_blocks(const std::string& path, const BlockRule& rule) {
  return inference::settle_blocks(requests_, lines_, path, rule);
}

Result<Requests> RequestIntake::done(const std::string& path, bool from_first) {
  constexpr Micros kEpoch = 1e14;  // three years: no log begins so late after a zero of its own
  auto& all = requests_.all;
  if (all.empty()) return fail(Code::invalid, "has no requests", {.file = path});
  std::stable_sort(all.begin(), all.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  const Micros first = all.front().arrival;
  if (from_first || first >= kEpoch) {
    for (Request& each : all) each.arrival = std::round((each.arrival - first) * 10) / 10;
  }
  return std::move(requests_);
}

Result<void> save_requests(const Requests& requests, const std::string& path) {
  auto file = path == "-" ? Result<table::OutputFile>(table::OutputFile::standard_output())
                          : table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const bool has_models = !requests.models.empty(), has_tenants = !requests.tenants.empty();
  const bool has_blocks = !requests.blocks.empty(), has_adapters = !requests.adapters.empty();
  table::CsvWriter csv(*file);
  csv.text("arrival_s").text("prompt_tokens").text("output_tokens");
  if (has_models) csv.text("model");
  if (has_tenants) csv.text("tenant");
  if (has_adapters) csv.text("adapter");
  if (has_blocks) csv.text("block_ids");
  csv.end_row();
  for (const Request& each : requests.all) {
    csv.rounded(each.arrival / 1e6, 6).whole(each.prompt).whole(each.output);
    if (has_models) csv.text(requests.models[each.model]);
    if (has_tenants) csv.text(requests.tenants[each.tenant]);
    if (has_adapters) csv.text(each.adapter == 0 ? "" : requests.adapters[each.adapter - 1]);
    if (has_blocks) csv.text(spelled_blocks(requests.ids(each)));
    csv.end_row();
  }
  csv.flush();
  return file->commit();
}

bool has_columns(std::string_view header, std::initializer_list<std::string_view> columns) {
  constexpr std::string_view kBetween = ",;\t|\"";
  const auto is_between = [&](char letter) { return kBetween.find(letter) != kBetween.npos; };
  return std::all_of(columns.begin(), columns.end(), [&](std::string_view name) {
    for (std::size_t at = 0; (at = header.find(name, at)) != std::string_view::npos; ++at) {
      const std::size_t end = at + name.size();
      if ((at == 0 || is_between(header[at - 1])) &&
          (end == header.size() || is_between(header[end]))) {
        return true;
      }
    }
    return false;
  });
}

namespace {

/// The file that stands for a folder.
Result<std::string> file_of(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return path;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name.find("_windows.csv") != std::string::npos) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  if (found.size() == 1) return path + "/" + found.front();
  if (found.empty()) {
    return fail(Code::unsupported, "is a folder without ServeGen clients", {.file = path},
                "clients are NAME_windows.csv.gz and NAME_lengths.json.gz");
  }
  return fail(Code::usage, "is a folder with several services", {.file = path},
              fmt::format("give one of its files: {}", fmt::join(found, ", ")));
}

Result<Requests> cut(Requests requests, const std::string& path, const LogPart& part) {
  if (part.from <= 0 && part.until == kNever) return requests;
  std::erase_if(requests.all, [&](const Request& each) {
    return each.arrival < part.from || each.arrival >= part.until;
  });
  if (requests.all.empty()) {
    return fail(Code::invalid, "has no requests in the selected part", {.file = path});
  }
  for (Request& each : requests.all) each.arrival -= part.from;
  return requests;
}

/// Why a file that is about requests cannot be read; "" where it is not known to be.
std::string why_unreadable(std::string_view first) {
  const bool is_json = first.starts_with('{') || first.starts_with('[');
  const auto has = [&](std::string_view key) { return first.find(key) != first.npos; };
  if (is_json && (has("\"conversation\"") || has("\"conversations\"") || has("\"text_input\""))) {
    return "has texts; Almanac needs counts of tokens";
  }
  if (is_json && has("\"requests\"") && has("\"hash_ids\"")) {
    return "has one conversation per line, with times and ids that start over in each";
  }
  if (has_columns(first, {"num_prefill_tokens", "num_decode_tokens"})) {
    return "has lengths of requests but no arrival times";
  }
  if (has_columns(first, {"prompt_length", "num_inference_steps"})) {
    return "has requests for images, whose prompts are counted in characters";
  }
  return {};
}

Result<Requests> read_mapped(const std::string& path, std::string_view first,
                             const std::string& column_map) {
  auto columns = load_log_columns(column_map);
  if (!columns) return tl::unexpected(columns.error());
  return first.starts_with('{') ? read_json_lines(path, *columns) : read_table(path, *columns);
}

}  // namespace

Result<Requests> read_requests_by_model(const std::string& named, const LogPart& part,
                                        const std::string& column_map) {
  const auto file = file_of(named);
  if (!file) return tl::unexpected(file.error());
  const std::string& path = *file;
  constexpr std::size_t kHead = 65'536;
  const auto head = table::read_head(path, kHead);
  if (!head) return tl::unexpected(head.error());
  std::string_view first(*head);
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  first.remove_prefix(std::min(first.find_first_not_of(" \t\r\n"), first.size()));
  // A JSON document over several lines begins with a brace alone.
  const std::string_view line = first.substr(0, first.find_first_of("\r\n"));
  if (line != "{" && line != "[") first = line;
  if (!column_map.empty()) {
    auto read = read_mapped(path, first, column_map);
    return read ? cut(*std::move(read), path, part) : read;
  }
  for (const auto& each : registry().formats.entries()) {
    if (!each.make.knows(first)) continue;
    auto read = each.make.read_part ? each.make.read_part(path, part) : each.make.read(path);
    return read ? cut(*std::move(read), path, part) : read;
  }
  constexpr std::size_t kShown = 60;
  const std::string why = why_unreadable(first);
  return fail(Code::unsupported,
              why.empty()
                  ? fmt::format("is not a request log of a known format; it begins with \"{}\"",
                                first.substr(0, kShown))
                  : why,
              {.file = path, .line = 1},
              fmt::format("a plain table has the columns arrival_s, prompt_tokens and "
                          "output_tokens; map other names with --columns FILE; known formats: {}",
                          fmt::join(registry().formats.names(), ", ")));
}

Result<Requests> read_requests(const std::string& path, const LogPart& part,
                               const std::string& column_map) {
  auto requests = read_requests_by_model(path, part, column_map);
  if (!requests) return requests;
  requests->models.clear();
  for (Request& each : requests->all) each.model = 0;
  return requests;
}

}  // namespace almanac::inference
