// SPDX-License-Identifier: Apache-2.0
#include "predict/kinds.h"

#include <bit>
#include <cctype>

namespace almanac::predict {
namespace {

/// Mixes `value` into `key` (the finalizer of SplitMix64).
std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  std::uint64_t z = key * 0x9e3779b97f4a7c15ULL + value + 0x632be59bd9b4e019ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  return hash | 1;
}

}  // namespace

std::string_view words_of(Kind kind) {
  switch (kind) {
    case Kind::user_name:
      return "this user's jobs of this name";
    case Kind::user_stem:
      return "this user's jobs with this name, ignoring numbers";
    case Kind::user_shape:
      return "this user's jobs with exactly the same request";
    case Kind::user_limit:
      return "this user's jobs with this time limit";
    case Kind::user_vc:
      return "this user's jobs in this virtual cluster";
    case Kind::user_gpus:
      return "this user's jobs with as many GPUs";
    case Kind::user:
      return "this user's jobs";
    case Kind::name:
      return "all users' jobs of this name";
    case Kind::stem:
      return "all users' jobs with this name, ignoring numbers";
    case Kind::shape:
      return "all users' jobs with exactly the same request";
    case Kind::vc_gpus:
      return "the virtual cluster's jobs with as many GPUs";
    case Kind::vc:
      return "the virtual cluster's jobs";
    case Kind::gpus:
      return "all users' jobs with as many GPUs";
    case Kind::all:
      return "all jobs";
  }
  return "";
}

std::string stem_of(std::string_view name) {
  std::string stem;
  for (const char letter : name) {
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0 || (letter & 0x80) != 0) {
      stem += letter;
    }
  }
  return stem;
}

Kinds::Hashes Kinds::hashes(NameId name) {
  if (index(name) >= hashes_.size()) hashes_.resize(names_.size());
  Hashes& found = hashes_[index(name)];
  if (found.text == 0) found = {text_hash(names_[name]), text_hash(stem_of(names_[name]))};
  return found;
}

KindKeys Kinds::keys(const trace::Request& request) {
  const auto gpus = static_cast<std::uint64_t>(request.gpus);
  const std::uint64_t user = hashes(request.user).text;
  const auto [name, stem] = hashes(request.name);
  const std::uint64_t vc = hashes(request.vc).text;
  const auto limit = static_cast<std::uint64_t>(request.time_limit.count());
  std::uint64_t shape = mix(gpus, static_cast<std::uint64_t>(request.nodes));
  shape = mix(shape, std::bit_cast<std::uint32_t>(request.cpus));
  shape = mix(shape, std::bit_cast<std::uint32_t>(request.memory_gb));
  shape = mix(shape, limit);

  KindKeys keys{};
  const auto set = [&](Kind kind, std::uint64_t of, std::uint64_t value) {
    const auto position = static_cast<std::size_t>(kind);
    keys[position] = mix(mix(position, of), value) | 1;
  };
  const bool named = request.name != kNoName;
  if (request.user != kNoName) {
    if (named) {
      set(Kind::user_name, user, name);
      set(Kind::user_stem, user, stem);
    }
    set(Kind::user_shape, user, shape);
    if (request.time_limit != kNoDuration) set(Kind::user_limit, user, limit);
    if (request.vc != kNoName) set(Kind::user_vc, user, vc);
    set(Kind::user_gpus, user, gpus);
    set(Kind::user, user, 0);
  }
  if (named) {
    set(Kind::name, name, 0);
    set(Kind::stem, stem, 0);
  }
  set(Kind::shape, shape, 0);
  if (request.vc != kNoName) {
    set(Kind::vc_gpus, vc, gpus);
    set(Kind::vc, vc, 0);
  }
  set(Kind::gpus, gpus, 0);
  set(Kind::all, 0, 0);
  return keys;
}

}  // namespace almanac::predict
