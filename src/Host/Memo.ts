/**
 * A function that remembers what it found, for the same few questions that come with every request.
 *
 * @param max - How many answers are kept; 1,024 when absent. Beyond, it begins anew: clients must not fill the memory.
 */
export const make = <Key, Value>(find: (key: Key) => Value, max = 1024): ((key: Key) => Value) => {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key)
    if (value !== undefined) return value
    const found = find(key)
    if (known.size >= max) known.clear()
    known.set(key, found)
    return found
  }
}
