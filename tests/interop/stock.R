# The tasks of a client in R, unmodified: Rscript stock.R KEY_FILE, with HTTPS_PROXY and CURL_CA_BUNDLE
suppressPackageStartupMessages(library(googledrive))
httr::set_config(httr::config(cainfo = Sys.getenv("CURL_CA_BUNDLE")))
options(googledrive_quiet = TRUE)
drive_auth(path = commandArgs(TRUE)[1])

content <- as.raw(sample(0:255, 700000, replace = TRUE))
path <- tempfile(fileext = ".bin")
writeBin(content, path)
file <- drive_upload(path, name = "Größe.bin", type = "image/png")
drive_update(file, name = "Maße.bin")
copy <- tempfile()
drive_download(file, path = copy)

csv <- tempfile(fileext = ".csv")
writeLines(c("a,b", "1,2"), csv)
table <- drive_upload(csv, name = "table", type = "spreadsheet")
exported <- tempfile(fileext = ".csv")
drive_download(table, path = exported)

for (number in 1:4) drive_create(paste("listed", number))
listed <- drive_find(q = "name contains 'listed'", n_max = Inf, pageSize = 3)
drive_rm(listed)

cat(jsonlite::toJSON(auto_unbox = TRUE, list(
  `sign-in` = drive_user()$emailAddress,
  upload = identical(readBin(copy, "raw", 1e6), content) && identical(readLines(exported), c("a,b", "1,2")),
  pages = nrow(listed) == 4 && nrow(drive_find(q = "name contains 'listed'")) == 0
)))
