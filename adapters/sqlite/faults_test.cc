#include "adapters/sqlite/faults.h"

#include <gtest/gtest.h>

namespace onceward::sqlite {
namespace {

// As the first that is written at a start, the file beside the WAL meets a full disk by a code of its own.
TEST(SqliteFaults, FullDiskIsCalledSoWhicheverFileMeetsIt) {
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_SHMSIZE}) {
    const Fault fault = fault_of(code, "app.db");
    EXPECT_EQ(fault.fault(), FaultCode::store_full) << code;
    EXPECT_NE(std::string(fault.what()).find("the disk is full"), std::string::npos) << fault.what();
  }
  EXPECT_EQ(fault_of(SQLITE_IOERR_READ, "app.db").fault(), FaultCode::store_unavailable);
}

}  // namespace
}  // namespace onceward::sqlite
