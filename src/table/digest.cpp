// SPDX-License-Identifier: Apache-2.0
#include "table/digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "base/check.h"

namespace almanac::table {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    const bool ready =
        context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
    ALMANAC_CHECK(ready, "the crypto library has no SHA-256");
  }
  void add(const char* bytes, std::size_t size) { EVP_DigestUpdate(context_.get(), bytes, size); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

Result<std::string> sha256_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    return fail(Code::not_found, fmt::format("cannot open the file: {}", std::strerror(errno)),
                {path});
  }
  Sha256 digest;
  std::vector<char> block(kPiece);
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    digest.add(block.data(), count);
  }
  if (std::ferror(file.get()) != 0) return fail(Code::not_found, "cannot be read", {path});
  return digest.hex();
}

Result<std::string> sha256_start(int descriptor, std::uint64_t bytes) {
  Sha256 digest;
  std::vector<char> block(kPiece);
  for (std::uint64_t at = 0; at < bytes;) {
    const ssize_t count =
        ::pread(descriptor, block.data(),
                static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - at)),
                static_cast<off_t>(at));
    if (count <= 0) {
      return fail(Code::not_found, fmt::format("cannot be read: {}",
                                               count < 0 ? std::strerror(errno) : "too short"));
    }
    digest.add(block.data(), static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return digest.hex();
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

}  // namespace almanac::table
