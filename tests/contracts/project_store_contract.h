#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "ports/project_store.h"

/// What every ProjectStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, ProjectStoreContract, ::testing::Values(ProjectStoreCase{"sqlite", make}), project_store_case_name);
namespace footnote::contract {

/// A store, empty, with two workspaces.
class ProjectStoreHarness {
 public:
  virtual ~ProjectStoreHarness() = default;
  virtual ProjectStore& projects() = 0;
  virtual WorkspaceId workspace() = 0;
  virtual WorkspaceId other_workspace() = 0;
};

struct ProjectStoreCase {
  std::string name;
  std::function<std::unique_ptr<ProjectStoreHarness>()> make;
};

inline std::string project_store_case_name(const ::testing::TestParamInfo<ProjectStoreCase>& info) { return info.param.name; }

class ProjectStoreContract : public ::testing::TestWithParam<ProjectStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->workspace();
    other_ = harness_->other_workspace();
  }
  ProjectStore& store() { return harness_->projects(); }
  Project draft(std::string slug) const { return {.workspace = workspace_, .slug = std::move(slug), .root = "/srv/code"}; }
  Project add(std::string slug) { return store().add_project(call_, draft(std::move(slug))).value(); }
  static ErrorCode code_of(const auto& result) { return result ? ErrorCode::kInternal : result.error().code; }

  const CallContext call_;
  const std::unique_ptr<ProjectStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  WorkspaceId other_;
};

TEST_P(ProjectStoreContract, KeepsWhatWasAdded) {
  Project wanted = draft("shop");
  wanted.repository_url = "https://git.example/shop.git";
  wanted.status = ProjectStatus::kReady;
  const Project added = store().add_project(call_, wanted).value();
  EXPECT_TRUE(added.id);
  wanted.id = added.id;
  wanted.created_at = added.created_at;
  EXPECT_EQ(added, wanted);
  EXPECT_EQ(store().project(call_, workspace_, "shop").value(), wanted);
}

TEST_P(ProjectStoreContract, ListsInTheOrderOfSlugs) {
  add("b");
  add("a");
  const auto listed = store().projects(call_, workspace_).value();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].slug, "a");
  EXPECT_EQ(listed[1].slug, "b");
}

TEST_P(ProjectStoreContract, RefusesASlugTwiceAndABadOne) {
  add("shop");
  EXPECT_EQ(code_of(store().add_project(call_, draft("shop"))), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(store().add_project(call_, draft("No Slug"))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(store().add_project(call_, draft(""))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(store().add_project(call_, draft(std::string(kProjectSlugBytesMax + 1, 'a')))), ErrorCode::kInvalidArgument);
}

TEST_P(ProjectStoreContract, SavesEverythingButItsIdentity) {
  const Project added = add("shop");
  Project changed = added;
  changed.root = "/srv/other";
  changed.framework = "laravel";
  changed.language = "php";
  changed.status = ProjectStatus::kFailed;
  changed.problem = "no such folder";
  changed.indexed_at = added.created_at;
  changed.id = {99};
  const Project saved = store().save_project(call_, changed).value();
  changed.id = added.id;
  EXPECT_EQ(saved, changed);
  EXPECT_EQ(code_of(store().save_project(call_, draft("none"))), ErrorCode::kNotFound);
}

TEST_P(ProjectStoreContract, RemovesForGood) {
  add("shop");
  ASSERT_TRUE(store().remove_project(call_, workspace_, "shop"));
  EXPECT_EQ(code_of(store().project(call_, workspace_, "shop")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(store().remove_project(call_, workspace_, "shop")), ErrorCode::kNotFound);
}

TEST_P(ProjectStoreContract, HidesProjectsOfOtherWorkspaces) {
  add("shop");
  EXPECT_EQ(code_of(store().project(call_, other_, "shop")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(store().remove_project(call_, other_, "shop")), ErrorCode::kNotFound);
  EXPECT_TRUE(store().projects(call_, other_).value().empty());
}

TEST_P(ProjectStoreContract, AWorkspaceHasALimit) {
  for (std::size_t i = 0; i < kProjectsMax; ++i) add("p" + std::to_string(i));
  EXPECT_EQ(code_of(store().add_project(call_, draft("more"))), ErrorCode::kResourceExhausted);
}

}  // namespace footnote::contract
