#include "adapters/sqlite/library.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/fixtures/messages.h"

namespace onceward::sqlite {
namespace {

TEST(SqliteLibrary, VersionsWithTheWalResetBugAreKnown) {
  EXPECT_FALSE(has_wal_reset_bug(3'006'023));
  EXPECT_TRUE(has_wal_reset_bug(3'007'000));
  EXPECT_TRUE(has_wal_reset_bug(3'040'001));  // Debian 12
  EXPECT_TRUE(has_wal_reset_bug(3'051'002));
  EXPECT_FALSE(has_wal_reset_bug(3'051'003));
  EXPECT_FALSE(has_wal_reset_bug(3'053'004));
}

TEST(SqliteLibrary, TheOneWeAreLinkedWithIsNotAffected) {
  EXPECT_FALSE(has_wal_reset_bug(sqlite3_libversion_number())) << sqlite3_libversion();
  EXPECT_EQ(version_text(sqlite3_libversion_number()), sqlite3_libversion());
}

TEST(SqliteLibrary, NetworkFileSystemsAreTold) {
  EXPECT_TRUE(is_network_file_system(0x6969));
  EXPECT_TRUE(is_network_file_system(static_cast<long>(0xFF534D42)));
  EXPECT_TRUE(is_network_file_system(static_cast<int>(0xFF534D42)));  // where the field is a signed 32-bit number
  EXPECT_FALSE(is_network_file_system(0xEF53));                       // ext4
  EXPECT_FALSE(is_network_file_system(0x01021994));                   // tmpfs
}

TEST(SqliteLibrary, PlacesThatCannotHoldADatabaseAreRefused) {
  for (const char* const path : {"", ":memory:", "/", "no/such/directory/store.db"}) {
    EXPECT_EQ(fixtures::fault_of([&] { check_place(path); }), FaultCode::store_refused) << path;
  }
  check_place("store.db");
}

}  // namespace
}  // namespace onceward::sqlite
