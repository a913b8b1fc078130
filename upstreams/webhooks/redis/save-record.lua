-- Replaces a record if it is still as it was read; '' means no record.
-- KEYS[1] the record. ARGV: as read, next. Returns 1, or 0 if it has changed.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
