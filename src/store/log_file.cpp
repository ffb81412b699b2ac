// SPDX-License-Identifier: Apache-2.0
#include "store/log_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "store/failure.h"

namespace almanac::store {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // with its last bit: checksums of big-endian words

std::uint32_t big_endian(Bytes at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
         at[3];
}

/// Both words of a checksum, which continues from frame to frame.
struct Sum {
  std::uint32_t first = 0, second = 0;

  bool operator==(const Sum&) const = default;
};

Sum stored_at(Bytes at) { return {big_endian(at), big_endian(at.subspan(4))}; }

Sum go_on(Sum sum, Bytes bytes, bool is_big_endian) {
  const auto word = [&](std::size_t at) {
    const std::uint32_t read = big_endian(bytes.subspan(at));
    return is_big_endian ? read : __builtin_bswap32(read);
  };
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    sum.first += word(at) + sum.second;
    sum.second += word(at + 4) + sum.first;
  }
  return sum;
}

bool read(std::ifstream& file, std::span<unsigned char> into) {
  file.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  return file.gcount() == static_cast<std::streamsize>(into.size());
}

}  // namespace

void check_log(const std::string& path) {
  std::ifstream file(path + "-wal", std::ios::binary);
  std::array<unsigned char, kHeaderSize> header{};
  if (!file || !read(file, header)) return;
  const std::uint32_t magic = big_endian(header);
  const bool is_big_endian = (magic & 1U) != 0;
  Sum before = go_on({}, Bytes(header).first(24), is_big_endian);
  const std::uint32_t page = big_endian(Bytes(header).subspan(8));
  const bool is_size = page >= 512 && page <= 65536 && (page & (page - 1)) == 0;
  // SQLite puts it on the disk before any frame, so that no power failure leaves half of it.
  if ((magic & ~1U) != kMagic || !is_size || before != stored_at(Bytes(header).subspan(24))) {
    throw Refused{damaged("the header of its log, almanac.db-wal, is damaged")};
  }
  std::vector<unsigned char> frame(kFrameHeaderSize + page);
  bool is_whole = true;
  int commits = 0;  // since the first frame that is damaged, that one included
  while (read(file, frame)) {
    const Bytes head = Bytes(frame).first(kFrameHeaderSize);
    const Sum said = stored_at(head.subspan(16));
    const Sum sum = go_on(go_on(before, head.first(8), is_big_endian),
                          Bytes(frame).subspan(kFrameHeaderSize), is_big_endian);
    const bool is_of_now = std::equal(head.begin() + 8, head.begin() + 16, header.begin() + 16);
    const bool goes_on = is_of_now && said == sum;
    // Where one does not follow on that before it, older frames may begin: an earlier log's, or
    // those of a commit that the disk refused.
    if (!goes_on) commits = 0;
    is_whole = is_whole && goes_on;
    if (!is_whole && big_endian(head.subspan(4)) != 0) ++commits;
    if (commits > 1) throw Refused{damaged("its log, almanac.db-wal, is damaged")};
    before = said;
  }
}

}  // namespace almanac::store
