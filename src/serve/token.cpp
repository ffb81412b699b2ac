// SPDX-License-Identifier: Apache-2.0
#include "serve/token.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::serve {
namespace {

constexpr std::size_t kBytes = 32;

tl::unexpected<Error> failed(const std::string& path, const char* what) {
  return fail(Code::unavailable, fmt::format("cannot {} the token: {}", what, std::strerror(errno)),
              {.file = path});
}

Result<std::string> make_token(const std::string& path) {
  std::array<unsigned char, kBytes> random;
  if (::getrandom(random.data(), random.size(), 0) != ssize_t{kBytes}) return failed(path, "make");
  std::string token;
  for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
  const process::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed(path, "make");
  const std::string line = token + "\n";
  if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(file.get()) != 0) {
    const tl::unexpected<Error> error = failed(path, "write");
    ::unlink(path.c_str());
    return error;
  }
  return token;
}

}  // namespace

Result<std::string> keep_token(const std::string& path) {
  const process::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return make_token(path);
  if (!file) return failed(path, "read");
  struct stat kept {};
  if (::fstat(file.get(), &kept) != 0) return failed(path, "read");
  // A user who could put a file there would know what it says.
  if (kept.st_uid != ::geteuid()) {
    return fail(Code::invalid,
                fmt::format("the token belongs to user {}, the service is user {}", kept.st_uid,
                            ::geteuid()),
                {.file = path}, "remove it to get a new one; look who may write to the folder");
  }
  if ((kept.st_mode & 077) != 0) {
    return fail(Code::invalid, "others may read the token", {.file = path},
                "chmod 600 it, or remove it to get a new one");
  }
  std::array<char, 2 * kBytes + 2> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  std::string token(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!token.empty() && token.back() == '\n') token.pop_back();
  if (token.size() != 2 * kBytes ||
      token.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fail(Code::corrupt, fmt::format("a token is {} hexadecimal digits", 2 * kBytes),
                {.file = path}, "remove the file to get a new one");
  }
  return token;
}

bool shows_token(std::string_view header, std::string_view token) {
  constexpr std::string_view kBearer = "Bearer ";
  if (token.empty() || header.substr(0, kBearer.size()) != kBearer) return false;
  header.remove_prefix(kBearer.size());
  return header.size() == token.size() &&
         CRYPTO_memcmp(header.data(), token.data(), token.size()) == 0;
}

}  // namespace almanac::serve
