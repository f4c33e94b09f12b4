#include "datasets/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace ut::datasets {

const std::vector<Published>& published_data() {
  static const std::vector<Published> table = {
      {"babi", "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz", "", "tasks_1-20_v1-2",
       "Creative Commons Attribution 3.0", "babi.tar.xz",
       "9cbe9244249ce20985632993aeae21ed43e529f4ce4617929661b1337117b05f"},
      {"agreement", "http://tallinzen.net/media/rnn_agreement/rnn_agr_simple.tar.gz", "", "linzen2016_rnn_agr_simple",
       "not stated (text of Wikipedia; the authors' code: MIT)", "agreement.tar.xz",
       "f1b5b3c7c60d90ffdb131bd8a0243d4e1417bd03be2d0b39a3adb64aee249c70"},
      {"lambada", "https://zenodo.org/record/2630551/files/lambada-dataset.tar.gz", "", "",
       "Creative Commons Attribution 4.0", "lambada.tar.xz",
       "32fba81795b4243169993c4436fbf954da2f9feb7a1c98b3787b9a6d8fdba417"},
      {"lambada-novels", "", "", "", "not stated (36 novels in the public domain, as passages like LAMBADA's)",
       "novels-lambada-style.tar.xz", "c2e70ec143b9966c55c9bc2cfe3745d80bdbc948a8801a5a0bdb4f1ec113d015"},
      {"multi30k", "https://github.com/multi30k/dataset/archive/a3d2e0d26b56f3846f66a952536ffed4e401d05a.tar.gz",
       "data/task1", "", "not stated (from Flickr30k, for research)", "multi30k-ende.tar.xz",
       "3adef6816930d97a9eb730b1d7f424c029009ed73653b9fd0983e8be7778af86"},
      {"newstest",
       "https://github.com/Helsinki-NLP/OPUS-MT-testsets/archive/ac0f19c0be3cb4e0d9450fcb2d7a9847c4bdd180.tar.gz",
       "datasets/statmt/wmt_newstest", "newstest", "not stated for these (statmt.org's test sets, for research)",
       "wmt14-ende-newstest.tar.xz", "9406aad0dbc0de0412149c1763b461d082bf78e7676e1114e2b7861ccb5ca855"},
      {"iwslt14", "https://github.com/pcyin/pytorch_nmt/archive/bf28dae8a4c71e1f3f3fcb51e989fab905886f44.tar.gz",
       "data", "", "not stated (TED talks: Creative Commons BY-NC-ND)", "iwslt14-deen.tar.xz",
       "0f0e1dcbca0b55d391f24cbff25cea6fceaf877b86925eb675806f9cd10aafcc"}};
  return table;
}

const std::vector<PublishedFile>& published_files() {
  static const std::vector<PublishedFile> table = {
      {"babi", "tasks_1-20_v1-2/en/qa1_single-supporting-fact_train.txt",
       "c64ba9b1a49bbb111ffc4cd2ae4f129d25c012399dd7ade9679eea464b9afb05"},
      {"babi", "tasks_1-20_v1-2/en/qa1_single-supporting-fact_test.txt",
       "55acf66cef2f6d798e2aa1d056e1ec8f24e910ea9215b639450574321132959b"},
      {"babi", "tasks_1-20_v1-2/en-10k/qa1_single-supporting-fact_train.txt",
       "749ea9f7c99070feb2d88c975a254417a0dcc8274add4435ae5ae24c7afc7e9d"},
      {"babi", "tasks_1-20_v1-2/en-10k/qa2_two-supporting-facts_train.txt",
       "d4074c0c5d54f70ce2f538056ce2b6ef6a313da336da4245f1a24f1298e37ef3"},
      {"agreement", "linzen2016_rnn_agr_simple/numpred.val",
       "430643ef15cacdcc2ff88afe44a87b9aeaa094c683653a54c2a936428d300245"},
      {"agreement", "linzen2016_rnn_agr_simple/numpred.test.1",
       "528125391c255b926d6e8c01664188efe5e18a991c1dab88907f796b1198913f"},
      {"lambada", "lambada_development_plain_text.txt",
       "f5b0f1e38fcdad6a1cd3a17bee4b6932a28cd9c5f463ada970c61de0f8679f2f"},
      {"lambada", "lambada_test_plain_text.txt", "4ab6062b68422bf2e83653d367c9765d42404f7ec21b8b59b6518b45606aaef2"},
      {"multi30k", "raw/train.en", "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"},
      {"multi30k", "raw/train.de", "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"},
      {"multi30k", "raw/test_2016_flickr.en", "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"},
      {"multi30k", "raw/test_2016_flickr.de", "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"},
      {"newstest", "newstest/newstest2014.en", "7294bccf2879a97b3706b95c9595f1459617a8ee7130d5d8581c910e69736971"},
      {"newstest", "newstest/newstest2014.de", "ae5d110486bc33d7175e9e28c7d0051eb3e5fcd2166dd93371089852c091a20e"},
      {"newstest", "newstest/2014/en-de/newstest2014.en",
       "7294bccf2879a97b3706b95c9595f1459617a8ee7130d5d8581c910e69736971"},
      {"newstest", "newstest/2014/en-de/newstest2014.de",
       "ae5d110486bc33d7175e9e28c7d0051eb3e5fcd2166dd93371089852c091a20e"},
      {"iwslt14", "test.de-en.de", "b899a137e81dc3e3c34f5a2cf16c09880ab33b8d22252483ff9c049b2a34e203"},
      {"iwslt14", "test.de-en.en", "1685cc2a0c169051b66957d7f56056341161dc4617a849b649e84cdac5b73e24"}};
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
  throw base::BadInput("ut data fetch {}: no such data set is known; it is one of {}", name,
                       fmt::join(published_names(), ", "));
}

}  // namespace ut::datasets
