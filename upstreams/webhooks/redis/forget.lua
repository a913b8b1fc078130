-- Deletes old finished deliveries and old events, a limited number at a time.
-- KEYS[1] finished deliveries of one state by time. ARGV: prefix, state, before, limit.
-- Returns the number of deleted deliveries and events.
local prefix, before, most = ARGV[1], '(' .. ARGV[3], tonumber(ARGV[4])
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', before, 'LIMIT', 0, most)
for _, id in ipairs(gone) do
  local record = redis.call('GET', prefix .. 'delivery:' .. id)
  if record then
    local log = prefix .. 'log:' .. cjson.decode(record).subscription
    redis.call('ZREM', log, id)
    redis.call('ZREM', log .. ':' .. ARGV[2], id)
    redis.call('DEL', prefix .. 'delivery:' .. id)
  end
  redis.call('ZREM', KEYS[1], id)
end
local events = redis.call('ZRANGEBYSCORE', prefix .. 'events', '-inf', before, 'LIMIT', 0, most)
for _, id in ipairs(events) do
  redis.call('DEL', prefix .. 'event:' .. id)
  redis.call('ZREM', prefix .. 'events', id)
end
return #gone + #events
