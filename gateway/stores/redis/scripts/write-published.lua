-- Replaces the published files if they have not changed since the gateway read them.
--
-- KEYS[1]  the text
-- ARGV[1]  the next text
-- ARGV[2]  the digest that was read with the present text
--
-- Returns  1, or 0 if another gateway has replaced it

local text = redis.call('GET', KEYS[1])
if (text and redis.sha1hex(text) or '') ~= ARGV[2] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1])
return 1
