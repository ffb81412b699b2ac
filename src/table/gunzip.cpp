// SPDX-License-Identifier: Apache-2.0
#include "table/gunzip.h"

#include <cstddef>
#include <cstdint>

#include <zlib.h>

#include "base/check.h"

namespace almanac::table {
namespace {

constexpr std::size_t kSmallestMember = 18;  // a header of 10 bytes and a trailer of 8

}  // namespace

std::size_t gunzipped_size(std::string_view member) {
  ALMANAC_CHECK(member.size() >= kSmallestMember, "{} bytes are no gzip member", member.size());
  std::uint32_t size = 0;
  for (std::size_t byte = 1; byte <= sizeof size; ++byte) {
    size = size << 8U | static_cast<unsigned char>(member[member.size() - byte]);
  }
  return size;
}

std::string gunzip(std::string_view member) {
  // One byte more than it holds: without any room inflate() cannot end an empty member.
  std::string inside(gunzipped_size(member) + 1, '\0');
  z_stream state{};
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.data()));
  state.avail_in = static_cast<uInt>(member.size());
  state.next_out = reinterpret_cast<Bytef*>(inside.data());
  state.avail_out = static_cast<uInt>(inside.size());
  ALMANAC_CHECK(inflateInit2(&state, 16 + MAX_WBITS) == Z_OK, "zlib: no memory");
  const int status = inflate(&state, Z_FINISH);
  inflateEnd(&state);
  ALMANAC_CHECK(status == Z_STREAM_END && state.avail_out == 1, "the gzip member is damaged: {}",
                status);
  inside.pop_back();
  return inside;
}

}  // namespace almanac::table
