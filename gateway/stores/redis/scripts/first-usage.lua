-- When a consumer was first seen on a version, whatever the operation, and since when calls of it are counted. Called by
-- ledger.ts.
--
-- KEYS[1]  what every key of the ledger begins with
-- ARGV[1], ARGV[2]  from and to in the index, as ZRANGEBYLEX takes them
-- ARGV[3]  the version as it is named in the hash of them
--
-- Returns  { first seen, nothing where it never was; counted since, nothing where it is not }

local first = false
for _, name in ipairs(redis.call('ZRANGEBYLEX', KEYS[1] .. ':index', ARGV[1], ARGV[2])) do
  local at = redis.pcall('HGET', KEYS[1] .. ':record:' .. name, 'first')
  local number = type(at) == 'string' and tonumber(at)
  if number and (not first or number < tonumber(first)) then
    first = at
  end
end
return { first, redis.call('HGET', KEYS[1] .. ':watched', ARGV[3]) }
