// SPDX-License-Identifier: Apache-2.0
#include "text/gres.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace almanac::text {
namespace {

constexpr int kMost = 1'000'000;

/// A count as Slurm shortens it: "8", "4K".
std::optional<int> parse_count(std::string_view text) {
  int factor = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) {
    factor = 1024;
    text.remove_suffix(1);
  }
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kMost / factor) return std::nullopt;
  return value * factor;
}

/// "0-1,4" as bits; "N/A" is none of them.
std::optional<std::uint64_t> parse_index(std::string_view text) {
  std::uint64_t bits = 0;
  if (text == "N/A") return bits;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    const auto dash = range.find('-');
    const auto from = parse_count(range.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : parse_count(range.substr(dash + 1));
    if (!from || !to || *to < *from) return std::nullopt;
    for (int each = *from; each <= std::min(*to, 63); ++each) bits |= std::uint64_t{1} << each;
  }
  return bits;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto cut = text.find(at);
    parts.push_back(text.substr(0, cut));
    if (cut == std::string_view::npos) return parts;
    text.remove_prefix(cut + 1);
  }
}

/// A type may be there for each socket.
void add_type(std::string_view type, int count, Gres& made) {
  const auto known = std::find_if(made.types.begin(), made.types.end(),
                                  [&](const TypedGpus& each) { return each.type == type; });
  if (known != made.types.end()) {
    known->count = std::min(kMost, known->count + count);
    return;
  }
  if (!made.gpu_type.empty()) made.gpu_type += '|';
  made.gpu_type += type;
  made.types.push_back({std::string(type), count});
}

bool add_item(std::string_view item, Gres& made) {
  if (item.starts_with("gres:") || item.starts_with("gres/")) item.remove_prefix(5);
  const std::string_view plain = item.substr(0, item.find('('));
  const std::string_view detail = item.substr(plain.size());
  std::vector<std::string_view> parts = split(plain, ':');
  // "gpu", "gpu:2", "gpu:v100", "gpu:v100:2", "gpu=2", "gpu:v100=2"
  int count = 1;
  if (const auto equals = parts.back().find('='); equals != std::string_view::npos) {
    const auto told = parse_count(parts.back().substr(equals + 1));
    if (!told) return false;
    count = *told;
    parts.back() = parts.back().substr(0, equals);
  } else if (parts.size() > 1) {
    if (const auto told = parse_count(parts.back())) {
      count = *told;
      parts.pop_back();
    }
  }
  if (parts.front().empty() || parts.size() > 2) return false;
  const bool is_gpu = parts.front() == "gpu";
  const bool is_shard = parts.front() == "shard";
  if (!is_gpu && !is_shard && parts.front() != "mps") return true;
  int& counted = is_gpu ? made.gpus : is_shard ? made.shards : made.mps;
  counted = std::min(kMost, counted + count);
  if (is_gpu && parts.size() > 1 && count > 0) add_type(parts[1], count, made);
  if (const auto at = detail.find("IDX:"); at != std::string_view::npos) {
    const std::string_view list = detail.substr(at + 4);
    const auto bits = parse_index(list.substr(0, list.find(')')));
    if (!bits) return false;
    made.index |= *bits;
  }
  return true;
}

}  // namespace

std::optional<Gres> parse_gres(std::string_view text) {
  Gres made;
  if (text.empty() || text == "(null)" || text == "N/A") return made;
  std::size_t from = 0;
  int depth = 0;  // "gpu:8(IDX:0,2),shard:4": commas within brackets part nothing
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (text[at] != ',' || depth > 0) continue;
    }
    if (!add_item(text.substr(from, at - from), made)) return std::nullopt;
    from = at + 1;
  }
  return made;
}

int times(int count, int over) {
  return static_cast<int>(std::min<std::int64_t>(kMost, std::int64_t{count} * over));
}

}  // namespace almanac::text
