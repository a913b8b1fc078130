-- Creates or replaces a subscription if it is still as it was read ('' for none), and indexes it by event type.
-- KEYS[1] the subscription. ARGV: prefix, id, as read, next, owner, created, types as read and next (JSON lists).
-- Returns 1, or 0 if it has changed.
local prefix, id = ARGV[1], ARGV[2]
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[4])
redis.call('ZADD', prefix .. 'owner:' .. ARGV[5], ARGV[6], id)
redis.call('ZADD', prefix .. 'subscriptions', ARGV[6], id)
for _, type in ipairs(cjson.decode(ARGV[7])) do redis.call('ZREM', prefix .. 'wanting:' .. type, id) end
for _, type in ipairs(cjson.decode(ARGV[8])) do redis.call('ZADD', prefix .. 'wanting:' .. type, ARGV[6], id) end
return 1
