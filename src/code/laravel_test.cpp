#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "code/graph.h"
#include "code/joins.h"
#include "code/laravel_schema.h"
#include "support/source_folder.h"

namespace footnote::code {
namespace {

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The application in tests/fixtures/laravel, read file by file.
struct Application {
  Graph graph;
  std::vector<Migration> migrations;
  std::map<std::string, CodeFile> files;

  Application() {
    const std::filesystem::path root = test::source_folder() / "tests/fixtures/laravel";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
      auto file = read_code(path, read_bytes(entry.path()));
      EXPECT_TRUE(file.has_value()) << path;
      EXPECT_TRUE(file->warnings.empty()) << path;
      if (!file->schema.empty()) migrations.push_back({path, file->schema});
      graph.set_file(path, nodes_of(path, *file));
      files.emplace(path, *std::move(file));
    }
    set_tables();
  }

  void set_tables() {
    std::vector<std::string> paths;
    std::vector<Unit> units = table_units(migrations, paths);
    std::vector<GraphNode> nodes = nodes_of("", CodeFile{.units = units});
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].path = paths[i];
    graph.set_file(std::string(kTablesPath), std::move(nodes));
  }

  const GraphNode& only(std::string_view name, SourceType type) const {
    const GraphNode* out = nullptr;
    for (const GraphNode* node : graph.find(name)) {
      if (node->type == type) out = node;
    }
    EXPECT_NE(out, nullptr) << name;
    return *out;
  }
};

std::string symbols(const std::vector<const GraphNode*>& nodes) {
  std::string out;
  for (const GraphNode* node : nodes) out += std::string(to_string(node->type)) + " " + node->symbol + "\n";
  return out;
}

TEST(LaravelGraph, EqualsTheListMadeByHand) {
  const Application application;
  std::string expected = read_bytes(test::source_folder() / "tests/fixtures/laravel.edges");
  std::vector<std::string> lines;
  for (const std::string_view line : split(expected, '\n')) {
    if (!line.empty() && !line.starts_with('#')) lines.emplace_back(line);
  }
  std::ranges::sort(lines);
  EXPECT_EQ(to_lines(application.graph.all_edges()), join(lines, "\n") + "\n");
}

TEST(LaravelGraph, EdgesAreTheSameFromBothEnds) {
  const Application application;
  std::vector<GraphEdge> incoming;
  for (const GraphNode* node : application.graph.nodes()) {
    for (const GraphEdge& edge : application.graph.edges_to(*node)) incoming.push_back(edge);
  }
  EXPECT_EQ(to_lines(incoming), to_lines(application.graph.all_edges()));
}

TEST(LaravelGraph, WhichControllerModelAndTableDoesARouteTouch) {
  const Application application;
  const auto join =
      join_question(application.graph, "What controller serves route invoices.store and which model and table does it touch?");
  ASSERT_TRUE(join.has_value());
  EXPECT_EQ(join->strategy, "route_walk");
  EXPECT_EQ(symbols(join->nodes),
            "route invoices.store\n"
            "controller_method App\\Http\\Controllers\\InvoiceController::store\n"
            "request App\\Http\\Requests\\StoreInvoiceRequest\n"
            "service App\\Services\\InvoiceService\n"
            "model App\\Models\\Invoice\n"
            "model App\\Models\\InvoiceLine\n"
            "table invoices\n"
            "table invoice_lines\n");
}

TEST(LaravelGraph, WhichMigrationsCreatedOrAlteredATable) {
  const Application application;
  const auto join = join_question(application.graph, "Which migrations created or altered table invoices?");
  ASSERT_TRUE(join.has_value());
  EXPECT_EQ(symbols(join->nodes),
            "migration 2024_01_02_000000_create_invoices_table invoices\n"
            "migration 2024_03_01_000000_alter_invoices invoices\n"
            "table invoices\n");
  const auto renamed = join_question(application.graph, "which migrations touch invoice_lines");
  ASSERT_TRUE(renamed.has_value());
  EXPECT_EQ(symbols(renamed->nodes),
            "migration 2024_01_02_000000_create_invoices_table invoice_items\n"
            "migration 2024_03_01_000000_alter_invoices invoice_items\n"
            "table invoice_lines\n");
  EXPECT_FALSE(join_question(application.graph, "which migrations touch old_invoices").has_value());
}

