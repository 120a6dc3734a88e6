#include "adapters/smtp/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onceward/fault.h"

namespace onceward::smtp {
namespace {

using testing::HasSubstr;
using testing::Not;

EndpointDeclaration declared(const std::string& url) {
  EndpointDeclaration declaration;
  declaration.url = url;
  declaration.from = "a@shop.example";
  return declaration;
}

std::string refusal_of(const EndpointDeclaration& declaration) {
  try {
    read_plan(declaration);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::endpoint_refused);
    EXPECT_THAT(fault.what(), Not(HasSubstr("hunter2")));
    return fault.what();
  }
  return "none";
}

TEST(SmtpPlan, TlsIsWantedUnlessSomebodySaysThatThereIsNone) {
  EXPECT_TRUE(read_plan(declared("smtp://u:hunter2@h:587")).starttls);
  EXPECT_TRUE(read_plan(declared("smtp://h?starttls=required")).starttls);
  EXPECT_FALSE(read_plan(declared("smtp://h:25?starttls=no")).starttls);
  EXPECT_FALSE(read_plan(declared("smtps://u:hunter2@h")).starttls);
  EXPECT_EQ(read_plan(declared("smtp://u:hunter2@h:587")).place, "smtp://h:587");
  EXPECT_EQ(read_plan(declared("smtps://h")).place, "smtps://h:465");
}

TEST(SmtpPlan, RefusesWhatCannotBeMeant) {
  EXPECT_THAT(refusal_of(declared("http://u:hunter2@h")), HasSubstr("smtp://user:password@host:port"));
  EXPECT_THAT(refusal_of(declared("smtp://u:hunter2@h?starttls=no")), HasSubstr("not sent without TLS"));
  EXPECT_THAT(refusal_of(declared("smtps://h?starttls=required")), HasSubstr("from the first byte"));
  EXPECT_THAT(refusal_of(declared("smtp://h?tls=hunter2")), HasSubstr("unknown"));
  EXPECT_THAT(refusal_of(declared("smtp://h?starttls=perhaps")), HasSubstr("none of"));
  EndpointDeclaration other = declared("smtp://h");
  other.from = "nobody";
  EXPECT_THAT(refusal_of(other), HasSubstr("from is the sender's address"));
  other = declared("smtp://h");
  other.look_up.emplace();
  EXPECT_THAT(refusal_of(other), HasSubstr("cannot be asked"));
  other = declared("smtp://h");
  other.headers = {{"Bcc", "hunter2"}};
  EXPECT_THAT(refusal_of(other), HasSubstr("headers are for HTTP"));
}

}  // namespace
}  // namespace onceward::smtp
