#include "src/dispatch/circuit.h"

#include <gtest/gtest.h>

namespace onceward::dispatch {
namespace {

using namespace std::chrono_literals;
using Kind = EndpointAnswer::Kind;

constexpr Circuit::Clock::time_point at{};

TEST(Circuits, OpenAfterSoManyInARow) {
  Circuit circuit(3, 10s);
  for (const Kind kind : {Kind::not_sent, Kind::unknown, Kind::succeeded, Kind::later, Kind::failed, Kind::later}) {
    EXPECT_FALSE(circuit.note(kind, at));
  }
  EXPECT_FALSE(circuit.note(Kind::unknown, at));
  EXPECT_GT(circuit.allowed(5, at), 1u);
  EXPECT_TRUE(circuit.note(Kind::not_sent, at));
  EXPECT_EQ(circuit.allowed(0, at + 9s), 0u);
  EXPECT_FALSE(circuit.note(Kind::not_sent, at)) << "it is open already";
}

TEST(Circuits, LetOneFindOut) {
  Circuit circuit(1, 10s);
  EXPECT_TRUE(circuit.note(Kind::unknown, at));
  EXPECT_EQ(circuit.allowed(0, at + 10s), 1u);
  EXPECT_EQ(circuit.allowed(1, at + 10s), 0u);
  EXPECT_FALSE(circuit.note(Kind::not_sent, at + 11s)) << "it was never closed";
  EXPECT_EQ(circuit.allowed(0, at + 20s), 0u);
  EXPECT_EQ(circuit.allowed(0, at + 21s), 1u);
  circuit.note(Kind::failed, at + 21s);
  EXPECT_TRUE(circuit.closed()) << "the other side has answered";
}

TEST(Circuits, AreNotOpenedByLookUpsThatSayNothing) {
  Circuit circuit(1, 10s);
  EXPECT_FALSE(circuit.note(Kind::still_unknown, at));
  circuit.note(Kind::unknown, at);
  EXPECT_EQ(circuit.allowed(0, at + 10s), 1u);
  circuit.note(Kind::still_unknown, at + 10s);
  EXPECT_EQ(circuit.allowed(0, at + 11s), 0u) << "as a probe they say that nobody is there";
  circuit.note(Kind::not_done, at + 20s);
  EXPECT_TRUE(circuit.closed());
}

}  // namespace
}  // namespace onceward::dispatch
