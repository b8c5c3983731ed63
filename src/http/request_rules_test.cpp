#include "http/request_rules.h"

#include <gtest/gtest.h>

#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;
using namespace std::string_literals;

/// Reports the host that the guard saw, and the body.
TestServer host_server() {
  ServerOptions options;
  options.guard = [](const Request& request) -> std::optional<Response> {
    EXPECT_EQ(request.headers.count("host"), 1U);
    if (request.path != "/host") return std::nullopt;
    return Response::text(200, "text/plain", fmt::format("<{}>", *request.headers.find("host")));
  };
  return TestServer({plain(Method::kPost, "/echo", echo)}, std::move(options));
}

/// Returns the status and checks that nothing sent after the request is answered: a second response would be a smuggled request.
int status_before_close(TestServer& server, std::string_view request) {
  TestSocket socket = server.connect();
  socket.send(request);
  const auto answer = socket.read_answer();
  if (!answer) return 0;
  EXPECT_TRUE(answer->has("connection: close\r\n")) << request;
  EXPECT_TRUE(socket.wait_closed()) << request << "\n" << socket.buffered();
  return answer->status;
}

TEST(RequestRulesTest, TheGuardSeesTheHostThatTheRequestIsFor) {
  TestServer server = host_server();
  EXPECT_EQ(server.ask("GET /host HTTP/1.1\r\nHost: a.test:7700\r\n\r\n").body, "<a.test:7700>");
  EXPECT_EQ(server.ask("GET /host HTTP/1.1\r\nHost: [::1]:7700\r\n\r\n").body, "<[::1]:7700>");
  EXPECT_EQ(server.ask("GET http://A.test/host HTTP/1.1\r\nHost: a.TEST\r\n\r\n").body, "<A.test>");
  EXPECT_EQ(server.ask("GET http://a.test/host HTTP/1.0\r\n\r\n").body, "<a.test>");
  EXPECT_EQ(server.ask("GET /host HTTP/1.0\r\nHost: a.test\r\n\r\n").body, "<a.test>");
  EXPECT_EQ(server.ask("GET /host HTTP/1.0\r\n\r\n").body, "<>") << "the guard must see that the host is empty";
}

TEST(RequestRulesTest, AHostThatIsMissingRepeatedContradictedOrMalformedIs400) {
  TestServer server = host_server();
  for (const std::string_view head :
       {"GET /host HTTP/1.1\r\n", "GET /host HTTP/1.1\r\nHost:\r\n", "GET /host HTTP/1.1\r\nHost: a\r\nHost: a\r\n",
        "GET /host HTTP/1.1\r\nHost: a\r\nhost: b\r\n", "GET /host HTTP/1.0\r\nHost: a\r\nHost: b\r\n",
        "GET http://evil/host HTTP/1.1\r\nHost: a\r\n", "GET http://a:81/host HTTP/1.1\r\nHost: a\r\n",
        "GET http://evil/host HTTP/1.0\r\nHost: a\r\n", "GET http://a/host HTTP/1.1\r\n", "GET http:///host HTTP/1.1\r\nHost: a\r\n",
        "GET http://u@a/host HTTP/1.1\r\nHost: a\r\n", "GET http://u@a/host HTTP/1.0\r\n", "GET /host HTTP/1.1\r\nHost: a b\r\n",
        "GET /host HTTP/1.1\r\nHost: a, b\r\n", "GET /host HTTP/1.1\r\nHost: a:1@evil\r\n", "GET /host HTTP/1.1\r\nHost: a:x\r\n",
        "GET /host HTTP/1.1\r\nHost: a/b\r\n", "GET /host HTTP/1.1\r\nHost: [::1\r\n"}) {
    EXPECT_EQ(server.ask(std::string(head) + "\r\n").status, 400) << head;
  }
}

TEST(RequestRulesTest, FieldsThatDecideSomethingComeOnce) {
  TestServer server = host_server();
  for (const std::string_view name : {"Origin", "Content-Type", "Authorization"}) {
    EXPECT_EQ(server.ask(post("/echo", "x", fmt::format("{}: a\r\n", name))).status, 200) << name;
    EXPECT_EQ(server.ask(post("/echo", "x", fmt::format("{}: a\r\n{}: a\r\n", name, name))).status, 400) << name;
  }
  EXPECT_EQ(server.ask(post("/echo", "x", "Accept: a\r\nAccept: b\r\n")).status, 200);
}

