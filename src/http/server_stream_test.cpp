#include <gtest/gtest.h>

#include <latch>

#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

TEST(ServerStreamTest, StreamsEventsAndKeepsTheConnection) {
  TestServer server({streaming("/events", [](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({{"x-extra", "1"}});
    EXPECT_TRUE(events.send("one\ntwo"));
    EXPECT_TRUE(events.send_event("name", "{}"));
    EXPECT_TRUE(events.comment("hm"));
  })});
  TestSocket socket = server.connect();
  for (int i = 0; i < 2; ++i) {
    socket.send(get("/events"));
    const auto answer = socket.read_answer();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "data: one\ndata: two\n\nevent: name\ndata: {}\n\n: hm\n\n");
    for (const std::string_view field :
         {"content-type: text/event-stream\r\n", "cache-control: no-cache, no-transform\r\n", "x-accel-buffering: no\r\n", "x-extra: 1\r\n",
          "x-request-id: ", "transfer-encoding: chunked\r\n"}) {
      EXPECT_TRUE(answer->has(field)) << field;
    }
  }
  EXPECT_TRUE(eventually([&] { return server.gauge("footnote_sse_open_streams") == 0; }));
}

TEST(ServerStreamTest, TheHeadGoesOutAtOnceAndEachEventAsItComes) {
  std::latch first(1);
  std::latch second(1);
  TestServer server({streaming("/events", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    first.wait();
    EXPECT_TRUE(events.send("1"));
    second.wait();
    EXPECT_TRUE(events.send("2"));
  })});
  TestSocket socket = server.connect();
  socket.send(get("/events"));
  EXPECT_EQ(socket.read_answer(true)->status, 200);
  EXPECT_EQ(server.gauge("footnote_sse_open_streams"), 1);
  first.count_down();
  EXPECT_EQ(socket.read_chunk(), "data: 1\n\n");
  second.count_down();
  EXPECT_EQ(socket.read_chunk(), "data: 2\n\n");
  EXPECT_EQ(socket.read_chunk(), "");
}

TEST(ServerStreamTest, AStreamHandlerMayReplyPlainly) {
  TestServer server({streaming("/plain",
                               [](const Request&, const CallContext&, ResponseStream& stream) {
                                 stream.reply(Response::text(409, "text/plain", "first"));
                                 stream.reply(Response::text(200, "text/plain", "second"));
                                 EXPECT_EQ(stream.start_sse({}).send("x").error().code, ErrorCode::kFailedPrecondition);
                               }),
                     streaming("/silent", [](const Request&, const CallContext&, ResponseStream&) {}),
                     streaming("/throws", [](const Request&, const CallContext&, ResponseStream& stream) {
                       EXPECT_TRUE(stream.start_sse({}).send("x"));
                       throw 1;
                     })});
  const Answer answer = server.ask(get("/plain"));
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body, "first");
  EXPECT_EQ(server.ask(get("/silent")).status, 500);
  TestSocket socket = server.connect();
  socket.send(get("/throws"));
  const std::string all = socket.read_to_end();
  EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos) << "a truncated stream must not look complete";
}

TEST(ServerStreamTest, SilenceIsFilledWithComments) {
  ServerOptions options;
  options.sse_keep_alive = 20ms;
  std::latch go(1);
  TestServer server({streaming("/events",
                               [&](const Request&, const CallContext&, ResponseStream& stream) {
                                 SseWriter& events = stream.start_sse({});
                                 go.wait();
                                 EXPECT_TRUE(events.send("end"));
                               })},
                    std::move(options));
  TestSocket socket = server.connect();
  socket.send(get("/events"));
  EXPECT_TRUE(socket.read_answer(true));
  EXPECT_EQ(socket.read_chunk(), ": keep-alive\n\n");
  EXPECT_EQ(socket.read_chunk(), ": keep-alive\n\n");
  go.count_down();
  std::optional<std::string> chunk;
  while ((chunk = socket.read_chunk()) == ": keep-alive\n\n") {
  }
  EXPECT_EQ(chunk, "data: end\n\n");
}

TEST(ServerStreamTest, AnEventLargerThanTheQueueComesWhole) {
  const std::string data(3 * kSseQueueBytesMax + 17, 'x');
  TestServer server({streaming("/events", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    EXPECT_TRUE(events.send(data));
    EXPECT_TRUE(events.send("after"));
  })});
  EXPECT_EQ(server.ask(get("/events")).body, "data: " + data + "\n\ndata: after\n\n");
}

