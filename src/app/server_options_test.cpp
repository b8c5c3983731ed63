#include "app/server_options.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace footnote::app {
namespace {

TEST(ServerOptionsTest, ConnectionsFitTheLimitOfDescriptors) {
  EXPECT_EQ(connections_within(1'048'576, 1'024, 16'384), 16'384U);
  EXPECT_EQ(connections_within(16'384 + 1'024, 1'024, 16'384), 16'384U);
  EXPECT_EQ(connections_within(16'384 + 1'023, 1'024, 16'384), 16'383U);
  EXPECT_EQ(connections_within(1'024, 1'024, 16'384), 512U) << "a limit below our own share is shared by halves";
  EXPECT_EQ(connections_within(1, 1'024, 16'384), 1U);
}

TEST(ServerOptionsTest, WorkersFollowTheCoresUnlessTheyWaitForOthers) {
  EXPECT_EQ(workers_for(true, 2), 256U);
  EXPECT_EQ(workers_for(false, 0), 16U);
  EXPECT_EQ(workers_for(false, 2), 16U);
  EXPECT_EQ(workers_for(false, 8), 64U);
  EXPECT_EQ(workers_for(false, 128), 256U);
}

TEST(ServerOptionsTest, TheLimitOfDescriptorsIsRaisedToWhatTheSystemGrants) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{std::min<rlim_t>(before.rlim_max, 256), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  raise_descriptor_limit();
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(ServerOptionsTest, SettingsReachTheServer) {
  SettingSources sources;
  sources.working_folder = "/";
  sources.environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "FOOTNOTE_HEAD_TIMEOUT") return "1s";
    if (name == "FOOTNOTE_BODY_TIMEOUT") return "2s";
    if (name == "FOOTNOTE_WRITE_TIMEOUT") return "3s";
    if (name == "FOOTNOTE_IDLE_TIMEOUT") return "4s";
    if (name == "FOOTNOTE_QUEUE_WAIT") return "500ms";
    if (name == "FOOTNOTE_CONNECTIONS") return "77";
    if (name == "FOOTNOTE_WORKERS") return "33";
    if (name == "FOOTNOTE_STREAMS") return "44";
    if (name == "FOOTNOTE_CONNECTIONS_PER_PEER") return "7";
    if (name == "FOOTNOTE_IO_URING") return "false";
    if (name == "FOOTNOTE_MEMORY_MAX_MIB") return "800";
    return std::nullopt;
  };
  const auto settings = Settings::load(sources);
  ASSERT_TRUE(settings) << settings.error().message;
  const http::ServerOptions options = make_server_options(*settings).value();
  using namespace std::chrono_literals;
  EXPECT_EQ(options.header_deadline, 1s);
  EXPECT_EQ(options.body_deadline, 2s);
  EXPECT_EQ(options.write_deadline, 3s);
  EXPECT_EQ(options.idle_deadline, 4s);
  EXPECT_EQ(options.queue_wait_max, 500ms);
  EXPECT_EQ(options.connections_max, 77U);
  EXPECT_EQ(options.workers, 33U);
  EXPECT_EQ(options.waiting_max, 44U);
  EXPECT_EQ(options.connections_per_peer_max, 7U);
  EXPECT_FALSE(options.io_uring);
  EXPECT_EQ(options.body_bytes_total_max, 200U << 20);
}

}  // namespace
}  // namespace footnote::app
