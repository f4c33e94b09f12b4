#pragma once

#include <string>
#include <vector>

namespace ut::datasets {

/// A data set that others published.
struct Published {
  std::string name;
  std::string address;  // of its archive; empty: there is none but the mirrored one
  std::string taken;    // the directory of that archive that is taken, below its only one; empty: that itself
  std::string place;    // where it goes, so that all lies as in the mirrored archive
  std::string licence;
  std::string mirrored;         // name of an archive of it in a local folder of data
  std::string mirrored_sha256;  // of that archive
};

/// A file of such a data set, as it was published: whatever archive it comes in, this is what it holds.
struct PublishedFile {
  std::string data_set;
  std::string name;  // below the directory that the data set is unpacked to
  std::string sha256;
};

const std::vector<Published>& published_data();
/// Some that matter, of those data sets whose files have been seen.
const std::vector<PublishedFile>& published_files();
std::vector<std::string> published_names();
/// Throws base::BadInput where there is none of that name.
const Published& find_published(const std::string& name);

}  // namespace ut::datasets
