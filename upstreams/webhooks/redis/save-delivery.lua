-- Replaces a delivery if it is still as it was read.
-- KEYS[1] the delivery. ARGV: prefix, id, as read, next, subscription, event, state as read, next state, score, created, now.
-- Returns 1, or 0 if it has changed or was deleted.
local prefix, id, subscription = ARGV[1], ARGV[2], ARGV[5]
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[4])
if ARGV[7] ~= ARGV[8] then
  redis.call('ZREM', prefix .. 'state:' .. ARGV[7], id)
  redis.call('ZREM', prefix .. 'log:' .. subscription .. ':' .. ARGV[7], id)
  redis.call('ZADD', prefix .. 'log:' .. subscription .. ':' .. ARGV[8], ARGV[10], id)
end
redis.call('ZADD', prefix .. 'state:' .. ARGV[8], ARGV[9], id)
-- An event is kept as long as one of its deliveries may be replayed.
redis.call('ZADD', prefix .. 'events', 'XX', ARGV[11], ARGV[6])
return 1
