-- Keeps that an announcement was made, unless something is kept of it, and ends whatever claim there is. Called by announced.ts.
--
-- KEYS[1]  what has been announced: a hash of texts by id
-- KEYS[2]  who is at this one
-- ARGV[1]  the id
-- ARGV[2]  the text
--
-- Returns  the text that stands there then

redis.call('DEL', KEYS[2])
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
