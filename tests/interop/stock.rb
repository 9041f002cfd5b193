# The tasks of a client in Ruby, unmodified: ruby stock.rb BASE_URL KEY_FILE
require "google/apis/drive_v3"
require "google/apis/calendar_v3"
require "googleauth"
require "json"
require "stringio"

base_url, key_file = ARGV
account = Google::Auth::ServiceAccountCredentials.make_creds(
  json_key_io: File.open(key_file), scope: %w[drive calendar].map { |name| "https://www.googleapis.com/auth/#{name}" }
)
account.token_credential_uri = account.audience = "#{base_url}/token"
Google::Apis.logger.level = Logger::FATAL
Google::Apis::RequestOptions.default.retries = 3
drive, calendar = [Google::Apis::DriveV3::DriveService, Google::Apis::CalendarV3::CalendarService].map do |service|
  service.new.tap do |made|
    made.root_url = "#{base_url}/"
    made.authorization = account
  end
end

content = Random.new(1).bytes(700_000)
file = drive.create_file({ name: "Größe.bin" }, upload_source: StringIO.new(content), content_type: "image/png",
                                                fields: "id,name,mimeType,size")
drive.update_file(file.id, { description: "new" }, upload_source: StringIO.new(content + "!"), content_type: "image/png")
downloaded = StringIO.new("".b)
drive.get_file(file.id, download_dest: downloaded)
tail = StringIO.new("".b)
drive.get_file(file.id, download_dest: tail, options: { header: { "Range" => "bytes=699990-" } })

4.times { |number| drive.create_file({ name: "listed #{number}" }) }
names, page = [], nil
loop do
  list = drive.list_files(q: "name contains 'listed'", page_size: 3, page_token: page, fields: "nextPageToken,files(id,name)")
  names.concat(list.files)
  break unless (page = list.next_page_token)
end

deleted = []
drive.batch do |batch|
  names.each { |listed| batch.delete_file(listed.id) { |_, error| deleted << (error ? error.status_code : 204) } }
  batch.delete_file("nobody") { |_, error| deleted << (error ? error.status_code : 204) }
end

event = calendar.quick_add_event("primary", "Lunch 2026-11-05 12:00")
calendar.delete_event("primary", event.id)
events = calendar.list_events("primary", show_deleted: true)
changed = calendar.list_events("primary", sync_token: events.next_sync_token)

puts JSON.generate(
  "sign-in" => drive.get_about(fields: "user").user.email_address, "range" => tail.string == content[699_990..] + "!",
  "upload" => [file.name, file.mime_type, file.size] == ["Größe.bin", "image/png", 700_000] &&
              downloaded.string == content + "!",
  "pages" => names.map(&:name).sort == (0..3).map { |number| "listed #{number}" },
  "batch" => deleted == [204, 204, 204, 204, 404], "events" => event.summary == "Lunch",
  "sync" => events.items.map(&:status) == ["cancelled"] && changed.items.to_a.empty?
)
