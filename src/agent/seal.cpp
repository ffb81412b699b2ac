// SPDX-License-Identifier: Apache-2.0
#include "agent/seal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/wire.h"
#include "base/check.h"
#include "process/descriptor.h"

namespace almanac::agent {
namespace {

constexpr std::size_t kLeastSecret = 16;
constexpr std::size_t kMostSecret = 4096;
constexpr std::size_t kNonceDigits = 32;
constexpr std::size_t kSealDigits = 64;
constexpr std::size_t kLongestName = 255;
constexpr const char* kDaemon = "almanac-agents";
constexpr const char* kAgent = "almanac-agent";

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string made;
  for (std::size_t at = 0; at < size; ++at) made += fmt::format("{:02x}", bytes[at]);
  return made;
}

bool is_nonce(std::string_view text) {
  return text.size() == kNonceDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> made;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    made.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return made;
}

template <std::size_t size>
void digest_of(const unsigned char* key, std::size_t key_size, std::string_view text,
               std::array<unsigned char, size>& into) {
  unsigned length = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), key, static_cast<int>(key_size),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), into.data(), &length);
  ALMANAC_CHECK(made != nullptr && length == size, "no digest of {} bytes", size);
}

/// Whether it speaks as we do.
Result<void> check_protocol(std::string_view said) {
  if (said == std::to_string(kProtocol)) return {};
  return fail(
      Code::unsupported,
      fmt::format("the peer speaks protocol {}, this program {}", said.substr(0, 8), kProtocol), {},
      "daemon and agents must be of the same release");
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
         });
}

Secret Secret::of_node(const std::string& node, std::uint64_t number) const {
  std::array<unsigned char, kSealDigits / 2> made{};
  digest_of(reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size(),
            fmt::format("almanac agent key {} of {}", number, node), made);
  return Secret(hex(made.data(), made.size()));
}

Result<Secret> Secret::read(const std::string& path) {
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat state {};
  if (!file || ::fstat(file.get(), &state) != 0) {
    return fail(
        errno == ENOENT ? Code::not_found : Code::unavailable,
        fmt::format("cannot read the secret: {}", std::strerror(errno)), {.file = path},
        "for the service: openssl rand -hex 32; for a node: almanac slurm agents --key NODE there");
  }
  if (state.st_uid != ::geteuid() && state.st_uid != 0) {
    return fail(Code::invalid,
                fmt::format("the secret belongs to user {}, who can read it", state.st_uid),
                {.file = path}, "create a new one that only root can read");
  }
  if ((state.st_mode & 077) != 0) {
    return fail(Code::invalid, "other users may read the secret", {.file = path}, "chmod 600 it");
  }
  std::string bytes(kMostSecret, '\0');
  const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!bytes.empty() && bytes.back() == '\n') bytes.pop_back();
  if (bytes.size() < kLeastSecret) {
    return fail(Code::invalid, fmt::format("a secret must have at least {} bytes", kLeastSecret),
                {.file = path}, "openssl rand -hex 32 makes one");
  }
  return Secret(std::move(bytes));
}

std::string new_nonce() {
  std::array<unsigned char, kNonceDigits / 2> random{};
  const bool made = ::getrandom(random.data(), random.size(), 0) == ssize_t{kNonceDigits / 2};
  ALMANAC_CHECK(made, "no random numbers: {}", std::strerror(errno));
  return hex(random.data(), random.size());
}

Seal::Seal(const Secret& secret, Towards towards, const std::string& node,
           const std::string& daemon_nonce, const std::string& agent_nonce) {
  const std::string& bytes = secret.bytes();
  digest_of(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
      fmt::format("almanac agents {} to {} {} {} {}", kProtocol,
                  towards == Towards::agent ? "agent" : "daemon", node, daemon_nonce, agent_nonce),
      key_);
}

std::string Seal::mac(std::string_view text) const {
  Digest digest{};
  digest_of(key_.data(), key_.size(), fmt::format("{} {}", lines_, text), digest);
  return hex(digest.data(), digest.size());
}

std::string Seal::close(std::string_view text) {
  std::string line = fmt::format("{} {}\n", mac(text), text);
  ++lines_;
  return line;
}

std::optional<std::string_view> Seal::open(std::string_view line) {
  if (line.size() <= kSealDigits || line[kSealDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kSealDigits + 1);
  const std::string expected = mac(text);
  if (CRYPTO_memcmp(expected.data(), line.data(), kSealDigits) != 0) return std::nullopt;
  ++lines_;
  return text;
}

std::string greeting(const std::string& nonce) {
  return fmt::format("{} {} {}\n", kDaemon, kProtocol, nonce);
}

Result<std::string> read_greeting(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 2 || words[0] != kDaemon) {
    return fail(Code::invalid, "the server there is not a daemon of Almanac");
  }
  if (auto same = check_protocol(words[1]); !same) return tl::unexpected(same.error());
  if (words.size() != 3 || !is_nonce(words[2])) {
    return fail(Code::invalid, "the server there does not greet like a daemon of Almanac");
  }
  return std::string(words[2]);
}

std::string to_text(const Hello& hello) {
  return fmt::format("{} {} {} {}", kAgent, kProtocol, hello.node, hello.nonce);
}

Result<Hello> read_hello(std::string_view line) {
  if (line.size() <= kSealDigits) return fail(Code::invalid, "the peer is not an agent of Almanac");
  const auto words = words_of(line.substr(kSealDigits + 1));
  if (words.size() < 2 || words[0] != kAgent) {
    return fail(Code::invalid, "the peer is not an agent of Almanac");
  }
  if (auto same = check_protocol(words[1]); !same) return tl::unexpected(same.error());
  if (words.size() != 4 || !is_name(words[2]) || !is_nonce(words[3])) {
    return fail(Code::invalid, "the peer is not an agent of Almanac: wrong greeting");
  }
  return Hello{std::string(words[2]), std::string(words[3])};
}

}  // namespace almanac::agent
