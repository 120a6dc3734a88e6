// The HTTP endpoint under test: its other side is the misbehaving server, which is told how to behave to each key.
#include <map>

#include "tests/conformance/endpoint_backends.h"
#include "tests/fixtures/http_server.h"

namespace onceward::fixtures {
namespace {

class HttpEndpointUnderTest final : public EndpointUnderTest {
 public:
  std::unique_ptr<Endpoint> open(const EndpointSettings& settings) override {
    EndpointDeclaration declaration = http_declaration(server_, "/told");
    declaration.reference = "/id";
    declaration.timeout = settings.longest;
    if (settings.most_under_way > 0) declaration.concurrency = settings.most_under_way;
    LookUpDeclaration& look_up = declaration.look_up.emplace();
    look_up.url = server_.url("/told/{key}");
    look_up.done_pointer = "/state";
    look_up.done_values = {"done"};
    look_up.reference = "/id";
    declaration.list = ListDeclaration{
        .url = server_.url("/list"), .items = "/data", .key = "/key", .reference = "/made/id", .next = "/next"};
    return open_http(declaration);
  }
  void reply(const std::string& key, Reply reply) override {
    static const std::map<Reply, std::string> paths{
        {Reply::yes, "/ok"},         {Reply::no, "/status/404"},    {Reply::not_now, "/status/503?retry_after=7"},
        {Reply::silence, "/silent"}, {Reply::breaks_off, "/reset"}, {Reply::garbage, "/garbage"}};
    ask(*open_http(http_declaration(server_, "/tell")), a_call(key, paths.at(reply)));
  }
  std::vector<Seen> seen() override {
    constexpr std::string_view look_up = "/told/";
    std::vector<Seen> all;
    for (const HttpServer::Request& request : server_.requests()) {
      if (request.target == "/told") all.push_back({request.key, request.body, false});
      if (request.target.starts_with(look_up)) all.push_back({request.target.substr(look_up.size()), "", true});
    }
    return all;
  }
  void go_away(bool away) override { away ? server_.kill() : server_.start(); }

 private:
  HttpServer server_;
};

}  // namespace

EndpointBackend http_endpoint() {
  return {"http", {.remote = true, .says_when = true, .looks_up = true, .lists = true}, [] {
            return std::make_unique<HttpEndpointUnderTest>();
          }};
}

}  // namespace onceward::fixtures
