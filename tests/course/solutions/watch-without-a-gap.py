channel = svc.watch_file(given.file_id, given.address, expires_in="1d")
for _ in range(given.hours // 20):
    given.clock.advance("20h")
    channel = svc.renew_channel(channel, expires_in="1d")
given.clock.advance(f"{given.hours % 20}h")
svc.stop_channel(channel)