TEST(LaravelGraph, WhatDidPreviousRunsChange) {
  Application application;
  const std::string path = "app/Http/Controllers/InvoiceController.php";
  application.graph.set_file(
      "@runs/1", {{.path = path, .type = SourceType::kFileChange, .symbol = "run 1 " + path, .facts = {{"path", {path}}}},
                  {.path = "README.md", .type = SourceType::kFileChange, .symbol = "run 1 README.md", .facts = {{"path", {"README.md"}}}}});
  const auto join = join_question(application.graph, "What did previous runs change about InvoiceController?");
  ASSERT_TRUE(join.has_value());
  EXPECT_EQ(symbols(join->nodes), "file_change run 1 " + path + "\n");
  EXPECT_EQ(join->subject, "App\\Http\\Controllers\\InvoiceController");
}

TEST(LaravelGraph, OtherQuestionsAreNoJoins) {
  const Application application;
  EXPECT_FALSE(join_question(application.graph, "How is an invoice stored?").has_value());
  EXPECT_FALSE(join_question(application.graph, "which controller serves route no.such.route").has_value());
}

TEST(LaravelGraph, TablesAreTheSchemaAfterAllMigrations) {
  const Application application;
  const auto tables = apply_migrations(application.migrations);
  EXPECT_EQ(tables.count("old_invoices"), 0u);
  EXPECT_EQ(tables.count("invoice_items"), 0u);
  EXPECT_EQ(table_unit(tables.at("invoices")).own_text,
            "id id\n"
            "customer_id foreignId\n"
            "number string(40)\n"
            "amount decimal(10, 2) default 0\n"
            "created_at timestamp nullable\n"
            "updated_at timestamp nullable\n"
            "paid_at timestamp nullable\n"
            "unique(number)\n"
            "index(paid_at)\n"
            "foreign key customer_id -> clients.id on delete cascade");
  EXPECT_EQ(table_unit(tables.at("notes")).own_text,
            "id id\nnotable_type string\nnotable_id unsignedBigInteger\nbody text\nindex(notable_type, notable_id)");
  EXPECT_EQ(table_unit(tables.at("invoice_tag")).own_text,
            "invoice_id foreignId\ntag_id foreignId\nprimary(invoice_id, tag_id)\nforeign key invoice_id -> invoices.id\nforeign key "
            "tag_id -> tags.id");
}

TEST(LaravelGraph, SectionsThatNameWhatIsGoneAreStale) {
  const Application application;
  EXPECT_EQ(application.graph.stale_mentions(application.only("Invoices", SourceType::kDoc)),
            (std::vector<std::string>{"App\\Services\\ArchiveService", "InvoiceController::archive", "app/Services/ArchiveService.php"}));
  EXPECT_TRUE(application.graph.stale_mentions(application.only("Billing", SourceType::kReadme)).empty());
}

TEST(LaravelGraph, AFileIsReplacedAlone) {
  Application application;
  const std::string path = "app/Services/InvoiceService.php";
  const std::string before = to_lines(application.graph.all_edges());
  application.graph.remove_file(path);
  EXPECT_TRUE(application.graph.find("InvoiceService").empty());
  EXPECT_EQ(to_lines(application.graph.all_edges()).find("InvoiceService"), std::string::npos);
  application.graph.set_file(path, nodes_of(path, application.files.at(path)));
  application.set_tables();
  EXPECT_EQ(to_lines(application.graph.all_edges()), before);
}

TEST(LaravelGraph, AWalkFollowsBothDirections) {
  const Application application;
  const auto edges = application.graph.around({&application.only("clients", SourceType::kTable)}, 1);
  EXPECT_EQ(to_lines(edges),
            "migration 2024_01_01_000000_create_clients_table clients -creates-> table clients\n"
            "model App\\Models\\Customer -stored_in-> table clients\n"
            "table invoices -references-> table clients\n");
}

TEST(LaravelGraph, NearestNamesAreOffered) {
  const Application application;
  const auto names = application.graph.nearest("InvoiceServise", 3);
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), "App\\Services\\InvoiceService");
}

TEST(LaravelGraph, IdentifiersOfAQuestion) {
  EXPECT_EQ(identifiers_in("Does `store` of InvoiceController call invoices.store, or app/x.php?"),
            (std::vector<std::string>{"store", "InvoiceController", "invoices.store", "app/x.php"}));
  EXPECT_TRUE(identifiers_in("How does this work?").empty());
}

}  // namespace
}  // namespace footnote::code
