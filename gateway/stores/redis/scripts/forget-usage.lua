-- Removes days from a range of records of the ledger, and the records that have no day left.
--
-- KEYS[1]  the prefix of every key of the ledger
-- ARGV[1]  'index' or 'consumers': which index to scan   ARGV[2], ARGV[3]  from and to, as ZRANGEBYLEX takes them
-- ARGV[4]  most records to look at                       ARGV[5]  number of the first day to keep; '' removes all days
-- ARGV[6]  the scan stops after this many days
--
-- Returns  { the last record looked at, as named in that index; '' after the last one; the number of removed records }

local base = KEYS[1]
local isIndex = ARGV[1] == 'index'
local names = redis.call('ZRANGEBYLEX', base .. ':' .. ARGV[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
local removed, seen = 0, 0
local last = ''

-- 'index' orders by api, version, consumer; 'consumers' by consumer, api, version. Nil for an invalid name.
local function inOtherOrder(name)
  local one, two, three, rest = string.match(name, '^([^%z]*)%z([^%z]*)%z([^%z]*)(%z.*)$')
  if not one then
    return nil
  end
  local parts = isIndex and { three, one, two } or { two, three, one }
  return table.concat(parts, '\0') .. rest
end

for _, each in ipairs(names) do
  if seen >= tonumber(ARGV[6]) then
    return { last, removed }
  end
  last = each
  local other = inOtherOrder(each)
  local name = isIndex and each or other or each
  local days = base .. ':days:' .. name
  if ARGV[5] == '' then
    redis.call('DEL', days)
  else
    -- A value of another type has no days. Fields that are not numbers come from a later release.
    local all = redis.pcall('HKEYS', days)
    local left = 0
    seen = seen + #all
    for _, day in ipairs(all) do
      local number = tonumber(day)
      if number and number >= tonumber(ARGV[5]) then
        left = left + 1
      elseif number then
        redis.call('HDEL', days, day)
      end
    end
    if left == 0 then
      redis.call('DEL', days)
    end
  end
  if redis.call('EXISTS', days) == 0 then
    redis.call('DEL', base .. ':record:' .. name)
    redis.call('ZREM', base .. ':index', name)
    redis.call('ZREM', base .. ':consumers', isIndex and other or each)
    removed = removed + 1
  end
end
return { #names < tonumber(ARGV[4]) and '' or last, removed }
