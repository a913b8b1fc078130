-- Stores an event and its deliveries, unless an event of its id is stored.
-- KEYS[1] the event. ARGV: prefix, event id, event, time, then for each delivery: id, subscription, record, created, due.
-- Returns 1, or 0 if the event was known. All keys have the hash tag of the prefix, as a cluster requires.
local prefix, event, kept = ARGV[1], ARGV[2], ARGV[4]
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
redis.call('ZADD', prefix .. 'events', kept, event)
for at = 5, #ARGV, 5 do
  local id, subscription, record, created, due = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  redis.call('SET', prefix .. 'delivery:' .. id, record)
  redis.call('ZADD', prefix .. 'state:pending', due, id)
  redis.call('ZADD', prefix .. 'log:' .. subscription, created, id)
  redis.call('ZADD', prefix .. 'log:' .. subscription .. ':pending', created, id)
end
return 1
