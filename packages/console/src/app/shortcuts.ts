/** Effect of a key: it opens a page, the help, or the search. */
export type Shortcut =
  { readonly kind: 'page'; readonly key: string } | { readonly kind: 'help' } | { readonly kind: 'search' }

/** Time within which the second key of a pair must follow. */
const PAIR_MS = 1_200

/** The keys, pressed one after another. */
export interface Shortcuts {
  /** Takes a key and returns what it does; null for a key without a meaning or the first of a pair. */
  readonly press: (key: string, nowMs: number) => Shortcut | null
}

/** Creates the reader of keys. `pageKeys` are those that follow `g`. */
export function createShortcuts(pageKeys: readonly string[]): Shortcuts {
  let pairUntilMs = 0
  return {
    press(key, nowMs) {
      const isSecond = nowMs < pairUntilMs
      pairUntilMs = 0
      if (isSecond && pageKeys.includes(key)) return { kind: 'page', key }
      if (key === 'g') pairUntilMs = nowMs + PAIR_MS
      if (key === '?') return { kind: 'help' }
      return key === '/' ? { kind: 'search' } : null
    },
  }
}

/** The parts of a key event that matter here. */
interface KeyPress {
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly target: unknown
}

/** Returns true when a key is meant for a field or for the browser, and not for the page. */
export function isTyping({ ctrlKey, metaKey, altKey, target }: KeyPress): boolean {
  if (ctrlKey || metaKey || altKey) return true
  const { tagName, isContentEditable } = (target ?? {}) as { tagName?: string; isContentEditable?: boolean }
  return isContentEditable === true || ['INPUT', 'TEXTAREA', 'SELECT'].includes(tagName ?? '')
}
