#pragma once

#include <string>
#include <vector>

namespace ut::datasets {

/// A data set that others published.
struct Published {
  std::string name;
  std::string address;               // of its archive; empty: there is only the mirrored one
  std::string archive_subdirectory;  // what to take, below the archive's only top directory; empty: all of that one
  std::string unpacked_path;         // where to put it, so that all lies as in the mirrored archive; empty: the top
  std::string licence;
  std::string mirrored;         // name of its archive in a local folder of data
  std::string mirrored_sha256;  // of that archive
};

/// A file of such a data set, as published. Every archive of the data set holds this same file.
struct PublishedFile {
  std::string data_set;
  std::string name;  // below the directory into which the data set is unpacked
  std::string sha256;
};

const std::vector<Published>& published_data();
/// Some important files, of those data sets whose files we have seen.
const std::vector<PublishedFile>& published_files();
std::vector<std::string> published_names();
/// Throws base::BadInput if no data set has that name.
const Published& find_published(const std::string& name);

}  // namespace ut::datasets
