-- Adds to the whole number under a key; a key without a value is 0 and gets a time to live. Answers the sum, or
-- nothing when what is there is no number, or the sum none of 64 bits. The sum travels as text, because numbers of
-- Lua are exact to 53 bits only. KEYS: key. ARGV: number, milliseconds.
local new = redis.call('EXISTS', KEYS[1]) == 0
local sum = redis.pcall('INCRBY', KEYS[1], ARGV[1])
if type(sum) == 'table' and sum.err then
  local number = string.find(sum.err, 'not an integer') or string.find(sum.err, 'overflow')
  return not number and sum
end
if new then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return redis.call('GET', KEYS[1])
