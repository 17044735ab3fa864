-- Drops what every group has acknowledged and what is old enough.
-- KEYS: stream. ARGV: age in milliseconds, most entries of a stream without groups (-1: the age counts). Returns how
-- many went.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
if #groups == 0 and ARGV[2] ~= '-1' then
  return redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[2])
end
local time = redis.call('TIME')
local millis = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]
local sequence = 0
for _, group in ipairs(groups) do
  local field = {}
  for i = 1, #group, 2 do
    field[group[i]] = group[i + 1]
  end
  local needed = field['last-delivered-id']
  if field['pending'] > 0 then
    needed = redis.call('XPENDING', KEYS[1], field['name'])[2]
  end
  local m, s = string.match(needed, '^(%d+)-(%d+)$')
  m, s = tonumber(m), tonumber(s)
  if m < millis or (m == millis and s < sequence) then
    millis, sequence = m, s
  end
end
return redis.call('XTRIM', KEYS[1], 'MINID', '~', string.format('%.0f-%.0f', math.max(millis, 0), sequence))
