#include "http/ready_set.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace footnote::http {

ReadySet::ReadySet() : set_(::epoll_create1(EPOLL_CLOEXEC)) {}

ReadySet::~ReadySet() {
  if (set_ >= 0) ::close(set_);
}

bool ReadySet::add(int socket, Reader& reader) {
  epoll_event entry{};
  entry.events = EPOLLIN;
  entry.data.ptr = &reader;
  return ::epoll_ctl(set_, EPOLL_CTL_ADD, socket, &entry) == 0;
}

void ReadySet::remove(int socket, const Reader& reader) {
  epoll_event ignored{};
  ::epoll_ctl(set_, EPOLL_CTL_DEL, socket, &ignored);
  for (epoll_event& entry : served_) {
    if (entry.data.ptr == &reader) entry.data.ptr = nullptr;
  }
}

void ReadySet::serve() {
  std::array<epoll_event, kReadyMax> ready;
  const int count = ::epoll_wait(set_, ready.data(), static_cast<int>(ready.size()), 0);
  served_ = std::span(ready).first(static_cast<std::size_t>(std::max(count, 0)));
  while (!served_.empty()) {
    auto* reader = static_cast<Reader*>(served_.front().data.ptr);
    served_ = served_.subspan(1);
    if (reader != nullptr) reader->on_readable();
  }
}

}  // namespace footnote::http
