-- Puts one pin in the place of another, if that one still stands, and tells every gateway. Called by shared-state.ts.
--
-- KEYS[1]  the pin
-- KEYS[2]  the stream of changes
-- ARGV[1]  the pin that should stand there, '' for none
-- ARGV[2]  the pin to store, '' for none
-- ARGV[3]  the key as gateways know it
-- ARGV[4]  about how many changes are kept
--
-- Returns  1 when it was done, 0 when another pin stands there

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
