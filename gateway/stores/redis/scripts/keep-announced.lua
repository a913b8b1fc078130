-- Stores the text of a made announcement, unless one is stored, and ends its lease.
--
-- KEYS[1]  hash of the texts of made announcements by id
-- KEYS[2]  the owner of the lease
-- ARGV[1]  the id
-- ARGV[2]  the text
--
-- Returns  the stored text

redis.call('DEL', KEYS[2])
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