TEST(RequestRulesTest, LineEndsBlanksAndControlsThatReadersTakeDifferentlyAre400) {
  TestServer server = host_server();
  for (const std::string& head : {
           "GET /host HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"s,        // folded
           "GET /host HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n"s,       // folded with a tab
           "GET /host HTTP/1.1\r\nHost: a\r\nX:\r\n Origin: b\r\n\r\n"s,  // folded; an extra field to a reader that does not join lines
           "GET /host HTTP/1.1\r\n Host: a\r\n\r\n"s,                     // folded onto the request line
           "GET /host HTTP/1.1\nHost: a\r\n\r\n"s,                        // bare LF
           "GET /host HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"s,                //
           "GET /host HTTP/1.1\r\nHost: a\r\n\nGET"s,                     //
           "GET /host HTTP/1.1\nHost: a\n\n"s,                            //
           "GET /host HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"s,                // bare CR
           "GET /host HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"s,           // NUL
           "GET /host HTTP/1.1\r\nHost: a\r\nX\0: b\r\n\r\n"s,            //
           "GET /ho\0st HTTP/1.1\r\nHost: a\r\n\r\n"s,                    //
           "GET /host HTTP/1.1\r\nHost: a\r\nX: a\x0b\r\n\r\n"s,          // other controls
           "GET /host HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n"s,          //
           "GET /host HTTP/1.1\r\nHost : a\r\n\r\n"s,                     // blanks where none may be
           "GET /host HTTP/1.1\r\nHost\t: a\r\n\r\n"s,                    //
           "GET  /host HTTP/1.1\r\nHost: a\r\n\r\n"s,                     //
           "GET\t/host HTTP/1.1\r\nHost: a\r\n\r\n"s,                     //
           "GET /host HTTP/1.1 \r\nHost: a\r\n\r\n"s,                     //
           "GET /host HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n"s,               // no name
           "GET /host HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"s,          // no colon
           "GET /host HTTP/2.0\r\nHost: a\r\n\r\n"s,                      // unsupported versions
           "GET /host HTTP/1.2\r\nHost: a\r\n\r\n"s,                      //
           "GET /host\r\n\r\n"s,                                          //
           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s,                           //
           "GET * HTTP/1.1\r\nHost: a\r\n\r\n"s,                          // targets
           "GET host HTTP/1.1\r\nHost: a\r\n\r\n"s,                       //
       }) {
    EXPECT_EQ(server.ask(head).status, 400) << head;
  }
}

TEST(RequestRulesTest, AFoldedLineIsFoundWhereverTheBytesAreCut) {
  TestServer server = host_server();
  const std::string head = "GET /host HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n";
  for (std::size_t cut = 20; cut < head.size(); ++cut) {
    TestSocket socket = server.connect();
    socket.send(head.substr(0, cut));
    EXPECT_TRUE(eventually([&] { return server.gauge("footnote_http_connections_open") >= 1; }));
    std::this_thread::sleep_for(1ms);
    socket.send(head.substr(cut));
    EXPECT_EQ(socket.read_answer()->status, 400) << cut;
  }
}

TEST(RequestRulesTest, ABodyWhoseEndIsInDoubtIs400AndNothingBehindItIsRead) {
  TestServer server = host_server();
  const std::string smuggled = "GET /host HTTP/1.1\r\nHost: smuggled\r\n\r\n";
  for (const std::string_view fields : {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                                        "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                                        "Content-Length: 3\r\nContent-Length: 4\r\n",
                                        "Content-Length: 3\r\nContent-Length: 3\r\n",
                                        "Content-Length: 3, 3\r\n",
                                        "Content-Length: -1\r\n",
                                        "Content-Length: +3\r\n",
                                        "Content-Length: 0x3\r\n",
                                        "Content-Length: 3 3\r\n",
                                        "Content-Length:\r\n",
                                        "Content-Length : 3\r\n",
                                        "Transfer-Encoding : chunked\r\n",
                                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                                        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                                        "Transfer-Encoding:\r\n chunked\r\n",
                                        "Transfer-Encoding: \x0b"
                                        "chunked\r\n",
                                        "Transfer-Encoding: xchunked\r\n",
                                        "Transfer-Encoding: \"chunked\"\r\n",
                                        "Transfer-Encoding: identity\r\n",
                                        "Transfer-Encoding: gzip\r\n",
                                        "Transfer-Encoding: chunked, gzip\r\n",
                                        "Transfer-Encoding: chunked, chunked\r\n",
                                        "Transfer-Encoding: chunked,\r\n"}) {
    const std::string request = fmt::format("POST /echo HTTP/1.1\r\nHost: a\r\n{}\r\n0\r\n\r\n{}", fields, smuggled);
    EXPECT_EQ(status_before_close(server, request), 400) << fields;
  }
  EXPECT_EQ(status_before_close(server, "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled), 400);
  EXPECT_EQ(status_before_close(server, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled),
            501);
}

TEST(RequestRulesTest, ChunksThatReadersTakeDifferentlyAre400AndNothingBehindThemIsRead) {
  TestServer server = host_server();
  for (const std::string_view chunks :
       {"2\nab\r\n0\r\n\r\n", "2\r\nab\n0\r\n\r\n", "2\r\nabx\r\n0\r\n\r\n", "0x2\r\nab\r\n0\r\n\r\n", "-2\r\nab\r\n0\r\n\r\n",
        "+2\r\nab\r\n0\r\n\r\n", "2 \r\nab\r\n0\r\n\r\n", "10000000000000002\r\nab\r\n0\r\n\r\n", "2;a\nb\r\nab\r\n0\r\n\r\n",
        "2\r\nab\r\n0\r\nContent-Length: 5\r\n\r\n", "2\r\nab\r\n0\r\nX: y\n\r\n\r\n"}) {
    const std::string request = fmt::format("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}", chunks);
    EXPECT_EQ(status_before_close(server, request + "GET /host HTTP/1.1\r\nHost: smuggled\r\n\r\n"), 400) << chunks;
  }
}

TEST(RequestRulesTest, ATrailerIsNotAHeader) {
  std::size_t hosts = 0;
  TestServer server({plain(Method::kPost, "/fields", [&](const Request& request, const CallContext&) {
    hosts = request.headers.count("host");
    return Response::text(200, "text/plain", std::string(request.headers.find("origin").value_or("none")));
  })});
  EXPECT_EQ(server.ask("POST /fields HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\nOrigin: c\r\n\r\n").body,
            "none");
  EXPECT_EQ(hosts, 1U);
}

}  // namespace
}  // namespace footnote::http
