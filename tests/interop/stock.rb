# The tasks of a client in Ruby, unmodified: ruby stock.rb BASE_URL TOKEN
require "google/apis/drive_v3"
require "google/apis/calendar_v3"
require "json"
require "stringio"

base_url, token = ARGV
Google::Apis.logger.level = Logger::FATAL
drive, calendar = [Google::Apis::DriveV3::DriveService, Google::Apis::CalendarV3::CalendarService].map do |service|
  service.new.tap do |made|
    made.root_url = "#{base_url}/"
    made.authorization = token
  end
end

content = Random.new(1).bytes(700_000)
file = drive.create_file({ name: "Größe.bin" }, upload_source: StringIO.new(content), content_type: "image/png",
                                                fields: "id,name,mimeType,size")
drive.update_file(file.id, { description: "new" }, upload_source: StringIO.new(content + "!"), content_type: "image/png")
downloaded = StringIO.new("".b)
drive.get_file(file.id, download_dest: downloaded)

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
  "file" => [file.name, file.mime_type, file.size], "downloaded" => downloaded.string == content + "!",
  "listed" => names.map(&:name).sort, "deleted" => deleted, "event" => [event.summary, events.items.map(&:status)],
  "changed" => changed.items.to_a.length
)
