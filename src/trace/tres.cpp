// SPDX-License-Identifier: Apache-2.0
#include "trace/tres.h"

#include <algorithm>

#include "text/number.h"
#include "trace/sacct_columns.h"

namespace almanac::trace {
namespace {

constexpr double kMibPerGb = 1024;

/// "100G", "1.50T", "4000M", "4000": in MiB.
std::optional<double> parse_memory(std::string_view text) {
  double factor = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
        factor = 1.0 / 1024;
        break;
      case 'M':
        break;
      case 'G':
        factor = 1024;
        break;
      case 'T':
        factor = 1024.0 * 1024;
        break;
      case 'P':
        factor = 1024.0 * 1024 * 1024;
        break;
      case 'E':
        factor = 1024.0 * 1024 * 1024 * 1024;
        break;
      default:
        factor = 0;
    }
  }
  if (factor == 0) return text::parse_decimal(text);
  const auto value = text::parse_decimal(text.substr(0, text.size() - (text.empty() ? 0 : 1)));
  if (!value) return std::nullopt;
  return *value * factor;
}

/// "8", "8.00", "2K".
std::optional<double> parse_count(std::string_view text) {
  const bool is_thousands = text.size() > 1 && text.back() == 'K';
  if (is_thousands) text.remove_suffix(1);
  const auto count = text::parse_decimal(text);
  if (!count) return std::nullopt;
  return is_thousands ? *count * 1024 : *count;
}

/// The comma behind the first item; commas inside brackets are the item's.
std::size_t item_end(std::string_view list) {
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(') ++depth;
    if (list[i] == ')') --depth;
    if (list[i] == ',' && depth <= 0) return i;
  }
  return list.size();
}

}  // namespace

bool Tres::add(std::string_view resource, double count) {
  const bool is_counted = resource == "node" || resource.starts_with("gres/gpu") ||
                          resource.starts_with("gres/shard") || resource.starts_with("gres/mps");
  if (is_counted && !(count >= 0 && count <= kMostOfTres)) return false;
  if (resource == "cpu") {
    if (!(count >= 0 && count <= kMostCpus)) return false;
    cpus = static_cast<float>(count);
  } else if (resource == "node") {
    nodes = static_cast<std::int32_t>(count);
  } else if (resource == "mem") {
    memory_gb = static_cast<float>(count / kMibPerGb);
  } else if (gpu_count_.add(resource, "gres/gpu", count) ||
             shard_count_.add(resource, "gres/shard", count) ||
             mps_count_.add(resource, "gres/mps", count)) {
    const auto colon = resource.find(':');
    if (colon != std::string_view::npos && count > 0) add_type(resource.substr(colon + 1));
  }
  gpus = gpu_count_.total();
  shards = shard_count_.total();
  mps = mps_count_.total();
  return true;
}

bool Tres::Count::add(std::string_view resource, std::string_view name, double count) {
  if (!resource.starts_with(name)) return false;
  resource.remove_prefix(name.size());
  if (resource.empty()) {
    all = count;
  } else if (resource.front() == ':') {
    typed += count;
  } else {
    return false;
  }
  return true;
}

std::int32_t Tres::Count::total() const {
  return static_cast<std::int32_t>(all >= 0 ? all : std::min(typed, kMostOfTres));
}

/// A type may be told of GPUs and of their shards.
void Tres::add_type(std::string_view type) {
  const std::string within = "|" + gpu_type + "|";
  if (within.find("|" + std::string(type) + "|") != std::string::npos) return;
  if (!gpu_type.empty()) gpu_type += '|';
  gpu_type += type;
}

std::optional<Tres> parse_tres(std::string_view text) {
  Tres tres;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view item = rest.substr(0, item_end(rest));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    auto cut = item.find('=');
    std::string name(item.substr(0, cut));
    if (cut == std::string_view::npos) {      // the older spelling
      item = item.substr(0, item.find('('));  // "(S:0-1)": the sockets they are at
      cut = item.rfind(':');
      std::string_view gres = item.substr(0, cut);
      if (gres.starts_with("gres:")) gres.remove_prefix(5);
      if (cut == std::string_view::npos) return std::nullopt;
      // Where Slurm did not know the name of a GRES, it printed a number made of its letters.
      constexpr std::string_view kGpuByNumber = "7696487";
      if (gres == kGpuByNumber) gres = "gpu";
      name = "gres/" + std::string(gres);
    }
    const std::string_view amount = item.substr(cut + 1);
    const auto count = name == "mem" ? parse_memory(amount) : parse_count(amount);
    const auto is_of = [&](std::string_view resource) {
      return name == resource || name.starts_with(std::string(resource) + ":");
    };
    const bool matters = name == "mem" || name == "cpu" || name == "node" || is_of("gres/gpu") ||
                         is_of("gres/shard") || is_of("gres/mps");
    if (!matters) continue;  // energy and file systems have spellings of their own
    if (!count || *count < 0) return std::nullopt;
    // Memory counts MiB: with a prefix, a code of 64 bits has become smaller.
    constexpr double kMostMib = 1e12;
    if (is_no_value(*count, 32) || (name == "mem" && *count > kMostMib)) continue;
    if (!tres.add(name, *count)) return std::nullopt;
  }
  return tres;
}

}  // namespace almanac::trace
