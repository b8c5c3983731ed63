#include "contracts/keyword_index_contract.h"
#include "contracts/vector_store_contract.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_vector_store.h"

namespace footnote {
namespace {

INSTANTIATE_TEST_SUITE_P(Fakes, VectorStoreContract,
                         ::testing::Values(VectorStoreCase{"memory", [] { return std::make_unique<fakes::MemoryVectorStore>(); }}),
                         vector_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, KeywordIndexContract,
                         ::testing::Values(KeywordIndexCase{"memory", [] { return std::make_unique<fakes::MemoryKeywordIndex>(); }}),
                         keyword_index_case_name);

}  // namespace
}  // namespace footnote
