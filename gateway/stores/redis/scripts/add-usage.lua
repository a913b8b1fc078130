-- Adds one batch of a writer to the ledger. A batch whose number was added before adds nothing.
--
-- KEYS[1]  the prefix of every key of the ledger, with its hash tag; the script derives the other keys from it, on the same node
-- ARGV[1]  the writer              ARGV[2]  number of the batch    ARGV[3]  milliseconds to keep the number for
-- ARGV[4]  version of the format   ARGV[5]  agents kept per record
-- ARGV[6]  when the batch was made                                 ARGV[7]  number of versions counted since then
-- then     the name of each of those versions
-- then     for each record: its name in each of the two indexes, first seen, last seen, agents, sample or '', the number of days,
--          and for each day its number and the calls
--
-- Returns  the number of records that could not be added whole, because a value of another type has their key
--
-- Instants are compared as numbers, which are exact below 2^53. Unknown fields are kept. A field that should hold a number and
-- does not is overwritten.

local base = KEYS[1]
local writer = base .. ':writer:' .. ARGV[1]
if tonumber(ARGV[2]) <= tonumber(redis.call('GET', writer) or '0') then
  return 0
end
redis.call('SET', writer, ARGV[2], 'PX', ARGV[3])

-- Appends the new agents and keeps the latest ones. Nil if nothing changes.
local function merged(known, fresh)
  if fresh == '' or fresh == known then
    return nil
  end
  if not known or known == '' then
    return fresh
  end
  local isFresh = {}
  for agent in string.gmatch(fresh, '[^\n]+') do
    isFresh[agent] = true
  end
  local all = {}
  for agent in string.gmatch(known, '[^\n]+') do
    if not isFresh[agent] then
      all[#all + 1] = agent
    end
  end
  for agent in string.gmatch(fresh, '[^\n]+') do
    all[#all + 1] = agent
  end
  return table.concat(all, '\n', math.max(1, #all - tonumber(ARGV[5]) + 1))
end

local at = 8
for _ = 1, tonumber(ARGV[7]) do
  local since = tonumber(redis.call('HGET', base .. ':watched', ARGV[at]) or '')
  if not since or tonumber(ARGV[6]) < since then
    redis.call('HSET', base .. ':watched', ARGV[at], ARGV[6])
  end
  at = at + 1
end

local function addRecord(at, days)
  local name, first, last, sample = ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 5]
  local key = base .. ':record:' .. name
  local known = redis.call('HMGET', key, 'first', 'last', 'agents', 'form')
  if not known[1] then
    redis.call('ZADD', base .. ':index', 0, name)
    redis.call('ZADD', base .. ':consumers', 0, ARGV[at + 1])
  end
  local fields = {}
  local function set(field, value)
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  local knownFirst, knownLast, form = tonumber(known[1] or ''), tonumber(known[2] or ''), tonumber(known[4] or '')
  if not knownFirst or tonumber(first) < knownFirst then
    set('first', first)
  end
  if not knownLast or tonumber(last) > knownLast then
    set('last', last)
  end
  local agents = merged(known[3], ARGV[at + 4])
  if agents then
    set('agents', agents)
  end
  if sample ~= '' then
    set('sample', sample)
  end
  -- A later version of the format only adds fields, so its number is kept.
  if not form or form < tonumber(ARGV[4]) then
    set('form', ARGV[4])
  end
  if #fields > 0 then
    redis.call('HSET', key, unpack(fields))
  end

  for i = at + 7, at + 5 + 2 * days, 2 do
    redis.call('HINCRBY', base .. ':days:' .. name, ARGV[i], ARGV[i + 1])
  end
end

-- The batch number is already stored and a resend adds nothing. So a failed record must not stop the others.
local failed = 0
while at <= #ARGV do
  local days = tonumber(ARGV[at + 6])
  if not pcall(addRecord, at, days) then
    failed = failed + 1
  end
  at = at + 7 + 2 * days
end
return failed
