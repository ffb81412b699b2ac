// SPDX-License-Identifier: Apache-2.0

#include "inference/request_log.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/registry.h"
#include "table/csv_reader.h"
#include "table/csv_writer.h"
#include "table/output_file.h"
#include "table/stream.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

/// A date with a time, in tenths of microseconds since 1970: more than a double holds.
std::optional<std::int64_t> parse_moment(std::string_view text) {
  const std::size_t point = text.find('.');
  std::string whole(text.substr(0, point));
  std::int64_t fraction = 0;
  if (point != std::string_view::npos) {
    std::int64_t unit = 1'000'000;
    std::size_t at = point + 1;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      fraction += (text[at] - '0') * unit;
    }
    whole += text.substr(at);
  }
  const auto time = text::parse_datetime(whole);
  if (!time) return std::nullopt;
  return time->time_since_epoch().count() * 10'000 + fraction;
}

/// "0 14-27" = 0 and 14 to 27.
bool add_blocks(std::string_view text, RequestIntake& intake) {
  constexpr std::int64_t kMost = 1'000'000;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const std::string_view part = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (part.empty()) continue;
    const std::size_t dash = part.find('-');
    const auto first = text::parse_whole(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : text::parse_whole(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last - *first > kMost) return false;
    for (auto id = *first; id <= *last; ++id) intake.add_block(static_cast<std::uint64_t>(id));
  }
  return true;
}

/// What add_blocks() reads.
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
    return fail(Code::invalid, fmt::format("a prompt of {} tokens cannot be", prompt), where);
  }
  if (!(output >= 0 && output <= kMostTokens) || output != std::floor(output)) {
    return fail(Code::invalid, fmt::format("an answer of {} tokens cannot be", output), where);
  }
  requests_.all.push_back({.arrival = at,
                           .prompt = static_cast<std::int32_t>(prompt),
                           .output = static_cast<std::int32_t>(output),
                           .first_block = static_cast<std::uint32_t>(requests_.blocks.size())});
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

