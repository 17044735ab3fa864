-- Gives a new time to live to each key whose value is the caller's, and sets those without a value that the caller takes.
-- KEYS: keys. ARGV: value, milliseconds, then for each key 1 if it is taken. Returns for each whether it has the value.
local held = {}
for index, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  if value == ARGV[1] then
    redis.call('PEXPIRE', key, ARGV[2])
    held[index] = 1
  elseif not value and ARGV[index + 2] == '1' then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    held[index] = 1
  else
    held[index] = 0
  end
end
return held
