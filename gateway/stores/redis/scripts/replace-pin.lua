-- Replaces a pin if the expected pin is stored, and appends the change to the stream.
--
-- KEYS[1]  the pin
-- KEYS[2]  the stream of changes
-- ARGV[1]  the expected pin, '' for none
-- ARGV[2]  the pin to store, '' for none
-- ARGV[3]  the key of the pin in gateways
-- ARGV[4]  approximate number of changes to keep
--
-- Returns  1, or 0 if another pin is stored

if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'pin', ARGV[3])
return 1
