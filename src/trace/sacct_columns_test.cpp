// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_columns.h"

#include <gtest/gtest.h>

#include "trace/sacct_states.h"
#include "trace/tres.h"

namespace almanac::trace {
namespace {

std::string value(const char* column, std::string_view cell) {
  std::string scratch;
  return std::string(value_in(sacct_column(column), cell, scratch));
}

TEST(SacctColumns, KnowsHowIdsLook) {
  for (const char* const id : {"12", "12_3", "12_[1-9%2]", "12_[3-4,9201-10000%500]", "12_[1-3,...",
                               "12+1", "12.batch", "12.extern", "12.0", "12_3.4", "12+0.1+2"}) {
    EXPECT_TRUE(fits(SacctKind::id, id)) << id;
  }
  for (const char* const id : {"", "train", "12 ", "12|3", "12_", "12.", "2026-01-05", "12:3"}) {
    EXPECT_FALSE(fits(SacctKind::id, id)) << id;
  }
}

TEST(SacctColumns, TellsColumnsApartByTheirValues) {
  EXPECT_TRUE(fits(SacctKind::time, "2026-01-05T08:00:00"));
  EXPECT_TRUE(fits(SacctKind::time, "2026-01-05T08:00:00+01:00"));
  EXPECT_TRUE(fits(SacctKind::time, "1767600000"));
  EXPECT_FALSE(fits(SacctKind::time, "3-00:00:22"));
  EXPECT_TRUE(fits(SacctKind::length, "3-00:00:22"));
  EXPECT_TRUE(fits(SacctKind::length, "00:00.034"));
  EXPECT_FALSE(fits(SacctKind::count, "3-00:00:22"));
  EXPECT_TRUE(fits(SacctKind::amount, "4000Mn"));
  EXPECT_TRUE(fits(SacctKind::amount, "1947276K"));
  EXPECT_FALSE(fits(SacctKind::tres, "a100"));
  EXPECT_TRUE(fits(SacctKind::tres, "gpu:a100:2(S:0-1)"));
  EXPECT_TRUE(fits(SacctKind::state, "CANCELLED by 1000"));
  EXPECT_FALSE(fits(SacctKind::state, "train"));
  EXPECT_TRUE(fits(SacctKind::feature, "[a100|h100]&ib"));
  EXPECT_FALSE(fits(SacctKind::feature, "|ann"));
  EXPECT_FALSE(fits(SacctKind::word, "a job"));
}

TEST(SacctColumns, ReadsEveryCodeForNoValueAsNone) {
  for (const char* const word :
       {"Unknown", "None", "N/A", "(null)", "UNLIMITED", "Partition_Limit", "INFINITE", "INVALID",
        "4294967294", "4294967295", "4294967293", "18446744073709551614", "18446744073709551615",
        "16E", "16384P", "-1", "-2"}) {
    for (const char* const column : {"ElapsedRaw", "TimelimitRaw", "AllocCPUS", "NTasks"}) {
      EXPECT_EQ(value(column, word), "") << column;
    }
  }
  EXPECT_EQ(value("NNodes", "65534"), "") << "more nodes than Slurm takes";
  EXPECT_EQ(value("ElapsedRaw", "65534"), "65534") << "a time like others";
  EXPECT_EQ(value("ConsumedEnergyRaw", "4294967294"), "4294967294") << "joules like others";
  EXPECT_EQ(value("MaxRSS", "18446744073709551614"), "");
  EXPECT_EQ(value("Elapsed", "49710-06:28:14"), "") << "2^32 - 2 seconds";
  EXPECT_EQ(value("Timelimit", "2982616-04:14:00"), "") << "2^32 - 2 minutes";
  EXPECT_EQ(value("NodeList", "None assigned"), "");
  EXPECT_EQ(value("Start", "2106-02-07T07:28:14"), "Unknown");
  EXPECT_EQ(value("Start", "1970-01-01T01:00:00"), "Unknown");
  EXPECT_EQ(value("End", "4294967294"), "Unknown");
  EXPECT_EQ(value("JobName", "None"), "None") << "a name like others";
  EXPECT_FALSE(is_no_value(254, 16));
  EXPECT_TRUE(is_no_value(254, 8));
  EXPECT_TRUE(is_no_value(18446744073709551614.0, 64));
  EXPECT_FALSE(is_no_value(1e20, 64)) << "more than 64 bits can count to";
}

TEST(SacctColumns, WritesCountsWithoutPrefixes) {
  EXPECT_EQ(value("NNodes", "2K"), "2048");
  EXPECT_EQ(value("AllocCPUS", "1.50K"), "1536");
}

TEST(SacctColumns, KnowsNamesInAnyCase) {
  EXPECT_EQ(sacct_column("TresUsageInAve").name, "TRESUsageInAve");
  EXPECT_EQ(sacct_column("NewInSlurm30").kind, SacctKind::text);
}

TEST(SacctStates, GivesOneWord) {
  EXPECT_EQ(sacct_state("CANCELLED by 1000"), "CANCELLED");
  EXPECT_EQ(sacct_state("OUT_OF_ME+"), "OUT_OF_MEMORY");
  EXPECT_EQ(sacct_state("CANCELLED+"), "CANCELLED");
  EXPECT_EQ(sacct_state("COMPLETED,COMPLETING"), "COMPLETED");
  EXPECT_EQ(sacct_state("COMPLETING+COMPLETED"), "COMPLETED");
  EXPECT_EQ(sacct_state("COMPLETED,REQUEUED"), "REQUEUED");
  EXPECT_EQ(sacct_state("STAGE_OUT"), std::nullopt);
  EXPECT_EQ(sacct_state("COM+"), std::nullopt) << "of two words";
}

TEST(SacctTres, ReadsEverySpelling) {
  EXPECT_EQ(parse_tres("gres/gpu=2,gres/gpu:a100=2")->gpus, 2);
  EXPECT_EQ(parse_tres("gpu:a100:4(S:0-1)")->gpus, 4);
  EXPECT_EQ(parse_tres("gpu:a100:4(S:0-1)")->gpu_type, "a100");
  EXPECT_EQ(parse_tres("gpu:2(IDX:0,1)")->gpus, 2);
  EXPECT_EQ(parse_tres("gres:gpu:4")->gpus, 4);
  EXPECT_EQ(parse_tres("7696487:2")->gpus, 2) << "gpu, by its letters";
  EXPECT_EQ(parse_tres("cpu=8,gres/gpu=18446744073709551614,gres/gpu:a100=2")->gpus, 2);
  EXPECT_TRUE(std::isnan(parse_tres("cpu=18446744073709551614,mem=16E")->cpus));
  EXPECT_TRUE(std::isnan(parse_tres("cpu=18446744073709551614,mem=16E")->memory_gb));
  EXPECT_EQ(parse_tres("cpu=2K,node=1")->cpus, 2048);
}

TEST(SacctTres, RefusesCountsThatNoJobCanHave) {
  EXPECT_EQ(parse_tres("cpu=6,gres/gpu=1000000")->gpus, 1'000'000);
  EXPECT_FALSE(parse_tres("cpu=6,gres/gpu=99999999999"));
  EXPECT_FALSE(parse_tres("cpu=6,gres/gpu:a100=99999999999"));
  EXPECT_FALSE(parse_tres("cpu=6,node=99999999999"));
  EXPECT_FALSE(parse_tres("cpu=99999999999"));
}

}  // namespace
}  // namespace almanac::trace
