-- Opens a group and makes the caller its owner.
-- KEYS: stream, owner key. ARGV: group. Returns the owner's token.
local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
if made['err'] and not string.find(made['err'], 'BUSYGROUP', 1, true) then
  return made
end
-- Tokens grow, even if the key that holds the last one was lost.
local time = redis.call('TIME')
local token = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[2]) or '0')
if token <= last then
  token = last + 1
end
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text)
return text
