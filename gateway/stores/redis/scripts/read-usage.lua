-- Returns a range of ledger records in order, bounded in records and days so that Redis is not blocked for long.
--
-- KEYS[1]  the prefix of every key of the ledger
-- ARGV[1]  'index' or 'consumers': which index to scan   ARGV[2], ARGV[3]  from and to, as ZRANGEBYLEX takes them
-- ARGV[4]  most records to return                        ARGV[5]  most records to look at
-- ARGV[6]  version, '' for any                           ARGV[7]  via, '' for any
-- ARGV[8]  number of the first day of interest; '' for any, and for records without days
-- ARGV[9]  the scan stops after this many days
-- then, to sum the days: the first day that counts, the first day of the week, today, the first day of the week before
--
-- Returns  { name of the last record looked at, '' after the last one; then for each record: name, first seen, last seen, agents,
--            sample, and { day, calls, … } or { calls, calls of the week, calls of the week before } }

local base = KEYS[1]
local names = redis.call('ZRANGEBYLEX', base .. ':' .. ARGV[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[5])
local most, mostDays, since = tonumber(ARGV[4]), tonumber(ARGV[9]), tonumber(ARGV[8])
local countsFrom, weekFrom, today, weekBeforeFrom =
  tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local found = { '' }

-- 'consumers' has the consumer before api and version.
local function partsOf(name)
  local parts = {}
  for part in string.gmatch(name .. '\0', '([^%z]*)%z') do
    parts[#parts + 1] = part
  end
  if ARGV[1] == 'consumers' then
    parts[1], parts[2], parts[3] = parts[2], parts[3], parts[1]
  end
  return parts
end

-- Fields that are not numbers come from a later release.
local function daysSince(all)
  local days = {}
  for i = 1, #all, 2 do
    local day = tonumber(all[i])
    if day and tonumber(all[i + 1]) and (not since or day >= since) then
      days[#days + 1] = all[i]
      days[#days + 1] = all[i + 1]
    end
  end
  return (not since or #days > 0) and days
end

local function sumsOf(all)
  local calls, week, weekBefore, hasDays = 0, 0, 0, false
  for i = 1, #all, 2 do
    local day, count = tonumber(all[i]), tonumber(all[i + 1])
    if day and count and day >= since then
      hasDays = true
      if day >= countsFrom then
        calls = calls + count
      end
      if day >= weekFrom and day < today then
        week = week + count
      elseif day >= weekBeforeFrom and day < weekFrom then
        weekBefore = weekBefore + count
      end
    end
  end
  return hasDays and { calls, week, weekBefore }
end

local function daysOrSums(all)
  if countsFrom then
    return sumsOf(all)
  end
  return daysSince(all)
end

local last = ''
local looked, days = 0, 0
for _, each in ipairs(names) do
  if #found > most or days >= mostDays then
    break
  end
  looked = looked + 1
  local parts = partsOf(each)
  last = table.concat(parts, '\0')
  if (ARGV[6] == '' or parts[2] == ARGV[6]) and (ARGV[7] == '' or parts[4] == ARGV[7]) then
    local all = redis.pcall('HGETALL', base .. ':days:' .. last)
    days = days + #all / 2
    local values = not all.err and daysOrSums(all)
    local record = values and redis.pcall('HMGET', base .. ':record:' .. last, 'first', 'last', 'agents', 'sample')
    if record and not record.err then
      found[#found + 1] = { last, record[1], record[2], record[3], record[4], values }
    end
  end
end
if looked == #names and looked < tonumber(ARGV[5]) then
  last = ''
end
found[1] = last
return found
