// SPDX-License-Identifier: Apache-2.0
#include "table/stream.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "table/output_file.h"

namespace almanac::table {
namespace {

/// The bytes that `content` packs to under the name `name`.
std::string packed(const TemporaryFolder& folder, const char* name, std::string_view content) {
  EXPECT_TRUE(write_file(folder / name, content));
  std::ifstream file(folder / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

TEST(Stream, UnpacksByContentWhateverTheName) {
  const TemporaryFolder folder;
  const std::string content = lines(100'000);
  const std::string gzip = packed(folder, "a.gz", content);
  const std::string zstd = packed(folder, "a.zst", content);
  EXPECT_LT(gzip.size(), content.size());
  EXPECT_LT(zstd.size(), content.size());
  EXPECT_EQ(read_file(folder.write("plain.gz", content)).value(), content);
  EXPECT_EQ(read_file(folder.write("gzip.csv", gzip)).value(), content);
  EXPECT_EQ(read_file(folder.write("zstd.csv", zstd)).value(), content);
}

TEST(Stream, SaysHowManyBytesWereTakenFromTheDisk) {
  const TemporaryFolder folder;
  const std::string gzip = packed(folder, "a.gz", lines(100'000));
  const std::uint64_t before = bytes_taken();
  ASSERT_TRUE(read_file(folder / "a.gz"));
  EXPECT_EQ(bytes_taken() - before, gzip.size()) << "as they lie there, packed";
}

TEST(Stream, ReadsGzipMembersAndZstdFramesOneAfterTheOther) {
  const TemporaryFolder folder;
  const std::string gzip = packed(folder, "a.gz", "one\n") + packed(folder, "b.gz", "two\n");
  EXPECT_EQ(read_file(folder.write("two.gz", gzip)).value(), "one\ntwo\n");
  const std::string zstd = packed(folder, "a.zst", "one\n") + packed(folder, "b.zst", "two\n");
  EXPECT_EQ(read_file(folder.write("two.zst", zstd)).value(), "one\ntwo\n");
}

TEST(Stream, TakesZerosBehindGzip) {
  const TemporaryFolder folder;
  const std::string gzip = packed(folder, "a.gz", "one\n") + std::string(512, '\0');
  EXPECT_EQ(read_file(folder.write("padded.gz", gzip)).value(), "one\n");
}

TEST(Stream, RefusesWhatIsCutOff) {
  const TemporaryFolder folder;
  for (const char* name : {"a.gz", "a.zst"}) {
    const std::string whole = packed(folder, name, lines(10'000));
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{5}}) {
      const auto content = read_file(folder.write("cut", whole.substr(0, size)));
      ASSERT_FALSE(content) << name << " " << size;
      EXPECT_EQ(content.error().code, Code::corrupt);
      EXPECT_EQ(to_string(content.error()), folder / "cut" + ": the " +
                                                (name == std::string("a.gz") ? "gzip" : "zstd") +
                                                " file ends too early (copy or download it again)");
    }
  }
}

TEST(Stream, RefusesWhatIsDamaged) {
  const TemporaryFolder folder;
  for (const char* name : {"a.gz", "a.zst"}) {
    std::string bytes = packed(folder, name, lines(10'000));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    const auto content = read_file(folder.write("damaged", bytes));
    ASSERT_FALSE(content) << name;
    EXPECT_EQ(content.error().code, Code::corrupt);
  }
  const std::string garbage = packed(folder, "a.gz", "one\n") + "garbage";
  EXPECT_EQ(
      to_string(read_file(folder.write("tail", garbage)).error()),
      folder / "tail" + ": the gzip file has extra bytes at its end (copy or download it again)");
}

TEST(Stream, RefusesFilesThatAreAbsentEmptyOrNone) {
  const TemporaryFolder folder;
  const auto absent = open_stream(folder / "absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::not_found);
  EXPECT_EQ(to_string(absent.error()),
            folder / "absent" + ": cannot open the file: No such file or directory");
  const auto empty = open_stream(folder.write("empty", ""));
  EXPECT_EQ(to_string(empty.error()), folder / "empty" + ": the file is empty");
  EXPECT_EQ(empty.error().code, Code::corrupt);
  EXPECT_EQ(open_stream(folder / "").error().message, "must be a file, found a folder");
}

TEST(Stream, NamesTheLineOfANulByte) {
  const TemporaryFolder folder;
  const std::string text = "a,b\n1,2\n3,4" + std::string(1, '\0') + "\n";
  for (const std::string& path :
       {folder.write("plain", text), folder.write("gzip", packed(folder, "a.gz", text))}) {
    EXPECT_TRUE(read_file(path));
    EXPECT_EQ(to_string(read_text_file(path).error()),
              path +
                  ":3: the file has a NUL byte: not a text file (UTF-16 must be converted to UTF-8 "
                  "first)");
  }
}

TEST(Stream, FindsANulByteFarIntoTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("far", lines(200'000) + std::string(1, '\0'));
  EXPECT_EQ(read_text_file(path).error().where.line, 200'001);
}

TEST(Head, IsTheBeginningOnly) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_head(folder.write("a", "abcdef"), 3).value(), "abc");
  EXPECT_EQ(read_head(folder / "a", 100).value(), "abcdef");
}

}  // namespace
}  // namespace almanac::table
