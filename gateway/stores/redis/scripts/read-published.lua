-- Reads what was published, with the mark that a later write names. Called by published.ts.
--
-- KEYS[1]  the text
--
-- Returns  { text, mark }; { false, '' } where nothing was published

local text = redis.call('GET', KEYS[1])
return { text, text and redis.sha1hex(text) or '' }
