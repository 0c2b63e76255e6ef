/** Greatest number of names in a sentence. */
const MAX_NAMES = 8

/** Returns names as a part of a sentence: all of a short list, the first ones of a long one. */
export function shortList(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const first = names.slice(0, MAX_NAMES).join(', ')
  return names.length <= MAX_NAMES ? first : `${first} and ${names.length - MAX_NAMES} more`
}