TEST(ServerStreamTest, EventsOfSeveralThreadsNeverMix) {
  TestServer server({streaming("/events", [](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    std::vector<std::thread> threads;
    for (char letter = 'a'; letter < 'e'; ++letter) {
      threads.emplace_back([&events, letter] {
        for (int i = 0; i < 50; ++i) EXPECT_TRUE(events.send(std::string(3000, letter)));
      });
    }
    for (std::thread& thread : threads) thread.join();
  })});
  const std::string body = server.ask(get("/events")).body;
  ASSERT_EQ(body.size(), 200U * 3008);
  for (std::size_t at = 0; at < body.size(); at += 3008)
    ASSERT_EQ(body.substr(at, 3008), "data: " + std::string(3000, body[at + 6]) + "\n\n");
}

TEST(ServerStreamTest, AStalledReaderBlocksTheSenderAndIsThenCut) {
  ServerOptions options;
  options.write_deadline = 400ms;
  std::atomic<std::size_t> sent{0};
  std::atomic<int> code{-1};
  std::atomic<bool> stopped{false};
  TestServer server({streaming("/events",
                               [&](const Request&, const CallContext& call, ResponseStream& stream) {
                                 SseWriter& events = stream.start_sse({});
                                 const std::string data(1024, 'x');
                                 while (true) {
                                   const Result<void> result = events.send(data);
                                   if (!result) {
                                     code = static_cast<int>(result.error().code);
                                     stopped = call.stop.stop_requested();
                                     EXPECT_EQ(events.send("again").error().code, result.error().code);
                                     return;
                                   }
                                   sent += data.size();
                                 }
                               })},
                    std::move(options));
  TestSocket socket = server.connect(4096);
  socket.send(get("/events"));
  EXPECT_TRUE(eventually([&] { return code != -1; }));
  EXPECT_EQ(code, static_cast<int>(ErrorCode::kDeadlineExceeded));
  EXPECT_TRUE(stopped);
  // Our queue, the kernel's doubled send buffer, and the reader's small buffer.
  EXPECT_LT(sent, kSseQueueBytesMax + (1U << 20));
  EXPECT_GT(sent, kSseQueueBytesMax / 2);
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

TEST(ServerStreamTest, AClientThatLeavesStopsTheHandler) {
  const std::size_t files = count_open_files();
  {
    TestServer server({streaming("/events", [](const Request&, const CallContext& call, ResponseStream& stream) {
      SseWriter& events = stream.start_sse({});
      int i = 0;
      while (events.send(std::to_string(i++))) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(call.stop.stop_requested());
    })});
    const std::size_t with_server = count_open_files();
    for (int round = 0; round < 40; ++round) {
      TestSocket socket = server.connect();
      socket.send(get("/events"));
      EXPECT_TRUE(socket.read_answer(true));
      for (int i = 0; i < round % 5; ++i) EXPECT_TRUE(socket.read_chunk());
      if (round % 2 == 0)
        socket.close();
      else
        socket.close_with_reset();
      ASSERT_TRUE(eventually([&] { return server.all_quiet(); })) << "round " << round;
    }
    EXPECT_EQ(count_open_files(), with_server);
  }
  EXPECT_EQ(count_open_files(), files);
}

TEST(ServerStreamTest, AQuietStreamNoticesItsClientsClose) {
  std::atomic<bool> stopped{false};
  TestServer server({streaming("/events", [&](const Request&, const CallContext& call, ResponseStream& stream) {
    stream.start_sse({});
    stopped = eventually([&] { return call.stop.stop_requested(); });
  })});
  TestSocket socket = server.connect();
  socket.send(get("/events"));
  EXPECT_TRUE(socket.read_answer(true));
  const auto left = std::chrono::steady_clock::now();
  socket.close();
  EXPECT_TRUE(eventually([&] { return stopped.load(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - left, 5s);
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

TEST(ServerStreamTest, ADrainLetsAStreamFinish) {
  std::latch go(1);
  TestServer server({streaming("/events", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    EXPECT_TRUE(events.send("1"));
    go.wait();
    EXPECT_TRUE(events.send("2"));
  })});
  TestSocket socket = server.connect();
  socket.send(get("/events"));
  EXPECT_TRUE(socket.read_answer(true));
  EXPECT_EQ(socket.read_chunk(), "data: 1\n\n");
  std::thread draining([&] { server->drain(10s); });
  EXPECT_TRUE(eventually([&] { return !server.connect().is_open(); }));
  go.count_down();
  EXPECT_EQ(socket.read_chunk(), "data: 2\n\n");
  EXPECT_EQ(socket.read_chunk(), "");
  EXPECT_TRUE(socket.wait_closed());
  draining.join();
}

TEST(ServerStreamTest, ADrainCutsStreamsAtItsGrace) {
  std::atomic<int> code{-1};
  TestServer server({streaming("/events", [&](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    Result<void> sent;
    while ((sent = events.send("x"))) std::this_thread::sleep_for(1ms);
    code = static_cast<int>(sent.error().code);
  })});
  TestSocket socket = server.connect();
  socket.send(get("/events"));
  EXPECT_TRUE(socket.read_answer(true));
  const auto start = std::chrono::steady_clock::now();
  server->drain(100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_EQ(code, static_cast<int>(ErrorCode::kCancelled));
  EXPECT_TRUE(server.all_quiet());
}

TEST(ServerStreamTest, OldClientsAndHeadAreServed) {
  TestServer server({streaming("/events", [](const Request&, const CallContext&, ResponseStream& stream) {
    SseWriter& events = stream.start_sse({});
    while (events.send("x")) {
      if (stream.start_sse({}).send("y")) break;
    }
  })});
  TestSocket old = server.connect();
  old.send("GET /events HTTP/1.0\r\n\r\n");
  const std::string all = old.read_to_end();
  EXPECT_NE(all.find("\r\n\r\ndata: x\n\ndata: y\n\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("chunked"), std::string::npos);
  TestSocket head = server.connect();
  head.send("HEAD /events HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(head.read_answer(true)->status, 200);
  head.send(get("/nothing"));
  EXPECT_EQ(head.read_answer()->status, 404);
}

TEST(ServerStreamTest, ManyStreamsAtOnceOnSeveralIoThreads) {
  ServerOptions options;
  options.io_threads = 2;
  options.workers = 64;
  TestServer server({streaming("/events",
                               [](const Request& request, const CallContext&, ResponseStream& stream) {
                                 SseWriter& events = stream.start_sse({});
                                 for (int i = 0; i < 100; ++i)
                                   EXPECT_TRUE(events.send(fmt::format("{} {}", request.query_value("n").value(), i)));
                               })},
                    std::move(options));
  std::vector<TestSocket> sockets;
  for (int n = 0; n < 64; ++n) {
    sockets.push_back(server.connect());
    sockets.back().send(get(fmt::format("/events?n={}", n)));
  }
  for (int n = 0; n < 64; ++n) {
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += fmt::format("data: {} {}\n\n", n, i);
    EXPECT_EQ(sockets[static_cast<std::size_t>(n)].read_answer()->body, expected);
  }
  sockets.clear();
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

TEST(ServerStreamTest, BytesGoOutAsTheyAreUnderTheirOwnHead) {
  TestServer server({streaming("/bytes", [](const Request&, const CallContext&, ResponseStream& stream) {
    ByteWriter& body = stream.start_bytes(418, {{"content-type", "text/x"}, {"x-a", "1"}, {"x-a", "2"}});
    EXPECT_TRUE(body.write_bytes("data: no\r"));
    EXPECT_TRUE(body.write_bytes("event\n"));
  })});
  TestSocket socket = server.connect();
  for (int i = 0; i < 2; ++i) {
    socket.send(get("/bytes"));
    const auto answer = socket.read_answer();
    EXPECT_EQ(answer->status, 418);
    EXPECT_EQ(answer->body, "data: no\revent\n");
    EXPECT_TRUE(answer->has("content-type: text/x\r\n"));
    EXPECT_TRUE(answer->has("x-a: 1\r\nx-a: 2\r\n"));
    EXPECT_FALSE(answer->has("cache-control"));
  }
}

TEST(ServerStreamTest, NothingIsPutBetweenBytes) {
  std::latch seen(1);
  TestServer server({streaming("/bytes",
                               [&](const Request&, const CallContext&, ResponseStream& stream) {
                                 ByteWriter& body = stream.start_bytes(200, {});
                                 EXPECT_TRUE(body.write_bytes("1"));
                                 seen.wait();
                                 EXPECT_TRUE(body.write_bytes("2"));
                               })},
                    {.sse_keep_alive = 1ms});
  TestSocket socket = server.connect();
  socket.send(get("/bytes"));
  socket.read_answer(true);
  EXPECT_EQ(socket.read_chunk(), "1");
  std::this_thread::sleep_for(20ms);  // an event stream would have sent comments by now
  seen.count_down();
  EXPECT_EQ(socket.read_chunk(), "2");
  EXPECT_EQ(socket.read_chunk(), "");
}

TEST(ServerStreamTest, WhatIsCutDoesNotLookWhole) {
  TestServer server({streaming("/cut", [](const Request&, const CallContext&, ResponseStream& stream) {
    EXPECT_TRUE(stream.start_bytes(200, {}).write_bytes("half"));
    stream.cut();
  })});
  TestSocket socket = server.connect();
  socket.send(get("/cut"));
  const std::string all = socket.read_to_end();
  EXPECT_NE(all.find("half"), std::string::npos);
  EXPECT_EQ(all.find("0\r\n\r\n"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return server.all_quiet(); }));
}

}  // namespace
}  // namespace footnote::http
