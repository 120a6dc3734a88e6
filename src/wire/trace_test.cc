#include "src/wire/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/wire/wire.h"

namespace onceward {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::string_view parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view state = "congo=t61rcWkgMzE";
const std::vector<Header> trace{{"traceparent", parent}, {"tracestate", state}};
const std::vector<Header> event{{"ce_specversion", "1.0"}, {"ce_id", "e"}, {"ce_source", "s"}, {"ce_type", "t"}};

std::vector<Header> together(std::vector<Header> first, const std::vector<Header>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Envelope read(const std::vector<Header>& headers, WireFormat format, std::string_view body = "x",
              const EnvelopeLimits& limits = {}) {
  const auto read = read_wire({headers, "", Bytes::copy_of(body)}, "ce_", format, limits);
  EXPECT_TRUE(read && std::holds_alternative<Envelope>(*read));
  return std::get<Envelope>(*read);
}

TEST(Trace, BesideAMessageIsItsOwnInEveryFormat) {
  const Envelope binary = read(together(event, trace), WireFormat::binary);
  const Envelope structured =
      read(trace, WireFormat::structured, R"({"specversion":"1.0","id":"e","source":"s","type":"t"})");
  const Envelope ours = read(trace, WireFormat::envelope, R"({"messageId":"m","producer":"p"})");
  for (const Envelope& envelope : {binary, structured, ours}) {
    EXPECT_EQ(envelope.fields().trace_parent, parent);
    EXPECT_THAT(envelope.headers(), ElementsAre(Header{"tracestate", state}));
  }
}

TEST(Trace, OfTheMessageGoesBeforeWhatStandsBesideIt) {
  const std::vector<Header> own = together(event, {{"ce_traceparent", "00-own"}});
  for (const auto& headers : {together(own, trace), together(trace, own)}) {
    const Envelope binary = read(headers, WireFormat::binary);
    EXPECT_EQ(binary.fields().trace_parent, "00-own");
    EXPECT_THAT(binary.headers(), IsEmpty()) << "the state is of another trace";
  }
  const Envelope structured = read(trace, WireFormat::structured,
                                   R"({"specversion":"1.0","id":"e","source":"s","type":"t","traceparent":"00-own"})");
  EXPECT_EQ(structured.fields().trace_parent, "00-own");
  EXPECT_THAT(structured.headers(), IsEmpty());
}

TEST(Trace, StateOfTheMessageGoesBeforeTheOneBesideItAlsoWithoutAParent) {
  const Envelope envelope =
      read(together(event, {{"ce_tracestate", "own=1"}, {"tracestate", state}}), WireFormat::binary);
  EXPECT_THAT(envelope.headers(), ElementsAre(Header{"tracestate", "own=1"}));
}

TEST(Trace, ThatCannotBeOneIsAHeader) {
  const std::string long_one(600, 'x');
  for (const std::string_view value :
       {std::string_view("\xff"), std::string_view("a\0b", 3), std::string_view(long_one)}) {
    const Envelope envelope = read(together(event, {{"traceparent", value}}), WireFormat::binary);
    EXPECT_EQ(envelope.fields().trace_parent, "");
    EXPECT_THAT(envelope.headers(), ElementsAre(Header{"traceparent", value}));
  }
}

TEST(Trace, IsTheFirstOfSeveral) {
  const Envelope envelope =
      read(together(event, {{"traceparent", parent}, {"traceparent", "00-second"}}), WireFormat::binary);
  EXPECT_EQ(envelope.fields().trace_parent, parent);
  EXPECT_THAT(envelope.headers(), IsEmpty());
}

TEST(Trace, StateIsLeftOutWhereHeadersHaveNoMoreRoom) {
  const EnvelopeLimits limits{.header_count = 1};
  const Envelope envelope =
      read(trace, WireFormat::envelope, R"({"messageId":"m","producer":"p","headers":{"a":"b"}})", limits);
  EXPECT_EQ(envelope.fields().trace_parent, parent);
  EXPECT_THAT(envelope.headers(), ElementsAre(Header{"a", "b"}));
}

TEST(Trace, IsSentBesideAMessageInEveryFormatAndOnce) {
  EnvelopeFields fields;
  fields.message_id = MessageId("m");
  fields.producer = Producer("p");
  fields.event_type = EventType("t");
  fields.trace_parent = parent;
  const Header headers[] = {{"traceparent", "\xff"}, {"tracestate", state}};
  fields.headers = headers;
  const Envelope envelope = Envelope::copy_of(fields);
  for (const WireFormat format :
       {WireFormat::native, WireFormat::envelope, WireFormat::structured, WireFormat::binary, WireFormat::automatic}) {
    std::vector<BinaryAttribute> beside;
    for (const BinaryAttribute& header : write_wire(envelope, "ce_", format).headers) {
      if (!header.name.starts_with("ce_")) beside.push_back(header);
    }
    EXPECT_THAT(beside, UnorderedElementsAre(BinaryAttribute{"traceparent", std::string(parent)},
                                             BinaryAttribute{"tracestate", std::string(state)}));
  }
}

TEST(Trace, NoneIsSentOfAMessageWithoutOne) {
  std::vector<BinaryAttribute> headers;
  add_trace(headers, Envelope());
  EXPECT_THAT(headers, IsEmpty());
}

}  // namespace
}  // namespace onceward
