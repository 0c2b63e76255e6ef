// Finds the entries of the index that have all the typed words, best first. Nothing here touches the page.

/** Kinds of entries: titles (0) and headings (1) come before fields, and a match only in a text comes last. */
const FIELD = 2
const TEXT = 3

/** Number of characters of a text around the first hit. */
const BEFORE = 40
const AROUND = 140

/** Returns a function that searches an index. The texts are put into lower case once. */
export function createSearch({ pages, entries }) {
  const known = entries.map((entry) => knownEntry(entry, pages))
  return (query, max) => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return { count: 0, found: [] }
    const ranked = known.flatMap((entry) => {
      const rank = rankOf(entry, words)
      return rank === undefined ? [] : [{ rank, entry }]
    })
    ranked.sort((one, other) => one.rank - other.rank)
    const found = ranked.slice(0, max).map(({ entry }) => ({ ...entry, snippet: snippetOf(entry, words) }))
    return { count: ranked.length, found }
  }
}

function knownEntry([kind, page, name, address, text], pages) {
  const [title, url] = pages[page]
  // The text of a field begins with the name of its section.
  const end = kind === FIELD ? text.indexOf(' · ') : 0
  return {
    kind,
    name,
    page: title,
    url: address.startsWith('/') ? address : url + address,
    text,
    lowerName: name.toLowerCase(),
    parts: name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/),
    context: `${title} ${text.slice(0, end)}`.toLowerCase(),
    lowerText: text.slice(end).toLowerCase(),
    textFrom: end,
  }
}

/** Returns the rank of an entry, lowest best; `undefined` when it lacks a word. */
function rankOf({ kind, lowerName, parts, context, lowerText }, words) {
  const inName = words.filter((word) => lowerName.includes(word))
  if (inName.length === words.length) return kind * 10_000 + quality(lowerName, parts, words) * 1_000 + lowerName.length
  const isNamed = words.every((word) => lowerName.includes(word) || context.includes(word))
  if (isNamed && inName.length > 0) return kind * 10_000 + 4_000 + lowerName.length
  const others = words.filter((word) => !lowerName.includes(word))
  const isSaid = others.every((word) => context.includes(word) || lowerText.includes(word))
  if (!isSaid || !others.some((word) => lowerText.includes(word))) return undefined
  const isPhrase = lowerText.includes(words.join(' '))
  return TEXT * 10_000 + (isPhrase ? 0 : 2) + (inName.length > 0 ? 0 : 1)
}

/** Returns how well words fit a name that has them: 0 for the name itself, then its beginning, a word of it, a part. */
function quality(name, parts, words) {
  const whole = words.join(' ')
  if (name === whole) return 0
  if (name.startsWith(whole)) return 1
  return words.every((word) => parts.some((part) => part.startsWith(word))) ? 2 : 3
}

/**
 * Returns the part of the text with the words together, else with the longest of them, in three pieces: before the hit,
 * the hit, after it.
 */
function snippetOf({ text, lowerText, textFrom }, words) {
  const wanted = [words.join(' '), ...words.toSorted((one, other) => other.length - one.length)]
  const word = wanted.find((one) => lowerText.includes(one))
  if (word === undefined) return [text.slice(0, AROUND), '', text.length > AROUND ? '…' : '']
  const start = lowerText.indexOf(word) + textFrom
  const end = start + word.length
  const from = start <= BEFORE ? 0 : text.lastIndexOf(' ', start - BEFORE) + 1
  const to = Math.min(text.length, Math.max(end, from + AROUND))
  return [
    (from > 0 ? '…' : '') + text.slice(from, start),
    text.slice(start, end),
    text.slice(end, to) + (to < text.length ? '…' : ''),
  ]
}
