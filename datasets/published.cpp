#include "datasets/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace ut::datasets {

const std::vector<Published>& published_data() {
  static const std::vector<Published> table = {
      {"babi", "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz", "", "tasks_1-20_v1-2", "",
       "Creative Commons Attribution 3.0", "babi.tar.xz",
       "9cbe9244249ce20985632993aeae21ed43e529f4ce4617929661b1337117b05f"},
      {"agreement", "http://tallinzen.net/media/rnn_agreement/rnn_agr_simple.tar.gz", "", "linzen2016_rnn_agr_simple",
       "", "not stated (text of Wikipedia; the authors' code: MIT)", "agreement.tar.xz",
       "f1b5b3c7c60d90ffdb131bd8a0243d4e1417bd03be2d0b39a3adb64aee249c70"},
      {"lambada", "https://zenodo.org/record/2630551/files/lambada-dataset.tar.gz", "", "", "",
       "Creative Commons Attribution 4.0", "lambada.tar.xz",
       "32fba81795b4243169993c4436fbf954da2f9feb7a1c98b3787b9a6d8fdba417"},
      {"novels",
       "https://github.com/computationalstylistics/100_english_novels/archive/"
       "143e601875d70e195f2cc5ebd8b034609271194d.tar.gz",
       "corpus", "", "", "not stated (the works are in the public domain)", "novels-raw.tar.xz",
       "2e9b1629133287987e04c0dd220f754e7ae3b32699fabae18b2dd9e09e5d8820"},
      {"multi30k", "https://github.com/multi30k/dataset/archive/a3d2e0d26b56f3846f66a952536ffed4e401d05a.tar.gz",
       "data/task1", "", "", "not stated (from Flickr30k, for research)", "multi30k-ende.tar.xz",
       "3adef6816930d97a9eb730b1d7f424c029009ed73653b9fd0983e8be7778af86"},
      {"newstest",
       "https://github.com/Helsinki-NLP/OPUS-MT-testsets/archive/ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180.tar.gz",
       "datasets/statmt/wmt_newstest", "newstest", "", "not stated for these (statmt.org's test sets, for research)",
       "wmt14-ende-newstest.tar.xz", "9406aad0dbc0de0412149c1763b461d082bf78e7676e1114e2b7861ccb5ca855"},
      {"iwslt14", "https://github.com/pcyin/pytorch_nmt/archive/bf28dae8a4c71e1f3f3fcb51e989fab905886f44.tar.gz",
       "data", "", "", "not stated (TED talks: Creative Commons BY-NC-ND)", "iwslt14-deen.tar.xz",
       "0f0e1dcbca0b55d391f24cbff25cea6fceaf877b86925eb675806f9cd10aafcc"}};
  return table;
}

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const Published& data : published_data()) names.push_back(data.name);
  return names;
}

const Published& find_published(const std::string& name) {
  for (const Published& data : published_data())
    if (data.name == name) return data;
  throw base::BadInput(fmt::format("ut data fetch {}: no such data set is known; it is one of {}", name,
                                   fmt::join(published_names(), ", ")));
}

}  // namespace ut::datasets
