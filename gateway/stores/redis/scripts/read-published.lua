-- Reads the published files and the digest that a later write must name.
--
-- KEYS[1]  the text
--
-- Returns  { text, digest }; { false, '' } if nothing was published

local text = redis.call('GET', KEYS[1])
return { text, text and redis.sha1hex(text) or '' }
