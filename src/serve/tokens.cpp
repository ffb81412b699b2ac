// SPDX-License-Identifier: Apache-2.0
#include "serve/tokens.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "table/digest.h"

namespace almanac::serve {
namespace {

using Value = nlohmann::json;
using process::Descriptor;

constexpr std::array<const char*, 4> kScopes{"agent", "read", "own", "operate"};
constexpr std::size_t kMostOfOne = 100;

std::int64_t ms(Time time) { return time.time_since_epoch().count(); }

/// So many random bytes as hexadecimal digits; "" = the system has none.
std::string random_digits(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  if (::getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) return {};
  std::string text;
  for (const unsigned char byte : random) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

const char* to_string(Scope scope) { return kScopes[static_cast<std::size_t>(scope)]; }

std::optional<Scope> parse_scope(std::string_view text) {
  const auto* const found = std::find(kScopes.begin(), kScopes.end(), text);
  if (found == kScopes.end()) return std::nullopt;
  return static_cast<Scope>(found - kScopes.begin());
}

Tokens::Tokens(Tokens&& other) noexcept
    : path_(std::move(other.path_)), kept_(std::move(other.kept_)) {}

Result<Tokens> Tokens::open(std::string path) {
  Tokens made(std::move(path));
  if (auto read = made.read(); !read) return tl::unexpected(read.error());
  return made;
}

Result<void> Tokens::read() {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return {};
  struct stat about {};
  if (!file || ::fstat(file.get(), &about) != 0) {
    return fail(Code::unavailable, fmt::format("cannot read the tokens: {}", std::strerror(errno)),
                {.file = path_});
  }
  // A user who can write this file could act as any user that it names.
  if (about.st_uid != ::geteuid()) {
    return fail(Code::invalid,
                fmt::format("the tokens belong to user {}, but the service is user {}",
                            about.st_uid, ::geteuid()),
                {.file = path_}, "remove the file, and check who may write to the folder");
  }
  if ((about.st_mode & 077) != 0) {
    return fail(Code::invalid, "other users may read the tokens", {.file = path_}, "chmod 600 it");
  }
  std::ifstream in(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    for (const Value& each : Value::parse(text)) {
      const auto scope = parse_scope(each.at("scope").get<std::string>());
      if (!scope) throw Value::other_error::create(501, "an unknown scope", &each);
      kept_.push_back(
          {.token = {.id = each.at("id"),
                     .name = each.at("name"),
                     .uid = each.at("uid"),
                     .scope = *scope,
                     .made = Time(Duration{each.at("made_ms").get<std::int64_t>()}),
                     .expires = Time(Duration{each.at("expires_ms").get<std::int64_t>()})},
           .digest = each.at("sha256")});
    }
  } catch (const Value::exception& thrown) {
    return fail(Code::corrupt, fmt::format("the tokens cannot be read: {}", thrown.what()),
                {.file = path_}, "remove the file, and create new tokens");
  }
  return {};
}

Result<void> Tokens::write(const std::vector<Kept>& all) const {
  Value list = Value::array();
  for (const Kept& each : all) {
    list.push_back({{"id", each.token.id},
                    {"name", each.token.name},
                    {"uid", each.token.uid},
                    {"scope", to_string(each.token.scope)},
                    {"made_ms", ms(each.token.made)},
                    {"expires_ms", ms(each.token.expires)},
                    {"sha256", each.digest}});
  }
  const std::string text = list.dump(1) + "\n";
  const std::string made = path_ + ".new";
  ::unlink(made.c_str());
  const Descriptor file(
      ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const Descriptor folder(::open(std::filesystem::path(path_).parent_path().c_str(),
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool is_kept =
      file && folder &&
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file.get()) == 0 && ::rename(made.c_str(), path_.c_str()) == 0 &&
      ::fsync(folder.get()) == 0;
  if (is_kept) return {};
  const int number = errno;
  ::unlink(made.c_str());
  return fail(Code::unavailable, fmt::format("cannot save the tokens: {}", std::strerror(number)),
              {.file = path_});
}

Result<Tokens::Made> Tokens::make(Token asked, Time now) {
  constexpr std::size_t kIdBytes = 4;
  constexpr std::size_t kSecretBytes = 32;
  Made made{.token = std::move(asked)};
  made.token.made = now;
  made.token.id = random_digits(kIdBytes);
  const std::string digits = random_digits(kSecretBytes);
  if (digits.empty() || made.token.id.empty()) {
    return fail(Code::unavailable, "the system has no random bytes");
  }
  made.secret = "alm_" + digits;  // who searches files for secrets that got lost finds it
  const std::lock_guard lock(mutex_);
  std::vector<Kept> all = kept_;
  std::erase_if(all, [&](const Kept& each) { return each.token.expires <= now; });
  const auto of_user = std::count_if(
      all.begin(), all.end(), [&](const Kept& each) { return each.token.uid == made.token.uid; });
  if (static_cast<std::size_t>(of_user) >= kMostOfOne) {
    return fail(Code::conflict, fmt::format("a user may have at most {} tokens", kMostOfOne), {},
                "revoke some");
  }
  all.push_back({made.token, table::sha256(made.secret)});
  if (auto written = write(all); !written) return tl::unexpected(written.error());
  kept_ = std::move(all);
  return made;
}

std::vector<Token> Tokens::all(Time now) const {
  const std::lock_guard lock(mutex_);
  std::vector<Token> found;
  for (const Kept& each : kept_) {
    if (each.token.expires > now) found.push_back(each.token);
  }
  return found;
}

Result<void> Tokens::revoke(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::vector<Kept> left = kept_;
  if (std::erase_if(left, [&](const Kept& each) { return each.token.id == id; }) == 0) {
    return fail(Code::not_found, fmt::format("there is no token {}", id));
  }
  if (auto written = write(left); !written) return written;
  kept_ = std::move(left);
  return {};
}

std::optional<Token> Tokens::shown(std::string_view header, Time now) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (header.substr(0, kBearer.size()) != kBearer) return std::nullopt;
  // What is compared is the digest: how long that takes tells nothing of the secret.
  const std::string digest = table::sha256(std::string(header.substr(kBearer.size())));
  const std::lock_guard lock(mutex_);
  for (const Kept& each : kept_) {
    if (each.digest == digest && each.token.expires > now) return each.token;
  }
  return std::nullopt;
}

}  // namespace almanac::serve
