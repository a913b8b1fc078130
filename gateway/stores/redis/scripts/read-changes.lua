-- Returns what changed since a gateway last read the stream, or everything if that cannot be known.
--
-- KEYS[1]  the stream of changes; never empty, so that every position in it is the id of an entry
-- KEYS[2]  hash of overrides by id
-- KEYS[3]  the name of this data, which an emptied or another Redis does not have
-- ARGV[1]  the last entry this gateway has seen, '' at first
-- ARGV[2]  a name for the data if it has none
-- ARGV[3]  the name of the data that this gateway has seen, '' at first
--
-- Returns  { 'all', last entry, overrides, name of the data, first entry } at the first read, if the last seen entry is gone
--          (trimmed or lost), and if the name differs: another data set may have an entry with the same id. Otherwise
--          { 'some', last entry, keys of moved pins, overrides or false if unchanged, keys of new pins, changed API keys }
-- The script writes only missing keys, so it can also read from a replica or from a Redis without free
-- memory.

local name = redis.call('GET', KEYS[3])
if not name then
  name = ARGV[2]
  redis.call('SET', KEYS[3], name)
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('XADD', KEYS[1], '*', 'opened', '')
end
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1]
if ARGV[1] == '' or name ~= ARGV[3] or #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1][1]
  return { 'all', newest, redis.call('HVALS', KEYS[2]), name, oldest }
end
if ARGV[1] == newest then
  return { 'some', newest, {}, false, {}, {} }
end

local pins = {}
local claimed = {}
local keys = {}
local overrides = false
for i, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+')) do
  local what, key = entry[2][1], entry[2][2]
  if i > 1 and what == 'pin' then
    pins[#pins + 1] = key
  elseif i > 1 and what == 'claim' then
    claimed[#claimed + 1] = key
  elseif i > 1 and what == 'key' then
    keys[#keys + 1] = key
  elseif i > 1 and what == 'override' then
    overrides = true
  end
end
return { 'some', newest, pins, overrides and redis.call('HVALS', KEYS[2]), claimed, keys }
