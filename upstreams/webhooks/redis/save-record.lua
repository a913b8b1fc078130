-- Replaces a record by its next form, if it is still as it was read; '' stands for none.
-- KEYS[1] the record. ARGV: as read, next. Returns 1 when it was written, 0 when another was faster.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
