#include "app/embedder_opener.h"

#include "models/folder.h"
#include "points/memories.h"

namespace footnote::app {

std::string configured_model(const Settings& settings) {
  if (models::embeds_elsewhere(settings)) return settings.text(Setting::kEmbedderModel);
  return std::string(models::model_folder_name(settings.text(Setting::kModelsName)));
}

upkeep::OpenEmbedder embedder_opener(const Settings& settings, Metrics& metrics) {
  return [settings, &metrics](const CallContext& call, const Corpus& corpus, std::string_view model) -> Result<std::shared_ptr<Embedder>> {
    const bool is_configured = model.empty() || model == configured_model(settings);
    const bool has_own = corpus.name == points::kMemoriesCollection && settings.is_set(Setting::kAgentEmbedderUrl);
    auto opened = !is_configured ? open_named_embedder(settings, model)
                  : has_own      ? open_agent_embedder(call, settings, metrics)
                                 : open_embedder(call, settings, metrics);
    if (!opened) return std::unexpected(std::move(opened).error());
    const auto kept = std::make_shared<Provided<Embedder>>(*std::move(opened));
    return std::shared_ptr<Embedder>(kept, kept->port.get());
  };
}

}  // namespace footnote::app