Result<Requests> RequestIntake::done(const std::string& path, std::int32_t tokens_per_block,
                                     bool from_first) {
  auto& all = requests_.all;
  if (all.empty()) return fail(Code::invalid, "has no requests", {.file = path});
  std::stable_sort(all.begin(), all.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  if (from_first) {
    const Micros first = all.front().arrival;
    for (Request& each : all) each.arrival = std::round((each.arrival - first) * 10) / 10;
  }
  requests_.tokens_per_block = tokens_per_block;
  return std::move(requests_);
}

Result<Requests> read_table(const std::string& path, const LogColumns& columns) {
  auto reader = table::CsvReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  const auto column = [&](std::string_view name) -> Result<std::size_t> {
    if (const auto found = reader->find(name)) return *found;
    return fail(Code::invalid, fmt::format("has no column {}", name), {.file = path, .line = 1});
  };
  const auto arrival = column(columns.arrival);
  if (!arrival) return tl::unexpected(arrival.error());
  const auto prompt = column(columns.prompt);
  if (!prompt) return tl::unexpected(prompt.error());
  const auto output = column(columns.output);
  if (!output) return tl::unexpected(output.error());
  constexpr std::size_t kNone = std::string_view::npos;
  const auto optional = [&](std::string_view name) {
    return name.empty() ? kNone : reader->find(name).value_or(kNone);
  };
  const std::size_t blocks = optional(columns.blocks);
  const std::size_t model = optional(columns.model);
  const std::size_t tenant = optional(columns.tenant);
  const std::size_t adapter = optional(columns.adapter);

  RequestIntake intake;
  std::optional<std::int64_t> first;  // moment
  while (true) {
    const auto more = reader->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto wrong = [&](std::string_view name, std::size_t position, const char* what) {
      return fail(Code::invalid,
                  fmt::format("{}: \"{}\" is no {}", name, (*reader)[position], what),
                  reader->where());
    };
    std::optional<Micros> at;
    if (columns.micros == 0) {
      const auto moment = parse_moment((*reader)[*arrival]);
      if (moment && !first) first = moment;
      if (moment) at = static_cast<double>(*moment - *first) / 10;
    } else if (const auto value = text::parse_decimal((*reader)[*arrival])) {
      at = *value * columns.micros;
    }
    if (!at) return wrong(columns.arrival, *arrival, columns.micros == 0 ? "date" : "time");
    const auto in = text::parse_decimal((*reader)[*prompt]);
    if (!in) return wrong(columns.prompt, *prompt, "count of tokens");
    const auto out = text::parse_decimal((*reader)[*output]);
    if (!out) return wrong(columns.output, *output, "count of tokens");
    if (columns.skip_unanswered && *out == 0) continue;
    if (auto added = intake.add(reader->where(), *at, *in, *out); !added) {
      return tl::unexpected(added.error());
    }
    if (blocks != kNone && !add_blocks((*reader)[blocks], intake)) {
      return wrong(columns.blocks, blocks, "list of blocks, as \"0 14-27\"");
    }
    if (model != kNone) intake.ask_for((*reader)[model]);
    if (tenant != kNone) intake.come_from((*reader)[tenant]);
    if (adapter != kNone) intake.adapt_by((*reader)[adapter]);
  }
  return intake.done(path, blocks == kNone ? 0 : columns.tokens_per_block, columns.micros == 0);
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
  return std::all_of(columns.begin(), columns.end(), [&](std::string_view name) {
    for (std::size_t at = 0; (at = header.find(name, at)) != std::string_view::npos; ++at) {
      const bool begins = at == 0 || header[at - 1] == ',' || header[at - 1] == '"';
      const std::size_t end = at + name.size();
      const bool ends = end == header.size() || header[end] == ',' || header[end] == '"';
      if (begins && ends) return true;
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
    return fail(Code::unsupported, "is a folder without clients of ServeGen", {.file = path},
                "they are NAME_windows.csv.gz and NAME_lengths.json.gz");
  }
  return fail(Code::usage, "is a folder with several services", {.file = path},
              fmt::format("name one of its files: {}", fmt::join(found, ", ")));
}

Result<Requests> cut(Requests requests, const std::string& path, const LogPart& part) {
  if (part.from <= 0 && part.until == kNever) return requests;
  std::erase_if(requests.all, [&](const Request& each) {
    return each.arrival < part.from || each.arrival >= part.until;
  });
  if (requests.all.empty()) {
    return fail(Code::invalid, "has no requests in the part that is asked", {.file = path});
  }
  for (Request& each : requests.all) each.arrival -= part.from;
  return requests;
}

}  // namespace

Result<Requests> read_requests_by_model(const std::string& named, const LogPart& part) {
  const auto file = file_of(named);
  if (!file) return tl::unexpected(file.error());
  const std::string& path = *file;
  constexpr std::size_t kHead = 65'536;
  const auto head = table::read_head(path, kHead);
  if (!head) return tl::unexpected(head.error());
  std::string_view first(*head);
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  first = first.substr(0, first.find_first_of("\r\n"));
  for (const auto& each : registry().formats.entries()) {
    if (!each.make.knows(first)) continue;
    auto read = each.make.read_part ? each.make.read_part(path, part) : each.make.read(path);
    return read ? cut(*std::move(read), path, part) : read;
  }
  return fail(Code::unsupported, "is no log of requests that we know", {.file = path},
              fmt::format("formats: {}", fmt::join(registry().formats.names(), ", ")));
}

Result<Requests> read_requests(const std::string& path, const LogPart& part) {
  auto requests = read_requests_by_model(path, part);
  if (!requests) return requests;
  requests->models.clear();
  for (Request& each : requests->all) each.model = 0;
  return requests;
}

}  // namespace almanac::inference
