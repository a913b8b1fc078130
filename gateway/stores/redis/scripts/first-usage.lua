-- Returns when a consumer was first seen on a version, and since when calls of the version are counted.
--
-- KEYS[1]  the prefix of every key of the ledger
-- ARGV[1], ARGV[2]  from and to in the index, as ZRANGEBYLEX takes them
-- ARGV[3]  the name of the version
--
-- Returns  { first seen, counted since }; each false if there is none

local first = false
for _, name in ipairs(redis.call('ZRANGEBYLEX', KEYS[1] .. ':index', ARGV[1], ARGV[2])) do
  local at = redis.pcall('HGET', KEYS[1] .. ':record:' .. name, 'first')
  local number = type(at) == 'string' and tonumber(at)
  if number and (not first or number < tonumber(first)) then
    first = at
  end
end
return { first, redis.call('HGET', KEYS[1] .. ':watched', ARGV[3]) }
