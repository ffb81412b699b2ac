// SPDX-License-Identifier: Apache-2.0
#include "serve/page_policy.h"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/check.h"

namespace almanac::serve {
namespace {

std::string sha256(std::string_view text) {
  std::array<unsigned char, 32> digest;
  ALMANAC_CHECK(
      EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1,
      "no SHA-256");
  std::array<unsigned char, 45> base64;
  EVP_EncodeBlock(base64.data(), digest.data(), digest.size());
  return fmt::format(" 'sha256-{}'", reinterpret_cast<const char*>(base64.data()));
}

/// The hashes of what stands inside each element `tag`.
std::string hashes(std::string_view html, const std::string& tag) {
  std::string found;
  const std::string open = "<" + tag;
  const std::string close = "</" + tag + ">";
  for (std::size_t at = html.find(open); at != std::string_view::npos; at = html.find(open, at)) {
    const std::size_t begin = html.find('>', at);
    const std::size_t end = begin == html.npos ? html.npos : html.find(close, begin);
    if (end == html.npos) break;
    found += sha256(html.substr(begin + 1, end - begin - 1));
    at = end;
  }
  return found.empty() ? " 'none'" : found;
}

}  // namespace

std::string page_policy(std::string_view html) {
  return fmt::format(
      "default-src 'none'; script-src{}; style-src{}; img-src data: blob:; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      hashes(html, "script"), hashes(html, "style"));
}

}  // namespace almanac::serve
